#pragma once

#include <array>

namespace lithe::internal {

// The numbers that box_hull() gives a box's features, without a look at the hull: vertex i has the sign + along axis k
// where bit k of i is set, faces are +x −x +y −y +z −z, edges are sorted by their vertices.
constexpr int box_face(int axis, bool negative) { return 2 * axis + (negative ? 1 : 0); }

// The edge along an axis through a vertex.
constexpr int box_edge(int axis, int vertex) {
  constexpr std::array<std::array<int, 3>, 8> kEdges = [] {
    std::array<std::array<int, 3>, 8> edges = {};
    int next = 0;
    for (int i = 0; i < 8; ++i) {
      for (int k = 0; k < 3; ++k) {
        if ((i >> k & 1) != 0) continue;
        edges[i][k] = edges[i | 1 << k][k] = next++;
      }
    }
    return edges;
  }();
  return kEdges[vertex][axis];
}

}  // namespace lithe::internal
