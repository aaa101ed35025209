#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "lithe/io/internal/resources.h"

namespace lithe::internal::mjcf {

// <include file="…"/> stands for the children of that file's root element. As in MuJoCo, names are relative to the folder of the *main*
// file or, where nothing is there, to that of the file that says them; and a file may be included once: so there are no cycles.
class Includes {
 public:
  Includes(const XmlElement& main, Resources& resources, WarningList& warnings);

  // The element's children with included ones in the place of each <include>. To be asked once per element.
  std::vector<XmlElement> children(const XmlElement& element);

  // A file name of the main file or an included one as Resources is to be asked for it, with the folder that the compiler adds.
  std::string file_name(const std::string& folder, const std::string& file, const SourcePlace& place) const;

 private:
  void append_children(const XmlElement& element, std::vector<XmlElement>& out, int depth);
  bool is_there(const std::string& name, const SourcePlace& place) const;

  Resources& resources_;
  WarningList& warnings_;
  std::string main_file_;
  std::unordered_map<std::string, SourcePlace> included_;  // by path: where from
};

}  // namespace lithe::internal::mjcf
