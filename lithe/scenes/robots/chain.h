#pragma once

#include "lithe/model/model_builder.h"

namespace lithe {

// A chain of equal capsules that hangs from the world along −z, with revolute joints about x and y in turn. One
// DoF per link: the model to see how cost grows with depth.
ModelBuilder chain(int links);

}  // namespace lithe
