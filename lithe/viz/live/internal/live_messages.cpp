#include "lithe/viz/live/internal/live_messages.h"

#include <bit>

#include "lithe/core/internal/little_endian.h"
#include "lithe/viz/document/internal/json_text.h"
#include "lithe/viz/document/show_json.h"

namespace lithe::internal {

namespace {

// Sliders in full, for a new scene.
void add_sliders(JsonText& json, const std::vector<LiveSlider>& sliders) {
  json.open('[');
  for (const LiveSlider& slider : sliders) {
    json.open('{').key("name").text(slider.name).key("unit").text(slider.unit);
    json.key("lower").number(slider.lower).key("upper").number(slider.upper);
    json.key("value").number(slider.value).key("initial").number(slider.initial).close('}');
  }
  json.close(']');
}

// Only where the sliders are: the rest does not change while a scene is shown.
void add_values(JsonText& json, const std::vector<LiveSlider>& sliders) {
  json.open('[');
  for (const LiveSlider& slider : sliders) json.number(slider.value);
  json.close(']');
}

// What both kinds of text messages say of the simulation.
void add_status(JsonText& json, const LiveStatus& status) {
  json.key("playing").truth(status.playing).key("speed").number(status.speed).key("clients").number(status.clients);
}

// The member `live` of a scene message: what can be done with the scene.
std::string live_object(const LiveWorld& world, const LiveCatalogue& catalogue, const LiveStatus& status) {
  JsonText json;
  json.open('{').key("scene").text(world.subject().name).key("scenes").open('[');
  for (const LiveCatalogue::Entry& entry : catalogue.entries) {
    json.open('{').key("name").text(entry.name).key("description").text(entry.description).close('}');
  }
  json.close(']').key("controls");
  add_sliders(json, world.controls());
  json.key("parameters");
  add_sliders(json, world.parameters());
  add_status(json, status);
  json.key("can_step").truth(status.can_step).key("loss");
  if (world.subject().loss) {
    json.text(world.subject().loss->name);
  } else {
    json.null();
  }
  return std::move(json.close('}')).str();
}

void put_f32(std::string& out, float value) { put_u32(out, std::bit_cast<std::uint32_t>(value)); }

void put_all(std::string& out, const std::vector<float>& values) {
  for (const float value : values) put_f32(out, value);
}

// Flags in one word, the first in the lowest bit.
std::uint32_t bits(std::initializer_list<bool> flags) {
  std::uint32_t bits = 0, bit = 1;
  for (const bool flag : flags) {
    if (flag) bits |= bit;
    bit <<= 1;
  }
  return bits;
}

}  // namespace

std::string scene_message(LiveWorld& world, const LiveCatalogue& catalogue, const LiveStatus& status) {
  // The document is complete JSON already, so it is put in as it is.
  return fmt::format(R"({{"type":"scene","number":{},"show":{},"live":{}}})", status.scene, to_json(world.show()),
                     live_object(world, catalogue, status));
}

std::string values_message(const LiveWorld& world, const LiveStatus& status) {
  JsonText json;
  json.open('{').key("type").plain("values").key("controls");
  add_values(json, world.controls());
  json.key("parameters");
  add_values(json, world.parameters());
  add_status(json, status);
  return std::move(json.close('}')).str();
}

std::string error_message(std::string_view what) {
  JsonText json;
  return json.open('{').key("type").plain("error").key("message").text(what).close('}').str();
}

// The words of a frame, in the order of docs/live.md. Frames are binary because there are up to 60 of them a second.
std::string frame_message(const LiveFrame& frame, const LiveStatus& status, std::size_t joints) {
  const ShowTrack& track = frame.track;
  const auto bodies = static_cast<std::uint32_t>(track.poses.size() / 7);
  const std::uint32_t contacts = track.contact_counts.at(0);
  std::string out;
  out.reserve(4 * (18 + 10 * bodies + 3 + 11 * contacts + joints));
  put_u32(out, kFrameMagic);
  put_u32(out, status.scene);
  put_u32(out, frame.epoch);
  put_u32(out, status.frame);
  put_f64(out, frame.time);
  put_f32(out, show_number(1e6 * status.step_seconds));
  put_f32(out, show_number(status.real_time_factor));
  put_u32(out, bits({status.playing, frame.diverged, frame.pushed}));
  put_u32(out, static_cast<std::uint32_t>(frame.solver));
  put_u32(out, bodies);
  put_u32(out, contacts);
  put_u32(out, bits({!track.centre_of_mass.empty(), track.gradients.has_value()}));
  put_u32(out, static_cast<std::uint32_t>(joints));
  put_f32(out, track.series[1].values[0]);  // kinetic energy
  put_f32(out, track.series[2].values[0]);  // potential energy
  put_f32(out, track.series[3].values[0]);  // contact force
  put_f32(out, show_number(frame.loss));
  put_all(out, track.poses);
  put_all(out, track.centre_of_mass);
  for (const std::uint32_t shape : track.contact_shapes) put_u32(out, shape);
  put_all(out, track.contact_values);
  if (track.gradients) {
    put_all(out, track.gradients->bodies);
    put_all(out, track.gradients->joints);
  }
  return out;
}

}  // namespace lithe::internal
