#include "lithe/io/mjcf/includes.h"

#include "lithe/io/mjcf/attributes.h"

namespace lithe::internal::mjcf {

namespace fs = std::filesystem;

namespace {

constexpr NotHonoured kIncludeNotHonoured[] = {{"prefix", "names are taken as they are"}};

// The path without links and "..", by which a file is recognised; the path as it is where the disk cannot tell.
fs::path canonical_path(const fs::path& path) {
  std::error_code error;
  const fs::path found = fs::weakly_canonical(path, error);
  return error ? path : found;
}

}  // namespace

Includes::Includes(const XmlElement& main, Resources& resources, WarningList& warnings)
    : resources_(resources), warnings_(warnings), main_file_(main.place().file) {
  included_.emplace(canonical_path(fs::absolute(main_file_)).string(), SourcePlace{main_file_, 0});
}

std::string Includes::file_name(const std::string& folder, const std::string& file, const SourcePlace& place) const {
  // The compiler's folder is put before relative names only.
  const bool complete = folder.empty() || fs::path(file).is_absolute() || file.find("://") != std::string::npos;
  const fs::path name = complete ? fs::path(file) : fs::path(folder) / file;
  // Resources takes a relative name from the folder of the file that asks.
  if (place.file == main_file_ || name.is_absolute() || file.find("://") != std::string::npos) return name.string();
  const std::string from_main = (fs::absolute(main_file_).parent_path() / name).string();
  return !is_there(from_main, place) && is_there(name.string(), place) ? name.string() : from_main;
}

// Whether a file of that name is found. One that must not be read is an error.
bool Includes::is_there(const std::string& name, const SourcePlace& place) const {
  try {
    resources_.resolve(name, place);
    return true;
  } catch (const MissingFile&) {
    return false;
  }
}

std::vector<XmlElement> Includes::children(const XmlElement& element) {
  std::vector<XmlElement> result;
  append_children(element, result, 0);
  return result;
}

// Appends the children of an element. An <include> is replaced by the children of that file's root element, whatever
// the root is called.
void Includes::append_children(const XmlElement& element, std::vector<XmlElement>& out, int depth) {
  for (const XmlElement& child : element.children()) {
    if (child.name() != "include") {
      out.push_back(child);
      continue;
    }
    check_attributes(child, {"file", kIncludeNotHonoured}, warnings_);
    const int most = resources_.options().limits.include_depth;
    if (depth >= most) child.fail(fmt::format("files include one another more than {} deep", most));
    const std::string name = child.required_attribute("file");
    const fs::path file = resources_.resolve(file_name("", name, child.place()), child.place());
    const auto [known, is_new] = included_.emplace(canonical_path(file).string(), child.place());
    if (!is_new) {
      child.fail(fmt::format("\"{}\" is included again (first from {}): a file can be included only once", name,
                             to_string(known->second)));
    }
    append_children(resources_.xml(file, child.place()).root(), out, depth + 1);
  }
}

}  // namespace lithe::internal::mjcf
