#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace lithe::bench {

// The places that LITHE_MODELS names, which are separated by ':'.
inline std::vector<std::string> split_places(const std::string& places) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= places.size();) {
    const std::size_t end = std::min(places.find(':', begin), places.size());
    if (end > begin) parts.push_back(places.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// A file in the first of the folders of LITHE_MODELS that has it.
inline std::optional<std::string> foreign_file(const std::string& name) {
  const char* places = std::getenv("LITHE_MODELS");
  for (const std::string& place : split_places(places ? places : "")) {
    const std::filesystem::path path = std::filesystem::path(place) / name;
    if (std::filesystem::exists(path)) return path.string();
  }
  return {};
}

}  // namespace lithe::bench
