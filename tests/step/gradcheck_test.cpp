#include "lithe/step/gradcheck.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "lithe/model/configuration.h"
#include "lithe/model/parameters.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/solids/solids.h"
#include "lithe/step/step.h"
#include "tests/support/gradcheck_scenes.h"
#include "tests/support/mode_tally.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"
#include "tests/support/step_worlds.h"

// All derivatives of the step against differences of the step, on random scenes that meet every kind of joint, shape,
// constraint and mode, and on the scenes of the catalogue.
namespace lithe::test {
namespace {

constexpr int kSceneCount = 5000;
constexpr int kShards = 10;  // tests that can run side by side
constexpr double kLargestSceneError = 1e-5;
constexpr double kMedianError = 1e-8;
// Vector products and blocks differ by rounding only.
constexpr double kProductError = 1e-12;

// The seeds of one shard: every kShards-th.
std::vector<std::uint64_t> seeds_of_shard(int shard) {
  std::vector<std::uint64_t> seeds;
  const std::uint64_t last = static_cast<std::uint64_t>(scaled(kSceneCount));
  for (std::uint64_t seed = shard + 1; seed <= last; seed += kShards) {
    if (only_seed() == 0 || seed == only_seed()) seeds.push_back(seed);
  }
  return seeds;
}

GradcheckScene scene_of(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return random_gradcheck_scene(random);
}

std::string parts_of(const GradcheckScene& scene) {
  std::string text;
  for (const std::string& part : scene.parts) text += "\n    " + part;
  return text;
}

constexpr std::array kSwitches = {ModeSwitch::constraints, ModeSwitch::targets, ModeSwitch::normals,
                                  ModeSwitch::friction,    ModeSwitch::joints,  ModeSwitch::solver};
constexpr std::array kSwitchNames = {"constraints", "targets", "normals", "friction", "joints", "solver"};

// What came out of many scenes.
class Findings {
 public:
  void add(const GradcheckResult& result) {
    count_.count("scenes");
    if (has(result.report.lcp_flags, LcpFlag::tied)) count_.count("left out: tied");
    if (has(result.report.lcp_flags, LcpFlag::targets_dropped)) count_.count("left out: targets dropped");
    if (has(result.report.lcp_flags, LcpFlag::unpolished)) count_.count("left out: unpolished");
    if (has(result.report.lcp_flags, LcpFlag::unsolved)) count_.count("left out: unsolved");
    largest_product_error_ = std::max({largest_product_error_, result.vjp_error, result.jvp_error});
    if (!result.comparable()) return count_.count("left out");
    count_.count("compared");
    count_.count("columns", result.columns);
    count_.count("columns switched", result.switched);
    count_.count("columns refused", result.refused);
    count_.count("blocks' columns unsettled", result.unsettled);
    if (result.switched > 0) count_.count("scenes with switched columns");
    for (std::size_t k = 0; k < kSwitches.size(); ++k) {
      if (has(result.switches, kSwitches[k])) count_.count(fmt::format("switched: {}", kSwitchNames[k]));
    }
    // A report that warns of a kink where there is none is as wrong as one that does not warn.
    if (result.report.one_sided && result.switched == 0) count_.count("one-sided without a switch");
    for (int b = 0; b < kGradcheckBlocks; ++b) {
      if (result.blocks[b].compared) errors_[b].push_back(result.blocks[b].error);
    }
  }

  void print() {
    fmt::print("{}", count_.table());
    for (int b = 0; b < kGradcheckBlocks; ++b) {
      std::vector<double>& errors = errors_[b];
      if (errors.empty()) continue;
      const double largest = *std::max_element(errors.begin(), errors.end());
      fmt::print("  {:<20} median {:.1e}  largest {:.1e}  of {}\n", to_string(static_cast<GradcheckBlock>(b)),
                 median(errors), largest, errors.size());
    }
    fmt::print("  {:<20} {:>13} largest {:.1e}\n", "products", "", largest_product_error_);
  }

