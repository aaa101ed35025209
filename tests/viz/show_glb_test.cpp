#include "lithe/viz/document/show_glb.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "lithe/model/model_builder.h"
#include "lithe/scenes/catalogue.h"
#include "tests/support/error_text.h"
#include "tests/support/json_value.h"
#include "tests/viz/shown_model.h"

namespace lithe::test {
namespace {

ShowDocument show_for_glb(int frames, bool with_visuals = true) {
  const Model model = shown_model();
  const ShowMotion motion = show_motion("sample", kStep, shown_frames(model, frames, kStep));
  return make_show(model, with_visuals ? shown_visuals() : std::vector<Visual>(), "toy", kStep, {motion});
}

std::uint32_t u32_at(const std::string& bytes, std::size_t place) {
  std::uint32_t value = 0;
  EXPECT_LE(place + 4, bytes.size());
  if (place + 4 <= bytes.size()) std::memcpy(&value, bytes.data() + place, 4);
  return value;
}

// A file taken apart by the specification (glTF 2.0, section 4.4), with what it demands of every file checked.
class GlbFile {
 public:
  explicit GlbFile(const std::string& bytes) {
    EXPECT_EQ(bytes.substr(0, 4), "glTF");
    EXPECT_EQ(u32_at(bytes, 4), 2u);
    EXPECT_EQ(u32_at(bytes, 8), bytes.size());
    const std::uint32_t length = u32_at(bytes, 12);
    EXPECT_EQ(length % 4, 0u);
    EXPECT_EQ(bytes.substr(16, 4), "JSON");
    json = parse_json(std::string_view(bytes).substr(20, length));
    if (20 + length < bytes.size()) {
      EXPECT_EQ(u32_at(bytes, 20 + length) % 4, 0u);
      EXPECT_EQ(u32_at(bytes, 20 + length) + 28 + length, bytes.size());
      EXPECT_EQ(bytes.substr(24 + length, 4), std::string("BIN\0", 4));
      binary = bytes.substr(28 + length);
      EXPECT_EQ(json["buffers"].size(), 1u);
      EXPECT_EQ(json["buffers"][0]["byteLength"].number, binary.size());
    }
    EXPECT_EQ(json["asset"]["version"].text, "2.0");
    check_nodes();
  }

  // The numbers of an accessor, which must be within its view, and its view within the file.
  template <class Number>
  std::vector<Number> numbers(double accessor_number, int component, const char* type, int width) const {
    const JsonValue& accessor = json["accessors"][static_cast<std::size_t>(accessor_number)];
    const JsonValue& view = json["bufferViews"][static_cast<std::size_t>(accessor["bufferView"].number)];
    EXPECT_EQ(accessor["componentType"].number, component);
    EXPECT_EQ(accessor["type"].text, type);
    EXPECT_GE(accessor["count"].number, 1);
    const auto count = static_cast<std::size_t>(accessor["count"].number) * static_cast<std::size_t>(width);
    const auto offset = static_cast<std::size_t>(view["byteOffset"].number);
    EXPECT_EQ(offset % 4, 0u);
    EXPECT_EQ(view["byteLength"].number, 4 * count);
    std::vector<Number> out(count);
    EXPECT_LE(offset + 4 * count, binary.size());
    if (offset + 4 * count <= binary.size()) std::memcpy(out.data(), binary.data() + offset, 4 * count);
    if (accessor.has("min")) check_bounds(accessor, out, static_cast<std::size_t>(width));
    return out;
  }
  std::vector<float> floats(double accessor, const char* type, int width) const {
    return numbers<float>(accessor, 5126, type, width);
  }

  JsonValue json;
  std::string binary;

 private:
  template <class Number>
  static void check_bounds(const JsonValue& accessor, const std::vector<Number>& values, std::size_t width) {
    const std::vector<double> least = accessor["min"].numbers(), most = accessor["max"].numbers();
    ASSERT_EQ(least.size(), width);
    ASSERT_EQ(most.size(), width);
    for (std::size_t k = 0; k < width; ++k) {
      double low = values[k], high = values[k];
      for (std::size_t i = k; i < values.size(); i += width) {
        low = std::min<double>(low, values[i]);
        high = std::max<double>(high, values[i]);
      }
      EXPECT_EQ(low, least[k]);
      EXPECT_EQ(high, most[k]);
    }
  }

