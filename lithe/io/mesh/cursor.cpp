#include "lithe/io/mesh/cursor.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "lithe/io/load_limits.h"

namespace lithe::internal {

namespace {

constexpr std::size_t kMostShown = 40;  // characters of a wrong word

// Old files end lines with \r alone. Blanks are those of C's locale, whatever the user's is.
bool ends_line(char c) { return c == '\n' || c == '\r'; }
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The number of lines that end before `place`; \r\n is one end.
int lines_before(std::string_view text, std::size_t place) {
  int lines = 0;
  for (std::size_t i = 0; i < place; ++i) {
    const bool first_of_two = text[i] == '\r' && i + 1 < text.size() && text[i + 1] == '\n';
    if (ends_line(text[i]) && !first_of_two) ++lines;
  }
  return lines;
}

}  // namespace

void check_mesh_bytes(std::string_view bytes, const std::string& file, const LoadLimits& limits) {
  if (bytes.empty()) throw LoadError({file, 0}, "the file is empty");
  if (bytes.size() > limits.mesh_bytes) {
    throw LoadError({file, 0}, fmt::format("the mesh has {}; {} are allowed in one file: {}", shown_bytes(bytes.size()),
                                           shown_bytes(limits.mesh_bytes), raise_load_limit("mesh_bytes")));
  }
}

std::string shown(std::string_view word) {
  if (word.empty()) return "the end";
  // What is wrong in a binary file may be any bytes, so those that are not printable are shown as numbers.
  std::string text = "'";
  for (const char c : word.substr(0, kMostShown)) {
    const auto byte = static_cast<unsigned char>(c);
    text += byte >= 0x20 && byte < 0x7F ? std::string(1, c) : fmt::format("\\x{:02x}", byte);
  }
  return text + (word.size() > kMostShown ? "…'" : "'");
}

bool equal_in_any_case(std::string_view a, std::string_view b) { return std::ranges::equal(a, b, {}, lower, lower); }

TextCursor::TextCursor(std::string_view text, const std::string& file, std::size_t place)
    : text_(text), start_{file, 1}, counts_lines_(true), place_(place), word_(place) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) fail("the text is UTF-16; save it as UTF-8");
  if (place == 0 && text.starts_with("\xEF\xBB\xBF")) place_ = 3;
}

TextCursor::TextCursor(std::string_view text, const SourcePlace& place)
    : text_(text), start_(place), counts_lines_(false) {}

void TextCursor::fail_at(std::size_t mark, std::string_view what) const {
  if (counts_lines_) throw LoadError({start_.file, start_.line + lines_before(text_, mark)}, what);
  throw LoadError(start_, fmt::format("{} (at character {} of the text)", what, mark + 1));
}

std::string_view TextCursor::word() {
  skip_blanks();
  return take_word(Scope::text);
}

double TextCursor::number() {
  skip_blanks();
  return take_number(Scope::text);
}

std::int64_t TextCursor::integer() {
  skip_blanks();
  word_ = place_;
  std::int64_t value = 0;
  const char* end = text_.data() + text_.size();
  // The number must fill its word: "3.5" and "3a" are no whole numbers.
  const auto [stop, error] = std::from_chars(text_.data() + place_, end, value);
  if (error != std::errc() || (stop != end && !is_blank(*stop))) {
    fail(fmt::format("{} where a whole number is expected", shown(take_word(Scope::text))));
  }
  place_ = static_cast<std::size_t>(stop - text_.data());
  return value;
}

bool TextCursor::at_end() {
  skip_blanks();
  word_ = place_;
  return place_ == text_.size();
}

std::string_view TextCursor::word_of_line() {
  skip_blanks_of_line();
  return take_word(Scope::line);
}

double TextCursor::number_of_line() {
  skip_blanks_of_line();
  return take_number(Scope::line);
}

void TextCursor::end_line() {
  // A comment ends with its line. It may well end with a backslash, if it names a folder of Windows.
  for (std::size_t from = word_;; from = place_) {
    const std::size_t end = line_end(place_);
    const bool comment = text_.substr(from, end - from).find('#') != std::string_view::npos;
    const bool goes_on = end > place_ && continuation(end - 1) > 0 && !comment;
    place_ = after_line_end(end);
    if (!goes_on) return;
  }
}

void TextCursor::end_plain_line() { place_ = after_line_end(line_end(place_)); }

std::string_view TextCursor::take_word(Scope scope) {
  word_ = place_;
  // Within a line, the backslash that continues it ends a word as well.
  while (place_ < text_.size() && !is_blank(text_[place_])) {
    if (scope == Scope::line && continuation(place_) > 0) break;
    ++place_;
  }
  return text_.substr(word_, place_ - word_);
}

double TextCursor::take_number(Scope scope) {
  word_ = place_;
  const char* end = text_.data() + text_.size();
  const char* digits = text_.data() + place_;
  // std::from_chars takes no sign +, which files do write.
  if (end - digits > 1 && digits[0] == '+' && digits[1] != '-') ++digits;
  double value = 0;
  const auto [stop, error] = std::from_chars(digits, end, value);
  const auto after = static_cast<std::size_t>(stop - text_.data());
  const bool complete = stop == end || is_blank(*stop) || (scope == Scope::line && continuation(after) > 0);
  // Meshes are millions of numbers, so the usual case comes first; which error it is, is found out below.
  if (error == std::errc() && complete && std::isfinite(value)) [[likely]] {
    place_ = after;
    return value;
  }
  const std::string_view word = take_word(scope);
  if (!complete || error == std::errc::invalid_argument) {
    fail(fmt::format("{} where a number is expected", shown(word)));
  }
  // A number that is too small is 0; one that is too large cannot be meant.
  const bool tiny = word.find("e-") != std::string_view::npos || word.find("E-") != std::string_view::npos;
  if (error != std::errc() && tiny) return 0;
  fail(fmt::format("{} where a finite number is expected", shown(word)));
}

void TextCursor::skip_blanks() {
  while (place_ < text_.size() && is_blank(text_[place_])) ++place_;
}

void TextCursor::skip_blanks_of_line() {
  while (place_ < text_.size()) {
    if (is_blank(text_[place_]) && !ends_line(text_[place_])) {
      ++place_;
    } else if (const std::size_t length = continuation(place_)) {
      place_ += length;
    } else {
      return;
    }
  }
}

std::size_t TextCursor::line_end(std::size_t from) const {
  while (from < text_.size() && !ends_line(text_[from])) ++from;
  return from;
}

std::size_t TextCursor::after_line_end(std::size_t end) const {
  return end + (text_.substr(end).starts_with("\r\n") ? 2 : end < text_.size() ? 1 : 0);
}

std::size_t TextCursor::continuation(std::size_t at) const {
  if (at + 1 >= text_.size() || text_[at] != '\\' || !ends_line(text_[at + 1])) return 0;
  return after_line_end(at + 1) - at;
}

void ByteCursor::fail(std::string_view what) const {
  throw LoadError({file_, 0}, fmt::format("at byte {}: {}", item_, what));
}

const unsigned char* ByteCursor::take(std::uint64_t count) {
  item_ = place_;
  if (count > left()) {
    fail(fmt::format("the file is cut off: {} bytes are expected here, {} are missing", count, count - left()));
  }
  place_ += static_cast<std::size_t>(count);
  return reinterpret_cast<const unsigned char*>(bytes_.data()) + item_;
}

}  // namespace lithe::internal
