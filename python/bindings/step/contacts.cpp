#include <fmt/format.h>

#include <cstdint>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <optional>

#include "lithe/collision/contact_derivatives.h"
#include "lithe/collision/detect_contacts.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/jacobians.h"
#include "python/bindings/dynamics/dynamics_arguments.h"
#include "python/bindings/parts.h"

namespace lithe::python {

namespace {

// A contact as detection finds it, before any step. (A step's contacts have impulses.)
struct DetectedContact {
  Contact contact;
};

struct DetectedContactDerivatives {
  Array dpoint_dq, dnormal_dq, dgap_dq;
  bool regular;
};

// Hulls take long to build. A model's revision changes with whatever its colliders are made of, and no other has it.
const ColliderSet& colliders_of(const Model& model) {
  thread_local std::optional<ColliderSet> colliders;
  thread_local std::uint64_t revision = 0;
  if (!colliders || revision != model.collision_revision()) {
    colliders.emplace(model);
    revision = model.collision_revision();
  }
  return *colliders;
}

std::vector<DetectedContact> detect(const Model& model, const ArrayIn& q, int max_points) {
  thread_local DetectionWorkspace workspace;
  thread_local ContactSet found;
  thread_local std::vector<Pose> X_WB;
  const Kinematics& kin = kinematics_at(model, q);
  {
    const nb::gil_scoped_release released;
    body_poses(model, kin, X_WB);
    detect_contacts(colliders_of(model), X_WB, workspace, found, {.max_points = max_points});
  }
  std::vector<DetectedContact> contacts;
  contacts.reserve(found.contacts.size());
  for (const Contact& contact : found.contacts) contacts.push_back({contact});
  return contacts;
}

std::vector<std::string> contact_flag_names(ContactFlag flags) {
  std::vector<std::string> names;
  if (has(flags, ContactFlag::normal_by_convention)) names.emplace_back("normal_by_convention");
  if (has(flags, ContactFlag::sensitive_point)) names.emplace_back("sensitive_point");
  return names;
}

// 6×nv: [ω; velocity at p] of the shape's body, for a place p in the world.
Mat6X jacobian_at(const Model& model, const Kinematics& kin, ShapeIndex shape, const Vec3& p) {
  const BodyIndex body = model.shapes()[shape].body;
  Mat6X J;
  body_jacobian(model, kin, body, J);
  const Vec3 r = p - body_pose(model, kin, body).p;
  J.bottomRows<3>() -= skew(r) * J.topRows<3>();
  return J;
}

DetectedContactDerivatives derivatives(const Model& model, const ArrayIn& q, const DetectedContact& detected) {
  const Contact& contact = detected.contact;
  const int shapes = static_cast<int>(model.shapes().size());
  LITHE_CHECK(contact.a < shapes && contact.b < shapes, "contact: it is one of shapes {} and {}, but the model has {}",
              static_cast<int>(contact.a), static_cast<int>(contact.b), shapes);
  const Kinematics& kin = kinematics_at(model, q);
  const ContactDerivatives d = contact_derivatives(contact);
  const MatX by_q =
      d.by_a * jacobian_at(model, kin, contact.a, contact.p) + d.by_b * jacobian_at(model, kin, contact.b, contact.p);
  return {to_numpy(MatX(by_q.topRows<3>())), to_numpy(MatX(by_q.middleRows<3>(3))),
          to_numpy(VecX(by_q.row(6).transpose())), d.regular};
}

}  // namespace

void bind_contacts(nb::module_& m) {
  nb::class_<DetectedContact>(m, "DetectedContact", "A place where two shapes touch or are about to, in the world.")
      .def_prop_ro(
          "shape_a", [](const DetectedContact& c) -> int { return c.contact.a; }, "Number of the first shape.")
      .def_prop_ro(
          "shape_b", [](const DetectedContact& c) -> int { return c.contact.b; }, "Number of the second shape.")
      .def_prop_ro(
          "point", [](const DetectedContact& c) { return to_numpy(VecX(c.contact.p)); }, "(3,), m.")
      .def_prop_ro(
          "normal", [](const DetectedContact& c) { return to_numpy(VecX(c.contact.n)); },
          "(3,), of length one, from shape b to shape a.")
      .def_prop_ro(
          "gap", [](const DetectedContact& c) { return c.contact.gap; }, "m; negative inside.")
      .def_prop_ro(
          "flags", [](const DetectedContact& c) { return contact_flag_names(c.contact.flags); },
          "'normal_by_convention': cores meet, every normal is as good. 'sensitive_point': the point moves by more "
          "than 1000 m per m or radian.")
      .def("__repr__", [](const DetectedContact& c) {
        return fmt::format("<DetectedContact of shapes {} and {}: gap {:.3g} m>", static_cast<int>(c.contact.a),
                           static_cast<int>(c.contact.b), c.contact.gap);
      });

  nb::class_<DetectedContactDerivatives>(m, "ContactDerivatives",
                                         "How a contact moves with q; columns by the tangent of q.")
      .def_ro("dpoint_dq", &DetectedContactDerivatives::dpoint_dq, "(3, nv).")
      .def_ro("dnormal_dq", &DetectedContactDerivatives::dnormal_dq, "(3, nv).")
      .def_ro("dgap_dq", &DetectedContactDerivatives::dgap_dq, "(nv,).")
      .def_ro("regular", &DetectedContactDerivatives::regular,
              "False where no derivative exists, as for a vertex that meets a vertex; then one side's features are "
              "taken as fixed.")
      .def("__repr__", [](const DetectedContactDerivatives& d) {
        return fmt::format("<ContactDerivatives: nv={}>", nb::len(d.dgap_dq.object));
      });

  m.def("detect_contacts", &detect, nb::arg("model"), nb::arg("q"), nb::kw_only(), nb::arg("max_points") = kMaxPoints,
        R"(All contacts between the model's shapes at q (nq,), at most `max_points` for a pair of shapes.

In the order of the shapes' numbers (shape_a < shape_b). A pair counts as soon as its gap is below the sum of the two
margins, or below a thousandth of the smaller shape's size. Shapes of the same body, of parent and
child, or that the model's filters keep apart, do not touch.)");
  m.def("contact_derivatives", &derivatives, nb::arg("model"), nb::arg("q"), nb::arg("contact"),
        "How a contact's point, normal and gap change with q (nq,), where `contact` comes from detect_contacts(model, "
        "q) at the same q.");
}

}  // namespace lithe::python
