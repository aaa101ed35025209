#include "apps/lithe/export_files.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <vector>

#include "lithe/core/check.h"

namespace lithe::cli {

namespace {

namespace fs = std::filesystem;

std::string read_page(const fs::path& path, const char* named_by) {
  std::error_code error;
  LITHE_CHECK(!fs::is_directory(path, error), "the viewer's page {} ({}) is a folder", path.string(), named_by);
  std::ifstream file(path, std::ios::binary);
  LITHE_CHECK(file.good(), "cannot read the viewer's page {} ({}): {}", path.string(), named_by, std::strerror(errno));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Where a page may be that nobody named.
std::vector<fs::path> usual_places() {
  std::vector<fs::path> places;
  std::error_code error;
  const fs::path program = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    places.push_back(program.parent_path() / "viewer.html");
    places.push_back(program.parent_path() / "../share/lithe/viewer.html");  // installed
    places.push_back(program.parent_path() / "../viewer.html");              // in Python's package
    places.push_back(program.parent_path() / "../viewer/dist/viewer.html");  // in a build folder of the source tree
  }
  places.emplace_back("viewer/dist/viewer.html");
  return places;
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace

std::string read_viewer_page(const std::string& given) {
  if (!given.empty()) return read_page(given, "--viewer");
  const char* named = std::getenv("LITHE_VIEWER");
  if (named != nullptr && *named != '\0') return read_page(named, "$LITHE_VIEWER");
  std::string tried;
  for (const fs::path& place : usual_places()) {
    std::error_code error;
    if (fs::is_regular_file(place, error)) return read_page(place, "found");
    tried += (tried.empty() ? "" : ", ") + place.string();
  }
  throw Error(fmt::format(
      "the viewer's page is not built: `make viewer` does that; or name one by --viewer FILE or $LITHE_VIEWER (looked "
      "for {})",
      tried));
}

void write_file(const std::string& path, std::string_view bytes) {
  std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path.c_str(), "wb"));
  LITHE_CHECK(file != nullptr, "cannot write {}: {}", path, std::strerror(errno));
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file.get()) == bytes.size();
  const bool closed = std::fclose(file.release()) == 0;
  LITHE_CHECK(written && closed, "cannot write {}: {}", path, std::strerror(errno));
}

}  // namespace lithe::cli
