#include "tests/support/oracle.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>
#include <queue>
#include <variant>
#include <vector>

#include "lithe/core/check.h"
#include "lithe/core/infinity.h"
#include "lithe/core/internal/overloaded.h"

namespace lithe::test {

using namespace internal;
namespace {

double sign(double x) { return x < 0 ? -1.0 : 1.0; }

// A shape is a core with a ball around every point of it: that radius, and the core's support points. Balls change
// every sep(n) by the same amount, so that the search need not see them.
double ball_radius(const Geometry& shape) {
  if (const auto* sphere = std::get_if<Sphere>(&shape)) return sphere->radius;
  if (const auto* capsule = std::get_if<Capsule>(&shape)) return capsule->radius;
  return 0;
}

// In G, for any d.
Vec3 core_support(const Geometry& shape, const Vec3& d) {
  return std::visit(Overloaded{
                        [&](const Sphere&) { return Vec3(Vec3::Zero()); },
                        [&](const Capsule& s) { return Vec3(0, 0, sign(d.z()) * s.half_length); },
                        [&](const Cylinder& s) {
                          const double across = std::hypot(d.x(), d.y());
                          const double k = across > 0 ? s.radius / across : 0;
                          return Vec3(k * d.x(), k * d.y(), sign(d.z()) * s.half_length);
                        },
                        [&](const Box& s) {
                          return Vec3(sign(d.x()) * s.half_size.x(), sign(d.y()) * s.half_size.y(),
                                      sign(d.z()) * s.half_size.z());
                        },
                        [&](const Plane&) -> Vec3 {
                          LITHE_CHECK(false, "a plane has no support points");
                          return Vec3::Zero();
                        },
                        [&](const ConvexMesh& s) {
                          const Vec3* best = &s.points[0];
                          double most = d.dot(*best);
                          for (const Vec3& x : s.points) {
                            const double height = d.dot(x);
                            if (height > most) {
                              most = height;
                              best = &x;
                            }
                          }
                          return *best;
                        },
                    },
                    shape);
}

bool is_plane(const Geometry& shape) { return std::holds_alternative<Plane>(shape); }

// The search: sep(n) = min over w of n·w, w = x_a − x_b running through all differences of core points. Over a spherical
// triangle with corners n_i, whatever convex combination w of known differences we take,
//
//   sep(n) ≤ n·w ≤ max_i n_i·w      where that is negative (n is a convex combination of corners, scaled up),
//
// and divided by the flat triangle's distance from the origin where it is positive. The best such w is the value of a
// 3 × 3 matrix game between corners and the differences found there: exact at a corner of the Minkowski sum, and off by
// the square of the triangle's size where that is smooth.
struct Corner {
  Vec3 n;  // unit
  Vec3 w;  // the difference that is the least along n
};

struct Triangle {
  std::array<Corner, 3> corners;
  double bound;  // no direction of it separates more
  bool operator<(const Triangle& other) const { return bound < other.bound; }
};

// min over mixtures μ of columns of max over rows of (G μ)_i; always an upper bound of the game's value. Some optimum
// mixes k columns so that k rows are equal (Shapley and Snow, 1950): all of them are tried.
double game_value(const Mat3& G) {
  double value = kInfinity;
  const auto try_mixture = [&](const Vec3& mu) { value = std::min(value, (G * mu).maxCoeff()); };
  for (int j = 0; j < 3; ++j) try_mixture(Vec3::Unit(j));
  for (int j = 0; j < 3; ++j) {
    const int k = (j + 1) % 3;
    for (int r = 0; r < 3; ++r) {
      const int s = (r + 1) % 3;
      const double x = G(s, k) - G(r, k), y = G(r, j) - G(s, j);
      const double share = x / (x + y);
      if (!(share > 0 && share < 1)) continue;
      Vec3 mu = Vec3::Zero();
      mu[j] = share;
      mu[k] = 1 - share;
      try_mixture(mu);
    }
  }
  const Vec3 u = G.row(0) - G.row(1), v = G.row(0) - G.row(2);
  const Vec3 mu = u.cross(v);
  const double sum = mu.sum();
  if (sum != 0 && (mu / sum).minCoeff() > 0) try_mixture(mu / sum);
  return value;
}

double bound_over(const std::array<Corner, 3>& c) {
  Mat3 G;
  for (int i = 0; i < 3; ++i) {
    for (int j = 0; j < 3; ++j) G(i, j) = c[i].n.dot(c[j].w);
  }
  const double value = game_value(G);
  if (value <= 0) return value;
  const Vec3 normal = (c[1].n - c[0].n).cross(c[2].n - c[0].n);
  return value / (std::abs(normal.dot(c[0].n)) / normal.norm());
}

class Search {
 public:
  Search(const Geometry& a, const Pose& X_WA, const Geometry& b, const Pose& X_WB)
      : a_(a), b_(b), R_WA_(X_WA.R), R_WB_(X_WB.R), offset_(X_WA.p - X_WB.p) {}

