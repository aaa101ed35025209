#pragma once

#include <algorithm>
#include <vector>

#include "lithe/linalg/padded_matrix.h"

namespace lithe::internal {

// The linear equations of one edge of the mode path, with their inverse.
//
// Unknowns are the impulses and the path's parameter, x = (f, θ), N + 1 in all. Every row contributes the equation of its
// mode, and one more, the driving equation, is the one whose right-hand side moves along the edge:
//
//   velocity   A_i f + c_i θ = …      a clamping row
//   impulse    f_i − κ f_j = …        a row at a bound (κ ≠ 0: that of normal j), or separating
//   parameter  θ = …                  the driving equation of the first edge
//
// Equation k sits in slot k; column k of the inverse is the derivative of x by its right-hand side, so the edge's
// direction is the driving slot's column. An equation is exchanged in O(N²) (Sherman & Morrison 1950).
class PathBasis {
 public:
  struct Equation {
    enum class Kind : unsigned char { velocity, impulse, parameter };
    Kind kind = Kind::impulse;
    int row = 0;
    int normal = 0;
    double kappa = 0;

    static Equation velocity(int row) { return {.kind = Kind::velocity, .row = row}; }
    static Equation impulse(int row, int normal = 0, double kappa = 0) {
      return {.kind = Kind::impulse, .row = row, .normal = normal, .kappa = kappa};
    }
    static Equation parameter() { return {.kind = Kind::parameter}; }
  };

  // N impulse equations with κ = 0 in slots 0 … N−1, θ in slot N. A (N×N, symmetric) and c (N) are looked at until the
  // next start.
  void start(const PaddedMatrix& A, const double* c);

  int size() const { return static_cast<int>(equations_.size()); }  // N + 1
  const Equation& equation(int slot) const { return equations_[slot]; }
  const double* column(int slot) const { return inverse_.column(slot); }

  // A better value of that column.
  void set_column(int slot, const double* column) { std::copy_n(column, size(), inverse_.column(slot)); }

  // Puts another equation into the slot. Its derivative by the slot's right-hand side is the pivot; where that is lost in
  // rounding, the inverse is built anew. False where the equations are singular.
  bool exchange(int slot, const Equation& equation);
  // Changes the κ of an impulse equation, of which `normal` becomes the normal, while that one's own impulse is held by
  // an equation f_normal = … in `normal_slot`: O(N).
  void set_kappa(int slot, int normal, int normal_slot, double kappa);
  // Builds the inverse anew, from the start's by exchanges of refined columns: O(N³). (Elimination of G at one go is
  // useless with a ridge of 1e-9: rounding of the largest entries of G⁻¹ drowns the others.) False where the equations are
  // singular.
  bool rebuild();
  int exchanges_since_rebuild() const { return exchanges_; }

  // Left-hand side of the slot's equation at x, given A f + c θ.
  double value(int slot, const double* x, const double* velocity) const;
  // to = inverse · x.
  void solve(const double* x, double* to) const { multiply(inverse_, x, to); }

 private:
  void differentiate(const Equation& equation);
  bool replace(int slot);
  void refine_column(int slot);

  const PaddedMatrix* A_ = nullptr;
  const double* c_ = nullptr;
  std::vector<Equation> equations_, target_;
  PaddedMatrix inverse_, spare_;
  AlignedBuffer product_, scratch_;
  std::vector<int> place_;
  std::vector<char> open_;
  int exchanges_ = 0;
};

}  // namespace lithe::internal
