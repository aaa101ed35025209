#include "apps/lithe/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "apps/lithe/json.h"
#include "apps/lithe/report_text.h"
#include "bench/machine.h"

namespace lithe::cli {

namespace {

// Three digits or a few more.
std::string digits(double x) { return fmt::format("{:.{}f}", x, x < 10 ? 2 : x < 100 ? 1 : 0); }

std::string times(double ratio) { return digits(ratio) + "×"; }

// Columns to the right of the scenes' names: a title each, as wide as its widest cell.
class Table {
 public:
  explicit Table(std::string title) : title_(std::move(title)) {}

  void add_scene(const std::string& scene, std::vector<std::string> cells) {
    scenes_.push_back(scene);
    cells_.push_back(std::move(cells));
  }

  std::string text(const std::vector<std::string>& columns) const {
    std::size_t name_width = 0;
    for (const std::string& scene : scenes_) name_width = std::max(name_width, scene.size());
    std::vector<std::string> lines = {title_ + "\n", fmt::format("  {:<{}}", "", name_width)};
    for (const std::string& scene : scenes_) lines.push_back(fmt::format("  {:<{}}", scene, name_width));
    for (std::size_t c = 0; c < columns.size(); ++c) add_column(lines, columns[c], c);
    return fmt::format("{}\n", fmt::join(lines, "\n"));
  }

 private:
  void add_column(std::vector<std::string>& lines, const std::string& title, std::size_t c) const {
    std::size_t width = shown_width(title);
    for (const auto& row : cells_) width = std::max(width, shown_width(row[c]));
    lines[1] += fmt::format("  {:>{}}", title, width);
    for (std::size_t r = 0; r < cells_.size(); ++r) lines[r + 2] += fmt::format("  {:>{}}", cells_[r][c], width);
  }

  std::string title_;
  std::vector<std::string> scenes_;
  std::vector<std::vector<std::string>> cells_;
};

std::string times_table(const std::vector<BenchResult>& results) {
  Table table("One step and its derivatives, µs");
  for (const BenchResult& r : results) {
    table.add_scene(
        r.scene, {fmt::format("{}", r.nv), fmt::format("{}", r.contacts), fmt::format("{}", r.rank), digits(r.forward),
                  digits(r.jacobians), digits(r.vjp), digits(r.jvp), digits(r.central), digits(r.ridders)});
  }
  return table.text({"nv", "contacts", "rank", "forward", "all", "VJP", "JVP", "central", "Ridders"});
}

std::string ratios_table(const std::vector<BenchResult>& results) {
  Table table("In proportion");
  for (const BenchResult& r : results) {
    table.add_scene(r.scene, {times(r.jacobians / r.forward), times(r.vjp / r.forward), times(r.central / r.jacobians),
                              times(r.ridders / r.jacobians)});
  }
  return table.text({"all/forward", "VJP/forward", "central/all", "Ridders/all"});
}

std::string blocks_table(const std::vector<BenchResult>& results) {
  Table table("Each Jacobian alone, µs");
  for (const BenchResult& r : results) {
    std::vector<std::string> cells;
    for (const double block : r.blocks) cells.push_back(digits(block));
    table.add_scene(r.scene, cells);
  }
  std::vector<std::string> titles;
  for (const TimedBlock& block : kTimedBlocks) titles.emplace_back(block.title);
  return table.text(titles);
}

std::string json_of(const BenchResult& r) {
  JsonObject blocks;
  for (std::size_t i = 0; i < kTimedBlocks.size(); ++i) blocks.add(kTimedBlocks[i].key, r.blocks[i]);
  return JsonObject()
      .add("scene", r.scene)
      .add("nv", r.nv)
      .add("contacts", r.contacts)
      .add("rows", r.rows)
      .add("rank", r.rank)
      .add("islands", r.islands)
      .add("guessed", r.guessed)
      .add("forward_us", r.forward)
      .add("jacobians_us", r.jacobians)
      .add("vjp_us", r.vjp)
      .add("jvp_us", r.jvp)
      .add("central_us", r.central)
      .add("ridders_us", r.ridders)
      .add("blocks", blocks)
      .add("jacobians_per_forward", r.jacobians / r.forward)
      .add("vjp_per_forward", r.vjp / r.forward)
      .add("central_per_jacobians", r.central / r.jacobians)
      .add("ridders_per_jacobians", r.ridders / r.jacobians)
      .text();
}

}  // namespace

std::string BenchReport::text() const {
  std::string text;
  if (!results.empty()) {
    text = fmt::format("{}\n{}\n{}\n", times_table(results), ratios_table(results), blocks_table(results));
    text +=
        "  forward  a whole step with collision detection, warm: its guess is what the step before it found\n"
        "  all      the six Jacobians, from the record that the step leaves; VJP and JVP from the same\n"
        "  central  the six Jacobians by central differences of steps; Ridders by his extrapolation\n\n";
    text += paragraph(fmt::format("Processor time, the shortest of up to {} windows each, taken by turns. {}; {}; {}.",
                                  rounds, bench::cpu(), bench::compiler(), bench::vector_instructions()));
    if (std::string_view(bench::assertions()) == "on") text += "  Assertions are on: a release build is faster.\n";
  }
  if (interrupted()) text += fmt::format("  Stopped after {} of {} scenes.\n", results.size(), scenes_wanted);
  return text;
}

std::string BenchReport::json() const {
  const JsonObject machine = JsonObject()
                                 .add("cpu", bench::cpu())
                                 .add("compiler", bench::compiler())
                                 .add("vector_instructions", bench::vector_instructions())
                                 .add("assertions", bench::assertions());
  std::vector<std::string> scenes;
  for (const BenchResult& result : results) scenes.push_back(json_of(result));
  return fmt::format("{{\"machine\": {},\n \"rounds\": {}, \"interrupted\": {},\n \"scenes\": [\n  {}\n ]}}\n",
                     machine.text(), rounds, interrupted(), fmt::join(scenes, ",\n  "));
}

}  // namespace lithe::cli
