#pragma once

namespace lithe::internal {

// The number of items as an int, which is what indices are.
int size_of(const auto& items) { return static_cast<int>(items.size()); }

}  // namespace lithe::internal
