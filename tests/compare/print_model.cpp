#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <sstream>

#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/inverse_dynamics_derivatives.h"
#include "lithe/dynamics/mass_matrix.h"
#include "lithe/io/load.h"
#include "lithe/io/write_mjcf.h"

// print_model [--fixed-base] FILE [MJCF]: loads a robot and prints it as JSON, for programs that compare it with what other engines
// make of the same file. With a second name, the model is written there as MJCF. Standard input has one state per line: q, for which the
// poses of all bodies and frames and the mass matrix are printed, or q, v and a, for inverse dynamics and its derivatives as well.
//
//   {"name": …, "nq": …, "nv": …, "mass": …, "gravity": […], "time_step": …, "q": […], "bodies": [names], "frames": [names],
//    "joints": [{"name", "type", "body", "v_index", "lower", "upper"} …], "keyframes": [{"name", "q", "v"} …], "warnings": […],
//    "geoms": [names of the shapes of each] …, "controls": [{"kind", "dof", "motor", "lower", "upper", "scale", "offset", "gear"} …] (MJCF),
//    "motors": [{"q_index", "v_index", "stiffness", "damping", "max_effort"} …],
//    "states": [{"poses": [[R row by row, p] …], "frame_poses": […], "shape_poses": {name: pose …}, "M": […], "tau": […], "dtau_dq": […],
//                "dtau_dv": […]} …]}
//
// Matrices are given column by column. "q" is the pose of the file, whatever keyframes it has.

namespace lithe {
namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      result += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string number(double x) { return std::isfinite(x) ? fmt::format("{:.17g}", x) : "null"; }

template <class Items, class Text>
std::string list(const Items& items, Text text) {
  std::string result = "[";
  for (const auto& item : items) result += (result.size() > 1 ? ", " : "") + text(item);
  return result + "]";
}

std::string numbers(const VecX& values) { return list(values, number); }

std::string pose(const Pose& X) {
  VecX values(12);
  values << X.R.row(0).transpose(), X.R.row(1).transpose(), X.R.row(2).transpose(), X.p;
  return numbers(values);
}

std::string inverse_dynamics_of(const Model& model, const VecX& q, const VecX& v, const VecX& a) {
  Kinematics kin;
  InverseDynamics id;
  InverseDynamicsDerivatives d;
  kinematics(model, q, v, kin);
  rnea(model, kin, a, id);
  rnea_derivatives(model, kin, id, d);
  return fmt::format(", \"tau\": {}, \"dtau_dq\": {}, \"dtau_dv\": {}", numbers(id.tau), numbers(d.dtau_dq.reshaped()),
                     numbers(d.dtau_dv.reshaped()));
}

std::string state(const Model& model, const VecX& x) {
  const VecX q = x.head(model.nq());
  Kinematics kin;
  kinematics(model, q, kin);
  std::vector<Pose> bodies, frames;
  body_poses(model, kin, bodies);
  for (std::size_t f = 0; f < model.frames().size(); ++f) {
    frames.push_back(frame_pose(model, kin, FrameIndex(static_cast<int>(f))));
  }
  const bool moving = x.size() > model.nq();
  std::string shapes;
  for (const Shape& shape : model.shapes()) {
    shapes += fmt::format("{}{}: {}", shapes.empty() ? "" : ", ", quoted(shape.name),
                          pose(bodies[static_cast<std::size_t>(static_cast<int>(shape.body))] * shape.placement));
  }
  return fmt::format(
      "{{\"poses\": {}, \"frame_poses\": {}, \"shape_poses\": {{{}}}, \"M\": {}{}}}", list(bodies, pose),
      list(frames, pose), shapes, numbers(mass_matrix(model, q).reshaped()),
      moving ? inverse_dynamics_of(model, q, x.segment(model.nq(), model.nv()), x.tail(model.nv())) : "");
}

std::string joint(const Model& model, const Joint& joint) {
  return fmt::format(R"({{"name": {}, "type": "{}", "body": {}, "v_index": {}, "lower": {}, "upper": {}}})",
                     quoted(joint.name), to_string(joint.type), quoted(model.bodies()[joint.body].name), joint.v_index,
                     number(joint.lower), number(joint.upper));
}

std::string control(const MujocoLayout::Control& control) {
  constexpr const char* kKinds[] = {"left_out", "effort", "position", "velocity"};
  return fmt::format(
      R"({{"kind": "{}", "dof": {}, "motor": {}, "lower": {}, "upper": {}, "scale": {}, "offset": {}, "gear": {}}})",
      kKinds[static_cast<int>(control.kind)], control.dof, control.motor, number(control.lower), number(control.upper),
      number(control.scale), number(control.offset), number(control.gear));
}

std::string motor(const Model& model, const Motor& motor) {
  const Joint& joint = model.joints()[motor.joint];
  return fmt::format(R"({{"q_index": {}, "v_index": {}, "stiffness": {}, "damping": {}, "max_effort": {}}})",
                     joint.q_index, joint.v_index, number(motor.stiffness), number(motor.damping),
                     number(motor.max_effort));
}

std::vector<VecX> read_states(const Model& model) {
  std::vector<VecX> all;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::vector<double> x;
    for (double number = 0; words >> number;) x.push_back(number);
    const auto count = static_cast<int>(x.size());
    LITHE_CHECK(count == model.nq() || count == model.nq() + 2 * model.nv(),
                "line {} of standard input has {} numbers; a state has nq = {}, or nq + 2 nv = {}", all.size() + 1,
                count, model.nq(), model.nq() + 2 * model.nv());
    all.push_back(Eigen::Map<const VecX>(x.data(), count));
  }
  return all;
}

