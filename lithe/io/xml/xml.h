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

// One element of an XML document, with its place. Every reader of a format is written on this. It is a handle, cheap to
// copy; the document must outlive it.
//
// Numbers are read without locale and must be finite and complete: "1.5 " and "+1e-3" are fine; "1,5", "1.5m", "nan"
// and "1e999" are errors that show the text.
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

  // Attributes, by name. Where there is none, the result is null or nullopt; the `required_` functions throw instead.
  const char* attribute(const char* name) const;
  std::vector<std::pair<std::string_view, std::string_view>> attributes() const;
  std::string required_attribute(const char* name) const;
  std::optional<double> number(const char* name) const;
  double number_or(const char* name, double otherwise) const { return number(name).value_or(otherwise); }
  double required_number(const char* name) const;
  std::optional<int> integer(const char* name) const;
  std::optional<bool> flag(const char* name) const;  // true, false, 1, 0
  // Lists of numbers: exactly three, any count, and a count within bounds.
  std::optional<Vec3> vector3(const char* name) const;
  std::optional<VecX> numbers(const char* name) const;
  VecX numbers(const char* name, int at_least, int at_most) const;  // an error if absent

  // The text between the tags, without the white space around it; then the same read as numbers or as a truth value,
  // with an error where it is none.
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

// A text of the file, made fit for a message: on one line, and where it is long, only its beginning.
std::string shortened(std::string_view text);

// Reads the numbers in a text, which white space separates. There must be `at_least` to `at_most`. An error is at
// `place`, calls the text `what` and shows it.
VecX parse_numbers(std::string_view text, const SourcePlace& place, std::string_view what, int at_least, int at_most);

// How much of LoadLimits::elements a text takes: the number of its elements and comments, or a third of the number of
// its attributes if that is more. More than `most` is an error, and so is an element with more than a hundred
// attributes.
int count_elements(std::string_view text, const std::string& file, int most);

// An XML file, parsed. It must be UTF-8; a byte order mark is accepted. A DOCTYPE is refused, so there are no entities
// but the five of XML itself. Nesting, the number of elements and the length of names are bounded.
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
