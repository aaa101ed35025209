// How long contact detection takes: pair by pair, a humanoid robot over the ground, and many boxes on a plane; of these two also in MuJoCo
// (mj_collision), which has the same shapes in the same run.
//
// The robot is Boston Dynamics' Atlas with its own collision meshes, read from the folder atlas/ in one of $LITHE_MODELS;
// without that variable its rows are left out, and the program says so.
#include <cstdio>
#include <exception>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/foreign_files.h"
#include "bench/pair_workload.h"
#include "bench/runner.h"
#include "bench/subject.h"
#include "lithe/collision/detect_contacts.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/io/load.h"
#include "lithe/scenes/solids/free_bodies.h"
#include "lithe/step/contact_columns.h"

namespace lithe::bench {

using namespace internal;
namespace {

void register_contacts(const std::string& name, PairWorkload made) {
  const auto workload = std::make_shared<PairWorkload>(std::move(made));
  keep_minimum(::benchmark::RegisterBenchmark(name.c_str(), [workload](::benchmark::State& state) {
    for (auto _ : state) {
      workload->run_contacts();
      ::benchmark::ClobberMemory();
    }
  }));
}

void register_distance(const std::string& name, PairWorkload made) {
  const auto workload = std::make_shared<PairWorkload>(std::move(made));
  keep_minimum(::benchmark::RegisterBenchmark(name.c_str(), [workload](::benchmark::State& state) {
    for (auto _ : state) ::benchmark::DoNotOptimize(workload->run_distance());
  }));
}

void register_pairs() {
  for (int i = 0; i < kShapeTypes; ++i) {
    for (int j = i; j < kShapeTypes; ++j) {
      const ShapeType a = static_cast<ShapeType>(i);
      const ShapeType b = static_cast<ShapeType>(j);
      if (a == ShapeType::plane) continue;
      const std::string name = std::string("pair/") + to_string(a) + "_" + to_string(b);
      register_contacts(name + "/touching", pair_at_gap(typical_geometry(a), typical_geometry(b), -1e-3));
      register_contacts(name + "/separated", pair_at_gap(typical_geometry(a), typical_geometry(b), 0.05));
      register_distance(name + "/distance", pair_at_gap(typical_geometry(a), typical_geometry(b), 0.05));
    }
  }
}

void register_rests() {
  const Pose ground = Pose::translation(0, 0, -0.5);
  const Box floor = {Vec3(5, 5, 0.5)};
  const Mat3 lying = rotation_about(Vec3::UnitX(), std::numbers::pi / 2);
  const Box box = {Vec3(0.3, 0.25, 0.2)};
  register_contacts("rest/box_on_plane", pair_at_rest(box, Plane{}, {}, 0.2));
  register_contacts("rest/box_on_box", pair_at_rest(box, floor, ground, 0.2));
  register_contacts("rest/foot_40_on_plane", pair_at_rest(foot_mesh(20), Plane{}, {}, 0.04));
  register_contacts("rest/foot_40_on_box", pair_at_rest(foot_mesh(20), floor, ground, 0.04));
  register_contacts("rest/capsule_on_plane", pair_at_rest(Capsule{0.15, 0.3}, Plane{}, {}, 0.15, lying));
  register_contacts("rest/capsule_on_box", pair_at_rest(Capsule{0.15, 0.3}, floor, ground, 0.15, lying));
  register_contacts("rest/cylinder_lying_on_plane", pair_at_rest(Cylinder{0.25, 0.3}, Plane{}, {}, 0.25, lying));
  register_contacts("rest/cylinder_standing_on_plane", pair_at_rest(Cylinder{0.25, 0.3}, Plane{}, {}, 0.3));
  register_contacts("rest/cylinder_standing_on_box", pair_at_rest(Cylinder{0.25, 0.3}, floor, ground, 0.3));
}

// A model in one configuration.
struct Scene {
  Model model;
  ColliderSet colliders;
  Kinematics kin;
  std::vector<Pose> X_WB;
  DetectionWorkspace workspace;
  ContactSet contacts;
  ContactColumns columns;

