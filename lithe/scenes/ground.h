#pragma once

#include <optional>
#include <string_view>

#include "lithe/model/model.h"

namespace lithe {

// Whether a model shall get a ground, and where.
struct Ground {
  enum class When {
    automatic,  // if something would fall for ever without one: see ground_under()
    yes,        // unless there is one
    no,
    at_height,  // there, whatever there is
  };
  When when = When::automatic;
  double height = 0;  // at_height: m above the world's origin, against gravity
};

// "auto", "yes", "no" or a height in metres, as command lines say it. Anything else is an Error.
Ground ground_from(std::string_view text);

// The ground that a model wants where it is at q, as a shape of the world that is called "ground" (or "ground_2" …, if that name is
// taken) and has friction 1; nothing if it wants none. It is a half-space across gravity, or below z if there is no gravity. Whatever
// collides at all touches it, whatever groups it belongs to; bodies that are fixed in the world touch nothing that is.
//
//   yes         just under the lowest point of all shapes, unless a plane that is fixed in the world faces upwards already
//   automatic   the same, if something can fall for ever: if a joint slides down without a limit, as those of a floating base do, and
//               nothing that is fixed in the world reaches below what moves. A robot that is bolted to the world has no ground:
//               nothing says where it would be, and a pendulum or an arm that hangs shall swing freely.
std::optional<Shape> ground_under(const Model& model, const ConstVecRef& q, const Ground& ground = {});

// The first joint that slides up or down without a limit downwards, as that of a floating base does; none: nothing can fall for ever. One
// that a spring holds is none.
std::optional<JointIndex> falling_joint(const Model& model, const ConstVecRef& q);

// Against gravity; z where there is none.
Vec3 up_direction(const Model& model);

}  // namespace lithe
