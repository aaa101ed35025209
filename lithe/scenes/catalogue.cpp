#include "lithe/scenes/catalogue.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <numbers>

#include "lithe/core/check.h"
#include "lithe/core/internal/suggest.h"
#include "lithe/scenes/paper/cartpole.h"
#include "lithe/scenes/paper/catapult.h"
#include "lithe/scenes/paper/jump_worm.h"
#include "lithe/scenes/robots/chain.h"
#include "lithe/scenes/robots/drone.h"
#include "lithe/scenes/robots/four_bar.h"
#include "lithe/scenes/robots/gripper.h"
#include "lithe/scenes/robots/half_cheetah.h"
#include "lithe/scenes/robots/humanoid.h"
#include "lithe/scenes/robots/pendulum.h"
#include "lithe/scenes/solids/balls.h"
#include "lithe/scenes/solids/free_bodies.h"
#include "lithe/scenes/solids/incline.h"
#include "lithe/scenes/solids/pile.h"
#include "lithe/scenes/solids/towers.h"

namespace lithe {

using namespace internal;

namespace {

constexpr int kMaxSize = 100000;

Scene swinging_pendulum() {
  Scene scene = at_rest(pendulum());
  set_initial(scene, "hinge", 1);
  return scene;
}

Scene swinging_double_pendulum() {
  Scene scene = at_rest(double_pendulum());
  set_initial(scene, "hinge_1", 2);
  set_initial(scene, "hinge_2", 1);
  return scene;
}

// Drawn aside by a right angle at the top.
Scene swinging_chain(int links) {
  Scene scene = at_rest(chain(links));
  set_initial(scene, "joint_0", std::numbers::pi / 2);
  return scene;
}

Scene tumbling() {
  Scene scene = at_rest(tumbling_body());
  const Joint& ball = scene.model.joints()[scene.model.joint("box.ball")];
  scene.v.segment<3>(ball.v_index) = Vec3(0.01, 5, 0);  // about the middle axis, nearly
  return scene;
}

struct Entry {
  std::string_view name;
  std::string_view description;
  int size;  // unless told otherwise; 0: there is but one
  Scene (*make)(int size);
};

constexpr Entry kScenes[] = {
    {"ball_and_wall", "a ball bounces off the ground and a wall", 0, [](int) { return ball_and_wall(); }},
    {"bouncing_ball", "a ball falls from 1 m and bounces with e = 0.8", 0, [](int) { return bouncing_ball(); }},
    {"boxes", "a grid of boxes that rest on the ground", 9, boxes_on_ground},
    {"cartpole", "a pole on a cart falls over", 0, [](int) { return leaning_cartpole(); }},
    {"catapult", "a box falls onto an arm that could throw it", 0, [](int) { return armed_catapult(); }},
    {"chain", "a chain of capsules swings from the horizontal", 16, swinging_chain},
    {"double_cartpole", "two poles hang from a cart that could swing them up", 0,
     [](int) { return hanging_double_cartpole(); }},
    {"double_pendulum", "two rods swing chaotically", 0, [](int) { return swinging_double_pendulum(); }},
    {"drone", "a drone on a vertical rail rests on the ground", 0, [](int) { return resting_drone(); }},
    {"equal_balls", "equal balls meet head-on and swap their velocities", 0, [](int) { return two_balls(1, 1); }},
    {"four_bar", "a motor turns the crank of a four-bar linkage", 0, [](int) { return driven_four_bar(); }},
    {"gripper", "a gripper with one motor for both fingers lifts a cube", 0, [](int) { return gripper_with_cube(); }},
    {"half_cheetah", "the half cheetah lands on its feet", 0, [](int) { return half_cheetah_on_ground(); }},
    {"humanoid", "a 33-DoF humanoid stands on the ground", 0, [](int) { return standing_humanoid(); }},
    {"incline", "a block slides down a slope of 20° with μ = 0.3", 0,
     [](int) { return incline(20 * std::numbers::pi / 180, 0.3); }},
    {"jump_worm", "a worm of four boxes falls on its bent end", 0, [](int) { return falling_jump_worm(); }},
    {"mass_ratio", "a heavy box on a light one, and the other way round", 1000, [](int n) { return mass_ratio(n); }},
    {"pendulum", "a pendulum swings", 0, [](int) { return swinging_pendulum(); }},
    {"pile", "solids of five shapes fall into a pit", 12, pile},
    {"reflected_ball", "a ball is reflected by the ground without loss", 0, [](int) { return reflected_ball(); }},
    {"rolling_sphere", "a ball slides until it rolls", 0, [](int) { return rolling_sphere(); }},
    {"sliding_cube", "a cube slides to rest, so many degrees from the x axis", 30,
     [](int degrees) { return sliding_cube(degrees * std::numbers::pi / 180); }},
    {"stack", "boxes stand one on top of the other", 20, stack},
    {"tumbling_body", "a free box turns about its middle axis, and over", 0, [](int) { return tumbling(); }},
    {"two_balls", "balls of 1 and 3 kg meet head-on without loss", 0, [](int) { return two_balls(); }},
    {"wall", "a wall of bricks stands on the ground", 9, wall},
};

const Entry& entry_named(std::string_view name) {
  const auto found = std::ranges::find(kScenes, name, &Entry::name);
  if (found == std::end(kScenes)) {
    std::vector<std::string_view> known;
    for (const Entry& entry : kScenes) known.push_back(entry.name);
    LITHE_CHECK(false, "there is no scene named '{}'{}", name, did_you_mean(name, known));
  }
  return *found;
}

int parsed_size(std::string_view text, std::string_view name) {
  int size = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), size);
  LITHE_CHECK(error == std::errc() && end == text.data() + text.size() && size >= 1 && size <= kMaxSize,
              "scene '{}': '{}' is no size; it must be a whole number from 1 to {}", name, text, kMaxSize);
  return size;
}

}  // namespace

std::vector<std::string> scene_names() {
  std::vector<std::string> names;
  for (const Entry& entry : kScenes) names.emplace_back(entry.name);
  return names;
}

std::string scene_description(std::string_view name) { return std::string(entry_named(name).description); }

Scene scene(std::string_view name) {
  const std::size_t colon = name.find(':');
  const Entry& entry = entry_named(name.substr(0, colon));
  if (colon == std::string_view::npos) return entry.make(entry.size);
  LITHE_CHECK(entry.size > 0, "scene '{}' comes in one size only: leave '{}' away", entry.name, name.substr(colon));
  return entry.make(parsed_size(name.substr(colon + 1), name));
}

}  // namespace lithe
