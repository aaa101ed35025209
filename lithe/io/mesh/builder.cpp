#include "lithe/io/mesh/builder.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "lithe/io/load_limits.h"

namespace lithe::internal {

namespace {

// Fails at the cursor where there are more than the limit allows. `things` is "vertices" or "triangles", with which the
// name of the limit ends.
void check_limit(std::uint64_t count, int limit, const char* things, const MeshCursor& cursor) {
  if (count <= static_cast<std::uint64_t>(std::max(limit, 0))) return;
  cursor.fail(fmt::format("the mesh has {1} {0} or more; {2} are allowed for all meshes together: simplify it or {3}",
                          things, count, limit, raise_load_limit(fmt::format("mesh_{}", things))));
}

// Makes room for `count` entries. The room at least doubles, so that many small reservations do not copy everything
// each time.
template <class T>
void make_room(std::vector<T>& list, std::uint64_t count) {
  const auto wanted = static_cast<std::size_t>(count);
  if (wanted > list.capacity()) list.reserve(std::max(wanted, list.size() * 2));
}

// Mixes all bits of x into all of the result (the finaliser of SplitMix64; Steele, Lea and Flood 2014).
std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

}  // namespace

void MeshBuilder::expect_vertices(std::uint64_t count, const MeshCursor& cursor) {
  // A count from a file's header may be anything, so it is held against the limit before memory is taken.
  const std::uint64_t total = mesh_.vertices.size() + count;
  check_limit(total, limits_.mesh_vertices, "vertices", cursor);
  make_room(mesh_.vertices, total);
}

void MeshBuilder::expect_triangles(std::uint64_t count, const MeshCursor& cursor) {
  const std::uint64_t total = mesh_.triangles.size() + count;
  check_limit(total, limits_.mesh_triangles, "triangles", cursor);
  make_room(mesh_.triangles, total);
}

std::int32_t MeshBuilder::add_vertex(const Vec3& p, const MeshCursor& cursor) {
  if (!p.allFinite()) cursor.fail(fmt::format("a vertex at ({}, {}, {}); it must be finite", p.x(), p.y(), p.z()));
  const auto index = static_cast<std::int32_t>(mesh_.vertices.size());
  check_limit(mesh_.vertices.size() + 1, limits_.mesh_vertices, "vertices", cursor);
  mesh_.vertices.push_back(p);
  return index;
}

void MeshBuilder::add_triangle(std::int32_t a, std::int32_t b, std::int32_t c, const MeshCursor& cursor) {
  check_limit(mesh_.triangles.size() + 1, limits_.mesh_triangles, "triangles", cursor);
  mesh_.triangles.push_back({a, b, c});
}

TriangleMesh MeshBuilder::finish(const std::string& file) && {
  // Without triangles there is no surface, whatever vertices there are.
  if (mesh_.triangles.empty()) throw LoadError({file, 0}, "the mesh has no triangle");
  std::vector<std::int32_t> renumbered(mesh_.vertices.size(), -1);
  for (const auto& triangle : mesh_.triangles) {
    for (const std::int32_t vertex : triangle) {
      LITHE_ASSERT(vertex >= 0 && vertex < static_cast<std::int32_t>(renumbered.size()));
      renumbered[vertex] = 0;
    }
  }
  // Vertices move down in place, in their order: the new number is never larger than the old one.
  std::int32_t used = 0;
  for (std::size_t i = 0; i < renumbered.size(); ++i) {
    if (renumbered[i] < 0) continue;
    mesh_.vertices[used] = mesh_.vertices[i];
    renumbered[i] = used++;
  }
  mesh_.vertices.resize(used);
  for (auto& triangle : mesh_.triangles) {
    for (std::int32_t& vertex : triangle) vertex = renumbered[vertex];
  }
  return std::move(mesh_);
}

std::int32_t VertexMerger::find_or_add(const Vec3& p, MeshBuilder& builder, const MeshCursor& cursor) {
  // Half of the slots are always empty, so that the search below ends.
  const std::vector<Vec3>& vertices = builder.mesh().vertices;
  if (2 * vertices.size() >= slots_.size()) grow();
  const std::uint32_t hash = hash_of(p);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  for (; slots_[at].vertex >= 0; at = (at + 1) & mask) {
    if (slots_[at].hash == hash && vertices[slots_[at].vertex] == p) return slots_[at].vertex;
  }
  slots_[at] = {hash, builder.add_vertex(p, cursor)};
  return slots_[at].vertex;
}

std::uint32_t VertexMerger::hash_of(const Vec3& p) const {
  std::uint64_t hash = seed_;
  for (const double x : {p.x(), p.y(), p.z()}) hash = mix(hash ^ std::bit_cast<std::uint64_t>(x + 0.0));  // -0 is 0
  return static_cast<std::uint32_t>(hash);
}

void VertexMerger::grow() {
  // Slots keep the hash of their vertex, so that no vertex is looked up again.
  const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(4 * slots_.size()));
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.vertex < 0) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].vertex >= 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

}  // namespace lithe::internal