void print(const LoadedModel& loaded) {
  const Model& model = loaded.model;
  const auto name = [](const auto& item) { return quoted(item.name); };
  const std::vector<VecX> states = read_states(model);
  fmt::print("{{\"name\": {}, \"nq\": {}, \"nv\": {}, \"mass\": {}, \"gravity\": {}, \"time_step\": {}, \"q\": {},\n",
             quoted(loaded.name), model.nq(), model.nv(), number(model.total_mass()), numbers(model.gravity()),
             number(loaded.time_step), numbers(loaded.q));
  fmt::print("\"bodies\": {},\n\"frames\": {},\n", list(model.bodies(), name), list(model.frames(), name));
  fmt::print("\"joints\": {},\n", list(model.joints(), [&](const Joint& j) { return joint(model, j); }));
  fmt::print("\"keyframes\": {},\n", list(loaded.keyframes, [](const Keyframe& key) {
               return fmt::format("{{\"name\": {}, \"q\": {}, \"v\": {}}}", quoted(key.name), numbers(key.q),
                                  numbers(key.v));
             }));
  fmt::print("\"geoms\": {},\n", list(loaded.mujoco.geoms, [](const MujocoLayout::Geom& geom) {
               return list(geom.shapes, [](const std::string& text) { return quoted(text); });
             }));
  fmt::print("\"controls\": {},\n\"motors\": {},\n", list(loaded.mujoco.controls, control),
             list(model.motors(), [&](const Motor& m) { return motor(model, m); }));
  fmt::print("\"warnings\": {},\n",
             list(loaded.warnings, [](const LoadWarning& warning) { return quoted(to_string(warning)); }));
  fmt::print("\"states\": {}}}\n", list(states, [&](const VecX& x) { return state(model, x); }));
}

}  // namespace
}  // namespace lithe

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  lithe::LoadOptions options;
  options.keyframe = lithe::kPoseOfTheFile;
  if (!arguments.empty() && arguments[0] == "--fixed-base") {
    options.base = lithe::LoadOptions::Base::fixed;
    arguments.erase(arguments.begin());
  }
  if (arguments.empty() || arguments.size() > 2) {
    fmt::print(stderr, "usage: print_model [--fixed-base] FILE [WRITTEN.xml] < states\n");
    return 2;
  }
  try {
    const lithe::LoadedModel loaded = lithe::load(arguments[0], options);
    if (arguments.size() == 2) std::ofstream(arguments[1]) << lithe::write_mjcf(loaded.model).xml;
    lithe::print(loaded);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
