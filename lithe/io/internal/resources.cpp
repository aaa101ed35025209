#include "lithe/io/internal/resources.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "lithe/io/load_limits.h"
#include "lithe/io/mesh/cursor.h"

namespace lithe::internal {

namespace fs = std::filesystem;

namespace {

constexpr int kMostAbove = 32;               // folders above a file in which a package is looked for
constexpr int kMostLookups = 200'000;        // on the disk
constexpr int kLookupsPerName = 20;          // at least, so that there are not too many names
constexpr std::size_t kMostListed = 50'000;  // names in folders that are listed to find one in another case
constexpr int kFoldersAround = 3;            // the file's own and two above, in which a lost package is looked for

// Where `path` really is, links followed; what does not exist keeps its name.
fs::path real_path(const fs::path& path) {
  std::error_code error;
  const fs::path found = fs::weakly_canonical(path, error);
  return error ? fs::absolute(path).lexically_normal() : found;
}

// Whether the path is the folder or lies in it. Both are canonical, so that neither has a ".." left.
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

// The folders in which packages and models may lie, in the order in which they are searched.
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

// ROS has package.xml (its first build system had manifest.xml), Gazebo has model.config.
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

bool names_package(const Uri& uri) { return uri.scheme == "package" || uri.scheme == "model"; }

// Without the slashes that it begins with.
std::string_view without_slashes(std::string_view name) {
  return name.substr(std::min(name.find_first_not_of('/'), name.size()));
}

// NAME of package://NAME/…
std::string_view package_of(const Uri& uri) {
  const std::string_view path = without_slashes(uri.rest);
  return path.substr(0, std::min(path.find('/'), path.size()));
}

std::string in_small_letters(std::string name) {
  for (char& c : name) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return name;
}

// What may be left of a name whose beginning is not on this machine: of package://NAME/a/b, a/b; of /home/somebody/a/b, all its ends of
// two parts or more (one would find any file of that name), the longest first.
std::vector<std::string_view> known_ends(const Uri& uri) {
  constexpr std::size_t kMostEnds = 16;
  const std::string_view path = without_slashes(uri.rest);
  std::vector<std::string_view> ends;
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    const std::string_view end = without_slashes(path.substr(slash));
    if (names_package(uri)) return {end};
    if (end.find('/') != std::string_view::npos) ends.push_back(end);
    if (ends.size() > kMostEnds) ends.erase(ends.begin());
  }
  return ends;
}

// The places that were looked at, for a message.
template <class Candidates>
std::string listed(const Candidates& candidates) {
  constexpr std::size_t kMostShown = 6;
  if (candidates.empty()) return "a folder of that name above the file, and one in ROS_PACKAGE_PATH and the like";
  std::string list;
  for (std::size_t i = 0; i < std::min(candidates.size(), kMostShown); ++i) {
    list += fmt::format("{}{}", i == 0 ? "" : ", ", candidates[i].file.string());
  }
  if (candidates.size() > kMostShown) list += fmt::format(" and {} more places", candidates.size() - kMostShown);
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
  throw LoadError(place, fmt::format("there are more than {} collisions and visuals; {}", options_.limits.shapes,
                                     raise_load_limit("shapes")));
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
      // Other errors name the place that asked, so each place that asks finds its own.
      found_.erase(known);
      throw;
    }
  }
  if (found.missing) throw MissingFile(asked_by, *found.missing);
  return found.file;
}

// In the order of looking. Above the file, a folder of that name counts, and one inside a folder above if it is a package.
Resources::Candidates Resources::package_candidates(std::string_view name, std::string_view rest,
                                                    const fs::path& from) const {
  const auto given = options_.packages.find(std::string(name));
  if (given != options_.packages.end()) return {{fs::path(given->second) / rest, given->second}};
  Candidates candidates;
  for (const fs::path& place : environment_folders()) {
    candidates.push_back({place / name / rest, place / name});
    if (place.filename() == name) candidates.push_back({place / rest, place});
  }
  int count = 0;
  for (fs::path above = from; above != above.parent_path() && count < kMostAbove; above = above.parent_path()) {
    ++count;
    if (above.filename() == name) candidates.push_back({above / rest, above});
    if (is_package(above / name)) candidates.push_back({above / name / rest, above / name});
  }
  return candidates;
}

Resources::Candidates Resources::candidates_for(std::string_view uri, const fs::path& from,
                                                const SourcePlace& asked_by) {
  const Uri parts = split(uri);
  if (parts.scheme.empty() || parts.scheme == "file") return {{from / parts.rest}};
  if (!names_package(parts)) {
    throw LoadError(asked_by, fmt::format("\"{}\" is not a local file; download it and name the copy", uri));
  }
  const std::string_view name = package_of(parts);
  if (name.empty() || name == "." || name == "..") {
    throw LoadError(asked_by, fmt::format("\"{}\" names no package", uri));
  }
  if (parts.rest.starts_with('/')) {
    assume(asked_by, "file.package",
           fmt::format("\"{}\" names no package; '{}' is taken for it", shortened(uri), shortened(name)));
  }
  return package_candidates(name, without_slashes(without_slashes(parts.rest).substr(name.size())), from);
}

