#include "lithe/io/xml/xml.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <tinyxml2.h>

#include "lithe/io/load_limits.h"

namespace lithe::internal {

namespace {

constexpr std::size_t kMostShownOfValue = 60;  // characters of a wrong value

// A value for a message: quoted, and where it is long, its beginning and its length.
std::string shown_value(std::string_view text) {
  const std::string quoted = fmt::format("\"{}\"", shortened(text));
  return text.size() <= kMostShownOfValue ? quoted : fmt::format("{} ({} characters)", quoted, text.size());
}

// The white space of XML, whatever the locale.
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// The next word of `rest`, which loses it; empty at the end.
std::string_view next_word(std::string_view& rest) {
  while (!rest.empty() && is_space(rest.front())) rest.remove_prefix(1);
  std::size_t length = 0;
  while (length < rest.size() && !is_space(rest[length])) ++length;
  const std::string_view word = rest.substr(0, length);
  rest.remove_prefix(length);
  return word;
}

// Reads a word that must be one number from its first to its last character. `what` says in messages which number it
// is. std::from_chars reads without locale, but takes no sign +, which files do write.
double parse_number(std::string_view word, const SourcePlace& place, std::string_view what) {
  std::string_view digits = word;
  if (!digits.empty() && digits.front() == '+') digits.remove_prefix(1);
  double x = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), x);
  if (error == std::errc::result_out_of_range) {
    // A number that is too small is 0; one that is too large cannot be meant.
    const bool tiny = digits.find("e-") != std::string_view::npos || digits.find("E-") != std::string_view::npos;
    if (tiny) return 0;
    throw LoadError(place, fmt::format("{} is {}, which is too large for a number", what, shown_value(word)));
  }
  if (error != std::errc() || end != digits.data() + digits.size()) {
    throw LoadError(place, fmt::format("{} has {} where a number is expected", what, shown_value(word)));
  }
  if (!std::isfinite(x))
    throw LoadError(place, fmt::format("{} is {}, but must be a finite number", what, shown_value(word)));
  return x;
}

// Reads a truth value. True and False, as Python writes them, are in many files.
bool parse_flag(std::string_view text, const SourcePlace& place, std::string_view what) {
  const std::string_view word = trimmed(text);
  if (word == "true" || word == "1" || word == "True") return true;
  if (word == "false" || word == "0" || word == "False") return false;
  throw LoadError(place, fmt::format("{} is {}, but must be true or false", what, shown_value(text)));
}

// The number of numbers that is expected, in words.
std::string counted(int at_least, int at_most) {
  if (at_least == at_most) return fmt::format("{} number{}", at_least, at_least == 1 ? "" : "s");
  if (at_most == std::numeric_limits<int>::max()) return fmt::format("at least {} numbers", at_least);
  return fmt::format("{} to {} numbers", at_least, at_most);
}

// The first byte that cannot be part of UTF-8, or npos. Zero bytes are refused, since C functions take them for the end
// of the text. Overlong forms of three bytes and more, and surrogates, are not looked for: they do no harm here.
std::size_t first_invalid_byte(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    std::size_t length = 1;
    if (byte >= 0xF5 || (byte >= 0x80 && byte < 0xC2)) return i;
    if (byte >= 0xF0) {
      length = 4;
    } else if (byte >= 0xE0) {
      length = 3;
    } else if (byte >= 0xC2) {
      length = 2;
    } else if (byte == 0) {
      return i;
    }
    if (i + length > text.size()) return i;
    for (std::size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(text[i + k]) & 0xC0) != 0x80) return i;
    }
    i += length;
  }
  return std::string_view::npos;
}

// The line in which a byte stands, counted from 1.
int line_of(std::string_view text, std::size_t byte) {
  int line = 1;
  for (std::size_t i = 0; i < byte; ++i) line += text[i] == '\n' ? 1 : 0;
  return line;
}

