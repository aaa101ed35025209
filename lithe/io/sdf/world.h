#pragma once

#include "lithe/io/loaded_model.h"
#include "lithe/io/sdf/parts.h"

namespace lithe::internal {

// Reads what a <world> says about the world itself: gravity and the time step.
void read_sdf_world(SdfContext& context, const XmlElement& world, LoadedModel& loaded);

}  // namespace lithe::internal
