#include <fmt/format.h>

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include "lithe/io/loaded_model.h"
#include "lithe/io/mujoco_bridge.h"
#include "python/bindings/parts.h"
#include "python/bindings/step/state.h"
#include "python/bindings/values/arrays.h"

// What load() gives.
namespace lithe::python {

namespace {

using IntMatrix = nb::ndarray<nb::numpy, std::int32_t, nb::ndim<2>>;

void bind_meshes(nb::module_& m) {
  auto mesh_class =
      nb::class_<TriangleMesh>(m, "TriangleMesh", "A surface of triangles, as mesh files hold it.")
          .def_prop_ro(
              "vertices", [](const TriangleMesh& mesh) { return Array{pack(mesh.vertices)}; }, "(n, 3), m.")
          .def_prop_ro(
              "triangles",
              [](const TriangleMesh& mesh) {
                auto* memory = new std::vector<std::array<std::int32_t, 3>>(mesh.triangles);
                const nb::capsule owner(memory, [](void* p) noexcept { delete static_cast<decltype(memory)>(p); });
                return IntMatrix(memory->data(), {memory->size(), 3}, owner);
              },
              nb::rv_policy::move, "Numbers of vertices (m, 3), anticlockwise seen from outside.")
          .def("__repr__", [](const TriangleMesh& mesh) {
            return fmt::format("<TriangleMesh: {} vertices, {} triangles>", mesh.vertices.size(),
                               mesh.triangles.size());
          });
  make_picklable(mesh_class);
  m.def(
      "parse_mesh",
      [](const nb::bytes& data, const std::string& name, const LoadLimits& limits) {
        const std::string_view bytes(data.c_str(), data.size());
        const nb::gil_scoped_release released;
        return parse_mesh(bytes, name, limits);
      },
      nb::arg("data"), nb::arg("name"), nb::kw_only(), nb::arg("limits") = LoadLimits{},
      "A mesh from the bytes of an STL, OBJ, PLY or Collada file; the ending of `name` says which.");
  auto visual_mesh_class =
      nb::class_<Visual::Mesh>(m, "VisualMesh", "A mesh to be seen.")
          .def_prop_ro(
              "vertices",
              [](const Visual::Mesh& mesh) {
                double* data = nullptr;
                Array array = make_array({mesh.triangles->vertices.size(), 3}, data);
                for (const Vec3& p : mesh.triangles->vertices) {
                  const Vec3 scaled = p.cwiseProduct(mesh.scale);
                  data = std::copy_n(scaled.data(), 3, data);
                }
                return array;
              },
              "(n, 3), m, scaled.")
          .def_prop_ro(
              "mesh", [](const Visual::Mesh& mesh) { return TriangleMesh(*mesh.triangles); },
              "As the file has it, unscaled.")
          .def_prop_ro(
              "scale", [](const Visual::Mesh& mesh) { return to_numpy(VecX(mesh.scale)); }, "(3,)")
          .def_ro("file", &Visual::Mesh::file, "As it was found.")
          .def("__repr__", [](const Visual::Mesh& mesh) { return fmt::format("VisualMesh(file='{}')", mesh.file); });
  make_picklable(visual_mesh_class);
  auto collision_mesh_class =
      nb::class_<CollisionMesh>(m, "CollisionMesh", "A mesh that became convex for collision, as it was.")
          .def_ro("file", &CollisionMesh::file)
          .def_prop_ro(
              "mesh", [](const CollisionMesh& mesh) { return TriangleMesh(*mesh.mesh); },
              "As the file has it, unscaled.")
          .def_prop_ro(
              "scale", [](const CollisionMesh& mesh) { return to_numpy(VecX(mesh.scale)); }, "(3,)")
          .def("__repr__",
               [](const CollisionMesh& mesh) { return fmt::format("CollisionMesh(file='{}')", mesh.file); });
  make_picklable(collision_mesh_class);
}

void bind_parts(nb::module_& m) {
  auto visual_class =
      nb::class_<Visual>(m, "Visual", "Something to be seen, fixed to a body. It has no mass and does not collide.")
          .def_ro("name", &Visual::name)
          .def_ro("body", &Visual::body, "'world' for what does not move.")
          .def_ro("placement", &Visual::placement, "In the body's frame.")
          .def_ro("geometry", &Visual::geometry, "Sphere, Capsule, Box, Cylinder, Plane or VisualMesh.")
          .def_prop_ro(
              "color", [](const Visual& visual) { return to_numpy(VecX(visual.color)); },
              "Red, green, blue, opacity (4,), 0 … 1.")
          .def("__repr__",
               [](const Visual& visual) { return fmt::format("<Visual '{}' on '{}'>", visual.name, visual.body); });
  make_picklable(visual_class);

  nb::enum_<Actuator::Kind>(m, "ActuatorKind", nb::is_str(), "How a file says that a joint is driven.")
      .str_value("effort", Actuator::Kind::effort, "effort", "tau = gear·control")
      .str_value("position", Actuator::Kind::position, "position", "A motor of the model of the same name.")
      .str_value("velocity", Actuator::Kind::velocity, "velocity", "A motor of the model of the same name.");
  auto actuator_class =
      nb::class_<Actuator>(m, "Actuator",
                           "How a file says a joint is driven. Efforts are what `tau` takes; servos became "
                           "motors of the model, under the "
                           "same name.")
          .def_ro("name", &Actuator::name)
          .def_ro("joint", &Actuator::joint)
          .def_ro("kind", &Actuator::kind)
          .def_ro("gear", &Actuator::gear, "Effort: tau = gear·control + bias.")
          .def_ro("bias", &Actuator::bias)
          .def_ro("lower", &Actuator::lower, "Of the control.")
          .def_ro("upper", &Actuator::upper)
          .def("__repr__", [](const Actuator& a) {
            constexpr const char* kKinds[] = {"effort", "position", "velocity"};
            return fmt::format("<Actuator '{}': {} of joint '{}', gear {:g}, control {:g} … {:g}>", a.name,
                               kKinds[static_cast<int>(a.kind)], a.joint, a.gear, a.lower, a.upper);
          });
  make_picklable(actuator_class);

  auto keyframe_class =
      nb::class_<Keyframe>(m, "Keyframe", "A state that a file names.")
          .def_ro("name", &Keyframe::name)
          .def_ro("time", &Keyframe::time, "s.")
          .def_prop_ro(
              "q", [](const Keyframe& key) { return to_numpy(key.q); }, "(nq,)")
          .def_prop_ro(
              "v", [](const Keyframe& key) { return to_numpy(key.v); }, "(nv,)")
          .def_prop_ro(
              "motor_targets", [](const Keyframe& key) { return to_numpy(key.motor_targets); }, "One per motor.")
          .def("__repr__",
               [](const Keyframe& key) { return fmt::format("<Keyframe '{}' at {:g} s>", key.name, key.time); });
  make_picklable(keyframe_class);

  auto hull_class =
      nb::class_<LoadedHull>(m, "LoadedHull", "The convex hull of a collision mesh, as it was simplified.")
          .def_ro("file", &LoadedHull::file)
          .def_ro("points", &LoadedHull::points, "Of the mesh.")
          .def_ro("exact_vertices", &LoadedHull::exact_vertices, "Of its convex hull; above 10,000 an upper bound.")
          .def_ro("kept_vertices", &LoadedHull::kept_vertices, "Of the hull that collides.")
          .def_ro("tolerance", &LoadedHull::tolerance, "How far that may lie inside the convex hull, m.")
          .def_ro("error", &LoadedHull::error, "How far it does, m.")
          .def_ro("from_cache", &LoadedHull::from_cache, "Which points to keep was known from an earlier run.")
          .def("__repr__", [](const LoadedHull& hull) {
            return fmt::format("<LoadedHull '{}': {} of {} vertices, within {:.3g} m>", hull.file, hull.kept_vertices,
                               hull.exact_vertices, hull.error);
          });
  make_picklable(hull_class);
  using Reason = ExceptedPair::Reason;
  nb::enum_<Reason>(m, "ExceptedPairReason", nb::is_str(), "Why two bodies do not touch.")
      .str_value("joined", Reason::joined, "joined", "Through links without shapes or mass, or to a welded base.")
      .str_value("often", Reason::often, "often", "They touch in most poses within the limits.")
      .str_value("start", Reason::start, "start", "They overlap where the model starts.")
      .str_value("srdf", Reason::srdf, "srdf", "An SRDF says so.");
  auto excepted_class =
      nb::class_<ExceptedPair>(m, "ExceptedPair", "Two bodies that load() keeps from touching, and why.")
          .def_ro("a", &ExceptedPair::a)
          .def_ro("b", &ExceptedPair::b)
          .def_ro("reason", &ExceptedPair::reason)
          .def_ro("poses", &ExceptedPair::poses, "That were sampled for this pair.")
          .def_ro("share", &ExceptedPair::share, "Of the poses in which the two touch.")
          .def_ro("depth", &ExceptedPair::depth, "m, of their overlap where the model starts.")
          .def("__repr__", [](const ExceptedPair& pair) {
            return fmt::format("<ExceptedPair '{}', '{}': {}, {:.1f} % of {} poses, {:.3g} m>", pair.a, pair.b,
                               to_string(pair.reason), 100 * pair.share, pair.poses, pair.depth);
          });
  make_picklable(excepted_class);
}

std::vector<std::string> texts_of(const std::vector<LoadWarning>& warnings) {
  std::vector<std::string> texts;
  for (const LoadWarning& warning : warnings) texts.push_back(to_string(warning));
  return texts;
}

// All of it but the model and the builder, which is made again from the model.
auto members_of_loaded(auto& x) {
  return std::tie(x.name, x.q, x.v, x.motor_targets, x.start, x.time_step, x.visuals, x.actuators, x.keyframes,
                  x.collision_meshes, x.warnings, x.files, x.mujoco, x.excepted_pairs, x.hulls);
}

nb::object pack_loaded(const LoadedModel& loaded) {
  const auto pack_all = [&](const auto&... part) -> nb::object {
    return nb::make_tuple(pack(loaded.model), pack(part)...);
  };
  return std::apply(pack_all, members_of_loaded(loaded));
}

LoadedModel unpack_loaded(nb::handle state) {
  const auto packed = nb::cast<nb::tuple>(state);
  LoadedModel loaded;
  loaded.model = unpack_model(packed[0]);
  loaded.builder = builder_of(loaded.model);
  const auto read = [&](auto&... part) {
    std::size_t k = 1;
    (unpack(packed[k++], part), ...);
  };
  std::apply(read, members_of_loaded(loaded));
  return loaded;
}

using MujocoJoint = MujocoLayout::JointEntry;

// Numbers of MuJoCo for the same file.
void bind_mujoco(nb::module_& m) {
  nb::class_<MujocoJoint>(m, "MujocoJoint", "Where MuJoCo has a joint's numbers.")
      .def_ro("name", &MujocoJoint::name)
      .def_prop_ro(
          "type",
          [](const MujocoJoint& joint) {
            constexpr const char* kTypes[] = {"hinge", "slide", "ball", "free"};
            return kTypes[static_cast<int>(joint.type)];
          },
          "'hinge', 'slide', 'ball' or 'free'.")
      .def_ro("qpos", &MujocoJoint::qpos, "Its first number in qpos and in q.")
      .def_ro("dof", &MujocoJoint::dof, "Its first number in qvel and in v.")
      .def_ro("ref", &MujocoJoint::ref, "Hinges and slides: qpos = q + ref.")
      .def("__repr__", [](const MujocoJoint& joint) {
        return fmt::format("<MujocoJoint '{}': qpos {}, dof {}>", joint.name, joint.qpos, joint.dof);
      });
  nb::class_<MujocoBridge>(m, "MujocoBridge",
                           R"(Numbers of MuJoCo for a model that was read from MJCF, and back (docs/from_mujoco.md).

A ValueError where the model did not come from MJCF, or where the file has parts that are left out and MuJoCo would count.)")
      .def(nb::init<const LoadedModel&>(), nb::arg("loaded"))
      .def_prop_ro("nq", &MujocoBridge::nq)
      .def_prop_ro("nv", &MujocoBridge::nv)
      .def_prop_ro("nu", &MujocoBridge::nu, "Numbers in ctrl.")
      .def(
          "q_from_qpos",
          [](const MujocoBridge& bridge, const ArrayIn& qpos) {
            return to_numpy(bridge.q_from_qpos(qpos.vector("qpos")));
          },
          nb::arg("qpos"), "Positions from the pose of the file, quaternions x y z w (nq,).")
      .def(
          "qpos_from_q",
          [](const MujocoBridge& bridge, const ArrayIn& q) { return to_numpy(bridge.qpos_from_q(q.vector("q"))); },
          nb::arg("q"), "Positions from the joints' ref, quaternions w x y z (nq,).")
      .def(
          "v_from_qvel",
          [](const MujocoBridge& bridge, const ArrayIn& qvel) {
            return to_numpy(bridge.v_from_qvel(qvel.vector("qvel")));
          },
          nb::arg("qvel"), "The same numbers, checked (nv,).")
      .def(
          "qvel_from_v",
          [](const MujocoBridge& bridge, const ArrayIn& v) { return to_numpy(bridge.qvel_from_v(v.vector("v"))); },
          nb::arg("v"), "The same numbers, checked (nv,).")
      .def(
          "actuation",
          [](const MujocoBridge& bridge, const ArrayIn& ctrl) {
            const MujocoBridge::Actuation actuation = bridge.actuation(ctrl.vector("ctrl"));
            return std::pair(to_numpy(actuation.tau), to_numpy(actuation.motor_targets));
          },
          nb::arg("ctrl"),
          "What the file's actuators make of ctrl (nu,): generalised forces (nv,) and targets of the motors.")
      .def(
          "ctrl_from",
          [](const MujocoBridge& bridge, const ArrayIn& tau, const ArrayIn& motor_targets) {
            return to_numpy(bridge.ctrl_from(tau.vector("tau"), motor_targets.vector("motor_targets")));
          },
          nb::arg("tau"), nb::arg("motor_targets"), "The controls that ask for these forces and targets (nu,).")
      .def_prop_ro("actuators", &MujocoBridge::actuators, "Names, in the order of ctrl.")
      .def_prop_ro("left_out", &MujocoBridge::left_out, "Those among them that do nothing here.")
      .def(
          "joint", [](const MujocoBridge& bridge, const std::string& name) { return bridge.joint(name); },
          nb::arg("name"), "Where MuJoCo has a joint's numbers.")
      .def(
          "geom", [](const MujocoBridge& bridge, const std::string& shape) { return bridge.geom(shape); },
          nb::arg("shape"), "The number of the geom that a shape was made of; -1 for shapes that are not the file's.")
      .def("__repr__", [](const MujocoBridge& bridge) {
        return fmt::format("<MujocoBridge: nq={}, nv={}, nu={}>", bridge.nq(), bridge.nv(), bridge.nu());
      });
}

}  // namespace

void bind_loaded(nb::module_& m) {
  bind_meshes(m);
  bind_parts(m);
  nb::class_<LoadedModel>(m, "LoadedModel",
                          "What a file gives: a model with a state to start from, and what goes with it.")
      .def_ro("name", &LoadedModel::name)
      .def_prop_ro(
          "model", [](LoadedModel& loaded) -> Model& { return loaded.model; }, nb::rv_policy::reference_internal)
      .def_prop_ro(
          "builder", [](LoadedModel& loaded) { return ModelBuilder(loaded.builder); },
          "A copy of the builder that made the model: add to it, or add it to others.")
      .def_prop_ro(
          "q", [](const LoadedModel& loaded) { return to_numpy(loaded.q); },
          "The configuration that the file starts in (nq,).")
      .def_prop_ro(
          "v", [](const LoadedModel& loaded) { return to_numpy(loaded.v); }, "And its velocity (nv,).")
      .def_prop_ro(
          "motor_targets", [](const LoadedModel& loaded) { return to_numpy(loaded.motor_targets); }, "One per motor.")
      .def_ro("start", &LoadedModel::start,
              "Which keyframe this state is, and why; empty where it is the pose of the file.")
      .def(
          "keyframe", [](const LoadedModel& loaded, const std::string& name) { return loaded.keyframe(name); },
          nb::arg("name"), "The keyframe of that name; a ValueError that lists all names where there is none.")
      .def_ro("time_step", &LoadedModel::time_step, "s.")
      .def_prop_ro("visuals", [](const LoadedModel& loaded) { return loaded.visuals; })
      .def_prop_ro("actuators", [](const LoadedModel& loaded) { return loaded.actuators; })
      .def_prop_ro("keyframes", [](const LoadedModel& loaded) { return loaded.keyframes; })
      .def_prop_ro(
          "excepted_pairs", [](const LoadedModel& loaded) { return loaded.excepted_pairs; },
          "Links that do not touch one another, and why.")
      .def_prop_ro(
          "hulls", [](const LoadedModel& loaded) { return loaded.hulls; },
          "How the hulls of collision meshes were simplified: one per mesh and scale.")
      .def_prop_ro(
          "collision_meshes", [](const LoadedModel& loaded) { return loaded.collision_meshes; }, "One per file.")
      .def_prop_ro(
          "warnings", [](const LoadedModel& loaded) { return texts_of(loaded.warnings); },
          "What the model cannot hold, or what is suspicious, what matters most first: 'robot.urdf:12: warning: … (and "
          "4 "
          "more)'.")
      .def_ro("files", &LoadedModel::files, "All that were read.")
      .def("__getstate__", &pack_loaded)
      .def("__setstate__", [](LoadedModel& self, nb::handle state) { new (&self) LoadedModel(unpack_loaded(state)); })
      .def("__repr__", [](const LoadedModel& loaded) {
        return fmt::format("<LoadedModel '{}': {} bodies, nq={}, nv={}, {} visuals, {} warnings>", loaded.name,
                           loaded.model.bodies().size() - 1, loaded.model.nq(), loaded.model.nv(),
                           loaded.visuals.size(), loaded.warnings.size());
      });
  bind_mujoco(m);
}

}  // namespace lithe::python
