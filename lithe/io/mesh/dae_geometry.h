#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "lithe/io/mesh/builder.h"
#include "lithe/io/mesh/dae_ids.h"

namespace lithe::internal {

// The <geometry> elements of a Collada file. Each is read when a scene shows it for the first time. Its surface is made
// of <triangles>, <polylist>, <polygons>, <tristrips> and <trifans>; lines have none.
class ColladaGeometries {
 public:
  ColladaGeometries(const XmlElement& root, std::size_t file_bytes, const LoadLimits& limits);

  int count() const { return static_cast<int>(geometries_.size()); }
  // The number of the geometry that an <instance_geometry> names; null if there is none.
  const int* find(const XmlElement& instance) { return numbers_.find(instance, "url"); }
  // The same; an error at the instance if there is none.
  int required(const XmlElement& instance) { return numbers_.required(instance, "url"); }

  XmlElement element(int number) const { return geometries_[number].element; }
  // The geometry as a mesh in its own coordinates. It may lack triangles, and have vertices that no triangle uses.
  const TriangleMesh& mesh(int number);

 private:
  class MeshReader;
  struct Geometry {
    XmlElement element;
    std::optional<TriangleMesh> mesh = {};
  };
  // A <float_array> with its numbers as text, of which a source reads those that it needs.
  struct Array {
    XmlElement element;
    std::string_view text;
  };
  // A <source> with the points that its accessor picks, once somebody has asked for them.
  struct Source {
    XmlElement element;
    std::optional<std::vector<Vec3>> points = {};
  };

  void add_parts(const XmlElement& mesh);
  const std::vector<Vec3>& points_of(Source& source);
  std::vector<Vec3> read_points(const XmlElement& accessor);

  LoadLimits limits_;
  std::vector<Geometry> geometries_;
  IdTable<int> numbers_ = IdTable<int>("geometry");
  IdTable<XmlElement> vertices_ = IdTable<XmlElement>("vertices");  // their <input> of positions, or none
  IdTable<Source> sources_ = IdTable<Source>("source");
  IdTable<Array> arrays_ = IdTable<Array>("float_array");
  // How much text of arrays may still be read. Several sources may share an array and use its end only, so that each
  // would have to read all of it.
  std::size_t array_bytes_left_;
};

}  // namespace lithe::internal
