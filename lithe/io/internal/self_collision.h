#pragma once

#include "lithe/io/load_options.h"
#include "lithe/io/loaded_model.h"

namespace lithe::internal {

// Self-collision of a robot from a URDF, which says nothing about it (docs/files.md, "Self-collision"). Excepts from collision, in the
// builder and the model, the pairs of bodies that
//
//   joined   are joined through links without shapes or without mass, or are a base that is welded to the world and what moves on it,
//   often    touch in at least half of the poses within the limits (512 of them; pairs that are clear after fewer are not looked at any
//            longer), which is overlap by design,
//   start    overlap where the model starts, at loaded.q: only if `policy` is automatic. With automatic_strict they are warned about.
//
// Pairs that the model has an exception for already keep it. Each pair that was excepted is in loaded.excepted_pairs.
struct SelfCollisionSearch {
  LoadOptions::SelfCollision policy = LoadOptions::SelfCollision::automatic;
  bool often = true;       // false: somebody has said already which pairs overlap by design
  SourcePlace place = {};  // of the robot, for warnings
};
void except_self_collisions(const SelfCollisionSearch& search, LoadedModel& loaded, WarningList& warnings);

// Excepts all pairs of bodies of one robot. With `one_robot` all bodies but the world are one robot; otherwise a robot
// is all that hangs on one child of the world. An error at `place` where these are more pairs than a model should hold.
void except_all_pairs(bool one_robot, const SourcePlace& place, LoadedModel& loaded);

}  // namespace lithe::internal
