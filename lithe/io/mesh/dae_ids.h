#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "lithe/io/mesh/cursor.h"
#include "lithe/io/xml/xml.h"

namespace lithe::internal {

// An XML element as the place of an error in a mesh file.
class ElementCursor final : public MeshCursor {
 public:
  explicit ElementCursor(const XmlElement& element) : element_(element) {}
  [[noreturn]] void fail(std::string_view what) const override { element_.fail(what); }

 private:
  XmlElement element_;
};

// Values for elements of one kind, by the elements' ids. `kind` is what messages call such an element.
template <class Value>
class IdTable {
 public:
  explicit IdTable(std::string_view kind) : kind_(kind) {}

  void add(const XmlElement& element, Value value) {
    const char* id = element.attribute("id");
    if (!id) return;
    const auto [entry, is_new] = entries_.try_emplace(id, Entry{std::move(value)});
    if (!is_new) entry->second.twice = true;  // an error only where it is used
  }

  // The value of the element to which the attribute refers by "#id". Null if no element has that id or more than one
  // has, and if the attribute is absent or refers to another file.
  Value* find(const XmlElement& element, const char* attribute) {
    const auto entry = entry_of(element, attribute);
    return entry != entries_.end() && !entry->second.twice ? &entry->second.value : nullptr;
  }

  // The same; where find() gives null, this is an error at the element that refers.
  Value& required(const XmlElement& element, const char* attribute) {
    if (Value* value = find(element, attribute)) return *value;
    const std::string url = element.required_attribute(attribute);
    const bool twice = entry_of(element, attribute) != entries_.end();
    element.fail(fmt::format("attribute {} of <{}> is {}, but {} <{}> of this file has that id", attribute,
                             element.name(), shown(url), twice ? "more than one" : "no", kind_));
  }

 private:
  struct Entry {
    Value value;
    bool twice = false;
  };

  typename std::unordered_map<std::string, Entry>::iterator entry_of(const XmlElement& element, const char* attribute) {
    const char* url = element.attribute(attribute);
    return url && *url == '#' ? entries_.find(url + 1) : entries_.end();
  }

  std::string_view kind_;
  std::unordered_map<std::string, Entry> entries_;
};

}  // namespace lithe::internal
