#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "lithe/io/internal/resources.h"

namespace lithe::internal::mjcf {

// Follows <include file="…"/>, which stands for the children of that file's root element. As in MuJoCo, names are
// relative to the folder of the *main* file or, where nothing is there, to that of the file that says them; and a file
// may be included once, so that there are no cycles.
class Includes {
 public:
  Includes(const XmlElement& main, Resources& resources, WarningList& warnings);

  // The element's children, with those of included files in the place of each <include>. To be called once per element,
  // since an include counts each time.
  std::vector<XmlElement> children(const XmlElement& element);

  // The name by which Resources is to be asked for a file that the element at `place` names. `folder` is what the
  // compiler puts before names (meshdir), or empty.
  std::string file_name(const std::string& folder, const std::string& file, const SourcePlace& place) const;

 private:
  void append_children(const XmlElement& element, std::vector<XmlElement>& out, int depth);
  bool is_there(const std::string& name, const SourcePlace& place) const;

  Resources& resources_;
  WarningList& warnings_;
  std::string main_file_;
  std::unordered_map<std::string, SourcePlace> included_;  // by path: where it was included
};

}  // namespace lithe::internal::mjcf
