#include "lithe/collision/curved/cap_manifold.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>
#include <variant>

#include "lithe/collision/hull/hull.h"

namespace lithe::internal {
namespace {

// How far a rim may reach beyond a face's side, relative to its radius, even if that is more than δ: two crossings would
// be less than 0.009 ρ apart and move 220 m per metre.
constexpr double kOverhang = 1e-5;

double overhang(const SolidCylinder& cylinder, const Bands& bands) {
  return std::max(bands.side, kOverhang * cylinder.rho);
}

// A face must look at the cap at least this much to give points.
constexpr double kFacingCap = 0.05;
// ∂p beyond which a point is called sensitive [m per radian].
constexpr double kSensitiveRim = 1000;

ContactFlag sensitive_if(bool condition) { return condition ? ContactFlag::sensitive_point : ContactFlag::none; }

FacePlane plane_of(const Hull& hull, int face) {
  return {hull.faces[face].normal, hull.faces[face].offset, FeatureCode::face(face)};
}

// Whether x is over a face, with a tolerance, not asking the side `except`.
bool over_face(const Hull& hull, const Hull::Face& face, const Vec3& x, double tolerance, int except = -1) {
  for (int k = 0; k < face.count; ++k) {
    const Hull::Side& side = hull.sides[face.first + k];
    if (k != except && side.normal.dot(x) > side.offset + tolerance) return false;
  }
  return true;
}

// Drops the contacts from `first` on that are not over a face.
void drop_beside(const Hull& hull, const Hull::Face& face, double tolerance, std::size_t first,
                 std::vector<Contact>& contacts) {
  const auto begin = contacts.begin() + static_cast<std::ptrdiff_t>(first);
  const auto beside = [&](const Contact& c) { return !over_face(hull, face, c.p, tolerance); };
  contacts.erase(std::remove_if(begin, contacts.end(), beside), contacts.end());
}

bool near_a_crossing(const std::vector<Contact>& contacts, std::size_t first, const Vec3& x, double distance) {
  return std::any_of(contacts.begin() + static_cast<std::ptrdiff_t>(first), contacts.end(), [&](const Contact& c) {
    return std::holds_alternative<EdgeCrossing>(c.feature) && (c.p - x).squaredNorm() <= distance * distance;
  });
}

void set_rim_over_plane(const SolidCylinder& cylinder, const RimSupport& lowest, int k, const Vec3& x, double gap,
                        const FacePlane& plane, Contact& contact) {
  contact.code_a = FeatureCode::rim(k);
  contact.code_b = plane.code;
  contact.gap = gap;
  contact.p = x - (0.5 * gap) * plane.n;
  contact.n = plane.n;
  contact.flags = sensitive_if(cylinder.rho > kSensitiveRim * lowest.sine);
  contact.feature = ClosestFeatures{SupportJet::rim(lowest.t, cylinder.rho, lowest.sine), SupportJet::face()};
}

// The two points in which rim k crosses a side's plane, if they are far enough from each other.
void append_crossings(const SolidCylinder& cylinder, int k, const Hull& hull, int face, int side, const Bands& bands,
                      std::vector<Contact>& out) {
  const Hull::Face& f = hull.faces[face];
  const Hull::Side& s = hull.sides[f.first + side];
  const Vec3 centre = cylinder.cap_centre(k);
  // m·x = m·centre + ρ|w| cos α on the rim, α the angle from w, m's part across the axis.
  const Vec3 w = across(s.normal, cylinder.a);
  const double length = w.norm();
  const double room = s.offset - s.normal.dot(centre), reach = cylinder.rho * length;
  if (!(std::abs(room) < reach - overhang(cylinder, bands))) return;
  const double cosine = room / reach, sine = std::sqrt((1 - cosine) * (1 + cosine));
  const Vec3 u = w / length, t = cylinder.a.cross(u);
  for (int which : {0, 1}) {
    const double signed_sine = which == 0 ? -sine : sine;
    const Vec3 p = centre + (cylinder.rho * cosine) * u + (cylinder.rho * signed_sine) * t;
    const double gap = f.normal.dot(p) - f.offset;
    if (gap > bands.margin || !over_face(hull, f, p, bands.side, side)) continue;
    Contact& contact = out.emplace_back();
    contact.code_a = FeatureCode::rim_crossing(k, which);
    contact.code_b = FeatureCode::face_side(face, side);
    contact.p = p;
    contact.n = f.normal;
    contact.gap = gap;
    contact.feature = EdgeCrossing{.face_on_a = false, .e = cosine * t - signed_sine * u, .m = s.normal};
  }
}

// A vertex of the face and the point of the cap above it, along the face's normal.
void append_corner(const SolidCylinder& cylinder, int k, const Hull& hull, int face, int vertex, const Bands& bands,
                   std::size_t first, std::vector<Contact>& out) {
  const Vec3& n = hull.faces[face].normal;
  const Vec3& p = hull.vertices[vertex];
  const Vec3 to_cap = cylinder.cap_centre(k) - p;
  const double gap = to_cap.dot(cylinder.a) / n.dot(cylinder.a);
  const double reach = cylinder.rho + bands.side;
  if (gap > bands.margin || (to_cap - gap * n).squaredNorm() > reach * reach) return;
  if (near_a_crossing(out, first, p, 3 * bands.side)) return;
  Contact& contact = out.emplace_back();
  contact.code_a = FeatureCode::cap(k);
  contact.code_b = FeatureCode::vertex(vertex);
  contact.p = p;
  contact.n = n;
  contact.gap = gap;
  contact.feature = CornerUnderFace{.face_on_a = false, .n_f = cylinder.cap_normal(k)};
}

// Where the cylinder's lowest line leaves a face through a side, at x, its side and the face's edge cross, up to the tilt.
void append_side_over_edge(const SolidCylinder& cylinder, const Hull& hull, int face, int side, const Vec3& x,
                           const Bands& bands, std::vector<Contact>& out) {
  const auto ring = hull.face_vertices(face);
  const std::size_t from = static_cast<std::size_t>(side), to = (from + 1) % ring.size();
  const int index = hull.edge_between(ring[from], ring[to]);
  const Vec3& e = hull.edges[index].direction;
  const Vec3 crossed = cylinder.a.cross(e);
  const double sine = crossed.norm(), along_n = crossed.dot(hull.faces[face].normal);
  if (!(std::abs(along_n) > kSameNormal * sine)) return;
  const Vec3 n = crossed / std::copysign(sine, along_n);

  // The two lines' closest points must be on the cylinder and on the edge.
  const Hull::Edge& edge = hull.edges[index];
  const Vec3& v = hull.vertices[edge.vertex[0]];
  const double length = (hull.vertices[edge.vertex[1]] - v).dot(e);
  const Vec3 d = cylinder.o - v;
  const double along = (cylinder.a.dot(e) * d.dot(e) - d.dot(cylinder.a)) / (sine * sine);
  const Vec3 x_a = cylinder.o + along * cylinder.a - cylinder.rho * n;
  const double t = (x_a - v).dot(e);
  if (std::abs(along) > cylinder.h + bands.side || t < -bands.side || t > length + bands.side) return;
  // Where n leans to the inside of the face, the face is in the way: what is deeper there than the line's own point at x
  // would be made up.
  const double leaning = -n.dot(hull.sides[hull.faces[face].first + side].normal);
  if (leaning * std::abs((x_a - x).dot(cylinder.a)) > bands.side) return;

  const double gap = n.dot(x_a - v);
  if (gap > bands.margin) return;
  Contact& contact = out.emplace_back();
  contact.code_a = FeatureCode::side();
  contact.code_b = FeatureCode::edge(index);
  contact.n = n;
  contact.gap = gap;
  contact.p = x_a - (0.5 * gap) * n;
  contact.flags = sensitive_if(sine * kSensitiveRim < cylinder.h);
  contact.feature = ClosestFeatures{SupportJet::line(cylinder.a, cylinder.rho), SupportJet::line(e)};
}

// A point of the hull over the cap.
Contact over_cap(const SolidCylinder& cylinder, int cap, const Vec3& p, double gap) {
  Contact contact;
  contact.code_a = FeatureCode::cap(cap);
  contact.p = p;
  contact.n = -cylinder.cap_normal(cap);
  contact.gap = gap;
  contact.feature = VertexOverFace{.face_on_a = true};
  return contact;
}

void append_edge_over_cap(const SolidCylinder& cylinder, int cap, const Hull& hull, int index, const double gap[2],
                          const Bands& bands, std::vector<Contact>& out) {
  const Hull::Edge& edge = hull.edges[index];
  const Vec3& from = hull.vertices[edge.vertex[0]];
  const double length = (hull.vertices[edge.vertex[1]] - from).dot(edge.direction);
  const LineOverDisc over(from, edge.direction, cylinder.o, cylinder.a, cylinder.rho);
  if (!(over.half > 0)) return;
  const double start = over.middle - over.half, end = over.middle + over.half;
  const double near = 3 * bands.side;
  // Its part over the cap runs from max(start, 0) to min(end, length).
  if (start > length - near || end < near) return;
  for (int which : {0, 1}) {
    const double t = which == 0 ? start : end;
    if (which == 0 ? t < near : t > length - near) continue;  // the vertex is over the cap
    const double point_gap = gap[0] + (gap[1] - gap[0]) * (t / length);
    if (point_gap > bands.margin) continue;
    const Vec3 p = from + t * edge.direction;
    Contact contact = over_cap(cylinder, cap, p, point_gap);
    const Vec3 m = PointInCylinder(cylinder, p).u;
    contact.code_a = FeatureCode::cap_side(cap, which);
    contact.code_b = FeatureCode::edge(index);
    contact.feature = EdgeCrossing{.face_on_a = true, .e = edge.direction, .m = m};
    out.push_back(contact);
  }
}

}  // namespace

Contact rim_over_plane(const SolidCylinder& cylinder, const RimSupport& lowest, int k, const FacePlane& plane) {
  Contact contact;
  const Vec3 x = lowest.point(cylinder, k);
  set_rim_over_plane(cylinder, lowest, k, x, plane.n.dot(x) - plane.offset, plane, contact);
  return contact;
}

void append_rim_over_plane(const SolidCylinder& cylinder, const RimSupport& lowest, int k, const FacePlane& plane,
                           double margin, std::vector<Contact>& out) {
  const Vec3 x = lowest.point(cylinder, k);
  const double gap = plane.n.dot(x) - plane.offset;
  if (gap <= margin) set_rim_over_plane(cylinder, lowest, k, x, gap, plane, out.emplace_back());
}

void append_rim_points(const SolidCylinder& cylinder, int k, const Vec3& d0, const Vec3& d1, const FacePlane& plane,
                       double margin, std::vector<Contact>& out) {
  const Vec3 centre = cylinder.cap_centre(k);
  const double height = plane.n.dot(centre) - plane.offset;
  const Vec3 directions[2] = {d0, d1};
  Vec3 u[2], t[2];
  double lever[2], rise[2];
  for (int i = 0; i < 2; ++i) {
    const Vec3 radial = across(directions[i], cylinder.a);
    const double scale = 1 / radial.norm();
    u[i] = scale * radial;
    t[i] = cylinder.a.cross(u[i]);
    lever[i] = scale * cylinder.rho;
    rise[i] = cylinder.rho * plane.n.dot(u[i]);
  }
  for (int quarter = 0; quarter < 4; ++quarter) {
    const int i = quarter % 2;
    const double sign = quarter < 2 ? 1 : -1;
    const double gap = height + sign * rise[i];
    if (gap > margin) continue;
    Contact& contact = out.emplace_back();
    contact.code_a = FeatureCode::rim_point(k, quarter);
    contact.code_b = plane.code;
    contact.p = centre + (sign * cylinder.rho) * u[i];
    contact.n = plane.n;
    contact.gap = gap;
    contact.feature = RimPoint{.face_on_a = false, .d = sign * directions[i], .t = sign * t[i], .lever = lever[i]};
  }
}

void cap_on_face(const SolidCylinder& cylinder, const Hull& hull, int face, const Bands& bands,
                 std::vector<Contact>& out) {
  const std::size_t first = out.size();
  const FacePlane plane = plane_of(hull, face);
  const Hull::Face& f = hull.faces[face];
  const int k = facing_cap(cylinder, plane.n);
  const Vec3 d = hull.sides[f.first].normal;
  append_rim_points(cylinder, k, d, plane.n.cross(d), plane, bands.margin, out);
  drop_beside(hull, f, overhang(cylinder, bands), first, out);
  const RimSupport lowest = rim_support(cylinder, plane.n);
  if (lowest.sine >= kFlatSine) {
    const std::size_t place = out.size();
    append_rim_over_plane(cylinder, lowest, k, plane, bands.margin, out);
    drop_beside(hull, f, bands.side, place, out);
  }
  for (int side = 0; side < f.count; ++side) append_crossings(cylinder, k, hull, face, side, bands, out);
  for (int vertex : hull.face_vertices(face)) append_corner(cylinder, k, hull, face, vertex, bands, first, out);
}

void side_on_face(const SolidCylinder& cylinder, const Hull& hull, int face, const Bands& bands,
                  std::vector<Contact>& out) {
  const Hull::Face& f = hull.faces[face];
  const RimSupport lowest = rim_support(cylinder, f.normal);
  const Vec3 x = cylinder.o + cylinder.rho * lowest.u;  // the line is x + s·axis
  double at[2] = {-cylinder.h, cylinder.h};
  int through[2] = {-1, -1};  // the side that cuts it off
  for (int k = 0; k < f.count; ++k) {
    const Hull::Side& side = hull.sides[f.first + k];
    const double room = side.offset + bands.side - side.normal.dot(x), slope = side.normal.dot(cylinder.a);
    if (std::abs(slope) < 1e-12) {
      if (room < 0) return;
      continue;
    }
    const int end = slope > 0 ? 1 : 0;
    const double s = room / slope;
    if (end == 1 ? s < at[1] : s > at[0]) {
      at[end] = s;
      through[end] = k;
    }
  }
  if (at[0] > at[1]) return;
  for (int end : {0, 1}) {
    if (through[end] < 0) {
      append_rim_over_plane(cylinder, lowest, end, plane_of(hull, face), bands.margin, out);
    } else {
      append_side_over_edge(cylinder, hull, face, through[end], x + at[end] * cylinder.a, bands, out);
    }
  }
}

void hull_on_cap(const SolidCylinder& cylinder, int cap, const Hull& hull, const double* heights, const Bands& bands,
                 std::vector<Contact>& out) {
  const Vec3 n = -cylinder.cap_normal(cap);
  const double sign = cap == 0 ? 1 : -1;
  const auto gap_of = [&](int vertex) { return -cylinder.h - sign * heights[vertex]; };
  const auto faces_cap = [&](int face) { return hull.faces[face].normal.dot(n) > kFacingCap; };
  const double reach = cylinder.rho + bands.side;

  for (int i = 0; i < static_cast<int>(hull.vertices.size()); ++i) {
    const double gap = gap_of(i);
    if (gap > bands.margin) continue;
    const Vec3& v = hull.vertices[i];
    if (across(v - cylinder.o, cylinder.a).squaredNorm() > reach * reach) continue;
    const auto faces = hull.faces_of(i);
    if (std::none_of(faces.begin(), faces.end(), faces_cap)) continue;
    out.push_back(over_cap(cylinder, cap, v, gap));
    out.back().code_b = FeatureCode::vertex(i);
  }
  for (int i = 0; i < static_cast<int>(hull.edges.size()); ++i) {
    const Hull::Edge& edge = hull.edges[i];
    const double gap[2] = {gap_of(edge.vertex[0]), gap_of(edge.vertex[1])};
    if (std::min(gap[0], gap[1]) > bands.margin || !(faces_cap(edge.face[0]) || faces_cap(edge.face[1]))) continue;
    append_edge_over_cap(cylinder, cap, hull, i, gap, bands, out);
  }
}

void keep_points(std::vector<Contact>& contacts, std::size_t first, int max_points) {
  const auto begin = contacts.begin() + static_cast<std::ptrdiff_t>(first);
  if (contacts.end() - begin <= max_points) return;
  const auto deepest =
      std::min_element(begin, contacts.end(), [](const Contact& x, const Contact& y) { return x.gap < y.gap; });
  // It takes the last place that stays, if it has none, so that the others keep theirs.
  const auto last = begin + (max_points - 1);
  if (deepest > last) *last = *deepest;
  contacts.resize(first + static_cast<std::size_t>(max_points));
}

}  // namespace lithe::internal
