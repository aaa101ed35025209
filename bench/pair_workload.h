#pragma once

#include <cmath>
#include <memory>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "lithe/collision/collide.h"
#include "lithe/spatial/rotation.h"

namespace lithe::bench {

// Two shapes in many relative poses of one kind, visited in turn so that no branch can be learnt by heart.
struct PairWorkload {
  Collider a, b;
  std::vector<Pose> X_WA;
  Pose X_WB;
  PairScratch scratch;
  std::vector<Contact> contacts;
  std::size_t next = 0;

  void run_contacts() {
    contacts.clear();
    collide(a, X_WA[next], b, X_WB, scratch, contacts);
    next = (next + 1) % X_WA.size();
  }
  double run_distance() {
    const double gap = distance(a, X_WA[next], b, X_WB, scratch).gap;
    next = (next + 1) % X_WA.size();
    return gap;
  }
};

inline Mat3 random_rotation(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const Vec4 q(normal(random), normal(random), normal(random), normal(random));
  return rotation_from_quaternion(q / q.norm());
}

// A random cloud's hull: points on a sphere of radius 0.3, all of them vertices.
inline ConvexMesh round_mesh(int vertices) {
  std::mt19937_64 random(static_cast<std::uint64_t>(vertices));
  std::normal_distribution<double> normal;
  ConvexMesh mesh;
  for (int i = 0; i < vertices; ++i) {
    mesh.points.push_back(0.3 * Vec3(normal(random), normal(random), normal(random)).normalized());
  }
  return mesh;
}

// A foot of 2n vertices: a sole with round ends and a smaller instep.
inline ConvexMesh foot_mesh(int n) {
  ConvexMesh mesh;
  for (int i = 0; i < n; ++i) {
    const double angle = 2 * std::numbers::pi * (i + 0.5) / n;
    mesh.points.emplace_back(0.13 * std::cos(angle), 0.06 * std::sin(angle), -0.04);
    mesh.points.emplace_back(0.08 * std::cos(angle), 0.04 * std::sin(angle), 0.04);
  }
  return mesh;
}

inline Geometry typical_geometry(ShapeType type) {
  switch (type) {
    case ShapeType::sphere: return Sphere{0.3};
    case ShapeType::capsule: return Capsule{0.15, 0.3};
    case ShapeType::cylinder: return Cylinder{0.25, 0.3};
    case ShapeType::box: return Box{Vec3(0.3, 0.25, 0.2)};
    case ShapeType::mesh: return round_mesh(100);
    case ShapeType::plane: return Plane{};
  }
  return Sphere{};
}

inline Collider bench_collider(const Geometry& geometry, int index) {
  return make_collider({.name = "shape", .geometry = geometry}, ShapeIndex(index));
}

// Random attitudes at the given gap: a is moved along the normal until the signed distance is that.
inline PairWorkload pair_at_gap(const Geometry& a, const Geometry& b, double gap, int poses = 64) {
  PairWorkload w{bench_collider(a, 0), bench_collider(b, 1), {}, {}, {}, {}, 0};
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal;
  for (int i = 0; i < poses; ++i) {
    Vec3 direction = Vec3(normal(random), normal(random), normal(random)).normalized();
    if (w.b.type == ShapeType::plane) direction.z() = std::abs(direction.z());
    Pose X = {random_rotation(random), 2 * direction};
    for (int iteration = 0; iteration < 20; ++iteration) {
      const Contact c = distance(w.a, X, w.b, w.X_WB, w.scratch);
      X.p += (gap - c.gap) * c.n;
    }
    w.X_WA.push_back(X);
  }
  return w;
}

// One flat on the other: b below at z ≤ 0, a's frame at the given height, turned about z and shifted at random.
inline PairWorkload pair_at_rest(const Geometry& a, const Geometry& b, const Pose& X_WB, double height,
                                 const Mat3& attitude = Mat3::Identity(), double shift = 0.05, int poses = 64) {
  PairWorkload w{bench_collider(a, 0), bench_collider(b, 1), {}, X_WB, {}, {}, 0};
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int i = 0; i < poses; ++i) {
    const Mat3 turn = rotation_about(Vec3::UnitZ(), 3 * uniform(random));
    w.X_WA.push_back({turn * attitude, Vec3(shift * uniform(random), shift * uniform(random), height)});
  }
  return w;
}

}  // namespace lithe::bench
