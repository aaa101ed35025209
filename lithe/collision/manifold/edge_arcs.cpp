#include "lithe/collision/manifold/edge_arcs.h"

#include "lithe/collision/hull/hull.h"
#include "lithe/core/internal/size_of.h"

namespace lithe::internal {

void EdgeArcs::gather(const Hull& hull, std::span<const int> edges) {
  const int count = size_of(edges);
  stride_ = padded(count);
  const std::size_t needed = 9 * static_cast<std::size_t>(stride_);
  if (numbers_.size() < needed) numbers_.resize(needed);
  for (int i = 0; i < stride_; ++i) {
    double* to = numbers_.data() + i;
    const auto write = [&](const Vec3& x) {
      for (int k = 0; k < 3; ++k, to += stride_) *to = x[k];
    };
    if (i >= count) {
      for (int k = 0; k < 3; ++k) write(Vec3::Zero());
      continue;
    }
    const Hull::Edge& edge = hull.edges[edges[i]];
    write(edge.direction);
    write(hull.faces[edge.face[0]].normal);
    write(hull.faces[edge.face[1]].normal);
  }
}

}  // namespace lithe::internal
