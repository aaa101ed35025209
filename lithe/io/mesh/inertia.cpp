#include "lithe/io/mesh/inertia.h"

#include <Eigen/Geometry>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <libqhull_r/libqhull_r.h>
#include <memory>

namespace lithe::internal {

namespace {

// The moments of a body or of a sheet about the origin: ∫ 1, ∫ x and ∫ x xᵀ.
struct Moments {
  double zeroth = 0;
  Vec3 first = Vec3::Zero();
  Mat3 second = Mat3::Zero();

  // Adds the tetrahedron over the origin with the corners a, b, c, and returns its volume. That is signed, negative
  // where the triangle looks towards the origin, unless it is asked for without sign.
  double add_pyramid(const Vec3& a, const Vec3& b, const Vec3& c, bool unsigned_volume) {
    const Vec3 s = a + b + c;
    double V = a.dot(b.cross(c)) / 6;
    if (unsigned_volume) V = std::abs(V);
    zeroth += V;
    first += V / 4 * s;
    second += V / 20 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose());
    return V;
  }

  // The inertia ∫ (|x|² 1 − x xᵀ) at density 1, expressed in a frame in which the moments' origin lies at `origin`.
  SpatialInertia inertia(const Vec3& origin) const {
    const SpatialInertia about_origin{zeroth, first, second.trace() * Mat3::Identity() - second};
    return about_origin.in(Pose::translation(origin));
  }
};

// The centroid of the surface. It is near the body, so that little cancels in sums about it.
Vec3 surface_centre(const TriangleMesh& mesh) {
  double area = 0;
  Vec3 sum = Vec3::Zero();
  for (const auto& [i, j, k] : mesh.triangles) {
    const Vec3 &a = mesh.vertices[i], &b = mesh.vertices[j], &c = mesh.vertices[k];
    const double twice = (b - a).cross(c - a).norm();
    area += twice;
    sum += twice * (a + b + c) / 3;
  }
  return area > 0 ? Vec3(sum / area) : Vec3(Vec3::Zero());
}

// Runs qhull, with all that it would print sent to /dev/null. (Without a file it prints to stderr and ends the
// program.)
class SilentQhull {
 public:
  SilentQhull() : file_(std::fopen("/dev/null", "w")), qh_(std::make_unique<qhT>()) {
    if (file_) qh_zero(qh_.get(), file_);
  }
  SilentQhull(const SilentQhull&) = delete;
  SilentQhull& operator=(const SilentQhull&) = delete;
  ~SilentQhull() {
    if (!file_) return;
    qh_freeqhull(qh_.get(), !qh_ALL);
    int long_blocks = 0, long_bytes = 0;
    qh_memfreeshort(qh_.get(), &long_blocks, &long_bytes);
    std::fclose(file_);
  }

  // Computes the hull of the points; false where there is none. Qt asks for triangles only; with Q12, very wide facets
  // are no error. qhull leaves its errors by a jump, but inside qh_new_qhull, which catches it and returns a code.
  bool run(std::span<const Vec3> points) {
    static_assert(sizeof(Vec3) == 3 * sizeof(coordT), "qhull reads the coordinates in place");
    char command[] = "qhull Qt Q12";
    points_ = points.data()->data();
    return file_ && qh_new_qhull(qh_.get(), 3, static_cast<int>(points.size()), const_cast<coordT*>(points_), False,
                                 command, file_, file_) == qh_ERRnone;
  }

  // The facets of the hull, looking outwards, by the numbers of the points.
  std::vector<std::array<std::int32_t, 3>> triangles() const {
    std::vector<std::array<std::int32_t, 3>> result;
    for (const facetT* facet = qh_->facet_list; facet && facet->next; facet = facet->next) {
      const std::int32_t a = corner(*facet, 0), b = corner(*facet, 1), c = corner(*facet, 2);
      // This flag says whether qhull's order of the vertices is that of a facet that looks inwards.
      if (facet->toporient) {
        result.push_back({b, a, c});
      } else {
        result.push_back({a, b, c});
      }
    }
    return result;
  }

