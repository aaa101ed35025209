#pragma once

#include <optional>
#include <span>
#include <string>

#include "lithe/collision/hull/hull.h"

namespace lithe::internal {

// The hull of all points, as build_hull() has it. Nothing if it has more than kMaxHullVertices vertices.
std::optional<HullResult> exact_hull(std::span<const Vec3> points, const std::string& name);

}  // namespace lithe::internal
