#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lithe/lcp/boxed_lcp.h"
#include "lithe/linalg/dense_lu.h"

namespace lithe::internal {

// A path on modes for a few rows with a dense matrix that need not be symmetric: w = M f + q.
//
// As LemkePath, the offset is q + θ c; but the path starts from modes that are almost right. c is chosen so that at θ = 1 they are
// right, and θ goes down to 0. The number of events is about that of the rows that change their mode. Each event factorises the
// equations anew: they are few.
class SmallLemkePath {
 public:
  PaddedMatrix M;  // m×m, columns padded with zeros
  std::vector<double> q;
  std::vector<LcpRow> rows;  // `normal` counts among these; a normal comes before its friction rows

  // From these modes, or from rest at a large θ (Lemke's start). False after `longest` events, at a ray or a breakdown.
  bool follow(std::span<RowMode> modes, int longest);
  bool follow_from_rest(std::span<RowMode> modes, int longest);
  int events() const { return events_; }

 private:
  struct Event {
    double step = LcpRow::kInfinity;
    double rate = 0;
    int row = -1;
    RowMode next = RowMode::clamping;
  };
  bool walk(double theta, int longest);
  bool factorize();
  void solve(std::span<const double> offset, bool affine, std::vector<double>& f, std::vector<double>& w);
  void velocities(std::span<const double> f, std::span<const double> offset, std::vector<double>& w) const;
  void cover();
  Event next_event(double theta, double direction) const;
  double apart(int row, std::uint64_t seed) const;

  std::span<RowMode> modes_;
  DenseLu lu_;
  std::vector<int> clamping_;
  std::vector<int> place_;
  std::vector<double> c_;
  std::vector<double> f_, w_, df_, dw_;  // at θ = 0, and their derivatives by θ
  AlignedBuffer x_, defect_;
  int driving_ = -1;
  RowMode left_ = RowMode::clamping;
  int events_ = 0;
};

}  // namespace lithe::internal
