#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "lithe/io/mesh/builder.h"
#include "lithe/io/mesh/ply_header.h"

// PLY, the polygon file format of Greg Turk (Stanford, 1994): rows of properties as the header describes them, as text
// or binary. Read are x, y, z of the vertices and vertex_indices (or vertex_index) of the faces; everything else is
// passed over by its types.
namespace lithe {

using namespace internal;

namespace {

using Type = PlyHeader::Type;

// The values of a text file: words between blanks, whatever their types are.
class TextValues {
 public:
  explicit TextValues(const TextCursor& cursor) : in_(cursor) {}

  const MeshCursor& cursor() const { return in_; }
  double value(Type) { return in_.number(); }
  void skip(Type, std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      if (in_.word().empty()) in_.fail("the file is cut off: more values are expected");
    }
  }
  bool at_end() { return in_.at_end(); }

  // The least that a value takes in the file is a character and a blank; the last value needs no blank.
  static std::uint64_t least_bytes(Type) { return 2; }
  std::uint64_t bytes_left() const { return in_.left() + 1; }

 private:
  TextCursor in_;
};

// The values of a binary file, which take as many bytes as their types say.
class BinaryValues {
 public:
  BinaryValues(const ByteCursor& cursor, bool big_endian) : in_(cursor), big_endian_(big_endian) {}

  const MeshCursor& cursor() const { return in_; }
  // A double holds the values of all these types exactly.
  double value(Type type) {
    const std::uint64_t bits = take(byte_size(type));
    switch (type) {
      case Type::int8: return static_cast<std::int8_t>(bits);
      case Type::uint8: return static_cast<std::uint8_t>(bits);
      case Type::int16: return static_cast<std::int16_t>(bits);
      case Type::uint16: return static_cast<std::uint16_t>(bits);
      case Type::int32: return static_cast<std::int32_t>(bits);
      case Type::uint32: return static_cast<std::uint32_t>(bits);
      case Type::float32: return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      default: return std::bit_cast<double>(bits);
    }
  }
  void skip(Type type, std::uint64_t count) { in_.take(byte_size(type) * count); }
  bool at_end() const { return in_.left() == 0; }

  static std::uint64_t least_bytes(Type type) { return byte_size(type); }
  std::uint64_t bytes_left() const { return in_.left(); }

 private:
  // The next bytes as a number. The most significant byte comes first or last, as the header says.
  std::uint64_t take(std::size_t size) {
    const unsigned char* bytes = in_.take(size);
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < size; ++i) bits |= std::uint64_t{bytes[i]} << 8 * (big_endian_ ? size - 1 - i : i);
    return bits;
  }

  ByteCursor in_;
  bool big_endian_;
};

// Reads the rows of a file by its header. `Values` is TextValues or BinaryValues.
template <class Values>
class PlyReader {
 public:
  PlyReader(const PlyHeader& header, const std::string& file, const LoadLimits& limits, Values values)
      : header_(header), file_(file), in_(std::move(values)), builder_(limits) {}

  // Reads all rows. Elements stand in the order of the header, vertices and faces among others, and each must be passed
  // over by the types of its properties.
  TriangleMesh read() && {
    const PlyHeader::Element& vertex = only_element("vertex");
    const PlyHeader::Element& face = only_element("face");
    vertices_ = vertex.rows;
    for (const PlyHeader::Element& element : header_.elements) {
      check_bytes(element);
      if (&element == &vertex) {
        read_vertices(element);
      } else if (&element == &face) {
        read_faces(element);
      } else {
        skip_rows(element);
      }
    }
    if (!in_.at_end()) in_.cursor().fail("more data follow than the header counts; the file is damaged");
    return std::move(builder_).finish(file_);
  }

 private:
  using Element = PlyHeader::Element;
  using Property = PlyHeader::Property;

  // The element of that name, which the header must have exactly once.
  const Element& only_element(std::string_view name) const {
    const auto is_it = [&](const Element& element) { return element.name == name; };
    const auto first = std::ranges::find_if(header_.elements, is_it);
    if (first == header_.elements.end()) {
      throw LoadError({file_, header_.lines}, fmt::format("the header has no element '{}'; is this a mesh?", name));
    }
    const auto second = std::find_if(first + 1, header_.elements.end(), is_it);
    if (second != header_.elements.end()) {
      throw LoadError({file_, second->line}, fmt::format("a second element '{}'", name));
    }
    return *first;
  }

  // What the header counts must fit into what is left of the file. This is asked before memory is taken for it.
  void check_bytes(const Element& element) const {
    std::uint64_t row = 0;
    for (const Property& p : element.properties) row += Values::least_bytes(p.count_type.value_or(p.type));
    const std::uint64_t least = row * element.rows, left = in_.bytes_left();
    if (least <= left) return;
    throw LoadError({file_, element.line},
                    fmt::format("the file is cut off: {} rows of {} have at least {} bytes, of which {} are missing",
                                element.rows, shown(element.name), least, least - left));
  }

