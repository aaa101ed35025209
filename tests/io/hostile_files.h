#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <ostream>
#include <string>
#include <vector>

#include "lithe/io/load_options.h"

namespace lithe::test {

// A folder that goes with the test.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const std::string& name, const std::string& bytes) const;
  void write_model(const std::string& text) const { write(kModel, text); }
  std::string model() const { return (path_ / kModel).string(); }

 private:
  static constexpr const char* kModel = "model.xml";  // formats are told apart by what is inside
  std::filesystem::path path_;
};

// What the files are made for: LoadLimits::untrusted(), or the defaults where LITHE_HOSTILE is "defaults", which takes minutes and many
// gigabytes of disk and is for measuring by hand (docs/files.md has the figures).
inline const bool kDefaultLimits =
    std::getenv("LITHE_HOSTILE") && std::string(std::getenv("LITHE_HOSTILE")) == "defaults";
inline const LoadLimits kLimits = kDefaultLimits ? LoadLimits{} : LoadLimits::untrusted();
inline constexpr std::size_t kRoom = 4096;                                                // for what stands around
inline const std::size_t kMeshBytes = std::min(kLimits.mesh_bytes, kLimits.total_bytes);  // in one file
inline const auto kMostVertices = static_cast<std::size_t>(kLimits.mesh_vertices);
inline const auto kMostTriangles = static_cast<std::size_t>(kLimits.mesh_triangles);
inline const auto kMostElements = static_cast<std::size_t>(kLimits.elements);

// Adds pieces until the text has `bytes` or there are `count`.
std::string repeated(std::size_t count, std::size_t bytes, const std::function<void(std::size_t, std::string&)>& add);

constexpr const char* kUrdfInertial = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>";

// A PLY with vertices of floats and faces that are lists ("uchar int"), up to its contents.
std::string ply_header(const char* format, std::size_t vertices, std::size_t faces, const char* list);
void append_floats(std::string& bytes, std::initializer_list<float> numbers);

template <class... Arguments>
void append(std::string& text, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  fmt::format_to(std::back_inserter(text), format, std::forward<Arguments>(arguments)...);
}

// The most expensive files of a kind that these limits admit.
struct HostileFile {
  const char* name;
  std::function<void(const Folder&)> write;
  bool loads = true;  // false: refused, for what would cost more
};
inline std::ostream& operator<<(std::ostream& out, const HostileFile& file) { return out << file.name; }
const std::vector<HostileFile>& hostile_meshes();
const std::vector<HostileFile>& hostile_models();

}  // namespace lithe::test