 private:
  // The number of a facet's k-th vertex. qhull refers to points by pointers into the coordinates that it was given.
  std::int32_t corner(const facetT& facet, int k) const {
    const auto* vertex = static_cast<const vertexT*>(SETelem_(facet.vertices, k));
    return static_cast<std::int32_t>((vertex->point - points_) / 3);
  }

  FILE* file_;
  std::unique_ptr<qhT> qh_;
  const coordT* points_ = nullptr;
};

}  // namespace

// A tetrahedron over the origin with the corners a, b, c and volume V = a·(b × c)/6 has, with s = a + b + c,
// ∫ x = V s/4 and ∫ x xᵀ = V (a aᵀ + b bᵀ + c cᵀ + s sᵀ)/20; by the divergence theorem the signed sum over a
// closed surface is the body's.
SolidInertia solid_inertia(const TriangleMesh& mesh) {
  const Vec3 centre = surface_centre(mesh);
  SolidInertia result;
  Moments moments;
  Vec3 area_vector = Vec3::Zero();
  double area = 0;
  for (const auto& [i, j, k] : mesh.triangles) {
    const Vec3 a = mesh.vertices[i] - centre, b = mesh.vertices[j] - centre, c = mesh.vertices[k] - centre;
    result.overlapping_volume += std::abs(moments.add_pyramid(a, b, c, false));
    const Vec3 normal = (b - a).cross(c - a);
    area_vector += normal;
    area += normal.norm();
  }
  // A surface that is inside out encloses the same body: with their signs turned, the three moments are those of the
  // body.
  if (moments.zeroth < 0) moments = {-moments.zeroth, -moments.first, -moments.second};
  result.inertia = moments.inertia(centre);
  result.closed = area > 0 && area_vector.norm() <= 1e-6 * area;
  return result;
}

SpatialInertia pyramid_inertia(const TriangleMesh& mesh, bool unsigned_volumes) {
  const auto moments_about = [&](const Vec3& apex) {
    Moments moments;
    for (const auto& [i, j, k] : mesh.triangles) {
      const Vec3 a = mesh.vertices[i] - apex, b = mesh.vertices[j] - apex, c = mesh.vertices[k] - apex;
      moments.add_pyramid(a, b, c, unsigned_volumes);
    }
    return moments;
  };
  // There are two passes, as in MuJoCo: pyramids over the centre of the surface give the centre of mass, and pyramids
  // over that give the moments.
  const Vec3 surface = surface_centre(mesh);
  const Moments first = moments_about(surface);
  const Vec3 centre = first.zeroth == 0 ? surface : Vec3(surface + first.first / first.zeroth);
  Moments moments = moments_about(centre);
  // MuJoCo takes the apex for the centre of mass, which it is where the surface is closed.
  moments.first.setZero();
  return moments.inertia(centre);
}

// A triangle of area A with the corners a, b, c: ∫ x = A s/3, ∫ x xᵀ = A (a aᵀ + b bᵀ + c cᵀ + s sᵀ)/12.
SpatialInertia shell_inertia(const TriangleMesh& mesh) {
  const Vec3 centre = surface_centre(mesh);
  Moments moments;
  for (const auto& [i, j, k] : mesh.triangles) {
    const Vec3 a = mesh.vertices[i] - centre, b = mesh.vertices[j] - centre, c = mesh.vertices[k] - centre;
    const Vec3 s = a + b + c;
    const double A = 0.5 * (b - a).cross(c - a).norm();
    moments.zeroth += A;
    moments.first += A / 3 * s;
    moments.second += A / 12 * (a * a.transpose() + b * b.transpose() + c * c.transpose() + s * s.transpose());
  }
  return moments.inertia(centre);
}

std::vector<std::array<std::int32_t, 3>> hull_triangles(std::span<const Vec3> points) {
  if (points.size() < 4) return {};
  SilentQhull qhull;
  if (!qhull.run(points)) return {};
  return qhull.triangles();
}

}  // namespace lithe::internal