  // Reads x, y and z of each vertex. They may stand in any order and among other properties, such as colours.
  void read_vertices(const Element& element) {
    std::vector<int> axes;  // of each property, or -1
    std::array<bool, 3> found = {};
    for (const Property& p : element.properties) {
      const int axis = p.name == "x" ? 0 : p.name == "y" ? 1 : p.name == "z" ? 2 : -1;
      axes.push_back(axis);
      if (axis < 0) continue;
      if (p.count_type || found[axis]) fail(element, fmt::format("'{}' of a vertex must be one number, once", p.name));
      found[axis] = true;
    }
    if (!found[0] || !found[1] || !found[2]) fail(element, "a vertex needs the properties x, y and z");

    builder_.expect_vertices(element.rows, in_.cursor());
    for (std::uint32_t row = 0; row < element.rows; ++row) {
      Vec3 p;
      for (std::size_t i = 0; i < axes.size(); ++i) {
        if (axes[i] < 0) {
          skip(element.properties[i]);
        } else {
          p[axes[i]] = coordinate(element.properties[i].type);
        }
      }
      builder_.add_vertex(p, in_.cursor());
    }
  }

  double coordinate(Type type) {
    const double x = in_.value(type);
    if (!std::isfinite(x)) in_.cursor().fail(fmt::format("a vertex's coordinate is {}; it must be finite", x));
    return x;
  }

  // Reads the list of vertices of each face, wherever it stands among other properties.
  void read_faces(const Element& element) {
    const auto is_it = [](const Property& p) { return p.name == "vertex_indices" || p.name == "vertex_index"; };
    const auto indices = std::ranges::find_if(element.properties, is_it);
    if (indices == element.properties.end() || !indices->count_type ||
        std::ranges::count_if(element.properties, is_it) > 1) {
      fail(element, "a face needs one list 'vertex_indices' (or 'vertex_index')");
    }
    builder_.expect_triangles(element.rows, in_.cursor());  // or more
    for (std::uint32_t row = 0; row < element.rows; ++row) {
      for (const Property& p : element.properties) {
        if (&p == &*indices) {
          read_polygon(p);
        } else {
          skip(p);
        }
      }
    }
  }

  // Reads one face as a fan. The type of the indices is free, so that they may be fractions or negative.
  void read_polygon(const Property& list) {
    PolygonFan fan;
    const std::uint64_t corners = list_length(list);
    for (std::uint64_t i = 0; i < corners; ++i) {
      const double index = in_.value(list.type);
      if (!(index >= 0 && index < vertices_ && index == std::floor(index))) {
        in_.cursor().fail(
            fmt::format("a face uses vertex {}, but they are 0 to {}", index, std::int64_t{vertices_} - 1));
      }
      fan.add(static_cast<std::int32_t>(index), builder_, in_.cursor());
    }
    fan.finish(in_.cursor());
  }

  // Passes over the rows of another element, such as "edge".
  void skip_rows(const Element& element) {
    if (element.properties.empty()) return;  // however many they are, they have no bytes
    for (std::uint32_t row = 0; row < element.rows; ++row) {
      for (const Property& p : element.properties) skip(p);
    }
  }

  void skip(const Property& p) { in_.skip(p.type, p.count_type ? list_length(p) : 1); }

  // The number of values in the list that comes next. It is held against what is left of the file, before a loop runs
  // over a count that somebody made up.
  std::uint64_t list_length(const Property& list) {
    const double length = in_.value(*list.count_type);
    if (!(length >= 0 && length == std::floor(length) && length <= std::numeric_limits<std::uint32_t>::max())) {
      in_.cursor().fail(fmt::format("a list {} of {} values", shown(list.name), length));
    }
    const std::uint64_t count = static_cast<std::uint64_t>(length);
    const std::uint64_t least = count * Values::least_bytes(list.type);
    if (least > in_.bytes_left()) {
      in_.cursor().fail(
          fmt::format("the file is cut off: a list {} of {} values has at least {} bytes, of which {} are "
                      "missing",
                      shown(list.name), count, least, least - in_.bytes_left()));
    }
    return count;
  }

  // An error about the header, at the line of the element.
  [[noreturn]] void fail(const Element& element, std::string_view what) const {
    throw LoadError({file_, element.line}, what);
  }

  const PlyHeader& header_;
  const std::string& file_;
  Values in_;
  MeshBuilder builder_;
  std::uint32_t vertices_ = 0;
};

}  // namespace

TriangleMesh parse_ply(std::string_view bytes, const std::string& file, const LoadLimits& limits) {
  check_mesh_bytes(bytes, file, limits);
  const PlyHeader header = parse_ply_header(bytes, file);
  if (header.encoding == PlyHeader::Encoding::ascii) {
    return PlyReader(header, file, limits, TextValues(TextCursor(bytes, file, header.body))).read();
  }
  const bool big_endian = header.encoding == PlyHeader::Encoding::big_endian;
  return PlyReader(header, file, limits, BinaryValues(ByteCursor(bytes, file, header.body), big_endian)).read();
}

}  // namespace lithe