// Refuses files that are not UTF-8. A byte order mark of UTF-16 is named as such, since some editors save in that
// encoding without saying so.
void check_encoding(std::string_view text, const std::string& file) {
  const bool wide = text.size() >= 2 && (text.substr(0, 2) == "\xFF\xFE" || text.substr(0, 2) == "\xFE\xFF");
  if (wide) throw LoadError({file, 1}, "the file is UTF-16; save it as UTF-8");
  const std::size_t invalid = first_invalid_byte(text);
  if (invalid == std::string_view::npos) return;
  throw LoadError({file, line_of(text, invalid)}, fmt::format("byte 0x{:02x} is not UTF-8; save the file as UTF-8",
                                                              static_cast<unsigned char>(text[invalid])));
}

// Counts elements, comments and attributes before tinyxml2 makes objects of them, which are far larger than the text.
class TagCounter {
 public:
  TagCounter(std::string_view text, const std::string& file, int elements_left)
      : text_(text), file_(file), elements_left_(elements_left) {}

  // What the file takes off LoadLimits::elements. The count ends at the first thing that is not well-formed, since the
  // parser ends there as well.
  int run() {
    for (std::size_t i = text_.find('<'); i < text_.size(); i = text_.find('<', i)) {
      if (text_.substr(i, 2) == "</") {
        i += 2;
        continue;
      }
      ++tags_;
      check(i);
      if (text_.substr(i, 4) == "<!--") {
        i = after("-->", i + 4);
      } else if (text_.substr(i, 9) == "<![CDATA[") {
        i = after("]]>", i + 9);
      } else if (text_.substr(i, 2) == "<!" || text_.substr(i, 2) == "<?") {
        i = after(">", i + 2);
      } else {
        i = after_tag(i + 1);
      }
    }
    return cost();
  }

 private:
  static constexpr int kMostAttributes = 100;      // of an element: tinyxml2 compares each with all others
  static constexpr int kAttributesPerElement = 3;  // so many cost as much as one element

  int cost() const { return std::max(tags_, attributes_ / kAttributesPerElement); }
  // Fails at this byte as soon as the limit is passed, so that the rest of the file is not even counted.
  void check(std::size_t at) const {
    if (cost() > elements_left_) {
      throw LoadError({file_, line_of(text_, at)}, fmt::format("there are more than {} XML elements; {}",
                                                               elements_left_, raise_load_limit("elements")));
    }
  }

  // The place behind the next `end`, or the end of the text.
  std::size_t after(std::string_view end, std::size_t from) const {
    const std::size_t found = text_.find(end, from);
    return found == std::string_view::npos ? text_.size() : found + end.size();
  }

  // Goes from inside a start tag to its '>'. Attributes are counted by their '='; quoted values are skipped, because
  // they may hold both characters.
  std::size_t after_tag(std::size_t i) {
    int count = 0;
    for (; i < text_.size() && text_[i] != '>'; ++i) {
      const char c = text_[i];
      if (c == '"' || c == '\'') {
        i = std::min(text_.find(c, i + 1), text_.size() - 1);
      } else if (c == '=') {
        ++attributes_;
        if (++count <= kMostAttributes) continue;
        throw LoadError({file_, line_of(text_, i)},
                        fmt::format("an element has more than {} attributes", kMostAttributes));
      }
    }
    check(std::min(i, text_.size()));
    return i;
  }

  std::string_view text_;
  const std::string& file_;
  int elements_left_;
  int tags_ = 0, attributes_ = 0;
};

// Refuses a DOCTYPE wherever it stands, and names that are too long: shapes and joints get names that are made of them,
// which together would fill the memory.
class StructureCheck : public tinyxml2::XMLVisitor {
 public:
  explicit StructureCheck(const std::string& file) : file_(file) {}

