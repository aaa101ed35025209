#pragma once

#include "lithe/scenes/scene.h"

namespace lithe {

// A crank and rocker, the four-bar linkage of windscreen wipers, in the plane y = 0:
//
//        B ────── coupler 0.4 ────── C          crank   A–B  joint "crank"    from the world at (0, 0, 0)
//        │ crank 0.1                 │ rocker    coupler B–C  joint "coupler"  from the crank
//        A ─ ─ ─ ─ ground 0.4 ─ ─ ─  D  0.3      rocker  D–C  joint "rocker"   from the world at (0.4, 0, 0)
//
// The tree of joints is open at C, where the loop "pin" holds coupler and rocker together. All joints turn about y and
// are 0 with the crank upright and the loop closed. 3 DoFs less 2 for the pin: one is left (the pin is a ball, whose row
// along y says nothing here). The motor "drive" turns the crank; the shapes are for the eye and touch nothing.
ModelBuilder four_bar();

// The crank driven at 3 rad/s from rest.
Scene driven_four_bar();

}  // namespace lithe
