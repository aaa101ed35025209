#pragma once

#include <span>
#include <vector>

#include "lithe/collision/contact_derivatives.h"
#include "lithe/collision/detect_contacts.h"
#include "lithe/dynamics/kinematics.h"

namespace lithe {

// ∂(p, n, gap)/∂q of every contact, sparse: one column of seven (∂p, ∂n, ∂gap, world axes) for each DoF that moves
// either of the contact's two bodies; all other derivatives are zero. In the tangent of q, as all of Lithe's derivatives.
//
// A DoF above both bodies carries the contact along: p and n turn with it, and the gap stays.
struct ContactColumns {
  using Column = Eigen::Matrix<double, 7, 1>;

  std::vector<int> start;       // contact k has the columns [start[k], start[k + 1])
  std::vector<int> dofs;        // per column, ascending within a contact
  std::vector<Column> columns;  // computed by contact_columns()

  std::span<const int> dofs_of(int contact) const { return {&dofs[start[contact]], size_of(contact)}; }
  std::span<const Column> columns_of(int contact) const { return {&columns[start[contact]], size_of(contact)}; }

 private:
  std::size_t size_of(int contact) const { return static_cast<std::size_t>(start[contact + 1] - start[contact]); }
};

// The contacts must come from poses of the same model at kin's q.
void contact_columns(const Model& model, const Kinematics& kin, const ContactSet& contacts, ContactColumns& out);

}  // namespace lithe
