#include "lithe/core/internal/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace lithe::internal {

namespace {

// Names come from files that anybody may have written: longer ones are compared by their beginnings, and of very many the first.
constexpr std::size_t kMostLetters = 60;
constexpr std::size_t kMostNames = 10'000;

// Levenshtein's distance: how many letters to insert, delete or replace.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string did_you_mean(std::string_view wanted, const std::vector<std::string_view>& known) {
  if (known.empty()) return " (there are none)";
  std::vector<std::pair<std::size_t, std::string_view>> ranked;
  for (const std::string_view name : known) {
    if (ranked.size() == kMostNames) break;
    ranked.emplace_back(edit_distance(wanted.substr(0, kMostLetters), name.substr(0, kMostLetters)), name);
  }
  std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  ranked.resize(std::min<std::size_t>(ranked.size(), 3));
  std::string names;
  for (const auto& [distance, name] : ranked) {
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", name.substr(0, kMostLetters));
  }
  return fmt::format(" (did you mean {}?)", names);
}

}  // namespace lithe::internal
