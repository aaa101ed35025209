#include "lithe/viz/live/internal/live_command.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "lithe/core/check.h"

namespace lithe::internal::live {

namespace {

// The words between blanks. Two blanks in a row have an empty word between them, which no command takes.
std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (;;) {
    const std::size_t blank = text.find(' ');
    words.push_back(text.substr(0, blank));
    if (blank == std::string_view::npos) return words;
    text.remove_prefix(blank + 1);
  }
}

// What a client sent, fit to be sent back: short, and nothing but letters, digits and signs.
std::string quoted(std::string_view text) {
  constexpr std::size_t kMost = 40;
  std::string shown(text.substr(0, kMost));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return fmt::format("'{}{}'", shown, text.size() > kMost ? "…" : "");
}

// The arguments of a command, one after the other. Each is checked as it is taken; errors show the command's usage.
class Arguments {
 public:
  Arguments(std::string_view usage, const std::vector<std::string_view>& words) : usage_(usage), words_(words) {
    const auto wanted = static_cast<std::size_t>(std::ranges::count(usage, ' '));
    LITHE_CHECK(words.size() == wanted + 1, "'{}' takes {} value(s), not {}: {}", words[0], wanted, words.size() - 1,
                usage);
  }

  template <class Number>
  Number number() {
    const std::string_view word = words_[next_++];
    Number value = {};
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    // The whole word has to be a number. from_chars() knows no locale and reads what JavaScript prints.
    bool good = error == std::errc() && end == word.data() + word.size();
    if constexpr (std::is_floating_point_v<Number>) good = good && std::isfinite(value);
    LITHE_CHECK(good, "{} is no number: {}", quoted(word), usage_);
    return value;
  }

  template <class Number>
  Number number(Number lower, Number upper) {
    const Number value = number<Number>();
    LITHE_CHECK(value >= lower && value <= upper, "{} is not within {} … {}: {}", value, lower, upper, usage_);
    return value;
  }

  Vec3 place() {
    Vec3 p;
    for (double& x : p) x = number<double>();
    return p;
  }

 private:
  std::string_view usage_;
  const std::vector<std::string_view>& words_;
  std::size_t next_ = 1;
};

// A push: body, point and target, in the order of the usage.
Command push(Arguments arguments) {
  Push push;
  push.grab.body = BodyIndex(arguments.number<int>());
  push.grab.point = arguments.place();
  push.grab.target = arguments.place();
  return push;
}

// A slider's number and its new value.
template <class Set>
Command set(Arguments arguments) {
  Set set;
  set.slider = arguments.number<int>();
  set.value = arguments.number<double>();
  return set;
}

// The usage is the command's name with one word per argument.
struct Reader {
  std::string_view usage;
  Command (*read)(Arguments arguments);
};
constexpr std::array kReaders = {
    Reader{"play", [](Arguments) -> Command { return Play{}; }},
    Reader{"pause", [](Arguments) -> Command { return Pause{}; }},
    Reader{"step COUNT", [](Arguments a) -> Command { return Step{a.number<int>(1, kMostSteps)}; }},
    Reader{"reset", [](Arguments) -> Command { return Reset{}; }},
    Reader{"speed FACTOR", [](Arguments a) -> Command { return Speed{a.number<double>(kSlowest, kFastest)}; }},
    Reader{"control NUMBER VALUE", set<SetControl>},
    Reader{"parameter NUMBER VALUE", set<SetParameter>},
    Reader{"defaults", [](Arguments) -> Command { return RestoreDefaults{}; }},
    Reader{"push BODY x y z X Y Z", push},
    Reader{"release", [](Arguments) -> Command { return Release{}; }},
};

}  // namespace

Command parse_command(std::string_view text) {
  // A scene's name may be anything: it is compared with known ones.
  constexpr std::string_view kScene = "scene ";
  if (text.starts_with(kScene)) return ChooseScene{std::string(text.substr(kScene.size()))};
  const std::vector<std::string_view> words = words_of(text);
  for (const Reader& reader : kReaders) {
    if (words[0] == reader.usage.substr(0, reader.usage.find(' '))) return reader.read(Arguments(reader.usage, words));
  }
  throw Error(fmt::format("{} is no command", quoted(words[0])));
}

}  // namespace lithe::internal::live
