#include "lithe/viz/document/show_json.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/support/error_text.h"
#include "tests/support/json_value.h"
#include "tests/viz/shown_model.h"

namespace lithe::test {
namespace {

ShowDocument show_for_json(int frames = 4) {
  const Model model = shown_model();
  ShowMotion motion = show_motion("sample", kStep, shown_frames(model, frames, kStep));
  motion.series.push_back({"cost per step", "", std::vector<double>(static_cast<std::size_t>(frames), 0.1)});
  return make_show(model, shown_visuals(), "toy", kStep, {motion, motion});
}

TEST(ShowJson, GivesBackEveryNumber) {
  const ShowDocument show = show_for_json();
  const JsonValue json = parse_json(to_json(show));
  EXPECT_EQ(json["format"].text, "lithe-show");
  EXPECT_EQ(json["version"].number, 1);
  EXPECT_EQ(json["title"].text, "toy");
  EXPECT_EQ(json["time_step"].number, kStep);
  EXPECT_EQ(json["up"].text, "z");
  EXPECT_EQ(json["gravity"].numbers(), (std::vector<double>{0, 0, -9.81}));
  EXPECT_EQ(json["bodies"].size(), show.bodies.size());
  EXPECT_EQ(json["bodies"][0]["name"].text, "world");
  EXPECT_TRUE(json["bodies"][0]["fixed"].truth);
  EXPECT_FALSE(json["bodies"][1]["fixed"].truth);
  EXPECT_EQ(json["bodies"][1]["robot"].number, show.bodies[1].robot);
  ASSERT_EQ(json["motions"].size(), 2u);
  const JsonValue& motion = json["motions"][1];
  const ShowTrack& track = show.motions[1];
  EXPECT_EQ(motion["name"].text, "sample");
  EXPECT_EQ(motion["times"].floats(), track.times);
  EXPECT_EQ(motion["poses"].floats(), track.poses);
  EXPECT_EQ(motion["contact_counts"].unsigneds(), track.contact_counts);
  EXPECT_EQ(motion["contact_shapes"].unsigneds(), track.contact_shapes);
  EXPECT_EQ(motion["contact_values"].floats(), track.contact_values);
  EXPECT_EQ(motion["centre_of_mass"].floats(), track.centre_of_mass);
  ASSERT_EQ(motion["series"].size(), 5u);
  EXPECT_EQ(motion["series"][3]["name"].text, "contact force");
  EXPECT_EQ(motion["series"][3]["unit"].text, "N");
  EXPECT_EQ(motion["series"][3]["values"].floats(), track.series[3].values);
  EXPECT_FALSE(motion.has("gradients"));
  EXPECT_EQ(json["curves"].size(), 0u);
}

TEST(ShowJson, DescribesEveryKindOfShape) {
  const ShowDocument show = show_for_json();
  const JsonValue json = parse_json(to_json(show));
  const auto shape = [&](const std::string& name, const char* kind) -> const JsonValue& {
    static const JsonValue kNone;
    for (const JsonValue& item : json["shapes"].items) {
      if (item["name"].text == name && item["kind"].text == kind) return item;
    }
    ADD_FAILURE() << "no " << kind << " named " << name;
    return kNone;
  };
  shape("ground", "plane");
  EXPECT_EQ(shape("box", "box")["half_size"].numbers(), (std::vector<double>{0.1, 0.2, 0.3}));
  EXPECT_EQ(shape("bob", "sphere")["radius"].number, 0.1);
  EXPECT_EQ(shape("upper", "capsule")["half_length"].number, 0.4);
  EXPECT_EQ(shape("upper", "capsule")["color"].kind, JsonValue::Kind::null);
  const JsonValue& lower = shape("lower", "cylinder");
  EXPECT_EQ(lower["radius"].number, 0.04);
  EXPECT_EQ(lower["role"].text, "collision");
  EXPECT_EQ(lower["position"].numbers(), (std::vector<double>{0, 0, -0.3}));
  const std::vector<double> q = lower["quaternion"].numbers();
  ASSERT_EQ(q.size(), 4u);
  EXPECT_LT((rotation_from_quaternion(Vec4(q[0], q[1], q[2], q[3])) - rotation_exp(Vec3(0.3, 0.2, 0.1))).norm(), 1e-14);
  EXPECT_EQ(shape("rock", "mesh")["vertices"].floats().size(), 12u);
  const JsonValue& wing = shape("wing", "mesh");
  EXPECT_EQ(wing["role"].text, "visual");
  EXPECT_EQ(wing["triangles"].unsigneds(), (std::vector<std::uint32_t>{0, 2, 1}));
  EXPECT_EQ(shape("shell", "box")["color"].numbers(), (std::vector<double>{1, 0, 0, 0.5}));
}

TEST(ShowJson, HasJointsCurvesAndGradients) {
  ShowDocument show = show_for_json(2);
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  show.curves.push_back({"cost", {0, 1, 2, 3}, {infinity, 2, nan, 1}, "iteration", "cost", true});
  show.motions[0].gradients = ShowTrack::Gradients{"throw", {1, 2, 3}, {4}};
  const JsonValue json = parse_json(to_json(show));
  EXPECT_EQ(json["joints"][4]["name"].text, "hinge");
  EXPECT_EQ(json["joints"][4]["type"].text, "revolute");
  EXPECT_EQ(json["joints"][4]["axis"].numbers(), (std::vector<double>{0, 1, 0}));
  EXPECT_EQ(json["joints"][4]["position"].numbers(), (std::vector<double>{0, 0, 0.5}));
  EXPECT_EQ(json["curves"][0]["x"].floats(), (std::vector<float>{1, 3}));
  EXPECT_EQ(json["curves"][0]["y"].floats(), (std::vector<float>{2, 1}));
  EXPECT_TRUE(json["curves"][0]["log_y"].truth);
  EXPECT_EQ(json["motions"][0]["gradients"]["loss"].text, "throw");
  EXPECT_EQ(json["motions"][0]["gradients"]["bodies"].floats(), (std::vector<float>{1, 2, 3}));
  show.curves[0].y.pop_back();
  expect_error([&] { to_json(show); }, "curve 'cost' has 4 x and 3 y");
}

TEST(ShowJson, ListsPairsThatDoNotTouch) {
  ShowDocument show = show_for_json(1);
  EXPECT_EQ(parse_json(to_json(show))["excepted_pairs"].size(), 0u);
  show.excepted_pairs = show_excepted_pairs(
      {{.a = "upper", .b = "box", .reason = ExceptedPair::Reason::often, .poses = 32, .share = 0.75},
       {.a = "lower", .b = "rock", .reason = ExceptedPair::Reason::srdf}});
  const JsonValue json = parse_json(to_json(show));
  EXPECT_EQ(json["version"].number, 1);  // who does not know of them reads the rest
  const JsonValue& pairs = json["excepted_pairs"];
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0]["a"].text, "upper");
  EXPECT_EQ(pairs[0]["b"].text, "box");
  EXPECT_EQ(pairs[0]["reason"].text, "they touch in 75 % of poses");
  EXPECT_EQ(pairs[1]["a"].text, "lower");
  EXPECT_EQ(pairs[1]["reason"].text, "an SRDF says so");
}

