#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "lithe/io/mesh/cursor.h"
#include "lithe/io/xml/xml.h"

namespace lithe::internal {

// An element as a place in a mesh file.
class ElementCursor final : public MeshCursor {
 public:
  explicit ElementCursor(const XmlElement& element) : element_(element) {}
  [[noreturn]] void fail(std::string_view what) const override { element_.fail(what); }

 private:
  XmlElement element_;
};

// What stands for the elements of one kind, by their ids.
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

  // What the attribute means by "#id"; null if there is no such thing or more than one.
  Value* find(const XmlElement& element, const char* attribute) {
    const auto entry = entry_of(element, attribute);
    return entry != entries_.end() && !entry->second.twice ? &entry->second.value : nullptr;
  }

  // The same; an error at the element instead of null.
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
