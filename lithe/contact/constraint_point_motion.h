#pragma once

#include "lithe/collision/contact.h"

namespace lithe::internal {

// How a contact moves, as seen from one of its two bodies, the *reference*: what contact_derivatives() says, without the dense
// matrices, since most contacts have a face on one side and then little is left to say.
//
// Nothing but p and n move along when both bodies move together. So with (ω, v) the twist of the other body, the *incident* one,
// at p relative to the reference, and n_r = n towards the incident body,
//
//   ∂p   = v at p of the body that p rides on + roll·(ω × n_r) + Σ over slides of along (by_turn·ω + by_shift·v)
//   ∂n   = ω of the reference × n                              + Σ over turns of the same
//   ∂gap = gap_by_turn·ω + gap_by_shift·v
//
// The reference is the body that has the face, or b if none has.
struct PointMotion {
  struct Term {
    Vec3 along, by_turn, by_shift;
  };

  bool reference_is_a;
  bool rides_on_reference;  // else on the incident body
  bool regular;             // ContactDerivatives::regular
  double roll;
  int slide_count, turn_count;
  Term slides[3], turns[3];
  Vec3 gap_by_turn, gap_by_shift;

  // Besides riding on a body.
  bool moves_otherwise() const { return slide_count > 0 || turn_count > 0 || roll != 0; }
};

void point_motion(const Contact& contact, PointMotion& out);

}  // namespace lithe::internal
