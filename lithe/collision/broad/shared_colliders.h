#pragma once

#include <memory>

#include "lithe/collision/collider_set.h"

namespace lithe::internal {

// The colliders of a model, made once and shared by all who ask for as long as somebody holds them: worlds, records and
// threads that have stepped it. Safe to call from several threads; who asks for a set that is being made waits for it.
//
// Models are told apart by Model::collision_revision(), so copies of a model share a set.
std::shared_ptr<const ColliderSet> shared_colliders(const Model& model);

}  // namespace lithe::internal
