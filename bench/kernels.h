#pragma once

#include "bench/workload.h"

namespace lithe::bench {

// What is measured, by the name under which tools/bench_table.py looks for it.
struct Kernel {
  const char* name;
  void (*run)(Workload&);
};

inline constexpr Kernel kKernels[] = {
    {"kinematics",
     [](Workload& w) {
       const int i = w.next_state();
       kinematics(w.model, w.q.col(i), w.v.col(i), w.kin);
     }},
    {"id_with_kinematics",
     [](Workload& w) {
       const int i = w.next_state();
       kinematics(w.model, w.q.col(i), w.v.col(i), w.kin);
       rnea(w.model, w.kin, w.a.col(i), w.id);
     }},
    {"mass_matrix_and_factor_with_kinematics",
     [](Workload& w) {
       kinematics(w.model, w.q.col(w.next_state()), w.kin);
       mass_matrix(w.model, w.kin, w.M);
       factorize(w.model, w.M, w.factor);
     }},
    {"fd_with_kinematics",
     [](Workload& w) {
       const int i = w.next_state();
       kinematics(w.model, w.q.col(i), w.v.col(i), w.kin);
       aba(w.model, w.kin, w.tau.col(i), w.fd);
     }},
    {"id_derivatives", [](Workload& w) { rnea_derivatives(w.model, w.kin, w.id, w.did); }},
    {"fd_derivatives", [](Workload& w) { aba_derivatives(w.model, w.kin, w.fd, w.dfd); }},
    {"mass_matrix", [](Workload& w) { mass_matrix(w.model, w.kin, w.M); }},
    {"factor", [](Workload& w) { factorize(w.model, w.M, w.factor); }},
    {"factor_inverse", [](Workload& w) { invert(w.model, w.factor, w.inverse); }},
    {"solve_by_substitution",
     [](Workload& w) {
       w.solution = w.rhs;
       solve_in_place(w.model, w.factor, w.solution);
     }},
    {"solve_with_inverse", [](Workload& w) { solve(w.model, w.inverse, w.rhs, w.solution); }},
};

}  // namespace lithe::bench
