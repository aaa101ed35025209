#include "lithe/collision/manifold/box_face_manifold.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "lithe/collision/hull/hull.h"
#include "lithe/core/infinity.h"
#include "lithe/simd/internal/lane_bits.h"

namespace lithe::internal {
namespace {

using Kind = FacePoint::Kind;
using BoxVertexSet = unsigned;  // of the incident box: bit i for vertex i

constexpr BoxVertexSet kAllVertices = 0xff;
constexpr BoxVertexSet kUpper[3] = {0xaa, 0xcc, 0xf0};  // the vertices of face +k

BoxVertexSet vertices_of(int face) { return face % 2 == 0 ? kUpper[face / 2] : kAllVertices & ~kUpper[face / 2]; }

// A side of a box's face, with outward normal ±e_u or ±e_v, where (axis, u, v) is right-handed.
struct Side {
  bool along_v;
  double sign;
};
// By place in the ring that box_hull() gives to faces +k and −k.
constexpr Side kSides[2][4] = {{{true, -1}, {false, 1}, {true, 1}, {false, -1}},
                               {{false, -1}, {true, 1}, {false, 1}, {true, -1}}};

// One coordinate of the eight vertices: centre ± x ± y ± z, in the order of their numbers.
struct Eight {
  Eight(double centre, const Vec3& along, const Vec3& half) {
    const Pack four = centre + (along[0] * half[0]) * Pack{-1, 1, -1, 1} + (along[1] * half[1]) * Pack{-1, -1, 1, 1};
    as_pack(values) = four - along[2] * half[2];
    as_pack(values + kLanes) = four + along[2] * half[2];
  }
  double operator[](int i) const { return values[i]; }
  double smallest() const { return smallest_lane(smaller(as_pack(values), as_pack(values + kLanes))); }
  BoxVertexSet up_to(double limit) const {
    return lane_bits(as_pack(values) <= broadcast(limit)) | lane_bits(as_pack(values + kLanes) <= broadcast(limit))
                                                                << 4;
  }
  // sign·x > limit
  BoxVertexSet beyond(double sign, double limit) const {
    return lane_bits(sign * as_pack(values) > broadcast(limit)) |
           lane_bits(sign * as_pack(values + kLanes) > broadcast(limit)) << 4;
  }

  alignas(32) double values[8];
};

// One call of box_face_manifold(). Points are (u, v, gap): along the face's two axes and above it.
class BoxManifoldBuilder {
 public:
  BoxManifoldBuilder(const FacePair& pair, const Bands& bands, FaceManifold& manifold)
      : pair_(pair),
        bands_(bands),
        manifold_(manifold),
        axis_(pair.face / 2),
        u_axis_((axis_ + 1) % 3),
        v_axis_((axis_ + 2) % 3),
        sign_(pair.face % 2 == 0 ? 1 : -1),
        height_(half_r()[axis_]),
        n_I_(sign_ * pair.X_RI.R.row(axis_).transpose()),
        u_(pair.X_RI.p[u_axis_], pair.X_RI.R.row(u_axis_), half_i()),
        v_(pair.X_RI.p[v_axis_], pair.X_RI.R.row(v_axis_), half_i()),
        gap_(sign_ * pair.X_RI.p[axis_] - height_, n_I_, half_i()) {}

  bool build() {
    manifold_.points.clear();
    const double deepest = gap_.smallest();
    if (deepest > bands_.margin) return true;
    find_incident_face();
    const BoxVertexSet patch = vertices_of(manifold_.incident_face), lower = lower_vertices();
    if ((gap_.up_to(deepest + bands_.margin) & lower & ~patch) != 0) return false;

    for (int k = 0; k < 4; ++k) beyond_[k] = along(side(k)).beyond(side(k).sign, reach(side(k)));
    const BoxVertexSet outside = beyond_[0] | beyond_[1] | beyond_[2] | beyond_[3];
    add_vertices(gap_.up_to(bands_.margin) & lower & ~outside);
    if ((patch & outside) == 0) return true;
    add_crossings();
    add_corners();
    std::sort(manifold_.points.begin(), manifold_.points.end());
    return true;
  }

