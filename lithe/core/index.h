#pragma once

namespace lithe {

// An index that knows what it counts: a BodyIndex does not pass for a JointIndex. It turns into an int
// where one is wanted (to index a vector), never silently back.
template <class Tag>
class Index {
 public:
  constexpr Index() = default;
  constexpr explicit Index(int value) : value_(value) {}
  constexpr operator int() const { return value_; }
  constexpr bool valid() const { return value_ >= 0; }

 private:
  int value_ = -1;
};

using BodyIndex = Index<struct BodyTag>;
using JointIndex = Index<struct JointTag>;
using FrameIndex = Index<struct FrameTag>;
using ShapeIndex = Index<struct ShapeTag>;
using MotorIndex = Index<struct MotorTag>;
using LoopIndex = Index<struct LoopTag>;
using MimicIndex = Index<struct MimicTag>;

}  // namespace lithe
