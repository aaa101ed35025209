#pragma once

// When a capsule lies on a face, and what its manifold then holds: the same for a box's faces and a mesh's.
namespace lithe::internal::lying {

// A face carries a manifold when the deepest normal is this close (cosine) to its own: 5.7°.
inline constexpr double kOnFace = 0.995;
// A core this parallel (cosine) to an edge lies along it: sin θ < 0.1; then the normal has at most that along the edge.
inline constexpr double kAlongEdge = 0.99498743710662;
inline constexpr double kAcrossEdge = 0.1;
// The crossing of a core and the edge it lies along says nothing new where the core passes the edge this close, relative
// to r, at both ends.
inline constexpr double kCrossingOffset = 0.014;
// The deepest point is left out of a manifold only where some other is as deep up to this, relative to r.
inline constexpr double kLowered = 1e-4;
// A crossing at a smaller angle (sine) moves more than 1000 m per metre.
inline constexpr double kSensitiveAngle = 1e-3;

}  // namespace lithe::internal::lying
