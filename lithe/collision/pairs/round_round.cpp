
#include <algorithm>
#include <cmath>

#include "lithe/collision/distance/segments.h"
#include "lithe/collision/pairs/pairs.h"

// Spheres and capsules with each other: balls swept along segments ("cores"). With c_a, c_b the closest points of the
// cores and g = c_a − c_b, n = g/|g| and gap = |g| − r_a − r_b. All in b's frame, where b's core is on the z axis.
namespace lithe::internal {
namespace {

// Capsules at a smaller angle (its sine) are nearly parallel and touch along a line: a manifold.
constexpr double kNearlyParallel = 0.1;
// The crossing of such capsules says nothing new where the cores pass this close above each other, relative to
// r_a + r_b, at both ends of the overlap: the gap there is 1e-4 (r_a + r_b) larger at most.
constexpr double kCrossingOffset = 0.014;
// A crossing at a smaller angle (sine) moves more than 1000 m per metre.
constexpr double kSensitiveAngle = 1e-3;
// Crossing cores that meet have one normal, e_a × e_b, down to this angle (sine).
constexpr double kCrossingAngle = 1e-6;

// Two cores in b's frame: o + s e, |s| ≤ h_a, and t e_z, |t| ≤ h_b.
struct Cores {
  const Vec3& o;
  const Vec3 e;
  double h_a, h_b, radius_a, radius_b;
  SegmentPair pair;

  explicit Cores(const PairQuery& query)
      : o(query.X_BA.p),
        e(query.X_BA.R.col(2)),
        h_a(query.a.half_length),
        h_b(query.b.half_length),
        radius_a(query.a.radius),
        radius_b(query.b.radius),
        pair(SegmentPair::with_z_axis(o, e)) {}

