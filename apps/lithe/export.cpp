#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "apps/lithe/commands.h"
#include "apps/lithe/export_files.h"
#include "apps/lithe/show_recording.h"
#include "lithe/core/check.h"
#include "lithe/viz/document/show_glb.h"
#include "lithe/viz/document/show_json.h"

namespace lithe::cli {

namespace {

struct ExportOptions {
  RecordingOptions in;
  std::string html, gltf, json;  // files to write
  std::string viewer;            // empty: the usual one
};

void check_outputs(const ExportOptions& options) {
  for (const std::string& out : {options.html, options.gltf, options.json}) {
    for (const std::string& in : {options.in.recording, options.in.compare}) {
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
  RecordingOptions in = options.in;
  in.for_browser = !options.html.empty() || !options.json.empty();
  const ShowDocument show = read_show(in);
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
  command->add_option("recording", options->in.recording, "A motion that simulate --out or optimize --record wrote")
      ->required();
  CLI::Option* html = command->add_option("--html", options->html, "One page that shows it, without a server");
  CLI::Option* gltf = command->add_option("--gltf", options->gltf, "An animated binary glTF file (.glb)");
  CLI::Option* json = command->add_option("--json", options->json, "The document that the viewer reads (docs/show.md)");
  for (CLI::Option* option : {html, gltf, json}) option->type_name("OUT");
  command->add_option("--compare", options->in.compare, "Another recording of the same model, to be shown beside it")
      ->type_name("RECORDING")
      ->excludes(gltf);
  command->add_option("--model", options->in.model, "What moves in it; by default the scene or file of its title")
      ->type_name("SCENE|FILE");
  command->add_option("--every", options->in.every, "Take one frame of so many")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command
      ->add_flag("--gradients", options->in.gradients,
                 "With the gradient of the scene's task at the end, by every position and every force on the way")
      ->excludes(gltf);
  command->add_option("--viewer", options->viewer, "The viewer's page; by default the one that `make viewer` builds")
      ->type_name("FILE");
  add_scene_options(*command, options->in.files);
  command->callback([options] {
    if (options->html.empty() && options->gltf.empty() && options->json.empty()) {
      throw CLI::ValidationError("export", "say what to write: --html OUT.html, --gltf OUT.glb or --json OUT.json");
    }
    export_motions(*options);
  });
}

}  // namespace lithe::cli
