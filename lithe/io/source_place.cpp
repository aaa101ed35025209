#include "lithe/io/source_place.h"

namespace lithe {

std::string to_string(const SourcePlace& place) {
  return place.line > 0 ? fmt::format("{}:{}", place.file, place.line) : place.file;
}

LoadError::LoadError(const SourcePlace& place, std::string_view what)
    : Error(fmt::format("{}: error: {}", to_string(place), what)),
      place_(place),
      prefix_(to_string(place).size() + std::string_view(": error: ").size()) {}

std::string to_string(const LoadWarning& warning) {
  std::string text = fmt::format("{}: warning: {}", to_string(warning.place), warning.text);
  if (warning.count > 1) text += fmt::format(" (and {} more)", warning.count - 1);
  return text;
}

void WarningList::add(const SourcePlace& place, std::string_view kind, std::string_view text) {
  if (strict_) throw LoadError(place, text);
  const auto known = index_.find(std::string(kind));
  if (known != index_.end()) {
    ++warnings_[known->second].count;
    return;
  }
  if (warnings_.size() == kMostKinds) {
    // A file made to fill memory: the last one stands for all others.
    warnings_.back() = {.place = place,
                        .kind = "more",
                        .text = "there are more kinds of warnings than are worth reading",
                        .count = warnings_.back().kind == "more" ? warnings_.back().count + 1 : 1};
    return;
  }
  index_.emplace(kind, warnings_.size());
  warnings_.push_back({.place = place, .kind = std::string(kind), .text = std::string(text)});
}

}  // namespace lithe
