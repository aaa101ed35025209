#include "apps/lithe/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "apps/lithe/terminal.h"

namespace lithe::cli {

namespace {

constexpr int kWidestBar = 40;

std::string duration(double seconds) {
  const long s = static_cast<long>(seconds + 0.5);
  if (s < 60) return fmt::format("{} s", s);
  return s < 3600 ? fmt::format("{} min {:02} s", s / 60, s % 60)
                  : fmt::format("{} h {:02} min", s / 3600, s / 60 % 60);
}

}  // namespace

Progress::Progress(std::string title, long total, bool shown)
    : title_(std::move(title)), total_(total), shown_(shown && total > 0 && stderr_is_terminal()) {}

Progress::~Progress() {
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
}

void Progress::update(long done, std::string_view note) {
  if (!shown_) return;
  const Clock::time_point now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  draw(done, note, now);
}

void Progress::draw(long done, std::string_view note, Clock::time_point now) {
  const double share = static_cast<double>(done) / static_cast<double>(total_);
  const double seconds = std::chrono::duration<double>(now - start_).count();
  const std::string left = done > 0 ? fmt::format(", {} left", duration(seconds * (1 - share) / share)) : "";
  const std::string text =
      note.empty() ? fmt::format(" {:3.0f} %  {} of {}{}", 100 * share, done, total_, left) : fmt::format("  {}", note);
  const int room = stderr_columns() - static_cast<int>(title_.size() + text.size()) - 2;
  const int width = std::clamp(room, 0, kWidestBar);
  const int full = static_cast<int>(share * width);
  std::string bar;
  for (int i = 0; i < width; ++i) bar += i < full ? "━" : "╌";
  fmt::print(stderr, "\r{} {}{}\x1b[K", title_, bar, text);
  std::fflush(stderr);
  drawn_ = true;
}

}  // namespace lithe::cli
