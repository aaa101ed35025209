#include "apps/lithe/interrupt.h"

namespace lithe::cli {

namespace {

volatile std::sig_atomic_t asked_to_stop = 0;

void remember(int) { asked_to_stop = 1; }

void remember_when(int signal, struct sigaction& before) {
  sigaction(signal, nullptr, &before);
  if (before.sa_handler == SIG_IGN) return;
  struct sigaction action = {};
  action.sa_handler = remember;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(signal, &action, nullptr);
}

}  // namespace

InterruptGuard::InterruptGuard() {
  asked_to_stop = 0;
  remember_when(SIGINT, old_interrupt_);
  remember_when(SIGTERM, old_terminate_);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &old_interrupt_, nullptr);
  sigaction(SIGTERM, &old_terminate_, nullptr);
}

bool InterruptGuard::interrupted() const { return asked_to_stop != 0; }

}  // namespace lithe::cli
