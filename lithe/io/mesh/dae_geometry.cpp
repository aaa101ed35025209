#include "lithe/io/mesh/dae_geometry.h"

#include <algorithm>
#include <array>
#include <limits>

namespace lithe::internal {

namespace {

// Sources that share an array may read so many bytes of text in addition to the size of the file.
constexpr std::size_t kFreeArrayBytes = std::size_t{1} << 20;

// Whether the text is long enough for so many numbers. Each takes a character at least, with blanks between them.
bool can_hold(std::string_view text, std::uint64_t numbers) { return numbers <= (text.size() + 1) / 2; }

// An attribute that is a count or an offset; a negative one is an error.
std::uint64_t count_attribute(const XmlElement& element, const char* name, int otherwise) {
  const int count = element.integer(name).value_or(otherwise);
  if (count < 0) {
    element.fail(fmt::format("attribute {} of <{}> is {}; it must not be negative", name, element.name(), count));
  }
  return static_cast<std::uint64_t>(count);
}

// The attribute `count`, where the format demands it.
std::uint64_t required_count(const XmlElement& element) {
  element.required_attribute("count");
  return count_attribute(element, "count", 0);
}

// The <input> of this element with that semantic, such as VERTEX or POSITION; none where there is no such input.
XmlElement input_of(const XmlElement& element, std::string_view semantic) {
  for (const XmlElement& input : element.children("input")) {
    const char* is = input.attribute("semantic");
    if (is && is == semantic) return input;
  }
  return {};
}

// The columns of x, y and z in a row of an accessor. The names of the <param>s say it; where they do not, the first
// three columns are meant.
std::array<std::uint64_t, 3> columns_of(const XmlElement& accessor) {
  constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();
  std::array<std::uint64_t, 3> columns = {kNone, kNone, kNone};
  const std::vector<XmlElement> params = accessor.children("param");
  for (std::size_t i = 0; i < params.size(); ++i) {
    const char* attribute = params[i].attribute("name");
    const std::string_view name = attribute ? attribute : "";
    if (name == "X") columns[0] = i;
    if (name == "Y") columns[1] = i;
    if (name == "Z") columns[2] = i;
  }
  if (std::ranges::find(columns, kNone) != columns.end()) return {0, 1, 2};
  return columns;
}

// Reads a <p>: for each corner a row of indices, one for each kind of input, of which one is the vertex's.
class Corners {
 public:
  struct Layout {
    std::uint64_t stride = 1, offset = 0;          // numbers per corner, and the place of the vertex's among them
    std::uint64_t first_vertex = 0, vertices = 0;  // the number of its vertex 0 in the mesh, and how many there are
  };

  Corners(const XmlElement& p, const Layout& layout) : in_(p.text(), p.place()), layout_(layout) {}

  const TextCursor& cursor() const { return in_; }
  bool at_end() { return in_.at_end(); }

  // The next corner's vertex, by its number in the mesh. The indices of normals and texture coordinates are passed
  // over.
  std::int32_t next() {
    std::uint64_t vertex = 0;
    for (std::uint64_t i = 0; i < layout_.stride; ++i) {
      const std::int64_t index = in_.integer();
      if (i != layout_.offset) continue;
      if (index < 0 || static_cast<std::uint64_t>(index) >= layout_.vertices) {
        in_.fail(fmt::format("a face uses vertex {}, but they are 0 to {}", index,
                             static_cast<std::int64_t>(layout_.vertices) - 1));
      }
      vertex = layout_.first_vertex + static_cast<std::uint64_t>(index);
    }
    return static_cast<std::int32_t>(vertex);
  }

  void finish() {
    if (!at_end()) in_.fail("more indices follow than the count says");
  }

 private:
  TextCursor in_;
  Layout layout_;
};

}  // namespace

// Reads the primitives of one <mesh> into a builder: <triangles>, <polylist>, <polygons>, <tristrips> and <trifans>.
class ColladaGeometries::MeshReader {
 public:
  MeshReader(ColladaGeometries& all, MeshBuilder& builder) : all_(all), builder_(builder) {}

  // Reads one primitive, by its kind.
  void read(const XmlElement& primitive) {
    layout_ = layout_of(primitive);
    if (primitive.name() == "triangles") {
      read_triangles(primitive);
    } else if (primitive.name() == "polylist") {
      read_polylist(primitive);
    } else {
      read_each(primitive);
    }
  }

