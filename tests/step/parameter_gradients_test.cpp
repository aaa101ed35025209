#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "lithe/model/configuration.h"
#include "lithe/model/parameters.h"
#include "lithe/scenes/solids/solids.h"
#include "lithe/step/gradients/displaced_step.h"
#include "lithe/step/gradients/linearization.h"
#include "lithe/step/gradients/parameter_columns.h"
#include "lithe/step/internal/recorded_stages.h"
#include "lithe/step/step_jacobians.h"
#include "tests/step/parameter_cases.h"
#include "tests/support/allocation_counter.h"
#include "tests/support/differentiate.h"
#include "tests/support/error_text.h"
#include "tests/support/random_test.h"

// The derivatives of a step by every number that has a name, against differences of steps.
namespace lithe::test {

using namespace internal;
namespace {

// kind/attribute, whatever the thing is called.
std::string kind_of(const std::string& name) {
  const std::size_t slash = name.find('/');
  return slash == std::string::npos ? name : name.substr(0, slash) + name.substr(name.rfind('/'));
}

// A step whose modes are a matter of rounding, whose targets were reduced or which is known to few digits has no derivative to
// compare with.
bool can_be_judged(const StepRecord& record) {
  const LcpFlag flags = record.status.flags;
  return record.status.solved() && record.status.residual < 1e-11 && !has(flags, LcpFlag::tied) &&
         !has(flags, LcpFlag::unpolished) && !has(flags, LcpFlag::targets_dropped);
}

// How the derivatives of one kind of parameter compared.
struct Tally {
  std::vector<double> errors;  // where the derivative is not zero
  int zeros = 0;               // or too small to tell
  int switched = 0;            // something changes its mode however little the parameter moves
  int refused = 0;             // cannot be moved to both sides
  int unresolved = 0;          // differences do not have the digits: impulses that almost cancel
};

class ParameterCheck {
 public:
  // False: the step cannot be judged.
  bool check(const ConstrainedCase& at);
  void expect_hits(int least, const std::set<std::string>& kinds) const;
  void print() const;

  int null_space_terms = 0, sliding = 0, sticking = 0, saturated = 0, rank_deficient = 0;

 private:
  void check_column(const std::string& name, const VecX& analytic, DisplacedStep& moved);
  double largest_share(const VecX& errors, const VecX& derivative, double step_size) const;

  std::map<std::string, Tally> tallies_;
  StepRecord record_;
  StepParameterJacobian jacobian_;
};

bool ParameterCheck::check(const ConstrainedCase& at) {
  step(at.model, at.state, at.control, at.options, record_, nullptr);
  if (!can_be_judged(record_)) return false;
  const StepParameters parameters(at.model, step_parameter_names(at.model));
  step_parameter_jacobian(at.model, record_, jacobian_, {.bounce = Bounce::off, .parameters = parameters});
  const GradientReport& report = jacobian_.report;
  null_space_terms += report.null_space_term;
  sliding += report.sliding > 0;
  saturated += report.saturated > 0;
  sticking += report.clamping > 0;
  rank_deficient += report.rank < report.clamping;
  DisplacedStep moved;
  moved.start(at.model, record_);
  VecX analytic(moved.output_size());
  for (int k = 0; k < parameters.size(); ++k) {
    analytic << jacobian_.dqnext.col(k), jacobian_.dvnext.col(k), jacobian_.df.col(k);
    check_column(parameters.names()[k], analytic, moved);
  }
  return true;
}

// The outputs of a step as functions of one parameter, in shares of its size: a change of one means much for any parameter.
struct ParameterFunction {
  DisplacedStep& moved;
  const std::string& name;
  double size;
  bool refused = false, switched = false;

