#pragma once

#include <memory>
#include <string>

#include "lithe/viz/live/live_subject.h"

namespace lithe {

struct LiveViewOptions {
  int port = 0;            // 0: any that is free
  std::string token = {};  // part of the address; empty: a random one; else at least 16 letters, digits, '-' or '_'
  bool paused = false;     // else it plays when the first browser is there
  bool can_step = true;    // false: it only shows what show() gives it; browsers can look, not touch
};

// A simulation in browsers: it runs in a thread of its own in real time, whoever looks, and does what they ask for
// (docs/live.md).
//
//   LiveView view(subject, {}, viewer_page);
//   fmt::print("open {}\n", view.address());
class LiveView {
 public:
  LiveView(LiveSubject subject, LiveCatalogue catalogue, std::string_view viewer_page,
           const LiveViewOptions& options = {});
  ~LiveView();
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  // What to open in a browser: port and token are part of it.
  std::string address() const;
  // How many browsers look at the moment.
  int clients() const;

  // All of these may be called from any thread, and return when it is done. Errors are as those of LiveWorld.
  void show(const ConstVecRef& q, const ConstVecRef& v, double time);
  void play(bool playing);
  // The present state and its time, whoever brought it there.
  struct Moment {
    State state;
    double time = 0;
  };
  Moment now() const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace lithe
