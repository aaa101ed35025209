#pragma once

#include <vector>

#include "lithe/io/internal/reader_parts.h"
#include "lithe/io/loaded_model.h"
#include "lithe/io/sdf/contents.h"

namespace lithe::internal {

// A link's body: name and inertia; where it hangs is not its own business.
Body read_sdf_body(SdfContext& context, const SdfContents& contents, const SdfContents::Link& link);

// Adds the link's collisions and visuals. `shapes` and `visuals` hold the names that are taken.
void add_sdf_surfaces(SdfContext& context, const SdfContents& contents, const SdfContents::Link& link,
                      LoadedModel& loaded, NameSet& shapes, NameSet& visuals);

// Links of one model (and of those nested in it) do not collide unless one of the two says self_collide.
void forbid_self_collision(SdfContext& context, const SdfContents& contents, LoadedModel& loaded);

}  // namespace lithe::internal
