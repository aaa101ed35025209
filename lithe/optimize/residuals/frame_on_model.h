#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lithe/optimize/residual.h"

namespace lithe::internal {

// A frame that a residual watches, and what of the model's own numbers decides where it is: the places of all joints and bodies on
// the way to it, the pitch of screws among them, and its own place. None of these turns it.
class FrameOnModel {
 public:
  FrameOnModel(const Model& model, std::string_view name);

  FrameIndex index() const { return index_; }
  const std::string& name() const { return name_; }

  // Throws an Error that names the residual if this model has another frame, or none, in its place.
  void check(const Model& model, const Residual& residual) const;

  bool is_moved_by(const StepParameters::Entry& entry) const;
  // ∂p_WF of its origin by this number at fixed q.
  Vec3 shift_by(const ResidualPoint& at, const StepParameters::Entry& entry) const;

 private:
  FrameIndex index_;
  std::string name_;
  std::vector<bool> joints_before_, bodies_before_;  // by their numbers; its own body is one of them
};

}  // namespace lithe::internal
