// How long contact detection takes: pair by pair, a humanoid robot over the ground, and many boxes on a plane.
//
// The robot is Boston Dynamics' Atlas with its own collision meshes, read from the folder atlas/ in $LITHE_MODELS;
// without that variable its rows are left out, and the program says so.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "bench/atlas.h"
#include "bench/pair_workload.h"
#include "bench/runner.h"
#include "lithe/collision/detect_contacts.h"
#include "lithe/contact/contact_columns.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/model/configuration.h"
#include "lithe/scenes/free_bodies.h"

namespace lithe::bench {
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

// The height of the root at which the lowest point of a hull is `depth` below z = 0.
double standing_height(const Model& model, const ColliderSet& colliders, double depth) {
  Kinematics kin;
  std::vector<Pose> X_WB;
  kinematics(model, neutral_configuration(model), VecX::Zero(model.nv()), kin);
  body_poses(model, kin, X_WB);
  double lowest = std::numeric_limits<double>::infinity();
  for (const Collider& c : colliders.colliders()) {
    if (c.type != ShapeType::mesh) continue;
    for (const Vec3& v : c.hull->vertices) lowest = std::min(lowest, (X_WB[c.body] * (c.placement * v)).z());
  }
  return -lowest - depth;
}

// As its author would: what overlaps already in the neutral pose, by construction, is taken out.
void exclude_overlaps(ModelBuilder& builder, const Scene& scene) {
  for (const Contact& c : scene.contacts.contacts) {
    const auto body = [&](ShapeIndex shape) { return scene.model.bodies()[scene.model.shapes()[shape].body].name; };
    if (body(c.a) != "world" && body(c.b) != "world") builder.set_collision(body(c.a), body(c.b), false);
  }
}

void register_atlas() {
  const char* models = std::getenv("LITHE_MODELS");
  const std::filesystem::path folder = std::filesystem::path(models ? models : "") / "atlas";
  if (!models || !std::filesystem::exists(folder)) {
    std::fprintf(stderr, "bench_collision: the atlas rows are left out: set LITHE_MODELS to a folder with atlas/\n");
    return;
  }
  ModelBuilder builder = atlas_over_box(folder);
  const auto standing = [&](Model model) {
    VecX q = neutral_configuration(model);
    q[2] = standing_height(model, ColliderSet(model), 1e-5);
    return std::make_shared<Scene>(std::move(model), q);
  };
  const auto untreated = standing(builder.build());
  register_scene("atlas_without_exceptions", untreated);
  exclude_overlaps(builder, *untreated);
  register_scene("atlas", standing(builder.build()));
}

void register_boxes() {
  for (const int n : {100, 200, 500, 1000}) {
    lithe::Scene made = boxes_on_ground(n);
    register_scene("boxes_" + std::to_string(n), std::make_shared<Scene>(std::move(made.model), made.q));
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

int main(int argc, char** argv) { return lithe::bench::run(argc, argv, lithe::bench::register_all); }