  VecX operator()(const VecX& share) {
    VecX out = VecX::Zero(moved.output_size());
    if (!moved.move(name, share[0] * size)) {
      refused = true;
    } else {
      switched = switched || moved.switched() != ModeSwitch::none;
      moved.write_outputs(out);
    }
    return out;
  }
};

// The size of errors: relative to the largest derivative of the same kind (of q⁺, v⁺ or f) or, if that is larger, to what a
// difference with this step can tell from rounding.
double ParameterCheck::largest_share(const VecX& errors, const VecX& derivative, double step_size) const {
  const Eigen::Index nv = record_.next.v.size(), rows = derivative.size() - 2 * nv;
  const double floor = 3e-6 / step_size;
  const double speed = std::max(1.0, record_.next.v.cwiseAbs().maxCoeff());
  double impulse = 1e-6;
  for (const double f : record_.f) impulse = std::max(impulse, std::abs(f));
  const auto part = [&](Eigen::Index first, Eigen::Index count, double scale) {
    if (count == 0) return 0.0;
    const double largest = derivative.segment(first, count).cwiseAbs().maxCoeff();
    return errors.segment(first, count).cwiseAbs().maxCoeff() / std::max(largest, floor * scale);
  };
  return std::max({part(0, nv, record_.options.time_step * speed), part(nv, nv, speed), part(2 * nv, rows, impulse)});
}

void ParameterCheck::check_column(const std::string& name, const VecX& analytic, DisplacedStep& moved) {
  constexpr double kLargestError = 1e-6;
  Tally& tally = tallies_[kind_of(name)];
  ParameterFunction outputs{moved, name, moved.size_of(name)};
  if (outputs.size == 0) {
    EXPECT_TRUE(analytic.isZero(0)) << name;
    return;
  }
  const VecX wanted = outputs.size * analytic;
  ASSERT_TRUE(wanted.allFinite()) << name;
  double error = std::numeric_limits<double>::infinity(), widest = 0;
  VecX numeric;
  // Ever smaller steps, until nothing changes its mode within them.
  for (double step_size = kDifferenceStep; step_size > 1e-6; step_size /= 10) {
    outputs.switched = false;
    numeric = central_difference(std::ref(outputs), 1, step_size);
    if (outputs.refused) break;
    if (outputs.switched) continue;
    if (widest == 0) widest = step_size;
    error = std::min(error, largest_share(wanted - numeric, numeric, step_size));
    if (error < 1e-8) break;
  }
  if (widest == 0) {
    ++(outputs.refused ? tally.refused : tally.switched);
    return;
  }
  if (error > kLargestError) {
    // Does the difference itself know better?
    const NumericDerivative best = ridders_difference(std::ref(outputs), 1, widest);
    if (largest_share(best.error, best.value, widest) > 1e-7) {
      ++tally.unresolved;
      return;
    }
    error = largest_share(wanted - best.value, best.value, widest);
  }
  EXPECT_LE(error, kLargestError) << name;
  const Eigen::Index nv = record_.next.v.size();
  if (numeric.segment(nv, nv).cwiseAbs().maxCoeff() > 1e-3) {
    tally.errors.push_back(error);
  } else {
    ++tally.zeros;
  }
}

void ParameterCheck::print() const {
  fmt::print("  {:22} {:>7} {:>6} {:>8} {:>8} {:>10} {:>8} {:>8}\n", "parameter", "checked", "zero", "refused",
             "switched", "unresolved", "median", "worst");
  for (const auto& [kind, tally] : tallies_) {
    std::vector<double> errors = tally.errors;
    std::sort(errors.begin(), errors.end());
    if (errors.empty()) errors.push_back(0);
    fmt::print("  {:22} {:>7} {:>6} {:>8} {:>8} {:>10} {:>8.0e} {:>8.0e}\n", kind, tally.errors.size(), tally.zeros,
               tally.refused, tally.switched, tally.unresolved, errors[errors.size() / 2], errors.back());
  }
  fmt::print("  steps that stick {}, slide {}, saturate {}, with redundant rows {}, with a null-space term {}\n",
             sticking, sliding, saturated, rank_deficient, null_space_terms);
}

void ParameterCheck::expect_hits(int least, const std::set<std::string>& kinds) const {
  for (const std::string& kind : kinds) {
    const auto found = tallies_.find(kind);
    if (found == tallies_.end()) {
      ADD_FAILURE() << "nothing has a " << kind;
      continue;
    }
    const Tally& tally = found->second;
    std::vector<double> errors = tally.errors;
    EXPECT_GE(static_cast<int>(errors.size()), least) << kind;
    if (errors.empty()) continue;
    std::nth_element(errors.begin(), errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2), errors.end());
    EXPECT_LE(errors[errors.size() / 2], 1e-9) << kind;
    const int skipped = tally.switched + tally.unresolved;
    const auto judged = static_cast<int>(errors.size()) + tally.zeros;
    EXPECT_LE(skipped, 0.05 * (judged + skipped)) << kind << ": skipped too much";
  }
}

TEST(ParameterGradients, AgreeWithDifferencesInMechanisms) {
  ParameterCheck all;
  for_random_cases(
      800,
      [&](std::mt19937_64& random) {
        return all.check(random_mechanism_case(random)) ? Outcome::checked : Outcome::skipped;
      },
      0.25);
  if (few_cases()) return;
  all.print();
  all.expect_hits(20, {"body/mass",
                       "body/mx",
                       "body/my",
                       "body/mz",
                       "body/Ixx",
                       "body/Ixy",
                       "body/Ixz",
                       "body/Iyy",
                       "body/Iyz",
                       "body/Izz",
                       "body/x",
                       "body/y",
                       "body/z",
                       "joint/x",
                       "joint/y",
                       "joint/z",
                       "joint/pitch",
                       "joint/stiffness",
                       "joint/rest",
                       "joint/damping",
                       "joint/armature",
                       "joint/dry_friction",
                       "joint/lower",
                       "joint/upper",
                       "joint/effort_limit",
                       "joint/velocity_limit",
                       "motor/stiffness",
                       "motor/damping",
                       "motor/max_effort",
                       "motor/target",
                       "loop/ax",
                       "loop/ay",
                       "loop/az",
                       "loop/bx",
                       "loop/by",
                       "loop/bz",
                       "mimic/multiplier",
                       "mimic/offset",
                       "gravity/x",
                       "gravity/y",
                       "gravity/z",
                       "time_step"});
  EXPECT_GE(all.saturated, 20);
}

TEST(ParameterGradients, AgreeWithDifferencesInContactsOfSolids) {
  ParameterCheck all;
  for_random_cases(
      300,
      [&](std::mt19937_64& random) {
        return all.check(random_solids_case(random)) ? Outcome::checked : Outcome::skipped;
      },
      0.1);
  if (few_cases()) return;
  all.print();
  all.expect_hits(
      20, {"body/mass",    "body/mx",           "body/my",      "body/mz",      "body/Ixx",       "body/Ixy",
           "body/Ixz",     "body/Iyy",          "body/Iyz",     "body/Izz",     "body/x",         "body/y",
           "body/z",       "joint/x",           "joint/y",      "joint/z",      "shape/friction", "shape/restitution",
           "shape/radius", "shape/half_length", "shape/half_x", "shape/half_y", "shape/half_z",   "shape/x",
           "shape/y",      "shape/z",           "gravity/z",    "time_step"});
  EXPECT_GE(all.sliding, 20);
  EXPECT_GE(all.rank_deficient, 20);
  EXPECT_GE(all.null_space_terms, 20);
}

// −J z of a step: what the second point of a linearization differentiates.
VecX second_point(const Model& model, const StepRecord& record, const StepLinearization& base) {
  const DofTree& tree = model.tree();
  const ContactProblem& problem = stages_of(model, record).problem;
  const auto rows = static_cast<Eigen::Index>(problem.rows.size());
  const VecX& z = base.null.z;
  MatX J(rows, tree.nv);
  Lanes<1> unit;
  AlignedBuffer touches(problem.touches.size), column(rows + kLanes);
  for (int j = 0; j < tree.nv; ++j) {
    unit.resize_zero(tree.slot_count);
    unit.at(0, tree.slot[j]) = 1;
    problem.touches.velocities(tree, stages_of(model, record).kin, unit, touches.data());
    row_velocities(problem, touches.data(), column.data());
    J.col(j) = Eigen::Map<const VecX>(column.data(), rows);
  }
  return -(J * z);
}

// A step's result hardly ever depends on e₂, so it is looked at by itself.
TEST(ParameterGradients, ColumnsOfTheSecondPointAgreeWithDifferences) {
  int checked = 0;
  const auto check = [&](std::mt19937_64& random) {
    const ConstrainedCase at = random_solids_case(random);
    StepRecord record, moved_record;
    step(at.model, at.state, at.control, at.options, record, nullptr);
    StepLinearization linearization;
    if (!can_be_judged(record) || !linearize(at.model, record, record.modes, {.impulses = true}, linearization)) return;
    if (!linearization.has_null) return;
    const StepParameters parameters(at.model, parameter_names(at.model));
    const auto rows = static_cast<Eigen::Index>(record.f.size());
    const VecX here = second_point(at.model, record, linearization);
    ParameterColumns columns;
    columns.start(at.model, record, linearization);
    DisplacedStep sizes;
    sizes.start(at.model, record);
    for (int k = 0; k < parameters.size(); ++k) {
      const std::string& name = parameters.names()[k];
      const double size = sizes.size_of(name);
      if (size == 0 || sizes.directions_of(name, 1e-3 * size) != Directions::both) continue;
      bool switched = false;
      const MatX numeric = central_difference(
          [&](const VecX& share) -> VecX {
            Model model = at.model;
            set_parameter(model, name, parameter(at.model, name) + share[0] * size);
            step(model, at.state, at.control, at.options, moved_record, nullptr);
            switched = switched || has(mode_switch(at.model, record, model, moved_record), ModeSwitch::constraints);
            return switched ? here : second_point(model, moved_record, linearization);
          },
          1, 1e-5);
      if (switched) continue;
      const ParameterColumn& x = columns.column(at.model, record, linearization, parameters.entries()[k]);
      const VecX analytic = Eigen::Map<const VecX>(x.e2.data(), rows);
      EXPECT_LE(relative_error(size * analytic, numeric, 0.1 * here.cwiseAbs().maxCoeff()), 1e-8) << name;
      if (numeric.cwiseAbs().maxCoeff() > 0.1 * here.cwiseAbs().maxCoeff()) ++checked;
    }
  };
  for_random_cases(60, check);
  if (few_cases()) return;
  EXPECT_GE(checked, 100);
}

// The column of one parameter at this step, [∂q⁺; ∂v⁺].
VecX column_of(const ConstrainedCase& at, const std::string& name) {
  StepRecord record;
  step(at.model, at.state, at.control, at.options, record, nullptr);
  StepParameterJacobian jacobian;
  step_parameter_jacobian(at.model, record, jacobian, {.parameters = StepParameters(at.model, {name})});
  VecX column(2 * at.model.nv());
  column << jacobian.dqnext, jacobian.dvnext;
  return column;
}

// Springs, dampers and armature that are not there yet: differences cannot be taken around zero, but the derivative is that of
// an ever weaker one.
TEST(ParameterGradients, OfWhatIsZeroAreTheLimitsFromAbove) {
  int checked = 0;
  for_random_cases(100, [&](std::mt19937_64& random) {
    ConstrainedCase at = random_constrained_case(random, {.max_dofs = 8, .contacts = false, .loops = false});
    const JointIndex index(uniform_int(random, 0, static_cast<int>(at.model.joints().size()) - 1));
    for (const char* attribute : {"stiffness", "damping", "armature"}) {
      const std::string name = "joint/" + at.model.joints()[index].name + "/" + attribute;
      const auto column_at = [&](double value) {
        set_parameter(at.model, name, value);
        return column_of(at, name);
      };
      const VecX none = column_at(0);
      const VecX limit = 2 * column_at(1e-6) - column_at(2e-6);
      EXPECT_LE(relative_error(none, limit), 1e-7) << name;
      if (limit.cwiseAbs().maxCoeff() > 1e-3) ++checked;
    }
  });
  if (few_cases()) return;
  EXPECT_GE(checked, 100);
}

// A box that slides along x, alone on a plane.
ConstrainedCase sliding_box(double friction_box, double friction_ground) {
  ModelBuilder builder;
  builder.add_shape("world", {.name = "ground", .geometry = Plane{}, .material = {.friction = friction_ground}});
  builder.add_body("world", {.name = "box", .inertia = SpatialInertia::box(2, {0.4, 0.4, 0.2})}, free_joint("box"));
  builder.add_shape("box", {.name = "box", .geometry = Box{{0.2, 0.2, 0.1}}, .material = {.friction = friction_box}});
  ConstrainedCase at{builder.build(), {}, {}, {}};
  at.state = {neutral_configuration(at.model), VecX::Zero(6)};
  at.state.q[2] = 0.1;
  at.state.v[0] = 1;
  return at;
}

TEST(ParameterGradients, OfASlidingBoxAreThoseOfTheTextbook) {
  // v⁺ = v − μ g Δt with μ = 2μ_aμ_b/(μ_a + μ_b), whatever the mass.
  const ConstrainedCase at = sliding_box(0.3, 0.6);
  const double h = at.options.time_step;
  const auto by = [&](const std::string& name) { return column_of(at, name)[6]; };
  EXPECT_NEAR(by("shape/box/friction"), -9.81 * h * 2 * std::pow(0.6 / 0.9, 2), 1e-12);
  EXPECT_NEAR(by("shape/ground/friction"), -9.81 * h * 2 * std::pow(0.3 / 0.9, 2), 1e-12);
  EXPECT_NEAR(by("gravity/z"), 0.4 * h, 1e-12);
  EXPECT_NEAR(by("gravity/x"), h, 1e-12);
  EXPECT_NEAR(by("body/box/mass"), 0, 1e-14);
  EXPECT_NEAR(by("time_step"), -0.4 * 9.81, 1e-10);
}

TEST(ParameterGradients, OfABouncingBallAreThoseOfTheTextbook) {
  ModelBuilder builder;
  builder.add_shape("world", {.name = "ground", .geometry = Plane{}, .material = {.restitution = 0.5}});
  builder.add_body("world", {.name = "ball", .inertia = SpatialInertia::sphere(2, 0.1)}, free_joint("ball"));
  builder.add_shape("ball", {.name = "ball", .geometry = Sphere{0.1}, .material = {.restitution = 0.5}});
  ConstrainedCase at{builder.build(), {}, {}, {}};
  at.state = {neutral_configuration(at.model), VecX::Zero(6)};
  at.state.q[2] = 0.1 - 1e-4;
  at.state.v[2] = -3;
  // v⁺ = −max(e_a, e_b) v: where they are equal, half to each.
  EXPECT_NEAR(column_of(at, "shape/ball/restitution")[8], 1.5, 1e-12);
  EXPECT_NEAR(column_of(at, "shape/ground/restitution")[8], 1.5, 1e-12);
  set_parameter(at.model, "shape/ball/restitution", 0.7);
  EXPECT_NEAR(column_of(at, "shape/ball/restitution")[8], 3, 1e-12);
  EXPECT_EQ(column_of(at, "shape/ground/restitution")[8], 0);
}

TEST(ParameterGradients, AreZeroForWhatAStepDoesNotDependOn) {
  ConstrainedCase at = sliding_box(0.3, 0.6);
  ModelBuilder builder = builder_of(at.model);
  for (const Shape& shape : at.model.shapes()) builder.add_shape(at.model.bodies()[shape.body].name, shape);
  builder.add_frame("box", {.name = "tip", .placement = Pose::translation(1, 0, 0)});
  builder.add_motor("box.x", velocity_motor("winch", 10, 3));
  at.model = builder.build();
  for (const char* name : {"frame/tip/x", "shape/box/margin", "motor/winch/target", "motor/winch/damping",
                           "motor/winch/max_effort", "joint/box.x/velocity_limit", "joint/box.x/upper"}) {
    EXPECT_TRUE(column_of(at, name).isZero(0)) << name;
  }
}

TEST(ParameterGradients, OfAMotorsGainsAndTargetAreMultiplesOfOneAnother) {
  // Each moves one row's equation and nothing else. Two hinged slabs slide on eight corners, so that the choice of impulses matters, too;
  // a soft motor between them has a row of A that is millions of times as large as those of the corners.
  const Box slab{Vec3(0.2, 0.1, 0.05)};
  const Material rough{.friction = 0.5};
  ModelBuilder builder;
  add_ground(builder, rough);
  add_free_solid(builder, "front", 1, slab, Pose::translation(0, 0, 0.05), rough);
  builder.add_body("front", {.name = "back", .inertia = solid_inertia(1, slab)},
                   revolute("hinge", Vec3::UnitY(), Pose::translation(-0.45, 0, 0)));
  builder.add_shape("back", {.name = "back", .geometry = slab, .material = rough});
  builder.add_motor("hinge", position_servo("soft", 1e9, 0.1, 1e-3));
  const Model model = builder.build();
  State state = {neutral_configuration(model), VecX::Zero(model.nv())};
  state.v.head<2>() << 0.3, 0.7;
  state.v[5] = 2;
  StepOptions options;
  options.time_step = 1e-3;
  StepRecord record;
  step(model, state, {.motor_targets = VecX::Constant(1, 0.03)}, options, record, nullptr);
  ASSERT_TRUE(record.status.solved());
  StepParameterJacobian jacobian;
  step_parameter_jacobian(
      model, record, jacobian,
      {.parameters = StepParameters(model, {"motor/soft/target", "motor/soft/stiffness", "motor/soft/damping"})});
  EXPECT_TRUE(jacobian.report.null_space_term);
  const VecX target = jacobian.df.col(0);
  for (const int other : {1, 2}) {
    const VecX gain = jacobian.df.col(other);
    const VecX multiple = gain.dot(target) / target.squaredNorm() * target;
    EXPECT_LE((gain - multiple).cwiseAbs().maxCoeff(), 1e-13 * gain.cwiseAbs().maxCoeff());
  }
}

TEST(ParameterGradients, RefuseUnknownNamesAndOtherModels) {
  const ConstrainedCase at = sliding_box(0.3, 0.6);
  expect_error([&] { StepParameters(at.model, {"shape/box/fricton"}); }, "shape/box/friction");
  expect_error([&] { StepParameters(at.model, {"time_stap"}); }, "time_step");
  const ConstrainedCase other = sliding_box(0.3, 0.6);
  StepRecord record;
  step(at.model, at.state, at.control, at.options, record, nullptr);
  StepParameterJacobian jacobian;
  const StepParameters parameters(other.model, {"body/box/mass"});
  expect_error([&] { step_parameter_jacobian(at.model, record, jacobian, {.parameters = parameters}); },
               "another model");
}

TEST(ParameterGradients, AllocateNothingOnceWarm) {
  if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  for_random_cases(40, [&](std::mt19937_64& random) {
    const ConstrainedCase at = chance(random, 0.5) ? random_mechanism_case(random) : random_solids_case(random);
    StepRecord record;
    step(at.model, at.state, at.control, at.options, record, nullptr);
    const GradientOptions by_all = {.parameters = StepParameters(at.model, step_parameter_names(at.model))};
    StepParameterJacobian jacobian;
    step_parameter_jacobian(at.model, record, jacobian, by_all);
    const AllocationGuard guard;
    step_parameter_jacobian(at.model, record, jacobian, by_all);
    const long allocations = guard.count();
    EXPECT_EQ(allocations, 0);
  });
}

}  // namespace
}  // namespace lithe::test