TEST(ShowJson, HasNoNumberThatJsonCannotHold) {
  ShowDocument show = show_for_json(0);
  show.gravity = Vec3(0, 0, std::numeric_limits<double>::quiet_NaN());
  expect_error([&] { to_json(show); }, "nan is no number");
}

TEST(ShowJson, OfAnEmptyMotionIsComplete) {
  const JsonValue json = parse_json(to_json(show_for_json(0)));
  EXPECT_TRUE(json["motions"][0]["times"].floats().empty());
  EXPECT_TRUE(json["motions"][0]["poses"].floats().empty());
}

const std::string kPage = "<!doctype html><head>" + std::string(kShowPlaceholder) + "</head><body>$& \\1</body>";

// What a browser takes as the content of the script element: up to the first "</script", in whatever case.
std::string script_content(const std::string& page) {
  const std::string open = R"(<script type="application/json" id="lithe-show">)";
  const std::size_t start = page.find(open) + open.size();
  return page.substr(start, page.find("</script", start) - start);
}

TEST(ShowJson, SurvivesHostileNames) {
  const std::string hostile[] = {"</script><script>alert(1)</script>",
                                 "</SCRIPT >",
                                 "<!--<script>",
                                 "]]>",
                                 "\"quoted\" and \\ and \\\"",
                                 std::string("\0\x01\x1f\x7f\n\r\t\b\f", 9),
                                 "größe 重 🤖",
                                 "\xE2\x80\xA8\xE2\x80\xA9",  // U+2028, U+2029
                                 "$& $1 \\1 null",
                                 ""};
  for (const std::string& name : hostile) {
    SCOPED_TRACE(name);
    ShowDocument show = show_for_json(1);
    show.title = name;
    show.bodies[0].name = show.shapes[0].name = show.joints[0].name = show.motions[0].name = name;
    show.excepted_pairs = {{name, "b", name}};
    const std::string text = to_json(show);
    EXPECT_EQ(text.find('<'), std::string::npos);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    const JsonValue json = parse_json(script_content(to_html(show, kPage)));
    EXPECT_EQ(json["title"].text, name);
    EXPECT_EQ(json["bodies"][0]["name"].text, name);
    EXPECT_EQ(json["shapes"][0]["name"].text, name);
    EXPECT_EQ(json["joints"][0]["name"].text, name);
    EXPECT_EQ(json["motions"][0]["name"].text, name);
    EXPECT_EQ(json["excepted_pairs"][0]["a"].text, name);
    EXPECT_EQ(json["excepted_pairs"][0]["reason"].text, name);
  }
}

