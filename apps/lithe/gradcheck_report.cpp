#include "apps/lithe/gradcheck_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "apps/lithe/json.h"
#include "apps/lithe/report_text.h"

namespace lithe::cli {

namespace {

// Vector products repeat what the blocks do in another order, and differ from them by rounding only: the share of the
// tolerance that they get.
constexpr double kProductShare = 1e-2;
// Of a sample's columns, and of the samples: what must be compared.
constexpr double kLeastColumns = 0.5;
constexpr double kLeastSamples = 0.8;

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();  // null in JSON

const char* to_string(GradcheckReport::Verdict verdict) {
  switch (verdict) {
    case GradcheckReport::Verdict::good: return "good";
    case GradcheckReport::Verdict::wrong: return "wrong";
    case GradcheckReport::Verdict::too_little: return "too_little_compared";
  }
  return "unknown";
}

struct SwitchName {
  ModeSwitch kind;
  const char* name;
};
constexpr std::array<SwitchName, 6> kSwitchNames = {{{ModeSwitch::constraints, "constraints"},
                                                     {ModeSwitch::targets, "targets"},
                                                     {ModeSwitch::normals, "normals"},
                                                     {ModeSwitch::friction, "friction"},
                                                     {ModeSwitch::joints, "joints"},
                                                     {ModeSwitch::solver, "solver"}}};

double median(std::vector<double> numbers) {  // of one at least
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

// "3 tied, 1 unsolved": what there is of it.
std::string listed(const std::vector<std::pair<const char*, long>>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name);
  }
  return text;
}

}  // namespace

GradcheckReport::GradcheckReport(std::string scene, const Model& model, std::uint64_t seed, double tolerance,
                                 std::string repeat)
    : scene_(std::move(scene)),
      repeat_(std::move(repeat)),
      bodies_(static_cast<int>(model.bodies().size()) - 1),
      dofs_(model.nv()),
      seed_(seed),
      tolerance_(tolerance) {}

void GradcheckReport::set_parameters(long per_sample, long all) {
  parameters_ = per_sample;
  all_parameters_ = all;
}

void GradcheckReport::add(long sample, const GradcheckResult& result, const std::vector<std::string>& parameters,
                          const std::string& trouble) {
  ++samples_;
  const double product_error = std::max(result.vjp_error, result.jvp_error);
  if (product_error > std::max(vjp_error_, jvp_error_) || product_sample_ < 0) product_sample_ = sample;
  vjp_error_ = std::max(vjp_error_, result.vjp_error);
  jvp_error_ = std::max(jvp_error_, result.jvp_error);
  const LcpFlag flags = result.report.lcp_flags;
  tied_ += has(flags, LcpFlag::tied);
  targets_dropped_ += has(flags, LcpFlag::targets_dropped);
  unpolished_ += has(flags, LcpFlag::unpolished);
  unsolved_ += has(flags, LcpFlag::unsolved);
  diverged_ += result.report.diverged;
  singular_ += result.singular_dof >= 0;
  if (!result.comparable()) return left_out_.push_back({sample, trouble});
  const bool enough = result.columns == result.refused || result.share_compared() >= kLeastColumns;
  if (enough) {
    ++compared_;
    within_tolerance_ += result.max_error() <= tolerance_;
  } else {
    ++mostly_switched_;
    left_out_.push_back({sample, fmt::format("close to changes of mode: {:.0f} % of its columns were compared",
                                             100 * result.share_compared())});
  }
  columns_ += result.columns;
  switched_columns_ += result.switched;
  unsettled_ += result.unsettled;
  refused_ += result.refused;
  if (result.switched > 0) ++switched_;
  for (std::size_t k = 0; k < kSwitchNames.size(); ++k) switches_[k] += has(result.switches, kSwitchNames[k].kind);
  errors_.push_back(result.max_error());
  for (int b = 0; b < kGradcheckBlocks; ++b) {
    const BlockCheck& check = result.blocks[b];
    if (!check.compared) continue;
    Block& block = blocks_[b];
    block.errors.push_back(check.error);
    if (check.error > block.most || block.sample < 0) {
      block.most = check.error;
      block.sample = sample;
    }
    if (check.error > worst_.error || worst_.sample < 0) {
      const bool by_parameter = b >= static_cast<int>(GradcheckBlock::qnext_parameters);
      worst_ = {check.error, sample, static_cast<GradcheckBlock>(b), check,
                by_parameter && check.column >= 0 ? parameters[check.column] : ""};
    }
  }
}

void GradcheckReport::finish(long samples_wanted, End end, double seconds) {
  samples_wanted_ = samples_wanted;
  end_ = end;
  seconds_ = seconds;
}

