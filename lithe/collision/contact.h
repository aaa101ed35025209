#pragma once

#include <cstdint>
#include <variant>

#include "lithe/core/eigen.h"
#include "lithe/core/index.h"
#include "lithe/spatial/pose.h"

namespace lithe {

// A contact is a *pair of features*: a vertex over a face, two crossing edges, a rim over a plane. The features define
// its point, normal and gap exactly, as functions of the two poses alone, so all three can be differentiated
// (lithe/collision/contact_derivatives.h), and they name it, so that a later step can find it again.
//
// The normal n points from b to a; the gap is negative inside. Everything is in one frame, the world's when it comes
// from detect_contacts().

// Which part of a shape's surface. Sphere: end 0. Capsule: ends 0 (−z), 1 (+z), pipe. Cylinder: caps and rims 0 (−z),
// 1 (+z), side. Box and mesh: vertices, edges and faces as numbered by the collider's Hull. Plane: face 0.
class FeatureCode {
 public:
  enum class Part : std::uint8_t {
    vertex,
    edge,
    face,
    segment,       // between two vertices of a hull that need not be an edge's
    face_side,     // where a face ends: the face and the place of the side in its ring
    end,           // of a capsule; a sphere is one
    pipe,          // between them
    cap,           // of a cylinder
    rim,           // around a cap
    side,          // between the rims
    rim_point,     // one of four points of a rim, named by the other shape's axes
    rim_crossing,  // where a rim leaves a face: first or second point on that side
    cap_side,      // where a segment leaves a cap: its first or second end
  };

  constexpr FeatureCode() = default;
  static constexpr FeatureCode vertex(int i) { return {Part::vertex, i}; }
  static constexpr FeatureCode edge(int i) { return {Part::edge, i}; }
  static constexpr FeatureCode face(int i) { return {Part::face, i}; }
  static constexpr FeatureCode segment(int i, int j) { return {Part::segment, i < j ? i : j, i < j ? j : i}; }
  static constexpr FeatureCode face_side(int face, int side) { return {Part::face_side, face, side}; }
  static constexpr FeatureCode end(int k) { return {Part::end, k}; }
  static constexpr FeatureCode pipe() { return {Part::pipe, 0}; }
  static constexpr FeatureCode cap(int k) { return {Part::cap, k}; }
  static constexpr FeatureCode rim(int k) { return {Part::rim, k}; }
  static constexpr FeatureCode side() { return {Part::side, 0}; }
  static constexpr FeatureCode rim_point(int rim, int quarter) { return {Part::rim_point, rim, quarter}; }
  static constexpr FeatureCode rim_crossing(int rim, int which) { return {Part::rim_crossing, rim, which}; }
  static constexpr FeatureCode cap_side(int cap, int which) { return {Part::cap_side, cap, which}; }

  constexpr Part part() const { return static_cast<Part>(bits_ >> 28); }
  constexpr int index() const { return static_cast<int>(bits_ & 0x3fff); }           // of the part, or of the first
  constexpr int second() const { return static_cast<int>((bits_ >> 14) & 0x3fff); }  // of a part named by two
  constexpr std::uint32_t bits() const { return bits_; }

  friend constexpr bool operator==(FeatureCode, FeatureCode) = default;
  friend constexpr auto operator<=>(FeatureCode, FeatureCode) = default;

 private:
  constexpr FeatureCode(Part part, int first, int second = 0)
      : bits_(static_cast<std::uint32_t>(part) << 28 | static_cast<std::uint32_t>(second) << 14 |
              static_cast<std::uint32_t>(first)) {}
  std::uint32_t bits_ = 0;
};

// How one side's surface bends around its closest point x, all that a derivative needs to know of it:
// Hessian of the support function H = round (I − nnᵀ) + bend t tᵀ, and where x is free to slide.
struct SupportJet {
  enum class Freedom : std::uint8_t {
    none,  // x is where the normal says
    line,  // x may slide along e: an edge, a pipe, a cylinder's side
    face,  // x may slide in a plane, whose normal is the contact's; at most one of the two sides
  };
  Freedom freedom = Freedom::none;
  double round = 0;               // radius of a ball around a vertex
  double bend = 0;                // radius across a pipe; ρ/σ on a rim
  Vec3 direction = Vec3::Zero();  // unit, ⟂ n. Of a line: e, and t = e × n. Of a rim: t

