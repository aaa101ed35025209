#pragma once

namespace lithe {

// How far a simplified hull may lie inside the exact one. What is allowed for a mesh is the smallest of `absolute` (or 0.05 % of its size if
// that is more), `relative` times its size (the diagonal of its bounds) and a tenth of its width, so that thin plates stay plates.
struct HullTolerance {
  double absolute = 1e-3;  // m
  double relative = 5e-3;

  static constexpr HullTolerance exact() { return {0, 0}; }  // every vertex is kept
  bool operator==(const HullTolerance&) const = default;
};

}  // namespace lithe