fs::path Resources::look_up(std::string_view uri, const SourcePlace& asked_by) {
  if (uri.empty()) throw LoadError(asked_by, "a file name is empty");
  if (uri.find('\0') != std::string_view::npos) throw LoadError(asked_by, "a file name holds a zero byte");
  const fs::path from = asked_by.file.empty() ? folder_ : real_path(fs::absolute(asked_by.file).parent_path());
  const Candidates candidates = candidates_for(uri, from, asked_by);
  // Each part of a name is a question to the disk, and a package is asked for in every folder above.
  const auto parts_of_name = static_cast<int>(std::count(uri.begin(), uri.end(), '/')) + 1;
  const int places = static_cast<int>(candidates.size()) + 1;
  lookups_left_ -= kLookupsPerName + parts_of_name * places + (split(uri).scheme.empty() ? 0 : 3 * kMostAbove);
  if (lookups_left_ < 0) throw LoadError(asked_by, "too many different files are named, or their names are too long");
  for (const Candidate& candidate : candidates) {
    // The first place where something is decides, even if it must not be read: a later one would be a surprise.
    if (is_there(candidate.file)) return accept(candidate, uri, asked_by);
  }
  if (const std::optional<fs::path> nearly = find_nearly(uri, candidates, from, asked_by)) return *nearly;
  throw MissingFile(asked_by, fmt::format("\"{}\" is not there: looked for {}{}", uri, listed(candidates),
                                          names_package(split(uri))
                                              ? "; say where it is with LoadOptions::packages (on the command line: "
                                                "--package NAME=FOLDER)"
                                              : ""));
}

fs::path Resources::accept(const Candidate& candidate, std::string_view uri, const SourcePlace& asked_by) {
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

std::optional<fs::path> Resources::find_nearly(std::string_view uri, const Candidates& candidates, const fs::path& from,
                                               const SourcePlace& asked_by) {
  for (const Candidate& candidate : candidates) {
    if (const std::optional<fs::path> other = in_any_case(candidate.file)) {
      const fs::path found = accept({*other, candidate.package}, uri, asked_by);
      assume(asked_by, "file.case",
             fmt::format("\"{}\" is not there; {} is taken, which differs in the case of letters", shortened(uri),
                         other->string()));
      return found;
    }
  }
  const Uri parts = split(uri);
  // A package that the options name, and a relative name, mean one place; only the others may be of another machine.
  const bool elsewhere =
      names_package(parts) ? !options_.packages.contains(std::string(package_of(parts))) : parts.rest.starts_with('/');
  if (!elsewhere) return std::nullopt;
  for (const std::string_view end : known_ends(parts)) {
    fs::path around = from;
    for (int i = 0; i < kFoldersAround && around != around.parent_path(); ++i, around = around.parent_path()) {
      --lookups_left_;
      const fs::path found = real_path(around / end);
      if (!is_there(around / end) || !(is_allowed(found) || is_inside(found, around))) continue;
      assume(asked_by, "file.elsewhere",
             fmt::format("\"{}\" is not on this machine; {} is taken, where the rest of the name leads", shortened(uri),
                         found.string()));
      return found;
    }
  }
  return std::nullopt;
}

std::optional<fs::path> Resources::in_any_case(const fs::path& file) {
  const fs::path wanted = file.lexically_normal();
  fs::path found = wanted.root_path();
  for (const fs::path& part : wanted.relative_path()) {
    if (is_there(found / part)) {
      found /= part;
      continue;
    }
    const auto& names = names_in(found);
    const auto name = names.find(in_small_letters(part.string()));
    if (name == names.end()) return std::nullopt;
    found /= name->second;
  }
  return found;
}

const std::unordered_map<std::string, std::string>& Resources::names_in(const fs::path& folder) {
  const auto [known, is_new] = listings_.try_emplace(folder.string());
  if (!is_new) return known->second;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (++listed_ > kMostListed) break;
    std::string name = entry->path().filename().string();
    const auto [other, first] = known->second.try_emplace(in_small_letters(name), name);
    if (!first) other->second = std::min(other->second, name);  // whatever the order of the folder
  }
  return known->second;
}

void Resources::assume(const SourcePlace& place, std::string_view kind, std::string_view text) {
  if (warnings_) warnings_->add(place, kind, text);
}