  static SupportJet vertex(double radius = 0) { return {.round = radius}; }
  // An edge or, with a radius, a pipe along the unit vector e ⟂ n.
  static SupportJet line(const Vec3& e, double radius = 0) {
    return {.freedom = Freedom::line, .bend = radius, .direction = e};
  }
  static SupportJet face() { return {.freedom = Freedom::face}; }
  // A rim of radius ρ; t = unit tangent of the circle at x. σ = |n × axis|, or minus that where the point is on the
  // rim's far side and the circle bends away from the other shape.
  static SupportJet rim(const Vec3& t, double radius, double sigma) { return {.bend = radius / sigma, .direction = t}; }
};

// The closest (or deepest) points of two features. p lies halfway: x_a = p + ½ gap n, x_b = p − ½ gap n.
struct ClosestFeatures {
  SupportJet a, b;
};

// The points of a manifold on a reference face. n_r: the face's outward normal, so n = n_r where b has the face and
// −n_r where a has it. The other shape is the incident one. gap = distance of p (R: of c) along n_r.
struct VertexOverFace {  // kind V: p is a vertex of the incident shape
  bool face_on_a;
};
struct EdgeCrossing {  // kind X: p is where a line or rim of the incident shape leaves the face's prism
  bool face_on_a;
  Vec3 e;  // unit direction of the line, or tangent of the rim, at p
  Vec3 m;  // unit outward normal of the prism's side at p
};
struct CornerUnderFace {  // kind R: p is a vertex of the reference face, c = p + gap n_r lies on the incident shape
  bool face_on_a;
  Vec3 n_f;  // outward normal of the incident face that holds c
};
// p = o + ρu is the point of a rim (centre o, axis a, radius ρ) in the direction u = (d − (d·a)a)/s, where d is an axis
// of the reference face's plane. Where the cylinder spins about its own axis, p stays.
struct RimPoint {
  bool face_on_a;
  Vec3 d;        // unit, fixed to the reference shape
  Vec3 t;        // a × u
  double lever;  // ρ/s
};

using ContactFeature = std::variant<ClosestFeatures, VertexOverFace, EdgeCrossing, CornerUnderFace, RimPoint>;

// What a contact says about itself beyond its numbers.
enum class ContactFlag : std::uint8_t {
  none = 0,
  // Cores meet (two sphere centres coincide): every normal is as good, this one is a documented choice fixed to b.
  normal_by_convention = 1,
  // ∂p is larger than 1000 m per m or radian: a nearly parallel crossing, a rim that lies almost flat.
  sensitive_point = 2,
};
constexpr ContactFlag operator|(ContactFlag x, ContactFlag y) {
  return static_cast<ContactFlag>(static_cast<std::uint8_t>(x) | static_cast<std::uint8_t>(y));
}
constexpr bool has(ContactFlag flags, ContactFlag flag) {
  return (static_cast<std::uint8_t>(flags) & static_cast<std::uint8_t>(flag)) != 0;
}

// The name of a contact: the same from one step to the next for as long as the same features touch.
struct FeatureId {
  FeatureCode a = {}, b = {};
  std::uint8_t kind = 0;  // ContactFeature::index()

  friend constexpr bool operator==(const FeatureId&, const FeatureId&) = default;
  friend constexpr auto operator<=>(const FeatureId&, const FeatureId&) = default;
};

struct Contact {
  ShapeIndex a = {}, b = {};
  FeatureCode code_a = {}, code_b = {};
  ContactFlag flags = ContactFlag::none;
  Vec3 p = Vec3::Zero();
  Vec3 n = Vec3::UnitZ();
  double gap = 0;
  ContactFeature feature = VertexOverFace{false};

  FeatureId id() const { return {code_a, code_b, static_cast<std::uint8_t>(feature.index())}; }

  // The points of the two surfaces behind a contact of closest features; distance() gives no other.
  Vec3 point_on_a() const { return p + (0.5 * gap) * n; }
  Vec3 point_on_b() const { return p - (0.5 * gap) * n; }
};

// Exchanges a and b: the normal turns around, the point stays.
void mirror(Contact& contact);

// Coordinates in B become coordinates in A.
void move_to_frame(const Pose& X_AB, Contact& contact);

}  // namespace lithe
