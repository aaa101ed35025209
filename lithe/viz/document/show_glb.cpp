#include "lithe/viz/document/show_glb.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <span>

#include "lithe/core/check.h"
#include "lithe/core/internal/little_endian.h"
#include "lithe/core/version.h"
#include "lithe/viz/document/internal/json_text.h"
#include "lithe/viz/document/internal/surface.h"

namespace lithe {

using namespace internal;

namespace {

// Numbers that the glTF 2.0 specification gives to things (sections 3.6.2, 5.11).
constexpr int kFloat = 5126, kUnsignedInt = 5125;
constexpr int kVertices = 34962, kIndices = 34963, kNoTarget = 0;

// The colours of robots that bring none, and of what does not move.
const Vec4 kPalette[] = {{0.23, 0.51, 0.87, 1}, {0.93, 0.53, 0.18, 1}, {0.25, 0.66, 0.47, 1},
                         {0.80, 0.33, 0.42, 1}, {0.55, 0.42, 0.80, 1}, {0.85, 0.71, 0.25, 1}};
const Vec4 kStaticColor = {0.62, 0.64, 0.67, 1};

// Colours are given as screens show them (sRGB); glTF wants them linear in light (IEC 61966-2-1).
double linear(double c) {
  c = std::clamp(c, 0.0, 1.0);
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

// Arrays in the file's binary part, and the "accessors" that say where they are.
class Arrays {
 public:
  Arrays() {
    views_.open('[');
    accessors_.open('[');
  }

  // `width` numbers each; returns the accessor. Bounds are what the specification asks of key times and positions.
  std::size_t add(std::span<const float> values, int width, int target, bool bounds) {
    static constexpr const char* kType[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
    add_view(values.size(), target);
    for (const float value : values) put_u32(bytes_, std::bit_cast<std::uint32_t>(value));
    open_accessor(kFloat, kType[width], values.size() / static_cast<std::size_t>(width));
    if (bounds) {
      VecX least = VecX::Constant(width, std::numeric_limits<double>::infinity()), most = -least;
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto k = static_cast<Eigen::Index>(i) % width;
        least[k] = std::min<double>(least[k], values[i]);
        most[k] = std::max<double>(most[k], values[i]);
      }
      accessors_.key("min").numbers(least).key("max").numbers(most);
    }
    accessors_.close('}');
    return count_++;
  }

  std::size_t add(std::span<const std::uint32_t> values) {
    add_view(values.size(), kIndices);
    for (const std::uint32_t value : values) put_u32(bytes_, value);
    open_accessor(kUnsignedInt, "SCALAR", values.size());
    accessors_.close('}');
    return count_++;
  }

  void put_to(JsonText& json) {
    if (count_ == 0) return;
    json.key("bufferViews").value(views_.close(']')).key("accessors").value(accessors_.close(']'));
    json.key("buffers").open('[').open('{').key("byteLength").number(bytes_.size()).close('}').close(']');
  }

  const std::string& bytes() const { return bytes_; }

 private:
  // Begins a stretch of the binary part. It has to end well below 4 GiB, the greatest length of a file of this format,
  // so that there is room for the JSON.
  void add_view(std::size_t numbers, int target) {
    LITHE_CHECK(bytes_.size() + 4 * numbers < (std::size_t{1} << 32) - (std::size_t{1} << 24),
                "the motion is too long for a glTF file, which ends at 4 GiB; leave out frames");
    views_.open('{').key("buffer").number(0).key("byteOffset").number(bytes_.size());
    views_.key("byteLength").number(4 * numbers);
    if (target != kNoTarget) views_.key("target").number(target);
    views_.close('}');
  }

  // What the stretch holds: the type of its numbers, and how many go together.
  void open_accessor(int component, const char* type, std::size_t count) {
    accessors_.open('{').key("bufferView").number(count_).key("componentType").number(component);
    accessors_.key("count").number(count).key("type").plain(type);
  }

  std::string bytes_;
  JsonText views_, accessors_;
  std::size_t count_ = 0;  // of accessors, each with a view of its own
};

// Writes the file: a JSON chunk that says what there is, and a binary chunk with the arrays.
class GlbWriter {
 public:
  GlbWriter(const ShowDocument& show, const ShowTrack& track) : show_(show), track_(track) {}

  // The order of members is free in JSON. Arrays come last, because meshes and animations add to them.
  std::string write() {
    add_nodes();
    JsonText json;
    json.open('{').key("asset").open('{').key("version").plain("2.0");
    json.key("generator").text(fmt::format("lithe {}", kVersion)).close('}');
    json.key("scene").number(0).key("scenes").open('[').open('{').key("name").text(show_.title);
    json.key("nodes").open('[').number(0).close(']').close('}').close(']');
    json.key("nodes").value(nodes_);
    if (mesh_count_ > 0) json.key("meshes").value(meshes_.close(']')).key("materials").value(materials());
    if (track_.frames() > 0 && moving_bodies() > 0) json.key("animations").value(animations());
    arrays_.put_to(json);
    json.close('}');
    return file(std::move(json).str());
  }

 private:
  // Node 0 is the root, node 1 + i is body i; shapes follow.
  void add_nodes() {
    std::vector<std::vector<std::size_t>> children(show_.bodies.size());
    const std::size_t first_shape = 1 + show_.bodies.size();
    std::size_t shape_count = 0;
    JsonText shapes;
    for (const ShowShape* shape : drawn_shapes()) {
      const Surface surface = surface_of(*shape);
      if (surface.triangles.empty()) continue;
      children[static_cast<std::size_t>(shape->body)].push_back(first_shape + shape_count++);
      shapes.open('{').key("name").text(shape->name).key("mesh").number(add_mesh(*shape, surface));
      put_pose(shapes, shape->placement).close('}');
    }
    nodes_.open('[').open('{').key("name").text("z up");
    nodes_.key("rotation").numbers(Vec4(-std::sqrt(0.5), 0, 0, std::sqrt(0.5))).key("children").open('[');
    for (std::size_t i = 0; i < show_.bodies.size(); ++i) nodes_.number(1 + i);
    nodes_.close(']').close('}');
    for (std::size_t i = 0; i < show_.bodies.size(); ++i) {
      nodes_.open('{').key("name").text(show_.bodies[i].name);
      put_pose(nodes_, first_pose(i));
      if (!children[i].empty()) nodes_.key("children").numbers(children[i]);
      nodes_.close('}');
    }
    if (shape_count > 0) nodes_.value(shapes);
    nodes_.close(']');
  }

  // Visuals where a body has any, else the shapes that collide.
  std::vector<const ShowShape*> drawn_shapes() const {
    std::vector<bool> has_visual(show_.bodies.size(), false);
    for (const ShowShape& shape : show_.shapes) {
      if (shape.visual) has_visual[static_cast<std::size_t>(shape.body)] = true;
    }
    std::vector<const ShowShape*> drawn;
    for (const ShowShape& shape : show_.shapes) {
      if (shape.visual == has_visual[static_cast<std::size_t>(shape.body)]) drawn.push_back(&shape);
    }
    return drawn;
  }

  // Where a body's node is while no animation plays.
  Pose first_pose(std::size_t body) const {
    if (track_.frames() == 0) return show_.bodies[body].neutral;
    const Eigen::Matrix<double, 7, 1> pose =
        Eigen::Map<const Eigen::Matrix<float, 7, 1>>(&track_.poses[7 * body]).cast<double>();
    return {rotation_from_quaternion(pose.tail<4>()), pose.head<3>()};
  }

  static JsonText& put_pose(JsonText& json, const Pose& pose) {
    json.key("translation").numbers(pose.p);
    return json.key("rotation").numbers(quaternion_from_rotation(pose.R).normalized());
  }

  // Puts a surface into the arrays and returns the number of its mesh.
  std::size_t add_mesh(const ShowShape& shape, const Surface& surface) {
    const std::size_t positions = arrays_.add(surface.positions, 3, kVertices, true);
    const std::size_t normals = arrays_.add(surface.normals, 3, kVertices, false);
    const std::size_t triangles = arrays_.add(surface.triangles);
    if (mesh_count_ == 0) meshes_.open('[');
    meshes_.open('{').key("name").text(shape.name).key("primitives").open('[').open('{');
    meshes_.key("attributes").open('{').key("POSITION").number(positions).key("NORMAL").number(normals).close('}');
    meshes_.key("indices").number(triangles).key("material").number(material_of(shape));
    meshes_.close('}').close(']').close('}');
    return mesh_count_++;
  }

  // The number of the material with a shape's colour. Shapes of one colour share one.
  std::size_t material_of(const ShowShape& shape) {
    const int robot = show_.bodies[static_cast<std::size_t>(shape.body)].robot;
    const Vec4 color = shape.color ? *shape.color
                       : robot < 0 ? kStaticColor
                                   : kPalette[static_cast<std::size_t>(robot) % std::size(kPalette)];
    const auto known = std::find(colors_.begin(), colors_.end(), color);
    if (known != colors_.end()) return static_cast<std::size_t>(known - colors_.begin());
    colors_.push_back(color);
    return colors_.size() - 1;
  }

  // Seen from both sides: the meshes that people have are often open.
  JsonText materials() const {
    JsonText json;
    json.open('[');
    for (const Vec4& c : colors_) {
      const double opacity = std::clamp(c[3], 0.0, 1.0);
      json.open('{').key("pbrMetallicRoughness").open('{');
      json.key("baseColorFactor").numbers(Vec4(linear(c[0]), linear(c[1]), linear(c[2]), opacity));
      json.key("metallicFactor").number(0).key("roughnessFactor").number(0.7).close('}');
      if (opacity < 1) json.key("alphaMode").plain("BLEND");
      json.key("doubleSided").truth(true).close('}');
    }
    json.close(']');
    return json;
  }

  std::size_t moving_bodies() const {
    return static_cast<std::size_t>(
        std::count_if(show_.bodies.begin(), show_.bodies.end(), [](const ShowBody& body) { return !body.fixed(); }));
  }

  // Two channels per body that moves, all with the same key times.
  JsonText animations() {
    const std::size_t times = arrays_.add(key_times(), 1, kNoTarget, true);
    JsonText json, samplers, channels;
    samplers.open('[');
    channels.open('[');
    int count = 0;
    for (std::size_t body = 0; body < show_.bodies.size(); ++body) {
      if (show_.bodies[body].fixed()) continue;
      for (const auto& [path, first, width] : {std::tuple{"translation", 0, 3}, {"rotation", 3, 4}}) {
        const std::size_t values = arrays_.add(pose_entries(body, first, width), width, kNoTarget, false);
        samplers.open('{').key("input").number(times).key("interpolation").plain("LINEAR");
        samplers.key("output").number(values).close('}');
        channels.open('{').key("sampler").number(count++).key("target").open('{');
        channels.key("node").number(1 + body).key("path").plain(path).close('}').close('}');
      }
    }
    json.open('[').open('{').key("name").text(track_.name).key("samplers").value(samplers.close(']'));
    json.key("channels").value(channels.close(']')).close('}').close(']');
    return json;
  }

  // From the first frame on. A difference of ascending floats may round to the same number twice, but keys may not.
  std::vector<float> key_times() const {
    std::vector<float> times = track_.times;
    for (std::size_t t = 0; t < times.size(); ++t) {
      times[t] = show_number(static_cast<double>(track_.times[t]) - static_cast<double>(track_.times[0]));
      if (t > 0 && !(times[t] > times[t - 1])) {
        times[t] = std::nextafter(times[t - 1], std::numeric_limits<float>::infinity());
      }
    }
    return times;
  }

  // Some of the seven numbers of a body's pose, over all frames: its places, or its rotations.
  std::vector<float> pose_entries(std::size_t body, int first, int width) const {
    std::vector<float> entries;
    entries.reserve(track_.frames() * static_cast<std::size_t>(width));
    for (std::size_t t = 0; t < track_.frames(); ++t) {
      const float* pose = &track_.poses[7 * (t * show_.bodies.size() + body)];
      entries.insert(entries.end(), pose + first, pose + first + width);
    }
    return entries;
  }

  // A head and two chunks, each a multiple of four bytes long (section 4.4).
  std::string file(std::string json) const {
    json.resize((json.size() + 3) / 4 * 4, ' ');
    const std::string& bytes = arrays_.bytes();  // made of four-byte numbers
    const std::size_t binary_chunk = bytes.empty() ? 0 : 8 + bytes.size();
    const std::size_t length = 12 + 8 + json.size() + binary_chunk;
    LITHE_CHECK(length <= std::numeric_limits<std::uint32_t>::max(), "a glTF file of {} bytes; 4 GiB is the most",
                length);
    std::string out = "glTF";
    out.reserve(length);
    put_u32(out, 2);
    put_u32(out, static_cast<std::uint32_t>(length));
    put_u32(out, static_cast<std::uint32_t>(json.size()));
    out += "JSON" + json;
    if (!bytes.empty()) {
      put_u32(out, static_cast<std::uint32_t>(bytes.size()));
      out += std::string_view("BIN\0", 4);
      out += bytes;
    }
    return out;
  }

  const ShowDocument& show_;
  const ShowTrack& track_;
  Arrays arrays_;
  JsonText nodes_, meshes_;
  std::size_t mesh_count_ = 0;
  std::vector<Vec4> colors_;  // of the materials
};

}  // namespace

std::string to_glb(const ShowDocument& show, std::size_t motion) {
  static const ShowTrack kStill;
  LITHE_CHECK(motion < show.motions.size() || (show.motions.empty() && motion == 0), "motion {} of {}", motion,
              show.motions.size());
  return GlbWriter(show, show.motions.empty() ? kStill : show.motions[motion]).write();
}

}  // namespace lithe
