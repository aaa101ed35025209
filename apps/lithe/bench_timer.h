#pragma once

#include <functional>
#include <vector>

namespace lithe::cli {

// Times several actions by turns.
//
// What counts is the processor time of this thread: on a busy machine others run in between, and the longer an action
// takes the more of that it would see. Other noise (caches, clock rates) only ever adds too, so an action's time is the
// shortest of many short windows. A machine's slow phases outlast a window by far, so the actions take turns: every
// round has a window of each, the shortest ones come from the same quiet moments, and ratios between them hold.
//
// A window has as many calls as the clock needs, after one that is not timed, since the other actions have used the
// caches. An action that would exceed its allowance sits out some of the rounds, evenly spread.
class RoundTimer {
 public:
  RoundTimer(int rounds, double allowance) : rounds_(rounds), allowance_(allowance) {}

  // Returns the action's number. It is called a few times, to see how long it takes.
  template <class Action>
  int add(Action action) {
    return add_loop([action](int calls) mutable {
      for (int i = 0; i < calls; ++i) action();
    });
  }

  // Runs all rounds. Before each window, keep_going(rounds done so far) is asked; false ends the run.
  bool run(const std::function<bool(int)>& keep_going);

  // The action's shortest time, in seconds per call; infinite before it has run.
  double seconds(int action) const { return entries_[action].best; }

 private:
  struct Entry {
    std::function<void(int calls)> loop;
    int calls;   // in a window
    int stride;  // it takes part in every stride-th round
    bool is_long;
    double best;
  };

  int add_loop(std::function<void(int)> loop);

  int rounds_;
  double allowance_;  // s, of each action
  std::vector<Entry> entries_;
};

}  // namespace lithe::cli
