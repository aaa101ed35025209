#pragma once

#include "lithe/collision/manifold/face_manifold.h"

namespace lithe::internal {

// face_manifold() for two boxes, with the same result: everything is in closed form, the eight vertices in two packs.
// False, and nothing of use done, where the incident box is so thin (or the margin so wide) that more than its incident
// face belongs to the patch.
bool box_face_manifold(const FacePair& pair, const Bands& bands, FaceManifold& manifold);

}  // namespace lithe::internal
