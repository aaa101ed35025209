#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "lithe/dynamics/centroidal.h"
#include "lithe/dynamics/energy.h"
#include "lithe/dynamics/forward_dynamics.h"
#include "lithe/dynamics/inverse_mass_matrix.h"
#include "lithe/dynamics/mass_matrix.h"
#include "python/bindings/dynamics/dynamics_arguments.h"
#include "python/bindings/parts.h"

namespace lithe::python {

void warn_if_singular(const Model& model, int singular_dof, const char* function) {
  if (singular_dof < 0) return;
  std::string joint;
  for (const Joint& j : model.joints()) {
    if (j.v_index <= singular_dof && singular_dof < j.v_index + j.nv()) joint = j.name;
  }
  const std::string text =
      fmt::format("{}: nothing resists DoF {} (of joint '{}') in this configuration; it is held still", function,
                  singular_dof, joint);
  if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) < 0) throw nb::python_error();
}

namespace {

void bind_inverse_dynamics(nb::module_& m) {
  for (const char* name : {"rnea", "inverse_dynamics"}) {
    m.def(
        name,
        [](const Model& model, const ArrayIn& q, const ArrayIn& v, const ArrayIn& a, const WrenchesIn& wrenches) {
          return to_numpy(inverse_dynamics_at(model, q, v, a, finite_wrenches(model, wrenches)).tau);
        },
        nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("a"), nb::kw_only(),
        nb::arg("wrenches").none() = nb::none(),
        R"(Inverse dynamics: the generalised forces τ (nv,) that accelerate the model with a (nv,) at q (nq,), v (nv,).

τ = M(q) a + h(q, v) − Σ Jᵀ F, by the recursive Newton–Euler algorithm. `wrenches` pushes bodies: {'body': [torque about
its origin (3), force (3)]} in world axes. M includes the joints' armature; springs, damping, dry friction and contacts
belong to step(), and are not in τ. rnea and inverse_dynamics are the same function.)");
  }
  m.def(
      "bias_forces",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v, const WrenchesIn& wrenches) {
        StateWorkspace& w = state_workspace();
        bias_forces(model, kinematics_at(model, q, v), w.id, finite_wrenches(model, wrenches));
        return to_numpy(w.id.tau);
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::kw_only(), nb::arg("wrenches").none() = nb::none(),
      "h(q, v) (nv,): Coriolis, centrifugal and gravity forces (and minus the wrenches'). rnea() at a = 0.");
  m.def(
      "gravity_compensation",
      [](const Model& model, const ArrayIn& q, const WrenchesIn& wrenches) {
        StateWorkspace& w = state_workspace();
        bias_forces(model, kinematics_at(model, q), w.id, finite_wrenches(model, wrenches));
        return to_numpy(w.id.tau);
      },
      nb::arg("model"), nb::arg("q"), nb::kw_only(), nb::arg("wrenches").none() = nb::none(),
      "The generalised forces (nv,) that hold the model still at q (nq,): the gradient of potential_energy().");
}

void bind_forward_dynamics(nb::module_& m) {
  for (const char* name : {"forward_dynamics", "aba"}) {
    m.def(
        name,
        [name](const Model& model, const ArrayIn& q, const ArrayIn& v, const OptionalArray& tau,
               const WrenchesIn& wrenches) {
          thread_local ForwardDynamics fd;
          StateWorkspace& w = state_workspace();
          if (tau) {
            tau->read("tau", model.nv(), w.x);
          } else {
            w.x.setZero(model.nv());
          }
          aba(model, kinematics_at(model, q, v), w.x, fd, finite_wrenches(model, wrenches));
          warn_if_singular(model, fd.singular_dof, name);
          return to_numpy(fd.a);
        },
        nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("tau") = nb::none(), nb::kw_only(),
        nb::arg("wrenches").none() = nb::none(),
        R"(Forward dynamics: the acceleration a (nv,) that the forces tau (nv,) (none: zero) cause at q (nq,), v (nv,).

a = M⁻¹(τ − h + Σ Jᵀ F) in O(nv), by the articulated-body algorithm. Springs, damping, dry friction, limits, loops and
contacts belong to step(). `wrenches` is as for rnea(). A DoF that nothing resists is held still, with a RuntimeWarning.
forward_dynamics and aba are the same function.)");
  }
}

void bind_mass_matrix(nb::module_& m) {
  m.def(
      "mass_matrix",
      [](const Model& model, const ArrayIn& q) {
        thread_local MassMatrix M;
        const Kinematics& kin = kinematics_at(model, q);
        MatX dense;
        {
          const nb::gil_scoped_release released;
          mass_matrix(model, kin, M);
          dense = M.dense(model);
        }
        return to_numpy(std::move(dense));
      },
      nb::arg("model"), nb::arg("q"), "The mass matrix M(q) (nv, nv), joints' armature included: symmetric.");
  m.def(
      "inverse_mass_matrix",
      [](const Model& model, const ArrayIn& q) {
        thread_local ForwardDynamics fd;
        thread_local InverseMassMatrix M_inverse;
        const Kinematics& kin = kinematics_at(model, q);
        MatX dense = MatX::Zero(model.nv(), model.nv());
        {
          const nb::gil_scoped_release released;
          aba(model, kin, VecX::Zero(model.nv()), fd);
          inverse_mass_matrix(model, fd, M_inverse);
          const DofTree& tree = model.tree();
          for (const DofTree::Tree& part : tree.trees) {
            using Block = Eigen::Map<const MatX, 0, Eigen::OuterStride<>>;
            dense.block(part.first_dof, part.first_dof, part.dof_count, part.dof_count) =
                Block(&M_inverse.columns[tree.column_start[part.first_dof]], part.dof_count, part.dof_count,
                      Eigen::OuterStride<>(part.column_stride));
          }
        }
        warn_if_singular(model, fd.singular_dof, "inverse_mass_matrix");
        return to_numpy(std::move(dense));
      },
      nb::arg("model"), nb::arg("q"),
      "M(q)⁻¹ (nv, nv), in O(nv²). A DoF that nothing resists has a row and a column of zeros, and a RuntimeWarning.");
}

void bind_energy(nb::module_& m) {
  m.def(
      "kinetic_energy",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v) {
        return kinetic_energy(model, kinematics_at(model, q, v));
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), "½ vᵀ M v, joints' armature included, J.");
  m.def(
      "potential_energy",
      [](const Model& model, const ArrayIn& q) { return potential_energy(model, kinematics_at(model, q)); },
      nb::arg("model"), nb::arg("q"),
      "−Σ m g·c over the bodies that can move, J: zero for a body at the height of the world's origin. Springs are not "
      "part of it.");
}