 private:
  // Follows a primitive's inputs to its points: <input semantic="VERTEX"> names a <vertices>, whose <input
  // semantic="POSITION"> names the <source>. A corner has as many numbers as the largest offset of an input demands;
  // inputs may share an offset.
  Corners::Layout layout_of(const XmlElement& primitive) {
    const XmlElement vertex = input_of(primitive, "VERTEX");
    if (!vertex) primitive.fail(fmt::format("<{}> needs an <input> with the semantic VERTEX", primitive.name()));
    Corners::Layout layout;
    for (const XmlElement& input : primitive.children("input")) {
      layout.stride = std::max(layout.stride, count_attribute(input, "offset", 0) + 1);
    }
    layout.offset = count_attribute(vertex, "offset", 0);

    // Primitives of one mesh share their vertices: points are added where a <vertices> is named for the first time.
    const auto [known, is_new] = layouts_.try_emplace(vertex.required_attribute("source"));
    if (is_new) {
      const XmlElement position = all_.vertices_.required(vertex, "source");
      if (!position) vertex.fail("the <vertices> that it names need an <input> with the semantic POSITION");
      const std::vector<Vec3>& points = all_.points_of(all_.sources_.required(position, "source"));
      known->second = {.first_vertex = builder_.mesh().vertices.size(), .vertices = points.size()};
      builder_.expect_vertices(points.size(), ElementCursor(primitive));
      for (const Vec3& p : points) builder_.add_vertex(p, ElementCursor(primitive));
    }
    layout.first_vertex = known->second.first_vertex;
    layout.vertices = known->second.vertices;
    return layout;
  }

  // Three corners for each triangle. A primitive without triangles may lack its <p>.
  void read_triangles(const XmlElement& triangles) {
    const std::uint64_t count = required_count(triangles);
    if (count == 0 && !triangles.child("p")) return;
    const XmlElement p = triangles.required("p");
    check_indices(p, 3 * count);
    builder_.expect_triangles(count, ElementCursor(triangles));
    Corners corners(p, layout_);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::int32_t a = corners.next(), b = corners.next(), c = corners.next();
      builder_.add_triangle(a, b, c, corners.cursor());
    }
    corners.finish();
  }

  // Polygons whose numbers of corners stand in <vcount>, and whose corners follow one another in one <p>.
  void read_polylist(const XmlElement& polylist) {
    const std::uint64_t count = required_count(polylist);
    if (count == 0 && !polylist.child("p")) return;
    const XmlElement p = polylist.required("p"), vcount = polylist.required("vcount");
    check_indices(p, 3 * count);
    TextCursor sizes(vcount.text(), vcount.place());
    Corners corners(p, layout_);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::int64_t size = sizes.integer();
      PolygonFan fan;
      for (std::int64_t k = 0; k < size; ++k) fan.add(corners.next(), builder_, corners.cursor());
      fan.finish(sizes);
    }
    if (!sizes.at_end()) sizes.fail("more numbers follow than the count says");
    corners.finish();
  }

  // The other primitives have a <p> for each polygon, fan or strip. Polygons are read as fans, too.
  void read_each(const XmlElement& primitive) {
    if (const XmlElement holes = primitive.child("ph")) {
      holes.fail("polygons with holes are not read; export the mesh as triangles");
    }
    const std::vector<XmlElement> all = primitive.children("p");
    if (const std::uint64_t count = required_count(primitive); count != all.size()) {
      primitive.fail(
          fmt::format("attribute count of <{}> is {}, but it has {} <p>", primitive.name(), count, all.size()));
    }
    for (const XmlElement& p : all) {
      Corners corners(p, layout_);
      if (primitive.name() == "tristrips") {
        read_strip(corners);
      } else {
        read_fan(corners);
      }
    }
  }

  void read_fan(Corners& corners) {
    PolygonFan fan;
    while (!corners.at_end()) fan.add(corners.next(), builder_, corners.cursor());
    fan.finish(corners.cursor());
  }

  // Each corner from the third on makes a triangle with the two before it. Every second triangle is turned round, so
  // that all look to the same side.
  void read_strip(Corners& corners) {
    std::int32_t a = 0, b = 0;
    for (std::uint64_t i = 0; !corners.at_end(); ++i) {
      const std::int32_t c = corners.next();
      if (i >= 2) builder_.add_triangle(i % 2 == 0 ? a : b, i % 2 == 0 ? b : a, c, corners.cursor());
      a = b;
      b = c;
    }
  }

  // Refuses a <p> that is too short for the corners that the count asks for, before memory is taken for them. The first
  // question keeps the product in the second one from overflowing.
  void check_indices(const XmlElement& p, std::uint64_t corners) const {
    if (can_hold(p.text(), corners) && can_hold(p.text(), corners * layout_.stride)) return;
    p.fail(fmt::format("the list is cut off: the count asks for {} corners or more, with {} numbers each", corners,
                       layout_.stride));
  }

  ColladaGeometries& all_;
  MeshBuilder& builder_;
  // By the URL of <vertices>: the part of a layout that it determines.
  std::unordered_map<std::string, Corners::Layout> layouts_;
  Corners::Layout layout_;  // of the primitive that is being read
};

