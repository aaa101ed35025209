#pragma once

#include "lithe/io/internal/resources.h"
#include "lithe/io/loaded_model.h"

namespace lithe::internal {

// The formats' readers behind load(): from a document's root element. `files` are all open afterwards; the caller fills in
// LoadedModel::files and ::warnings.
LoadedModel read_urdf(const XmlElement& robot, Resources& resources, WarningList& warnings);
LoadedModel read_sdf(const XmlElement& sdf, Resources& resources, WarningList& warnings);
LoadedModel read_mjcf(const XmlElement& mujoco, Resources& resources, WarningList& warnings);

}  // namespace lithe::internal
