#pragma once

#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "lithe/io/mjcf/attributes.h"
#include "lithe/io/mjcf/includes.h"

namespace lithe::internal::mjcf {

// The kinds of element that default classes speak of. All actuators are one kind, as in MuJoCo: a control range that is
// given for <motor> holds for <position> as well. (But a gain holds for its own kind only.)
enum class Kind { joint, geom, site, mesh, material, equality, pair, actuator, count };

// The tree of default classes. Each has what its parent has, with its own attributes over it.
class Defaults {
 public:
  Defaults();

  // Reads a <default> section of the file: the class "main", and others inside it.
  void read(const XmlElement& section, Includes& includes, WarningList& warnings);

  // The number of the class of that name; an error at `place` if there is none.
  int find(const char* name, const SourcePlace& place) const;

  // The attributes of an element of this kind. Its class is the one that it names, else `inherited`, which is a
  // childclass from further out.
  Attributes attributes(const XmlElement& element, Kind kind, int inherited = kMain) const;

  static constexpr int kMain = 0;

 private:
  struct Class {
    // Per kind; shared with the class around this one where they are equal.
    std::array<std::shared_ptr<const DefaultSet>, static_cast<int>(Kind::count)> sets;
  };
  void read_class(int index, const XmlElement& element, Includes& includes, WarningList& warnings);
  void read_settings(int index, const XmlElement& element, WarningList& warnings);

  std::vector<Class> classes_;
  std::unordered_map<std::string, int> names_;
};

}  // namespace lithe::internal::mjcf
