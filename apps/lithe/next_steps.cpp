#include "apps/lithe/next_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <errno.h>  // program_invocation_name
#include <span>

namespace lithe::cli {

namespace {

struct Suggestion {
  const char* command;
  const char* what;
};

constexpr Suggestion kFirst[] = {
    {"demo", "find a throw by gradients through contact, and make a page of it"},
    {"view humanoid", "live in the browser: push it, change gravity, stop time"},
    {"doctor robot.urdf", "a robot of yours: what is wrong with it, or suspicious"},
    {"simulate robot.urdf", "drop it onto a ground; --out FILE records it"},
    {"gradcheck half_cheetah", "gradients against finite differences, sample by sample"},
    {"optimize cartpole", "the forces that make a scene do its task"},
    {"bench humanoid", "what a step and its gradients cost here"},
    {"scenes", "all scenes that these commands take"},
};

constexpr Suggestion kNext[] = {
    {"view catapult", "live in the browser: push it, change gravity, stop time"},
    {"optimize drone --aware", "another task; `lithe scenes` lists what there is"},
    {"doctor robot.urdf", "a robot of yours: what is wrong with it, or suspicious"},
    {"experiments", "the paper's experiments, judged and plotted"},
};

std::string lines(std::span<const Suggestion> suggestions) {
  const std::string program = program_invocation_name;
  std::size_t width = 0;
  for (const Suggestion& each : suggestions) width = std::max(width, std::string_view(each.command).size());
  std::string text;
  for (const Suggestion& each : suggestions)
    text += fmt::format("  {} {:<{}}  {}\n", program, each.command, width, each.what);
  return text;
}

}  // namespace

std::string first_steps() { return lines(kFirst); }
std::string next_steps() { return lines(kNext); }

}  // namespace lithe::cli