  double radii() const { return radius_a + radius_b; }
  // g = c_a − c_b.
  Vec3 between(const ClosestParameters& at) const {
    Vec3 g = o + at.s * e;
    g.z() -= at.t;
    return g;
  }
  bool pipe_a(double s) const { return std::abs(s) < h_a; }
  bool pipe_b(double t) const { return std::abs(t) < h_b; }
  bool crossing(const ClosestParameters& at) const { return pipe_a(at.s) && pipe_b(at.t); }
};

// The normal where cores meet: ⟂ to both, so no direction separates them better. Crossing ones have e_a × e_b, with all
// its digits in b's frame; parallel ones, and points, b's x axis.
Vec3 normal_of_meeting_cores(const Cores& cores) {
  if (cores.h_a == 0 || cores.pair.parallel()) return Vec3::UnitX();
  const double sine = std::sqrt(cores.pair.sine_sq);
  return {cores.e.y() / sine, -cores.e.x() / sine, 0};
}

// Where cores meet, a crossing has its normal and features; otherwise a circle of normals is as good, or all of them.
struct Meeting {
  Vec3 n;
  double core;  // n·g
  bool by_convention;
};
Meeting meeting_of(const Cores& cores, bool crossing, const Vec3& g) {
  const Vec3 n = normal_of_meeting_cores(cores);
  const double core = g.dot(n);
  if (!crossing || cores.pair.sine_sq < kCrossingAngle * kCrossingAngle) return {n, core, true};
  if (core < 0) return {-n, -core, false};
  return {n, core, false};
}

FeatureCode code_at(bool pipe, double s) { return pipe ? FeatureCode::pipe() : FeatureCode::end(s > 0 ? 1 : 0); }

// Into a jet that is still empty.
void set_jet(bool pipe, const Vec3& e, double radius, SupportJet& jet) {
  if (pipe) {
    jet = SupportJet::line(e, radius);
  } else {
    jet.round = radius;
  }
}

// The contact at some points of the cores, with g between them.
void set_contact(const Cores& cores, const ClosestParameters& at, const Vec3& g, Contact& contact) {
  const bool pipe_a = cores.pipe_a(at.s), pipe_b = cores.pipe_b(at.t);
  contact.code_a = code_at(pipe_a, at.s);
  contact.code_b = code_at(pipe_b, at.t);
  double core = g.norm();
  Vec3 n = g / core;
  bool by_convention = false;
  // Cores this close meet: the direction of g is rounding. The lengths count where there are no radii.
  if (core <= 1e-9 * cores.radii() + 1e-12 * (cores.h_a + cores.h_b)) [[unlikely]] {
    const Meeting meeting = meeting_of(cores, pipe_a && pipe_b, g);
    n = meeting.n;
    core = meeting.core;
    by_convention = meeting.by_convention;
  }
  contact.n = n;
  contact.gap = core - cores.radii();
  // ½(x_a + x_b), x_a = c_a − r_a n, x_b = c_b + r_b n, c_a = c_b + g.
  contact.p = Vec3(0, 0, at.t) + 0.5 * g + (0.5 * (cores.radius_b - cores.radius_a)) * n;

  ClosestFeatures& feature = contact.feature.emplace<ClosestFeatures>();
  if (by_convention) [[unlikely]] {
    contact.flags = ContactFlag::normal_by_convention;
    feature.b = SupportJet::face();
    return;
  }
  set_jet(pipe_a, cores.e, cores.radius_a, feature.a);
  set_jet(pipe_b, Vec3::UnitZ(), cores.radius_b, feature.b);
  if (pipe_a && pipe_b && cores.pair.sine_sq < kSensitiveAngle * kSensitiveAngle) [[unlikely]] {
    contact.flags = ContactFlag::sensitive_point;
    // Where along each other parallel pipes touch is a choice, here a point that a carries.
    if (cores.pair.parallel()) feature.a = SupportJet::vertex(cores.radius_a);
  }
}

bool within(const Vec3& g, double reach) { return g.squaredNorm() <= reach * reach; }

bool append(const Cores& cores, const ClosestParameters& at, double margin, std::vector<Contact>& out) {
  const Vec3 g = cores.between(at);
  if (!within(g, cores.radii() + margin)) return false;
  set_contact(cores, at, g, out.emplace_back());
  return true;
}

// One end of the overlap of nearly parallel cores: the ends s of a and t of b that face the same way; whichever lies
// beside the other core meets it at its foot. Of two the closer one, of none the two ends.
ClosestParameters overlap_end(const Cores& cores, double s, double t) {
  const ClosestParameters end_of_a{s, cores.pair.foot_on_b(s)};
  const ClosestParameters end_of_b{cores.pair.foot_on_a(t), t};
  const bool a_beside = std::abs(end_of_a.t) <= cores.h_b;
  const bool b_beside = std::abs(end_of_b.s) <= cores.h_a;
  if (!a_beside && !b_beside) return {s, t};
  if (a_beside != b_beside) return a_beside ? end_of_a : end_of_b;
  return cores.between(end_of_a).squaredNorm() <= cores.between(end_of_b).squaredNorm() ? end_of_a : end_of_b;
}

// Nearly parallel cores that lie side by side: both ends of their overlap and, where it differs from them, the
// crossing. Appends nothing where the cores have no overlap.
bool append_overlap(const PairQuery& query, const Cores& cores, const ClosestParameters& closest,
                    std::vector<Contact>& out) {
  const double end_b = cores.pair.cosine < 0 ? -cores.h_b : cores.h_b;  // on the side of a's end 1
  const double low = std::max(-cores.h_a, cores.pair.foot_on_a(-end_b));
  const double high = std::min(cores.h_a, cores.pair.foot_on_a(end_b));
  if (!(low < high)) return false;

  const double margin = query.bands.margin;
  const ClosestParameters first = overlap_end(cores, -cores.h_a, -end_b);
  const ClosestParameters last = overlap_end(cores, cores.h_a, end_b);
  bool any = append(cores, first, margin, out);
  any |= append(cores, last, margin, out);

  const double farther = std::max(closest.s - first.s, last.s - closest.s);
  const bool says_more = std::sqrt(cores.pair.sine_sq) * farther > kCrossingOffset * cores.radii();
  if (says_more && cores.crossing(closest) && !cores.pair.parallel() && query.max_points > 2) {
    any |= append(cores, closest, margin, out);
  }
  return any;
}

}  // namespace

void round_round_contacts(const PairQuery& query, std::vector<Contact>& out) {
  const Cores cores(query);
  const ClosestParameters closest = closest_parameters(cores.pair, cores.h_a, cores.h_b);
  const Vec3 g = cores.between(closest);
  if (!within(g, cores.radii() + query.bands.margin)) return;
  const bool nearly_parallel = cores.pair.sine_sq < kNearlyParallel * kNearlyParallel && cores.h_a > 0 && cores.h_b > 0;
  if (nearly_parallel && query.max_points > 1 && append_overlap(query, cores, closest, out)) return;
  set_contact(cores, closest, g, out.emplace_back());
}

Contact round_round_distance(const PairQuery& query) {
  const Cores cores(query);
  const ClosestParameters closest = closest_parameters(cores.pair, cores.h_a, cores.h_b);
  Contact contact;
  set_contact(cores, closest, cores.between(closest), contact);
  return contact;
}

}  // namespace lithe::internal
