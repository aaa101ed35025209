#pragma once

#include <string>

#include "lithe/io/loaded_model.h"

namespace lithe {

// Writes an SRDF for a loaded robot. It has one <disable_collisions> for each pair of links with shapes that never
// collide in the model, and one <group_state> per keyframe. The reasons for pairs are MoveIt's words: Adjacent, Default
// for links that overlap where the model starts, Always for links that touch in most poses, and User. Read back with
// the URDF, the SRDF gives the same pairs and the same keyframes.
std::string write_srdf(const LoadedModel& loaded);

// Writes the SRDF to a file; an Error where that is not possible.
void save_srdf(const LoadedModel& loaded, const std::string& path);

}  // namespace lithe
