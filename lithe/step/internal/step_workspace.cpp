#include "lithe/step/internal/step_workspace.h"

#include <array>
#include <atomic>
#include <utility>

namespace lithe::internal {

namespace {

// The workspaces of one thread, by structure of the model.
class ThreadWorkspaces {
 public:
  StepWorkspace& of(std::uint64_t structure) {
    if (structure != structures_[last_]) last_ = find(structure);
    return *workspaces_[last_];
  }
  StepWorkspace& last() { return *workspaces_[last_]; }

  IslandWorkspace islands;

 private:
  static constexpr int kMost = 4;

  // Where there is none, that of the structure which came first makes room.
  int find(std::uint64_t structure) {
    for (int i = 0; i < kMost; ++i) {
      if (structures_[i] == structure && workspaces_[i]) return i;
    }
    const int place = std::exchange(next_, (next_ + 1) % kMost);
    workspaces_[place] = std::make_unique<StepWorkspace>();
    structures_[place] = structure;
    return place;
  }

  std::array<std::uint64_t, kMost> structures_ = {};  // 0 is no structure
  std::array<std::unique_ptr<StepWorkspace>, kMost> workspaces_;
  int last_ = 0, next_ = 0;
};

thread_local ThreadWorkspaces workspaces;

}  // namespace

StepWorkspace& step_workspace(const DofTree& tree) { return workspaces.of(tree.structure); }

StepWorkspace& last_step_workspace() { return workspaces.last(); }

IslandWorkspace& island_workspace() { return workspaces.islands; }

std::uint64_t StepWorkspace::next_step_number() {
  // Numbers come in blocks, so that threads do not meet at each step. They start at 1.
  constexpr std::uint64_t kBlock = 1U << 16U;
  static std::atomic<std::uint64_t> taken = 1;
  if (next_number_ == numbers_end_) {
    next_number_ = taken.fetch_add(kBlock, std::memory_order_relaxed);
    numbers_end_ = next_number_ + kBlock;
  }
  return next_number_++;
}

}  // namespace lithe::internal
