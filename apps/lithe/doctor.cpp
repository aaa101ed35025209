#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>

#include "apps/lithe/commands.h"
#include "apps/lithe/doctor_checks.h"
#include "apps/lithe/doctor_contacts.h"
#include "apps/lithe/json.h"
#include "apps/lithe/load_file.h"
#include "apps/lithe/terminal.h"
#include "lithe/io/write_srdf.h"

namespace lithe::cli {

namespace {

struct DoctorOptions {
  std::string file;
  FileOptions files;
  std::string write_srdf;  // where to
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
  std::vector<Finding> findings = {};
  std::string touching = "[]", excepted = "[]";  // pairs of bodies, as JSON

  int count(Finding::Severity severity) const {
    return static_cast<int>(std::ranges::count(findings, severity, &Finding::severity));
  }
};

Diagnosis diagnose(const DoctorOptions& options) {
  Diagnosis diagnosis = {.file = options.file};
  LoadOptions load_with = load_options(options.files);
  load_with.strict = false;  // all of them are listed; --strict is about the exit code
  const auto start = std::chrono::steady_clock::now();
  try {
    const LoadedModel loaded = load(options.file, load_with);
    diagnosis.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    diagnosis.loads = true;
    diagnosis.name = loaded.name;
    diagnosis.bodies = static_cast<int>(loaded.model.bodies().size()) - 1;
    diagnosis.joints = static_cast<int>(loaded.model.joints().size());
    diagnosis.dofs = loaded.model.nv();
    diagnosis.shapes = static_cast<int>(loaded.model.shapes().size());
    diagnosis.meshes = static_cast<int>(loaded.collision_meshes.size());
    diagnosis.mass = loaded.model.total_mass();
    diagnosis.findings = examine(loaded);
    if (options.json) diagnosis.touching = touching_json(touching_pairs(loaded));
    diagnosis.excepted = excepted_json(loaded);
    if (!options.write_srdf.empty()) save_srdf(loaded, options.write_srdf);
  } catch (const Error& error) {
    diagnosis.findings.push_back({Finding::Severity::error, "load", error.what()});
  }
  return diagnosis;
}

void print_json(const Diagnosis& diagnosis) {
  std::string findings;
  for (const Finding& finding : diagnosis.findings) {
    JsonObject object;
    object.add("severity", to_string(finding.severity)).add("check", finding.check).add("text", finding.text);
    findings += (findings.empty() ? "" : ", ") + object.text();
  }
  JsonObject json;
  json.add("file", diagnosis.file)
      .add("loads", diagnosis.loads)
      .add("name", diagnosis.name)
      .add("bodies", diagnosis.bodies)
      .add("joints", diagnosis.joints)
      .add("dofs", diagnosis.dofs)
      .add("shapes", diagnosis.shapes)
      .add("collision_meshes", diagnosis.meshes)
      .add("mass", diagnosis.mass)
      .add("load_seconds", diagnosis.seconds)
      .add("errors", diagnosis.count(Finding::Severity::error))
      .add("warnings", diagnosis.count(Finding::Severity::warning))
      .add("notes", diagnosis.count(Finding::Severity::note));
  std::string text = json.text();
  text.back() = ',';
  fmt::print("{} \"excepted_pairs\": {}, \"touching_pairs\": {}, \"findings\": [{}]}}\n", text, diagnosis.excepted,
             diagnosis.touching, findings);
}

void print_text(const Diagnosis& diagnosis, bool coloured) {
  if (diagnosis.loads) {
    fmt::print("{}: {}, {} bodies, {} joints, {} DoFs, {:.4g} kg, {} shapes ({} meshes), read in {:.0f} ms\n",
               diagnosis.file, diagnosis.name.empty() ? "without a name" : diagnosis.name, diagnosis.bodies,
               diagnosis.joints, diagnosis.dofs, diagnosis.mass, diagnosis.shapes, diagnosis.meshes,
               1e3 * diagnosis.seconds);
  }
  for (const Finding& finding : diagnosis.findings) {
    if (finding.check == "load") {
      fmt::print("  {}\n", finding.text);  // says itself where and that it is an error
      continue;
    }
    const char* colour = finding.severity == Finding::Severity::error     ? "\033[31m"
                         : finding.severity == Finding::Severity::warning ? "\033[33m"
                                                                          : "\033[36m";
    fmt::print("  {}{:<7}{}  {:<14}  {}\n", coloured ? colour : "", to_string(finding.severity),
               coloured ? "\033[0m" : "", finding.check, finding.text);
  }
  const int errors = diagnosis.count(Finding::Severity::error), warnings = diagnosis.count(Finding::Severity::warning);
  if (diagnosis.findings.empty()) {
    fmt::print("  nothing to complain about\n");
  } else {
    fmt::print("{} error{}, {} warning{}, {} note{}\n", errors, errors == 1 ? "" : "s", warnings,
               warnings == 1 ? "" : "s", diagnosis.count(Finding::Severity::note),
               diagnosis.count(Finding::Severity::note) == 1 ? "" : "s");
  }
}

}  // namespace

void add_doctor(CLI::App& app) {
  CLI::App* doctor = app.add_subcommand("doctor", "Read a robot file and say what is wrong with it, or suspicious.");
  const auto options = std::make_shared<DoctorOptions>();
  doctor->add_option("FILE", options->file, "A URDF, SDF or MJCF file.")->required();
  doctor->add_flag("--json", options->json, "Print the findings as JSON.");
  doctor->add_flag("--no-colour", options->no_colour, "Print without colours.");
  add_file_options(*doctor, options->files);
  doctor
      ->add_option("--write-srdf", options->write_srdf,
                   "Write an SRDF with the pairs of links that do not collide, and why.")
      ->type_name("FILE");
  doctor->footer("Exit code: 0 where there is no error (with --strict: and no warning), else 1.");
  doctor->callback([options] {
    const Diagnosis diagnosis = diagnose(*options);
    if (options->json) {
      print_json(diagnosis);
    } else {
      print_text(diagnosis, stdout_wants_colour(options->no_colour));
    }
    const bool bad = diagnosis.count(Finding::Severity::error) > 0 ||
                     (options->files.strict && diagnosis.count(Finding::Severity::warning) > 0);
    if (bad) throw CLI::RuntimeError(1);
  });
}

}  // namespace lithe::cli
