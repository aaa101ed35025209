#include "apps/lithe/demo_table.h"

#include <fmt/format.h>

#include <array>

#include "apps/lithe/bench_timer.h"
#include "apps/lithe/bench_workload.h"

namespace lithe::cli {

namespace {

constexpr double kTableAllowance = 0.4;  // s, of each thing that is timed

constexpr std::array<PaperWorld, 4> kWorlds = {{
    {.name = "Atlas", .scene = "humanoid", .paper = {"8.53 ms", "749 ms", "87.84×", "2229 ms", "261×"}},
    {.name = "Half Cheetah", .scene = "half_cheetah", .paper = {"0.395 ms", "8.64 ms", "21.86×", "24 ms", "60×"}},
    {.name = "Jump-Worm", .scene = "jump_worm", .paper = {"0.256 ms", "3.82 ms", "14.89×", "9.727 ms", "37.9×"}},
    {.name = "Catapult", .scene = "catapult", .paper = {"0.265 ms", "4.36 ms", "16.45×", "12.0 ms", "45.2×"}},
}};

// Three digits, in a unit that fits.
std::string time_text(double seconds) {
  const bool milli = seconds >= 1e-3;
  const double x = seconds * (milli ? 1e3 : 1e6);
  return fmt::format("{:.{}f} {}", x, x < 9.995 ? 2 : x < 99.95 ? 1 : 0, milli ? "ms" : "µs");
}

std::string times_text(double ratio) { return fmt::format("{:.{}f}×", ratio, ratio < 99.5 ? 1 : 0); }

template <class Dofs, class Contacts>
std::string row(const char* name, const char* where, Dofs dofs, Contacts contacts, const std::string& analytic,
                const std::string& central, const std::string& central_ratio, const std::string& ridders,
                const std::string& ridders_ratio) {
  return fmt::format("  {:<14}{:<7}{:>4}{:>10}{:>12}{:>12}{:>9}{:>12}{:>8}\n", name, where, dofs, contacts, analytic,
                     central, central_ratio, ridders, ridders_ratio);
}

}  // namespace

std::vector<PaperWorld> measure_paper_worlds(int rounds, const std::function<bool(double)>& keep_going) {
  std::vector<PaperWorld> worlds;
  for (const PaperWorld& given : kWorlds) {
    BenchWorkload workload(given.scene);
    RoundTimer timer(rounds, kTableAllowance);
    const int analytic = timer.add([&] { workload.jacobians(StepBlocks::state); });
    const int central = timer.add([&] { workload.differences(DifferenceMethod::central); });
    const int ridders = timer.add([&] { workload.differences(DifferenceMethod::ridders); });
    const double done = static_cast<double>(worlds.size());
    const bool finished = timer.run([&](int round) {
      return keep_going((done + static_cast<double>(round) / rounds) / static_cast<double>(kWorlds.size()));
    });
    if (!finished) break;
    PaperWorld& world = worlds.emplace_back(given);
    world.dofs = workload.dofs();
    world.contacts = workload.status().contacts;
    world.analytic = timer.seconds(analytic);
    world.central = timer.seconds(central);
    world.ridders = timer.seconds(ridders);
  }
  return worlds;
}

std::string paper_table(const std::vector<PaperWorld>& worlds) {
  std::string text = row("", "", "DoFs", "contacts", "analytic", "central", "ratio", "Ridders", "ratio");
  for (const PaperWorld& world : worlds) {
    text += row(world.scene, "here", world.dofs, world.contacts, time_text(world.analytic), time_text(world.central),
                times_text(world.central / world.analytic), time_text(world.ridders),
                times_text(world.ridders / world.analytic));
    text += row(world.name, "paper", "", "", world.paper.analytic, world.paper.central, world.paper.central_ratio,
                world.paper.ridders, world.paper.ridders_ratio);
  }
  return text;
}

}  // namespace lithe::cli
