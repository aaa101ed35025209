#include "lithe/collision/hull/facets.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <libqhull_r/libqhull_r.h>
#include <memory>
#include <tuple>

#include "lithe/core/check.h"

namespace lithe::internal {
namespace {

// What qhull would print goes to memory. (It prints to stderr, and ends the program, when it is given no file.)
class CapturedText {
 public:
  CapturedText() : file_(open_memstream(&text_, &size_)) { LITHE_CHECK(file_ != nullptr, "out of memory"); }
  CapturedText(const CapturedText&) = delete;
  CapturedText& operator=(const CapturedText&) = delete;
  ~CapturedText() {
    std::fclose(file_);
    std::free(text_);
  }
  FILE* file() { return file_; }
  // The line of the first error (their codes begin with QH6), or the first line.
  std::string error_line() {
    std::fflush(file_);
    const std::string text(text_, size_);
    const std::size_t error = text.find("QH6"), begin = error == std::string::npos ? 0 : error;
    return text.substr(begin, text.find('\n', begin) - begin);
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  FILE* file_;
};

// One run of qhull. qhull reports errors by longjmp, but only inside qh_new_qhull, which catches them itself and
// returns a code. Everything that is read afterwards is plain data, so no jump ever crosses a destructor of ours.
class Qhull {
 public:
  Qhull() : qh_(std::make_unique<qhT>()) { qh_zero(qh_.get(), text_.file()); }
  Qhull(const Qhull&) = delete;
  Qhull& operator=(const Qhull&) = delete;
  ~Qhull() {
    qh_freeqhull(qh_.get(), !qh_ALL);
    int long_blocks = 0, long_bytes = 0;
    qh_memfreeshort(qh_.get(), &long_blocks, &long_bytes);
  }

  // True if it succeeded.
  bool run(std::span<const Vec3> points) {
    static_assert(sizeof(Vec3) == 3 * sizeof(coordT), "qhull reads the coordinates in place");
    points_ = points.data()->data();
    // Q12: go on when facets have to be merged to wide ones, as happens where points nearly coincide; we merge more
    // than that. qhull's interface is not const, but it writes to the points only if it is told to scale them.
    char command[] = "qhull Q12";
    return qh_new_qhull(qh_.get(), 3, static_cast<int>(points.size()), const_cast<coordT*>(points_), False, command,
                        text_.file(), text_.file()) == qh_ERRnone;
  }
  std::string message() { return text_.error_line(); }

  std::vector<HullFacet> facets() const {
    std::vector<HullFacet> result;
    for (const facetT* facet = qh_->facet_list; facet != nullptr && facet->next != nullptr; facet = facet->next) {
      const Vec3 normal = Eigen::Map<const Vec3>(facet->normal);
      result.push_back({facet->simplicial ? triangle(*facet) : polygon(*facet), normal, -facet->offset});
    }
    return result;
  }

 private:
  int index_of(const setT* vertices, int k) const {
    const auto* vertex = static_cast<const vertexT*>(SETelem_(vertices, k));
    return static_cast<int>((vertex->point - points_) / 3);
  }

  std::vector<int> triangle(const facetT& facet) const {
    const int a = index_of(facet.vertices, 0), b = index_of(facet.vertices, 1), c = index_of(facet.vertices, 2);
    return facet.toporient ? std::vector{a, b, c} : std::vector{b, a, c};
  }

  // A facet with more corners keeps its edges (ridges) in any order, each with a direction; here they are linked.
  std::vector<int> polygon(const facetT& facet) const {
    std::vector<std::pair<int, int>> edges;
    for (int k = 0; SETelem_(facet.ridges, k) != nullptr; ++k) {
      const auto* ridge = static_cast<const ridgeT*>(SETelem_(facet.ridges, k));
      const int a = index_of(ridge->vertices, 0), b = index_of(ridge->vertices, 1);
      edges.push_back(ridge->top == &facet ? std::pair(a, b) : std::pair(b, a));
    }
    std::sort(edges.begin(), edges.end());
    std::vector<int> ring;
    for (auto at = edges.begin(); at != edges.end() && ring.size() < edges.size();) {
      ring.push_back(at->first);
      const auto next = std::lower_bound(edges.begin(), edges.end(), std::pair(at->second, -1));
      at = next != edges.end() && next->first == at->second ? next : edges.end();
    }
    return ring;  // incomplete if the edges do not form one loop, which facets_across() will notice
  }

  CapturedText text_;
  std::unique_ptr<qhT> qh_;
  const coordT* points_ = nullptr;
};

double volume(std::span<const Vec3> points, const std::vector<HullFacet>& facets) {
  double sum = 0;
  for (const HullFacet& facet : facets) {
    if (facet.ring.empty()) continue;
    const Vec3& origin = points[facet.ring[0]];
    for (std::size_t k = 1; k + 1 < facet.ring.size(); ++k) {
      sum += (origin - points[0]).dot((points[facet.ring[k]] - origin).cross(points[facet.ring[k + 1]] - origin));
    }
  }
  return sum;
}

}  // namespace

std::vector<HullFacet> hull_facets(std::span<const Vec3> points, const std::string& name) {
  Qhull qhull;
  const bool succeeded = qhull.run(points);
  LITHE_CHECK(succeeded,
              "mesh '{}': qhull could not build its convex hull ({}); simplify the mesh, or build the hull in a "
              "modelling program",
              name, qhull.message());
  std::vector<HullFacet> facets = qhull.facets();
  // qhull's directions are consistent; whether they are ours depends on how it was compiled.
  if (volume(points, facets) < 0) {
    for (HullFacet& facet : facets) std::reverse(facet.ring.begin(), facet.ring.end());
  }
  return facets;
}

const char* qhull_version() { return qh_version; }

std::vector<std::vector<int>> facets_across(std::span<const std::vector<int>> rings) {
  struct Half {
    int from, to, facet, entry;
  };
  const auto before = [](const Half& a, const Half& b) { return std::tie(a.from, a.to) < std::tie(b.from, b.to); };
  std::vector<Half> halves;
  for (int f = 0; f < static_cast<int>(rings.size()); ++f) {
    const std::vector<int>& ring = rings[f];
    const int n = static_cast<int>(ring.size());
    if (n < 3) return {};
    for (int k = 0; k < n; ++k) halves.push_back({ring[k], ring[(k + 1) % n], f, k});
  }
  std::sort(halves.begin(), halves.end(), before);
  const auto same = [&](const Half& a, const Half& b) { return !before(a, b) && !before(b, a); };
  if (std::adjacent_find(halves.begin(), halves.end(), same) != halves.end()) return {};

  std::vector<std::vector<int>> across(rings.size());
  for (std::size_t f = 0; f < rings.size(); ++f) across[f].resize(rings[f].size());
  for (const Half& half : halves) {
    const Half twin = {half.to, half.from, 0, 0};
    const auto found = std::lower_bound(halves.begin(), halves.end(), twin, before);
    if (found == halves.end() || !same(*found, twin) || found->facet == half.facet) return {};
    across[half.facet][half.entry] = found->facet;
  }
  return across;
}

}  // namespace lithe::internal
