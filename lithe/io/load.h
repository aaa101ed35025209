#pragma once

#include <string>
#include <string_view>

#include "lithe/io/load_options.h"
#include "lithe/io/loaded_model.h"

namespace lithe {

// Reads a robot or a world: URDF, SDF or MJCF, told apart by the root element (<robot>, <sdf>, <mujoco>), meshes and included files
// with it. What is wrong is a LoadError that says where and what to do; what the model cannot hold is a warning. docs/files.md lists
// both. Nothing outside the file's own folders is read (LoadOptions::roots), nothing is fetched, nothing
// is written but the cache of hulls (LoadOptions::cache).
LoadedModel load(const std::string& path, const LoadOptions& options = {});

// One format each; a file of another kind is an error.
LoadedModel load_urdf(const std::string& path, const LoadOptions& options = {});
LoadedModel load_sdf(const std::string& path, const LoadOptions& options = {});
LoadedModel load_mjcf(const std::string& path, const LoadOptions& options = {});

// From a text. `name` stands for the file in messages, and relative names are resolved from its folder.
LoadedModel load_text(std::string_view text, const std::string& name, const LoadOptions& options = {});

}  // namespace lithe
