#include <fmt/format.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <fuzzer/FuzzedDataProvider.h>
#include <limits>
#include <string>
#include <vector>

#include "lithe/core/check.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/centroidal.h"
#include "lithe/dynamics/energy.h"
#include "lithe/dynamics/forward_dynamics_derivatives.h"
#include "lithe/dynamics/internal/inverse_factor.h"
#include "lithe/dynamics/jacobians.h"
#include "lithe/dynamics/regressor.h"
#include "lithe/model/configuration.h"
#include "lithe/model/model_builder.h"
#include "lithe/model/parameters.h"

// Bytes become the description of a model, often a broken one: names that collide or lead nowhere, cycles, numbers that
// are not finite, huge or no rotation at all. Building it gives a lithe::Error or a model on which everything runs, and
// where all numbers are moderate, so are the results. Writing parameters works or changes nothing.
namespace lithe {

using namespace internal;
namespace {

constexpr int kMostBodies = 16;
constexpr int kMostJoints = 5;  // of one body
constexpr double kModerate = 1e6;

void require(bool condition, const char* what) {
  if (condition) return;
  fmt::print(stderr, "fuzz_model: {}\n", what);
  std::abort();
}

// Runs the action; false if it was refused. Whatever else it throws is a finding.
template <class Action>
bool accepted(Action action) {
  try {
    action();
    return true;
  } catch (const Error& error) {
    require(*error.what() != '\0', "an Error without a text");
    return false;
  }
}

class Description {
 public:
  Description(const std::uint8_t* data, std::size_t size) : bytes_(data, size), wild_(bytes_.ConsumeBool()) {}

  bool flag() { return bytes_.ConsumeBool(); }
  int below(int count) { return bytes_.ConsumeIntegralInRange(0, count - 1); }
  // Seldom true.
  bool mischief() { return below(32) == 31; }

  // Every number so far was below kModerate, every mass at least 1/kModerate or zero.
  bool moderate() const { return moderate_; }

  double number() {
    const double x = any_number();
    if (!(std::abs(x) < kModerate)) moderate_ = false;
    return x;
  }
  double mass() {
    const double x = mischief() ? number() : std::abs(number());
    if (x != 0 && !(x > 1 / kModerate)) moderate_ = false;
    return x;
  }
  Vec3 vec3() { return Vec3(number(), number(), number()); }
  VecX vector(int size) {
    return VecX::NullaryExpr(size, [&] { return number(); });
  }

  Pose pose() {
    Pose pose = {Mat3::Identity(), flag() ? Vec3::Zero() : vec3()};
    if (flag()) pose.R = rotation_exp(vec3());
    if (mischief()) pose.R(below(3), below(3)) = number();
    return pose;
  }

  SpatialInertia inertia() {
    const double m = mass();
    if (mischief()) return {};
    switch (below(8)) {
      case 0: return SpatialInertia::point(m, vec3());
      case 1:
      case 2: return SpatialInertia::sphere(m, number());
      default: return SpatialInertia::box(m, vec3()).in(pose());
      case 7: {
        Vec10 parameters = vector(10);
        parameters[0] = m;
        return SpatialInertia::from_parameters(parameters);
      }
    }
  }

  // From a small set, so that names meet.
  std::string name() {
    if (mischief()) return bytes_.ConsumeRandomLengthString(8);
    return std::string(1, static_cast<char>('a' + below(kMostBodies)));
  }
  std::string body_name() { return below(4) == 0 ? "world" : name(); }
  std::string new_name(int i) { return mischief() ? name() : std::string(1, static_cast<char>('a' + i)); }

  JointList joints(const std::string& name) {
    switch (below(8)) {
      case 0: return weld();
      case 1: return free_joint(name, pose());
      case 2: return planar(name, pose());
      case 3: return euler(name, vec3(), vec3(), vec3(), pose());
      case 4: return ball(name, pose());
      case 5: return cylindrical(name, vec3(), pose());
      default: break;
    }
    JointList list;
    const int count = 1 + below(kMostJoints);
    for (int i = 0; i < count; ++i) list.push_back(joint(mischief() ? name : fmt::format("{}{}", name, i)));
    return list;
  }

  Shape shape() {
    Shape shape{.name = name(), .placement = pose()};
    switch (below(6)) {
      case 0: shape.geometry = Sphere{number()}; break;
      case 1: shape.geometry = Capsule{number(), number()}; break;
      case 2: shape.geometry = Box{vec3()}; break;
      case 3: shape.geometry = Cylinder{number(), number()}; break;
      case 4: shape.geometry = Plane{}; break;
      default: shape.geometry = ConvexMesh{std::vector<Vec3>(below(6), vec3())}; break;
    }
    shape.material = {number(), number()};
    return shape;
  }

  Joint joint(const std::string& name) {
    static constexpr std::array kTypes = {JointType::revolute, JointType::prismatic, JointType::screw, JointType::ball};
    Joint joint;
    joint.name = name;
    joint.type = kTypes[below(4)];
    joint.axis = vec3();
    if (joint.type == JointType::screw) joint.pitch = number();
    if (flag()) joint.placement = pose();
    if (flag()) joint.armature = mass();
    if (mischief()) joint.lower = number();
    if (mischief()) joint.upper = number();
    return joint;
  }

 private:
  double any_number() {
    switch (below(16)) {
      case 0: return 0;
      case 1: return -1;
      case 2: return 1;
      case 3: return below(100);
      case 4: return 1e-3 * below(1000);
      case 5: return kPi / 2 * (below(9) - 4);
      case 6: return std::ldexp(1 + below(100), wild_ ? below(120) - 60 : below(32) - 19);
      case 7: return wild_ && mischief() ? std::bit_cast<double>(bytes_.ConsumeIntegral<std::uint64_t>()) : 0.5;
      case 8: return wild_ && mischief() ? kOdd[below(kOdd.size())] : 2;
      default: return 0.01 * (bytes_.ConsumeIntegral<std::int8_t>());
    }
  }

