#include "lithe/collision/contact_derivatives.h"

#include <Eigen/Geometry>

#include <cmath>

#include "lithe/collision/hull/hull.h"
#include "lithe/spatial/rotation.h"

namespace lithe {
namespace {

using Vec2 = Eigen::Vector2d;
using Mat2 = Eigen::Matrix2d;
using Mat23 = Eigen::Matrix<double, 2, 3>;
using Map3 = Eigen::Matrix<double, 7, 3>;

// Curvature below which a normal has no derivative [m].
constexpr double kNoCurvature = 1e-12;
// sin of the angle below which two lines count as parallel.
constexpr double kParallel = 1e-9;

// What every kind of contact is reduced to. A side moves by its angular velocity ω and by the displacement Y of its
// surface point x = p + offset; then ∂(p, n, gap) = Σ over sides of rotation·ω + shift·Y. A rigid motion has
// Y = v + ω × offset; a size has ω = 0 and Y the displacement of x at a fixed normal.
struct SideMap {
  Map3 rotation = Map3::Zero();
  Map3 shift = Map3::Zero();
  Vec3 offset = Vec3::Zero();

  auto p_rotation() { return rotation.topRows<3>(); }
  auto n_rotation() { return rotation.middleRows<3>(3); }
  auto gap_rotation() { return rotation.row(6); }
  auto p_shift() { return shift.topRows<3>(); }
  auto n_shift() { return shift.middleRows<3>(3); }
  auto gap_shift() { return shift.row(6); }
};
struct FeatureMap {
  SideMap a, b;
  bool regular = true;
};

// A jet in the tangent plane of n.
struct PlaneJet {
  Mat2 H;
  Vec2 e = Vec2::Zero();
  SupportJet::Freedom freedom;
};

Vec2 perpendicular(const Vec2& e) { return {-e.y(), e.x()}; }

PlaneJet in_plane(const SupportJet& jet, const Mat23& Tt) {
  PlaneJet plane;
  plane.freedom = jet.freedom;
  const Vec2 direction = Tt * jet.direction;
  Vec2 t = direction;
  if (jet.freedom == SupportJet::Freedom::line) {
    plane.e = direction.normalized();
    t = -perpendicular(plane.e);  // e × n
  }
  plane.H = jet.round * Mat2::Identity() + jet.bend * t * t.transpose();
  return plane;
}

// In the tangent plane: ∂n = ν = by_a w_a + by_b w_b + by_shift (Y_a − Y_b), with w = the in-plane part of ω × n.
struct NormalMap {
  Mat2 by_a = Mat2::Zero(), by_b = Mat2::Zero(), by_shift = Mat2::Zero();
};

// Where the normal rides on a face.
NormalMap fixed_to_a() { return {.by_a = Mat2::Identity()}; }
NormalMap fixed_to_b() { return {.by_b = Mat2::Identity()}; }

// Closest features obey, with K = gap I + H_a + H_b and lines E,
//   K ν − E_a ds_a + E_b ds_b = (Y_a − Y_b) + H_a w_a + H_b w_b,   E_aᵀν = E_aᵀw_a,   E_bᵀν = E_bᵀw_b:
// the two witness points stay one gap·n apart, and each line stays perpendicular to n.
struct ClosestSolution {
  NormalMap normal;
  Mat2 slide_a = Mat2::Zero(), slide_b = Mat2::Zero();  // E ds = slide · (right-hand side − K ν)
  bool regular = true;
};

ClosestSolution solve_closest(const PlaneJet& a, const PlaneJet& b, const Mat2& K) {
  using enum SupportJet::Freedom;
  ClosestSolution s;
  bool line_a = a.freedom == line;
  bool line_b = b.freedom == line;
  if (line_a && line_b) {
    Mat2 lines;
    lines << a.e, b.e;
    const double sine = lines.determinant();
    if (std::abs(sine) > kParallel) {
      const Mat2 inverse = lines.inverse();
      s.normal.by_a = inverse.row(0).transpose() * a.e.transpose();
      s.normal.by_b = inverse.row(1).transpose() * b.e.transpose();
      s.slide_a = -a.e * inverse.row(0);
      s.slide_b = b.e * inverse.row(1);
      return s;
    }
    line_b = false;  // parallel lines share one freedom
  }
  if (line_a || line_b) {
    const Vec2 e = line_a ? a.e : b.e;
    const Vec2 f = perpendicular(e);
    const double curvature = f.dot(K * f);
    if (std::abs(curvature) < kNoCurvature) {
      s.regular = false;
      s.normal = fixed_to_b();
      return s;
    }
    const Mat2 G = f * f.transpose() / curvature;
    const Mat2 along = (Mat2::Identity() - G * K) * e * e.transpose();
    s.normal = {.by_a = G * a.H, .by_b = G * b.H, .by_shift = G};
    (line_a ? s.normal.by_a : s.normal.by_b) += along;
    (line_a ? s.slide_a : s.slide_b) = (line_a ? -1.0 : 1.0) * e * e.transpose();
    return s;
  }
  const double determinant = K.determinant();
  if (std::abs(determinant) < kNoCurvature * K.cwiseAbs().maxCoeff() || K.cwiseAbs().maxCoeff() < kNoCurvature) {
    s.regular = false;
    s.normal = fixed_to_b();
    return s;
  }
  const Mat2 inverse = K.inverse();
  s.normal = {.by_a = inverse * a.H, .by_b = inverse * b.H, .by_shift = inverse};
  return s;
}

// A right-handed basis (t₁, t₂, n); any will do, since everything is turned back.
Mat23 tangents(const Vec3& n) {
  const Vec3 t = n.unitOrthogonal();
  Mat23 Tt;
  Tt << t.transpose(), n.cross(t).transpose();
  return Tt;
}

FeatureMap map_of(const ClosestFeatures& feature, const Contact& contact) {
  using enum SupportJet::Freedom;
  const Vec3& n = contact.n;
  const double gap = contact.gap;
  const Mat23 Tt = tangents(n);
  const PlaneJet a = in_plane(feature.a, Tt);
  const PlaneJet b = in_plane(feature.b, Tt);
  const bool face_on_a = a.freedom == face;
  const bool face_on_b = !face_on_a && b.freedom == face;

  FeatureMap map;
  NormalMap normal;
  // In-plane part of ∂p = point_w_a w_a + point_w_b w_b + point_y_a Y_a + point_y_b Y_b.
  Mat2 point_w_a, point_w_b, point_y_a, point_y_b;
  if (face_on_a || face_on_b) {
    // The other side's point decides; p = x − ½ gap n from it.
    normal = face_on_a ? fixed_to_a() : fixed_to_b();
    const Mat2 half = 0.5 * gap * Mat2::Identity();
    if (face_on_b) {
      point_w_a = a.H;
      point_w_b = -a.H - half;
      point_y_a.setIdentity();
      point_y_b.setZero();
    } else {
      point_w_a = b.H + half;
      point_w_b = -b.H;
      point_y_a.setZero();
      point_y_b.setIdentity();
    }
  } else {
    const Mat2 K = gap * Mat2::Identity() + a.H + b.H;
    const ClosestSolution s = solve_closest(a, b, K);
    map.regular = s.regular;
    normal = s.normal;
    // ∂x_a = Y_a + E_a ds_a − H_a (ν − w_a), ∂x_b = Y_b + E_b ds_b + H_b (ν − w_b), p halfway. The slides act on
    // (Y_a − Y_b) + H_a w_a + H_b w_b − K ν.
    const Mat2 slide = s.slide_a + s.slide_b;
    const Mat2 by_normal = b.H - a.H - slide * K;
    point_w_a = 0.5 * (a.H + slide * a.H + by_normal * normal.by_a);
    point_w_b = 0.5 * (-b.H + slide * b.H + by_normal * normal.by_b);
    const Mat2 by_difference = 0.5 * (slide + by_normal * normal.by_shift);
    point_y_a = 0.5 * Mat2::Identity() + by_difference;
    point_y_b = 0.5 * Mat2::Identity() - by_difference;
  }

  // Back to space: w = Tᵀ(ω × n), and along n the point moves by ½ n·(Y_a + Y_b).
  Mat23 W;
  W << Tt.row(1), -Tt.row(0);
  const Eigen::Matrix<double, 3, 2> T = Tt.transpose();
  const Mat3 along_n = 0.5 * n * n.transpose();
  map.a.p_rotation() = T * point_w_a * W;
  map.b.p_rotation() = T * point_w_b * W;
  map.a.p_shift() = along_n + T * point_y_a * Tt;
  map.b.p_shift() = along_n + T * point_y_b * Tt;
  map.a.n_rotation() = T * normal.by_a * W;
  map.b.n_rotation() = T * normal.by_b * W;
  map.a.n_shift() = T * normal.by_shift * Tt;
  map.b.n_shift() = -T * normal.by_shift * Tt;
  map.a.gap_shift() = n.transpose();
  map.b.gap_shift() = -n.transpose();
  map.a.offset = 0.5 * gap * n;
  map.b.offset = -0.5 * gap * n;
  return map;
}

// The two sides of a contact on a reference face, by role.
struct Roles {
  SideMap& reference;
  SideMap& incident;
  Vec3 n_r;  // outward normal of the reference face

