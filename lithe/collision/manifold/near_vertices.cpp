#include "lithe/collision/manifold/near_vertices.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "lithe/collision/hull/hull.h"
#include "lithe/collision/manifold/manifold_reduction.h"
#include "lithe/core/infinity.h"
#include "lithe/simd/internal/lane_bits.h"

namespace lithe::internal {
namespace {

// What rounding errors stay below, relative to the length scale.
constexpr double kHeightRounding = 1e-12;
// A hull this thin, relative to its radius, may have vertices that coincide up to rounding.
constexpr double kThin = 1e-9;

struct Deepest {
  double gap;
  int vertex;
};

// Gaps of all vertices of the incident hull above the face's plane, padding included.
void measure_gaps(const FacePair& pair, const Vec3& n_I, AlignedBuffer& gaps) {
  const Hull& hull = pair.incident;
  const Hull::Face& face = pair.reference.faces[pair.face];
  const double height = face.normal.dot(pair.X_RI.p) - face.offset;
  gaps.resize(hull.x.size());
  for (int i = 0; i < kLanes * hull.vertex_packs(); i += kLanes) {
    as_pack(&gaps[i]) =
        as_pack(&hull.x[i]) * n_I.x() + as_pack(&hull.y[i]) * n_I.y() + as_pack(&hull.z[i]) * n_I.z() + height;
  }
}

// Ties: the lowest number, so never the padding, which repeats the first.
Deepest deepest_of(const AlignedBuffer& gaps) {
  const int packs = static_cast<int>(gaps.size()) / kLanes;
  Pack low = as_pack(&gaps[0]);
  for (int k = 1; k < packs; ++k) low = smaller(low, as_pack(&gaps[kLanes * k]));
  const double gap = smallest_lane(low);
  int k = 0;
  unsigned found = lane_bits(as_pack(&gaps[0]) == broadcast(gap));
  while (found == 0 && k + 1 < packs) found = lane_bits(as_pack(&gaps[kLanes * ++k]) == broadcast(gap));
  return {gap, kLanes * k + std::countr_zero(found)};
}

struct Sole {
  int face;
  double cosine;  // n_f·n_r
};
// The most antiparallel face at a vertex joins; of equal ones the lowest number stays.
void look_at(const Hull& hull, int vertex, const Vec3& n_I, Sole& sole) {
  for (const int face : hull.faces_of(vertex)) {
    const double cosine = hull.faces[face].normal.dot(n_I);
    const bool equal = std::abs(cosine - sole.cosine) <= kEqualNormals;
    if (equal ? face < sole.face : cosine < sole.cosine) sole = {face, cosine};
  }
}

// The incident face, as face_manifold() finds it.
Sole find_sole(const Hull& hull, const Deepest& deepest, const Vec3& n_I, double rounding, const AlignedBuffer& gaps) {
  Sole sole = {-1, kInfinity};
  look_at(hull, deepest.vertex, n_I, sole);
  if (hull.width > kThin * hull.radius) return sole;
  // Without thickness vertices coincide, and only one of them may have the face that looks this way.
  for (int i = 0; i < static_cast<int>(hull.vertices.size()); ++i) {
    if (gaps[i] <= deepest.gap + rounding) look_at(hull, i, n_I, sole);
  }
  return sole;
}

bool is_lower(const Hull& hull, int vertex, const Vec3& n_I, double limit) {
  const std::span<const int> faces = hull.faces_of(vertex);
  return std::any_of(faces.begin(), faces.end(), [&](int face) { return hull.faces[face].normal.dot(n_I) < limit; });
}

// A sole with more vertices than are kept, all of them near: takes those of lowest rank. False, and nothing done, where
// one of the others is deeper by more than `tie`.
bool take_flat_sole(const Hull& hull, const Hull::Face& sole, const Bands& bands, int max_points, double deepest,
                    const AlignedBuffer& gaps, std::vector<NearVertex>& near) {
  if (sole.count <= max_points) return false;
  bool has_deepest = false;
  for (int entry = sole.first; entry < sole.first + sole.count; ++entry) {
    const int vertex = hull.ring[entry];
    const double gap = gaps[vertex];
    if (gap > bands.margin) {
      near.clear();
      return false;
    }
    if (hull.rank[entry] >= max_points) continue;
    has_deepest |= gap <= deepest + bands.face_tie;
    // In ascending order.
    auto place = near.size();
    near.push_back({vertex, gap});
    for (; place > 0 && near[place - 1].vertex > vertex; --place) near[place] = near[place - 1];
    near[place] = {vertex, gap};
  }
  if (!has_deepest) near.clear();
  return has_deepest;
}

void take_lower_vertices(const Hull& hull, const Vec3& n_I, double limit, double margin, const AlignedBuffer& gaps,
                         std::vector<NearVertex>& near) {
  const int count = static_cast<int>(hull.vertices.size());
  for (int first = 0; first < count; first += kLanes) {
    for (unsigned low = lane_bits(as_pack(&gaps[first]) <= broadcast(margin)); low != 0; low &= low - 1) {
      const int i = first + std::countr_zero(low);
      if (i < count && is_lower(hull, i, n_I, limit)) near.push_back({i, gaps[i]});
    }
  }
}

void reduce(const FacePair& pair, const Bands& bands, int max_points, FaceManifoldScratch& scratch,
            std::vector<NearVertex>& near) {
  std::vector<FacePoint>& points = scratch.manifold.points;
  points.clear();
  for (const auto& [vertex, gap] : near) points.push_back({.i = vertex, .gap = gap});
  reduce_manifold(pair, max_points, bands.face_tie, scratch, scratch.manifold);
  near.clear();
  for (const FacePoint& point : points) near.push_back({point.i, point.gap});
}

}  // namespace

void near_vertices(const FacePair& pair, const Bands& bands, int max_points, FaceManifoldScratch& scratch,
                   std::vector<NearVertex>& near) {
  near.clear();
  const Hull& hull = pair.incident;
  const Vec3 n_I = pair.X_RI.R.transpose() * pair.reference.faces[pair.face].normal;
  measure_gaps(pair, n_I, scratch.gaps);
  const Deepest deepest = deepest_of(scratch.gaps);
  if (deepest.gap > bands.margin) return;
  const Sole sole = find_sole(hull, deepest, n_I, kHeightRounding * bands.length, scratch.gaps);
  if (take_flat_sole(hull, hull.faces[sole.face], bands, max_points, deepest.gap, scratch.gaps, near)) return;
  take_lower_vertices(hull, n_I, facing_limit(sole.cosine), bands.margin, scratch.gaps, near);
  if (static_cast<int>(near.size()) <= max_points) return;
  scratch.manifold.incident_face = sole.face;
  reduce(pair, bands, max_points, scratch, near);
}

}  // namespace lithe::internal