  static constexpr double kPi = 3.14159265358979323846;
  static constexpr std::array kOdd = {std::numeric_limits<double>::quiet_NaN(),
                                      std::numeric_limits<double>::infinity(),
                                      -std::numeric_limits<double>::infinity(),
                                      std::numeric_limits<double>::max(),
                                      std::numeric_limits<double>::min(),
                                      std::numeric_limits<double>::denorm_min(),
                                      -0.0,
                                      1e200};

  FuzzedDataProvider bytes_;
  bool wild_;  // numbers of any size
  bool moderate_ = true;
};

ModelBuilder describe(Description& d) {
  ModelBuilder builder;
  if (d.flag()) accepted([&] { builder.set_gravity(d.vec3()); });
  const int bodies = 1 + d.below(kMostBodies);
  std::vector<std::string> names = {"world"};
  for (int i = 0; i < bodies; ++i) {
    Body body{.name = d.new_name(i), .inertia = d.inertia()};
    if (d.flag()) body.placement = d.pose();
    body.allow_unphysical_inertia = d.mischief();
    const std::string known = d.flag() ? names.back() : names[d.below(static_cast<int>(names.size()))];
    const std::string parent = d.mischief() ? d.body_name() : known;
    const JointList joints = d.joints(body.name + "_");
    if (accepted([&] { builder.add_body(parent, body, joints); })) names.push_back(body.name);
  }
  while (d.mischief()) accepted([&] { builder.add_shape(d.body_name(), d.shape()); });
  while (d.mischief()) accepted([&] { builder.add_frame(d.body_name(), {.name = d.name(), .placement = d.pose()}); });
  if (d.mischief()) builder.set_collision(d.body_name(), d.body_name(), d.flag());
  if (d.mischief()) accepted([&] { builder.add(builder, d.name(), d.body_name(), d.pose()); });
  return builder;
}

bool same_bits(const VecX& a, const VecX& b) {
  return std::ranges::equal(a, b, {}, std::bit_cast<std::uint64_t, double>, std::bit_cast<std::uint64_t, double>);
}

// A write either takes place or leaves everything as it was.
void write_parameters(Description& d, Model& model) {
  const std::vector<std::string> names = parameter_names(model);
  for (int i = d.below(4); i > 0; --i) {
    const std::string name = d.mischief() ? d.name() : names[d.below(static_cast<int>(names.size()))];
    const double value = name.ends_with("/mass") || name.ends_with("/armature") ? d.mass() : d.number();
    const VecX before = parameters(model, names);
    if (accepted([&] { set_parameter(model, name, value); })) {
      require(same_bits(VecX::Constant(1, parameter(model, name)), VecX::Constant(1, value)), "a write got lost");
    } else {
      require(same_bits(parameters(model, names), before), "a refused write changed the model");
    }
  }
}

// Asks everything there is to ask. Returns whether all answers are finite.
bool run_dynamics(Description& d, const Model& model) {
  const VecX q = d.flag() ? neutral_configuration(model) : d.vector(model.nq());
  const VecX v = d.vector(model.nv()), a = d.vector(model.nv()), tau = d.vector(model.nv());
  ExternalWrenches wrenches;
  while (d.mischief()) wrenches.push_back({BodyIndex(d.below(kMostBodies + 1)), Vec6(d.vector(6))});

  Kinematics kin;
  InverseDynamics id;
  InverseDynamicsDerivatives did;
  MassMatrix M;
  MassFactor factor;
  InverseFactor X;
  ForwardDynamics fd;
  ForwardDynamicsDerivatives dfd;
  kinematics(model, q, v, kin);
  rnea(model, kin, a, id, wrenches);
  rnea_derivatives(model, kin, id, did, wrenches);
  mass_matrix(model, kin, M);
  factorize(model, M, factor);
  invert(model, factor, X);
  VecX x(model.nv()), y = tau;
  solve(model, X, tau, x);
  solve_in_place(model, factor, y);
  aba(model, kin, tau, fd, wrenches);
  bool finite = id.tau.allFinite() && did.dtau_dq.allFinite() && did.dtau_dv.allFinite() &&
                M.dense(model).allFinite() && x.allFinite() && y.allFinite() && fd.a.allFinite();
  if (!fd.a.allFinite()) return false;
  aba_derivatives(model, kin, fd, dfd, wrenches);
  finite = finite && dfd.da_dq.allFinite() && dfd.da_dv.allFinite() && dfd.da_dtau.allFinite();

  Mat6X J;
  MatX Y;
  Centroidal c;
  const BodyIndex body(d.below(static_cast<int>(model.bodies().size())));
  body_jacobian(model, kin, body, J);
  inertial_regressor(model, kin, id, Y);
  accepted([&] { centroidal(model, kin, c); });
  return finite && J.allFinite() && Y.allFinite() && body_acceleration(model, kin, id, body).allFinite() &&
         std::isfinite(kinetic_energy(model, kin) + potential_energy(model, kin));
}

void fuzz(const std::uint8_t* data, std::size_t size) {
  Description d(data, size);
  const ModelBuilder builder = describe(d);
  accepted([&] {
    Model model = builder.build();
    write_parameters(d, model);
    const bool finite = run_dynamics(d, model);
    require(finite || !d.moderate(), "moderate numbers gave a result that is not finite");
  });
}

}  // namespace
}  // namespace lithe

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  lithe::fuzz(data, size);
  return 0;
}