TEST(ShowJson, ReplacesWhatIsNoUtf8) {
  const std::string replacement = "\xEF\xBF\xBD";
  const auto shown = [](const std::string& title) {
    ShowDocument show = show_for_json(0);
    show.title = title;
    return parse_json(to_json(show))["title"].text;
  };
  EXPECT_EQ(shown("a\xFFz"), "a" + replacement + "z");
  EXPECT_EQ(shown("\xC3"), replacement);                                                        // cut off
  EXPECT_EQ(shown("\xC0\xAF"), replacement + replacement);                                      // '/', overlong
  EXPECT_EQ(shown("\xC0\xBC"), replacement + replacement);                                      // '<', overlong
  EXPECT_EQ(shown("\xED\xA0\x80"), replacement + replacement + replacement);                    // a surrogate
  EXPECT_EQ(shown("\xF4\x90\x80\x80"), replacement + replacement + replacement + replacement);  // above U+10FFFF
  EXPECT_EQ(shown("\xF4\x8F\xBF\xBF"), "\xF4\x8F\xBF\xBF");
}

TEST(ShowHtml, IsThePageWithTheDocumentInIt) {
  const ShowDocument show = show_for_json();
  const std::string page = to_html(show, kPage);
  EXPECT_EQ(script_content(page), to_json(show));
  EXPECT_TRUE(page.starts_with("<!doctype html><head><script type"));
  EXPECT_TRUE(page.ends_with("</script></head><body>$& \\1</body>"));
}

TEST(ShowHtml, NeedsThePlaceholder) {
  expect_error([] { to_html(show_for_json(0), "<html></html>"); }, "no place for the document", "lithe-show");
  expect_error([] { to_html(show_for_json(0), ""); }, "no place for the document");
}

}  // namespace
}  // namespace lithe::test