 private:
  const Vec3& half_r() const { return pair_.reference.box_half; }
  const Vec3& half_i() const { return pair_.incident.box_half; }
  const Side& side(int k) const { return kSides[pair_.face % 2][k]; }
  const Eight& along(const Side& side) const { return side.along_v ? v_ : u_; }
  // The prism's half size towards a side.
  double reach(const Side& side) const { return half_r()[side.along_v ? v_axis_ : u_axis_] + bands_.side; }
  double beyond_side(int k, int vertex) const { return side(k).sign * along(side(k))[vertex] - reach(side(k)); }
  Vec3 point(double u, double v, double gap) const {
    Vec3 p;
    p[axis_] = sign_ * (height_ + gap);
    p[u_axis_] = u;
    p[v_axis_] = v;
    return p;
  }

  void find_incident_face();
  BoxVertexSet lower_vertices() const;
  void add_vertices(BoxVertexSet vertices);
  void add_crossings();
  void add_crossings(int from, int to);
  void add_corners();
  bool is_under_incident_face(double u, double v) const;
  bool is_beside_point(const Vec3& p) const;

  const FacePair& pair_;
  const Bands& bands_;
  FaceManifold& manifold_;
  int axis_, u_axis_, v_axis_;
  double sign_, height_;  // n_r = sign · e_axis; n_r·x = height on the face
  Vec3 n_I_;              // n_r in the incident box's frame
  Eight u_, v_, gap_;
  BoxVertexSet beyond_[4];  // per side: outside the prism there
};

// The face that looks down most, by its normal alone: a box without thickness has coincident vertices, of which the
// deepest says nothing.
void BoxManifoldBuilder::find_incident_face() {
  int best = 0;
  for (int k = 1; k < 3; ++k) {
    if (std::abs(n_I_[k]) > std::abs(n_I_[best]) + kEqualNormals) best = k;
  }
  manifold_.incident_face = 2 * best + (n_I_[best] > 0 ? 1 : 0);
}

// The incident face of a box is never steep, so facing_limit() is −kFacing.
BoxVertexSet BoxManifoldBuilder::lower_vertices() const {
  BoxVertexSet lower = 0;
  for (int k = 0; k < 3; ++k) {
    if (std::abs(n_I_[k]) > kFacing) lower |= vertices_of(2 * k + (n_I_[k] > 0 ? 1 : 0));
  }
  return lower;
}

void BoxManifoldBuilder::add_vertices(BoxVertexSet vertices) {
  for (; vertices != 0; vertices &= vertices - 1) {
    const int i = std::countr_zero(vertices);
    manifold_.points.push_back({Kind::vertex, i, 0, 0, gap_[i], point(u_[i], v_[i], gap_[i])});
  }
}

void BoxManifoldBuilder::add_crossings() {
  const std::span<const int> ring = pair_.incident.face_vertices(manifold_.incident_face);
  for (int k = 0; k < 4; ++k) {
    const int i = ring[k], j = ring[(k + 1) % 4];
    add_crossings(std::min(i, j), std::max(i, j));
  }
}

// Where an edge enters and leaves the prism (Cyrus and Beck 1978), if it crosses the sides at all.
void BoxManifoldBuilder::add_crossings(int from, int to) {
  double t_in = 0, t_out = 1;
  int side_in = -1, side_out = -1;
  for (int k = 0; k < 4; ++k) {
    const bool from_beyond = (beyond_[k] >> from & 1) != 0, to_beyond = (beyond_[k] >> to & 1) != 0;
    if (from_beyond && to_beyond) return;
    if (from_beyond == to_beyond) continue;
    const double d_from = beyond_side(k, from), t = d_from / (d_from - beyond_side(k, to));
    if (from_beyond && t > t_in) {
      t_in = t;
      side_in = k;
    } else if (to_beyond && t < t_out) {
      t_out = t;
      side_out = k;
    }
  }
  if (t_in > t_out) return;
  const auto add = [&](double t, int k) {
    const auto at = [&](const Eight& x) { return x[from] + t * (x[to] - x[from]); };
    const double gap = at(gap_);
    if (k < 0 || gap > bands_.margin) return;
    manifold_.points.push_back({Kind::crossing, from, to, k, gap, point(at(u_), at(v_), gap)});
  };
  add(t_in, side_in);
  add(t_out, side_out);
}

bool BoxManifoldBuilder::is_under_incident_face(double u, double v) const {
  // The ring runs clockwise where the reference face is +k: it is seen from behind. On −k, (u, v) are seen from behind.
  const std::span<const int> ring = pair_.incident.face_vertices(manifold_.incident_face);
  for (int k = 0; k < 4; ++k) {
    const int i = ring[k], j = ring[(k + 1) % 4];
    const double du = u_[j] - u_[i], dv = v_[j] - v_[i];
    const double turn = sign_ * (du * (v - v_[i]) - dv * (u - u_[i]));
    const double slack = 1e-9 * bands_.length;
    if (turn > 0 && turn * turn > slack * slack * (du * du + dv * dv)) return false;
  }
  return true;
}

bool BoxManifoldBuilder::is_beside_point(const Vec3& p) const {
  const double near = 3 * bands_.side;
  return std::any_of(manifold_.points.begin(), manifold_.points.end(), [&](const FacePoint& other) {
    const double du = other.p[u_axis_] - p[u_axis_], dv = other.p[v_axis_] - p[v_axis_];
    return other.kind != Kind::corner && du * du + dv * dv < near * near;
  });
}

// Where the ray o + t d enters a box of those half sizes, and through which face (−1: it misses by more than `slack`). Of
// faces met within `tie` the first counts.
struct Entry {
  double t;
  int face;
};
Entry ray_entry(const Vec3& half, const Vec3& o, const Vec3& d, double tie, double slack) {
  Entry entry = {-kInfinity, -1};
  double exit = kInfinity;
  for (int k = 0; k < 3; ++k) {
    if (std::abs(d[k]) <= 1e-9) continue;
    const double to_lower = (-std::copysign(half[k], d[k]) - o[k]) / d[k];
    const double to_upper = (std::copysign(half[k], d[k]) - o[k]) / d[k];
    if (to_lower > entry.t + tie) entry = {to_lower, 2 * k + (d[k] > 0 ? 1 : 0)};
    exit = std::min(exit, to_upper);
  }
  return entry.t <= exit + slack ? entry : Entry{0, -1};
}

void BoxManifoldBuilder::add_corners() {
  const Hull& reference = pair_.reference;
  const int first = reference.faces[pair_.face].first;
  for (int k = 0; k < 4; ++k) {
    const int vertex = reference.ring[first + k];
    const Vec3& p = reference.vertices[vertex];
    if (!is_under_incident_face(p[u_axis_], p[v_axis_]) || is_beside_point(p)) continue;
    const Vec3 p_I = pair_.X_RI.R.transpose() * (p - pair_.X_RI.p);
    const Entry entry = ray_entry(half_i(), p_I, n_I_, kEqualEdges * bands_.length, bands_.side);
    if (entry.face < 0 || entry.t > bands_.margin) continue;
    manifold_.points.push_back({Kind::corner, vertex, entry.face, k, entry.t, p});
  }
}

}  // namespace

bool box_face_manifold(const FacePair& pair, const Bands& bands, FaceManifold& manifold) {
  return BoxManifoldBuilder(pair, bands, manifold).build();
}

}  // namespace lithe::internal
