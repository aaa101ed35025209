#include "lithe/collision/pair_scratch.h"

#include "lithe/collision/pairs/pair_buffers.h"

namespace lithe {

using namespace internal;

PairScratch::PairScratch() : buffers_(std::make_unique<PairBuffers>()) {}
PairScratch::~PairScratch() = default;
PairScratch::PairScratch(const PairScratch&) : PairScratch() {}
PairScratch& PairScratch::operator=(const PairScratch&) { return *this; }
PairScratch::PairScratch(PairScratch&&) noexcept = default;
PairScratch& PairScratch::operator=(PairScratch&&) noexcept = default;

PairBuffers& PairScratch::buffers() {
  if (!buffers_) buffers_ = std::make_unique<PairBuffers>();  // it was moved from
  return *buffers_;
}

}  // namespace lithe
