#pragma once

namespace lithe::internal {

// One visitor made of several functions, for std::visit: std::visit(Overloaded{[](A) {…}, [](B) {…}}, variant).
template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

}  // namespace lithe::internal
