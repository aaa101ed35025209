#include "lithe/viz/live/internal/live_command.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "tests/support/error_text.h"
#include "tests/support/random_test.h"

namespace lithe::test {

using namespace internal;
namespace {

using namespace live;

template <class Kind>
Kind parsed(std::string_view text) {
  const Command command = parse_command(text);
  EXPECT_TRUE(std::holds_alternative<Kind>(command)) << text;
  return std::holds_alternative<Kind>(command) ? std::get<Kind>(command) : Kind{};
}

template <class... Parts>
void refused(std::string_view text, const Parts&... parts) {
  SCOPED_TRACE(text);
  expect_error([&] { parse_command(text); }, parts...);
}

TEST(ParseCommand, KnowsEveryCommand) {
  parsed<Play>("play");
  parsed<Pause>("pause");
  parsed<Reset>("reset");
  parsed<RestoreDefaults>("defaults");
  parsed<Release>("release");
  EXPECT_EQ(parsed<Step>("step 1").count, 1);
  EXPECT_EQ(parsed<Step>("step 1000").count, 1000);
  EXPECT_EQ(parsed<Speed>("speed 0.01").factor, 0.01);
  EXPECT_EQ(parsed<Speed>("speed 10").factor, 10);
  EXPECT_EQ(parsed<Speed>("speed 1e0").factor, 1);
  const SetControl control = parsed<SetControl>("control 3 -0.25");
  EXPECT_EQ(control.slider, 3);
  EXPECT_EQ(control.value, -0.25);
  const SetParameter parameter = parsed<SetParameter>("parameter 0 9.81");
  EXPECT_EQ(parameter.slider, 0);
  EXPECT_EQ(parameter.value, 9.81);
  const Grab grab = parsed<Push>("push 7 0.1 -0.2 0.3 4 5e-1 -6").grab;
  EXPECT_EQ(int{grab.body}, 7);
  EXPECT_EQ(grab.point, Vec3(0.1, -0.2, 0.3));
  EXPECT_EQ(grab.target, Vec3(4, 0.5, -6));
  EXPECT_EQ(parsed<ChooseScene>("scene humanoid").name, "humanoid");
}

TEST(ParseCommand, ReadsNumbersAsJavaScriptPrintsThem) {
  for (const auto& [text, value] : {std::pair{"0", 0.0},
                                    {"-0", -0.0},
                                    {"1e+21", 1e21},
                                    {"1.7976931348623157e+308", std::numeric_limits<double>::max()},
                                    {"5e-324", std::numeric_limits<double>::denorm_min()},
                                    {"2.2250738585072014e-308", std::numeric_limits<double>::min()},
                                    {"-1e-7", -1e-7},
                                    {"0.30000000000000004", 0.1 + 0.2},
                                    {"123456789012345680000", 123456789012345680000.0}}) {
    EXPECT_EQ(parsed<SetControl>(std::string("control 0 ") + text).value, value) << text;
  }
  EXPECT_TRUE(std::signbit(parsed<SetControl>("control 0 -0").value));
}

// Whether there is such a body or slider is for others to say.
TEST(ParseCommand, PassesOnNumbersThatNameNothing) {
  EXPECT_EQ(parsed<SetControl>("control -1 0").slider, -1);
  EXPECT_EQ(parsed<SetParameter>("parameter 2147483647 0").slider, 2147483647);
  EXPECT_EQ(int{parsed<Push>("push -5 0 0 0 0 0 0").grab.body}, -5);
}

TEST(ParseCommand, TakesAnyNameOfAScene) {
  EXPECT_EQ(parsed<ChooseScene>("scene ").name, "");
  EXPECT_EQ(parsed<ChooseScene>("scene  two blanks ").name, " two blanks ");
  EXPECT_EQ(parsed<ChooseScene>("scene \xff\n").name, "\xff\n");
  refused("scene", "'scene' is no command");
}

TEST(ParseCommand, SaysWhatIsNoCommand) {
  refused("", "'' is no command");
  refused(" ", "'' is no command");
  refused("fly", "'fly' is no command");
  refused("PLAY", "'PLAY' is no command");
  refused(" play", "'' is no command");
  refused("play\n", "'play?' is no command");
  refused("spéed 1", "'sp??ed' is no command");
  refused(std::string_view("play\0", 5), "'play?' is no command");
  refused(std::string(4096, 'x'), fmt::format("'{}…' is no command", std::string(40, 'x')));
  refused("<script>", "'<script>' is no command");
}

TEST(ParseCommand, SaysHowManyValuesACommandTakes) {
  refused("play 1", "'play' takes 0 value(s), not 1: play");
  refused("play ", "'play' takes 0 value(s), not 1");
  refused("reset now please", "'reset' takes 0 value(s), not 2");
  refused("step", "'step' takes 1 value(s), not 0: step COUNT");
  refused("step 1 2", "'step' takes 1 value(s), not 2");
  refused("speed", "'speed' takes 1 value(s), not 0: speed FACTOR");
  refused("control 1", "'control' takes 2 value(s), not 1: control NUMBER VALUE");
  refused("parameter", "'parameter' takes 2 value(s), not 0: parameter NUMBER VALUE");
  refused("push 1 0 0 0 0 0", "'push' takes 7 value(s), not 6: push BODY x y z X Y Z");
  refused("push 1 0 0 0 0 0 0 0", "'push' takes 7 value(s), not 8");
  refused("control 1  2", "'control' takes 2 value(s), not 3");
  refused(std::string("step") + std::string(4092, ' '), "'step' takes 1 value(s), not 4092");
}

TEST(ParseCommand, SaysWhatIsNoNumber) {
  for (const std::string word :
       {"", "x", "1x", "0x1", "1,5", "--1", "+1", "1e", ".", "-", "e5", "1 ", "\t1", "1\n", "١"}) {
    const std::string text = "control 0 " + word;
    if (word == "1 ") {
      refused(text, "'control' takes 2 value(s), not 3");
    } else {
      refused(text, "is no number: control NUMBER VALUE");
    }
  }
  refused("step 1.5", "'1.5' is no number: step COUNT");
  refused("step 1e2", "'1e2' is no number");
  refused("step 99999999999", "'99999999999' is no number");
  refused("push 1.0 0 0 0 0 0 0", "'1.0' is no number: push BODY");
  refused("push 1 0 0 0 0 0 here", "'here' is no number");
  refused(fmt::format("control {} 1", std::string(4000, '9')), fmt::format("'{}…' is no number", std::string(40, '9')));
}

TEST(ParseCommand, TakesFiniteNumbersAlone) {
  for (const std::string word : {"inf", "-inf", "Infinity", "-Infinity", "nan", "NaN", "nan(1)", "1e999", "-1e999"}) {
    refused("control 0 " + word, fmt::format("'{}' is no number", word));
    refused("speed " + word, fmt::format("'{}' is no number", word));
    refused("push 1 0 0 0 0 " + word + " 0", fmt::format("'{}' is no number", word));
  }
}

TEST(ParseCommand, SaysTheBounds) {
  refused("step 0", "0 is not within 1 … 1000: step COUNT");
  refused("step -3", "-3 is not within 1 … 1000");
  refused("step 1001", "1001 is not within 1 … 1000");
  refused("speed 0", "0 is not within 0.01 … 10: speed FACTOR");
  refused("speed 10.001", "10.001 is not within 0.01 … 10");
  refused("speed -1", "-1 is not within");
}

// A command with only finite numbers, or an Error with a short text of one line.
void parse_or_refuse(const std::string& text) {
  try {
    const Command command = parse_command(text);
    if (const Push* push = std::get_if<Push>(&command)) {
      EXPECT_TRUE(push->grab.point.allFinite() && push->grab.target.allFinite());
    } else if (const Step* step = std::get_if<Step>(&command)) {
      EXPECT_TRUE(step->count >= 1 && step->count <= kMostSteps);
    } else if (const Speed* speed = std::get_if<Speed>(&command)) {
      EXPECT_TRUE(speed->factor >= kSlowest && speed->factor <= kFastest);
    } else if (const SetControl* control = std::get_if<SetControl>(&command)) {
      EXPECT_TRUE(std::isfinite(control->value));
    } else if (const SetParameter* parameter = std::get_if<SetParameter>(&command)) {
      EXPECT_TRUE(std::isfinite(parameter->value));
    }
  } catch (const Error& error) {
    const std::string what = error.what();
    EXPECT_TRUE(!what.empty() && what.size() < 200) << what;
    for (const char c : what) EXPECT_FALSE(c >= 0 && c < ' ') << what;
  }
}

TEST(ParseCommand, ParsesOrRefusesAnyBytes) {
  for_random_cases(10'000, [](std::mt19937_64& random) {
    std::string text(random() % 64, '\0');
    for (char& c : text) c = static_cast<char>(random());
    parse_or_refuse(text);
  });
}

TEST(ParseCommand, ParsesOrRefusesDamagedCommands) {
  const std::vector<std::string> good = {"play",
                                         "pause",
                                         "step 12",
                                         "reset",
                                         "speed 0.5",
                                         "release",
                                         "defaults",
                                         "control 2 -1.5e-3",
                                         "parameter 1 3",
                                         "scene a",
                                         "push 3 0.1 0.2 0.3 -4 5 1e2"};
  const std::string pieces = std::string(" .-+eE0123456789infaNxX\xff\n") + '\0';
  for_random_cases(10'000, [&](std::mt19937_64& random) {
    std::string text = good[random() % good.size()];
    for (std::size_t edits = 1 + random() % 4; edits > 0; --edits) {
      const std::size_t place = random() % (text.size() + 1);
      const char piece = pieces[random() % pieces.size()];
      switch (random() % 4) {
        case 0: text.insert(place, 1, piece); break;
        case 1: text.erase(place, 1 + random() % 3); break;
        case 2: text.append(good[random() % good.size()]); break;
        default:
          if (place < text.size()) text[place] = piece;
      }
    }
    parse_or_refuse(text);
  });
}

}  // namespace
}  // namespace lithe::test
