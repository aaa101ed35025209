#pragma once

#include <csignal>

namespace lithe::cli {

// Thrown by a command that was stopped by its user and has said so; the program ends as shells expect it to.
struct Interrupted {
  static constexpr int kExitCode = 130;  // 128 + SIGINT
};

// While one exists, Ctrl-C (and a polite kill) only sets a flag, so that a long command can stop at a good place. Asked
// twice, the program ends at once. A signal that the program was started to ignore stays ignored: so do shells start what runs in the
// background, and their Ctrl-C is for others.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  bool interrupted() const;

 private:
  struct sigaction old_interrupt_ = {}, old_terminate_ = {};
};

}  // namespace lithe::cli
