#pragma once

#include "lithe/core/check.h"
#include "lithe/model/model.h"

namespace lithe::internal {

// Every stage's product remembers which model structure it was computed for; that of another one would be read out of
// bounds.
inline void check_stage(const Model& model, const LayoutStamp& layout, const char* stage, const char* made_by) {
  LITHE_CHECK(layout.matches(model.tree()), "this {} was not computed for this model: call {} with this model first",
              stage, made_by);
}

}  // namespace lithe::internal
