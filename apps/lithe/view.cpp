#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>

#include "apps/lithe/commands.h"
#include "apps/lithe/export_files.h"
#include "apps/lithe/interrupt.h"
#include "apps/lithe/live_scene.h"
#include "apps/lithe/show_recording.h"
#include "lithe/core/check.h"
#include "lithe/viz/document/show_json.h"
#include "lithe/viz/live/internal/view_server.h"
#include "lithe/viz/live/live_view.h"

namespace lithe::cli {

using namespace internal;

namespace {

struct ViewOptions {
  RecordingOptions in;  // `recording` is whatever is to be seen
  std::string viewer;
  int port = 0;
  std::string token;
  bool paused = false, open = false;
};

void open_in_browser(const std::string& address) {
  // The address is made of letters, digits and :/?=-_ alone.
  const std::string command = fmt::format("xdg-open '{}' >/dev/null 2>&1 &", address);
  if (std::system(command.c_str()) != 0) fmt::print(stderr, "lithe: warning: no browser could be opened\n");
}

void serve(const ViewOptions& options, const std::string& address) {
  const InterruptGuard interrupt;  // before anybody can know that it is time to press Ctrl-C
  fmt::print("{}\n  {}\nOpen it in a browser of this machine; Ctrl-C ends it.\n", options.in.recording, address);
  std::fflush(stdout);
  if (options.open) open_in_browser(address);
  while (!interrupt.interrupted()) std::this_thread::sleep_for(std::chrono::milliseconds(50));
}

void view(const ViewOptions& options) {
  const std::string page = read_viewer_page(options.viewer);
  if (is_recording(options.in.recording)) {
    const internal::ViewServer recording({.port = options.port, .token = options.token},
                                         to_html(read_show(options.in), page));
    serve(options, recording.address());
  } else {
    const LiveView live(live_subject(options.in.recording, options.in.files), live_catalogue(), page,
                        {.port = options.port, .token = options.token, .paused = options.paused});
    serve(options, live.address());
  }
}

}  // namespace

void add_view(CLI::App& app) {
  const auto options = std::make_shared<ViewOptions>();
  CLI::App* command = app.add_subcommand("view", "Look at a scene, a robot file or a recording in the browser.");
  command
      ->add_option("what", options->in.recording,
                   "A scene (`lithe scenes` lists them) or a URDF, SDF or MJCF file, which is simulated live; or a "
                   "recording, which is shown")
      ->type_name("SCENE|FILE|RECORDING")
      ->required();
  command->add_option("--port", options->port, "Of 127.0.0.1; by default any that is free")
      ->check(CLI::Range(0, 65535));
  command->add_option("--token", options->token, "That the address carries; by default a random one");
  command->add_flag("--paused", options->paused, "Wait for Play; else it plays when the first browser is there");
  command->add_flag("--open", options->open, "Open the browser, too");
  command->add_option("--compare", options->in.compare, "Another recording of the same model, to be shown beside it")
      ->type_name("RECORDING");
  command->add_option("--model", options->in.model, "What moves in a recording; by default what its title names")
      ->type_name("SCENE|FILE");
  command->add_option("--every", options->in.every, "Take one frame of so many of a recording")
      ->check(CLI::Range(1, 1000000));
  command->add_flag("--gradients", options->in.gradients,
                    "Show how the loss of a recorded scene's task depends on the motion");
  command->add_option("--viewer", options->viewer, "The viewer's page; by default the one that `make viewer` builds")
      ->type_name("FILE");
  add_scene_options(*command, options->in.files);
  command->callback([options] { view(*options); });
}

}  // namespace lithe::cli
