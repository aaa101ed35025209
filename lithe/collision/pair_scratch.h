#pragma once

#include <memory>

namespace lithe {

namespace internal {
struct PairBuffers;
}  // namespace internal

// Memory that pair tests reuse, so that a warm detection allocates nothing. It holds no state: any PairScratch, fresh,
// used or copied, gives the same results. One per thread.
class PairScratch {
 public:
  PairScratch();
  ~PairScratch();
  PairScratch(const PairScratch&);  // the copy has memory of its own
  PairScratch& operator=(const PairScratch&);
  PairScratch(PairScratch&&) noexcept;
  PairScratch& operator=(PairScratch&&) noexcept;

  internal::PairBuffers& buffers();

 private:
  std::unique_ptr<internal::PairBuffers> buffers_;
};

}  // namespace lithe