std::string Resources::read(const fs::path& file, std::size_t limit, std::string_view limit_name,
                            const SourcePlace& asked_by) {
  const SourcePlace place = asked_by.file.empty() ? SourcePlace{file.string(), 0} : asked_by;
  std::error_code error;
  if (!fs::exists(file, error)) throw LoadError(place, fmt::format("{} does not exist", file.string()));
  if (!fs::is_regular_file(file, error)) throw LoadError(place, fmt::format("{} is not a file", file.string()));
  const std::uintmax_t size = fs::file_size(file, error);
  if (error) throw LoadError(place, fmt::format("{} cannot be read: {}", file.string(), error.message()));
  if (size > limit) {
    throw LoadError(place, fmt::format("{} has {}; {} are allowed in one file: {}", file.string(), shown_bytes(size),
                                       shown_bytes(limit), raise_load_limit(limit_name)));
  }
  if (size > bytes_left_) {
    const std::size_t total = options_.limits.total_bytes;
    throw LoadError(place, fmt::format("{} has {}, {} with the files before it; {} are allowed for all files: {}",
                                       file.string(), shown_bytes(size), shown_bytes(size + total - bytes_left_),
                                       shown_bytes(total), raise_load_limit("total_bytes")));
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
    throw LoadError(asked_by, fmt::format("more than {} files are included; {}", options_.limits.included_files,
                                          raise_load_limit("included_files")));
  }
  const std::string text = read(file, options_.limits.xml_bytes, "xml_bytes", asked_by);
  return xml_from_text(text, file.string());
}

const XmlDocument& Resources::xml_from_text(std::string_view text, const std::string& name) {
  take_elements(text, name);
  int unlimited = std::numeric_limits<int>::max();  // they are counted
  documents_.push_back(std::make_unique<XmlDocument>(text, name, unlimited));
  return *documents_.back();
}

// Takes a text's elements off LoadLimits::elements, before the parser makes objects of them.
void Resources::take_elements(std::string_view text, const std::string& file) {
  const int count = count_elements(text, file, std::numeric_limits<int>::max());
  if (count > elements_left_) {
    const int most = options_.limits.elements;
    throw LoadError({file, 0},
                    fmt::format("there are {} XML elements, {} with the files before it; {} are allowed: {}", count,
                                std::int64_t{count} + most - elements_left_, most, raise_load_limit("elements")));
  }
  elements_left_ -= count;
}

namespace {

// Takes what a mesh has off what is left of a limit. A mesh that has too much leaves nothing to those after it, which
// are not even read then: where meshes are only to be seen, the load goes on without them, and each would cost as much
// as the limit.
void take_of_mesh(const char* things, std::size_t count, int limit, int& left, const std::string& file) {
  const int before = limit - left;
  const bool enough = count <= static_cast<std::size_t>(std::max(left, 0));
  left = enough ? left - static_cast<int>(count) : 0;
  if (enough) return;
  throw LoadError({file, 0}, fmt::format("the mesh has {1} {0}, {2} with the meshes before it; {3} are allowed: "
                                         "simplify them or {4}",
                                         things, count, count + static_cast<std::size_t>(before), limit,
                                         raise_load_limit(fmt::format("mesh_{}", things))));
}

void check_some_are_left(const char* things, int limit, int left, const std::string& file) {
  if (left > 0) return;
  throw LoadError({file, 0}, fmt::format("the meshes before it have all {} {} that are allowed: simplify them or {}",
                                         limit, things, raise_load_limit(fmt::format("mesh_{}", things))));
}

}  // namespace

std::shared_ptr<const TriangleMesh> Resources::mesh(std::string_view uri, const SourcePlace& asked_by) {
  // A mesh is kept under its path, by whatever names it is asked for.
  const fs::path file = resolve(uri, asked_by);
  const std::string name = file.string();
  const auto known = meshes_.find(name);
  if (known != meshes_.end()) return known->second;
  const LoadLimits& limits = options_.limits;
  check_some_are_left("vertices", limits.mesh_vertices, vertices_left_, name);
  check_some_are_left("triangles", limits.mesh_triangles, triangles_left_, name);
  const std::string bytes = read(file, limits.mesh_bytes, "mesh_bytes", asked_by);
  if (equal_in_any_case(file.extension().string(), ".dae")) take_elements(bytes, name);
  auto mesh = std::make_shared<const TriangleMesh>(parse_mesh(bytes, name, limits));
  take_of_mesh("vertices", mesh->vertices.size(), limits.mesh_vertices, vertices_left_, name);
  take_of_mesh("triangles", mesh->triangles.size(), limits.mesh_triangles, triangles_left_, name);
  meshes_.emplace(name, mesh);
  return mesh;
}

std::shared_ptr<const TriangleMesh> Resources::collision_mesh(std::string_view uri, const Vec3& scale,
                                                              const SourcePlace& asked_by) {
  std::shared_ptr<const TriangleMesh> found = mesh(uri, asked_by);
  const std::size_t count = found->vertices.size();
  if (count > points_left_) {
    const auto most = static_cast<std::size_t>(options_.limits.convex_points);
    throw LoadError(
        asked_by,
        fmt::format("the collision mesh \"{}\" has {} points, {} with those before it; {} are allowed: "
                    "simplify them or {}",
                    shortened(uri), count, count + most - points_left_, most, raise_load_limit("convex_points")));
  }
  points_left_ -= count;
  std::string file = resolve(uri, asked_by).string();
  if (collision_files_.insert(file).second) collision_meshes_.push_back({std::move(file), found, scale});
  return found;
}

}  // namespace lithe::internal
