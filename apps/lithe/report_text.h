#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace lithe::cli {

// What the reports of commands are made of: a line with its title, durations in the unit that suits them, and paragraphs.

inline std::string line(const char* title, const std::string& text) { return fmt::format("  {:<12}{}\n", title, text); }

inline std::string seconds_text(double s) {
  if (s < 1e-3) return fmt::format("{:.1f} µs", 1e6 * s);
  return s < 1 ? fmt::format("{:.1f} ms", 1e3 * s) : fmt::format("{:.2f} s", s);
}

// Characters, not bytes: all but the first byte of one are 10xxxxxx in UTF-8.
inline std::size_t shown_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

// Words in lines of at most `width` characters, two of them indentation: for texts that hold what the machine says of itself, which
// may be long.
inline std::string paragraph(std::string_view text, std::size_t width = 100) {
  std::string lines = " ";
  std::size_t used = 1;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty()) continue;
    if (used > 1 && used + 1 + shown_width(word) > width) {
      lines += "\n ";
      used = 1;
    }
    lines += ' ';
    lines += word;
    used += 1 + shown_width(word);
  }
  return lines + "\n";
}

}  // namespace lithe::cli
