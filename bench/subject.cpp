#include "bench/subject.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <utility>

#include "bench/foreign_files.h"
#include "lithe/core/check.h"
#include "lithe/dynamics/mass_matrix.h"
#include "lithe/io/write_mjcf.h"
#include "lithe/scenes/from_file.h"

namespace lithe::bench {

namespace {

namespace fs = std::filesystem;
using FileControl = MujocoLayout::Control;

// Not std::uniform_real_distribution, whose numbers every library makes in its own way.
double uniform(std::mt19937_64& random, double lower, double upper) {
  return lower + (upper - lower) * 0x1p-53 * static_cast<double>(random() >> 11);
}

// What holds the model where it starts: of servos the targets there, of efforts nothing.
VecX controls_at_rest(const Subject& subject, const MujocoBridge& bridge) {
  VecX ctrl = bridge.ctrl_from(VecX::Zero(bridge.nv()), subject.scene.motor_targets);
  for (int i = 0; i < bridge.nu(); ++i) {
    const FileControl& control = subject.loaded.mujoco.controls[static_cast<std::size_t>(i)];
    if (control.kind == FileControl::Kind::effort) ctrl[i] = std::clamp(0.0, control.lower, control.upper);
  }
  return ctrl;
}

bool has_world(const fs::path& path) {
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return text.find("<mujoco") != std::string::npos && text.find("<worldbody") != std::string::npos;
}

std::vector<fs::path> scenes_in(const fs::path& folder) {
  std::vector<fs::path> named, others;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const fs::path& path = entry.path();
    if (path.extension() != ".xml" || !entry.is_regular_file()) continue;
    if (path.filename() == "scene.xml") return {path};
    if (path.stem().string().starts_with("scene_")) {
      named.push_back(path);
    } else if (has_world(path)) {
      others.push_back(path);
    }
  }
  std::vector<fs::path>& chosen = named.empty() ? others : named;
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

// In the order of their names, so that two runs are alike.
std::vector<fs::path> folders_below(const fs::path& folder) {
  std::vector<fs::path> folders = {folder};
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_directory() && !entry.path().filename().string().starts_with(".")) folders.push_back(entry.path());
  }
  std::sort(folders.begin(), folders.end());
  return folders;
}

void add_files(const fs::path& place, std::vector<fs::path>& found) {
  LITHE_CHECK(fs::exists(place), "LITHE_MODELS: {} is not there", place.string());
  if (!fs::is_directory(place)) {
    found.push_back(place);
    return;
  }
  for (const fs::path& folder : folders_below(place)) {
    for (fs::path& scene : scenes_in(folder)) found.push_back(std::move(scene));
  }
}

// MuJoCo refuses point masses that move, even ones that only slide: both engines get the same small ones.
void give_extent(Model& model) {
  for (std::size_t b = 1; b < model.bodies().size(); ++b) {
    const Body& body = model.bodies()[b];
    if (body.inertia.mass == 0 || !body.inertia.about_centre().isZero(0)) continue;
    const Mat3 moments = 1e-9 * body.inertia.mass * Mat3::Identity();
    model.set_inertia(BodyIndex(static_cast<int>(b)),
                      SpatialInertia::from_centre(body.inertia.mass, body.inertia.centre(), moments));
  }
}

std::string folder_name(const fs::path& path) { return fs::absolute(path).lexically_normal().parent_path().filename(); }

}  // namespace

Subject subject_from_file(const std::string& name, const std::string& path, const std::string& keyframe) {
  LoadedModel loaded = load_mjcf(path);
  const bool known = std::ranges::any_of(loaded.keyframes, [&](const Keyframe& key) { return key.name == keyframe; });
  if (known || keyframe == kPoseOfTheFile) loaded = load_mjcf(path, {.keyframe = keyframe});
  Scene scene = scene_from(loaded);
  return {.name = name, .scene = std::move(scene), .loaded = std::move(loaded), .file = path, .text = {}};
}

