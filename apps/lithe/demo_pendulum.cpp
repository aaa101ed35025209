#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <random>
#include <vector>

#include "apps/lithe/braille.h"
#include "apps/lithe/demo.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/energy.h"
#include "lithe/dynamics/forward_dynamics.h"
#include "lithe/scenes/pendulum.h"

namespace lithe::cli {

namespace {

constexpr double kDuration = 20.0;  // s
constexpr double kTimeStep = 1e-3;
constexpr double kNudge = 1e-6;  // rad, between the two releases that show the chaos

// From violet to yellow, as in the plasma colour map.
constexpr std::uint8_t kTimeColours[] = {54, 91, 127, 163, 199, 204, 209, 214, 220, 226};
constexpr std::uint8_t kRodColour = 255;

struct State {
  VecX q, v;
};

class Pendulum {
 public:
  // One step of the classical Runge–Kutta method. Both joints are hinges, so q is a plain vector.
  void step(State& x, double h) {
    const VecX a1 = acceleration(x.q, x.v);
    const VecX v2 = x.v + h / 2 * a1;
    const VecX a2 = acceleration(x.q + h / 2 * x.v, v2);
    const VecX v3 = x.v + h / 2 * a2;
    const VecX a3 = acceleration(x.q + h / 2 * v2, v3);
    const VecX v4 = x.v + h * a3;
    const VecX a4 = acceleration(x.q + h * v3, v4);
    x.q += h / 6 * (x.v + 2 * v2 + 2 * v3 + v4);
    x.v += h / 6 * (a1 + 2 * a2 + 2 * a3 + a4);
  }

  double energy(const State& x) {
    kinematics(model_, x.q, x.v, kin_);
    return kinetic_energy(model_, kin_) + potential_energy(model_, kin_);
  }

  // Of the first bob (1) or the second (2), in the plane y = 0.
  Vec3 tip(const State& x, int bob) {
    kinematics(model_, x.q, kin_);
    return frame_pose(model_, kin_, bob == 1 ? tip_1_ : tip_2_).p;
  }

 private:
  VecX acceleration(const VecX& q, const VecX& v) {
    kinematics(model_, q, v, kin_);
    aba(model_, kin_, no_torque_, fd_);
    return fd_.a;
  }

  const VecX no_torque_ = VecX::Zero(2);
  const Model model_ = double_pendulum().build();
  const FrameIndex tip_1_ = model_.frame("tip_1");
  const FrameIndex tip_2_ = model_.frame("tip_2");
  Kinematics kin_;
  ForwardDynamics fd_;
};

// Both rods above the horizontal, at rest: enough energy for chaos.
State release(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  State x{VecX(2), VecX::Zero(2)};
  x.q << std::copysign(2.7, uniform(random)) + 0.3 * uniform(random), uniform(random);
  return x;
}

struct Swing {
  std::vector<Vec3> path;  // of the second bob
  State end;
  double energy_drift = 0;  // largest, relative to the energy needed to lift both bobs to the top
  double seconds = 0;       // of computing
};

Swing swing(Pendulum& pendulum, State x) {
  const double scale = 6 * kPendulumMass * 9.81 * kPendulumLength;
  const double start_energy = pendulum.energy(x);
  const int steps = static_cast<int>(kDuration / kTimeStep);
  Swing result;
  for (int i = 0; i < steps; ++i) {
    const auto start = std::chrono::steady_clock::now();
    pendulum.step(x, kTimeStep);
    result.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    result.path.push_back(pendulum.tip(x, 2));
    result.energy_drift = std::max(result.energy_drift, std::abs(pendulum.energy(x) - start_energy) / scale);
  }
  result.end = x;
  return result;
}

// The path, coloured by time, with the pendulum as it is at the end.
BrailleCanvas picture(Pendulum& pendulum, const Swing& swing) {
  BrailleCanvas canvas(70, 24);
  const double dots_per_metre = (canvas.height() - 2) / (4 * kPendulumLength);
  const auto column = [&](const Vec3& p) { return canvas.width() / 2 + dots_per_metre * p.x(); };
  const auto row = [&](const Vec3& p) { return canvas.height() / 2 - dots_per_metre * p.z(); };
  const auto line = [&](const Vec3& from, const Vec3& to, std::uint8_t colour) {
    canvas.line(column(from), row(from), column(to), row(to), colour);
  };
  for (std::size_t i = 1; i < swing.path.size(); ++i) {
    line(swing.path[i - 1], swing.path[i], kTimeColours[i * std::size(kTimeColours) / swing.path.size()]);
  }
  const Vec3 elbow = pendulum.tip(swing.end, 1);
  line(Vec3::Zero(), elbow, kRodColour);
  line(elbow, swing.path.back(), kRodColour);
  return canvas;
}

}  // namespace

void show_double_pendulum(std::uint64_t seed, bool coloured) {
  Pendulum pendulum;
  const State start = release(seed);
  State nudged = start;
  nudged.q[0] += kNudge;
  const Swing first = swing(pendulum, start);
  const Swing second = swing(pendulum, nudged);

  fmt::print("A double pendulum, released at ({:.2f}, {:.2f}) rad: {:.0f} s of its tip's path\n\n", start.q[0],
             start.q[1], kDuration);
  fmt::print("{}\n", picture(pendulum, first).text(coloured));
  fmt::print("  computed in        {:.0f} ms ({:.0f} steps of Runge–Kutta with the articulated-body algorithm)\n",
             1e3 * first.seconds, kDuration / kTimeStep);
  fmt::print("  energy drift       {:.1e} of what it takes to stand it upside down\n", first.energy_drift);
  fmt::print("  chaos              released {:.0e} rad further, its tip ends {:.2f} m away\n", kNudge,
             (first.path.back() - second.path.back()).norm());
}

}  // namespace lithe::cli
