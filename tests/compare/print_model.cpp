#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <iostream>
#include <sstream>

#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/mass_matrix.h"
#include "lithe/io/load.h"
#include "lithe/io/write_mjcf.h"

// print_model FILE [MJCF]: loads a robot and prints it as JSON, for programs that compare it with what other engines make of the same file.
// With a second name, the model is written there as MJCF. Standard input has one configuration per line (nq numbers); for each, the poses of all bodies and frames and the mass matrix.
//
//   {"name": …, "nq": …, "nv": …, "mass": …, "gravity": […], "time_step": …, "q": […], "bodies": [names], "frames": [names],
//    "joints": [{"name", "type", "body", "lower", "upper"} …], "keyframes": [{"name", "q", "v"} …], "warnings": […],
//    "states": [{"poses": [[R row by row, p] …], "frame_poses": […], "M": [row by row]} …]}

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

std::string state(const Model& model, const VecX& q) {
  Kinematics kin;
  kinematics(model, q, kin);
  std::vector<Pose> bodies, frames;
  body_poses(model, kin, bodies);
  for (std::size_t f = 0; f < model.frames().size(); ++f) {
    frames.push_back(frame_pose(model, kin, FrameIndex(static_cast<int>(f))));
  }
  return fmt::format("{{\"poses\": {}, \"frame_poses\": {}, \"M\": {}}}", list(bodies, pose), list(frames, pose),
                     numbers(mass_matrix(model, q).reshaped()));
}

std::string joint(const Model& model, const Joint& joint) {
  return fmt::format(R"({{"name": {}, "type": "{}", "body": {}, "lower": {}, "upper": {}}})", quoted(joint.name),
                     to_string(joint.type), quoted(model.bodies()[joint.body].name), number(joint.lower),
                     number(joint.upper));
}

std::vector<VecX> read_configurations(const Model& model) {
  std::vector<VecX> all;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    VecX q(model.nq());
    for (double& x : q) words >> x;
    LITHE_CHECK(words, "line {} of standard input has fewer than {} numbers", all.size() + 1, model.nq());
    all.push_back(q);
  }
  return all;
}

void print(const LoadedModel& loaded) {
  const Model& model = loaded.model;
  const auto name = [](const auto& item) { return quoted(item.name); };
  const std::vector<VecX> configurations = read_configurations(model);
  fmt::print("{{\"name\": {}, \"nq\": {}, \"nv\": {}, \"mass\": {}, \"gravity\": {}, \"time_step\": {}, \"q\": {},\n",
             quoted(loaded.name), model.nq(), model.nv(), number(model.total_mass()), numbers(model.gravity()),
             number(loaded.time_step), numbers(loaded.q));
  fmt::print("\"bodies\": {},\n\"frames\": {},\n", list(model.bodies(), name), list(model.frames(), name));
  fmt::print("\"joints\": {},\n", list(model.joints(), [&](const Joint& j) { return joint(model, j); }));
  fmt::print("\"keyframes\": {},\n", list(loaded.keyframes, [](const Keyframe& key) {
               return fmt::format("{{\"name\": {}, \"q\": {}, \"v\": {}}}", quoted(key.name), numbers(key.q),
                                  numbers(key.v));
             }));
  fmt::print("\"warnings\": {},\n",
             list(loaded.warnings, [](const LoadWarning& warning) { return quoted(to_string(warning)); }));
  fmt::print("\"states\": {}}}\n", list(configurations, [&](const VecX& q) { return state(model, q); }));
}

}  // namespace
}  // namespace lithe

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) {
    fmt::print(stderr, "usage: print_model FILE [WRITTEN.xml] < configurations\n");
    return 2;
  }
  try {
    const lithe::LoadedModel loaded = lithe::load(argv[1]);
    if (argc == 3) std::ofstream(argv[2]) << lithe::write_mjcf(loaded.model).xml;
    lithe::print(loaded);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
  return 0;
}
