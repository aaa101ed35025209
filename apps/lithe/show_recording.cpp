#include "apps/lithe/show_recording.h"

#include <fmt/core.h>

#include <filesystem>
#include <vector>

#include "apps/experiments/motion_gradients.h"
#include "lithe/core/check.h"

namespace lithe::cli {

namespace {

// What a browser takes as one text is half a gigabyte.
constexpr double kMostText = 400e6;

ShownScene find_subject(const RecordingOptions& options, const std::string& title) {
  if (!options.model.empty()) return find_shown_scene(options.model, options.files);
  try {
    return find_shown_scene(title, options.files);
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

// The columns that show_motion() takes: one of `every`, and the last.
MatX thinned(const MatX& all, int every) {
  std::vector<Eigen::Index> taken;
  for (Eigen::Index t = 0; t < all.cols(); t += every) taken.push_back(t);
  if (taken.back() != all.cols() - 1) taken.push_back(all.cols() - 1);
  return all(Eigen::all, taken);
}

// From all frames, also of those that are left out.
ShowGradients read_gradients(const std::string& path, const Scene& scene, int every) {
  const Recording recording = read_recording(path);
  try {
    const experiments::MotionGradients found =
        experiments::motion_gradients(scene, recording.header.time_step, recording.frames);
    if (found.cut_at >= 0) {
      fmt::print(stderr,
                 "lithe: warning: {}: before t = {:.6g} s gradients are too large for numbers, and are left out\n",
                 path, recording.frames[static_cast<std::size_t>(found.cut_at)].time);
    }
    ShowGradients shown = experiments::show_task_gradients(scene, recording.frames, found);
    shown.bodies = thinned(shown.bodies, every);
    shown.joints = thinned(shown.joints, every);
    return shown;
  } catch (const Error& error) {
    throw Error(fmt::format("{}: no gradients: {}", path, error.what()));
  }
}

void check_length(const Model& model, const std::vector<ShowMotion>& motions) {
  double numbers = 0;
  for (const ShowMotion& motion : motions) {
    numbers += static_cast<double>(motion.times.size()) * static_cast<double>(9 + 7 * model.bodies().size());
    if (motion.gradients)
      numbers += static_cast<double>(motion.gradients->bodies.size() + motion.gradients->joints.size());
    for (const std::vector<RecordedContact>& contacts : motion.contacts) {
      numbers += 11 * static_cast<double>(contacts.size());
    }
  }
  const double text = numbers * 4 * 4 / 3;  // four bytes each, in base64
  LITHE_CHECK(text < kMostText,
              "the document would have {:.0f} MB, more than browsers read; --every {} leaves out frames", 1e-6 * text,
              static_cast<long>(text / kMostText) + 1);
}

}  // namespace

ShowDocument read_show(const RecordingOptions& options) {
  RecordingReader reader(options.recording);
  const RecordingHeader& header = reader.header();
  const ShownScene shown = find_subject(options, header.title);
  const Model& model = shown.scene.model;
  check_fits(options.recording, header, model);
  std::vector<ShowMotion> motions = {read_motion(options.recording, reader, options.every)};
  if (!options.compare.empty()) {
    RecordingReader other(options.compare);
    check_fits(options.compare, other.header(), model);
    motions.push_back(read_motion(options.compare, other, options.every));
  }
  if (options.gradients) {
    motions[0].gradients = read_gradients(options.recording, shown.scene, options.every);
    if (motions.size() > 1) motions[1].gradients = read_gradients(options.compare, shown.scene, options.every);
  }
  if (options.for_browser) check_length(model, motions);
  // A file's title is where it lies, which is how it was found; people want to read what it holds.
  const std::string& title = names_file(header.title) ? shown.name : header.title;
  ShowDocument show = make_show(model, shown.visuals, title, header.time_step, motions);
  show.excepted_pairs = show_excepted_pairs(shown.excepted_pairs);
  return show;
}

}  // namespace lithe::cli
