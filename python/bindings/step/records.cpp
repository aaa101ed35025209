#include "python/bindings/step/records.h"

#include <algorithm>
#include <mutex>
#include <vector>

#include "lithe/step/internal/step_tape.h"

namespace lithe::python {

using namespace internal;

namespace {

constexpr std::size_t kMostKept = 16;

struct Shelf {
  std::mutex mutex;
  std::vector<std::unique_ptr<StepRecord>> records;  // those last used at the end
};

// Never destroyed: records may outlive everything else when Python ends.
Shelf& shelf() {
  static Shelf& shelf = *new Shelf;
  return shelf;
}

}  // namespace

Record::Record(const Model& model) {
  Shelf& kept = shelf();
  const std::lock_guard lock(kept.mutex);
  const auto found = std::find_if(kept.records.rbegin(), kept.records.rend(), [&](const auto& record) {
    return record->tape().collider_revision == model.collision_revision();
  });
  if (found == kept.records.rend()) {
    record_ = std::make_unique<StepRecord>();
    return;
  }
  record_ = std::move(*found);
  kept.records.erase(std::next(found).base());
}

Record::~Record() {
  Shelf& kept = shelf();
  std::unique_ptr<StepRecord> oldest;  // destroyed outside of the lock
  const std::lock_guard lock(kept.mutex);
  kept.records.push_back(std::move(record_));
  if (kept.records.size() <= kMostKept) return;
  oldest = std::move(kept.records.front());
  kept.records.erase(kept.records.begin());
}

}  // namespace lithe::python
