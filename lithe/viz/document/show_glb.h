#pragma once

#include <string>

#include "lithe/viz/document/show_document.h"

namespace lithe {

// One motion of a show as a binary glTF 2.0 file, which Blender, browsers and most 3D programs open.
//
// A root node turns z up into glTF's y up. Below it is one node per body, moved by the animation: linear between frames,
// its clock starting at the first one. Below those are the shapes: a body's visuals, or where it has none, the shapes
// that collide. A motion without frames gives the neutral configuration and no animation.
//
// A number out of range, and a file beyond the 4 GiB of the format, is an Error.
std::string to_glb(const ShowDocument& show, std::size_t motion = 0);

}  // namespace lithe
