#include <Eigen/Geometry>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "lithe/collision/collide.h"
#include "lithe/collision/contact_derivatives.h"
#include "lithe/spatial/rotation.h"
#include "tests/support/differentiate.h"
#include "tests/support/pair_fixtures.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

// The derivatives of every contact of every pair by both shapes' motions and sizes, against differences through
// detection itself: the shapes are moved and the contact is found again by its id.
namespace lithe::test {
namespace {

constexpr int kDerivativePoses = 2500;
constexpr double kDerivativeTolerance = 1e-6;  // relative to the largest entry of a contact's derivative, or to 1
constexpr double kSteep = 1e3;  // where entries are larger, differences would need smaller steps than they can take

constexpr std::array kKinds = {"closest", "vertex_over_face", "edge_crossing", "corner_under_face", "rim_point"};
constexpr std::array kParts = {"vertex", "edge", "face", "segment",   "face_side",    "end",     "pipe",
                               "cap",    "rim",  "side", "rim_point", "rim_crossing", "cap_side"};

std::string kind_of(const Contact& c) {
  return fmt::format("{} {} {}", kKinds[c.feature.index()], kParts[static_cast<int>(c.code_a.part())],
                     kParts[static_cast<int>(c.code_b.part())]);
}

using Contacts = std::vector<Contact>;
using Detector = Contacts (*)(const PairCase&, PairScratch&);

Contacts contacts_of(const PairCase& c, PairScratch& scratch) {
  Contacts contacts;
  collide(c.a.collider, c.X_WA, c.b.collider, c.X_WB, scratch, contacts);
  return contacts;
}

Contacts distance_of(const PairCase& c, PairScratch& scratch) {
  return {distance(c.a.collider, c.X_WA, c.b.collider, c.X_WB, scratch)};
}

// What was checked, and what could not be.
struct Tally {
  std::map<std::string, int> checked;
  int total = 0;
  int lost = 0;       // the contact's name changed within a step
  int irregular = 0;  // no derivative exists, or the contact says that it is a convention or sensitive
  int steep = 0;

  void expect_all_met(const std::vector<std::string>& kinds) const {
    if (few_cases()) return;
    for (const std::string& kind : kinds) EXPECT_TRUE(checked.contains(kind)) << "never met: " << kind;
    for (const auto& [kind, count] : checked) {
      EXPECT_TRUE(std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) << "met, but not listed: " << kind;
    }
    EXPECT_LE(lost, 0.05 * total);
    EXPECT_LE(irregular, 0.05 * total);
    EXPECT_LE(steep, 0.05 * total);
    std::string text = fmt::format("total {} lost {} irregular {} steep {}\n", total, lost, irregular, steep);
    for (const auto& [kind, count] : checked) text += fmt::format("  {}: {}\n", kind, count);
    testing::Test::RecordProperty("contacts", text);
  }
};

// The body turned by ω about o, then shifted by v: its twist is (ω, v) about o.
Pose moved_by(const Pose& X, const Vec3& o, const VecX& twist) {
  const Mat3 R = rotation_exp(twist.head<3>());
  return {R * X.R, o + R * (X.p - o) + twist.tail<3>()};
}

int number_of_sizes(ShapeType type) {
  switch (type) {
    case ShapeType::sphere: return 1;
    case ShapeType::capsule:
    case ShapeType::cylinder: return 2;
    case ShapeType::box: return 3;
    case ShapeType::mesh:
    case ShapeType::plane: break;
  }
  return 0;
}

TestShape resized(const TestShape& shape, const VecX& by) {
  Geometry geometry = shape.geometry;
  if (auto* sphere = std::get_if<Sphere>(&geometry)) sphere->radius += by[0];
  if (auto* capsule = std::get_if<Capsule>(&geometry)) {
    capsule->radius += by[0];
    capsule->half_length += by[1];
  }
  if (auto* cylinder = std::get_if<Cylinder>(&geometry)) {
    cylinder->radius += by[0];
    cylinder->half_length += by[1];
  }
  if (auto* box = std::get_if<Box>(&geometry)) box->half_size += by.head<3>();
  TestShape result = make_test_shape(geometry, shape.collider.shape);
  result.collider.length_scale = shape.collider.length_scale;  // the bands are no part of a contact
  return result;
}

double largest_entry(const Contact& contact) {
  const ContactDerivatives d = contact_derivatives(contact);
  return std::max(d.by_a.cwiseAbs().maxCoeff(), d.by_b.cwiseAbs().maxCoeff());
}

// One case: the contacts of detection, numeric derivatives of all of them, and which of them were found in every step.
class CaseDerivatives {
 public:
  CaseDerivatives(const PairCase& c, Detector detect, double largest_step)
      : case_(c), detect_(detect), contacts_(detect(c, scratch_)), lost_(contacts_.size(), false) {
    if (contacts_.empty()) return;
    // Derivatives by 1/gap have a series that converges within the gap: the steeper, the smaller the step.
    double steepest = 1;
    for (const Contact& contact : contacts_) steepest = std::max(steepest, std::min(largest_entry(contact), kSteep));
    step_ = std::min(largest_step, 3e-5 / steepest);
    const Vec3 o = contacts_[0].p;
    by_a_ = differences(6, [&](PairCase& moved, const VecX& d) { moved.X_WA = moved_by(c.X_WA, o, d); });
    by_b_ = differences(6, [&](PairCase& moved, const VecX& d) { moved.X_WB = moved_by(c.X_WB, o, d); });
    sizes_a_ = differences(number_of_sizes(c.a.collider.type),
                           [&](PairCase& moved, const VecX& d) { moved.a = resized(c.a, d); });
    sizes_b_ = differences(number_of_sizes(c.b.collider.type),
                           [&](PairCase& moved, const VecX& d) { moved.b = resized(c.b, d); });
  }

