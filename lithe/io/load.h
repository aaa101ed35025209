#pragma once

#include <string>
#include <string_view>

#include "lithe/io/load_options.h"
#include "lithe/io/loaded_model.h"

namespace lithe {

// Reads a robot or a world with its meshes and included files. URDF, SDF and MJCF are told apart by the root element
// (<robot>, <sdf>, <mujoco>). What is wrong with a file is a LoadError that says where and what to do; what the model
// cannot hold is a warning. docs/files.md lists both. Nothing outside the file's own folders is read
// (LoadOptions::roots), nothing is fetched from a network, and nothing is written but the cache of hulls
// (LoadOptions::cache).
LoadedModel load(const std::string& path, const LoadOptions& options = {});

// The same for one format only: a file whose root element belongs to another format is an error.
LoadedModel load_urdf(const std::string& path, const LoadOptions& options = {});
LoadedModel load_sdf(const std::string& path, const LoadOptions& options = {});
LoadedModel load_mjcf(const std::string& path, const LoadOptions& options = {});

// Reads a model from a text instead of a file. `name` stands for the file in messages, and file names inside the text
// are taken relative to the folder of `name`.
LoadedModel load_text(std::string_view text, const std::string& name, const LoadOptions& options = {});

}  // namespace lithe
