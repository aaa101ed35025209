#include "lithe/collision/distance/point_hull.h"

#include <Eigen/Geometry>

#include "lithe/collision/distance/hull_distance.h"
#include "lithe/collision/hull/hull.h"
#include "lithe/core/infinity.h"

namespace lithe::internal {
namespace {

using Part = FeatureCode::Part;

// Walks over the hull from feature to neighbouring feature, each step nearer to the point. It ends where no direction
// along the surface leads nearer, which on a convex hull is the nearest point of all.
class Walk {
 public:
  Walk(const Hull& hull, const Vec3& point, int face) : hull_(hull), point_(point) { enter_face(face); }

  // False if rounding errors keep it walking.
  bool run() {
    for (int step = 0; step < kMaxSteps; ++step) {
      const FeatureCode before = here_.code;
      if (!(before.part() == Part::vertex && leave_vertex()) && !(before.part() == Part::edge && leave_edge())) {
        return true;
      }
      if (here_.code == before) return true;
    }
    return false;
  }

  FeatureCode code() const { return here_.code; }
  const Vec3& x() const { return here_.x; }

 private:
  static constexpr int kMaxSteps = 64;  // 5 are many

  struct Place {
    FeatureCode code;
    Vec3 x;
  };

  Place on_edge(int number) const {
    const Hull::Edge& edge = hull_.edges[number];
    const Vec3 &start = hull_.vertices[edge.vertex[0]], &end = hull_.vertices[edge.vertex[1]];
    const double along = edge.direction.dot(point_ - start);
    if (along <= 0) return {FeatureCode::vertex(edge.vertex[0]), start};
    if (edge.direction.dot(point_ - end) >= 0) return {FeatureCode::vertex(edge.vertex[1]), end};
    return {FeatureCode::edge(number), start + along * edge.direction};
  }

  // The foot on the face or, if that is beside it, the nearest point of its outline.
  void enter_face(int number) {
    const Hull::Face& face = hull_.faces[number];
    here_ = {FeatureCode::face(number), point_ - (face.normal.dot(point_) - face.offset) * face.normal};
    double nearest = kInfinity;
    for (int k = 0; k < face.count; ++k) {
      const Hull::Side& side = hull_.sides[face.first + k];
      if (side.normal.dot(point_) <= side.offset) continue;
      const int next = k + 1 < face.count ? k + 1 : 0;
      const Place place = on_edge(hull_.edge_between(hull_.ring[face.first + k], hull_.ring[face.first + next]));
      const double distance = (point_ - place.x).squaredNorm();
      if (distance < nearest) {
        nearest = distance;
        here_ = place;
      }
    }
  }

  // Along the edge that leads most towards the point.
  bool leave_vertex() {
    const int vertex = here_.code.index();
    const std::span<const int> others = hull_.neighbours_of(vertex), edges = hull_.edges_of(vertex);
    const Vec3 away = point_ - here_.x;
    int best = -1;
    double most = 0;
    for (std::size_t k = 0; k < others.size(); ++k) {
      const double along = away.dot(hull_.edges[edges[k]].direction);
      const double forward = others[k] > vertex ? along : -along;
      if (forward > most) {
        most = forward;
        best = edges[k];
      }
    }
    if (best < 0) return false;
    here_ = on_edge(best);
    return true;
  }

  // Into a face that the point lies over.
  bool leave_edge() {
    const Hull::Edge& edge = hull_.edges[here_.code.index()];
    const Vec3 away = point_ - here_.x;
    for (const int k : {0, 1}) {
      const Vec3& normal = hull_.faces[edge.face[k]].normal;
      const Vec3 along = k == 0 ? edge.direction : Vec3(-edge.direction);  // as the face runs it: inside is left
      if (normal.cross(along).dot(away) <= 0 || normal.dot(away) <= 0) continue;
      enter_face(edge.face[k]);
      return true;
    }
    return false;
  }

  const Hull& hull_;
  const Vec3 point_;
  Place here_;
};

NearestOnHull on_face(const Hull& hull, const Vec3& point, int face) {
  const Hull::Face& f = hull.faces[face];
  const double height = f.normal.dot(point) - f.offset;
  return {FeatureCode::face(face), point - height * f.normal, f.normal, height};
}

}  // namespace

FaceBound best_face(const Hull& hull, const Vec3& o, const Vec3& half) {
  Pack best = broadcast(-kInfinity), best_first = {};
  for (int i = 0; i < hull.face_packs() * kLanes; i += kLanes) {
    const Pack x = as_pack(&hull.normal_x[i]), y = as_pack(&hull.normal_y[i]), z = as_pack(&hull.normal_z[i]);
    const Pack middle = x * o.x() + y * o.y() + z * o.z() - as_pack(&hull.offset[i]);
    const Pack s = middle - absolute(x * half.x() + y * half.y() + z * half.z());
    best_first = s > best ? broadcast(i) : best_first;
    best = s > best ? s : best;
  }
  FaceBound result{0, -kInfinity};
  for (int lane = 0; lane < kLanes; ++lane) {
    const int face = static_cast<int>(best_first[lane]) + lane;
    if (best[lane] > result.s || (best[lane] == result.s && face < result.face)) result = {face, best[lane]};
  }
  return result;
}

NearestOnHull nearest_on_hull(const Hull& hull, const Vec3& point, const FaceBound& bound, double touching) {
  if (bound.s <= 0) return on_face(hull, point, bound.face);
  Walk walk(hull, point, bound.face);
  FeatureCode code;
  Vec3 x;
  if (walk.run()) {
    code = walk.code();
    x = walk.x();
  } else {
    const Pose X_HP = Pose::translation(point);
    const GjkResult closest = gjk(Core::point(), Core::hull(hull), X_HP, kInfinity);
    if (closest.status != GjkStatus::separated) return on_face(hull, point, bound.face);
    const CoreDistance exact = core_distance(Core::point(), Core::hull(hull), X_HP, closest);
    code = exact.b.code;
    x = exact.x_b;
  }
  if (code.part() == Part::face) return on_face(hull, point, code.index());
  const Vec3 apart = point - x;
  const double distance = apart.norm();
  if (distance <= touching) return on_face(hull, point, bound.face);
  return {code, x, apart / distance, distance};
}

}  // namespace lithe::internal
