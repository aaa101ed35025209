#pragma once

#include <vector>

#include "lithe/io/internal/reader_parts.h"
#include "lithe/io/loaded_model.h"
#include "lithe/io/sdf/contents.h"

namespace lithe::internal {

// The body of a link, with its name and inertia. On what it hangs is for others to say.
Body read_sdf_body(SdfContext& context, const SdfContents& contents, const SdfContents::Link& link);

// Adds the link's collisions and visuals, each named LINK::NAME. `shapes` and `visuals` hold the names that are taken.
void add_sdf_surfaces(SdfContext& context, const SdfContents& contents, const SdfContents::Link& link,
                      LoadedModel& loaded, NameSet& shapes, NameSet& visuals);

// Keeps links of one model (and of those nested in it) from colliding, unless one of the two says self_collide.
void forbid_self_collision(SdfContext& context, const SdfContents& contents, LoadedModel& loaded);

}  // namespace lithe::internal
