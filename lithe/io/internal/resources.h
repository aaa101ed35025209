#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "lithe/io/load_options.h"
#include "lithe/io/mesh.h"
#include "lithe/io/mesh/hull_jobs.h"
#include "lithe/io/source_place.h"
#include "lithe/io/xml/xml.h"

namespace lithe::internal {

// The files that one load() reads: finds them, keeps to the allowed folders and the limits, reads each at most once.
class Resources {
 public:
  // `file`: the model's own; what it refers to is relative to its folder.
  Resources(const std::filesystem::path& file, const LoadOptions& options);

  // Reads and parses, anew at each call. Documents live as long as this object.
  const XmlDocument& xml(const std::filesystem::path& file, const SourcePlace& asked_by);
  // The same for a text that is no file (tests, fuzzers, pipes); relative names are resolved from the model's folder.
  const XmlDocument& xml_from_text(std::string_view text, const std::string& name);

  // What a URI or file name means: package://, model://, file://, absolute or relative to the file that says so (`asked_by.file`).
  // Throws MissingFile where nothing is there (the message lists where it looked), and LoadError where it leads outside the allowed folders. http:// and the
  // like are refused: nothing is fetched. What is there under nearly that name is taken, with a warning: package:///NAME/…, another case of
  // letters, and for a package or an absolute name that is not on this machine the same path below one of the three folders around the file.
  std::filesystem::path resolve(std::string_view uri, const SourcePlace& asked_by);

  // A triangle mesh by URI.
  std::shared_ptr<const TriangleMesh> mesh(std::string_view uri, const SourcePlace& asked_by);

  // The same for a mesh that will collide: it is remembered, and its points are counted (LoadLimits::convex_points).
  std::shared_ptr<const TriangleMesh> collision_mesh(std::string_view uri, const Vec3& scale,
                                                     const SourcePlace& asked_by);
  const std::vector<CollisionMesh>& collision_meshes() const { return collision_meshes_; }
  HullJobs& hulls() { return hulls_; }

  // One more collision or visual (LoadLimits::shapes).
  void count_shape(const SourcePlace& place);

  // Where assumptions about names are told; nowhere without this. The list must outlive what is asked of this object.
  void warn_to(WarningList& warnings) { warnings_ = &warnings; }

  const std::vector<std::string>& files() const { return files_; }  // all that were read
  const LoadOptions& options() const { return options_; }

 private:
  // A place where a file may be, and the package that it must not leave (empty: what is allowed anyway).
  struct Candidate {
    std::filesystem::path file;
    std::filesystem::path package = {};
  };
  using Candidates = std::vector<Candidate>;

  // `limit_name`: the limit that `limit` is.
  std::string read(const std::filesystem::path& file, std::size_t limit, std::string_view limit_name,
                   const SourcePlace& asked_by);
  std::filesystem::path look_up(std::string_view uri, const SourcePlace& asked_by);
  Candidates candidates_for(std::string_view uri, const std::filesystem::path& from, const SourcePlace& asked_by);
  Candidates package_candidates(std::string_view name, std::string_view rest, const std::filesystem::path& from) const;
  std::optional<std::filesystem::path> find_nearly(std::string_view uri, const Candidates& candidates,
                                                   const std::filesystem::path& from, const SourcePlace& asked_by);
  // Where the candidate, which is there, really is; an error if that is outside the allowed folders.
  std::filesystem::path accept(const Candidate& candidate, std::string_view uri, const SourcePlace& asked_by);
  // The file of that name but for the case of letters, also of folders.
  std::optional<std::filesystem::path> in_any_case(const std::filesystem::path& file);
  const std::unordered_map<std::string, std::string>& names_in(const std::filesystem::path& folder);
  bool is_allowed(const std::filesystem::path& canonical) const;
  void take_elements(std::string_view text, const std::string& file);
  void assume(const SourcePlace& place, std::string_view kind, std::string_view text);

  LoadOptions options_;
  std::filesystem::path folder_;                // of the model's file
  std::vector<std::filesystem::path> allowed_;  // canonical
  // What names meant when they were first asked for, by the file that asked and the name.
  struct Found {
    std::filesystem::path file;
    std::optional<std::string> missing;  // why it is not there
  };
  std::unordered_map<std::string, Found> found_;
  std::vector<std::unique_ptr<XmlDocument>> documents_;
  std::unordered_map<std::string, std::shared_ptr<const TriangleMesh>> meshes_;  // by file
  std::vector<CollisionMesh> collision_meshes_;
  std::unordered_set<std::string> collision_files_;
  HullJobs hulls_;
  std::vector<std::string> files_;
  std::size_t bytes_left_ = 0;
  int elements_left_ = 0;
  std::size_t points_left_ = 0;
  int vertices_left_ = 0, triangles_left_ = 0;
  int lookups_left_ = 0;  // on the disk
  int shapes_left_ = 0;
  WarningList* warnings_ = nullptr;
  // The names in folders, by the same in small letters; for in_any_case().
  std::unordered_map<std::string, std::unordered_map<std::string, std::string>> listings_;
  std::size_t listed_ = 0;  // names
};

}  // namespace lithe::internal
