#include "lithe/lcp/pivoting/dantzig.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace lithe::internal {

namespace {

// Share of mean(diag A) that is added to A's diagonal.
constexpr double kRidge = 1e-12;
constexpr double kPolished = 1e-9;  // of the velocity scale
constexpr double kAccepted = 1e-6;
constexpr double kRound = 1e-13;  // rates below this share of the fastest are rounding

class Dantzig {
 public:
  Dantzig(const BoxedLcp& lcp, DantzigBuffers& buffers, std::span<double> f, std::span<double> w,
          std::span<RowMode> modes)
      : lcp_(lcp), n_(lcp.size()), buffers_(buffers), f_(f), w_(w), modes_(modes) {
    for (int i = 0; i < n_; ++i) {
      ridge_ += kRidge * lcp.at(i, i) / n_;
      inert_ = std::max(inert_, kInertShare * lcp.at(i, i));
    }
    buffers.driven.assign(n_, false);
    buffers.position.assign(n_, -1);
    for (std::vector<double>* vector : {&buffers.df, &buffers.dw, &buffers.x, &buffers.f, &buffers.w}) {
      vector->resize(n_);
    }
  }

  // False where θ would have to rise or pivots do not end.
  bool run();
  int pivots() const { return pivots_; }

 private:
  // The first condition that breaks as θ falls.
  struct Event {
    double step = std::numeric_limits<double>::infinity();
    double rate = 0;
    int row = -1;
    RowMode next = RowMode::clamping;

    void consider(int candidate, double slack, double change, double fastest, RowMode mode_then);
  };

  bool drive(int row);
  bool drive_friction_of(int normal);
  bool drive_to_zero(int row);
  bool ends_well(int driven_row, RowMode next) const;
  void change_mode(int row, RowMode next);
  bool tangent(int driven_row);
  void assemble(int driven_row);
  bool enters(int row, RowMode from) const;
  Event first_event() const;
  void consider_clamping(int row, Event& event) const;
  void consider_bound(int row, Event& event) const;
  void evaluate_ridge_problem();

  bool is_friction_of(int row, int normal) const {
    return lcp_.rows[row].kind == RowKind::friction && lcp_.rows[row].normal == normal;
  }
  // Takes part and is held by its normal.
  bool at_friction_bound(int row) const {
    return lcp_.rows[row].kind == RowKind::friction && buffers_.driven[row] &&
           (modes_[row] == RowMode::at_lower || modes_[row] == RowMode::at_upper);
  }

