#pragma once

#include <vector>

#include "lithe/collision/contact.h"
#include "lithe/scenes/scene.h"

namespace lithe::test {

// Where a scene's bodies are at the start, X_WB, and where they touch.
std::vector<Pose> initial_poses(const Scene& scene);
std::vector<Contact> initial_contacts(const Scene& scene);

}  // namespace lithe::test
