#pragma once

namespace lithe {

// The one place that states the version; CMakeLists.txt reads it here.
inline constexpr char kVersion[] = "0.1.0";

}  // namespace lithe
