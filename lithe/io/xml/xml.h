#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lithe/core/eigen.h"
#include "lithe/io/load_options.h"
#include "lithe/io/source_place.h"

namespace tinyxml2 {
class XMLElement;
}

namespace lithe::internal {

class XmlDocument;

// One element of a document, with its place: what every reader of a format is written on. A handle, cheap to copy; the document must
// outlive it.
//
// Numbers are read without locale and must be finite and complete ("1.5 " and "+1e-3" are fine, "1,5", "1.5m", "nan" and "1e999" are
// errors that show the text).
class XmlElement {
 public:
  XmlElement() = default;  // none

  explicit operator bool() const { return element_ != nullptr; }
  std::string_view name() const;
  SourcePlace place() const;
  int line() const;

  // The first child of that name, or none; all children of that name; all children.
  XmlElement child(const char* name) const;
  std::vector<XmlElement> children(const char* name) const;
  std::vector<XmlElement> children() const;
  // The first child of that name; an error if there is none.
  XmlElement required(const char* name) const;

  // Attributes. Null or nullopt where there is none; the `required_` ones then throw.
  const char* attribute(const char* name) const;
  std::vector<std::pair<std::string_view, std::string_view>> attributes() const;
  std::string required_attribute(const char* name) const;
  std::optional<double> number(const char* name) const;
  double number_or(const char* name, double otherwise) const { return number(name).value_or(otherwise); }
  double required_number(const char* name) const;
  std::optional<int> integer(const char* name) const;
  std::optional<bool> flag(const char* name) const;  // true, false, 1, 0
  // Exactly n numbers; and any count of them.
  std::optional<Vec3> vector3(const char* name) const;
  std::optional<VecX> numbers(const char* name) const;
  VecX numbers(const char* name, int at_least, int at_most) const;  // an error if absent

  // The text between the tags, trimmed; and as numbers, as above.
  std::string_view text() const;
  double text_number() const;
  VecX text_numbers(int at_least, int at_most) const;
  bool text_flag() const;

  // Throws a LoadError at this place.
  [[noreturn]] void fail(std::string_view what) const;

 private:
  friend class XmlDocument;
  XmlElement(const XmlDocument* document, const tinyxml2::XMLElement* element)
      : document_(document), element_(element) {}
  const XmlDocument* document_ = nullptr;
  const tinyxml2::XMLElement* element_ = nullptr;
};

constexpr std::size_t kLongestName = 255;       // bytes, of elements, of attributes and of what name="…" says
constexpr std::size_t kLongestFileName = 4096;  // bytes, of a file or folder

// A text of the file for a message: its beginning, where it is long.
std::string shortened(std::string_view text);

// Numbers in a text, separated by white space; at most `at_most`. An error names `place` and shows the text.
VecX parse_numbers(std::string_view text, const SourcePlace& place, std::string_view what, int at_least, int at_most);

// How much of LoadLimits::elements a text takes: its elements and comments, or a third of its attributes. More than `most` is an error, and
// so is an element with more than a hundred attributes.
int count_elements(std::string_view text, const std::string& file, int most);

// An XML file, parsed. UTF-8 only (a byte order mark is accepted); a DOCTYPE is refused, so there are no entities but the five of XML
// itself; nesting, the number of elements and the length of names are bounded.
class XmlDocument {
 public:
  // `file`: the name for messages. `elements_left` is reduced by what the document counts for (LoadLimits::elements).
  XmlDocument(std::string_view text, std::string file, int& elements_left);
  ~XmlDocument();
  XmlDocument(const XmlDocument&) = delete;
  XmlDocument& operator=(const XmlDocument&) = delete;

  XmlElement root() const;
  const std::string& file() const { return file_; }

 private:
  struct Parsed;
  std::string file_;
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace lithe::internal
