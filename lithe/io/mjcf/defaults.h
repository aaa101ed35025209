#pragma once

#include <array>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "lithe/io/mjcf/attributes.h"
#include "lithe/io/mjcf/includes.h"

namespace lithe::internal::mjcf {

// The kinds of element that default classes speak of. All kinds of actuator are one, as in MuJoCo: a control range given for <motor>
// holds for <position> as well (but a gain only for its own kind).
enum class Kind { joint, geom, site, mesh, material, equality, pair, actuator, count };

// <default>: a tree of classes. Each has what its parent has, with its own attributes over it.
class Defaults {
 public:
  Defaults();

  // A <default> section of the file: the class "main", and others inside.
  void read(const XmlElement& section, Includes& includes, WarningList& warnings);

  // The class of that name, else an error at `place`.
  int find(const char* name, const SourcePlace& place) const;

  // The attributes of an element of this kind: those of its own class, if it names one, else of `inherited` (a childclass).
  Attributes attributes(const XmlElement& element, Kind kind, int inherited = kMain) const;

  static constexpr int kMain = 0;

 private:
  struct Class {
    std::array<std::shared_ptr<const DefaultSet>, static_cast<int>(Kind::count)>
        sets;  // shared with the parent where equal
  };
  void read_class(int index, const XmlElement& element, Includes& includes, WarningList& warnings);
  void read_settings(int index, const XmlElement& element, WarningList& warnings);

  std::vector<Class> classes_;
  std::unordered_map<std::string, int> names_;
};

}  // namespace lithe::internal::mjcf