  Roles(FeatureMap& map, const Contact& contact, bool face_on_a)
      : reference(face_on_a ? map.a : map.b),
        incident(face_on_a ? map.b : map.a),
        n_r(face_on_a ? Vec3(-contact.n) : contact.n) {
    reference.n_rotation() = -skew(contact.n);  // ∂n = ω_r × n
  }
};

FeatureMap map_of(const VertexOverFace& feature, const Contact& contact) {
  FeatureMap map;
  Roles side(map, contact, feature.face_on_a);
  side.incident.p_shift().setIdentity();
  side.incident.gap_shift() = side.n_r.transpose();
  side.reference.gap_shift() = -side.n_r.transpose();
  return map;
}

FeatureMap map_of(const EdgeCrossing& feature, const Contact& contact) {
  FeatureMap map;
  Roles side(map, contact, feature.face_on_a);
  // p slides along e by ds = −m·(Y_i − Y_r)/(m·e), so that it stays on the prism's side.
  const double across = feature.m.dot(feature.e);
  map.regular = std::abs(across) > kParallel;
  const Mat3 slide = map.regular ? Mat3(-feature.e * feature.m.transpose() / across) : Mat3(Mat3::Zero());
  side.incident.p_shift() = Mat3::Identity() + slide;
  side.reference.p_shift() = -slide;
  side.incident.gap_shift() = side.n_r.transpose() * (Mat3::Identity() + slide);
  side.reference.gap_shift() = -side.n_r.transpose() * (Mat3::Identity() + slide);
  return map;
}

FeatureMap map_of(const CornerUnderFace& feature, const Contact& contact) {
  FeatureMap map;
  Roles side(map, contact, feature.face_on_a);
  // c = p + gap n_r stays on the incident face: n_f·(Y_i − Y_r − gap ω_r × n_r) = ∂gap n_f·n_r.
  const Vec3 along = feature.n_f / feature.n_f.dot(side.n_r);
  side.reference.p_shift().setIdentity();
  side.reference.gap_shift() = -along.transpose();
  side.reference.gap_rotation() = contact.gap * along.transpose() * skew(side.n_r);
  side.incident.gap_shift() = along.transpose();
  side.incident.offset = contact.gap * side.n_r;
  return map;
}

FeatureMap map_of(const RimPoint& feature, const Contact& contact) {
  FeatureMap map;
  Roles side(map, contact, feature.face_on_a);
  // ∂p = Y_i + lever t tᵀ((ω_r − ω_i) × d): a turn of the cylinder relative to d moves p along the rim.
  const Mat3 turn = -feature.lever * feature.t * feature.t.transpose() * skew(feature.d);
  side.incident.p_shift().setIdentity();
  side.incident.p_rotation() = -turn;
  side.reference.p_rotation() = turn;
  side.incident.gap_shift() = side.n_r.transpose();
  side.reference.gap_shift() = -side.n_r.transpose();
  side.incident.gap_rotation() = -side.n_r.transpose() * turn;
  side.reference.gap_rotation() = side.n_r.transpose() * turn;
  return map;
}

FeatureMap feature_map(const Contact& contact) {
  return std::visit([&](const auto& feature) { return map_of(feature, contact); }, contact.feature);
}

ContactDerivatives::Map by_twist(const SideMap& side) {
  ContactDerivatives::Map map;
  map.leftCols<3>() = side.rotation - side.shift * skew(side.offset);
  map.rightCols<3>() = side.shift;
  return map;
}

double sign_along(int vertex, int axis) { return (vertex >> axis) & 1 ? 1 : -1; }

// How a point of a box's surface moves with the three half sizes, as a diagonal: along each axis, the sign of the faces
// that hold the feature; 0 where the feature does not move.
Vec3 box_displacement(const Collider& box, FeatureCode code, const Vec3& x_G) {
  using enum FeatureCode::Part;
  const Hull& hull = *box.hull;
  // Between two corners a point keeps its share of the way.
  const auto between = [&](int i, int j) {
    Vec3 d;
    for (int k = 0; k < 3; ++k) {
      const double sign = sign_along(i, k);
      const double share = box.half_size[k] > 0 ? x_G[k] / box.half_size[k] : 0;
      d[k] = sign == sign_along(j, k) ? sign : share;
    }
    return d;
  };
  switch (code.part()) {
    case vertex: return between(code.index(), code.index());
    case edge: return between(hull.edges[code.index()].vertex[0], hull.edges[code.index()].vertex[1]);
    case segment: return between(code.index(), code.second());
    case face: return hull.faces[code.index()].normal;
    case face_side:
      return hull.faces[code.index()].normal + hull.sides[hull.faces[code.index()].first + code.second()].normal;
    default: return Vec3::Zero();
  }
}

// Displacements of a surface point, in its shape's frame, one column per size; `outward`: the surface's normal there.
Mat3 size_displacements(const Collider& c, FeatureCode code, const Vec3& x_G, const Vec3& outward) {
  using enum FeatureCode::Part;
  Mat3 Y = Mat3::Zero();
  const Vec3 outer_end = code.index() == 0 ? Vec3(0, 0, -1) : Vec3(0, 0, 1);
  switch (c.type) {
    case ShapeType::sphere: Y.col(0) = outward; break;
    case ShapeType::capsule:
      Y.col(0) = outward;
      if (code.part() == end) Y.col(1) = outer_end;
      break;
    case ShapeType::cylinder: {
      const Vec3 radial(x_G.x(), x_G.y(), 0);
      const double distance = radial.norm();
      if (code.part() != cap && distance > 0) Y.col(0) = radial / distance;
      if (code.part() != side) Y.col(1) = outer_end;
      break;
    }
    case ShapeType::box: Y = box_displacement(c, code, x_G).asDiagonal(); break;
    case ShapeType::mesh:
    case ShapeType::plane: break;
  }
  return Y;
}

ContactSizeDerivatives::Map by_sizes(const SideMap& side, const Contact& contact, const Collider& c, const Pose& X_WG,
                                     FeatureCode code, const Vec3& outward) {
  const Vec3 x_G = X_WG.R.transpose() * (contact.p + side.offset - X_WG.p);
  return side.shift * X_WG.R * size_displacements(c, code, x_G, X_WG.R.transpose() * outward);
}

}  // namespace

ContactDerivatives contact_derivatives(const Contact& contact) {
  const FeatureMap map = feature_map(contact);
  return {by_twist(map.a), by_twist(map.b), map.regular};
}

ContactSizeDerivatives contact_size_derivatives(const Contact& contact, const Collider& a, const Pose& X_WA,
                                                const Collider& b, const Pose& X_WB) {
  const FeatureMap map = feature_map(contact);
  return {by_sizes(map.a, contact, a, X_WA, contact.code_a, -contact.n),
          by_sizes(map.b, contact, b, X_WB, contact.code_b, contact.n)};
}

}  // namespace lithe
