#pragma once

#include "lithe/io/internal/resources.h"
#include "lithe/io/loaded_model.h"

namespace lithe::internal {

// The readers of the formats, behind load(): each makes a model of a document's root element and opens the other files
// that the document names. Collision meshes are stand-ins until the caller has built their hulls. LoadedModel::files
// and ::warnings are left to the caller as well.
LoadedModel read_urdf(const XmlElement& robot, Resources& resources, WarningList& warnings);
LoadedModel read_sdf(const XmlElement& sdf, Resources& resources, WarningList& warnings);
LoadedModel read_mjcf(const XmlElement& mujoco, Resources& resources, WarningList& warnings);

}  // namespace lithe::internal
