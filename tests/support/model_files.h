#pragma once

#include <cstdlib>
#include <filesystem>
#include <optional>

namespace lithe::test {

// Robot files that people have, which are not part of Lithe: the folder that LITHE_MODELS names, or shared/models beside the repository.
// None: tests that need them skip, and say so.
inline std::optional<std::filesystem::path> models_folder() {
  namespace fs = std::filesystem;
  if (const char* given = std::getenv("LITHE_MODELS")) return fs::path(given);
  const fs::path beside = fs::path(__FILE__).parent_path() / "../../../shared/models";
  if (fs::exists(beside)) return fs::canonical(beside);
  return std::nullopt;
}

}  // namespace lithe::test
