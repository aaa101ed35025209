#include "lithe/collision/manifold/face_manifold.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "lithe/collision/hull/hull.h"
#include "lithe/core/infinity.h"
#include "lithe/core/internal/size_of.h"

namespace lithe::internal {
namespace {

using Corner = FaceManifoldScratch::Corner;
using Kind = FacePoint::Kind;

// What rounding errors stay below, relative to the length scale.
constexpr double kRounding = 1e-12;

// One call of face_manifold().
class FaceManifoldBuilder {
 public:
  FaceManifoldBuilder(const FacePair& pair, const Bands& bands, FaceManifoldScratch& scratch, FaceManifold& manifold)
      : reference_(pair.reference),
        face_(pair.reference.faces[pair.face]),
        incident_(pair.incident),
        X_RI_(pair.X_RI),
        bands_(bands),
        n_I_(pair.X_RI.R.transpose() * face_.normal),
        gaps_(scratch.gaps),
        patch_(scratch.patch),
        outline_(scratch.outline),
        manifold_(manifold) {}

  void build() {
    manifold_.points.clear();
    measure_gaps();
    if (deepest_gap_ > bands_.margin) return;
    find_incident_face();
    find_patch();
    add_vertices();
    if (patch_is_inside()) return;
    find_outline();
    add_crossings();
    add_corners();
    std::sort(manifold_.points.begin(), manifold_.points.end());
  }

 private:
  void measure_gaps();
  void find_incident_face();
  void find_patch();
  void add_vertices();
  void find_outline();
  void find_convex_outline();
  void add_crossings();
  void add_crossings(const Corner& from, const Corner& to);
  void add_corners();

  bool is_inside(const Vec3& p) const {
    for (int k = 0; k < face_.count; ++k) {
      if (beyond_side(k, p) > 0) return false;
    }
    return true;
  }
  // How far outside the prism p is, measured at one side.
  double beyond_side(int k, const Vec3& p) const {
    const Hull::Side& side = reference_.sides[face_.first + k];
    return side.normal.dot(p) - side.offset - bands_.side;
  }
  bool patch_is_inside() const {
    return std::all_of(patch_.begin(), patch_.end(), [&](const Corner& corner) { return is_inside(corner.p); });
  }
  bool is_lower(int vertex) const {
    const std::span<const int> faces = incident_.faces_of(vertex);
    return std::any_of(faces.begin(), faces.end(),
                       [&](int f) { return incident_.faces[f].normal.dot(n_I_) < facing_limit_; });
  }
  bool is_on_incident_face(int vertex) const {
    const std::span<const int> faces = incident_.faces_of(vertex);
    return std::find(faces.begin(), faces.end(), manifold_.incident_face) != faces.end();
  }
  bool is_under_patch(const Vec3& p) const;
  bool is_beside_point(const Vec3& p) const;
  void add_to_patch(int vertex) { patch_.push_back({vertex, 0, 0, X_RI_ * incident_.vertices[vertex]}); }