  // A <… name="…"> gives a part its name; attributes such as file, filename and meshdir become paths, which may be
  // longer.
  bool VisitEnter(const tinyxml2::XMLElement& element, const tinyxml2::XMLAttribute* attribute) override {
    check_length(element.Name(), kLongestName, element);
    for (; attribute; attribute = attribute->Next()) {
      const std::string_view name = attribute->Name();
      check_length(name, kLongestName, element);
      if (name == "name") check_length(attribute->Value(), kLongestName, element);
      if (name.starts_with("file") || name.ends_with("dir"))
        check_length(attribute->Value(), kLongestFileName, element);
    }
    return true;
  }
  // tinyxml2 calls every <!…> unknown that is neither a comment nor CDATA.
  bool Visit(const tinyxml2::XMLUnknown& unknown) override {
    throw LoadError(
        {file_, unknown.GetLineNum()},
        fmt::format("<!{}> is not accepted: remove document type declarations", shortened(unknown.Value())));
  }

 private:
  void check_length(std::string_view name, std::size_t longest, const tinyxml2::XMLElement& element) const {
    if (name.size() <= longest) return;
    throw LoadError({file_, element.GetLineNum()},
                    fmt::format("a name is {}; at most {} are allowed", shown_value(name), longest));
  }

  const std::string& file_;
};

}  // namespace

std::string shortened(std::string_view text) {
  std::size_t end = std::min(text.size(), kMostShownOfValue);
  // The text is not cut within a letter of several bytes.
  while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  std::string line(text.substr(0, end));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';  // a message is one line
  }
  return end < text.size() ? line + "…" : line;
}

int count_elements(std::string_view text, const std::string& file, int most) {
  return TagCounter(text, file, most).run();
}

// The parser's document, which stays out of the header. XML's five entities are resolved; white space is kept as it is
// and trimmed where it is read.
struct XmlDocument::Parsed {
  tinyxml2::XMLDocument document = tinyxml2::XMLDocument(true, tinyxml2::PRESERVE_WHITESPACE);
};

XmlDocument::XmlDocument(std::string_view text, std::string file, int& elements_left)
    : file_(std::move(file)), parsed_(std::make_unique<Parsed>()) {
  check_encoding(text, file_);
  // The encoding and the number of elements are checked before the parser runs, which makes objects of everything it
  // meets.
  elements_left -= count_elements(text, file_, elements_left);
  tinyxml2::XMLDocument& document = parsed_->document;
  if (trimmed(text).empty()) throw LoadError({file_, 0}, "the file is empty");
  const tinyxml2::XMLError error = document.Parse(text.data(), text.size());
  if (error == tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED) {
    throw LoadError({file_, document.ErrorLineNum()},
                    fmt::format("elements are nested more than {} deep", TINYXML2_MAX_ELEMENT_DEPTH));
  }
  if (error != tinyxml2::XML_SUCCESS) {
    throw LoadError({file_, document.ErrorLineNum()},
                    fmt::format("this is not well-formed XML ({}); check for a missing bracket, quote or end tag",
                                tinyxml2::XMLDocument::ErrorIDToName(error)));
  }
  StructureCheck check(file_);
  document.Accept(&check);
  if (!document.RootElement()) throw LoadError({file_, 0}, "the file has no element");
  if (const tinyxml2::XMLElement* second = document.RootElement()->NextSiblingElement()) {
    throw LoadError({file_, second->GetLineNum()},
                    fmt::format("<{}> follows the end of <{}>: a file has one root element", second->Name(),
                                document.RootElement()->Name()));
  }
}

XmlDocument::~XmlDocument() = default;

XmlElement XmlDocument::root() const { return {this, parsed_->document.RootElement()}; }

VecX parse_numbers(std::string_view text, const SourcePlace& place, std::string_view what, int at_least, int at_most) {
  std::vector<double> numbers;
  std::string_view rest = text;
  for (std::string_view word = next_word(rest); !word.empty(); word = next_word(rest)) {
    // A list of a million numbers where three are expected ends at the fourth.
    if (static_cast<int>(numbers.size()) == at_most) {
      throw LoadError(place,
                      fmt::format("{} is {}, but must be {}", what, shown_value(text), counted(at_least, at_most)));
    }
    numbers.push_back(parse_number(word, place, what));
  }
  if (static_cast<int>(numbers.size()) < at_least) {
    throw LoadError(place,
                    fmt::format("{} is {}, but must be {}", what, shown_value(text), counted(at_least, at_most)));
  }
  return Eigen::Map<const VecX>(numbers.data(), static_cast<Eigen::Index>(numbers.size()));
}

