#include "tests/support/mode_tally.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lithe/step/internal/step_tape.h"
#include "tests/support/pair_fixtures.h"

namespace lithe::test {

using namespace internal;

namespace {

// What a body hangs on, by the types of its joints: "PPPB" is a free joint.
const std::map<std::string, std::string>& joint_names() {
  static const std::map<std::string, std::string> names = {
      {"R", "revolute"},        {"P", "prismatic"},   {"S", "screw"},      {"B", "ball"},
      {"PPPB", "free"},         {"PPR", "planar"},    {"RR", "universal"}, {"RRR", "euler"},
      {"PPP", "translational"}, {"PR", "cylindrical"}};
  return names;
}

bool slides(RowMode c) { return c == RowMode::at_lower || c == RowMode::at_upper; }

const char* to_string(TargetRule rule) {
  switch (rule) {
    case TargetRule::none: return "none";
    case TargetRule::correction: return "correction";
    case TargetRule::capped: return "capped";
    case TargetRule::approach: return "approach";
    case TargetRule::restitution: return "restitution";
    case TargetRule::reduced: return "reduced";
    case TargetRule::motor: return "motor";
  }
  return "unknown";
}

}  // namespace

long ModeTally::operator[](const std::string& name) const {
  const auto found = counts_.find(name);
  return found == counts_.end() ? 0 : found->second;
}

std::string ModeTally::table() const {
  std::string text;
  int column = 0;
  for (const auto& [name, count] : counts_) {
    text += fmt::format("  {:<40}{:>8}{}", name, count, ++column % 2 == 0 ? "\n" : "  ");
  }
  return text + (column % 2 == 0 ? "" : "\n");
}

const std::vector<std::string>& ModeTally::expected() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list = {"contact sticks",
                                     "contact slides along -t1",
                                     "contact slides along +t1",
                                     "contact slides along -t2",
                                     "contact slides along +t2",
                                     "contact without friction",
                                     "contact separates",
                                     "contact bounces",
                                     "target correction",
                                     "target capped",
                                     "target approach",
                                     "lower limit holds",
                                     "lower limit is open",
                                     "upper limit holds",
                                     "upper limit is open",
                                     "motor position soft",
                                     "motor position rigid",
                                     "motor velocity soft",
                                     "motor velocity rigid",
                                     "motor saturated",
                                     "motor position soft saturated",
                                     "motor position rigid saturated",
                                     "motor velocity soft saturated",
                                     "motor velocity rigid saturated",
                                     "motor at its velocity limit",
                                     "dry friction sticks",
                                     "dry friction slips",
                                     "mimic joint row",
                                     "ball loop row",
                                     "weld loop row",
                                     "rank-deficient, sticking",
                                     "rank-deficient, sliding",
                                     "flat resting",
                                     "flat sliding",
                                     "flat spinning",
                                     "flat doubled",
                                     "flat on feet of unequal friction",
                                     "spring",
                                     "spring of a ball",
                                     "armature",
                                     "damping",
                                     "external wrench",
                                     "integrator semi-implicit",
                                     "integrator explicit"};
    for (const auto& [letters, name] : joint_names()) list.push_back("joint " + name);
    list.push_back("joint stack of several");
    for (const ShapePair& pair : all_pairs()) list.push_back("pair " + to_string(pair));
    return list;
  }();
  return names;
}

void ModeTally::add(const GradcheckScene& scene, const StepRecord& record) {
  count("scenes");
  count(scene.options.integrator == Integrator::semi_implicit ? "integrator semi-implicit" : "integrator explicit");
  if (!scene.control.wrenches.empty()) count("external wrench");
  for (const std::string& part : scene.parts) {
    for (const char* what : {"resting", "sliding", "spinning", "doubled"}) {
      if (part.starts_with("flat") && part.find(what) != std::string::npos) count(fmt::format("flat {}", what));
    }
    if (part.find("on feet") != std::string::npos) count("flat on feet of unequal friction");
  }
  add_joints(scene.model);
  for (const Constraint& constraint : record.tape().problem.constraints)
    add_constraint(scene.model, record, constraint);
  add_islands(record);
}