ColladaGeometries::ColladaGeometries(const XmlElement& root, std::size_t file_bytes, const LoadLimits& limits)
    : limits_(limits), array_bytes_left_(file_bytes + kFreeArrayBytes) {
  for (const XmlElement& library : root.children("library_geometries")) {
    for (const XmlElement& geometry : library.children("geometry")) {
      numbers_.add(geometry, count());
      geometries_.push_back({geometry});
      for (const XmlElement& mesh : geometry.children("mesh")) add_parts(mesh);
    }
  }
}

// Notes the parts of a <mesh> by their ids, which hold for the whole file: a geometry may use another one's source.
void ColladaGeometries::add_parts(const XmlElement& mesh) {
  for (const XmlElement& child : mesh.children()) {
    if (child.name() == "vertices") vertices_.add(child, input_of(child, "POSITION"));
    if (child.name() != "source") continue;
    sources_.add(child, {child});
    if (const XmlElement array = child.child("float_array")) arrays_.add(array, {array, array.text()});
  }
}

const TriangleMesh& ColladaGeometries::mesh(int number) {
  Geometry& geometry = geometries_[number];
  if (geometry.mesh) return *geometry.mesh;
  MeshBuilder builder(limits_);
  for (const XmlElement& child : geometry.element.children()) {
    // These are the format's other kinds of surface. (A <spline> is none.)
    if (child.name() == "convex_mesh" || child.name() == "brep") {
      child.fail(fmt::format("<{}> is not read; export the geometry as <mesh>", child.name()));
    }
    if (child.name() != "mesh") continue;
    MeshReader reader(*this, builder);
    for (const XmlElement& part : child.children()) {
      static constexpr std::array<std::string_view, 5> kSurfaces = {"triangles", "polylist", "polygons", "tristrips",
                                                                    "trifans"};
      if (std::ranges::find(kSurfaces, part.name()) != kSurfaces.end()) reader.read(part);
    }
  }
  return geometry.mesh.emplace(std::move(builder).take());
}

const std::vector<Vec3>& ColladaGeometries::points_of(Source& source) {
  if (!source.points) source.points = read_points(source.element.required("technique_common").required("accessor"));
  return *source.points;
}

std::vector<Vec3> ColladaGeometries::read_points(const XmlElement& accessor) {
  // An <accessor> picks `count` rows of `stride` numbers out of a <float_array>, from `offset` on.
  const Array& array = arrays_.required(accessor, "source");
  const std::uint64_t count = required_count(accessor);
  const std::uint64_t stride = count_attribute(accessor, "stride", 1);
  const std::uint64_t offset = count_attribute(accessor, "offset", 0);
  const auto columns = columns_of(accessor);
  const std::uint64_t width = *std::ranges::max_element(columns) + 1;
  if (width > stride) accessor.fail(fmt::format("points need x, y and z, but the accessor's stride is {}", stride));
  if (count == 0) return {};
  // The last row may end with its last coordinate.
  const std::uint64_t numbers = offset + (count - 1) * stride + width;
  if (!can_hold(array.text, numbers)) {
    array.element.fail(fmt::format("the array is cut off: its accessor asks for {} numbers", numbers));
  }

  MeshBuilder builder(limits_);
  builder.expect_vertices(count, ElementCursor(accessor));
  TextCursor in(array.text, array.element.place());
  for (std::uint64_t i = 0; i < offset; ++i) in.word();
  for (std::uint64_t row = 0; row < count; ++row) {
    Vec3 p;
    for (std::uint64_t column = 0; column < (row + 1 < count ? stride : width); ++column) {
      const auto axis = std::ranges::find(columns, column) - columns.begin();
      if (axis < 3) {
        p[axis] = in.number();
      } else {
        in.word();
      }
    }
    builder.add_vertex(p, in);
  }
  if (in.position() > array_bytes_left_) array.element.fail("too many sources read this array");
  array_bytes_left_ -= in.position();
  return std::move(builder).take().vertices;
}

}  // namespace lithe::internal
