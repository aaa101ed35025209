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

// The files that one load() reads. This class finds them, keeps to the allowed folders and the limits, and reads each
// mesh at most once.
class Resources {
 public:
  // `file` is the model's own file, which need not exist. What it refers to is relative to its folder.
  Resources(const std::filesystem::path& file, const LoadOptions& options);

  // Reads and parses an XML file, anew at each call. Documents live as long as this object.
  const XmlDocument& xml(const std::filesystem::path& file, const SourcePlace& asked_by);
  // The same for a text that is no file (tests, fuzzers, pipes); relative names are resolved from the model's folder.
  const XmlDocument& xml_from_text(std::string_view text, const std::string& name);

  // The file that a URI or file name means: package://, model://, file://, absolute, or relative to the file that says
  // so (`asked_by.file`). MissingFile is thrown where nothing is there, with the places that were looked at; LoadError
  // where the name leads outside the allowed folders, and for http:// and the like, since nothing is fetched.
  //
  // What is there under nearly that name is taken, with a warning: package:///NAME/…; another case of letters; and for
  // a package or an absolute name that is not on this machine, the same path below one of the three folders around the
  // file.
  std::filesystem::path resolve(std::string_view uri, const SourcePlace& asked_by);

  // A triangle mesh by its URI, as its file has it, in the file's own units.
  std::shared_ptr<const TriangleMesh> mesh(std::string_view uri, const SourcePlace& asked_by);

  // The same for a mesh that will collide: it is remembered, and its points are counted (LoadLimits::convex_points).
  std::shared_ptr<const TriangleMesh> collision_mesh(std::string_view uri, const Vec3& scale,
                                                     const SourcePlace& asked_by);
  const std::vector<CollisionMesh>& collision_meshes() const { return collision_meshes_; }
  HullJobs& hulls() { return hulls_; }

  // Counts one more collision or visual; an error beyond LoadLimits::shapes.
  void count_shape(const SourcePlace& place);

  // The list that is told of assumptions about file names; without it they are not told. It must outlive the use of
  // this object.
  void warn_to(WarningList& warnings) { warnings_ = &warnings; }

  const std::vector<std::string>& files() const { return files_; }  // all that were read
  const LoadOptions& options() const { return options_; }

 private:
  // A place where a file may be, and the package that it must not leave. An empty package means the allowed folders.
  struct Candidate {
    std::filesystem::path file;
    std::filesystem::path package = {};
  };
  using Candidates = std::vector<Candidate>;

  // The bytes of a file, which may have `limit` of them; `limit_name` is what messages call that limit.
  std::string read(const std::filesystem::path& file, std::size_t limit, std::string_view limit_name,
                   const SourcePlace& asked_by);
  // resolve(), without the memory of earlier answers.
  std::filesystem::path look_up(std::string_view uri, const SourcePlace& asked_by);
  // The places where a name from a file in the folder `from` may lead, in the order in which they are looked at.
  Candidates candidates_for(std::string_view uri, const std::filesystem::path& from, const SourcePlace& asked_by);
  // The same for package://NAME/REST. Above `from`, a folder NAME counts in any case, and one that lies inside a folder
  // above only if it is a package.
  Candidates package_candidates(std::string_view name, std::string_view rest, const std::filesystem::path& from) const;
  // The file that is there under nearly that name, with a warning; nothing where there is none.
  std::optional<std::filesystem::path> find_nearly(std::string_view uri, const Candidates& candidates,
                                                   const std::filesystem::path& from, const SourcePlace& asked_by);
  // The canonical path of a candidate that is there; an error if that is outside the allowed folders.
  std::filesystem::path accept(const Candidate& candidate, std::string_view uri, const SourcePlace& asked_by);
  // The file whose name differs from this one by the case of letters only, in its folders' names, too.
  std::optional<std::filesystem::path> in_any_case(const std::filesystem::path& file);
  // The names in a folder, each by itself in small letters. A folder is listed once.
  const std::unordered_map<std::string, std::string>& names_in(const std::filesystem::path& folder);
  bool is_allowed(const std::filesystem::path& canonical) const;
  // Counts the elements of a text against LoadLimits::elements.
  void take_elements(std::string_view text, const std::string& file);
  // Tells that something was assumed.
  void assume(const SourcePlace& place, std::string_view kind, std::string_view text);

  LoadOptions options_;
  std::filesystem::path folder_;                // of the model's file
  std::vector<std::filesystem::path> allowed_;  // canonical
  // What names meant when they were first asked for, by the file that asked and the name: the disk is asked once.
  struct Found {
    std::filesystem::path file;
    std::optional<std::string> missing;  // why it is not there, if it is not
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
  // The lists of names_in(), by folder.
  std::unordered_map<std::string, std::unordered_map<std::string, std::string>> listings_;
  std::size_t listed_ = 0;  // names
};

}  // namespace lithe::internal
