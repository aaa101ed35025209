#include "lithe/contact/constraint_set.h"

#include <algorithm>

#include "lithe/contact/combined_material.h"

namespace lithe::internal {

namespace {

// The key of a contact: the two shapes and the two features that touch.
ConstraintKey key_of(const Contact& contact) {
  const auto shape = [](ShapeIndex index) { return static_cast<std::uint64_t>(static_cast<int>(index)); };
  return {.pair = shape(contact.a) << 30 | shape(contact.b),
          .feature = static_cast<std::uint64_t>(contact.code_a.bits()) << 32 | contact.code_b.bits(),
          .feature_kind = static_cast<std::uint8_t>(contact.feature.index())};
}

// The key of anything but a contact: there is one constraint of each kind and number.
ConstraintKey key_of(const Constraint& constraint) {
  return {.pair = static_cast<std::uint64_t>(constraint.kind) << 60 | static_cast<std::uint64_t>(constraint.index)};
}

// A contact without friction has a normal row and no tangents.
void add_contacts(const Model& model, const ContactSet& contacts, std::vector<Constraint>& out) {
  const std::vector<DofTree::BodyPlace>& places = model.tree().bodies;
  for (std::size_t k = 0; k < contacts.contacts.size(); ++k) {
    const Contact& contact = contacts.contacts[k];
    const Shape& a = model.shapes()[contact.a];
    const Shape& b = model.shapes()[contact.b];
    const Material material = combined(a.material, b.material);
    out.push_back({.kind = ConstraintKind::contact,
                   .rows = material.friction > 0 ? 3 : 1,
                   .index = static_cast<int>(k),
                   .dof_a = places[a.body].dof,
                   .dof_b = places[b.body].dof,
                   .material = material,
                   .key = key_of(contact)});
  }
}

// A limit that nothing brings within its margin in this step has no row.
void add_limits(const DofTree& tree, const ConstVecRef& q, const ConstVecRef& v, const ConstVecRef& v_free, double h,
                std::vector<Constraint>& out) {
  for (const int dof : tree.limited_dofs) {
    const double position = q[tree.joints[tree.joint_of[dof]].q_index];
    const double lowest = position + h * std::min({0.0, v[dof], v_free[dof]});
    const double highest = position + h * std::max({0.0, v[dof], v_free[dof]});
    const DofTree::Resistance& limits = tree.resistance[dof];
    if (lowest - limits.lower <= kLimitMargin) {
      out.push_back({.kind = ConstraintKind::lower_limit, .rows = 1, .index = dof, .dof_a = dof});
    }
    if (limits.upper - highest <= kLimitMargin) {
      out.push_back({.kind = ConstraintKind::upper_limit, .rows = 1, .index = dof, .dof_a = dof});
    }
  }
}

}  // namespace

const char* to_string(ConstraintKind kind) {
  switch (kind) {
    case ConstraintKind::contact: return "contact";
    case ConstraintKind::lower_limit: return "lower limit";
    case ConstraintKind::upper_limit: return "upper limit";
    case ConstraintKind::motor: return "motor";
    case ConstraintKind::dry_friction: return "dry friction";
    case ConstraintKind::mimic: return "mimic joint";
    case ConstraintKind::ball_loop: return "ball loop";
    case ConstraintKind::weld_loop: return "weld loop";
  }
  return "unknown";
}

void gather_constraints(const Model& model, const ContactSet& contacts, const ConstVecRef& q, const ConstVecRef& v,
                        const ConstVecRef& v_free, bool motors, const ConstraintOptions& options,
                        std::vector<Constraint>& out) {
  const DofTree& tree = model.tree();
  const auto dof_of = [&](JointIndex joint) { return tree.joints[joint].dof; };
  out.clear();
  add_contacts(model, contacts, out);
  add_limits(tree, q, v, v_free, options.time_step, out);
  for (std::size_t m = 0; motors && m < model.motors().size(); ++m) {
    out.push_back({.kind = ConstraintKind::motor,
                   .rows = 1,
                   .index = static_cast<int>(m),
                   .dof_a = dof_of(model.motors()[m].joint)});
  }
  for (const int dof : tree.rubbing_dofs) {
    out.push_back({.kind = ConstraintKind::dry_friction, .rows = 1, .index = dof, .dof_a = dof});
  }
  for (std::size_t m = 0; m < model.mimics().size(); ++m) {
    const Mimic& mimic = model.mimics()[m];
    out.push_back({.kind = ConstraintKind::mimic,
                   .rows = 1,
                   .index = static_cast<int>(m),
                   .dof_a = dof_of(mimic.joint),
                   .dof_b = dof_of(mimic.source)});
  }
  for (std::size_t l = 0; l < model.loops().size(); ++l) {
    const LoopClosure& loop = model.loops()[l];
    const bool weld = loop.kind == LoopClosure::Kind::weld;
    out.push_back({.kind = weld ? ConstraintKind::weld_loop : ConstraintKind::ball_loop,
                   .rows = weld ? 6 : 3,
                   .index = static_cast<int>(l),
                   .dof_a = tree.bodies[loop.a].dof,
                   .dof_b = tree.bodies[loop.b].dof});
  }
  for (std::size_t c = contacts.contacts.size(); c < out.size(); ++c) out[c].key = key_of(out[c]);
}

void index_contacts(std::span<const Constraint> constraints, std::size_t contact_count, std::vector<int>& out) {
  out.resize(contact_count);
  for (std::size_t c = 0; c < constraints.size(); ++c) {
    if (constraints[c].kind == ConstraintKind::contact) out[constraints[c].index] = static_cast<int>(c);
  }
}

}  // namespace lithe::internal
