#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lithe/collision/hull_tolerance.h"
#include "lithe/core/eigen.h"
#include "lithe/simd/lanes.h"
#include "lithe/simd/pack.h"

namespace lithe::internal {

// A convex polytope with everything that the pair tests look up, built once at load.
//
// Faces are polygons (coplanar triangles are merged), with their vertices counter-clockwise seen from outside. Every
// edge has two faces; every vertex three or more, except that two is possible where the outline between two nearly
// parallel faces bends. Numbers of vertices, edges and faces are part of contacts' ids, so the same points always give
// the same numbering.
struct Hull {
  struct Face {
    Vec3 normal;    // outward, unit
    double offset;  // normal·x = offset on the face: the support in that direction, so no vertex is above
    double area;
    int first, count;  // its vertices: ring[first … first + count)
  };
  // One per entry of `ring`: the side from that vertex to the next one of the face.
  struct Side {
    Vec3 normal;    // outward in the face's plane, unit: (next − vertex) × face normal
    double offset;  // normal·x = offset on the side
  };
  struct Edge {
    int vertex[2];   // [0] < [1]
    int face[2];     // [0] runs it from vertex[0] to vertex[1], [1] the other way
    Vec3 direction;  // unit, from vertex[0] to vertex[1]
  };

  std::vector<Vec3> vertices;
  std::vector<Face> faces;
  std::vector<Edge> edges;  // sorted by vertex[0], then vertex[1]
  std::vector<int> ring;
  std::vector<Side> sides;
  // Per entry of `ring`: how soon a manifold on that face drops the vertex (0 stays longest).
  std::vector<int> rank;

  // Neighbours of vertex i, in slices [start[i], start[i+1]).
  std::vector<int> neighbour_start, neighbours;  // vertices that share an edge with i
  std::vector<int> vertex_edges;                 // the edges to them, same slices
  std::vector<int> face_start, vertex_faces;     // faces that meet at i

  // Large hulls only, per vertex: if all edges there fall along d by an angle with at least this sine, no vertex is
  // higher. Zero up to rounding where faces are plane; support_vertex() needs it to trust what it climbed to.
  std::vector<double> proving_slope;

  // Coordinates in packs of four for kernels that visit all of them; padding repeats the first.
  AlignedBuffer x, y, z;                               // vertices
  AlignedBuffer normal_x, normal_y, normal_z, offset;  // faces
  int vertex_packs() const { return padded(static_cast<int>(vertices.size())) / kLanes; }
  int face_packs() const { return padded(static_cast<int>(faces.size())) / kLanes; }

  Vec3 centre = Vec3::Zero();                               // mean of the vertices, inside
  double radius = 0;                                        // largest distance of a vertex from the centre
  double width = 0;                                         // smallest extent along a face normal
  Vec3 box_centre = Vec3::Zero(), box_half = Vec3::Zero();  // bounds along the axes

  std::span<const int> face_vertices(int face) const {
    return {&ring[faces[face].first], static_cast<std::size_t>(faces[face].count)};
  }
  std::span<const int> neighbours_of(int vertex) const {
    return {&neighbours[neighbour_start[vertex]],
            static_cast<std::size_t>(neighbour_start[vertex + 1] - neighbour_start[vertex])};
  }
  std::span<const int> edges_of(int vertex) const {
    return {&vertex_edges[neighbour_start[vertex]],
            static_cast<std::size_t>(neighbour_start[vertex + 1] - neighbour_start[vertex])};
  }
  std::span<const int> faces_of(int vertex) const {
    return {&vertex_faces[face_start[vertex]], static_cast<std::size_t>(face_start[vertex + 1] - face_start[vertex])};
  }
  // The edge between two vertices, or −1.
  int edge_between(int i, int j) const;
};

// A mesh whose hull is flatter than this, relative to its size, is given that thickness, with a warning.
inline constexpr double kThinnestHull = 1e-6;
// Facets whose normals differ by less are one face.
inline constexpr double kMergeAngle = 1e-4;
// No hull has more: numbers of edges and faces must fit into contacts' ids (FeatureCode).
inline constexpr int kMaxHullVertices = 4096;
// A hull that may be simplified keeps at most this many.
inline constexpr int kMostKeptVertices = 512;

struct HullResult {
  Hull hull;
  std::vector<std::string> warnings;  // what was changed, in words for the author of the mesh

  // Which of the points were kept: the hull is that of points[kept[0]], points[kept[1]], … , ascending. Empty: all were.
  std::vector<int> kept;
  int exact_vertices = 0;  // of the hull of all points; above 10,000 an upper bound
  double tolerance = 0;    // how far it may lie inside the exact one
  double error = 0;        // how far it does: the largest distance of a point from it, measured when it was finished
};

// The convex hull of some points, by qhull: exact, or simplified so far that no point is farther from it than the
// tolerance says (hull_tolerance.h). It lies inside the exact one (lithe/collision/simplify/simplify.h), and the points kept,
// which are some of those given, do not depend on their order. Where more than kMostKeptVertices would be needed (exact:
// kMaxHullVertices), that many are kept, with a warning that says how far off the hull is.
//
// Refuses (Error) fewer than three distinct points, points on a line and points that are not finite; thickens points in a
// plane. `name` is for the messages.
HullResult build_hull(std::span<const Vec3> points, const std::string& name,
                      const HullTolerance& tolerance = HullTolerance::exact());

// The same where somebody claims to know which points are kept: the hull of these, checked against all points as
// build_hull() does. Nothing if they are not numbers of points in ascending order, or if a point is farther from it than
// allowed: then the claim is worthless.
std::optional<HullResult> hull_of_kept(std::span<const Vec3> points, std::span<const int> kept, const std::string& name,
                                       const HullTolerance& tolerance);

// How many hulls this process has built so far by these two functions, for tests that say when none is.
std::uint64_t hulls_built();

// A box around the origin. Vertex i has the sign + along axis k where bit k of i is set; faces +x −x +y −y +z −z.
// Works for zero sizes too: normals are the axes, whatever the areas.
Hull box_hull(const Vec3& half_size);

// The vertex farthest along d (ties: the lowest number), by scanning all in packs, or by climbing from `start` along
// edges when the hull is large. Both give the same vertex.
int support_vertex(const Hull& hull, const Vec3& d, int start = 0);

// What the bands of contact detection are measured in: clamp(10·width, R/100, R).
double length_scale(double width, double radius);

}  // namespace lithe::internal
