#include "tests/support/gradcheck_scenes.h"

#include <Eigen/Geometry>
#include <Eigen/SVD>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "lithe/dynamics/body_motion.h"
#include "lithe/model/parameters.h"
#include "lithe/step/internal/recorded_stages.h"
#include "lithe/step/internal/step_tape.h"
#include "tests/support/constants.h"
#include "tests/support/scene_arms.h"

namespace lithe::test {

using namespace internal;

namespace {

constexpr double kFullWork = 0.95;  // share of the joints of a mechanism that do something

// Puts a scene together, part by part.
class SceneMaker {
 public:
  explicit SceneMaker(std::mt19937_64& random) : random_(random) {
    gravity_ = chance(random, 0.5) ? Vec3(0, 0, -9.81) : Vec3(9.81 * random_vec3(random).normalized());
    builder_.set_gravity(gravity_);
    StepOptions& constraints = options_;
    constraints.time_step = log_uniform(random, 2e-3, 1e-2);
    constraints.correction = chance(random, 0.1) ? 0.0 : uniform(random, 0.1, 0.9);
    if (chance(random, 0.2)) constraints.loop_correction = uniform(random, 0.2, 1);
    if (chance(random, 0.4)) options_.integrator = Integrator::explicit_position;
  }

  int dofs() const { return static_cast<int>(v_.size()); }
  void add_touching(int dofs);
  void add_meeting();
  void add_flat();
  void add_mechanism(int dofs);
  void add_loop();
  void add_mimic();
  GradcheckScene finish();
  bool is_stiff(const GradcheckScene& scene) const;

 private:
  double h() const { return options_.time_step; }
  std::string next_prefix() { return fmt::format("{}.", static_cast<char>('a' + prefixes_++)); }
  Material random_material(bool rough) const;
  double random_gap_share() const;

  std::pair<std::string, double> add_idle_joint();
  void place(const Arm& arm, const std::string& prefix, const Pose& X, const VecX& v, double force = 2);
  void equip(Arm& arm, const std::string& prefix, double work);
  void give_work(Joint& joint, double q, const std::string& name, bool alone);
  void resist(Joint& joint);
  void add_motor(const std::string& joint, Motor motor, double target);
  void add_shape(const std::string& body, Geometry geometry, const Pose& placement, const Material& material,
                 double margin = 0);
  Vec3 add_contact(const std::string& body, const Pose& X_WB, bool rough);
  void add_feet(const std::string& body, const TestShape& box, const Mat3& R);

