#pragma once

#include <string>

#include "lithe/rollout/rollout.h"
#include "python/bindings/values/arrays.h"

namespace lithe::python {

// 'none', 'records' or 'checkpoints'.
Tape tape_of(const std::string& name);

// A matrix with one column per step as a read-only array with one row per step.
Array rows_view_of(const MatX& by_column, nb::handle owner);

// An array (steps, size), or (size,) that holds for all steps, as size × steps.
MatX rows_or_repeated(const ArrayIn& array, const char* name, int steps, int size);

}  // namespace lithe::python
