#pragma once

#include <fmt/format.h>

#include <string>

namespace lithe::cli {

// What the reports of commands are made of: a line with its title, and durations in the unit that suits them.

inline std::string line(const char* title, const std::string& text) { return fmt::format("  {:<12}{}\n", title, text); }

inline std::string seconds_text(double s) {
  if (s < 1e-3) return fmt::format("{:.1f} µs", 1e6 * s);
  return s < 1 ? fmt::format("{:.1f} ms", 1e3 * s) : fmt::format("{:.2f} s", s);
}

}  // namespace lithe::cli