  std::mt19937_64& random_;
  ModelBuilder builder_;
  Vec3 gravity_;
  StepOptions options_;
  std::vector<double> q_, v_, tau_;
  std::map<std::string, double> targets_;  // by motor
  // 1-DoF joints that others may follow, with their positions.
  std::vector<std::pair<std::string, double>> leaders_;
  std::set<std::string> flat_shapes_;   // of flat parts
  std::set<std::string> level_shapes_;  // of these, that are level with others
  std::vector<std::string> parts_;
  int prefixes_ = 0, shapes_ = 0, filters_ = 0;
};

Material SceneMaker::random_material(bool rough) const {
  return {.friction = rough ? log_uniform(random_, 0.1, 2) : 0.0,
          .restitution = chance(random_, 0.6) ? uniform(random_, 0.2, 0.9) : 0.0};
}

// Of L: overlapping (beyond the cap of the correction too), or open within the margin.
double SceneMaker::random_gap_share() const {
  return chance(random_, 0.6) ? -log_uniform(random_, 1e-4, 1e-2) : uniform(random_, 5e-5, 8e-4);
}

// Adds the arm, its own world at X.
void SceneMaker::place(const Arm& arm, const std::string& prefix, const Pose& X, const VecX& v, double force) {
  builder_.add(builder_of(arm.model), prefix, "world", X);
  q_.insert(q_.end(), arm.q.begin(), arm.q.end());
  v_.insert(v_.end(), v.begin(), v.end());
  const VecX tau = random_vector(random_, arm.dofs(), force);
  tau_.insert(tau_.end(), tau.begin(), tau.end());
}

// A shape that collides with others of the present filter only.
void SceneMaker::add_shape(const std::string& body, Geometry geometry, const Pose& placement, const Material& material,
                           double margin) {
  builder_.add_shape(body, {.name = fmt::format("shape{}", shapes_++),
                            .geometry = std::move(geometry),
                            .placement = placement,
                            .material = material,
                            .margin = margin,
                            .filter = {1U << filters_, 1U << filters_}});
}

void SceneMaker::add_motor(const std::string& joint, Motor motor, double target) {
  motor.name = "motor_of_" + joint;
  targets_[motor.name] = target;
  builder_.add_motor(joint, std::move(motor));
}

void SceneMaker::resist(Joint& joint) {
  const bool ball = joint.type == JointType::ball;
  if (chance(random_, ball ? 0.8 : 0.3)) joint.stiffness = log_uniform(random_, 1, 300);
  if (chance(random_, 0.3)) joint.damping = log_uniform(random_, 0.1, 10);
  if (ball) {
    joint.rest_orientation = quaternion_exp(random_vec3(random_, 0.7));
    if (chance(random_, 0.3)) joint.dry_friction = log_uniform(random_, 0.1, 1000);
  } else {
    joint.rest = uniform(random_, -1, 1);
  }
}

// Some of the things that a 1-DoF joint can be told to do. What insists on its velocity (a limit, a motor of any effort, a
// joint to follow) must not meet another such thing with no DoF to spare: they would contradict each other. So a joint has one
// of them at most, and if it is all `alone` on a body that others push as well, none.
void SceneMaker::give_work(Joint& joint, double q, const std::string& name, bool alone) {
  const bool weak = alone || chance(random_, 0.28);
  const double effort = weak ? log_uniform(random_, 0.05, 2) : chance(random_, 0.5) ? 1e4 : Motor::kInfinity;
  const double gap = random_sign(random_) * log_uniform(random_, 2e-5, 9e-4);
  if (chance(random_, 0.15)) joint.effort_limit = log_uniform(random_, 0.02, 5);
  if (chance(random_, 0.3)) joint.dry_friction = log_uniform(random_, 0.3, alone ? 10 : 5000);
  switch (uniform_int(random_, alone ? 2 : 0, 5)) {
    case 0: joint.lower = q - gap; return;
    case 1: joint.upper = q + gap; return;
    case 2:
      add_motor(name, position_servo("", effort, log_uniform(random_, 10, 3000), uniform(random_, 0, 20)),
                q + uniform(random_, -0.5, 0.5));
      break;
    case 3: add_motor(name, velocity_motor("", effort, log_uniform(random_, 0.5, 300)), uniform(random_, -2, 2)); break;
    case 4:
      if (chance(random_, 0.7)) joint.velocity_limit = uniform(random_, 0.2, 1);
      add_motor(name, position_servo("", effort), q + h() * random_sign(random_) * uniform(random_, 0.1, 2.5));
      break;
    default: add_motor(name, velocity_motor("", effort), uniform(random_, -2, 2));
  }
  if (!weak || alone) return;
  if (chance(random_, 0.5)) {
    if (chance(random_, 0.5)) {
      joint.lower = q - gap;
    } else {
      joint.upper = q + gap;
    }
  } else {
    leaders_.emplace_back(name, q);
  }
}

// Springs, and work for its joints with this probability.
void SceneMaker::equip(Arm& arm, const std::string& prefix, double work) {
  for (std::size_t j = 0; j < arm.model.joints().size(); ++j) {
    Joint joint = arm.model.joints()[j];
    resist(joint);
    if (joint.nv() == 1 && chance(random_, work)) {
      give_work(joint, arm.q[joint.q_index], prefix + joint.name, work < kFullWork);
    }
    arm.model.set_joint(JointIndex(static_cast<int>(j)), joint);
  }
}

// A shape somewhere on a body that is at X_WB, and something fixed that it touches. Returns the normal.
Vec3 SceneMaker::add_contact(const std::string& body, const Pose& X_WB, bool rough) {
  const ShapePair pair = random_pair(random_);
  const TestShape& a = pooled_shape(pair.a, random_);
  const TestShape& b = pooled_shape(pair.b, random_);
  const Pose X_BG = {any_rotation(random_), random_vec3(random_, 0.3)};
  const double margin = chance(random_, 0.2) ? 0.01 : 0.0;
  const double gap =
      margin > 0 ? uniform(random_, 1e-3, 9e-3) : random_gap_share() * bands_of(a.collider, b.collider).length;
  Vec3 n;
  const Pose X_WG = place_beside(a, X_WB * X_BG, b, gap, random_, &n);
  ++filters_;
  add_shape(body, a.geometry, X_BG, random_material(rough), margin);
  add_shape("world", b.geometry, X_WG, random_material(rough));
  parts_.push_back(fmt::format("touching {}", to_string(pair)));
  return n;
}

// With fewer than four DoFs the three directions of a contact are not independent: to stick and to be pushed out would
// contradict each other.
void SceneMaker::add_touching(int dofs) {
  const std::string prefix = next_prefix();
  Arm arm = random_arm(random_, dofs);
  equip(arm, prefix, 0.2);
  const Pose X = {any_rotation(random_), random_vec3(random_, 0.3)};
  VecX v = random_vector(random_, dofs, chance(random_, 0.6) ? 0.7 : 0.1);
  place(arm, prefix, X, v);
  Kinematics kin;
  kinematics(arm.model, arm.q, v, kin);
  const BodyIndex last = arm.model.body(arm.last_body());
  const Pose X_WB = X * body_pose(arm.model, kin, last);
  const Vec3 velocity = X.R * body_velocity(arm.model, kin, last).tail<3>();
  for (int i = uniform_int(random_, 1, std::clamp(dofs, 1, 4)); i > 0; --i) {
    const Vec3 n = add_contact(prefix + arm.last_body(), X_WB, dofs >= 4);
    // Mostly towards it.
    if (i > 1 || n.dot(velocity) < 0 || chance(random_, 0.3)) continue;
    for (auto x = v_.end() - dofs; x != v_.end(); ++x) *x = -*x;
  }
}

// Two things that move touch each other.
void SceneMaker::add_meeting() {
  const std::string prefix_a = next_prefix(), prefix_b = next_prefix();
  ShapePair pair = random_pair(random_);
  while (pair.b == ShapeType::plane) pair = random_pair(random_);
  const TestShape& shape_a = pooled_shape(pair.a, random_);
  const TestShape& shape_b = pooled_shape(pair.b, random_);
  Arm a = random_arm(random_, uniform_int(random_, 1, 6));
  Arm b = random_arm(random_, uniform_int(random_, 1, 3));
  equip(a, prefix_a, 0.2);
  equip(b, prefix_b, 0.2);
  const Pose X_BG = {any_rotation(random_), random_vec3(random_, 0.3)};
  const Pose X_WA = {any_rotation(random_), random_vec3(random_, 0.3)};
  const Pose X_WB = place_beside(shape_a, X_WA, shape_b,
                                 random_gap_share() * bands_of(shape_a.collider, shape_b.collider).length, random_);
  const auto put = [&](const Arm& arm, const std::string& prefix, const Pose& X_WG) {
    place(arm, prefix, X_WG * X_BG.inverse() * arm.pose_of(arm.last_body()).inverse(),
          random_vector(random_, arm.dofs(), 0.7));
  };
  put(a, prefix_a, X_WA);
  put(b, prefix_b, X_WB);
  const bool rough = a.dofs() + b.dofs() >= 4;
  ++filters_;
  add_shape(prefix_a + a.last_body(), shape_a.geometry, X_BG, random_material(rough));
  add_shape(prefix_b + b.last_body(), shape_b.geometry, X_BG, random_material(rough));
  parts_.push_back(fmt::format("meeting {}", to_string(pair)));
}

// Balls below the corners of a box that is turned by R, each with a friction of its own.
void SceneMaker::add_feet(const std::string& body, const TestShape& box, const Mat3& R) {
  constexpr double kRadius = 0.02;
  const Vec3 down = -R.row(2);
  const Vec3 half = box.collider.half_size;
  const double depth = half.dot(down.cwiseAbs()) - kRadius;
  for (const double x : {-0.8, 0.8}) {
    for (const double y : {-0.8, 0.8}) {
      const Vec3 aside = half.minCoeff() * (x * R.row(0) + y * R.row(1));
      add_shape(body, Sphere{kRadius}, Pose::translation(aside + depth * down),
                {.friction = log_uniform(random_, 0.1, 1.2)});
    }
  }
}

void SceneMaker::add_flat() {
  const std::string prefix = next_prefix();
  ++filters_;
  enum Kind { kPlain, kFeet, kDoubled };
  const Kind kind = pick(random_, std::array{kPlain, kFeet, kDoubled});
  const ShapeType type =
      kind == kPlain
          ? pick(random_, std::array{ShapeType::box, ShapeType::capsule, ShapeType::cylinder, ShapeType::mesh})
          : ShapeType::box;
  const TestShape shape = make_test_shape(flat_geometry(type, random_), 0);
  const Mobility mobility = pick(random_, std::array{Mobility::free, Mobility::free, Mobility::planar,
                                                     Mobility::translational, Mobility::vertical, Mobility::vertical});

  // The ground is not quite level. It ends at z = 0 of its own axes W' = G.
  const Pose X_WG = {rotation_exp(random_vec3(random_, 0.08)) * rotation_from_z(-gravity_.normalized()) *
                         rotation_about(Vec3::UnitZ(), uniform(random_, -kPi, kPi)),
                     random_vec3(random_, 0.2)};
  const bool on_box = chance(random_, 0.3);
  const TestShape ground = make_test_shape(on_box ? Geometry(Box{{1.5, 1.2, 0.3}}) : Geometry(Plane{}), 1);
  const Pose X_GS = on_box ? Pose::translation(0, 0, -0.3) : Pose{};
  Pose X_GB = {rotation_about(Vec3::UnitZ(), uniform(random_, -kPi, kPi)) * lying_down(type, random_),
               Vec3(uniform(random_, -0.3, 0.3), uniform(random_, -0.3, 0.3), 1)};
  move_to_gap(shape, X_GB, ground, X_GS,
              -log_uniform(random_, 1e-5, 1e-3) * bands_of(shape.collider, ground.collider).length);

  // The centre of mass is inside.
  const double mass = log_uniform(random_, 0.5, 5);
  const Vec3 centre = shape.collider.box_centre + random_vec3(random_, 0.02);
  Arm arm = lying_body(
      mobility, X_GB.R,
      SpatialInertia::from_centre(mass, centre, SpatialInertia::box(mass, 2 * shape.collider.box_half).rotational));
  Vec3 slide = Vec3::Zero(), spin = Vec3::Zero();
  const std::string motion = pick<const char*>(
      random_, std::array{"resting", "resting", "resting", "sliding", "sliding", "spinning", "spinning"});
  if (motion == "sliding") {
    slide = rotation_about(Vec3::UnitZ(), uniform(random_, -kPi, kPi)) * Vec3(uniform(random_, 0.3, 2), 0, 0);
  } else if (motion == "spinning") {
    slide = Vec3(uniform(random_, -0.3, 0.3), uniform(random_, -0.3, 0.3), 0);
    spin.z() = random_sign(random_) * uniform(random_, 3, 10);
  }
  place(arm, prefix, X_WG * Pose::translation(X_GB.p), lying_velocity(mobility, X_GB.R, slide, spin), 0.2 * mass);

  const std::string body = prefix + "body";
  const double mu = motion == "resting" ? uniform(random_, 0.6, 1.5) : log_uniform(random_, 0.1, 0.8);
  const int first_shape = shapes_;
  add_shape("world", ground.geometry, X_WG * X_GS, {.friction = mu});
  if (kind == kFeet) {
    add_feet(body, shape, X_GB.R);
  } else {
    add_shape(body, shape.geometry, {}, {.friction = mu});
    if (kind == kDoubled) add_shape(body, shape.geometry, {}, {.friction = chance(random_, 0.5) ? mu : 0.7 * mu});
  }
  for (int i = first_shape; i < shapes_; ++i) {
    flat_shapes_.insert(fmt::format("shape{}", i));
    if (kind != kPlain && i > first_shape) level_shapes_.insert(fmt::format("shape{}", i));
  }
  const char* what = kind == kFeet ? "on feet" : kind == kDoubled ? "doubled" : lithe::to_string(type);
  parts_.push_back(fmt::format("flat {} {} of mobility {} on {}", motion, what, static_cast<int>(mobility),
                               on_box ? "box" : "plane"));
}

// A frame of the last body is held where it is, up to an error. There are more DoFs than rows.
void SceneMaker::add_loop() {
  const std::string prefix = next_prefix();
  const bool weld = chance(random_, 0.35);
  Arm arm = random_arm(random_, weld ? uniform_int(random_, 8, 9) : uniform_int(random_, 5, 7));
  equip(arm, prefix, 0.1);
  const Pose X = {any_rotation(random_), random_vec3(random_, 0.3)};
  place(arm, prefix, X, random_vector(random_, arm.dofs(), 0.3));
  const Pose at = random_pose(random_);
  const Pose error = {rotation_exp(random_vec3(random_, 1e-3)), random_vec3(random_, 1e-3)};
  builder_.add_loop(prefix + arm.last_body(), "world",
                    {.name = prefix + "loop",
                     .kind = weld ? LoopClosure::Kind::weld : LoopClosure::Kind::ball,
                     .placement_a = at,
                     .placement_b = X * arm.pose_of(arm.last_body()) * at * error});
  parts_.push_back("loop");
}

void SceneMaker::add_mechanism(int dofs) {
  const std::string prefix = next_prefix();
  Arm arm = random_arm(random_, dofs);
  equip(arm, prefix, kFullWork);
  place(arm, prefix, {any_rotation(random_), random_vec3(random_, 0.3)}, random_vector(random_, arm.dofs(), 0.7));
  builder_.add_frame(prefix + arm.last_body(), {.name = prefix + "tip", .placement = random_pose(random_)});
  parts_.push_back("mechanism");
}

// A joint that nothing works on.
std::pair<std::string, double> SceneMaker::add_idle_joint() {
  const std::string prefix = next_prefix();
  Arm arm = random_arm(random_, 1);
  equip(arm, prefix, 0);
  place(arm, prefix, {any_rotation(random_), random_vec3(random_, 0.3)}, random_vector(random_, 1, 0.7));
  return {prefix + arm.model.joints()[0].name, arm.q[0]};
}

// A joint that follows another one, of any part so far that does not insist on its velocity.
void SceneMaker::add_mimic() {
  if (leaders_.empty()) leaders_.push_back(add_idle_joint());
  const auto& [leader, position] = leaders_[uniform_int(random_, 0, static_cast<int>(leaders_.size()) - 1)];
  const auto [follower, own_position] = add_idle_joint();
  const double multiplier = random_sign(random_) * uniform(random_, 0.3, 2);
  const double error = random_vector(random_, 1, 1e-3)[0];
  builder_.add_mimic(
      follower, leader,
      {.name = follower + ".mimic", .multiplier = multiplier, .offset = own_position - multiplier * position + error});
  parts_.push_back("mimic");
}

// Numbers whose neighbourhood is another world: the first bit of friction adds rows, a shape that is to lie level with
// others no longer does.
bool is_smooth(const Model& model, const std::string& name, const std::set<std::string>& level_shapes) {
  const std::string kind = parameter_kind(name);
  const auto owner = [&] { return name.substr(name.find('/') + 1, name.rfind('/') - name.find('/') - 1); };
  for (const char* threshold : {"shape/friction", "shape/restitution", "joint/dry_friction"}) {
    if (kind == threshold) return parameter(model, name) > 0;
  }
  if (kind.starts_with("shape/")) return kind == "shape/margin" || !level_shapes.contains(owner());
  if (kind.starts_with("body/")) return model.bodies()[model.body(owner())].inertia.mass > 0;
  return true;
}

// Names, of as many kinds as possible.
std::vector<std::string> random_parameters(const Model& model, const std::set<std::string>& level_shapes,
                                           std::mt19937_64& random, int count) {
  std::map<std::string, std::vector<std::string>> by_kind;
  for (const std::string& name : parameter_names(model)) {
    if (is_smooth(model, name, level_shapes)) by_kind[parameter_kind(name)].push_back(name);
  }
  for (const Motor& motor : model.motors()) by_kind["motor/target"].push_back("motor/" + motor.name + "/target");
  by_kind["time_step"].push_back("time_step");
  std::vector<std::string> kinds;
  for (const auto& [kind, names] : by_kind) kinds.push_back(kind);
  std::shuffle(kinds.begin(), kinds.end(), random);
  // Few scenes have loops.
  if (chance(random, 0.3)) {
    std::stable_partition(kinds.begin(), kinds.end(),
                          [](const std::string& kind) { return kind.starts_with("loop/"); });
  }
  kinds.resize(std::min(kinds.size(), static_cast<std::size_t>(count)));
  std::vector<std::string> chosen;
  for (const std::string& kind : kinds) {
    const std::vector<std::string>& names = by_kind[kind];
    chosen.push_back(names[uniform_int(random, 0, static_cast<int>(names.size()) - 1)]);
  }
  return chosen;
}

GradcheckScene SceneMaker::finish() {
  const auto vector = [](std::vector<double>& x) { return Eigen::Map<VecX>(x.data(), static_cast<int>(x.size())); };
  GradcheckScene scene{builder_.build(), {vector(q_), vector(v_)}, {.tau = vector(tau_)}, options_, {}, parts_};
  scene.control.motor_targets.resize(static_cast<Eigen::Index>(scene.model.motors().size()));
  for (std::size_t m = 0; m < scene.model.motors().size(); ++m) {
    scene.control.motor_targets[static_cast<int>(m)] = targets_[scene.model.motors()[m].name];
  }
  if (chance(random_, 0.5)) scene.control.wrenches = random_wrenches(scene.model, random_);
  scene.parameters = random_parameters(scene.model, level_shapes_, random_, 6);
  return scene;
}

// Singular values of a square matrix whose rows and columns are scaled by √diagonal of A.
VecX moduli_of(const BoxedLcp& lcp, const std::vector<int>& rows, MatX matrix) {
  if (rows.empty()) return {};
  VecX scale(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    scale[static_cast<int>(i)] = 1 / std::sqrt(std::max(lcp.at(rows[i], rows[i]), 1e-12));
  }
  matrix = (scale.asDiagonal() * matrix * scale.asDiagonal()).eval();
  return Eigen::JacobiSVD<MatX>(matrix).singularValues();
}

// A_C: what the clamping rows feel of one another's impulses, and of the friction that slides with them.
// (Without modes: nothing slides.)
MatX mode_matrix(const BoxedLcp& lcp, const std::vector<int>& clamping, std::span<const RowMode> modes) {
  const auto n = static_cast<Eigen::Index>(clamping.size());
  MatX A(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    for (Eigen::Index i = 0; i < n; ++i) A(i, j) = lcp.at(clamping[i], clamping[j]);
    for (int row = 0; row < static_cast<int>(modes.size()); ++row) {
      const bool at_bound = modes[row] == RowMode::at_lower || modes[row] == RowMode::at_upper;
      if (lcp.rows[row].kind != RowKind::friction || lcp.rows[row].normal != clamping[j] || !at_bound) continue;
      const double share = (modes[row] == RowMode::at_upper ? 1 : -1) * lcp.rows[row].friction;
      for (Eigen::Index i = 0; i < n; ++i) A(i, j) += share * lcp.at(clamping[i], row);
    }
  }
  return A;
}

// Whether the numbers of a scene lose too many digits for differences to judge by: a contact meets a lever that hardly moves
// it, or friction directions that are not independent of the normal, or the clamping rows are nearly but not quite
// dependent.
bool SceneMaker::is_stiff(const GradcheckScene& scene) const {
  constexpr double kLeast = 1e-3, kNearlyDependent = 1e-4, kDependent = 1e-11;
  StepRecord record;
  step(scene.model, scene.state, scene.control, scene.options, record);
  const ContactProblem problem = lcps_of(scene.model, record);
  for (int i = 0; i < problem.island_count(); ++i) {
    const Island& island = problem.islands.islands()[i];
    const BoxedLcp lcp = problem.lcp(i);
    const std::span<const RowMode> modes = std::span(record.modes).subspan(island.first_row, island.row_count);
    std::vector<int> clamping;
    for (int row = 0; row < island.row_count; ++row) {
      if (modes[row] == RowMode::clamping) clamping.push_back(row);
    }
    for (const double modulus : moduli_of(lcp, clamping, mode_matrix(lcp, clamping, modes))) {
      if (modulus > kDependent && modulus < kNearlyDependent) return true;
    }
    for (int c = 0; c < island.constraint_count; ++c) {
      const Constraint& constraint = record.tape().problem.constraints[island.first_constraint + c];
      if (constraint.kind != ConstraintKind::contact) continue;
      const Contact& contact = record.contacts.contacts[constraint.index];
      if (flat_shapes_.contains(scene.model.shapes()[contact.a].name)) continue;  // dependent by design
      std::vector<int> rows(constraint.rows);
      std::iota(rows.begin(), rows.end(), constraint.first_row - island.first_row);
      if (lcp.at(rows[0], rows[0]) * record.tape().island_masses[i] < kLeast) return true;
      if (moduli_of(lcp, rows, mode_matrix(lcp, rows, {})).minCoeff() < kLeast) return true;
    }
  }
  return false;
}

}  // namespace

std::string parameter_kind(const std::string& name) {
  const std::size_t first = name.find('/'), last = name.rfind('/');
  return first == std::string::npos ? name : name.substr(0, first) + name.substr(last);
}

// Mostly 1: many small things meet more than a few large ones.
static int few_dofs(std::mt19937_64& random, int most) {
  return chance(random, 0.63) ? 1 : uniform_int(random, 2, most);
}

GradcheckScene random_gradcheck_scene(std::mt19937_64& random) {
  while (true) {
    SceneMaker maker(random);
    // Some scenes have one part and can be looked at; most have many.
    const int parts = chance(random, 0.1) ? 1 : uniform_int(random, 4, 11);
    for (int i = 0; i < parts && maker.dofs() < 16; ++i) {
      const double kind = uniform(random, 0, 1);
      if (kind < 0.45) {
        maker.add_touching(few_dofs(random, 6));
      } else if (kind < 0.47) {
        maker.add_meeting();
      } else if (kind < 0.61) {
        maker.add_flat();
      } else if (kind < 0.91) {
        maker.add_mechanism(few_dofs(random, 3));
      } else if (kind < 0.975) {
        maker.add_mimic();
      } else {
        maker.add_loop();
      }
    }
    GradcheckScene scene = maker.finish();
    if (!maker.is_stiff(scene)) return scene;
  }
}

}  // namespace lithe::test