  void expect_good() {
    if (few_cases()) return;
    for (int b = 0; b < kGradcheckBlocks; ++b) {
      EXPECT_LE(median(errors_[b]), kMedianError) << to_string(static_cast<GradcheckBlock>(b));
    }
    const auto share = [&](const char* part, const char* whole) {
      return static_cast<double>(count_[part]) / static_cast<double>(std::max(count_[whole], 1L));
    };
    EXPECT_LE(share("left out", "scenes"), 0.1);
    EXPECT_LE(share("scenes with switched columns", "compared"), 0.1);
    EXPECT_LE(share("blocks' columns unsettled", "columns"), 0.03);
    EXPECT_LE(share("columns refused", "columns"), 0.01);
    EXPECT_LE(share("one-sided without a switch", "compared"), 0.001);
  }

 private:
  static double median(std::vector<double>& errors) {
    if (errors.empty()) return 0;
    const auto middle = errors.begin() + static_cast<std::ptrdiff_t>(errors.size() / 2);
    std::nth_element(errors.begin(), middle, errors.end());
    return *middle;
  }

  ModeTally count_;
  std::array<std::vector<double>, kGradcheckBlocks> errors_;
  double largest_product_error_ = 0;
};

// Each block of each result, with what it takes to find the place again.
void expect_small_errors(const GradcheckResult& result, const std::vector<std::string>& parameters) {
  for (int b = 0; b < kGradcheckBlocks; ++b) {
    const BlockCheck& check = result.blocks[b];
    const bool by_parameters = b >= static_cast<int>(GradcheckBlock::qnext_parameters);
    EXPECT_LE(check.error, kLargestSceneError)
        << to_string(static_cast<GradcheckBlock>(b)) << " (" << check.row << ", " << check.column << ")"
        << (by_parameters && check.column >= 0 ? " by " + parameters[check.column] : "") << ": analytic "
        << check.analytic << ", numeric " << check.numeric << ", doubt " << check.doubt;
  }
  EXPECT_LE(result.vjp_error, kProductError);
  EXPECT_LE(result.jvp_error, kProductError);
}

class RandomScenes : public testing::TestWithParam<int> {};

TEST_P(RandomScenes, HaveTheDerivativesThatDifferencesShow) {
  Findings findings;
  Gradcheck checker;
  StepRecord record;
  for (const std::uint64_t seed : seeds_of_shard(GetParam())) {
    const GradcheckScene scene = scene_of(seed);
    SCOPED_TRACE(fmt::format("run it again with LITHE_TEST_SEED={}{}", seed, parts_of(scene)));
    step(scene.model, scene.state, scene.control, scene.options, record);
    const GradcheckResult& result =
        checker.check(scene.model, record, StepParameters(scene.model, scene.parameters), {.seed = seed});
    findings.add(result);
    expect_small_errors(result, scene.parameters);
    if (HasFailure()) break;  // one seed is enough to look at
  }
  findings.print();
  if (!HasFailure()) findings.expect_good();
}

INSTANTIATE_TEST_SUITE_P(Shards, RandomScenes, testing::Range(0, kShards));

// Scenes further on, with what is rare among them.
TEST(RareScenes, HaveTheDerivativesThatDifferencesShow) {
  constexpr std::array<std::uint64_t, 8> kSeeds = {
      23263, 59596, 67162,         // points of a contact that are almost one
      24823, 30207, 61794, 62658,  // two shapes of equal size
      55439,                       // a cylinder across a small part of another's cap
  };
  Gradcheck checker;
  StepRecord record;
  for (const std::uint64_t seed : kSeeds) {
    const GradcheckScene scene = scene_of(seed);
    SCOPED_TRACE(fmt::format("seed {}{}", seed, parts_of(scene)));
    step(scene.model, scene.state, scene.control, scene.options, record);
    const GradcheckResult& result =
        checker.check(scene.model, record, StepParameters(scene.model, scene.parameters), {.seed = seed});
    EXPECT_TRUE(result.comparable());
    EXPECT_LE(result.max_error(), 1e-7);
  }
}

// The very scenes of the first test.
TEST(RandomScenesTogether, MeetEverythingAThousandTimes) {
  ModeTally modes, parameters;
  std::set<std::string> kinds;
  StepRecord record;
  for (int shard = 0; shard < kShards; ++shard) {
    for (const std::uint64_t seed : seeds_of_shard(shard)) {
      const GradcheckScene scene = scene_of(seed);
      step(scene.model, scene.state, scene.control, scene.options, record);
      if (record.status.flags != LcpFlag::none) continue;  // not compared there
      modes.add(scene, record);
      for (const std::string& name : parameter_names(scene.model)) kinds.insert(parameter_kind(name));
      for (const std::string& name : scene.parameters) parameters.count(parameter_kind(name));
    }
  }
  fmt::print("{}\n{}", modes.table(), parameters.table());
  if (few_cases()) return;
  for (const std::string& mode : ModeTally::expected()) EXPECT_GE(modes[mode], 1000) << mode;
  kinds.insert({"time_step", "motor/target"});
  for (const std::string& kind : kinds) EXPECT_GE(parameters[kind], 100) << kind;
}

// Forces for all DoFs, in proportion to the weight that they carry.
VecX random_forces(const Model& model, std::mt19937_64& random) {
  return random_vector(random, model.nv(), 0.3 * model.total_mass());
}

class CatalogueScenes : public testing::TestWithParam<const char*> {};

TEST_P(CatalogueScenes, HaveTheDerivativesThatDifferencesShow) {
  const Scene start = scene(GetParam());
  Findings findings;
  Gradcheck checker;
  for_random_cases(6, [&](std::mt19937_64& random) {
    World world = world_of(start);
    Control control = with_targets(start.motor_targets);
    for (int i = uniform_int(random, 1, 300); i > 0; --i) {
      control.tau = random_forces(start.model, random);
      world.step(control);
    }
    const GradcheckResult& result = checker.check(world.model(), world.record(), {}, {.seed = random()});
    findings.add(result);
    expect_small_errors(result, {});
  });
  findings.print();
}

INSTANTIATE_TEST_SUITE_P(Small, CatalogueScenes,
                         testing::Values("boxes:2", "chain:6", "four_bar", "gripper", "half_cheetah", "incline",
                                         "mass_ratio", "pendulum", "pile:2", "rolling_sphere", "stack:2",
                                         "tumbling_body"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), ':', '_');
                           return name;
                         });