std::optional<double> GradcheckReport::median_error() const {
  return errors_.empty() ? std::nullopt : std::optional(median(errors_));
}

std::optional<double> GradcheckReport::max_error() const {
  return worst_.sample < 0 ? std::nullopt : std::optional(worst_.error);
}

GradcheckReport::Verdict GradcheckReport::verdict() const {
  if (worst_.error > tolerance_ || std::max(vjp_error_, jvp_error_) > kProductShare * tolerance_) return Verdict::wrong;
  const bool enough = compared_ > 0 && static_cast<double>(compared_) >= kLeastSamples * static_cast<double>(samples_);
  return enough ? Verdict::good : Verdict::too_little;
}

std::string GradcheckReport::reason() const {
  if (worst_.error > tolerance_) {
    return fmt::format("a derivative is off by {:.2g} of its block, more than {:g}: {}", worst_.error, tolerance_,
                       reproduction(worst_.sample));
  }
  const double product_error = std::max(vjp_error_, jvp_error_);
  if (product_error > kProductShare * tolerance_) {
    return fmt::format("a vector product is off by {:.2g}, more than {:g}: {}", product_error,
                       kProductShare * tolerance_, reproduction(product_sample_));
  }
  if (verdict() == Verdict::good) return "";
  if (samples_ == 0) {
    const bool settling = settling_ && settling_->stopped;
    return fmt::format("nothing was compared: {:.0f} s were up {}", seconds_,
                       settling ? fmt::format("after {} steps, while the robot came to rest", settling_->steps)
                                : "before the first sample was done");
  }
  return fmt::format("{} of {} samples were compared, less than {:.0f} %: {}", compared_, samples_, 100 * kLeastSamples,
                     left_out_text());
}

std::string GradcheckReport::reproduction(long sample) const {
  return fmt::format("{} --seed {} --only {}", repeat_, seed_, sample);
}

std::string GradcheckReport::block_table() const {
  std::string text = fmt::format("  {:<20}{:>10}{:>10}{:>10}\n", "relative error", "median", "largest", "sample");
  for (int b = 0; b < kGradcheckBlocks; ++b) {
    const Block& block = blocks_[b];
    if (block.errors.empty()) continue;
    text += fmt::format("  {:<20}{:>10.1e}{:>10.1e}{:>10}\n", to_string(static_cast<GradcheckBlock>(b)),
                        median(block.errors), block.most, block.sample);
  }
  return text + fmt::format("  {:<20}{:>10}{:>10.1e}\n  {:<20}{:>10}{:>10.1e}\n", "step_vjp", "", vjp_error_,
                            "step_jvp", "", jvp_error_);
}

std::string GradcheckReport::left_out_text() const {
  const std::string kinds = listed({{"at a tie", tied_},
                                    {"with targets dropped", targets_dropped_},
                                    {"unpolished", unpolished_},
                                    {"unsolved", unsolved_},
                                    {"diverged", diverged_},
                                    {"with a DoF that nothing resists", singular_},
                                    {"close to changes of mode", mostly_switched_}});
  if (left_out_.empty()) return "";
  return fmt::format("{} (sample {}: {})", kinds, left_out_.front().sample, left_out_.front().why);
}

std::string GradcheckReport::sample_text() const {
  std::string text =
      fmt::format("{} of {} compared, {} within {:g}", compared_, samples_, within_tolerance_, tolerance_);
  if (end_ == End::out_of_time) {
    text += fmt::format("; {} were asked for, but {:.0f} s were up", samples_wanted_, seconds_);
  }
  return text;
}

std::string GradcheckReport::settling_text() const {
  const HeldMotion::Settling& s = *settling_;
  const std::string how = s.diverged  ? "diverged"
                          : s.quiet   ? "at rest"
                          : s.stopped ? "given up"
                                      : fmt::format("still moving at {:.2g} rad/s or m/s", s.speed);
  const std::string dropped = s.dropped > 0 ? fmt::format(", targets dropped in {}", s.dropped) : "";
  return fmt::format("{} after {} steps{}; samples are from motions that begin there", how, s.steps, dropped);
}

std::string GradcheckReport::switch_text() const {
  std::vector<std::pair<const char*, long>> kinds;
  for (std::size_t k = 0; k < kSwitchNames.size(); ++k) kinds.emplace_back(kSwitchNames[k].name, switches_[k]);
  const std::string text = listed(kinds);
  return fmt::format("in {} of {} samples, {} of {} columns{}", switched_, compared_, switched_columns_, columns_,
                     text.empty() ? "" : ": " + text);
}