  SignedDistance run(double tolerance, const Vec3* guess) {
    if (guess) corner(*guess);
    start();
    // Four times what a tie along a whole great circle takes at a tolerance of 1e-6.
    for (int work = 0; work < kMostWork && queue_.top().bound - best_ > tolerance; ++work) {
      const Triangle triangle = queue_.top();
      queue_.pop();
      split(triangle);
    }
    return {best_, std::max(best_, queue_.top().bound), best_n_};
  }

 private:
  static constexpr int kMostWork = 200000;

  Corner corner(const Vec3& n) {
    const Vec3 x_a = R_WA_ * core_support(a_, -(R_WA_.transpose() * n));
    const Vec3 x_b = R_WB_ * core_support(b_, R_WB_.transpose() * n);
    const Corner result{n, offset_ + x_a - x_b};
    const double sep = n.dot(result.w);
    if (sep > best_) {
      best_ = sep;
      best_n_ = n;
    }
    return result;
  }

  void push(const std::array<Corner, 3>& corners) { queue_.push({corners, bound_over(corners)}); }

  // An octahedron, turned away from the axes that shapes like to be aligned with.
  void start() {
    const Mat3 R = Eigen::AngleAxisd(1, Vec3(1, 2, 3).normalized()).toRotationMatrix();
    std::array<Corner, 6> c;
    for (int k = 0; k < 3; ++k) {
      c[2 * k] = corner(R.col(k));
      c[2 * k + 1] = corner(-R.col(k));
    }
    for (int i = 0; i < 8; ++i) push({c[i & 1], c[2 + ((i >> 1) & 1)], c[4 + ((i >> 2) & 1)]});
  }

  // Looks where the two corners' differences are equal: on the crest between them, if there is one. Without it the
  // middles of sides would close in on a crest that is level (a point on an edge) from thousands of triangles.
  void probe_crest(const Corner& from, const Corner& to) {
    const Vec3 across = to.w - from.w;
    const double d_from = across.dot(from.n), d_to = across.dot(to.n);  // ≥ 0 ≥, for each is the least along its own n
    if (d_from - d_to > 0) corner((d_from * to.n - d_to * from.n).normalized());
  }

  // At the middle of the longest side.
  void split(const Triangle& triangle) {
    const std::array<Corner, 3>& c = triangle.corners;
    int k = 0;
    double longest = -1;
    for (int i = 0; i < 3; ++i) {
      const double length = (c[i].n - c[(i + 1) % 3].n).squaredNorm();
      if (length > longest) {
        longest = length;
        k = i;
      }
    }
    const Corner &from = c[k], &to = c[(k + 1) % 3], &opposite = c[(k + 2) % 3];
    probe_crest(from, to);
    const Corner middle = corner((from.n + to.n).normalized());
    push({from, middle, opposite});
    push({middle, to, opposite});
  }

