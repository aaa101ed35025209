#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "lithe/collision/distance/gjk.h"

namespace lithe::internal {

// The shallowest ways out of a penetration, by the expanding polytope algorithm (van den Bergen 2001).
//
// When two cores overlap, the origin lies inside D = A − B and the depth is its distance from D's surface: a facet of
// D with outward normal m gives sep(−m) = −(support of D along m). EPA grows a polytope inside D, always at the facet
// nearest to the origin, until that facet lies on D's own surface.
//
// Shapes at rest on each other tie: cubes that sink into each other by nothing have several facets at depth 0, and
// rounding alone would choose. So epa() lists every direction within `band` of the best, and the caller decides
// between them by a rule of its own. Directions are seeds: exact up to the rounding of a facet's normal, which is poor
// on slivers; each one's `sep` is nevertheless the true sep(n) of that very n, so it never claims too much.
struct EpaSeed {
  Vec3 n;      // unit, from b to a
  double sep;  // min over a of n·x − max over b of n·x, ≤ 0 up to rounding
  int a, b;    // vertices of the two cores that are extreme along it (−n on a, n on b)
};

enum class EpaStatus : std::uint8_t {
  converged,  // seeds holds every direction within the band of the best, up to kSameDirection
  flat,       // D has no volume: seeds holds the two normals of its plane (or, a line, of one plane through it)
  stopped,    // out of iterations or of digits: seeds holds the best found, never nothing
};

// Seeds closer to each other than this angle are one: what lies between them is found from either.
inline constexpr double kSameDirection = 1e-3;

// Buffers of epa(), and its result.
struct EpaScratch {
  std::vector<EpaSeed> seeds;  // seeds[0] is the best, with the largest sep

  struct Facet {
    Vec3 normal;            // outward, unit
    double offset;          // normal·w on the facet: its distance from the origin, ≥ 0 up to rounding
    int vertex[3];          // counter-clockwise seen from outside
    int neighbour[3];       // across the side from vertex[k] to vertex[k + 1] …
    int neighbour_side[3];  // … and which of its sides that is
    bool alive;
  };
  struct Side {
    int facet, side;
  };
  std::vector<DifferenceVertex> vertices;
  std::vector<Facet> facets;
  std::vector<std::pair<double, int>> queue;  // heap of (offset, facet), nearest first
  std::vector<Side> horizon, stack;
};

// `start` is gjk()'s result for the same cores, with status overlapping.
EpaStatus epa(const Core& a, const Core& b, const Pose& X_BA, const GjkResult& start, double band, EpaScratch& scratch);

}  // namespace lithe::internal