TEST(Gradcheck, NoticesWrongDerivatives) {
  World world = world_of(scene("half_cheetah"));
  for (int i = 0; i < 100; ++i) world.step();
  const StepRecord& right = world.record();
  ASSERT_GT(right.f.size(), 0u);
  Gradcheck checker;
  const double rounding = checker.check(world.model(), right).max_error();  // of the differences
  ASSERT_LE(rounding, 5e-8);

  // What the derivatives are taken from is off by a thousandth. Differences read the inputs only.
  StepRecord impulse = right;
  for (double& f : impulse.f) f *= 1.001;
  EXPECT_GE(checker.check(world.model(), impulse).max_error(), 10 * rounding);
  StepRecord velocity = right;
  velocity.next.v *= 1.001;
  EXPECT_GE(checker.check(world.model(), velocity).max_error(), 10 * rounding);
}

TEST(Gradcheck, LeavesOutEverythingWhereTheModeIsNotTheSteps) {
  World world = world_of(scene("incline"));
  for (int i = 0; i < 20; ++i) world.step();
  StepRecord record = world.record();
  // A corner that sticks to nothing.
  std::replace(record.modes.begin(), record.modes.begin() + 3, RowMode::clamping, RowMode::separating);
  const GradcheckResult result = Gradcheck().check(world.model(), record);
  EXPECT_EQ(result.switched, result.columns);
  EXPECT_TRUE(has(result.switches, ModeSwitch::normals));
}

ModelBuilder ball_on_ground() {
  ModelBuilder builder;
  add_ground(builder);
  add_free_solid(builder, "ball", 1, Sphere{0.1}, Pose::translation(0, 0, 0.1));
  return builder;
}

TEST(Gradcheck, ComparesNothingAtATie) {
  // The ball touches the ground, weightless: neither pushes.
  const Model model = ball_on_ground().set_gravity(Vec3::Zero()).build();
  const GradcheckResult result = gradcheck(model, {neutral_configuration(model), VecX::Zero(6)});
  EXPECT_FALSE(result.comparable());
  EXPECT_TRUE(has(result.report.lcp_flags, LcpFlag::tied));
  for (const BlockCheck& block : result.blocks) EXPECT_FALSE(block.compared);
}

