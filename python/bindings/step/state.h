#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <variant>
#include <vector>

#include "lithe/model/model_builder.h"
#include "python/bindings/step/state_fields.h"
#include "python/bindings/values/arrays.h"

// Values as plain tuples, lists and numbers of Python, for pickles. Every number keeps all of its bits.
//
//   nb::object pack(const T&)             of a part with fields(): the tuple of its packed members
//   void unpack(nb::handle state, T& to)  the way back
namespace lithe::python {

// A whole model, and the builder that makes it again.
nb::object pack(const Model& model);
Model unpack_model(nb::handle state);
ModelBuilder builder_of(const Model& model);

// Plain values.
inline nb::object pack(const std::string& text) { return nb::str(text.c_str(), text.size()); }
inline void unpack(nb::handle state, std::string& text) {
  const auto held = nb::cast<nb::str>(state);
  text = held.c_str();
}
template <class Number>
  requires std::is_arithmetic_v<Number>
nb::object pack(Number number) {
  return nb::cast(number);
}
template <class Number>
  requires std::is_arithmetic_v<Number>
void unpack(nb::handle state, Number& number) {
  number = nb::cast<Number>(state);
}
template <class Enum>
  requires std::is_enum_v<Enum>
nb::object pack(Enum value) {
  return nb::cast(static_cast<int>(value));
}
template <class Enum>
  requires std::is_enum_v<Enum>
void unpack(nb::handle state, Enum& value) {
  value = static_cast<Enum>(nb::cast<int>(state));
}
template <class Tag>
nb::object pack(Index<Tag> index) {
  return nb::cast(static_cast<int>(index));
}
template <class Tag>
void unpack(nb::handle state, Index<Tag>& index) {
  index = Index<Tag>(nb::cast<int>(state));
}

// Points, rotations: their numbers, column by column. Vectors of any size: arrays.
template <int Rows, int Columns>
nb::object pack(const Eigen::Matrix<double, Rows, Columns>& x) {
  return to_numpy(VecX(Eigen::Map<const VecX>(x.data(), x.size()))).object;
}
template <int Rows, int Columns>
void unpack(nb::handle state, Eigen::Matrix<double, Rows, Columns>& x) {
  const VecX numbers = ArrayIn(state).vector("state");
  if constexpr (Columns == 1 && Rows == Eigen::Dynamic) x.resize(numbers.size());
  if (x.size() != numbers.size()) throw nb::value_error("a pickle holds a vector of another size");
  Eigen::Map<VecX>(x.data(), x.size()) = numbers;
}

// Points and triangles: one array, (n, 3).
nb::object pack(const std::vector<Vec3>& points);
void unpack(nb::handle state, std::vector<Vec3>& points);
nb::object pack(const std::vector<std::array<std::int32_t, 3>>& triangles);
void unpack(nb::handle state, std::vector<std::array<std::int32_t, 3>>& triangles);

// Lists, choices and parts, which refer to one another.
template <class T>
nb::object pack(const std::shared_ptr<const T>& shared);
template <class T>
void unpack(nb::handle state, std::shared_ptr<const T>& shared);
template <class T>
nb::object pack(const std::vector<T>& items);
template <class T>
void unpack(nb::handle state, std::vector<T>& items);
template <class... Ts>
nb::object pack(const std::variant<Ts...>& choice);
template <class... Ts>
void unpack(nb::handle state, std::variant<Ts...>& choice);

template <class Part>
concept HasFields = requires(Part& part) { fields(part); };

template <HasFields Part>
nb::object pack(const Part& part) {
  return std::apply([](const auto&... members) -> nb::object { return nb::make_tuple(pack(members)...); },
                    fields(part));
}
template <HasFields Part>
void unpack(nb::handle state, Part& part) {
  const auto packed = nb::cast<nb::tuple>(state);
  std::apply(
      [&](auto&... members) {
        if (packed.size() != sizeof...(members)) throw nb::value_error("a pickle was made by another version of lithe");
        [[maybe_unused]] std::size_t k = 0;
        (unpack(packed[k++], members), ...);
      },
      fields(part));
}

template <class T>
nb::object pack(const std::shared_ptr<const T>& shared) {
  return pack(*shared);
}
template <class T>
void unpack(nb::handle state, std::shared_ptr<const T>& shared) {
  auto made = std::make_shared<T>();
  unpack(state, *made);
  shared = std::move(made);
}

template <class T>
nb::object pack(const std::vector<T>& items) {
  nb::list list;
  for (const T& item : items) list.append(pack(item));
  return list;
}
template <class T>
void unpack(nb::handle state, std::vector<T>& items) {
  items.clear();
  for (const nb::handle item : nb::cast<nb::list>(state)) unpack(item, items.emplace_back());
}

template <class... Ts>
nb::object pack(const std::variant<Ts...>& choice) {
  return std::visit([&](const auto& value) -> nb::object { return nb::make_tuple(choice.index(), pack(value)); },
                    choice);
}
template <class... Ts>
void unpack(nb::handle state, std::variant<Ts...>& choice) {
  const auto packed = nb::cast<nb::tuple>(state);
  const auto index = nb::cast<std::size_t>(packed[0]);
  std::size_t k = 0;
  const auto try_one = [&]<class T>(std::type_identity<T>) {
    if (k++ == index) unpack(packed[1], choice.template emplace<T>());
  };
  (try_one(std::type_identity<Ts>{}), ...);
}

// Gives a class pickling, and with it copying.
template <class Class>
void make_picklable(Class& c) {
  using T = typename Class::Type;
  c.def("__getstate__", [](const T& self) { return pack(self); });
  c.def("__setstate__", [](T& self, nb::handle state) {
    T value;
    unpack(state, value);
    new (&self) T(std::move(value));
  });
}

}  // namespace lithe::python