  const Geometry &a_, &b_;
  Mat3 R_WA_, R_WB_;
  Vec3 offset_;
  double best_ = -kInfinity;
  Vec3 best_n_ = Vec3::UnitZ();
  std::priority_queue<Triangle> queue_;
};

double distance_to_box(const Vec3& x, const Vec3& half) {
  const Vec3 q = x.cwiseAbs() - half;
  return q.maxCoeff() > 0 ? q.cwiseMax(0).norm() : q.maxCoeff();
}

// How far x is from the end of the interval that d points at, weighted by how much d points there, and from the interval.
double interval_error(double d, double half, double x) {
  return std::abs(d) * std::abs(x - sign(d) * half) + std::max(0.0, std::abs(x) - half);
}

}  // namespace

Vec3 support_point(const Geometry& shape, const Pose& X, const Vec3& d) {
  Vec3 x = X * core_support(shape, X.R.transpose() * d);
  if (const double r = ball_radius(shape); r > 0) x += r * d.normalized();
  return x;
}

double support(const Geometry& shape, const Pose& X, const Vec3& d) {
  if (is_plane(shape)) {
    const Vec3 normal = X.R.col(2);
    return d.cross(normal).norm() < 1e-6 && d.dot(normal) > 0 ? d.dot(X.p) : kInfinity;
  }
  return d.dot(X.p) + d.dot(X.R * core_support(shape, X.R.transpose() * d)) + ball_radius(shape) * d.norm();
}

double separation(const Geometry& a, const Pose& X_WA, const Geometry& b, const Pose& X_WB, const Vec3& n) {
  // Relative to b, to keep digits far from the origin.
  const Pose X_A{X_WA.R, X_WA.p - X_WB.p}, X_B{X_WB.R, Vec3::Zero()};
  return -support(a, X_A, -n) - support(b, X_B, n);
}

SignedDistance signed_distance(const Geometry& a, const Pose& X_WA, const Geometry& b, const Pose& X_WB,
                               double tolerance, const Vec3* guess) {
  LITHE_CHECK(!is_plane(a) || !is_plane(b), "no distance is defined between two planes");
  if (is_plane(a) || is_plane(b)) {
    const Vec3 n = is_plane(b) ? Vec3(X_WB.R.col(2)) : Vec3(-X_WA.R.col(2));
    const double gap = separation(a, X_WA, b, X_WB, n);
    return {gap, gap, n};
  }
  SignedDistance result = Search(a, X_WA, b, X_WB).run(tolerance, guess);
  const double balls = ball_radius(a) + ball_radius(b);
  result.gap -= balls;
  result.bound -= balls;
  return result;
}

double surface_error(const Geometry& shape, const Pose& X, const Vec3& x_W) {
  const Vec3 x = X.R.transpose() * (x_W - X.p);
  const auto signed_error = std::visit(
      Overloaded{
          [&](const Sphere& s) { return x.norm() - s.radius; },
          [&](const Capsule& s) {
            return (x - Vec3(0, 0, std::clamp(x.z(), -s.half_length, s.half_length))).norm() - s.radius;
          },
          [&](const Cylinder& s) {
            return distance_to_box(Vec3(std::hypot(x.x(), x.y()), x.z(), 0), Vec3(s.radius, s.half_length, kInfinity));
          },
          [&](const Box& s) { return distance_to_box(x, s.half_size); },
          [&](const Plane&) { return x.z(); },
          [&](const ConvexMesh&) { return signed_distance(Sphere{0}, Pose::translation(x), shape, Pose{}, 1e-11).gap; },
      },
      shape);
  return std::abs(signed_error);
}

double support_error(const Geometry& shape, const Pose& X, const Vec3& d_W, const Vec3& x_W) {
  const Vec3 x = X.R.transpose() * (x_W - X.p);
  const Vec3 d = X.R.transpose() * d_W;
  return std::visit(Overloaded{
                        [&](const Sphere& s) { return (x - s.radius * d).norm(); },
                        [&](const Capsule& s) {
                          const Vec3 core = x - s.radius * d;
                          return std::hypot(core.x(), core.y()) + interval_error(d.z(), s.half_length, core.z());
                        },
                        [&](const Cylinder& s) {
                          const double across = std::hypot(d.x(), d.y());
                          const double outside = std::max(0.0, x.head<2>().norm() - s.radius);
                          return (across * x.head<2>() - s.radius * d.head<2>()).norm() + outside +
                                 interval_error(d.z(), s.half_length, x.z());
                        },
                        [&](const Box& s) {
                          double error = 0;
                          for (int k = 0; k < 3; ++k) error += interval_error(d[k], s.half_size[k], x[k]);
                          return error;
                        },
                        [&](const Plane&) { return (d - Vec3::UnitZ()).norm() + std::abs(x.z()); },
                        [&](const ConvexMesh&) {
                          const double outside =
                              signed_distance(Sphere{0}, Pose::translation(x), shape, Pose{}, 1e-11).gap;
                          return std::max(0.0, outside) + std::abs(d.dot(x) - d.dot(core_support(shape, d)));
                        },
                    },
                    shape);
}

double bounding_radius(const Geometry& shape) {
  return std::visit(Overloaded{
                        [](const Sphere& s) { return s.radius; },
                        [](const Capsule& s) { return s.radius + s.half_length; },
                        [](const Cylinder& s) { return std::hypot(s.radius, s.half_length); },
                        [](const Box& s) { return s.half_size.norm(); },
                        [](const Plane&) { return 1.0; },
                        [](const ConvexMesh& s) {
                          double size = 0;
                          for (const Vec3& x : s.points) size = std::max(size, x.norm());
                          return size;
                        },
                    },
                    shape);
}

}  // namespace lithe::test
