#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace lithe::cli {

// A bar on stderr that fills as a long command proceeds, and is gone at the end. Where stderr is no terminal, nothing is
// shown.
class Progress {
 public:
  Progress(std::string title, long total, bool shown);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Draws at most ten times a second. Cheap enough to be called at every step. Beside the bar is what the note says, or how much is done
  // and how long the rest takes.
  void update(long done, std::string_view note = {});

 private:
  using Clock = std::chrono::steady_clock;

  void draw(long done, std::string_view note, Clock::time_point now);

  std::string title_;
  long total_;
  bool shown_;
  bool drawn_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_ = start_ + std::chrono::milliseconds(300);  // a short command shows none
};

}  // namespace lithe::cli
