#pragma once

#include <string>
#include <string_view>

#include "lithe/scenes/scene.h"

namespace lithe {

// Tasks that can be set to any robot, from a file for example. A motion takes half a second.

// To be at the end where the scene starts, and at rest: positions and velocities of the joints, and how bodies on balls (floating ones
// above all) are turned.
Task hold_task(const Scene& scene);

// To bring the origin of a body or frame to a place in the world, and to have the joints come to rest there. An unknown name, or one
// that is fixed in the world, is an Error.
Task reach_task(const Scene& scene, std::string_view body_or_frame, const Vec3& target);

// To bring what can fall (falling_joint() in lithe/scenes/ground.h) so much higher than it starts: to get up, or to jump. A robot that is
// bolted to the world cannot: an Error.
Task rise_task(const Scene& scene, double height);

// The same by a text, as command lines say it: "hold", "reach NAME X Y Z", "rise HEIGHT". Anything else is an Error that lists these.
Task task_from(const Scene& scene, std::string_view text);

}  // namespace lithe
