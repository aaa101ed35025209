#include "lithe/io/resources.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "lithe/io/mesh_cursor.h"

namespace lithe {

namespace fs = std::filesystem;

namespace {

constexpr int kMostAbove = 32;         // folders above a file in which a package is looked for
constexpr int kMostLookups = 200'000;  // on the disk
constexpr int kLookupsPerName = 20;    // at least, so that there are not too many names

// Where `path` really is, links followed; what does not exist keeps its name.
fs::path real_path(const fs::path& path) {
  std::error_code error;
  const fs::path found = fs::weakly_canonical(path, error);
  return error ? fs::absolute(path).lexically_normal() : found;
}

bool is_inside(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

// The folders of a variable like PATH.
std::vector<fs::path> folders_of(const char* variable) {
  std::vector<fs::path> folders;
  const char* value = std::getenv(variable);
  std::string_view rest = value ? value : "";
  while (!rest.empty()) {
    const std::size_t length = std::min(rest.find(':'), rest.size());
    if (length > 0) folders.emplace_back(rest.substr(0, length));
    rest.remove_prefix(std::min(length + 1, rest.size()));
  }
  return folders;
}

std::vector<fs::path> environment_folders() {
  std::vector<fs::path> folders;
  for (const char* variable : {"ROS_PACKAGE_PATH", "GAZEBO_MODEL_PATH", "SDF_PATH", "GZ_SIM_RESOURCE_PATH"}) {
    for (const fs::path& folder : folders_of(variable)) folders.push_back(folder);
  }
  for (const fs::path& prefix : folders_of("AMENT_PREFIX_PATH")) folders.push_back(prefix / "share");
  return folders;
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

bool is_package(const fs::path& folder) {
  return is_there(folder / "package.xml") || is_there(folder / "model.config") || is_there(folder / "manifest.xml");
}

// The nearest folder at or above this one that is a package of its own.
std::optional<fs::path> package_around(fs::path folder) {
  for (;;) {
    if (is_package(folder)) return folder;
    const fs::path above = folder.parent_path();
    if (above == folder) return std::nullopt;
    folder = above;
  }
}

struct Uri {
  std::string_view scheme;  // empty: a plain file name
  std::string_view rest;
};

Uri split(std::string_view uri) {
  const std::size_t colon = uri.find("://");
  if (colon == std::string_view::npos) return {"", uri};
  return {uri.substr(0, colon), uri.substr(colon + 3)};
}

// A place where a file may be, and the package that it must not leave (empty: what is allowed anyway).
struct Candidate {
  fs::path file;
  fs::path package = {};
};

// Where package://NAME/REST may be, in the order of looking. Above the file, a folder of that name counts, and one inside a folder above
// if it is a package.
std::vector<Candidate> package_candidates(std::string_view name, std::string_view rest, const LoadOptions& options,
                                          const fs::path& folder) {
  const auto given = options.packages.find(std::string(name));
  if (given != options.packages.end()) return {{fs::path(given->second) / rest, given->second}};
  std::vector<Candidate> candidates;
  for (const fs::path& place : environment_folders()) {
    candidates.push_back({place / name / rest, place / name});
    if (place.filename() == name) candidates.push_back({place / rest, place});
  }
  int count = 0;
  for (fs::path above = folder; above != above.parent_path() && count < kMostAbove; above = above.parent_path()) {
    ++count;
    if (above.filename() == name) candidates.push_back({above / rest, above});
    if (is_package(above / name)) candidates.push_back({above / name / rest, above / name});
  }
  return candidates;
}

std::string listed(const std::vector<Candidate>& candidates) {
  constexpr std::size_t kMostListed = 6;
  if (candidates.empty()) return "a folder of that name above the file, and one in ROS_PACKAGE_PATH and the like";
  std::string list;
  for (std::size_t i = 0; i < std::min(candidates.size(), kMostListed); ++i) {
    list += fmt::format("{}{}", i == 0 ? "" : ", ", candidates[i].file.string());
  }
  if (candidates.size() > kMostListed) list += fmt::format(" and {} more places", candidates.size() - kMostListed);
  return list;
}

}  // namespace

Resources::Resources(const fs::path& file, const LoadOptions& options)
    : options_(options),
      bytes_left_(options.limits.total_bytes),
      elements_left_(options.limits.elements),
      points_left_(static_cast<std::size_t>(options.limits.convex_points)),
      vertices_left_(options.limits.mesh_vertices),
      triangles_left_(options.limits.mesh_triangles),
      lookups_left_(kMostLookups),
      shapes_left_(options.limits.shapes) {
  folder_ = real_path(fs::absolute(file).parent_path());
  allowed_.push_back(folder_);
  if (const std::optional<fs::path> package = package_around(folder_)) allowed_.push_back(*package);
  for (const auto& [name, folder] : options.packages) allowed_.push_back(real_path(folder));
  for (const std::string& folder : options.roots) allowed_.push_back(real_path(folder));
  for (const fs::path& folder : environment_folders()) allowed_.push_back(real_path(folder));
}

void Resources::count_shape(const SourcePlace& place) {
  if (--shapes_left_ >= 0) return;
  throw LoadError(
      place, fmt::format("there are more than {} collisions and visuals (LoadLimits::shapes)", options_.limits.shapes));
}

bool Resources::is_allowed(const fs::path& path) const {
  if (options_.anywhere) return true;
  return std::any_of(allowed_.begin(), allowed_.end(), [&](const fs::path& folder) { return is_inside(path, folder); });
}

fs::path Resources::resolve(std::string_view uri, const SourcePlace& asked_by) {
  if (uri.size() > kLongestFileName) {
    throw LoadError(asked_by,
                    fmt::format("a file name has {} bytes; at most {} are allowed", uri.size(), kLongestFileName));
  }
  const auto [known, is_new] = found_.try_emplace(fmt::format("{}\n{}", asked_by.file, uri));
  Found& found = known->second;
  if (is_new) {
    try {
      found.file = look_up(uri, asked_by);
    } catch (const MissingFile& missing) {
      found.missing = missing.text();
    } catch (...) {
      found_.erase(known);
      throw;
    }
  }
  if (found.missing) throw MissingFile(asked_by, *found.missing);
  return found.file;
}

fs::path Resources::look_up(std::string_view uri, const SourcePlace& asked_by) {
  if (uri.empty()) throw LoadError(asked_by, "a file name is empty");
  if (uri.find('\0') != std::string_view::npos) throw LoadError(asked_by, "a file name holds a zero byte");
  const Uri parts = split(uri);
  const fs::path from = asked_by.file.empty() ? folder_ : real_path(fs::absolute(asked_by.file).parent_path());
  std::vector<Candidate> candidates;
  if (parts.scheme == "package" || parts.scheme == "model") {
    const std::size_t slash = std::min(parts.rest.find('/'), parts.rest.size());
    const std::string_view name = parts.rest.substr(0, slash);
    const std::string_view rest = parts.rest.substr(std::min(slash + 1, parts.rest.size()));
    if (name.empty() || name == "." || name == "..") {
      throw LoadError(asked_by, fmt::format("\"{}\" names no package", uri));
    }
    candidates = package_candidates(name, rest, options_, from);
  } else if (parts.scheme.empty() || parts.scheme == "file") {
    candidates.push_back({from / parts.rest});
  } else {
    throw LoadError(asked_by, fmt::format("\"{}\" is not a local file; download it and name the copy", uri));
  }
  // Each part of a name is a question to the disk, and a package is asked for in every folder above.
  const auto parts_of_name = static_cast<int>(std::count(uri.begin(), uri.end(), '/')) + 1;
  const int places = static_cast<int>(candidates.size()) + 1;
  lookups_left_ -= kLookupsPerName + parts_of_name * places + (parts.scheme.empty() ? 0 : 3 * kMostAbove);
  if (lookups_left_ < 0) throw LoadError(asked_by, "too many different files are named, or their names are too long");
  for (const Candidate& candidate : candidates) {
    if (!is_there(candidate.file)) continue;
    const fs::path found = real_path(candidate.file);
    if (is_allowed(found)) return found;
    if (!candidate.package.empty() && is_inside(found, real_path(candidate.package))) {
      allowed_.push_back(real_path(candidate.package));  // what it refers to may be beside it
      return found;
    }
    throw LoadError(asked_by,
                    fmt::format("\"{}\" leads to {}, outside the folders that this model may read; allow it with "
                                "LoadOptions::roots (on the command line: --root FOLDER)",
                                uri, found.string()));
  }
  const bool in_package = parts.scheme == "package" || parts.scheme == "model";
  throw MissingFile(asked_by,
                    fmt::format("\"{}\" is not there: looked for {}{}", uri, listed(candidates),
                                in_package ? "; say where it is with LoadOptions::packages (on the command line: "
                                             "--package NAME=FOLDER)"
                                           : ""));
}

std::string Resources::read(const fs::path& file, std::size_t limit, const SourcePlace& asked_by) {
  const SourcePlace place = asked_by.file.empty() ? SourcePlace{file.string(), 0} : asked_by;
  std::error_code error;
  if (!fs::exists(file, error)) throw LoadError(place, fmt::format("{} does not exist", file.string()));
  if (!fs::is_regular_file(file, error)) throw LoadError(place, fmt::format("{} is not a file", file.string()));
  const std::uintmax_t size = fs::file_size(file, error);
  if (error) throw LoadError(place, fmt::format("{} cannot be read: {}", file.string(), error.message()));
  const auto bytes_allowed = std::min(limit, bytes_left_);
  if (size > bytes_allowed) {
    throw LoadError(place, fmt::format("{} has {} bytes, but only {} are allowed (LoadLimits)", file.string(), size,
                                       bytes_allowed));
  }
  std::ifstream stream(file, std::ios::binary);
  std::string bytes(static_cast<std::size_t>(size), '\0');
  if (!stream.read(bytes.data(), static_cast<std::streamsize>(size))) {
    throw LoadError(place, fmt::format("{} cannot be read", file.string()));
  }
  bytes_left_ -= bytes.size();
  files_.push_back(file.string());
  return bytes;
}

const XmlDocument& Resources::xml(const fs::path& file, const SourcePlace& asked_by) {
  if (static_cast<int>(documents_.size()) >= options_.limits.included_files) {
    throw LoadError(asked_by, fmt::format("more than {} files are included", options_.limits.included_files));
  }
  const std::string text = read(file, options_.limits.xml_bytes, asked_by);
  return xml_from_text(text, file.string());
}

const XmlDocument& Resources::xml_from_text(std::string_view text, const std::string& name) {
  documents_.push_back(std::make_unique<XmlDocument>(text, name, elements_left_));
  return *documents_.back();
}

std::shared_ptr<const TriangleMesh> Resources::mesh(std::string_view uri, const SourcePlace& asked_by) {
  const fs::path file = resolve(uri, asked_by);
  const auto known = meshes_.find(file.string());
  if (known != meshes_.end()) return known->second;
  const std::string bytes = read(file, options_.limits.mesh_bytes, asked_by);
  LoadLimits limits = options_.limits;
  limits.elements = elements_left_;
  limits.mesh_vertices = vertices_left_;
  limits.mesh_triangles = triangles_left_;
  if (equal_in_any_case(file.extension().string(), ".dae"))
    elements_left_ -= count_elements(bytes, file.string(), elements_left_);
  auto mesh = std::make_shared<const TriangleMesh>(parse_mesh(bytes, file.string(), limits));
  vertices_left_ -= static_cast<int>(mesh->vertices.size());
  triangles_left_ -= static_cast<int>(mesh->triangles.size());
  meshes_.emplace(file.string(), mesh);
  return mesh;
}

std::shared_ptr<const TriangleMesh> Resources::collision_mesh(std::string_view uri, const Vec3& scale,
                                                              const SourcePlace& asked_by) {
  std::shared_ptr<const TriangleMesh> found = mesh(uri, asked_by);
  if (found->vertices.size() > points_left_) {
    throw LoadError(asked_by,
                    fmt::format("the collision meshes have more than {} points together; simplify them, or raise "
                                "LoadLimits::convex_points",
                                options_.limits.convex_points));
  }
  points_left_ -= found->vertices.size();
  std::string file = resolve(uri, asked_by).string();
  if (collision_files_.insert(file).second) collision_meshes_.push_back({std::move(file), found, scale});
  return found;
}

}  // namespace lithe
