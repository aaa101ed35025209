#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "lithe/io/mesh.h"
#include "lithe/io/mesh/cursor.h"

namespace lithe::internal {

// Collects the vertices and triangles of a mesh, within the limits. An error is thrown at the place of the cursor that
// is passed along.
class MeshBuilder {
 public:
  explicit MeshBuilder(const LoadLimits& limits) : limits_(limits) {}

  // Makes room for so many more; an error where the limits forbid them.
  void expect_vertices(std::uint64_t count, const MeshCursor& cursor);
  void expect_triangles(std::uint64_t count, const MeshCursor& cursor);

  // Gives the vertex its number, counted from 0. A coordinate that is not finite is an error.
  std::int32_t add_vertex(const Vec3& p, const MeshCursor& cursor);
  // The reader sees to it that the indices are in range by the time of finish().
  void add_triangle(std::int32_t a, std::int32_t b, std::int32_t c, const MeshCursor& cursor);

  // Replaces one that was added.
  void set_triangle(std::size_t index, const std::array<std::int32_t, 3>& corners) { mesh_.triangles[index] = corners; }

  const TriangleMesh& mesh() const { return mesh_; }

  TriangleMesh take() && { return std::move(mesh_); }  // as it is
  // The mesh without the vertices that no triangle uses: a hull of the vertices is to be one of the surface.
  // A mesh without triangles is an error.
  TriangleMesh finish(const std::string& file) &&;

 private:
  LoadLimits limits_;
  TriangleMesh mesh_;
};

// A polygon that comes corner by corner and becomes a fan of triangles around its first corner.
class PolygonFan {
 public:
  void add(std::int32_t vertex, MeshBuilder& builder, const MeshCursor& cursor) {
    if (corners_ == 0) first_ = vertex;
    if (corners_ >= 2) builder.add_triangle(first_, last_, vertex, cursor);
    last_ = vertex;
    ++corners_;
  }
  // Refuses a polygon of less than three corners.
  void finish(const MeshCursor& cursor) const {
    if (corners_ < 3) cursor.fail(fmt::format("a face with {} corners; it needs at least 3", corners_));
  }

 private:
  std::int32_t first_ = 0, last_ = 0;
  std::uint64_t corners_ = 0;
};

// Finds equal vertices, for formats that repeat a vertex in each triangle: a hash table with open addressing.
class VertexMerger {
 public:
  // The number of the vertex at p, which is added to the mesh if it is new.
  std::int32_t find_or_add(const Vec3& p, MeshBuilder& builder, const MeshCursor& cursor);
  // Says that p will be asked for soon, so that its slot is on its way from memory by then. In a large table most of
  // the time is spent waiting for slots, and several can be waited for at once.
  void announce(const Vec3& p) const { __builtin_prefetch(&slots_[hash_of(p) & (slots_.size() - 1)]); }

 private:
  struct Slot {
    std::uint32_t hash = 0;
    std::int32_t vertex = -1;  // none
  };
  std::uint32_t hash_of(const Vec3& p) const;
  void grow();

  std::vector<Slot> slots_ = std::vector<Slot>(256);  // a power of two, at most half of them taken
  // Where the table lies differs from run to run, so no file can be made whose vertices all meet in one slot. The
  // numbers do not depend on it: they are given in the order of the file.
  std::uint64_t seed_ = reinterpret_cast<std::uintptr_t>(slots_.data());
};

}  // namespace lithe::internal
