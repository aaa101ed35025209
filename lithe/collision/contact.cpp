#include "lithe/collision/contact.h"

#include <utility>

namespace lithe {
namespace {

struct Mirror {
  void operator()(ClosestFeatures& f) const { std::swap(f.a, f.b); }
  void operator()(VertexOverFace& f) const { f.face_on_a = !f.face_on_a; }
  void operator()(EdgeCrossing& f) const { f.face_on_a = !f.face_on_a; }
  void operator()(CornerUnderFace& f) const { f.face_on_a = !f.face_on_a; }
  void operator()(RimPoint& f) const { f.face_on_a = !f.face_on_a; }
};

struct Turn {
  const Mat3& R;
  void turn(Vec3& v) const { v = Vec3(R * v); }
  void turn(SupportJet& jet) const {
    if (jet.freedom == SupportJet::Freedom::line || jet.bend != 0) turn(jet.direction);
  }
  void operator()(ClosestFeatures& f) const {
    turn(f.a);
    turn(f.b);
  }
  void operator()(VertexOverFace&) const {}
  void operator()(EdgeCrossing& f) const {
    turn(f.e);
    turn(f.m);
  }
  void operator()(CornerUnderFace& f) const { turn(f.n_f); }
  void operator()(RimPoint& f) const {
    turn(f.d);
    turn(f.t);
  }
};

}  // namespace

void mirror(Contact& contact) {
  std::swap(contact.a, contact.b);
  std::swap(contact.code_a, contact.code_b);
  contact.n = -contact.n;
  std::visit(Mirror{}, contact.feature);
}

void move_to_frame(const Pose& X_AB, Contact& contact) {
  contact.p = X_AB * contact.p;
  contact.n = Vec3(X_AB.R * contact.n);
  std::visit(Turn{X_AB.R}, contact.feature);
}

}  // namespace lithe