  void check(Tally& tally) const {
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
      ++tally.total;
      const Contact& contact = contacts_[i];
      const ContactDerivatives motion = contact_derivatives(contact);
      const ContactSizeDerivatives sizes =
          contact_size_derivatives(contact, case_.a.collider, case_.X_WA, case_.b.collider, case_.X_WB);
      EXPECT_TRUE(motion.by_a.allFinite() && motion.by_b.allFinite());
      EXPECT_TRUE(sizes.by_a.allFinite() && sizes.by_b.allFinite());
      if (!motion.regular || contact.flags != ContactFlag::none) {
        ++tally.irregular;
      } else if (largest_entry(contact) > kSteep) {
        ++tally.steep;
      } else if (lost_[i]) {
        ++tally.lost;
      } else {
        ++tally.checked[kind_of(contact)];
        SCOPED_TRACE(kind_of(contact));
        expect_equal(motion.by_a * about_first(contact), by_a_, i, "motion of a");
        expect_equal(motion.by_b * about_first(contact), by_b_, i, "motion of b");
        expect_equal(sizes.by_a.leftCols(sizes_a_.cols()), sizes_a_, i, "sizes of a");
        expect_equal(sizes.by_b.leftCols(sizes_b_.cols()), sizes_b_, i, "sizes of b");
        if (testing::Test::HasFailure()) return;
      }
    }
  }

 private:
  template <class Change>
  MatX differences(int n, Change change) {
    const auto f = [&](const VecX& delta) {
      PairCase moved = case_;
      change(moved, delta);
      return values_in(detect_(moved, scratch_));
    };
    return n == 0 ? MatX(7 * contacts_.size(), 0) : central_difference(f, n, step_);
  }

  // p, n and gap of each of our contacts as found there.
  VecX values_in(const Contacts& found) {
    VecX values(7 * contacts_.size());
    for (std::size_t i = 0; i < contacts_.size(); ++i) {
      const auto same = [&](const Contact& c) { return c.id() == contacts_[i].id(); };
      const auto it = std::find_if(found.begin(), found.end(), same);
      // Of two pipes whose axes pass each other, the normal turns around.
      if (it == found.end() || it->n.dot(contacts_[i].n) < 0.5) lost_[i] = true;
      const Contact& contact = it == found.end() ? contacts_[i] : *it;
      values.segment<7>(7 * static_cast<int>(i)) << contact.p, contact.n, contact.gap;
    }
    return values;
  }

  // From the twist about the first contact's point to the twist about this one's.
  Mat6 about_first(const Contact& contact) const {
    Mat6 X = Mat6::Identity();
    X.bottomLeftCorner<3, 3>() = -skew(contact.p - contacts_[0].p);
    return X;
  }

  static void expect_equal(const MatX& analytic, const MatX& numeric, std::size_t i, const char* what) {
    const MatX block = numeric.middleRows(7 * static_cast<int>(i), 7);
    EXPECT_LE(relative_error(analytic, block, 1), kDerivativeTolerance) << what << "\nanalytic:\n"
                                                                        << analytic << "\nnumeric:\n"
                                                                        << block;
  }

