#pragma once

#include <memory>
#include <unistd.h>

#include "lithe/batch/thread_pool.h"

namespace lithe::python {

// A ThreadPool that survives fork(): the child has none of the parent's threads, so it starts its own.
class Pool {
 public:
  explicit Pool(int threads) : threads_(threads), pool_(std::make_unique<ThreadPool>(threads)), process_(getpid()) {}
  ~Pool() { leave_to_parent(); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  ThreadPool& operator*() {
    if (leave_to_parent()) {
      pool_ = std::make_unique<ThreadPool>(threads_);
      process_ = getpid();
    }
    return *pool_;
  }
  ThreadPool* operator->() { return &**this; }
  int size() const { return pool_->size(); }

 private:
  // In a child: forgets the parent's pool, whose threads cannot be waited for. Returns whether it did.
  bool leave_to_parent() {
    if (getpid() == process_) return false;
    static_cast<void>(pool_.release());
    return true;
  }

  int threads_;
  std::unique_ptr<ThreadPool> pool_;
  pid_t process_;
};

}  // namespace lithe::python