std::string_view XmlElement::name() const { return element_->Name(); }
int XmlElement::line() const { return element_->GetLineNum(); }
SourcePlace XmlElement::place() const { return {document_->file(), line()}; }
void XmlElement::fail(std::string_view what) const { throw LoadError(place(), what); }

XmlElement XmlElement::child(const char* name) const { return {document_, element_->FirstChildElement(name)}; }

std::vector<XmlElement> XmlElement::children(const char* name) const {
  std::vector<XmlElement> all;
  for (const auto* e = element_->FirstChildElement(name); e; e = e->NextSiblingElement(name)) {
    all.push_back({document_, e});
  }
  return all;
}
std::vector<XmlElement> XmlElement::children() const { return children(nullptr); }

XmlElement XmlElement::required(const char* name) const {
  const XmlElement found = child(name);
  if (!found) fail(fmt::format("<{}> needs a <{}> inside", this->name(), name));
  return found;
}

const char* XmlElement::attribute(const char* name) const { return element_->Attribute(name); }

std::vector<std::pair<std::string_view, std::string_view>> XmlElement::attributes() const {
  std::vector<std::pair<std::string_view, std::string_view>> all;
  for (const auto* a = element_->FirstAttribute(); a; a = a->Next()) all.emplace_back(a->Name(), a->Value());
  return all;
}

std::string XmlElement::required_attribute(const char* name) const {
  const char* value = attribute(name);
  if (!value) fail(fmt::format("<{}> needs the attribute {}", this->name(), name));
  return value;
}

namespace {

// How messages call an attribute of an element, and below, the text in it.
std::string attribute_name(const XmlElement& element, const char* name) {
  return fmt::format("attribute {} of <{}>", name, element.name());
}
std::string text_name(const XmlElement& element) { return fmt::format("the text of <{}>", element.name()); }

}  // namespace

std::optional<double> XmlElement::number(const char* name) const {
  const char* value = attribute(name);
  if (!value) return std::nullopt;
  return parse_numbers(value, place(), attribute_name(*this, name), 1, 1)[0];
}

double XmlElement::required_number(const char* name) const {
  required_attribute(name);
  return *number(name);
}

std::optional<int> XmlElement::integer(const char* name) const {
  // "3.0" is a whole number, too.
  const std::optional<double> x = number(name);
  if (!x) return std::nullopt;
  if (*x != std::floor(*x) || std::abs(*x) > std::numeric_limits<int>::max()) {
    fail(fmt::format("{} is {}, but must be a whole number", attribute_name(*this, name), *x));
  }
  return static_cast<int>(*x);
}

std::optional<bool> XmlElement::flag(const char* name) const {
  const char* value = attribute(name);
  if (!value) return std::nullopt;
  return parse_flag(value, place(), attribute_name(*this, name));
}

std::optional<Vec3> XmlElement::vector3(const char* name) const {
  const char* value = attribute(name);
  if (!value) return std::nullopt;
  return Vec3(parse_numbers(value, place(), attribute_name(*this, name), 3, 3));
}

std::optional<VecX> XmlElement::numbers(const char* name) const {
  if (!attribute(name)) return std::nullopt;
  return numbers(name, 0, std::numeric_limits<int>::max());
}

VecX XmlElement::numbers(const char* name, int at_least, int at_most) const {
  return parse_numbers(required_attribute(name), place(), attribute_name(*this, name), at_least, at_most);
}

std::string_view XmlElement::text() const {
  // This is the text before the first child element; with none there, it is null.
  const char* value = element_->GetText();
  return value ? trimmed(value) : std::string_view();
}

double XmlElement::text_number() const { return text_numbers(1, 1)[0]; }

VecX XmlElement::text_numbers(int at_least, int at_most) const {
  return parse_numbers(text(), place(), text_name(*this), at_least, at_most);
}

bool XmlElement::text_flag() const { return parse_flag(text(), place(), text_name(*this)); }

}  // namespace lithe::internal
