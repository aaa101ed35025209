#include "lithe/collision/broad/shared_colliders.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

namespace lithe::internal {

namespace {

struct ColliderEntry {
  std::mutex making;  // held by who makes the set
  std::weak_ptr<const ColliderSet> set;
};

class ColliderShelf {
 public:
  std::shared_ptr<ColliderEntry> entry(std::uint64_t revision) {
    const std::lock_guard lock(mutex_);
    if (entries_.size() >= next_cleaning_) clean();
    std::shared_ptr<ColliderEntry>& entry = entries_[revision];
    if (!entry) entry = std::make_shared<ColliderEntry>();
    return entry;
  }

 private:
  // Lets go of sets that nobody holds. Each time that leaves half as many as may come before the next: the cost of a
  // cleaning is shared by those who made it necessary.
  void clean() {
    std::erase_if(entries_,
                  [](const auto& item) { return item.second.use_count() == 1 && item.second->set.expired(); });
    next_cleaning_ = std::max<std::size_t>(kFirstCleaning, 2 * entries_.size());
  }

  static constexpr std::size_t kFirstCleaning = 64;
  std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::shared_ptr<ColliderEntry>> entries_;
  std::size_t next_cleaning_ = kFirstCleaning;
};

// Never destroyed: a thread may step to the very end of the process.
ColliderShelf& collider_shelf() {
  static ColliderShelf& shelf = *new ColliderShelf;
  return shelf;
}

}  // namespace

std::shared_ptr<const ColliderSet> shared_colliders(const Model& model) {
  const std::shared_ptr<ColliderEntry> entry = collider_shelf().entry(model.collision_revision());
  const std::lock_guard lock(entry->making);
  std::shared_ptr<const ColliderSet> set = entry->set.lock();
  if (!set) {
    set = std::make_shared<const ColliderSet>(model);
    entry->set = set;
  }
  return set;
}

}  // namespace lithe::internal
