#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "apps/lithe/commands.h"
#include "apps/lithe/doctor_checks.h"
#include "apps/lithe/doctor_contacts.h"
#include "apps/lithe/doctor_trial.h"
#include "apps/lithe/interrupt.h"
#include "apps/lithe/json.h"
#include "apps/lithe/load_file.h"
#include "apps/lithe/progress.h"
#include "apps/lithe/report_text.h"
#include "apps/lithe/terminal.h"
#include "lithe/io/write_srdf.h"

namespace lithe::cli {

namespace {

using Severity = Finding::Severity;

struct DoctorOptions {
  std::string file;
  FileOptions files;
  std::string write_srdf;  // where to
  double seconds = 20;
  bool quick = false, all = false;
  bool json = false;
  bool no_colour = false;
};

struct Diagnosis {
  std::string file;
  bool loads = false;
  double seconds = 0;
  std::string name = {};
  int bodies = 0, joints = 0, dofs = 0, shapes = 0, meshes = 0;
  double mass = 0;
  std::optional<Trials> trials = {};
  std::vector<Finding> findings = {};
  std::string touching = "[]", excepted = "[]";  // pairs of bodies, as JSON
  bool interrupted = false;

  int count(Severity severity) const {
    return static_cast<int>(std::ranges::count(findings, severity, &Finding::severity));
  }
};

// Cuts `folder` and its '/' off the paths in a text.
void shorten_paths(const std::string& folder, const std::string& instead, std::string& text) {
  for (std::size_t at = 0; (at = text.find(folder + "/", at)) != std::string::npos;) {
    const bool path_begins = at == 0 || std::string_view(" '\"(").find(text[at - 1]) != std::string_view::npos;
    if (path_begins) text.replace(at, folder.size() + 1, instead);
    at += path_begins ? instead.size() : folder.size();
  }
}

// Texts name files as they were found. From the folder of the model, names are shorter and the same on every machine.
void make_relative(const std::string& file, std::string& text) {
  constexpr int kMostAbove = 3;
  for (const std::filesystem::path& path : {std::filesystem::path(file), std::filesystem::absolute(file)}) {
    std::string instead;
    std::filesystem::path folder = path.parent_path();
    for (int above = 0; above <= kMostAbove && folder.has_relative_path(); ++above) {
      shorten_paths(folder.string(), instead, text);
      instead += "../";
      folder = folder.parent_path();
    }
  }
}

Trials try_out_watched(const DoctorOptions& options, const LoadedModel& loaded, Diagnosis& diagnosis) {
  Progress progress(options.file, 1, !options.json);
  const InterruptGuard interrupt;
  const auto watch = [&](const char* doing) {
    progress.update(0, doing);
    return diagnosis.interrupted = interrupt.interrupted();
  };
  try {
    return try_out(loaded, options.seconds, watch);
  } catch (const Error& error) {
    diagnosis.findings.push_back({Severity::error, "step", error.what()});
    Trials trials;
    trials.stands = {Trial::Verdict::no, error.what()};
    return trials;
  }
}

// A mesh that has no hull ends the examination, not the doctor.
std::vector<Finding> examine_safely(const LoadedModel& loaded) {
  try {
    return examine(loaded);
  } catch (const Error& error) {
    return {{Severity::error, "mesh", error.what()}};
  }
}

// What a robot cannot do is a warning, so that --strict fails.
void report_trials(const Trials& trials, std::vector<Finding>& findings) {
  const std::pair<const char*, const Trial*> all[] = {
      {"stands", &trials.stands}, {"moves", &trials.moves}, {"gradients", &trials.gradients}};
  for (const auto& [name, trial] : all) {
    if (trial->verdict == Trial::Verdict::no) findings.push_back({Severity::warning, name, trial->text});
  }
}

Diagnosis diagnose(const DoctorOptions& options) {
  Diagnosis diagnosis = {.file = options.file};
  LoadOptions load_with = load_options(options.files);
  load_with.strict = false;  // all of them are listed; --strict is about the exit code
  const auto start = std::chrono::steady_clock::now();
  try {
    const LoadedModel loaded = load(options.file, with_progress(load_with));
    diagnosis.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    diagnosis.loads = true;
    diagnosis.name = loaded.name;
    diagnosis.bodies = static_cast<int>(loaded.model.bodies().size()) - 1;
    diagnosis.joints = static_cast<int>(loaded.model.joints().size());
    diagnosis.dofs = loaded.model.nv();
    diagnosis.shapes = static_cast<int>(loaded.model.shapes().size());
    diagnosis.meshes = static_cast<int>(loaded.collision_meshes.size());
    diagnosis.mass = loaded.model.total_mass();
    if (options.json) diagnosis.touching = touching_json(touching_pairs(loaded));
    diagnosis.excepted = excepted_json(loaded);
    if (!options.write_srdf.empty()) save_srdf(loaded, options.write_srdf);
    diagnosis.findings = examine_safely(loaded);
    if (!options.quick) {
      diagnosis.trials = try_out_watched(options, loaded, diagnosis);
      report_trials(*diagnosis.trials, diagnosis.findings);
    }
  } catch (const Error& error) {
    diagnosis.findings.push_back({Severity::error, "load", error.what()});
  }
  for (Finding& finding : diagnosis.findings) make_relative(options.file, finding.text);
  return diagnosis;
}

JsonObject trial_json(const Trial& trial) {
  return JsonObject().add("verdict", to_string(trial.verdict)).add("text", trial.text);
}

void add_trials(const Trials& trials, JsonObject& json) {
  constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();  // null
  const HeldMotion::Settling& settling = trials.settling;
  json.add("stands", trial_json(trials.stands)
                         .add("quiet_steps", trials.quiet_steps)
                         .add("quiet_targets_dropped", trials.quiet_dropped)
                         .add("settling_steps", settling.steps)
                         .add("at_rest", settling.quiet)
                         .add("targets_dropped_at_first", settling.first_dropped)
                         .add("targets_dropped_at_last", settling.last_dropped)
                         .add("targets_dropped", settling.dropped)
                         .add("contacts", settling.contacts)
                         .add("deepest", settling.deepest)
                         .add("speed", settling.speed));
  json.add("moves", trial_json(trials.moves)
                        .add("steps", trials.steps)
                        .add("seconds", trials.seconds)
                        .add("processor_seconds", trials.processor_seconds)
                        .add("first_step_seconds", trials.first_seconds)
                        .add("slowest_step_seconds", trials.most_seconds)
                        .add("targets_dropped", trials.dropped));
  json.add("gradients", trial_json(trials.gradients)
                            .add("samples", trials.samples)
                            .add("compared", trials.compared)
                            .add("within_tolerance", trials.within_tolerance)
                            .add("tolerance", Trials::kTolerance)
                            .add("max_relative_error", trials.max_error.value_or(kNoNumber))
                            .add("reason", trials.gradient_reason)
                            .add("seconds", trials.gradient_seconds));
}

void print_json(const Diagnosis& diagnosis) {
  std::string findings;
  for (const Finding& finding : diagnosis.findings) {
    JsonObject object;
    object.add("severity", to_string(finding.severity)).add("check", finding.check).add("text", finding.text);
    findings += (findings.empty() ? "" : ", ") + object.text();
  }
  JsonObject json;
  json.add("file", diagnosis.file).add("loads", diagnosis.loads);
  if (diagnosis.trials) add_trials(*diagnosis.trials, json);
  json.add("name", diagnosis.name)
      .add("bodies", diagnosis.bodies)
      .add("joints", diagnosis.joints)
      .add("dofs", diagnosis.dofs)
      .add("shapes", diagnosis.shapes)
      .add("collision_meshes", diagnosis.meshes)
      .add("mass", diagnosis.mass)
      .add("load_seconds", diagnosis.seconds)
      .add("errors", diagnosis.count(Severity::error))
      .add("warnings", diagnosis.count(Severity::warning))
      .add("notes", diagnosis.count(Severity::note))
      .add("interrupted", diagnosis.interrupted);
  std::string text = json.text();
  text.back() = ',';
  fmt::print("{} \"excepted_pairs\": {}, \"touching_pairs\": {}, \"findings\": [{}]}}\n", text, diagnosis.excepted,
             diagnosis.touching, findings);
}

std::string counted(int count, const char* what) { return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s"); }

// Prints text with colours, or without.
class Printer {
 public:
  explicit Printer(bool coloured) : coloured_(coloured) {}

  void summary(const Diagnosis& diagnosis) const {
    const bool errors = diagnosis.count(Severity::error) > 0;
    verdict("loads",
            {diagnosis.loads ? Trial::Verdict::yes : Trial::Verdict::no,
             diagnosis.loads ? fmt::format("in {}, {}, {}, {}", seconds_text(diagnosis.seconds),
                                           errors ? counted(diagnosis.count(Severity::error), "error") : "no errors",
                                           counted(diagnosis.count(Severity::warning), "warning"),
                                           counted(diagnosis.count(Severity::note), "note"))
                             : "see below"});
    const Trial not_tried;
    verdict("stands", diagnosis.trials ? diagnosis.trials->stands : not_tried);
    verdict("moves", diagnosis.trials ? diagnosis.trials->moves : not_tried);
    verdict("gradients", diagnosis.trials ? diagnosis.trials->gradients : not_tried);
  }

  void finding(const Finding& finding) const {
    if (finding.check == "load") {
      fmt::print("  {}\n", finding.text);  // says itself where and that it is an error
      return;
    }
    const char* colour = finding.severity == Severity::error     ? "\033[31m"
                         : finding.severity == Severity::warning ? "\033[33m"
                                                                 : "\033[36m";
    fmt::print("  {}{:<7}{}  {:<14}  {}\n", begin(colour), to_string(finding.severity), end(), finding.check,
               finding.text);
  }

 private:
  const char* begin(const char* colour) const { return coloured_ ? colour : ""; }
  const char* end() const { return coloured_ ? "\033[0m" : ""; }

  void verdict(const char* title, const Trial& trial) const {
    const char* colour = trial.verdict == Trial::Verdict::yes  ? "\033[32m"
                         : trial.verdict == Trial::Verdict::no ? "\033[31m"
                                                               : "";
    fmt::print("  {:<10} {}{:<9}{}  {}\n", title, begin(colour), to_string(trial.verdict), end(), trial.text);
  }

  bool coloured_;
};

// The first few of each kind; what the summary has said is not said again.
void print_findings(const Diagnosis& diagnosis, bool all, const Printer& printer) {
  constexpr int kMostAlike = 3;
  using Kind = std::pair<Severity, std::string>;
  std::map<Kind, int> count, shown;
  for (const Finding& finding : diagnosis.findings) ++count[{finding.severity, finding.check}];
  for (const Finding& finding : diagnosis.findings) {
    if (finding.check == "stands" || finding.check == "moves" || finding.check == "gradients") continue;
    const Kind kind = {finding.severity, finding.check};
    const int left = count[kind] - shown[kind]++;
    if (!all && shown[kind] > kMostAlike && count[kind] > kMostAlike + 1) continue;
    printer.finding(finding);
    if (all || shown[kind] != kMostAlike || left - 1 <= 1) continue;
    printer.finding(
        {finding.severity, finding.check, fmt::format("… and {} more like these (--all shows them)", left - 1)});
  }
}

void print_text(const Diagnosis& diagnosis, bool all, bool coloured) {
  const Printer printer(coloured);
  fmt::print("{}: ", diagnosis.file);
  if (diagnosis.loads) {
    fmt::print("{}, {} bodies, {} joints, {} DoFs, {:.4g} kg, {} shapes ({} meshes)\n",
               diagnosis.name.empty() ? "without a name" : diagnosis.name, diagnosis.bodies, diagnosis.joints,
               diagnosis.dofs, diagnosis.mass, diagnosis.shapes, diagnosis.meshes);
  } else {
    fmt::print("cannot be loaded\n");
  }
  printer.summary(diagnosis);
  fmt::print("\n");
  print_findings(diagnosis, all, printer);
  if (diagnosis.findings.empty()) {
    fmt::print("  nothing to complain about\n");
  } else {
    fmt::print("{}, {}, {}\n", counted(diagnosis.count(Severity::error), "error"),
               counted(diagnosis.count(Severity::warning), "warning"),
               counted(diagnosis.count(Severity::note), "note"));
  }
}

}  // namespace

void add_doctor(CLI::App& app) {
  CLI::App* doctor = app.add_subcommand(
      "doctor",
      "Read a robot file and try it out: does it load, stand, move, have gradients; what is wrong or suspicious.");
  const auto options = std::make_shared<DoctorOptions>();
  doctor->add_option("FILE", options->file, "A URDF, SDF or MJCF file.")->required();
  doctor->add_flag("--quick", options->quick, "Only read it: do not let it stand and move, nor compare gradients.");
  doctor->add_option("--seconds", options->seconds, "How long each of standing, moving and comparing may take.")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  doctor->add_flag("--all", options->all, "Print all findings, also where many are alike.");
  doctor->add_flag("--json", options->json, "Print everything as JSON.");
  doctor->add_flag("--no-colour", options->no_colour, "Print without colours.");
  add_file_options(*doctor, options->files);
  doctor
      ->add_option("--write-srdf", options->write_srdf,
                   "Write an SRDF with the pairs of links that do not collide, and why.")
      ->type_name("FILE");
  doctor->footer(
      "Exit code: 0 where there is no error (with --strict: and no warning, of which each verdict of no is one), else "
      "1; 130 if interrupted.");
  doctor->callback([options] {
    const Diagnosis diagnosis = diagnose(*options);
    if (options->json) {
      print_json(diagnosis);
    } else {
      print_text(diagnosis, options->all, stdout_wants_colour(options->no_colour));
    }
    if (diagnosis.interrupted) throw Interrupted();
    const bool bad =
        diagnosis.count(Severity::error) > 0 || (options->files.strict && diagnosis.count(Severity::warning) > 0);
    if (bad) throw CLI::RuntimeError(1);
  });
}

}  // namespace lithe::cli