std::string GradcheckReport::worst_text() const {
  const BlockCheck& check = worst_.check;
  return fmt::format("{}({}, {}){}: {:.10g}, by differences {:.10g} ± {:.1e} of the block", to_string(worst_.block),
                     check.row, check.column, worst_.parameter.empty() ? "" : " by " + worst_.parameter, check.analytic,
                     check.numeric, check.doubt);
}

std::string GradcheckReport::text() const {
  std::string text = fmt::format("{}: {} {}, {} DoFs, {} of {} samples compared in {:.1f} s\n\n", scene_, bodies_,
                                 bodies_ == 1 ? "body" : "bodies", dofs_, compared_, samples_, seconds_);
  text += block_table() + "\n";
  if (interrupted()) text += line("stopped", fmt::format("after {} of {} samples", samples_, samples_wanted_));
  if (settling_) text += line("settled", settling_text());
  text += line("samples", sample_text());
  text += line("left out", left_out_.empty() ? "none" : left_out_text());
  if (parameters_ > 0) {
    const std::string which = parameters_ < all_parameters_ ? "per sample, drawn by the seed" : "in each sample";
    text += line("parameters", fmt::format("{} of {} {}", parameters_, all_parameters_, which));
  }
  text += line("switched", switch_text());
  if (unsettled_ > 0) text += line("unsettled", fmt::format("{} of {} columns' parts", unsettled_, 3 * columns_));
  if (refused_ > 0) text += line("refused", fmt::format("{} parameters that the model lets nobody change", refused_));
  if (worst_.sample >= 0) {
    text += line("worst", worst_text());
    text += line("", reproduction(worst_.sample));
  }
  return text;
}

std::string GradcheckReport::json() const {
  JsonObject blocks;
  for (int b = 0; b < kGradcheckBlocks; ++b) {
    const Block& block = blocks_[b];
    if (block.errors.empty()) continue;
    blocks.add(to_string(static_cast<GradcheckBlock>(b)), JsonObject()
                                                              .add("max_relative_error", block.most)
                                                              .add("median_relative_error", median(block.errors))
                                                              .add("samples", static_cast<long>(block.errors.size()))
                                                              .add("worst_sample", block.sample));
  }
  JsonObject kinds;
  for (std::size_t k = 0; k < kSwitchNames.size(); ++k) kinds.add(kSwitchNames[k].name, switches_[k]);
  JsonObject report;
  report.add("scene", scene_)
      .add("dofs", dofs_)
      .add("seed", static_cast<long>(seed_))
      .add("samples", samples_)
      .add("samples_wanted", samples_wanted_)
      .add("compared", compared_)
      .add("within_tolerance", within_tolerance_)
      .add("verdict", to_string(verdict()))
      .add("reason", reason())
      .add("parameters", JsonObject().add("per_sample", parameters_).add("all", all_parameters_))
      .add("switched", switched_)
      .add("switches", kinds)
      .add("left_out", JsonObject()
                           .add("tied", tied_)
                           .add("targets_dropped", targets_dropped_)
                           .add("unpolished", unpolished_)
                           .add("unsolved", unsolved_)
                           .add("diverged", diverged_)
                           .add("singular", singular_)
                           .add("close_to_changes", mostly_switched_))
      .add("columns", JsonObject()
                          .add("all", columns_)
                          .add("switched", switched_columns_)
                          .add("unsettled", unsettled_)
                          .add("refused", refused_))
      .add("tolerance", tolerance_)
      .add("max_relative_error", max_error().value_or(kNothing))
      .add("median_relative_error", median_error().value_or(kNothing))
      .add("vjp_error", vjp_error_)
      .add("jvp_error", jvp_error_)
      .add("blocks", blocks)
      .add("wall_seconds", seconds_)
      .add("out_of_time", end_ == End::out_of_time)
      .add("interrupted", interrupted());
  JsonObject why;
  for (const LeftOut& each : left_out_) why.add(std::to_string(each.sample), each.why);
  report.add("left_out_samples", why);
  if (settling_) {
    report.add("settling", JsonObject()
                               .add("steps", settling_->steps)
                               .add("quiet", settling_->quiet)
                               .add("diverged", settling_->diverged)
                               .add("targets_dropped", settling_->dropped)
                               .add("speed", settling_->speed));
  }
  if (worst_.sample >= 0) {
    JsonObject worst;
    worst.add("sample", worst_.sample)
        .add("block", to_string(worst_.block))
        .add("row", worst_.check.row)
        .add("column", worst_.check.column)
        .add("analytic", worst_.check.analytic)
        .add("numeric", worst_.check.numeric)
        .add("doubt", worst_.check.doubt)
        .add("reproduce", reproduction(worst_.sample));
    if (!worst_.parameter.empty()) worst.add("parameter", worst_.parameter);
    report.add("worst", worst);
  }
  return report.text() + "\n";
}

}  // namespace lithe::cli