  const BoxedLcp& lcp_;
  const int n_;
  DantzigBuffers& buffers_;
  std::span<double> f_, w_;  // w is that of the ridge problem, with θc in it
  std::span<RowMode> modes_;
  double ridge_ = 0;
  double inert_ = 0;                      // A_ii up to here is zero but for rounding
  double direction_ = 0;                  // c of the driven row
  double fastest_f_ = 0, fastest_w_ = 0;  // largest entries of the tangent
  int pivots_ = 0;
};

// Two-sided and bounded rows first, then each normal with its friction rows.
bool Dantzig::run() {
  for (int i = 0; i < n_; ++i) {
    const LcpRow& row = lcp_.rows[i];
    f_[i] = row.kind == RowKind::bounded ? std::min(std::max(0.0, row.lower), row.upper) : 0;
    modes_[i] = row.kind == RowKind::bounded ? RowMode::at_lower : RowMode::separating;
  }
  for (int i = 0; i < n_; ++i) {
    const RowKind kind = lcp_.rows[i].kind;
    if ((kind == RowKind::two_sided || kind == RowKind::bounded) && !drive(i)) return false;
  }
  for (int i = 0; i < n_; ++i) {
    if (lcp_.rows[i].kind == RowKind::one_sided && !(drive(i) && drive_friction_of(i))) return false;
  }
  return true;
}

// The friction rows of a normal take part, one after the other.
bool Dantzig::drive_friction_of(int normal) {
  for (int i = 0; i < n_; ++i) {
    if (is_friction_of(i, normal) && !drive(i)) return false;
  }
  return true;
}

// Lets one more row take part.
bool Dantzig::drive(int i) {
  evaluate_ridge_problem();
  const LcpRow& row = lcp_.rows[i];
  if (!(lcp_.at(i, i) > inert_)) {  // nothing moves it, and it moves nothing
    modes_[i] = f_[i] > 0 ? RowMode::at_lower : f_[i] < 0 ? RowMode::at_upper : RowMode::separating;
    return true;
  }
  buffers_.driven[i] = true;
  const RowMode opposing = w_[i] > 0 ? RowMode::at_lower : RowMode::at_upper;
  switch (row.kind) {
    case RowKind::one_sided:
      if (w_[i] >= 0) return true;
      break;
    case RowKind::friction:
      if (modes_[row.normal] != RowMode::clamping || row.friction == 0) return true;
      modes_[i] = opposing;
      break;
    case RowKind::bounded:
      modes_[i] = opposing;
      if (f_[i] == (w_[i] > 0 ? row.lower : row.upper)) return true;
      break;
    case RowKind::two_sided: modes_[i] = RowMode::clamping; break;
  }
  return drive_to_zero(i);
}

// The row clamps from here on, and what it has of w goes down to zero with θ, from event to event.
bool Dantzig::drive_to_zero(int i) {
  direction_ = w_[i] > 0 ? -1 : 1;
  double theta = std::abs(w_[i]);
  change_mode(i, RowMode::clamping);
  if (theta == 0) return true;
  if (!tangent(i) || !(direction_ * buffers_.df[i] > 0)) return false;

  const int cap = pivots_ + 20 * n_ + 200;
  while (theta > 0) {
    const Event event = first_event();
    const double step = std::min(event.step, theta);
    for (int k = 0; k < n_; ++k) {
      f_[k] += step * buffers_.df[k];
      w_[k] += step * buffers_.dw[k];
    }
    if (event.step >= theta) break;
    theta -= step;
    if (event.row == i) {
      change_mode(i, event.next);
      return ends_well(i, event.next);
    }
    const RowMode from = modes_[event.row];
    change_mode(event.row, event.next);
    if (pivots_ > cap || !tangent(i) || !enters(event.row, from)) return false;
  }
  return true;
}

// The driven row has met a bound before θ = 0, and w keeps what is left of θ: right at the bound it was driven to.
bool Dantzig::ends_well(int i, RowMode next) const {
  if (lcp_.rows[i].kind == RowKind::one_sided) return false;
  return next == (direction_ > 0 ? RowMode::at_upper : RowMode::at_lower);
}

// Sets what the new mode says of f and w, and takes along the friction rows of a normal.
void Dantzig::change_mode(int i, RowMode next) {
  const LcpRow& row = lcp_.rows[i];
  modes_[i] = next;
  if (next == RowMode::clamping) w_[i] = 0;
  if (row.kind == RowKind::bounded && next == RowMode::at_lower) f_[i] = row.lower;
  if (row.kind == RowKind::bounded && next == RowMode::at_upper) f_[i] = row.upper;
  if (row.kind != RowKind::one_sided) return;
  // Friction rows follow their normal: without it they have no impulse, with it they oppose the motion.
  f_[i] = 0;
  for (int k = 0; k < n_; ++k) {
    if (!is_friction_of(k, i) || !buffers_.driven[k] || lcp_.rows[k].friction == 0) continue;
    const RowMode opposing = w_[k] > 0 ? RowMode::at_lower : RowMode::at_upper;
    f_[k] = 0;
    modes_[k] = next == RowMode::separating ? RowMode::separating : opposing;
  }
}

// df and dw as θ falls by one; false where A_C is singular.
bool Dantzig::tangent(int driven_row) {
  ++pivots_;
  assemble(driven_row);
  const std::vector<int>& C = buffers_.clamping;
  const int m = static_cast<int>(C.size());
  if (!buffers_.lu.factorize()) return false;
  buffers_.lu.solve(buffers_.x.data());

  std::vector<double>&df = buffers_.df, &dw = buffers_.dw;
  std::fill(df.begin(), df.end(), 0.0);
  for (int k = 0; k < m; ++k) df[C[k]] = buffers_.x[k];
  for (int i = 0; i < n_; ++i) {
    if (!at_friction_bound(i)) continue;
    const LcpRow& row = lcp_.rows[i];
    df[i] = (modes_[i] == RowMode::at_lower ? -row.friction : row.friction) * df[row.normal];
  }
  for (int i = 0; i < n_; ++i) dw[i] = ridge_ * df[i];
  dw[driven_row] -= direction_;
  for (int k = 0; k < n_; ++k) {
    if (df[k] == 0) continue;
    const double* column = lcp_.column(k);
    for (int i = 0; i < n_; ++i) dw[i] += column[i] * df[k];
  }
  for (const int i : C) dw[i] = 0;

  fastest_f_ = fastest_w_ = 0;
  for (int i = 0; i < n_; ++i) {
    fastest_f_ = std::max(fastest_f_, std::abs(df[i]));
    fastest_w_ = std::max(fastest_w_, std::abs(dw[i]));
  }
  return std::isfinite(fastest_f_) && std::isfinite(fastest_w_);
}

// A_C with its ridge, and the right-hand side c_C.
void Dantzig::assemble(int driven_row) {
  std::vector<int>& C = buffers_.clamping;
  C.clear();
  for (int i = 0; i < n_; ++i) {
    const bool in_C = buffers_.driven[i] && modes_[i] == RowMode::clamping;
    buffers_.position[i] = in_C ? static_cast<int>(C.size()) : -1;
    if (in_C) C.push_back(i);
  }
  const int m = static_cast<int>(C.size());
  PaddedMatrix& A = buffers_.lu.matrix;
  A.resize(m, m);
  for (int k = 0; k < m; ++k) {
    const double* column = lcp_.column(C[k]);
    for (int j = 0; j < m; ++j) A.at(j, k) = column[C[j]];
    for (int j = m; j < A.stride; ++j) A.at(j, k) = 0;
    A.at(k, k) += ridge_;
    buffers_.x[k] = C[k] == driven_row ? direction_ : 0;
  }
  for (int i = 0; i < n_; ++i) {
    if (!at_friction_bound(i)) continue;
    const LcpRow& row = lcp_.rows[i];
    const int k = buffers_.position[row.normal];
    const double share = modes_[i] == RowMode::at_lower ? -row.friction : row.friction;
    for (int j = 0; j < m; ++j) A.at(j, k) += share * lcp_.at(C[j], i);
  }
}

// Whether a row that has just changed its mode goes into the new one as θ falls.
bool Dantzig::enters(int i, RowMode from) const {
  const double rounding_f = kRound * fastest_f_, rounding_w = kRound * fastest_w_;
  const double df = buffers_.df[i], dw = buffers_.dw[i];
  switch (modes_[i]) {
    case RowMode::separating:
    case RowMode::at_lower: return dw >= -rounding_w;
    case RowMode::at_upper: return dw <= rounding_w;
    case RowMode::clamping: break;
  }
  const LcpRow& row = lcp_.rows[i];
  const double bound_rate = row.kind == RowKind::friction ? row.friction * buffers_.df[row.normal] : 0;
  return from == RowMode::at_upper ? df - bound_rate <= rounding_f : df + bound_rate >= -rounding_f;
}

// A slack that shrinks ends at zero; of several at once the fastest is the most certain.
void Dantzig::Event::consider(int candidate, double slack, double change, double fastest, RowMode mode_then) {
  if (!(change < -kRound * fastest)) return;
  const double until = std::max(slack, 0.0) / -change;
  const bool tie = std::abs(until - step) <= 1e-12 * step;
  if (tie ? -change <= rate : until > step) return;
  *this = {until, -change, candidate, mode_then};
}

// The first event of all rows that take part.
Dantzig::Event Dantzig::first_event() const {
  Event event;
  for (int i = 0; i < n_; ++i) {
    if (!buffers_.driven[i]) continue;
    if (modes_[i] == RowMode::clamping) {
      consider_clamping(i, event);
    } else {
      consider_bound(i, event);
    }
  }
  return event;
}

// A clamping row ceases to clamp where its impulse comes to a bound.
void Dantzig::consider_clamping(int i, Event& event) const {
  const LcpRow& row = lcp_.rows[i];
  const double df = buffers_.df[i];
  switch (row.kind) {
    case RowKind::one_sided: event.consider(i, f_[i], df, fastest_f_, RowMode::separating); break;
    case RowKind::friction: {
      const double bound = row.friction * f_[row.normal], bound_rate = row.friction * buffers_.df[row.normal];
      event.consider(i, bound - f_[i], bound_rate - df, fastest_f_, RowMode::at_upper);
      event.consider(i, bound + f_[i], bound_rate + df, fastest_f_, RowMode::at_lower);
      break;
    }
    case RowKind::bounded:
      event.consider(i, row.upper - f_[i], -df, fastest_f_, RowMode::at_upper);
      event.consider(i, f_[i] - row.lower, df, fastest_f_, RowMode::at_lower);
      break;
    case RowKind::two_sided: break;
  }
}

// A row at a bound begins to clamp where its velocity comes to zero.
void Dantzig::consider_bound(int i, Event& event) const {
  const LcpRow& row = lcp_.rows[i];
  // Friction rows of a separated contact stay at zero whatever w is, and those without friction; constants stay, too.
  if (row.kind == RowKind::friction && modes_[i] == RowMode::separating) return;
  if (row.kind == RowKind::bounded && row.lower == row.upper) return;
  const double sign = modes_[i] == RowMode::at_upper ? -1 : 1;
  event.consider(i, sign * w_[i], sign * buffers_.dw[i], fastest_w_, RowMode::clamping);
}

// w = (A + ε̄ I) f + b.
void Dantzig::evaluate_ridge_problem() {
  evaluate(lcp_, f_, w_);
  for (int i = 0; i < n_; ++i) w_[i] += ridge_ * f_[i];
}

// f_C = −A_C# (b_C + A_C0 f₀), kept where it solves the problem; true if it was.
bool polish(const BoxedLcp& lcp, DantzigBuffers& buffers, std::span<const RowMode> modes, std::span<double> f,
            std::span<double> w) {
  ModeFactor& factor = buffers.factor;
  factor.compute(lcp, modes);
  if (!factor.has_group_inverse()) return false;
  const int m = factor.size();
  const std::span<double> x(buffers.x.data(), m);
  std::fill(x.begin(), x.end(), 0.0);
  factor.expand(lcp, modes, x, buffers.f);
  evaluate(lcp, buffers.f, buffers.w);
  for (int k = 0; k < m; ++k) x[k] = -buffers.w[factor.clamping()[k]];
  factor.solve(x, x);
  factor.expand(lcp, modes, x, buffers.f);
  evaluate(lcp, buffers.f, buffers.w);
  if (!(residual(lcp, buffers.f, buffers.w) <= kPolished)) return false;
  std::copy(buffers.f.begin(), buffers.f.end(), f.begin());
  std::copy(buffers.w.begin(), buffers.w.end(), w.begin());
  return true;
}

// Leaves the impulses that stand there now, or the least admissible ones if those are no worse.
void give_up(const BoxedLcp& lcp, DantzigBuffers& buffers, std::span<double> f, std::span<double> w,
             LcpReport& report) {
  report.stage = LcpStage::unsolved;
  report.flags = LcpFlag::unsolved | LcpFlag::unpolished;
  std::fill(buffers.f.begin(), buffers.f.end(), 0.0);
  clamp_to_bounds(lcp, buffers.f);
  evaluate(lcp, buffers.f, buffers.w);
  const double least = residual(lcp, buffers.f, buffers.w);
  if (report.residual < least) return;
  report.residual = least;
  std::copy(buffers.f.begin(), buffers.f.end(), f.begin());
  std::copy(buffers.w.begin(), buffers.w.end(), w.begin());
  for (double& wi : w) {
    if (!std::isfinite(wi)) wi = 0;  // nothing is known
  }
}

}  // namespace

LcpReport solve_dantzig(const BoxedLcp& lcp, DantzigBuffers& buffers, std::span<double> f, std::span<double> w,
                        std::span<RowMode> modes) {
  LcpReport report;
  report.ridge = kRidge;
  report.rank = -1;
  Dantzig dantzig(lcp, buffers, f, w, modes);
  const bool finished = dantzig.run();
  report.pivots = dantzig.pivots();
  report.clamping_rows = static_cast<int>(std::count(modes.begin(), modes.end(), RowMode::clamping));

  if (finished && polish(lcp, buffers, modes, f, w)) {
    report.rank = buffers.factor.rank();
  } else {
    report.flags = LcpFlag::unpolished;
    clamp_to_bounds(lcp, f);
    evaluate(lcp, f, w);
  }
  report.residual = residual(lcp, f, w);
  report.stage = LcpStage::dantzig;
  if (!finished || !(report.residual <= kAccepted)) give_up(lcp, buffers, f, w, report);
  return report;
}

}  // namespace lithe::internal