TEST(Gradcheck, ComparesNothingWhereADofMeetsNoResistance) {
  // Two ball joints in one place.
  ModelBuilder builder;
  builder.add_body("world", {.name = "outer"}, ball("outer"));
  builder.add_body("outer", {.name = "inner", .inertia = SpatialInertia::sphere(1, 0.1)}, ball("inner"));
  const Model model = builder.build();
  const GradcheckResult result = gradcheck(model, {neutral_configuration(model), VecX::Ones(6)});
  EXPECT_GE(result.singular_dof, 0);
  EXPECT_FALSE(result.comparable());
  for (const BlockCheck& block : result.blocks) EXPECT_FALSE(block.compared);
}

TEST(Gradcheck, LeavesOutColumnsThatSwitchHoweverSmallTheStep) {
  // Lifted but for 1e-11 N: no push upwards is small enough to stay.
  World world = world_of(ball_on_ground(), 1e-3);
  Control control;
  control.tau.setZero(6);
  control.tau[2] = kGravity - 1e-11;
  world.step(control);
  ASSERT_EQ(world.record().modes[0], RowMode::clamping);
  Gradcheck checker;
  const GradcheckResult& result = checker.check(world.model(), world.record());
  EXPECT_TRUE(result.comparable());
  EXPECT_GT(result.switched, 0);
  EXPECT_LT(result.switched, result.columns);
  EXPECT_TRUE(has(result.switches, ModeSwitch::normals));
  EXPECT_LE(result.max_error(), kLargestSceneError);  // of the others
}

TEST(Gradcheck, SaysWhichShareOfItsColumnsWasCompared) {
  const Model weightless = ball_on_ground().set_gravity(Vec3::Zero()).build();
  EXPECT_EQ(gradcheck(weightless, {neutral_configuration(weightless), VecX::Zero(6)}).share_compared(), 0);  // a tie
  World world = world_of(scene("double_pendulum"));
  for (int i = 0; i < 20; ++i) world.step();
  GradcheckResult result = Gradcheck().check(world.model(), world.record());
  EXPECT_EQ(result.share_compared(), 1);
  result.switched = 1;
  EXPECT_NEAR(result.share_compared(), 5.0 / 6, 1e-15);
  result.unsettled = 1;
  EXPECT_NEAR(result.share_compared(), 14.0 / 18, 1e-15);
}

TEST(Gradcheck, StopsWhereItIsAskedTo) {
  World world = world_of(scene("double_pendulum"));
  world.step();
  int steps = 0;
  const StepParameters parameters(world.model(), {"gravity/z"});
  const auto check = [&](int most) {
    steps = 0;
    return Gradcheck().check(world.model(), world.record(), parameters, {.stop = [&] { return steps++ == most; }});
  };
  EXPECT_FALSE(check(-1).stopped);
  for (const int after : {0, 1, steps / 2, steps - 1}) {  // at once, within a column, half way, within the parameter
    const GradcheckResult result = check(after);
    EXPECT_TRUE(result.stopped);
    EXPECT_EQ(steps, after + 1);  // nobody asks again
    EXPECT_EQ(result.share_compared(), 0);
    for (const BlockCheck& block : result.blocks) EXPECT_FALSE(block.compared);
  }
}

TEST(Gradcheck, CountsParametersThatTheModelLetsNobodyChange) {
  ModelBuilder builder;
  builder.add_body("world", {.name = "bob", .inertia = SpatialInertia::point(1, {0, 0, -1})},
                   revolute("hinge", Vec3::UnitY()));
  const Model model = builder.build();
  const StepParameters parameters(model, {"body/bob/Ixy", "body/bob/mass"});
  const GradcheckResult result = gradcheck(model, {VecX::Constant(1, 0.5), VecX::Zero(1)}, {}, {}, parameters);
  EXPECT_EQ(result.refused, 1);
  EXPECT_TRUE(result[GradcheckBlock::vnext_parameters].compared);
  EXPECT_LE(result.max_error(), 1e-8);
}

}  // namespace
}  // namespace lithe::test
