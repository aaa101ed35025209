#include "apps/lithe/held_motion.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/kinematics.h"
#include "lithe/dynamics/mass_matrix.h"

namespace lithe::cli {

namespace {

// How far the weight that a joint may carry bends it, and how long it takes to come back.
constexpr double kSag = 0.05, kSlideSag = 5e-3;  // rad, m
constexpr double kRelaxation = 0.05;             // s
constexpr double kLeastRate = 20;                // rad/s: of the spring and what it moves, however little that weighs
constexpr double kShortestLever = 0.01;          // m
// How far motions go, and how often.
constexpr double kSwing = 0.2, kSlideSwing = 0.05;  // rad, m
constexpr double kShareOfRange = 0.25;
// How hard others are pushed: a base that floats by what gives it these accelerations, joints that cannot move by a share of what they may
// carry.
constexpr double kPush = 2, kTurn = 5;  // m/s², rad/s²
constexpr double kShareOfLoad = 0.2;
constexpr double kSlowest = 0.5, kFastest = 2;  // Hz
constexpr double kFromLimit = 0.02;             // of the range: how close to a limit joints are held
constexpr double kMostFromLimit = 0.05;         // rad, m
// Coming to rest.
constexpr double kQuietSpeed = 0.01;  // rad/s, m/s
constexpr int kQuietSteps = 50;
constexpr double kSettlingTime = 2;  // s
constexpr int kMostSettlingSteps = 2000;
constexpr int kCountedSteps = 100;

StepOptions options_of(const Scene& scene) {
  StepOptions options;
  options.time_step = scene.time_step;
  return options;
}

bool is_slide(const Joint& joint) { return joint.type == JointType::prismatic; }

// A body whose joints let it slide in two directions or more: the base of something that walks, drives or flies.
bool floats(const Model& model, const Body& body) {
  return std::ranges::count_if(body.joints, [&](JointIndex j) { return is_slide(model.joints()[j]); }) >= 2;
}

// For each body the weight that the joints below it may have to carry: that of all that hangs on it or, where the root floats, of
// the whole robot, which may stand on it.
std::vector<double> carried_weights(const Model& model, double gravity) {
  const std::vector<Body>& bodies = model.bodies();
  std::vector<double> weight(bodies.size());
  for (std::size_t b = bodies.size(); b-- > 1;) {  // children come after their parents
    weight[b] += gravity * bodies[b].inertia.mass;
    if (bodies[b].parent != Model::world()) weight[bodies[b].parent] += weight[b];
  }
  std::vector<bool> floating(bodies.size());
  for (std::size_t b = 1; b < bodies.size(); ++b) {
    const Body& body = bodies[b];
    const bool root = body.parent == Model::world();
    floating[b] = root ? floats(model, body) : floating[body.parent];
    if (floating[b] && !root) weight[b] = weight[body.parent];
  }
  return weight;
}

// The distance from each body's joints to the farthest centre of mass that they carry.
std::vector<double> levers(const Model& model, const VecX& q) {
  Kinematics kin;
  kinematics(model, q, kin);
  std::vector<Pose> X_WB;
  body_poses(model, kin, X_WB);
  std::vector<double> lever(X_WB.size(), kShortestLever);
  for (std::size_t b = 1; b < X_WB.size(); ++b) {
    if (model.bodies()[b].inertia.mass <= 0) continue;
    const Vec3 centre = X_WB[b] * model.bodies()[b].inertia.centre();
    for (int above = static_cast<int>(b); above != Model::world(); above = model.bodies()[above].parent) {
      lever[above] = std::max(lever[above], (centre - X_WB[above].p).norm());
    }
  }
  return lever;
}

// The joints around each loop but the one nearest to the root: where that is held the others follow, and to hold them too would strain the loop.
std::vector<bool> joints_that_loops_move(const Model& model) {
  std::vector<bool> moved(model.joints().size());
  const auto path = [&](BodyIndex body) {
    std::vector<int> bodies;
    for (; body != Model::world(); body = model.bodies()[body].parent) bodies.push_back(body);
    return bodies;
  };
  for (const LoopClosure& loop : model.loops()) {
    std::vector<int> a = path(loop.a), b = path(loop.b);
    while (!a.empty() && !b.empty() && a.back() == b.back()) {  // what carries both
      a.pop_back();
      b.pop_back();
    }
    std::vector<int> joints;
    for (const std::vector<int>* side : {&a, &b}) {
      for (const int body : *side) {
        for (const JointIndex j : model.bodies()[body].joints) joints.push_back(j);
      }
    }
    std::ranges::sort(joints);  // outwards from the root
    for (std::size_t k = 1; k < joints.size(); ++k) moved[joints[k]] = true;
  }
  return moved;
}

// Not std::uniform_real_distribution, whose numbers every library makes in its own way.
double uniform(std::mt19937_64& random, double low, double high) {
  return low + (high - low) * 0x1p-53 * static_cast<double>(random() >> 11);
}

double fastest(const State& state) { return state.v.size() == 0 ? 0.0 : state.v.cwiseAbs().maxCoeff(); }

}  // namespace

HeldMotion::HeldMotion(const Scene& scene)
    : held_(scene.model, options_of(scene)),
      begin_{scene.q, scene.v},
      rest_(begin_),
      motor_targets_(scene.motor_targets) {
  hold_joints(scene);
}

void HeldMotion::hold_joints(const Scene& scene) {
  Model model = scene.model;
  const double gravity = model.gravity().norm() > 0 ? model.gravity().norm() : 9.81;
  const std::vector<double> weights = carried_weights(model, gravity);
  const std::vector<double> lever = levers(model, scene.q);
  const VecX inertia = mass_matrix(model, scene.q).diagonal();
  std::vector<int> motor_of(model.joints().size(), -1);
  if (scene.motor_targets.size() > 0) {
    for (std::size_t m = 0; m < model.motors().size(); ++m) motor_of[model.motors()[m].joint] = static_cast<int>(m);
  }
  std::vector<bool> follows(model.joints().size());
  for (const Mimic& mimic : model.mimics()) follows[mimic.joint] = true;
  const std::vector<bool> looped = joints_that_loops_move(model);

  for (std::size_t j = 0; j < model.joints().size(); ++j) {
    Joint joint = model.joints()[j];
    const Body& body = model.bodies()[joint.body];
    if (follows[j]) continue;
    if (body.parent == Model::world() && floats(model, body)) {
      for (int i = joint.v_index; i < joint.v_index + joint.nv(); ++i) {
        pushes_.push_back({.dof = i, .most = (is_slide(joint) ? kPush : kTurn) * inertia[i]});
      }
      continue;
    }
    const double weight = weights[joint.body], sag = is_slide(joint) ? kSlideSag : kSag;
    const double load = is_slide(joint) ? weight : weight * lever[joint.body];
    if (joint.lower == joint.upper) {
      pushes_.push_back({.dof = joint.v_index, .most = kShareOfLoad * load});
      continue;
    }
    Hold hold = {.joint = static_cast<int>(j), .motor = motor_of[j], .dof = joint.v_index, .q_index = joint.q_index};
    const double stiffness = std::max(load / sag, kLeastRate * kLeastRate * inertia[joint.v_index]);
    hold.stiffness = joint.type == JointType::ball || looped[j] ? 0.0 : stiffness;
    hold.damping = kRelaxation * stiffness;
    hold.effort = joint.effort_limit;
    if (joint.type != JointType::ball) {
      const double from_limit = std::min(kFromLimit * (joint.upper - joint.lower), kMostFromLimit);
      const double low = joint.lower + from_limit, high = joint.upper - from_limit;
      const double swing =
          std::min(is_slide(joint) ? kSlideSwing : kSwing, kShareOfRange * (joint.upper - joint.lower));
      hold.target = std::clamp(hold.motor < 0 ? scene.q[joint.q_index] : 0.0, low, high);
      hold.up = std::min(swing, high - hold.target);
      hold.down = std::min(swing, hold.target - low);
    }
    if (hold.motor >= 0) {
      const bool velocity = model.motors()[hold.motor].target == Motor::Target::velocity;
      hold.target = scene.motor_targets[hold.motor];
      if (velocity) hold.up = hold.down = is_slide(joint) ? kSlideSwing : kSwing;  // per second
      hold.stiffness = hold.damping = 0;
    } else {
      // Beside the joint's own spring, as one of both.
      const double both = joint.stiffness + hold.stiffness;
      if (both > 0) joint.rest = (joint.stiffness * joint.rest + hold.stiffness * hold.target) / both;
      joint.stiffness = both;
      joint.damping += hold.damping;
      model.set_joint(JointIndex(static_cast<int>(j)), joint);
    }
    holds_.push_back(hold);
  }
  held_.set_model(std::move(model));
}

double HeldMotion::Swing::at(double time) const {
  double sum = 0;
  for (int k = 0; k < 2; ++k) sum += std::sin(rate[k] * time + phase[k]) - std::sin(phase[k]);
  return std::clamp(sum / 2, -1.0, 1.0);
}

void HeldMotion::drive() {
  control_.tau.setZero(held_.model().nv());
  control_.motor_targets = motor_targets_;
  if (swings_.empty()) return;
  const double time = held_.time() - start_time_;
  for (std::size_t i = 0; i < holds_.size(); ++i) {
    const Hold& hold = holds_[i];
    const double s = swings_[i].at(time);
    const double moved = s > 0 ? s * hold.up : s * hold.down;
    if (hold.motor >= 0) {
      control_.motor_targets[hold.motor] = hold.target + moved;
    } else {
      control_.tau[hold.dof] = hold.stiffness * moved;  // as if the spring's rest had moved
    }
  }
  for (std::size_t i = 0; i < pushes_.size(); ++i) {
    control_.tau[pushes_[i].dof] = pushes_[i].most * swings_[holds_.size() + i].at(time);
  }
}

void HeldMotion::note(Settling& settling) const {
  const StepStatus& status = held_.status();
  ++settling.steps;
  const bool dropped = has(status.flags, LcpFlag::targets_dropped);
  settling.dropped += dropped;
  if (settling.steps <= kCountedSteps) settling.first_dropped += dropped;
  settling.unsolved += status.unsolved > 0;
  settling.diverged |= status.diverged;
  settling.speed = fastest(held_.state());
  settling.top_speed = std::max(settling.top_speed, settling.speed);
  settling.contacts = status.contacts;
  settling.deepest = 0;
  for (const Contact& contact : held_.record().contacts.contacts)
    settling.deepest = std::max(settling.deepest, -contact.gap);
}

const HeldMotion::Settling& HeldMotion::settle(const std::function<bool(int)>& stop) {
  settling_ = {};
  swings_.clear();
  held_.set_state(begin_.q, begin_.v);
  const int most = std::min(kMostSettlingSteps, static_cast<int>(std::ceil(kSettlingTime / held_.options.time_step)));
  std::vector<bool> dropped;
  for (int still = 0; settling_.steps < most && still < kQuietSteps && !settling_.diverged;) {
    if (stop && stop(settling_.steps)) {
      settling_.stopped = true;
      break;
    }
    drive();
    held_.step(control_);
    note(settling_);
    dropped.push_back(has(held_.status().flags, LcpFlag::targets_dropped));
    still = settling_.speed < kQuietSpeed ? still + 1 : 0;
    settling_.quiet = still == kQuietSteps;
  }
  const auto last = std::min<std::size_t>(dropped.size(), kCountedSteps);
  settling_.last_dropped =
      static_cast<int>(std::count(dropped.end() - static_cast<std::ptrdiff_t>(last), dropped.end(), true));
  rest_ = held_.state();
  return settling_;
}

void HeldMotion::start(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  swings_.resize(holds_.size() + pushes_.size());
  for (Swing& swing : swings_) {
    for (int k = 0; k < 2; ++k) {
      swing.rate[k] = 2 * std::numbers::pi * uniform(random, kSlowest, kFastest);
      swing.phase[k] = uniform(random, 0, 2 * std::numbers::pi);
    }
  }
  held_.set_state(rest_.q, rest_.v);
  start_time_ = held_.time();
}

void HeldMotion::start_anew(std::uint64_t seed) {
  held_ = World(held_.model(), held_.options);
  start(seed);
}

const StepStatus& HeldMotion::step() {
  drive();
  return held_.step(control_);
}

void HeldMotion::step_released(const Model& model, StepRecord& record) {
  const State before = held_.state();
  const WarmStart guess = held_.record().warm_start;
  step();
  const State& after = held_.state();
  Control control = control_;
  for (const Hold& hold : holds_) {
    if (hold.motor >= 0) continue;
    for (int i = hold.dof; i < hold.dof + model.joints()[hold.joint].nv(); ++i) {
      // Springs and dampers push by where the step ends (lithe/step/step.h).
      control.tau[i] -= hold.damping * after.v[i];
      if (hold.stiffness > 0) {
        control.tau[i] -=
            hold.stiffness * (before.q[hold.q_index] + held_.options.time_step * after.v[i] - hold.target);
      }
      control.tau[i] = std::clamp(control.tau[i], -hold.effort, hold.effort);
    }
  }
  lithe::step(model, before, control, held_.options, record, &guess);
}

}  // namespace lithe::cli
