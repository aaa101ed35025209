#pragma once

#include <string>

#include "lithe/io/loaded_model.h"

namespace lithe {

// An SRDF for a loaded robot: one <disable_collisions> for each pair of links with shapes that never collide in the model, with a
// reason (MoveIt's words where it has them: Adjacent, Default for those that overlap where the model starts, Always for those that touch in
// most poses, User), and one <group_state> per keyframe. Read back with the URDF, it gives the same pairs and the same keyframes.
std::string write_srdf(const LoadedModel& loaded);

// The same, to the disk. An Error where the file cannot be written.
void save_srdf(const LoadedModel& loaded, const std::string& path);

}  // namespace lithe