  Scene(Model made, const VecX& q) : model(std::move(made)), colliders(model) {
    kinematics(model, q, VecX::Zero(model.nv()), kin);
    body_poses(model, kin, X_WB);
    detect();
  }
  void detect() { detect_contacts(colliders, X_WB, workspace, contacts); }
};

void register_scene(const std::string& name, const std::shared_ptr<Scene>& scene) {
  const auto add = [&](const char* what, auto run) {
    keep_minimum(::benchmark::RegisterBenchmark((name + "/" + what).c_str(), [scene, run](::benchmark::State& state) {
      run(*scene);
      for (auto _ : state) {
        run(*scene);
        ::benchmark::ClobberMemory();
      }
      state.counters["contacts"] = static_cast<double>(scene->contacts.contacts.size());
      state.counters["pairs"] = scene->contacts.tested_pairs;
    }));
  };
  add("detect", [](Scene& s) { s.detect(); });
  add("columns", [](Scene& s) { contact_columns(s.model, s.kin, s.contacts, s.columns); });
}

void register_mujoco(const std::string& name, const lithe::Scene& scene) {
  if (!have_mujoco()) return;
  const Subject subject = subject_from_scene(name, scene);
  const auto world = std::make_shared<MujocoWorld>(subject.mujoco());
  check_same_model(subject, *world, 1e-9);
  keep_minimum(::benchmark::RegisterBenchmark(("mujoco/" + name).c_str(), [world](::benchmark::State& state) {
    for (auto _ : state) {
      world->collide();
      ::benchmark::ClobberMemory();
    }
    state.counters["contacts"] = world->contacts();
  }));
}

// The height to which the root must rise for the lowest point of a hull to be `depth` below z = 0.
double standing_height(const LoadedModel& robot, double depth) {
  Kinematics kin;
  std::vector<Pose> X_WB;
  kinematics(robot.model, robot.q, robot.v, kin);
  body_poses(robot.model, kin, X_WB);
  double lowest = std::numeric_limits<double>::infinity();
  for (const Shape& shape : robot.model.shapes()) {
    const auto* mesh = std::get_if<ConvexMesh>(&shape.geometry);
    if (!mesh) continue;
    for (const Vec3& x : mesh->points) lowest = std::min(lowest, (X_WB[shape.body] * (shape.placement * x)).z());
  }
  return -lowest - depth;
}

// The robot as load() gives it, on a box whose top is z = 0.
void register_atlas() {
  const std::optional<std::string> file = foreign_file("atlas/atlas_v3_no_head.urdf");
  if (!file) {
    std::fprintf(stderr, "bench_collision: the atlas rows are left out: LITHE_MODELS names no folder with atlas/\n");
    return;
  }
  const auto register_as = [&](const std::string& name, LoadOptions::SelfCollision self_collision) {
    LoadedModel robot = load(*file, {.self_collision = self_collision});
    VecX q = robot.q;
    q[robot.model.joints()[robot.model.joint("root.z")].q_index] += standing_height(robot, 1e-5);
    robot.builder.add_shape(
        "world", {.name = "ground", .geometry = Box{Vec3(5, 5, 0.5)}, .placement = Pose::translation(0, 0, -0.5)});
    const Model model = robot.builder.build();
    register_scene(name, std::make_shared<Scene>(model, q));
    register_mujoco(name, {.model = model, .q = q, .v = robot.v});
  };
  register_as("atlas", LoadOptions::SelfCollision::automatic);
  register_as("atlas_without_exceptions", LoadOptions::SelfCollision::all);
}

void register_boxes() {
  for (const int n : {100, 200, 500, 1000}) {
    const lithe::Scene made = boxes_on_ground(n);
    register_scene("boxes_" + std::to_string(n), std::make_shared<Scene>(made.model, made.q));
    register_mujoco("boxes_" + std::to_string(n), made);
  }
}

void register_all() {
  register_pairs();
  register_rests();
  register_atlas();
  register_boxes();
}

}  // namespace
}  // namespace lithe::bench

int main(int argc, char** argv) {
  try {
    return lithe::bench::run(argc, argv, lithe::bench::register_all);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_collision: error: %s\n", error.what());
    return 1;
  }
}