  const Hull& reference_;
  const Hull::Face& face_;
  const Hull& incident_;
  const Pose& X_RI_;
  const Bands& bands_;
  const Vec3 n_I_;  // n_r in the incident hull's frame
  AlignedBuffer& gaps_;
  std::vector<Corner>& patch_;
  std::vector<Corner>& outline_;
  FaceManifold& manifold_;
  double deepest_gap_ = 0;
  bool patch_is_face_ = false;
  double facing_limit_ = 0;
};

void FaceManifoldBuilder::measure_gaps() {
  const double height = face_.normal.dot(X_RI_.p) - face_.offset;
  gaps_.resize(incident_.x.size());
  for (int i = 0; i < size_of(gaps_); i += kLanes) {
    as_pack(&gaps_[i]) = as_pack(&incident_.x[i]) * n_I_.x() + as_pack(&incident_.y[i]) * n_I_.y() +
                         as_pack(&incident_.z[i]) * n_I_.z() + height;
  }
  gaps_.resize(incident_.vertices.size());
  deepest_gap_ = *std::min_element(gaps_.begin(), gaps_.end());
}

void FaceManifoldBuilder::find_incident_face() {
  // Where vertices coincide (a box without thickness), only one of them may have the face that looks this way.
  const double limit = deepest_gap_ + kRounding * bands_.length;
  double lowest = kInfinity;
  for (int i = 0; i < size_of(gaps_); ++i) {
    if (gaps_[i] > limit) continue;
    for (const int f : incident_.faces_of(i)) {
      const double cosine = incident_.faces[f].normal.dot(n_I_);
      const bool equal = std::abs(cosine - lowest) <= kEqualNormals;
      if (equal ? f >= manifold_.incident_face : cosine > lowest) continue;
      lowest = cosine;
      manifold_.incident_face = f;
    }
  }
  facing_limit_ = facing_limit(lowest);
}

void FaceManifoldBuilder::find_patch() {
  // The incident face first; it runs clockwise, for it is seen from behind.
  patch_.clear();
  const std::span<const int> ring = incident_.face_vertices(manifold_.incident_face);
  for (auto vertex = ring.rbegin(); vertex != ring.rend(); ++vertex) add_to_patch(*vertex);
  const double limit = deepest_gap_ + bands_.margin;
  for (int i = 0; i < size_of(gaps_); ++i) {
    if (gaps_[i] <= limit && is_lower(i) && !is_on_incident_face(i)) add_to_patch(i);
  }
  patch_is_face_ = patch_.size() == ring.size();
}

void FaceManifoldBuilder::add_vertices() {
  for (int i = 0; i < size_of(gaps_); ++i) {
    if (gaps_[i] > bands_.margin) continue;
    const Vec3 p = X_RI_ * incident_.vertices[i];
    if (is_inside(p) && is_lower(i)) manifold_.points.push_back({Kind::vertex, i, 0, 0, gaps_[i], p});
  }
}

void FaceManifoldBuilder::find_outline() {
  // Coordinates along two axes of the face; which ones does not matter.
  const Vec3 u = reference_.sides[face_.first].normal, w = face_.normal.cross(u);
  for (Corner& corner : patch_) {
    corner.u = u.dot(corner.p);
    corner.w = w.dot(corner.p);
  }
  if (patch_is_face_) {
    outline_ = patch_;
  } else {
    find_convex_outline();
  }
}

// Twice the area of the triangle, positive if it runs counter-clockwise.
double turn(const Corner& a, const Corner& b, double u, double w) {
  return (b.u - a.u) * (w - a.w) - (b.w - a.w) * (u - a.u);
}

// Andrew's monotone chain, without vertices that lie on a line up to rounding.
void FaceManifoldBuilder::find_convex_outline() {
  std::sort(patch_.begin(), patch_.end(), [](const Corner& x, const Corner& y) {
    return std::tie(x.u, x.w, x.vertex) < std::tie(y.u, y.w, y.vertex);
  });
  const double flat = kRounding * bands_.length * bands_.length;
  outline_.clear();
  const auto extend = [&](const Corner& corner, int start) {
    while (size_of(outline_) >= start + 2 &&
           turn(outline_[outline_.size() - 2], outline_.back(), corner.u, corner.w) <= flat) {
      outline_.pop_back();
    }
    outline_.push_back(corner);
  };
  for (int k = 0; k < size_of(patch_); ++k) extend(patch_[k], 0);
  const int start = size_of(outline_) - 1;
  for (int k = size_of(patch_) - 2; k >= 0; --k) extend(patch_[k], start);
  if (outline_.size() > 1) outline_.pop_back();  // the first one again
}

void FaceManifoldBuilder::add_crossings() {
  const int n = size_of(outline_);
  const int segments = n == 2 ? 1 : n;
  for (int k = 0; k < segments; ++k) {
    const Corner &x = outline_[k], &y = outline_[(k + 1) % n];
    if (x.vertex < y.vertex) add_crossings(x, y);
    if (x.vertex > y.vertex) add_crossings(y, x);
  }
}

// Where a segment enters and leaves the prism (Cyrus and Beck 1978), if it crosses the sides at all.
void FaceManifoldBuilder::add_crossings(const Corner& from, const Corner& to) {
  double t_in = 0, t_out = 1;
  int side_in = -1, side_out = -1;
  for (int k = 0; k < face_.count; ++k) {
    const double d_from = beyond_side(k, from.p), d_to = beyond_side(k, to.p);
    if (d_from > 0 && d_to > 0) return;
    if (d_from <= 0 && d_to <= 0) continue;
    const double t = d_from / (d_from - d_to);
    if (d_from > 0 && t > t_in) {
      t_in = t;
      side_in = k;
    } else if (d_to > 0 && t < t_out) {
      t_out = t;
      side_out = k;
    }
  }
  if (t_in > t_out) return;
  const auto add = [&](double t, int side) {
    if (side < 0) return;
    const Vec3 p = from.p + t * (to.p - from.p);
    const double gap = face_.normal.dot(p) - face_.offset;
    if (gap <= bands_.margin) manifold_.points.push_back({Kind::crossing, from.vertex, to.vertex, side, gap, p});
  };
  add(t_in, side_in);
  add(t_out, side_out);
}

bool FaceManifoldBuilder::is_under_patch(const Vec3& p) const {
  const Vec3& u_axis = reference_.sides[face_.first].normal;
  const double u = u_axis.dot(p), w = face_.normal.cross(u_axis).dot(p);
  const int n = size_of(outline_);
  for (int k = 0; k < n; ++k) {
    const Corner &x = outline_[k], &y = outline_[(k + 1) % n];
    const double length = std::sqrt((y.u - x.u) * (y.u - x.u) + (y.w - x.w) * (y.w - x.w));
    if (turn(x, y, u, w) < -1e-9 * bands_.length * length) return false;
  }
  return true;
}

bool FaceManifoldBuilder::is_beside_point(const Vec3& p) const {
  return std::any_of(manifold_.points.begin(), manifold_.points.end(), [&](const FacePoint& other) {
    const Vec3 d = other.p - p;
    return other.kind != Kind::corner && (d - face_.normal.dot(d) * face_.normal).norm() < 3 * bands_.side;
  });
}

// Where a ray enters a hull, and which face it meets there.
struct ClipEntry {
  double t;
  int face;  // −1: it misses
};

// The ray o + t d; faces parallel to it are left out. Of faces met within `tie` the first counts, and it may miss the hull
// by `slack`, or no ray would meet a plate without thickness.
ClipEntry ray_entry(const Hull& hull, const Vec3& o, const Vec3& d, double tie, double slack) {
  ClipEntry entry = {-kInfinity, -1};
  double exit = kInfinity;
  for (int f = 0; f < size_of(hull.faces); ++f) {
    const Hull::Face& face = hull.faces[f];
    const double cosine = face.normal.dot(d), height = face.offset - face.normal.dot(o);
    if (cosine < -1e-9) {
      const double t = height / cosine;
      if (t > entry.t + tie) entry = {t, f};
    } else if (cosine > 1e-9) {
      exit = std::min(exit, height / cosine);
    }
  }
  return entry.t <= exit + slack ? entry : ClipEntry{0, -1};
}

void FaceManifoldBuilder::add_corners() {
  if (outline_.size() < 3) return;
  for (int k = 0; k < face_.count; ++k) {
    const int vertex = reference_.ring[face_.first + k];
    const Vec3& p = reference_.vertices[vertex];
    if (!is_under_patch(p)) continue;
    const Vec3 p_I = X_RI_.R.transpose() * (p - X_RI_.p);
    const ClipEntry entry = ray_entry(incident_, p_I, n_I_, kRounding * bands_.length, bands_.side);
    if (entry.face < 0 || entry.t > bands_.margin || is_beside_point(p)) continue;
    manifold_.points.push_back({Kind::corner, vertex, entry.face, k, entry.t, p});
  }
}

}  // namespace

bool operator<(const FacePoint& x, const FacePoint& y) {
  return std::tie(x.kind, x.i, x.j, x.side) < std::tie(y.kind, y.i, y.j, y.side);
}

void face_manifold(const FacePair& pair, const Bands& bands, FaceManifoldScratch& scratch, FaceManifold& manifold) {
  FaceManifoldBuilder(pair, bands, scratch, manifold).build();
}

}  // namespace lithe::internal
