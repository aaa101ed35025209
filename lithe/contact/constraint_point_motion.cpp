#include "lithe/contact/constraint_point_motion.h"

#include <Eigen/Geometry>

#include <cmath>

#include "lithe/collision/contact_derivatives.h"

namespace lithe::internal {
namespace {

// cos of the angle between an edge and the normal of a face's side, below which contact_derivatives() has to judge whether p
// moves at all.
constexpr double kNearlyParallel = 1e-6;

class MotionWriter {
 public:
  MotionWriter(const Contact& contact, PointMotion& out) : contact_(contact), out_(out) {}

  void operator()(const VertexOverFace& feature) const { start(feature.face_on_a); }

  // p slides along the edge e and stays on the side of the face's prism: m·∂p = 0.
  void operator()(const EdgeCrossing& feature) const {
    const double across = feature.m.dot(feature.e);
    if (std::abs(across) < kNearlyParallel) return anything();
    start(feature.face_on_a);
    slide(feature.e, Vec3::Zero(), feature.m / -across);
    slide_gap();
  }

  // p is a corner of the face, and p + gap n_r stays on the face n_f of the incident body.
  void operator()(const CornerUnderFace& feature) const {
    const Vec3 n_r = start(feature.face_on_a);
    out_.rides_on_reference = true;
    out_.gap_by_shift = feature.n_f / feature.n_f.dot(n_r);
    out_.gap_by_turn = contact_.gap * n_r.cross(out_.gap_by_shift);
  }

  // A turn of the cylinder relative to d moves p along the rim.
  void operator()(const RimPoint& feature) const {
    start(feature.face_on_a);
    slide(feature.t, feature.lever * feature.t.cross(feature.d), Vec3::Zero());
    slide_gap();
  }

  // A ball, pipe or rim over a face: p = x − ½ gap n_r follows the closest point x, which moves by H (ω × n_r) as the body turns.
  void operator()(const ClosestFeatures& feature) const {
    using enum SupportJet::Freedom;
    const bool face_on_a = feature.a.freedom == face;
    if (!face_on_a && feature.b.freedom != face) return anything();
    const SupportJet& jet = face_on_a ? feature.b : feature.a;
    const Vec3 n_r = start(face_on_a);
    out_.roll = jet.round + 0.5 * contact_.gap;
    slide(n_r, Vec3::Zero(), -0.5 * n_r);
    if (jet.bend == 0) return;
    const Vec3 t = jet.freedom == line ? Vec3(jet.direction.cross(n_r)) : jet.direction;
    slide(t, jet.bend * n_r.cross(t), Vec3::Zero());
  }

 private:
  // Begins with the motion of a vertex over a face, and returns n_r.
  Vec3 start(bool reference_is_a) const {
    const Vec3 n_r = reference_is_a ? Vec3(-contact_.n) : contact_.n;
    out_.reference_is_a = reference_is_a;
    out_.rides_on_reference = false;
    out_.regular = true;
    out_.roll = 0;
    out_.slide_count = out_.turn_count = 0;
    out_.gap_by_turn.setZero();
    out_.gap_by_shift = n_r;
    return n_r;
  }

  void slide(const Vec3& along, const Vec3& by_turn, const Vec3& by_shift) const {
    out_.slides[out_.slide_count++] = {along, by_turn, by_shift};
  }
  // The gap is p's height over the face, so it changes as p slides.
  void slide_gap() const {
    const PointMotion::Term& slide = out_.slides[0];
    const double up = slide.along.dot(out_.gap_by_shift);
    out_.gap_by_turn += up * slide.by_turn;
    out_.gap_by_shift += up * slide.by_shift;
  }

  // From the dense matrices: p and n move along the three axes. By a's motion alone, since that is relative to b.
  void anything() const {
    const ContactDerivatives d = contact_derivatives(contact_);
    start(false);
    out_.regular = d.regular;
    out_.slide_count = out_.turn_count = 3;
    for (int k = 0; k < 3; ++k) {
      const Vec3 axis = Vec3::Unit(k);
      out_.slides[k] = {axis, d.by_a.row(k).head<3>(), d.by_a.row(k).tail<3>().transpose() - axis};
      out_.turns[k] = {axis, d.by_a.row(k + 3).head<3>(), d.by_a.row(k + 3).tail<3>()};
    }
    out_.gap_by_turn = d.by_a.row(6).head<3>();
    out_.gap_by_shift = d.by_a.row(6).tail<3>();
  }

  const Contact& contact_;
  PointMotion& out_;
};

}  // namespace

void point_motion(const Contact& contact, PointMotion& out) { std::visit(MotionWriter(contact, out), contact.feature); }

}  // namespace lithe::internal
