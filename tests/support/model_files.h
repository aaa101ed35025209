#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

namespace lithe::test {

// Robot files that people have, which are not part of Lithe: the first folder that LITHE_MODELS names (they are separated by ':'), or
// shared/models beside the repository.
// None: tests that need them skip, and say so.
inline std::optional<std::filesystem::path> models_folder() {
  namespace fs = std::filesystem;
  if (const char* given = std::getenv("LITHE_MODELS")) {
    const std::string folders = given;
    return fs::path(folders.substr(0, folders.find(':')));
  }
  const fs::path beside = fs::path(__FILE__).parent_path() / "../../../shared/models";
  if (fs::exists(beside)) return fs::canonical(beside);
  return std::nullopt;
}

}  // namespace lithe::test
