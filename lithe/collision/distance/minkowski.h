#pragma once

#include "lithe/collision/hull/hull.h"
#include "lithe/core/eigen.h"
#include "lithe/spatial/pose.h"

namespace lithe::internal {

// The convex hull of a few points: a point (what a sphere of radius r is around), a segment (a capsule) or a Hull (box, mesh).
class Core {
 public:
  static Core point() { return Core(nullptr, 0, 1); }                                // the origin
  static Core segment(double half_length) { return Core(nullptr, half_length, 2); }  // along z; vertex 0 at −z
  static Core hull(const Hull& hull) { return Core(&hull, 0, static_cast<int>(hull.vertices.size())); }

  const Hull* hull() const { return hull_; }  // null for a point and a segment
  int vertex_count() const { return count_; }
  Vec3 vertex(int i) const {
    if (hull_) return hull_->vertices[i];
    return Vec3(0, 0, i == 0 ? -half_length_ : half_length_);
  }
  // The vertex farthest along d (ties: the lowest number); `start` is where a climb begins, and changes only the cost.
  int support(const Vec3& d, int start = 0) const {
    if (hull_) return support_vertex(*hull_, d, start);
    return count_ == 2 && d.z() > 0 ? 1 : 0;
  }
  // Of a ball around the core's middle that holds it.
  double radius() const { return hull_ ? hull_->radius : half_length_; }
  Vec3 centre() const { return hull_ ? hull_->centre : Vec3(Vec3::Zero()); }

 private:
  Core(const Hull* hull, double half_length, int count) : hull_(hull), half_length_(half_length), count_(count) {}
  const Hull* hull_;
  double half_length_;
  int count_;
};

// A vertex of the Minkowski difference, w = R_BA a + p_BA − b.
struct DifferenceVertex {
  Vec3 w;
  int a, b;  // the vertices of the two cores
};

// The Minkowski difference as its support function.
class MinkowskiDifference {
 public:
  MinkowskiDifference(const Core& a, const Core& b, const Pose& X_BA) : a_(a), b_(b), X_BA_(X_BA) {}

  // The vertex of D lowest along d, with climbs starting at the vertices of `near`: sep(d) = d·w for a unit d.
  DifferenceVertex lowest(const Vec3& d, const DifferenceVertex& near) const {
    return vertex(a_.support(-(X_BA_.R.transpose() * d), near.a), b_.support(d, near.b));
  }
  DifferenceVertex vertex(int a, int b) const { return {X_BA_ * a_.vertex(a) - b_.vertex(b), a, b}; }

  // From b's middle to a's.
  Vec3 middle() const { return X_BA_ * a_.centre() - b_.centre(); }
  // What rounding errors of w are measured against: no coordinate that enters w is larger.
  double size() const {
    const auto length = [](const Vec3& x) { return x.cwiseAbs().sum(); };
    return a_.radius() + length(a_.centre()) + length(X_BA_.p) + b_.radius() + length(b_.centre());
  }

 private:
  Core a_, b_;
  const Pose& X_BA_;
};

}  // namespace lithe::internal