void ModeTally::add_joints(const Model& model) {
  for (const Body& body : model.bodies()) {
    std::string letters;
    for (const JointIndex j : body.joints) letters += "RPSB"[static_cast<int>(model.joints()[j].type)];
    if (letters.empty()) continue;
    const auto found = joint_names().find(letters);
    count(found == joint_names().end() ? "joint stack of several" : "joint " + found->second);
  }
  for (const Joint& joint : model.joints()) {
    if (joint.stiffness > 0) count(joint.type == JointType::ball ? "spring of a ball" : "spring");
    if (joint.damping > 0) count("damping");
    if (joint.armature > 0) count("armature");
  }
}

void ModeTally::add_constraint(const Model& model, const StepRecord& record, const Constraint& constraint) {
  const RowMode first = record.modes[constraint.first_row];
  const std::string kind = internal::to_string(constraint.kind);
  if (first != RowMode::separating && constraint.kind != ConstraintKind::dry_friction) {
    count(fmt::format("target {}", to_string(constraint.rule)));
  }
  switch (constraint.kind) {
    case ConstraintKind::contact: return add_contact(record, constraint);
    case ConstraintKind::lower_limit:
    case ConstraintKind::upper_limit: return count(kind + (first == RowMode::clamping ? " holds" : " is open"));
    case ConstraintKind::motor: {
      const Motor& motor = model.motors()[constraint.index];
      const double speed = std::abs(record.tape().problem.target[constraint.first_row]);
      if (std::isinf(motor.stiffness) && speed == model.joints()[motor.joint].velocity_limit) {
        count("motor at its velocity limit");
      }
      return add_motor(motor, slides(first));
    }
    case ConstraintKind::dry_friction: return count(slides(first) ? "dry friction slips" : "dry friction sticks");
    case ConstraintKind::mimic:
    case ConstraintKind::ball_loop:
    case ConstraintKind::weld_loop: return count(kind + " row", constraint.rows);
  }
}

void ModeTally::add_motor(const Motor& motor, bool saturated) {
  const bool position = motor.target == Motor::Target::position;
  const bool rigid = std::isinf(position ? motor.stiffness : motor.damping);
  const std::string name = fmt::format("motor {} {}{}", position ? "position" : "velocity", rigid ? "rigid" : "soft",
                                       saturated ? " saturated" : "");
  count(name);
  if (saturated) count("motor saturated");
}

void ModeTally::add_contact(const StepRecord& record, const Constraint& constraint) {
  const Contact& contact = record.contacts.contacts[constraint.index];
  const std::vector<Collider>& colliders = record.tape().colliders->colliders();
  const auto [low, high] = std::minmax(colliders[contact.a].type, colliders[contact.b].type);
  count("pair " + to_string(ShapePair{low, high}));
  const RowMode* modes = &record.modes[constraint.first_row];
  if (modes[0] == RowMode::separating) return count("contact separates");
  if (constraint.rule == TargetRule::restitution) count("contact bounces");
  if (constraint.rows == 1) return count("contact without friction");
  for (int k = 1; k <= 2; ++k) {
    if (slides(modes[k])) {
      // The impulse is at its lower bound where the velocity is positive.
      count(fmt::format("contact slides along {}t{}", modes[k] == RowMode::at_lower ? '+' : '-', k));
    }
  }
  if (!slides(modes[1]) && !slides(modes[2])) count("contact sticks");
}

void ModeTally::add_islands(const StepRecord& record) {
  for (int i = 0; i < record.tape().problem.island_count(); ++i) {
    const LcpReport& report = record.reports[i];
    if (report.rank >= report.clamping_rows) continue;
    const Island& island = record.tape().problem.islands[i];
    bool sliding = false;
    for (int c = 0; c < island.constraint_count; ++c) {
      const Constraint& constraint = record.tape().problem.constraints[island.first_constraint + c];
      if (constraint.kind != ConstraintKind::contact) continue;
      for (int k = 1; k < constraint.rows; ++k) sliding |= slides(record.modes[constraint.first_row + k]);
    }
    count(sliding ? "rank-deficient, sliding" : "rank-deficient, sticking");
  }
}

}  // namespace lithe::test
