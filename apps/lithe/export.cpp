#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/lithe/commands.h"
#include "apps/lithe/export_files.h"
#include "apps/lithe/find_scene.h"
#include "lithe/core/check.h"
#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/from_file.h"
#include "lithe/show/show_glb.h"
#include "lithe/show/show_json.h"

namespace lithe::cli {

namespace {

struct ExportOptions {
  std::string recording, compare;
  std::string html, gltf, json;  // files to write
  std::string model, viewer;     // empty: the usual ones
  SceneOptions files;
  int every = 1;
};

// What a browser takes as one text is half a gigabyte.
constexpr double kMostText = 400e6;

struct ShownModel {
  Model model;
  std::vector<Visual> visuals;
};

ShownModel find_model(const std::string& name, const SceneOptions& options) {
  if (!looks_like_file(name)) return {scene(name).model, {}};
  const LoadedModel loaded = load(name, load_options(options.files));
  for (const LoadWarning& warning : loaded.warnings) fmt::print(stderr, "{}\n", to_string(warning));
  return {(options.no_ground ? scene_from(loaded) : scene_on_ground(loaded)).model, loaded.visuals};
}

ShownModel find_model(const ExportOptions& options, const std::string& title) {
  if (!options.model.empty()) return find_model(options.model, options.files);
  try {
    return find_model(title, options.files);
  } catch (const Error& error) {
    throw Error(fmt::format("{}: its title, '{}', leads to no model: {}; name one by --model SCENE|FILE",
                            options.recording, title, error.what()));
  }
}

void check_fits(const std::string& path, const RecordingHeader& header, const Model& model) {
  try {
    check_recording_fits(header, model);
  } catch (const Error& error) {
    throw Error(fmt::format("{} (title '{}'): {}; --model SCENE|FILE names another", path, header.title, error.what()));
  }
}

ShowMotion read_motion(const std::string& path, RecordingReader& reader, int every) {
  ShowMotion motion = show_motion(std::filesystem::path(path).stem().string(), reader, every);
  LITHE_CHECK(!motion.times.empty(), "{}: there is no {}frame in it", path, reader.cut_off() ? "whole " : "");
  if (reader.cut_off()) {
    fmt::print(stderr, "lithe: warning: {} was cut off; it is shown up to its last full frame, t = {:.6g} s\n", path,
               motion.times.back());
  }
  return motion;
}

void check_length(const Model& model, const std::vector<ShowMotion>& motions) {
  double numbers = 0;
  for (const ShowMotion& motion : motions) {
    numbers += static_cast<double>(motion.times.size()) * static_cast<double>(9 + 7 * model.bodies().size());
    for (const std::vector<RecordedContact>& contacts : motion.contacts) {
      numbers += 11 * static_cast<double>(contacts.size());
    }
  }
  const double text = numbers * 4 * 4 / 3;  // four bytes each, in base64
  LITHE_CHECK(text < kMostText,
              "the document would have {:.0f} MB, more than browsers read; --every {} leaves out frames", 1e-6 * text,
              static_cast<long>(text / kMostText) + 1);
}

ShowDocument read_show(const ExportOptions& options) {
  RecordingReader reader(options.recording);
  const RecordingHeader& header = reader.header();
  const ShownModel shown = find_model(options, header.title);
  check_fits(options.recording, header, shown.model);
  std::vector<ShowMotion> motions = {read_motion(options.recording, reader, options.every)};
  if (!options.compare.empty()) {
    RecordingReader other(options.compare);
    check_fits(options.compare, other.header(), shown.model);
    motions.push_back(read_motion(options.compare, other, options.every));
  }
  if (!options.html.empty() || !options.json.empty()) check_length(shown.model, motions);
  return make_show(shown.model, shown.visuals, header.title, header.time_step, motions);
}

void check_outputs(const ExportOptions& options) {
  for (const std::string& out : {options.html, options.gltf, options.json}) {
    for (const std::string& in : {options.recording, options.compare}) {
      std::error_code not_there;
      LITHE_CHECK(out.empty() || in.empty() || !std::filesystem::equivalent(out, in, not_there),
                  "{} is the recording itself; name another file to write", out);
    }
  }
}

void write(const char* kind, const std::string& path, const std::string& bytes) {
  write_file(path, bytes);
  fmt::print("  {:<12}{} ({:.1f} MB)\n", kind, path, 1e-6 * static_cast<double>(bytes.size()));
}

void export_motions(const ExportOptions& options) {
  check_outputs(options);
  const std::string page = options.html.empty() ? "" : read_viewer_page(options.viewer);
  const ShowDocument show = read_show(options);
  const std::string html = options.html.empty() ? "" : to_html(show, page);
  fmt::print("{}\n", show.title);
  for (const ShowTrack& track : show.motions) {
    fmt::print("  {:<12}{}: {} frames, {:.6g} s\n", "motion", track.name, track.frames(),
               track.times.back() - track.times.front());
  }
  if (!options.html.empty()) write("html", options.html, html);
  if (!options.json.empty()) write("json", options.json, to_json(show));
  if (!options.gltf.empty()) write("gltf", options.gltf, to_glb(show));
}

}  // namespace

void add_export(CLI::App& app) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App* command = app.add_subcommand("export", "Make a recording a page, a glTF file or a document to look at.");
  command->add_option("recording", options->recording, "A motion that simulate --out or optimize --record wrote")
      ->required();
  CLI::Option* html = command->add_option("--html", options->html, "One page that shows it, without a server");
  CLI::Option* gltf = command->add_option("--gltf", options->gltf, "An animated binary glTF file (.glb)");
  CLI::Option* json = command->add_option("--json", options->json, "The document that the viewer reads (docs/show.md)");
  for (CLI::Option* option : {html, gltf, json}) option->type_name("OUT");
  command->add_option("--compare", options->compare, "Another recording of the same model, to be shown beside it")
      ->type_name("RECORDING")
      ->excludes(gltf);
  command->add_option("--model", options->model, "What moves in it; by default the scene or file of its title")
      ->type_name("SCENE|FILE");
  command->add_option("--every", options->every, "Take one frame of so many")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command->add_option("--viewer", options->viewer, "The viewer's page; by default the one that `make viewer` builds")
      ->type_name("FILE");
  add_scene_options(*command, options->files);
  command->callback([options] {
    if (options->html.empty() && options->gltf.empty() && options->json.empty()) {
      throw CLI::ValidationError("export", "say what to write: --html OUT.html, --gltf OUT.glb or --json OUT.json");
    }
    export_motions(*options);
  });
}

}  // namespace lithe::cli
