#pragma once

#include "lithe/collision/curved/cylinder_touch.h"

namespace lithe::internal {

// The closest or deepest touch of two cylinders: gap = max over unit n of sep(n),
//
//   sep(n) = n·(o_a − o_b) − h_a|n·a| − ρ_a|n×a| − h_b|n·b| − ρ_b|n×b|.
//
// sep has peaks at n = ±a, ±b (caps), ridges along n ⟂ a and n ⟂ b (sides), and is smooth between them (two rims). The
// best point of every peak and ridge is found in closed form or by one bracketed root (rim_arc.h). What remains are the
// rims:
//
//   - Extended to all vectors sep is concave, so a positive local maximum is the only one. The best peak or ridge is one,
//     or else it tells which rims are next to it, and Newton's method goes on from there. Either way the end is proved:
//     x_a − x_b = gap·n.
//   - Inside there may be several. Rims that beat a depth ε have points within ε of each other, one inside the other's
//     cylinder; where bounds exclude it, the peak or ridge is proved to be the best. Otherwise Newton's method starts where
//     each rim crosses the other's plane and, at depths beyond a tenth of a radius, from a dozen directions more.
CylinderTouch deepest_touch(const CylinderPair& pair);

// Whether one of a few directions separates the two by more than `margin`: cheap, and true means true.
bool separated_by_more_than(const CylinderPair& pair, double margin);

}  // namespace lithe::internal