struct CentroidalArrays {
  double mass;
  Array com, com_velocity, momentum, A_G, com_jacobian;
};

CentroidalArrays centroidal_arrays(const Model& model, const Kinematics& kin) {
  thread_local Centroidal c;
  centroidal(model, kin, c);
  return {c.mass,
          to_numpy(VecX(c.com)),
          to_numpy(VecX(c.com_velocity)),
          to_numpy(VecX(c.momentum)),
          to_numpy(MatX(c.A_G)),
          to_numpy(MatX(c.com_jacobian))};
}

void bind_centroidal(nb::module_& m) {
  nb::class_<CentroidalArrays>(
      m, "Centroidal",
      "The model as a whole: mass, centre of mass and momentum about it, in world axes, angular part first.")
      .def_ro("mass", &CentroidalArrays::mass, "kg.")
      .def_ro("com", &CentroidalArrays::com, "The centre of mass c (3,), m.")
      .def_ro("com_velocity", &CentroidalArrays::com_velocity, "ċ (3,), m/s.")
      .def_ro("momentum", &CentroidalArrays::momentum,
              "h_G (6,): angular momentum about the centre of mass, then linear momentum.")
      .def_ro("A_G", &CentroidalArrays::A_G, "The centroidal momentum matrix (6, nv): h_G = A_G v.")
      .def_ro("com_jacobian", &CentroidalArrays::com_jacobian, "J (3, nv): ċ = J v.")
      .def("__repr__", [](const CentroidalArrays& c) { return fmt::format("<Centroidal: {:.6g} kg>", c.mass); });

  m.def(
      "centroidal",
      [](const Model& model, const ArrayIn& q, const OptionalArray& v) {
        return centroidal_arrays(model, v ? kinematics_at(model, q, *v) : kinematics_at(model, q));
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v") = nb::none(),
      "Centre of mass, momentum and their matrices at q (nq,), v (nv,) (none: at rest), over all bodies that can "
      "move.");
  m.def(
      "centre_of_mass",
      [](const Model& model, const ArrayIn& q) {
        return to_numpy(VecX(centre_of_mass(model, kinematics_at(model, q))));
      },
      nb::arg("model"), nb::arg("q"), "The centre of mass (3,) in the world of all bodies that can move, m.");
  m.def(
      "centre_of_mass_velocity",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v) {
        return to_numpy(VecX(centre_of_mass_velocity(model, kinematics_at(model, q, v))));
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), "The velocity (3,) of centre_of_mass(), m/s.");
  m.def(
      "centre_of_mass_jacobian",
      [](const Model& model, const ArrayIn& q) {
        return centroidal_arrays(model, kinematics_at(model, q)).com_jacobian;
      },
      nb::arg("model"), nb::arg("q"), "J (3, nv) of the centre of mass: J v = centre_of_mass_velocity(model, q, v).");
  m.def(
      "spatial_momentum",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v, const OptionalArray& about) {
        const Vec3 place = about ? finite_point(*about, "about") : Vec3(Vec3::Zero());
        return to_numpy(VecX(spatial_momentum(model, kinematics_at(model, q, v), place)));
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("about") = nb::none(),
      "[angular momentum about the place `about` (3,) in the world (none: its origin); linear momentum] (6,).");
  m.def(
      "centroidal_momentum",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v) {
        return to_numpy(VecX(centroidal_momentum(model, kinematics_at(model, q, v))));
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"),
      "[angular momentum about the centre of mass; linear momentum] (6,).");
}

}  // namespace

void bind_dynamics(nb::module_& m) {
  bind_kinematics(m);
  bind_inverse_dynamics(m);
  bind_forward_dynamics(m);
  bind_mass_matrix(m);
  bind_energy(m);
  bind_centroidal(m);
  bind_dynamics_derivatives(m);
  bind_contacts(m);
}

}  // namespace lithe::python
