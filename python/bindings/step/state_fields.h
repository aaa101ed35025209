#pragma once

#include <concepts>
#include <tuple>
#include <type_traits>

#include "lithe/io/loaded_model.h"
#include "lithe/model/model.h"
#include "lithe/scenes/task.h"

namespace lithe::python {

// The members of every part that can be pickled, each part's in one list.
template <class T, class Part>
concept Is = std::same_as<std::remove_const_t<T>, Part>;

auto fields(Is<Pose> auto& x) { return std::tie(x.R, x.p); }
auto fields(Is<SpatialInertia> auto& x) { return std::tie(x.mass, x.first_moment, x.rotational); }
auto fields(Is<Body> auto& x) {
  return std::tie(x.name, x.inertia, x.placement, x.allow_unphysical_inertia, x.parent, x.joints);
}
auto fields(Is<Frame> auto& x) { return std::tie(x.name, x.placement, x.body); }
auto fields(Is<Joint> auto& x) {
  return std::tie(x.name, x.type, x.axis, x.pitch, x.placement, x.lower, x.upper, x.stiffness, x.rest,
                  x.rest_orientation, x.damping, x.armature, x.dry_friction, x.effort_limit, x.velocity_limit, x.body,
                  x.q_index, x.v_index);
}
auto fields(Is<Sphere> auto& x) { return std::tie(x.radius); }
auto fields(Is<Capsule> auto& x) { return std::tie(x.radius, x.half_length); }
auto fields(Is<Box> auto& x) { return std::tie(x.half_size); }
auto fields(Is<Cylinder> auto& x) { return std::tie(x.radius, x.half_length); }
auto fields(Is<Plane> auto&) { return std::tuple<>(); }
auto fields(Is<ConvexMesh> auto& x) { return std::tie(x.points); }
auto fields(Is<Material> auto& x) { return std::tie(x.friction, x.restitution); }
auto fields(Is<CollisionFilter> auto& x) { return std::tie(x.groups, x.mask); }
auto fields(Is<Shape> auto& x) {
  return std::tie(x.name, x.geometry, x.placement, x.material, x.margin, x.filter, x.body);
}
auto fields(Is<Motor> auto& x) { return std::tie(x.name, x.target, x.stiffness, x.damping, x.max_effort, x.joint); }
auto fields(Is<LoopClosure> auto& x) { return std::tie(x.name, x.kind, x.placement_a, x.placement_b, x.a, x.b); }
auto fields(Is<Mimic> auto& x) { return std::tie(x.name, x.multiplier, x.offset, x.joint, x.source); }
auto fields(Is<Model::PairException> auto& x) { return std::tie(x.a, x.b, x.collide); }

auto fields(Is<TaskTerm> auto& x) { return std::tie(x.joint, x.of, x.target, x.weight, x.form); }
auto fields(Is<TaskPoint> auto& x) { return std::tie(x.body, x.point, x.target, x.weight); }
auto fields(Is<Task> auto& x) { return std::tie(x.description, x.steps, x.shot, x.terms, x.points); }

auto fields(Is<TriangleMesh> auto& x) { return std::tie(x.vertices, x.triangles); }
auto fields(Is<Visual::Mesh> auto& x) { return std::tie(x.triangles, x.scale, x.file); }
auto fields(Is<CollisionMesh> auto& x) { return std::tie(x.file, x.mesh, x.scale); }
auto fields(Is<Visual> auto& x) { return std::tie(x.name, x.body, x.placement, x.geometry, x.color); }
auto fields(Is<Actuator> auto& x) { return std::tie(x.name, x.joint, x.kind, x.gear, x.bias, x.lower, x.upper); }
auto fields(Is<ExceptedPair> auto& x) { return std::tie(x.a, x.b, x.reason, x.poses, x.share, x.depth); }
auto fields(Is<LoadedHull> auto& x) {
  return std::tie(x.file, x.points, x.exact_vertices, x.kept_vertices, x.tolerance, x.error, x.from_cache);
}
auto fields(Is<Keyframe> auto& x) { return std::tie(x.name, x.time, x.q, x.v, x.motor_targets); }
auto fields(Is<MujocoLayout::JointEntry> auto& x) {
  return std::tie(x.name, x.type, x.qpos, x.dof, x.ref, x.lower_force, x.upper_force);
}
auto fields(Is<MujocoLayout::Control> auto& x) {
  return std::tie(x.name, x.kind, x.dof, x.motor, x.lower, x.upper, x.scale, x.offset, x.gear, x.lower_force,
                  x.upper_force);
}
auto fields(Is<MujocoLayout::Geom> auto& x) { return std::tie(x.name, x.shapes); }
auto fields(Is<MujocoLayout> auto& x) { return std::tie(x.from_mjcf, x.complete, x.joints, x.controls, x.geoms); }
auto fields(Is<SourcePlace> auto& x) { return std::tie(x.file, x.line); }
auto fields(Is<LoadWarning> auto& x) { return std::tie(x.place, x.kind, x.text, x.count, x.rank); }

}  // namespace lithe::python
