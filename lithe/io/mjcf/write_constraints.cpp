#include <cmath>

#include "lithe/io/mjcf/write_parts.h"

namespace lithe::internal::mjcf {

namespace {

constexpr double kRigidGain = 1e8;  // what is written for an infinite gain

// Writes where a <weld> holds its bodies. The frames coincide when X_a·A = X_b·B. MJCF says that with an anchor in body
// 2, which is at relpose in body 1 and turned by R_A R_Bᵀ.
void write_weld(const LoopClosure& loop, Output& out) {
  const Vec4 turn = quaternion_from_rotation(loop.placement_a.R * loop.placement_b.R.transpose());
  VecX pose(7);
  pose << loop.placement_a.p, turn.w(), turn.head<3>();
  out.attribute("anchor", loop.placement_b.p);
  out.attribute("relpose", text_of(pose));
}

// Writes a loop as <weld> or <connect>, by sites or by bodies.
void write_loop(const Model& model, const LoopClosure& loop, const std::vector<Pose>& X_WB, NameSet& names,
                Output& out) {
  const bool weld = loop.kind == LoopClosure::Kind::weld;
  out.open(weld ? "weld" : "connect");
  out.attribute("name", names.unique(loop.name));
  if (needs_sites(loop, X_WB)) {
    out.attribute("site1", site_name(loop, 'a'));
    out.attribute("site2", site_name(loop, 'b'));
  } else {
    out.attribute("body1", model.bodies()[loop.a].name);
    out.attribute("body2", model.bodies()[loop.b].name);
    if (weld) {
      write_weld(loop, out);
    } else {
      out.attribute("anchor", loop.placement_a.p);
    }
  }
  out.close();
}

// Writes a <joint> of <equality>: q₁ = offset + multiplier·q₂.
void write_follower(const std::string& name, const std::string& joint, const std::string& source, double offset,
                    double multiplier, Output& out) {
  out.open("joint");
  out.attribute("name", name);
  out.attribute("joint1", joint);
  out.attribute("joint2", source);
  out.attribute("polycoef", fmt::format("{} {} 0 0 0", offset, multiplier));
  out.close();
}

// The gain as it is written. MJCF knows no infinite one.
double finite_gain(double gain, const Motor& motor, Output& out) {
  if (std::isfinite(gain)) return gain;
  out.warn("rigid motor", fmt::format("motor '{}' is rigid, which MJCF does not know; its gain is written as {}",
                                      motor.name, kRigidGain));
  return kRigidGain;
}

}  // namespace

bool needs_sites(const LoopClosure& loop, const std::vector<Pose>& X_WB) {
  if (loop.kind == LoopClosure::Kind::weld) return false;
  // By bodies, <connect> holds the points together that coincide in the neutral pose. Others need sites.
  const Vec3 apart = X_WB[loop.a] * loop.placement_a.p - X_WB[loop.b] * loop.placement_b.p;
  return apart.norm() > 1e-12;
}

std::string site_name(const LoopClosure& loop, char end) { return fmt::format("{}_end_{}", loop.name, end); }

void write_equality(const Model& model, const std::vector<WrittenScrew>& screws, const std::vector<Pose>& X_WB,
                    Output& out) {
  if (model.loops().empty() && model.mimics().empty() && screws.empty()) return;
  NameSet names;  // loops and mimics share one list of names in MJCF
  out.open("equality");
  for (const LoopClosure& loop : model.loops()) write_loop(model, loop, X_WB, names, out);
  for (const Mimic& mimic : model.mimics()) {
    write_follower(names.unique(mimic.name), model.joints()[mimic.joint].name, model.joints()[mimic.source].name,
                   mimic.offset, mimic.multiplier, out);
  }
  for (const WrittenScrew& screw : screws) {
    write_follower(names.unique(screw.slide), screw.slide, screw.hinge, 0, screw.pitch, out);
  }
  out.close();
}

void write_actuators(const Model& model, Output& out) {
  if (model.motors().empty()) return;
  out.open("actuator");
  for (const Motor& motor : model.motors()) {
    const bool position = motor.target == Motor::Target::position;
    out.open(position ? "position" : "velocity");
    out.attribute("name", motor.name);
    out.attribute("joint", model.joints()[motor.joint].name);
    if (position) out.attribute("kp", finite_gain(motor.stiffness, motor, out));
    out.attribute("kv", finite_gain(motor.damping, motor, out));
    if (std::isfinite(motor.max_effort)) {
      // The two ends of a range must differ, also for a motor without strength.
      const double most = std::max(motor.max_effort, 1e-300);
      out.attribute("forcerange", text_of(Eigen::Vector2d(-most, most)));
    }
    out.close();
  }
  out.close();
}

}  // namespace lithe::internal::mjcf