Subject subject_from_scene(const std::string& name, Scene scene) {
  give_extent(scene.model);
  Subject subject = {.name = name, .scene = std::move(scene), .loaded = {}, .file = {}, .text = {}};
  subject.text = write_mjcf(subject.scene.model, {.name = name, .time_step = subject.scene.time_step}).xml;
  subject.loaded = load_text(subject.text, name + ".xml");
  return subject;
}

void check_same_model(const Subject& subject, MujocoWorld& mujoco, double tolerance) {
  const Model& model = subject.scene.model;
  const MujocoBridge bridge(subject.loaded);
  LITHE_CHECK(mujoco.nq() == model.nq() && mujoco.nv() == model.nv() && mujoco.nu() == bridge.nu(),
              "MuJoCo has {} coordinates, {} DoFs and {} controls, we have {}, {} and {}", mujoco.nq(), mujoco.nv(),
              mujoco.nu(), model.nq(), model.nv(), bridge.nu());
  LITHE_CHECK(std::abs(mujoco.time_step() - subject.scene.time_step) <= 1e-12, "MuJoCo's time step is {} s, ours {} s",
              mujoco.time_step(), subject.scene.time_step);
  mujoco.start(bridge.qpos_from_q(subject.scene.q), bridge.qvel_from_v(subject.scene.v));
  Kinematics kin;
  MassMatrix M;
  kinematics(model, subject.scene.q, kin);
  mass_matrix(model, kin, M);
  const MatX theirs = mujoco.mass_matrix();
  const double difference = (theirs - M.dense(model)).cwiseAbs().maxCoeff() / theirs.cwiseAbs().maxCoeff();
  LITHE_CHECK(difference <= tolerance, "MuJoCo's mass matrix differs from ours by {} of its largest entry", difference);
}

Drive::Drive(const Subject& subject)
    : subject_(subject), bridge_(subject.loaded), ctrl_(controls_at_rest(subject, bridge_)) {
  set_ours();
}

Drive::Drive(const Subject& subject, std::uint64_t seed, Shaking shaking) : Drive(subject) {
  at_rest_ = ours_.tau;
  if (bridge_.nu() > 0 && shaking == Shaking::controls) {
    random_.emplace(seed);
  } else {
    forces_.emplace(subject.scene.model, seed);
    drawn_.setZero(subject.scene.model.nv());
  }
}

void Drive::next() {
  if (random_) {
    for (int i = 0; i < bridge_.nu(); ++i) {
      const FileControl& control = subject_.loaded.mujoco.controls[static_cast<std::size_t>(i)];
      if (control.kind == FileControl::Kind::left_out) continue;  // it would move MuJoCo's robot alone
      const double lower = std::isfinite(control.lower) ? control.lower : -1;
      const double upper = std::isfinite(control.upper) ? control.upper : 1;
      ctrl_[i] = uniform(*random_, lower, upper);
    }
    set_ours();
  }
  if (forces_) {
    drawn_ = forces_->next();
    ours_.tau = at_rest_ + drawn_;
  }
}

void Drive::set_ours() {
  MujocoBridge::Actuation actuation = bridge_.actuation(ctrl_);
  ours_.tau = std::move(actuation.tau);
  ours_.motor_targets = std::move(actuation.motor_targets);
}

void Drive::give(MujocoWorld& mujoco) const {
  mujoco.set_controls(ctrl_);
  if (forces_) mujoco.set_forces(drawn_);
}

std::vector<ModelFile> model_files(const std::string& places) {
  std::vector<fs::path> found;
  for (const std::string& place : split_places(places)) add_files(place, found);
  std::vector<ModelFile> files;
  std::set<std::string> names;
  for (const fs::path& path : found) {
    std::string name = path.filename() == "scene.xml" ? folder_name(path) : path.stem().string();
    if (!names.insert(name).second) {
      const std::string first = name = folder_name(path) + "." + path.stem().string();
      for (int k = 2; !names.insert(name).second; ++k) name = fmt::format("{}.{}", first, k);
    }
    files.push_back({name, path});
  }
  return files;
}

}  // namespace lithe::bench