  const PairCase& case_;
  Detector detect_;
  double step_ = 0;
  PairScratch scratch_;
  Contacts contacts_;
  std::vector<bool> lost_;
  MatX by_a_, by_b_, sizes_a_, sizes_b_;
};

// Every kind of contact that a pair can have, so that none stays unchecked: feature, part of a, part of b.
struct Expected {
  const char* pair;
  std::vector<std::string> contacts;   // of collide()
  std::vector<std::string> distances;  // of distance()
};
using Kinds = std::vector<std::string>;

const Kinds kRoundEnds = {"closest end edge", "closest end face", "closest end vertex"};
const Kinds kCapsulePolytope = {"closest end edge", "closest end face", "closest end vertex", "closest pipe edge",
                                "closest pipe vertex"};
const Kinds kCylinderPolytope = {"closest rim edge",
                                 "closest rim face",
                                 "closest side edge",
                                 "closest side vertex",
                                 "corner_under_face cap vertex",
                                 "edge_crossing cap_side edge",
                                 "edge_crossing rim_crossing face_side",
                                 "rim_point rim_point face",
                                 "vertex_over_face cap vertex"};
const Kinds kCylinderPolytopeDistance = {"closest cap vertex", "closest rim edge",  "closest rim face",
                                         "closest rim vertex", "closest side edge", "closest side vertex"};
const Kinds kPolytopes = {"closest edge edge",
                          "corner_under_face face vertex",
                          "corner_under_face vertex face",
                          "edge_crossing face_side segment",
                          "edge_crossing segment face_side",
                          "vertex_over_face face vertex",
                          "vertex_over_face vertex face"};
const Kinds kPolytopesDistance = {"closest edge edge",   "closest edge vertex", "closest face vertex",
                                  "closest vertex edge", "closest vertex face", "closest vertex vertex"};
const Kinds kSegments = {"closest end end", "closest end pipe", "closest pipe end", "closest pipe pipe"};
const Kinds kSphereCylinder = {"closest end cap", "closest end rim", "closest end side"};

const std::vector<Expected> kExpected = {
    {"sphere_sphere", {"closest end end"}, {"closest end end"}},
    {"sphere_capsule", {"closest end end", "closest end pipe"}, {"closest end end", "closest end pipe"}},
    {"sphere_cylinder", kSphereCylinder, kSphereCylinder},
    {"sphere_box", kRoundEnds, kRoundEnds},
    {"sphere_mesh", kRoundEnds, kRoundEnds},
    {"sphere_plane", {"closest end face"}, {"closest end face"}},
    {"capsule_capsule", kSegments, kSegments},
    {"capsule_cylinder",
     {"closest end cap", "closest end rim", "closest end side", "closest pipe cap_side", "closest pipe rim",
      "closest pipe side"},
     {"closest end cap", "closest end rim", "closest end side", "closest pipe rim", "closest pipe side"}},
    {"capsule_box", kCapsulePolytope, kCapsulePolytope},
    {"capsule_mesh", kCapsulePolytope, kCapsulePolytope},
    {"capsule_plane", {"closest end face"}, {"closest end face"}},
    {"cylinder_cylinder",
     {"closest cap rim", "closest cap_side side", "closest rim cap", "closest rim rim", "closest rim side",
      "closest side cap_side", "closest side rim", "closest side side", "corner_under_face cap rim_point",
      "corner_under_face rim_point cap", "edge_crossing cap_side rim_crossing", "edge_crossing rim_crossing cap_side",
      "rim_point cap rim_point", "rim_point rim_point cap"},
     {"closest cap rim", "closest rim cap", "closest rim rim", "closest rim side", "closest side rim",
      "closest side side"}},
    {"cylinder_box", kCylinderPolytope, kCylinderPolytopeDistance},
    {"cylinder_mesh", kCylinderPolytope, kCylinderPolytopeDistance},
    {"cylinder_plane", {"closest rim face", "rim_point rim_point face"}, {"closest rim face"}},
    {"box_box", kPolytopes, kPolytopesDistance},
    {"box_mesh", kPolytopes, kPolytopesDistance},
    {"box_plane", {"vertex_over_face vertex face"}, {"closest vertex face"}},
    {"mesh_mesh", kPolytopes, kPolytopesDistance},
    {"mesh_plane", {"vertex_over_face vertex face"}, {"closest vertex face"}},
};

const Expected& expected_of(const ShapePair& pair) {
  const auto same = [&](const Expected& expected) { return to_string(pair) == expected.pair; };
  return *std::find_if(kExpected.begin(), kExpected.end(), same);
}

class PairDerivatives : public testing::TestWithParam<ShapePair> {};

// Flat rests first: there a step must stay within the bands, in which the features of a rest do not change.
TEST_P(PairDerivatives, OfContactsMatchDifferences) {
  Tally tally;
  for_random_cases(kDerivativePoses, [&](std::mt19937_64& random) {
    const bool resting = chance(random, 0.6);
    const PairCase c = resting ? resting_case(GetParam(), random) : near_case(GetParam(), random, 30, 0.9);
    CaseDerivatives(c, contacts_of, resting ? 1e-6 : 1e-5).check(tally);
    if (HasFailure()) ADD_FAILURE() << describe(c);
  });
  tally.expect_all_met(expected_of(GetParam()).contacts);
}

TEST_P(PairDerivatives, OfDistancesMatchDifferences) {
  Tally tally;
  for_random_cases(kDerivativePoses, [&](std::mt19937_64& random) {
    const PairCase c = random_case(GetParam(), random);
    CaseDerivatives(c, distance_of, 1e-5).check(tally);
    if (HasFailure()) ADD_FAILURE() << describe(c);
  });
  tally.expect_all_met(expected_of(GetParam()).distances);
}

INSTANTIATE_TEST_SUITE_P(AllPairs, PairDerivatives, testing::ValuesIn(all_pairs()), name_of_pair);

}  // namespace
}  // namespace lithe::test