  // One tree: every node but the root is the child of exactly one other.
  void check_nodes() const {
    std::vector<int> parents(json["nodes"].size(), 0);
    for (const JsonValue& node : json["nodes"].items) {
      if (!node.has("children")) continue;
      EXPECT_GT(node["children"].size(), 0u);
      for (const double child : node["children"].numbers()) ++parents.at(static_cast<std::size_t>(child));
    }
    for (std::size_t i = 0; i < parents.size(); ++i) EXPECT_EQ(parents[i], i == 0 ? 0 : 1) << "node " << i;
    EXPECT_EQ(json["scenes"][0]["nodes"].numbers(), std::vector<double>{0});
  }
};

void check_meshes(const GlbFile& file) {
  for (const JsonValue& mesh : file.json["meshes"].items) {
    SCOPED_TRACE(mesh["name"].text);
    const JsonValue& primitive = mesh["primitives"][0];
    const double positions = primitive["attributes"]["POSITION"].number;
    EXPECT_TRUE(file.json["accessors"][static_cast<std::size_t>(positions)].has("min"));
    const std::size_t vertices = file.floats(positions, "VEC3", 3).size() / 3;
    EXPECT_EQ(file.floats(primitive["attributes"]["NORMAL"].number, "VEC3", 3).size(), 3 * vertices);
    const auto indices = file.numbers<std::uint32_t>(primitive["indices"].number, 5125, "SCALAR", 1);
    EXPECT_EQ(indices.size() % 3, 0u);
    for (const std::uint32_t index : indices) ASSERT_LT(index, vertices);
    EXPECT_LT(primitive["material"].number, file.json["materials"].size());
  }
}

// Key times ascend from zero, quaternions have length one, and every channel has as many values as there are times.
std::vector<float> check_animation(const GlbFile& file) {
  const JsonValue& animation = file.json["animations"][0];
  std::vector<float> times;
  for (const JsonValue& channel : animation["channels"].items) {
    const JsonValue& sampler = animation["samplers"][static_cast<std::size_t>(channel["sampler"].number)];
    times = file.floats(sampler["input"].number, "SCALAR", 1);
    EXPECT_TRUE(file.json["accessors"][static_cast<std::size_t>(sampler["input"].number)].has("max"));
    EXPECT_EQ(times[0], 0);
    for (std::size_t t = 1; t < times.size(); ++t) EXPECT_GT(times[t], times[t - 1]);
    const bool turns = channel["target"]["path"].text == "rotation";
    const std::vector<float> values = file.floats(sampler["output"].number, turns ? "VEC4" : "VEC3", turns ? 4 : 3);
    EXPECT_EQ(values.size(), times.size() * (turns ? 4 : 3));
    if (!turns) continue;
    for (std::size_t i = 0; i < values.size(); i += 4) {
      EXPECT_NEAR(std::hypot(std::hypot(values[i], values[i + 1]), std::hypot(values[i + 2], values[i + 3])), 1, 1e-6);
    }
  }
  return times;
}

TEST(ShowGlb, IsAsTheSpecificationDemands) {
  const ShowDocument show = show_for_glb(12);
  const GlbFile file(to_glb(show));
  check_meshes(file);
  EXPECT_EQ(check_animation(file).size(), 12u);
  EXPECT_EQ(file.json["animations"][0]["channels"].size(), 6u);  // three bodies move
}

TEST(ShowGlb, MovesBodiesAsTheShowDoes) {
  const ShowDocument show = show_for_glb(5);
  const GlbFile file(to_glb(show));
  const JsonValue& animation = file.json["animations"][0];
  for (const JsonValue& channel : animation["channels"].items) {
    const auto node = static_cast<std::size_t>(channel["target"]["node"].number);
    const std::size_t body = node - 1;
    EXPECT_EQ(file.json["nodes"][node]["name"].text, show.bodies.at(body).name);
    const bool turns = channel["target"]["path"].text == "rotation";
    const std::size_t first = turns ? 3 : 0, width = turns ? 4 : 3;
    const JsonValue& sampler = animation["samplers"][static_cast<std::size_t>(channel["sampler"].number)];
    const std::vector<float> values =
        file.floats(sampler["output"].number, turns ? "VEC4" : "VEC3", static_cast<int>(width));
    for (std::size_t t = 0; t < 5; ++t) {
      for (std::size_t k = 0; k < width; ++k) {
        EXPECT_EQ(values.at(width * t + k), show.motions[0].poses[7 * (t * show.bodies.size() + body) + first + k]);
      }
    }
  }
}

TEST(ShowGlb, PutsZUp) {
  const GlbFile file(to_glb(show_for_glb(1)));
  const std::vector<double> q = file.json["nodes"][0]["rotation"].numbers();
  const Mat3 R = rotation_from_quaternion(Vec4(q.at(0), q.at(1), q.at(2), q.at(3)));
  EXPECT_LT((R * Vec3::UnitZ() - Vec3::UnitY()).norm(), 1e-15);
  EXPECT_LT((R * Vec3::UnitX() - Vec3::UnitX()).norm(), 1e-15);
}

TEST(ShowGlb, DrawsVisualsWhereThereAreSome) {
  const auto meshes = [](const ShowDocument& show) {
    const GlbFile file(to_glb(show));
    std::vector<std::string> names;
    for (const JsonValue& mesh : file.json["meshes"].items) names.push_back(mesh["name"].text);
    return names;
  };
  EXPECT_EQ(meshes(show_for_glb(1, false)),
            (std::vector<std::string>{"ground", "box", "upper", "lower", "bob", "rock"}));
  EXPECT_EQ(meshes(show_for_glb(1, true)),
            (std::vector<std::string>{"ground", "box", "lower", "bob", "rock", "wing", "shell"}));
}

TEST(ShowGlb, HasOneMaterialPerColour) {
  const GlbFile file(to_glb(show_for_glb(1)));
  ASSERT_EQ(file.json["materials"].size(), 5u);  // static, two robots, wing, shell
  const JsonValue& shell = file.json["materials"][4];
  EXPECT_EQ(shell["alphaMode"].text, "BLEND");
  EXPECT_EQ(shell["pbrMetallicRoughness"]["baseColorFactor"].numbers(), (std::vector<double>{1, 0, 0, 0.5}));
}

TEST(ShowGlb, TakesNoFramesOneFrameAndHugeTimes) {
  const GlbFile none(to_glb(show_for_glb(0)));
  EXPECT_FALSE(none.json.has("animations"));
  EXPECT_EQ(none.json["nodes"][3]["translation"].numbers(), (std::vector<double>{1, 0, 1.5}));  // "upper", neutral
  EXPECT_EQ(check_animation(GlbFile(to_glb(show_for_glb(1)))).size(), 1u);

  const Model model = shown_model();
  ShowMotion motion = show_motion("late", kStep, shown_frames(model, 30, kStep));
  for (double& time : motion.times) time += 1e10;
  const std::vector<float> times = check_animation(GlbFile(to_glb(make_show(model, {}, "", kStep, {motion}))));
  EXPECT_NEAR(times.back(), 29 * kStep, 1e-4);
}

TEST(ShowGlb, TakesShowsWithoutMotionsShapesOrMoves) {
  const Model model = shown_model();
  EXPECT_FALSE(GlbFile(to_glb(make_show(model, {}, "", kStep, {}))).json.has("animations"));
  const Model nothing = ModelBuilder().build();
  ShowMotion still = {.name = "still", .times = {0, 1}, .q = MatX(0, 2), .v = MatX(0, 2)};
  const GlbFile file(to_glb(make_show(nothing, {}, "", kStep, {still})));
  EXPECT_TRUE(file.binary.empty());
  for (const char* list : {"meshes", "materials", "animations", "accessors", "buffers"}) {
    EXPECT_FALSE(file.json.has(list)) << list;  // empty lists are not allowed
  }
}

TEST(ShowGlb, RefusesAMotionThatIsNotThere) {
  expect_error([] { to_glb(show_for_glb(1), 1); }, "motion 1 of 1");
}

TEST(ShowGlb, HoldsEverySceneOfTheCatalogue) {
  for (const std::string& name : scene_names()) {
    SCOPED_TRACE(name);
    const Scene shown = scene(name);
    const ShowMotion motion = show_motion("start", kStep, {RecordedFrame{.time = 0, .q = shown.q, .v = shown.v}});
    check_meshes(GlbFile(to_glb(make_show(shown.model, {}, name, kStep, {motion}))));
  }
}

}  // namespace
}  // namespace lithe::test
