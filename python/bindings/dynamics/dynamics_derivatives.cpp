#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include "lithe/dynamics/centroidal.h"
#include "lithe/dynamics/forward_dynamics_derivatives.h"
#include "lithe/dynamics/internal/inverse_dynamics_products.h"
#include "lithe/dynamics/placement_derivatives.h"
#include "lithe/dynamics/regressor.h"
#include "python/bindings/dynamics/dynamics_arguments.h"
#include "python/bindings/parts.h"

namespace lithe::python {

using namespace internal;

namespace {

struct InverseDerivatives {
  Array tau, dtau_dq, dtau_dv, dtau_da;
};

struct ForwardDerivatives {
  Array a, da_dq, da_dv, da_dtau;
};

struct InverseVjp {
  Array q, v, a;
};

struct CentroidalDerivativeArrays {
  Array dmomentum_dq, dmomentum_dv, dcom_velocity_dq, dcom_velocity_dv;
};

void bind_inverse(nb::module_& m) {
  nb::class_<InverseDerivatives>(m, "InverseDynamicsDerivatives",
                                 "Inverse dynamics and its derivatives; columns by the tangent of q.")
      .def_ro("tau", &InverseDerivatives::tau, "τ (nv,).")
      .def_ro("dtau_dq", &InverseDerivatives::dtau_dq, "∂τ/∂q (nv, nv) at fixed v, a.")
      .def_ro("dtau_dv", &InverseDerivatives::dtau_dv, "∂τ/∂v (nv, nv).")
      .def_ro("dtau_da", &InverseDerivatives::dtau_da, "∂τ/∂a (nv, nv): the mass matrix.")
      .def("__repr__", [](const InverseDerivatives& d) {
        return fmt::format("<InverseDynamicsDerivatives: nv={}>", nb::len(d.tau.object));
      });

  for (const char* name : {"rnea_derivatives", "inverse_dynamics_derivatives"}) {
    m.def(
        name,
        [](const Model& model, const ArrayIn& q, const ArrayIn& v, const ArrayIn& a, const WrenchesIn& wrenches) {
          thread_local InverseDynamicsDerivatives d;
          thread_local MassMatrix M;
          const ExternalWrenches pushes = finite_wrenches(model, wrenches);
          const InverseDynamics& id = inverse_dynamics_at(model, q, v, a, pushes);
          MatX mass;
          {
            const nb::gil_scoped_release released;
            const Kinematics& kin = state_workspace().kin;
            rnea_derivatives(model, kin, id, d, pushes);
            mass_matrix(model, kin, M);
            mass = M.dense(model);
          }
          return InverseDerivatives{to_numpy(id.tau), to_numpy(d.dtau_dq), to_numpy(d.dtau_dv),
                                    to_numpy(std::move(mass))};
        },
        nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("a"), nb::kw_only(),
        nb::arg("wrenches").none() = nb::none(),
        R"(The derivatives of τ = rnea(model, q, v, a) by q, v and a, each (nv, nv).

Those by q are in its tangent: rnea(retract(q, δ)) ≈ τ + dtau_dq δ. External wrenches keep their components in the world
while the body moves. rnea_derivatives and inverse_dynamics_derivatives are the same function.)");
  }
}

void bind_inverse_products(nb::module_& m) {
  nb::class_<InverseVjp>(m, "InverseDynamicsVjp", "gᵀ times the derivatives of inverse dynamics.")
      .def_ro("q", &InverseVjp::q, "gᵀ ∂τ/∂q (nv,), in the tangent of q.")
      .def_ro("v", &InverseVjp::v, "gᵀ ∂τ/∂v (nv,).")
      .def_ro("a", &InverseVjp::a, "gᵀ ∂τ/∂a = M g (nv,).")
      .def("__repr__",
           [](const InverseVjp& g) { return fmt::format("<InverseDynamicsVjp: nv={}>", nb::len(g.q.object)); });

  m.def(
      "rnea_vjp",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v, const ArrayIn& a, const ArrayIn& g,
         const WrenchesIn& wrenches) {
        thread_local InverseDynamicsVjp vjp;
        thread_local InverseDynamicsJvp jvp;
        const VecX weights = g.vector("g", model.nv());
        const ExternalWrenches pushes = finite_wrenches(model, wrenches);
        const InverseDynamics& id = inverse_dynamics_at(model, q, v, a, pushes);
        const Kinematics& kin = state_workspace().kin;
        rnea_vjp(model, kin, id, weights, vjp, pushes);
        // M is symmetric: gᵀ M is the change of τ with a alone.
        const VecX zero = VecX::Zero(model.nv());
        rnea_jvp(model, kin, id, zero, zero, weights, jvp, pushes);
        return InverseVjp{to_numpy(vjp.q), to_numpy(vjp.v), to_numpy(jvp.tau)};
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("a"), nb::arg("g"), nb::kw_only(),
      nb::arg("wrenches").none() = nb::none(),
      "gᵀ ∂τ by q, v and a for one g (nv,), in O(nv): the products of rnea_derivatives() without its matrices.");
  m.def(
      "rnea_jvp",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v, const ArrayIn& a, const OptionalArray& dq,
         const OptionalArray& dv, const OptionalArray& da, const WrenchesIn& wrenches) {
        thread_local InverseDynamicsJvp jvp;
        const auto direction = [&](const OptionalArray& x, const char* name) -> VecX {
          return x ? x->vector(name, model.nv()) : VecX(VecX::Zero(model.nv()));
        };
        const VecX by_q = direction(dq, "dq"), by_v = direction(dv, "dv"), by_a = direction(da, "da");
        const ExternalWrenches pushes = finite_wrenches(model, wrenches);
        const InverseDynamics& id = inverse_dynamics_at(model, q, v, a, pushes);
        rnea_jvp(model, state_workspace().kin, id, by_q, by_v, by_a, jvp, pushes);
        return to_numpy(jvp.tau);
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("a"), nb::arg("dq") = nb::none(),
      nb::arg("dv") = nb::none(), nb::arg("da") = nb::none(), nb::kw_only(), nb::arg("wrenches").none() = nb::none(),
      "∂τ/∂q dq + ∂τ/∂v dv + M da (nv,), in O(nv). Directions (nv,) that are not given are zero.");
}

void bind_forward(nb::module_& m) {
  nb::class_<ForwardDerivatives>(m, "ForwardDynamicsDerivatives",
                                 "Forward dynamics and its derivatives; columns by the tangent of q.")
      .def_ro("a", &ForwardDerivatives::a, "a (nv,).")
      .def_ro("da_dq", &ForwardDerivatives::da_dq, "∂a/∂q (nv, nv) at fixed v, τ.")
      .def_ro("da_dv", &ForwardDerivatives::da_dv, "∂a/∂v (nv, nv).")
      .def_ro("da_dtau", &ForwardDerivatives::da_dtau, "∂a/∂τ (nv, nv): the inverse of the mass matrix.")
      .def("__repr__", [](const ForwardDerivatives& d) {
        return fmt::format("<ForwardDynamicsDerivatives: nv={}>", nb::len(d.a.object));
      });

  for (const char* name : {"forward_dynamics_derivatives", "aba_derivatives"}) {
    m.def(
        name,
        [name](const Model& model, const ArrayIn& q, const ArrayIn& v, const OptionalArray& tau,
               const WrenchesIn& wrenches) {
          thread_local ForwardDynamics fd;
          thread_local ForwardDynamicsDerivatives d;
          StateWorkspace& w = state_workspace();
          if (tau) {
            tau->read("tau", model.nv(), w.x);
          } else {
            w.x.setZero(model.nv());
          }
          const ExternalWrenches pushes = finite_wrenches(model, wrenches);
          const Kinematics& kin = kinematics_at(model, q, v);
          {
            const nb::gil_scoped_release released;
            aba(model, kin, w.x, fd, pushes);
            aba_derivatives(model, kin, fd, d, pushes);
          }
          warn_if_singular(model, fd.singular_dof, name);
          return ForwardDerivatives{to_numpy(fd.a), to_numpy(d.da_dq), to_numpy(d.da_dv), to_numpy(d.da_dtau)};
        },
        nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("tau") = nb::none(), nb::kw_only(),
        nb::arg("wrenches").none() = nb::none(),
        R"(The derivatives of a = forward_dynamics(model, q, v, tau) by q, v and tau, each (nv, nv).

Those by q are in its tangent. forward_dynamics_derivatives and aba_derivatives are the same function.)");
  }
}

void bind_by_numbers(nb::module_& m) {
  m.def(
      "inertial_regressor",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v, const ArrayIn& a) {
        const InverseDynamics& id = inverse_dynamics_at(model, q, v, a);
        MatX Y;
        {
          const nb::gil_scoped_release released;
          inertial_regressor(model, state_workspace().kin, id, Y);
        }
        return to_numpy(std::move(Y));
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("a"),
      R"(Y (nv, 10·bodies) with τ = Y π + armature∘a: inverse dynamics is linear in the bodies' inertial parameters π.

Body b's ten columns start at 10·b, in the order of SpatialInertia.parameters: mass, m·c (3), Ixx Ixy Ixz Iyy Iyz Izz
about the body's origin. So Y is also ∂τ/∂π. The columns of the world and of bodies fixed in it are zero.)");
  m.def(
      "placement_derivatives",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v, const ArrayIn& a, const NameOrNumber& joint,
         const WrenchesIn& wrenches) {
        thread_local InverseDynamicsDerivatives did;
        const ExternalWrenches pushes = finite_wrenches(model, wrenches);
        const JointIndex index = joint_of(model, joint);
        const InverseDynamics& id = inverse_dynamics_at(model, q, v, a, pushes);
        MatX dtau;
        {
          const nb::gil_scoped_release released;
          const Kinematics& kin = state_workspace().kin;
          rnea_derivatives(model, kin, id, did, pushes);
          placement_derivatives(model, kin, id, did, index, dtau, pushes);
        }
        return to_numpy(std::move(dtau));
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"), nb::arg("a"), nb::arg("joint"), nb::kw_only(),
      nb::arg("wrenches").none() = nb::none(),
      R"(∂τ (nv, 6) of inverse dynamics by where a joint, by name or number, sits in what carries it.

Columns 0–2 turn the placement, R ← exp([δ]×) R, columns 3–5 move it, p ← p + δ: in the axes of the frame that it is
given in, the parent body's for a body's first joint and the previous joint's for the others.)");
}

void bind_centroidal_derivatives(nb::module_& m) {
  nb::class_<CentroidalDerivativeArrays>(m, "CentroidalDerivatives",
                                         "The derivatives of a Centroidal, world axes, angular rows first.")
      .def_ro("dmomentum_dq", &CentroidalDerivativeArrays::dmomentum_dq,
              "∂h_G/∂q (6, nv), about the centre of mass that moves along.")
      .def_ro("dmomentum_dv", &CentroidalDerivativeArrays::dmomentum_dv, "∂h_G/∂v (6, nv) = A_G.")
      .def_ro("dcom_velocity_dq", &CentroidalDerivativeArrays::dcom_velocity_dq, "∂ċ/∂q (3, nv).")
      .def_ro("dcom_velocity_dv", &CentroidalDerivativeArrays::dcom_velocity_dv, "∂ċ/∂v = ∂c/∂q (3, nv).")
      .def("__repr__", [](const CentroidalDerivativeArrays& d) {
        return fmt::format("<CentroidalDerivatives: nv={}>", nb::len(nb::object(d.dmomentum_dq.object.attr("T"))));
      });

  m.def(
      "centroidal_derivatives",
      [](const Model& model, const ArrayIn& q, const ArrayIn& v) {
        thread_local Centroidal c;
        thread_local CentroidalDerivatives d;
        const Kinematics& kin = kinematics_at(model, q, v);
        {
          const nb::gil_scoped_release released;
          centroidal(model, kin, c);
          centroidal_derivatives(model, kin, c, d);
        }
        return CentroidalDerivativeArrays{to_numpy(MatX(d.dmomentum_dq)), to_numpy(MatX(c.A_G)),
                                          to_numpy(MatX(d.dcom_velocity_dq)), to_numpy(MatX(c.com_jacobian))};
      },
      nb::arg("model"), nb::arg("q"), nb::arg("v"),
      "How momentum and velocity of the centre of mass change with q (nq,), in its tangent, and v (nv,).");
}

}  // namespace

void bind_dynamics_derivatives(nb::module_& m) {
  bind_inverse(m);
  bind_inverse_products(m);
  bind_forward(m);
  bind_by_numbers(m);
  bind_centroidal_derivatives(m);
}

}  // namespace lithe::python
