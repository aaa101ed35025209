#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <vector>

#include "lithe/io/mesh_builder.h"

// Wavefront OBJ: lines of a keyword and its values, of which a mesh needs
//
//   v x y z …                  a vertex
//   f v v/vt v//vn v/vt/vn …   a polygon; vertices count from 1, or backwards from -1, the last one so far
//
// A line goes on after a backslash at its end, and # begins a comment.
namespace lithe {

namespace {

// What does not change the surface: its texture, normals, names and smoothing, and points and lines.
constexpr std::string_view kPassedOver[] = {"vn",        "vt",  "vp",       "g",        "o",      "s",  "usemtl",
                                            "mtllib",    "l",   "p",        "usemap",   "maplib", "mg", "shadow_obj",
                                            "trace_obj", "lod", "d_interp", "c_interp", "bevel"};
constexpr std::string_view kCurved[] = {"cstype", "deg",  "bmat", "step", "curv", "curv2", "surf",  "parm",
                                        "trim",   "hole", "scrv", "sp",   "con",  "ctech", "stech", "end"};

template <class Keywords>
bool is_one_of(std::string_view word, const Keywords& keywords) {
  return std::ranges::find(keywords, word) != std::ranges::end(keywords);
}

class ObjReader {
 public:
  ObjReader(std::string_view text, const std::string& file, const LoadLimits& limits)
      : in_(text, file), builder_(limits) {}

  void read() {
    while (!in_.at_end()) {
      const std::string_view keyword = in_.word_of_line();
      if (keyword.empty()) continue;
      if (keyword.front() == '#') {
        in_.end_plain_line();
        continue;
      }
      if (keyword == "v") {
        read_vertex();
      } else if (keyword == "f" || keyword == "fo") {
        read_face();
      } else if (!is_one_of(keyword, kPassedOver)) {
        in_.fail(fmt::format("{} {}", shown(keyword),
                             is_one_of(keyword, kCurved)
                                 ? "belongs to a curved surface, which is not read; export the mesh as polygons"
                                 : "is no keyword of an OBJ file that is read"));
      }
      in_.end_line();
    }
    // Vertices may follow the faces that use them, so this is known only now.
    if (farthest_vertex_ > vertices()) {
      in_.fail_at(farthest_, fmt::format("a face uses vertex {}, but the file has {}", farthest_vertex_, vertices()));
    }
  }

  TriangleMesh finish(const std::string& file) && {
    cut_quads();
    return std::move(builder_).finish(file);
  }

 private:
  std::int64_t vertices() const { return static_cast<std::int64_t>(builder_.mesh().vertices.size()); }

  // What follows the three coordinates is a weight or a colour.
  void read_vertex() {
    Vec3 p;
    for (double& x : p) x = in_.number_of_line();
    builder_.add_vertex(p, in_);
  }

  void read_face() {
    PolygonFan fan;
    std::array<std::int32_t, 4> corners = {};
    std::size_t count = 0;
    for (std::string_view word = in_.word_of_line(); !word.empty(); word = in_.word_of_line()) {
      if (word.front() == '#') break;
      const std::int32_t vertex = vertex_of(word);
      if (count < corners.size()) corners[count] = vertex;
      ++count;
      fan.add(vertex, builder_, in_);
    }
    fan.finish(in_);
    if (count == corners.size()) quads_.push_back({builder_.mesh().triangles.size() - 2, corners});
  }

  // A quadrangle is cut along its shorter diagonal, as others read OBJ: of one that is not flat, the volume depends on it. (A face may come
  // before its vertices, so all of them are looked at in the end.)
  void cut_quads() {
    const std::vector<Vec3>& p = builder_.mesh().vertices;
    for (const auto& [at, corners] : quads_) {
      const auto& [a, b, c, d] = corners;
      if ((p[c] - p[a]).squaredNorm() <= (p[d] - p[b]).squaredNorm()) continue;
      builder_.set_triangle(at, {a, b, d});
      builder_.set_triangle(at + 1, {b, c, d});
    }
  }

  // From v, v/vt, v//vn or v/vt/vn.
  std::int32_t vertex_of(std::string_view word) {
    std::int64_t number = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    const std::string_view rest = word.substr(static_cast<std::size_t>(stop - word.data()));
    const bool others = rest.empty() || (rest.front() == '/' && std::ranges::count(rest, '/') <= 2 &&
                                         rest.find_first_not_of("/-0123456789") == std::string_view::npos);
    if (error != std::errc() || !others) {
      in_.fail(fmt::format("{} where a face's corner is expected: v, v/vt, v//vn or v/vt/vn", shown(word)));
    }
    if (number == 0) in_.fail("a face uses vertex 0, but vertices count from 1");
    if (number < -vertices()) {
      in_.fail(fmt::format("a face uses vertex {}, but there are {} so far", number, vertices()));
    }
    if (number < 0) return static_cast<std::int32_t>(vertices() + number);
    if (number > farthest_vertex_) {
      farthest_vertex_ = number;
      farthest_ = in_.mark();
    }
    // No more vertices than this are accepted, so what is cut here is an error in the end.
    return static_cast<std::int32_t>(std::min<std::int64_t>(number, std::numeric_limits<std::int32_t>::max()) - 1);
  }

  TextCursor in_;
  std::int64_t farthest_vertex_ = 0;  // the largest number that a face uses
  std::size_t farthest_ = 0;          // where it stands
  MeshBuilder builder_;
  struct Quad {
    std::size_t triangle;  // the first of its two
    std::array<std::int32_t, 4> corners;
  };
  std::vector<Quad> quads_;
};

}  // namespace

TriangleMesh parse_obj(std::string_view text, const std::string& file, const LoadLimits& limits) {
  check_mesh_bytes(text, file, limits);
  ObjReader reader(text, file, limits);
  reader.read();
  return std::move(reader).finish(file);
}

}  // namespace lithe
