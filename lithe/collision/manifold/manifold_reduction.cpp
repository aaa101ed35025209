#include "lithe/collision/manifold/manifold_reduction.h"

#include <algorithm>
#include <tuple>

#include "lithe/core/check.h"
#include "lithe/core/internal/size_of.h"

namespace lithe::internal {
namespace {

using Place = FaceManifoldScratch::Place;

enum Group : int { kOutline, kIncidentFace, kElsewhere };

// The places of all points, in the points' order. Vertices come first there, by number.
void find_places(const FacePair& pair, const FaceManifold& manifold, std::vector<Place>& places) {
  places.clear();
  const int first = pair.reference.faces[pair.face].first;
  int vertices = 0;
  for (int k = 0; k < size_of(manifold.points); ++k) {
    const FacePoint& point = manifold.points[k];
    if (point.kind == FacePoint::Kind::vertex) {
      places.push_back({kElsewhere, 0, k});
      ++vertices;
    } else {
      places.push_back({kOutline, pair.reference.rank[first + point.side], k});
    }
  }
  const Hull::Face& face = pair.incident.faces[manifold.incident_face];
  const auto begin = manifold.points.begin(), end = begin + vertices;
  for (int entry = face.first; entry < face.first + face.count; ++entry) {
    const int vertex = pair.incident.ring[entry];
    const auto found = std::lower_bound(begin, end, vertex, [](const FacePoint& p, int i) { return p.i < i; });
    if (found == end || found->i != vertex) continue;
    places[found - begin].group = kIncidentFace;
    places[found - begin].rank = pair.incident.rank[entry];
  }
}

}  // namespace

void reduce_manifold(const FacePair& pair, int max_points, double tie, FaceManifoldScratch& scratch,
                     FaceManifold& manifold) {
  std::vector<FacePoint>& points = manifold.points;
  LITHE_ASSERT(max_points >= 1);
  if (size_of(points) <= max_points) return;

  std::vector<Place>& places = scratch.places;
  find_places(pair, manifold, places);
  std::sort(places.begin(), places.end(), [](const Place& x, const Place& y) {
    return std::tie(x.group, x.rank, x.point) < std::tie(y.group, y.rank, y.point);
  });

  // The deepest, or one as deep, must stay.
  double deepest = points.front().gap;
  for (const FacePoint& point : points) deepest = std::min(deepest, point.gap);
  const auto deep = std::find_if(places.begin(), places.end(),
                                 [&](const Place& place) { return points[place.point].gap <= deepest + tie; });
  const auto last = places.begin() + (max_points - 1);
  if (deep > last) *last = *deep;

  // Back to the points' own order, in place: the k-th that stays comes from k or later.
  places.resize(max_points);
  std::sort(places.begin(), places.end(), [](const Place& x, const Place& y) { return x.point < y.point; });
  for (int k = 0; k < max_points; ++k) points[k] = points[places[k].point];
  points.resize(max_points);
}

}  // namespace lithe::internal
