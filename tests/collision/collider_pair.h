#pragma once

#include <vector>

#include "lithe/collision/collide.h"
#include "lithe/collision/hull/hull.h"
#include "tests/support/pair_fixtures.h"

namespace lithe::test {

using namespace internal;

// Two shapes, b in the world's frame.
class ColliderPair {
 public:
  ColliderPair(const Geometry& a, const Geometry& b) : a_(make_test_shape(a, 0)), b_(make_test_shape(b, 1)) {}

  std::vector<Contact> contacts(const Pose& X_WA, int max_points = kMaxPoints) const {
    std::vector<Contact> out;
    collide(a_.collider, X_WA, b_.collider, Pose(), scratch_, out, max_points);
    return out;
  }
  Contact distance(const Pose& X_WA, const Pose& X_WB = {}) const {
    return lithe::distance(a_.collider, X_WA, b_.collider, X_WB, scratch_);
  }
  double margin() const { return bands_of(a_.collider, b_.collider).margin; }
  const Geometry& a() const { return a_.geometry; }
  const Geometry& b() const { return b_.geometry; }
  const Hull& hull() const { return *b_.collider.hull; }  // of b

 private:
  TestShape a_, b_;
  mutable PairScratch scratch_;
};

}  // namespace lithe::test
