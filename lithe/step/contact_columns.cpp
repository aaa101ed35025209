#include "lithe/step/contact_columns.h"

#include <algorithm>

#include "lithe/core/check.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/internal/slot_vectors.h"
#include "lithe/dynamics/internal/stage_check.h"

namespace lithe {

using namespace internal;
namespace {

// The last DoF that moves the shape's body; −1: none.
int last_dof(const Model& model, ShapeIndex shape) {
  LITHE_CHECK(shape.valid() && static_cast<std::size_t>(shape) < model.shapes().size(),
              "contact_columns: a contact names shape {}, but the model has {}; is it another model's?", int(shape),
              model.shapes().size());
  return model.tree().bodies[model.shapes()[shape].body].dof;
}

// The axis of a DoF with its linear part at p.
Vec6 axis_at(const Model& model, const Kinematics& kin, int dof, const Vec3& p) {
  const Vec3 from_origin = p - tree_origin(model, kin, dof);
  return to_eigen(moved_to(motion_at(kin.S, model.tree().slot[dof]), from_eigen(from_origin)));
}

}  // namespace

void contact_columns(const Model& model, const Kinematics& kin, const ContactSet& contacts, ContactColumns& out) {
  check_stage(model, kin.layout, "Kinematics", "kinematics()");
  const std::vector<int>& parent = model.tree().parent;
  out.start.assign(1, 0);
  out.dofs.clear();
  out.columns.clear();
  for (const Contact& contact : contacts.contacts) {
    const ContactDerivatives d = contact_derivatives(contact);
    int above_a = last_dof(model, contact.a);
    int above_b = last_dof(model, contact.b);
    const auto first = static_cast<std::ptrdiff_t>(out.dofs.size());
    // Up both paths to the root at once. A DoF's number is larger than those above it, so the larger one is next.
    while (above_a >= 0 || above_b >= 0) {
      const int dof = std::max(above_a, above_b);
      const Vec6 S = axis_at(model, kin, dof, contact.p);
      ContactColumns::Column column = ContactColumns::Column::Zero();
      if (above_a == dof) {
        column += d.by_a * S;
        above_a = parent[dof];
      }
      if (above_b == dof) {
        column += d.by_b * S;
        above_b = parent[dof];
      }
      out.dofs.push_back(dof);
      out.columns.push_back(column);
    }
    std::reverse(out.dofs.begin() + first, out.dofs.end());
    std::reverse(out.columns.begin() + first, out.columns.end());
    out.start.push_back(static_cast<int>(out.dofs.size()));
  }
}

}  // namespace lithe
