#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <vector>

#include "lithe/io/mesh/builder.h"

// Wavefront OBJ: lines of a keyword and its values, of which a mesh needs
//
//   v x y z …                  a vertex
//   f v v/vt v//vn v/vt/vn …   a polygon; vertices count from 1, or backwards from -1, the last one so far
//
// A line goes on after a backslash at its end, and # begins a comment.
namespace lithe {

using namespace internal;

namespace {

// Keywords that do not change the surface: textures, normals, names, smoothing, and what is made of points and lines.
constexpr std::string_view kPassedOver[] = {"vn",        "vt",  "vp",       "g",        "o",      "s",  "usemtl",
                                            "mtllib",    "l",   "p",        "usemap",   "maplib", "mg", "shadow_obj",
                                            "trace_obj", "lod", "d_interp", "c_interp", "bevel"};
// Keywords of free-form curves and surfaces.
constexpr std::string_view kCurved[] = {"cstype", "deg",  "bmat", "step", "curv", "curv2", "surf",  "parm",
                                        "trim",   "hole", "scrv", "sp",   "con",  "ctech", "stech", "end"};

template <class Keywords>
bool is_one_of(std::string_view word, const Keywords& keywords) {
  return std::ranges::find(keywords, word) != std::ranges::end(keywords);
}

using ObjTriangles = std::vector<std::array<std::int32_t, 3>>;

constexpr std::size_t kMostCorners = 100;  // of a polygon that is cut with care; larger ones stay fans

// Whether p lies in the triangle a b c or on its border, seen along n. A corner of the triangle itself does not count.
bool is_in_triangle(const Vec3& p, const Vec3& a, const Vec3& b, const Vec3& c, const Vec3& n) {
  if (p == a || p == b || p == c) return false;
  const auto left_of = [&](const Vec3& from, const Vec3& to) { return n.dot((to - from).cross(p - from)) >= 0; };
  return left_of(a, b) && left_of(b, c) && left_of(c, a);
}

// The triangles into which a polygon is cut, as many as its fan has; none where the fan is to stay. A quadrangle is cut
// along its shorter diagonal (the first one, if they are equal). A larger polygon is cut ear by ear (Meisters 1975): an
// ear is a corner that turns with the polygon and has no other corner in its triangle. A polygon without an ear is not
// simple.
ObjTriangles cut_polygon(const std::vector<Vec3>& p, std::vector<std::int32_t> corners) {
  if (corners.size() == 4) {
    const std::int32_t a = corners[0], b = corners[1], c = corners[2], d = corners[3];
    if ((p[c] - p[a]).squaredNorm() <= (p[d] - p[b]).squaredNorm()) return {};
    return {{a, b, d}, {b, c, d}};
  }
  // This is twice the polygon's area as a vector; it is defined for polygons that are not flat, too.
  Vec3 normal = Vec3::Zero();
  for (std::size_t i = 0; i < corners.size(); ++i) {
    normal += (p[corners[i]] - p[corners[0]]).cross(p[corners[(i + 1) % corners.size()]] - p[corners[0]]);
  }
  const auto is_ear = [&](std::size_t i) {
    const std::size_t n = corners.size();
    const Vec3 &a = p[corners[(i + n - 1) % n]], &b = p[corners[i]], &c = p[corners[(i + 1) % n]];
    if (normal.dot((b - a).cross(c - b)) <= 0) return false;
    return std::ranges::none_of(corners, [&](std::int32_t k) { return is_in_triangle(p[k], a, b, c, normal); });
  };
  ObjTriangles triangles;
  while (corners.size() > 3) {
    std::size_t ear = 1;
    while (ear <= corners.size() && !is_ear(ear % corners.size())) ++ear;
    if (ear > corners.size()) return {};
    const std::size_t i = ear % corners.size(), n = corners.size();
    triangles.push_back({corners[(i + n - 1) % n], corners[i], corners[(i + 1) % n]});
    corners.erase(corners.begin() + static_cast<std::ptrdiff_t>(i));
  }
  triangles.push_back({corners[0], corners[1], corners[2]});
  return triangles;
}

// Reads the lines of a file. Faces become fans at once, because their vertices may still follow; polygons are cut anew
// when all vertices are known.
class ObjReader {
 public:
  ObjReader(std::string_view text, const std::string& file, const LoadLimits& limits)
      : in_(text, file), builder_(limits) {}

  // Reads the file line by line. A keyword that is not known is an error, since it may mean a part of the surface.
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
        // "fo" is an old word for "f", and the format says to read it so.
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
    cut_polygons();
    return std::move(builder_).finish(file);
  }

 private:
  std::int64_t vertices() const { return static_cast<std::int64_t>(builder_.mesh().vertices.size()); }

  // A vertex is its first three numbers. What follows is a weight or a colour and is passed over.
  void read_vertex() {
    Vec3 p;
    for (double& x : p) x = in_.number_of_line();
    builder_.add_vertex(p, in_);
  }

  // Reads a polygon as a fan, and notes where the fan of one that may have to be cut lies.
  void read_face() {
    PolygonFan fan;
    std::size_t corners = 0;
    for (std::string_view word = in_.word_of_line(); !word.empty(); word = in_.word_of_line()) {
      if (word.front() == '#') break;
      fan.add(vertex_of(word), builder_, in_);
      ++corners;
    }
    fan.finish(in_);
    if (corners > 3) polygons_.push_back({builder_.mesh().triangles.size() - (corners - 2), corners});
  }

  // Cuts the polygons noted by read_face(). A fan is wrong for a polygon that is not convex, and the volume over a
  // quadrangle that is not flat depends on the diagonal. This comes last, since a face may stand before its vertices.
  void cut_polygons() {
    for (const auto& [at, corners] : polygons_) {
      if (corners > kMostCorners) continue;
      const ObjTriangles triangles = cut_polygon(builder_.mesh().vertices, corners_of_fan(at, corners));
      for (std::size_t k = 0; k < triangles.size(); ++k) builder_.set_triangle(at + k, triangles[k]);
    }
  }

  // The corners of a polygon, from the triangles of its fan.
  std::vector<std::int32_t> corners_of_fan(std::size_t at, std::size_t count) const {
    const ObjTriangles& triangles = builder_.mesh().triangles;
    std::vector<std::int32_t> corners = {triangles[at][0], triangles[at][1]};
    for (std::size_t k = 0; k + 2 < count; ++k) corners.push_back(triangles[at + k][2]);
    return corners;
  }

  // The vertex of a corner, counted from 0. A corner is written v, v/vt, v//vn or v/vt/vn, of which only v counts.
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
  struct Polygon {
    std::size_t triangle, corners;  // where its fan begins, and how many corners it has
  };
  std::vector<Polygon> polygons_;
};

}  // namespace

TriangleMesh parse_obj(std::string_view text, const std::string& file, const LoadLimits& limits) {
  check_mesh_bytes(text, file, limits);
  ObjReader reader(text, file, limits);
  reader.read();
  return std::move(reader).finish(file);
}

}  // namespace lithe
