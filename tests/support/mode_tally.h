#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/support/gradcheck_scenes.h"

namespace lithe::test {

// What the scenes of a random test consisted of and what happened in them, counted under names: a test that has never met a
// sliding contact says nothing about sliding.
class ModeTally {
 public:
  void add(const GradcheckScene& scene, const StepRecord& record);
  void count(const std::string& name, long times = 1) { counts_[name] += times; }
  long operator[](const std::string& name) const;

  // Two columns.
  std::string table() const;

  // Everything that each scene should meet now and then: joints, pairs of shapes, rows, modes.
  static const std::vector<std::string>& expected();

 private:
  void add_joints(const Model& model);
  void add_constraint(const Model& model, const StepRecord& record, const Constraint& constraint);
  void add_contact(const StepRecord& record, const Constraint& constraint);
  void add_motor(const Motor& motor, bool saturated);
  void add_islands(const StepRecord& record);

  std::map<std::string, long> counts_;
};

}  // namespace lithe::test
