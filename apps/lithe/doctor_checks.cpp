#include "apps/lithe/doctor_checks.h"

#include <Eigen/Eigenvalues>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <unordered_set>

#include "apps/lithe/doctor_contacts.h"
#include "lithe/collision/collider.h"
#include "lithe/collision/hull/hull.h"
#include "lithe/core/check.h"

namespace lithe::cli {

using namespace internal;

namespace {

using Severity = Finding::Severity;

constexpr double kSuspiciousRatio = 1000;  // of the masses of neighbours
constexpr double kLightest = 1e-6;         // kg
constexpr double kLargestRobot = 30;       // m: beyond, lengths are likely to be millimetres
constexpr int kLargeHull = 500;            // vertices: more than a mesh for collision needs
constexpr int kLargeMesh = 100'000;        // triangles
constexpr double kConvexVolume = 1.1;      // hull over mesh: beyond, the hull fills what the mesh leaves open
constexpr double kDeepOverlap = 1e-3;      // m
constexpr std::size_t kMostListed = 8;

class Examination {
 public:
  explicit Examination(const LoadedModel& loaded) : loaded_(loaded), model_(loaded.model) {}

  std::vector<Finding> run() {
    report_warnings();
    if (!loaded_.start.empty()) add(Severity::note, "start", "starts in {}", loaded_.start);
    check_masses();
    check_extents();
    check_meshes();
    check_limits();
    check_drives();
    check_self_collision();
    check_overlaps();
    return std::move(findings_);
  }

 private:
  template <class... Values>
  void add(Severity severity, const char* check, fmt::format_string<Values...> format, Values&&... values) {
    findings_.push_back({severity, check, fmt::format(format, std::forward<Values>(values)...)});
  }

  // What the file says and the model cannot hold.
  void report_warnings() {
    for (const LoadWarning& warning : loaded_.warnings) {
      const bool inertia = warning.kind == "inertia.unphysical";
      const std::string more = warning.count > 1 ? fmt::format(" (and {} more)", warning.count - 1) : "";
      const char* check = inertia ? "inertia" : warning.rank == WarningRank::unused ? "ignored" : "assumed";
      findings_.push_back({inertia ? Severity::error : Severity::warning, check,
                           fmt::format("{}: {}{}", lithe::to_string(warning.place), warning.text, more)});
    }
  }

  bool moves(const Body& body) const {
    for (const Body* b = &body;; b = &model_.bodies()[b->parent]) {
      if (!b->joints.empty()) return true;
      if (b->parent == Model::world()) return false;
    }
  }

  void check_masses() {
    for (std::size_t i = 1; i < model_.bodies().size(); ++i) {
      const Body& body = model_.bodies()[i];
      if (!moves(body)) continue;
      const double mass = body.inertia.mass;
      if (mass > 0 && mass < kLightest) add(Severity::warning, "mass", "{} weighs {:.3g} kg", body.name, mass);
      check_inertia(body, BodyIndex(static_cast<int>(i)));
      if (body.parent == Model::world()) continue;
      const Body& parent = model_.bodies()[body.parent];
      if (mass <= 0 || parent.inertia.mass <= 0) continue;
      const double ratio = std::max(mass / parent.inertia.mass, parent.inertia.mass / mass);
      if (ratio < kSuspiciousRatio) continue;
      add(Severity::warning, "mass_ratio", "{} ({:.3g} kg) and its parent {} ({:.3g} kg) differ {:.0f} times in mass",
          body.name, mass, parent.name, parent.inertia.mass, ratio);
    }
  }

  // The farthest point of a body's shapes from its origin, and their bounding sphere about `centre`.
  double reach(BodyIndex body, const Vec3& centre) const {
    double farthest = 0;
    for (const Shape& shape : model_.shapes()) {
      if (shape.body != body || std::holds_alternative<Plane>(shape.geometry)) continue;
      const Collider collider = make_collider(shape, ShapeIndex(0));
      farthest = std::max(farthest, (shape.placement * collider.box_centre - centre).norm() + collider.box_half.norm());
    }
    return farthest;
  }

  void check_inertia(const Body& body, BodyIndex index) {
    const double mass = body.inertia.mass;
    if (mass <= 0) return;
    const Mat3 about_centre = body.inertia.about_centre();
    if (about_centre.isApprox(Mat3::Identity(), 1e-12)) {
      add(Severity::warning, "inertia",
          "{} has the identity as its inertia: a default that somebody forgot to fill in?", body.name);
      return;
    }
    const Vec3 moments = Eigen::SelfAdjointEigenSolver<Mat3>(about_centre, Eigen::EigenvaluesOnly).eigenvalues();
    const double size = reach(index, body.inertia.centre());
    if (size <= 0) return;
    const double gyration = std::sqrt(std::max(0.0, moments[2]) / mass);
    if (gyration > size) {
      add(Severity::warning, "inertia",
          "{} resists turning as if its mass were {:.3g} m from its centre, but its shapes reach {:.3g} m only",
          body.name, gyration, size);
    } else if (gyration < 0.02 * size) {
      add(Severity::warning, "inertia", "{} has the inertia of a lump of {:.2g} m, but its shapes reach {:.3g} m",
          body.name, gyration, size);
    }
    const double offset = body.inertia.centre().norm();
    if (offset > 2 * reach(index, Vec3::Zero())) {
      add(Severity::warning, "centre_of_mass",
          "the centre of mass of {} is {:.3g} m from its origin, outside its shapes", body.name, offset);
    }
  }

  // Lengths that nobody has in metres.
  void check_extents() {
    double largest = 0;
    std::string of;
    const auto consider = [&](double length, const std::string& what) {
      if (length > largest) {
        largest = length;
        of = what;
      }
    };
    for (const Joint& joint : model_.joints()) consider(joint.placement.p.norm(), "joint " + joint.name);
    for (const Shape& shape : model_.shapes()) {
      if (shape.body == Model::world() || std::holds_alternative<Plane>(shape.geometry)) continue;
      const Collider collider = make_collider(shape, ShapeIndex(0));
      consider(collider.box_half.norm(), "shape " + shape.name);
    }
    if (largest > kLargestRobot) {
      add(Severity::warning, "units",
          "{} spans {:.4g} m: are the lengths in millimetres? (meshes: scale=\"0.001 0.001 0.001\")", of, largest);
    }
  }

  static double volume(const TriangleMesh& mesh, const Vec3& scale) {
    double sum = 0;
    for (const auto& t : mesh.triangles) {
      const auto at = [&](int k) { return Vec3(mesh.vertices[t[k]].cwiseProduct(scale)); };
      sum += at(0).dot(at(1).cross(at(2))) / 6;
    }
    return std::abs(sum);
  }

  static double volume(const Hull& hull) {
    double sum = 0;
    for (const Hull::Face& face : hull.faces) sum += face.area * face.offset / 3;
    return sum;
  }

  void check_meshes() {
    for (const LoadedHull& hull : loaded_.hulls) {
      if (hull.exact_vertices <= kLargeHull) continue;
      add(Severity::note, "large_hull",
          "the hull of {} has {} vertices; it collides as one of {}, at most {:.2g} mm inside it", hull.file,
          hull.exact_vertices, hull.kept_vertices, 1e3 * hull.error);
    }
    for (const CollisionMesh& mesh : loaded_.collision_meshes) {
      const int triangles = static_cast<int>(mesh.mesh->triangles.size());
      if (triangles > kLargeMesh) {
        add(Severity::warning, "large_mesh", "{} has {} triangles; a collision mesh needs a few hundred", mesh.file,
            triangles);
      }
      std::vector<Vec3> points;
      for (const Vec3& vertex : mesh.mesh->vertices) points.push_back(vertex.cwiseProduct(mesh.scale));
      const HullResult built = build_hull(points, mesh.file, HullTolerance{});
      const double inside = volume(*mesh.mesh, mesh.scale), around = volume(built.hull);
      if (inside > 0 && around > kConvexVolume * inside) {
        add(Severity::note, "not_convex", "{} is not convex: its hull, which collides, has {:.2g} times its volume",
            mesh.file, around / inside);
      }
    }
  }

  void check_limits() {
    for (std::size_t i = 0; i < model_.joints().size(); ++i) {
      const Joint& joint = model_.joints()[i];
      if (joint.type == JointType::ball) continue;
      if (joint.lower == joint.upper) {
        add(Severity::warning, "limits", "joint {} cannot move: both limits are {:.4g}", joint.name, joint.lower);
      } else if (joint.lower > 0 || joint.upper < 0) {
        add(Severity::note, "limits", "joint {} is outside its limits ({:.4g} … {:.4g}) at 0", joint.name, joint.lower,
            joint.upper);
      }
      const bool turns = joint.type == JointType::revolute;
      if (turns && std::isfinite(joint.upper - joint.lower) && joint.upper - joint.lower > 8 * std::numbers::pi) {
        add(Severity::warning, "limits", "joint {} turns by {:.4g} rad: are its limits in degrees?", joint.name,
            joint.upper - joint.lower);
      }
      if (joint.effort_limit == 0) add(Severity::note, "limits", "joint {} has an effort limit of 0", joint.name);
    }
  }

  void check_drives() {
    if (loaded_.actuators.empty()) return;
    std::unordered_set<std::string> driven;
    for (const Actuator& actuator : loaded_.actuators) driven.insert(actuator.joint);
    std::vector<std::string> idle;
    for (const Body& body : model_.bodies()) {
      const bool root = body.parent == Model::world() && body.joints.size() > 1;  // floats
      for (const JointIndex j : body.joints) {
        const std::string& name = model_.joints()[j].name;
        if (!root && !driven.contains(name)) idle.push_back(name);
      }
    }
    if (!idle.empty()) add(Severity::note, "unactuated", "{} joints are not driven: {}", idle.size(), listed(idle));
  }

  static std::string listed(const std::vector<std::string>& names) {
    std::string text =
        fmt::format("{}", fmt::join(names.begin(), names.begin() + std::min(names.size(), kMostListed), ", "));
    return names.size() > kMostListed ? text + " …" : text;
  }

  void check_self_collision() {
    const std::string excepted = describe_excepted_pairs(loaded_);
    if (!excepted.empty()) add(Severity::note, "self_collision", "{}", excepted);
  }

  void check_overlaps() {
    for (const TouchingPair& pair : touching_pairs(loaded_)) {
      if (pair.depth <= kDeepOverlap) continue;
      add(Severity::warning, "overlap",
          "{} and {} overlap by {:.3g} m where the model starts; if they are meant to, except the pair", pair.a, pair.b,
          pair.depth);
    }
  }

  const LoadedModel& loaded_;
  const Model& model_;
  std::vector<Finding> findings_;
};

}  // namespace

const char* to_string(Finding::Severity severity) {
  switch (severity) {
    case Severity::note: return "note";
    case Severity::warning: return "warning";
    case Severity::error: return "error";
  }
  return "unknown";
}

std::vector<Finding> examine(const LoadedModel& loaded) { return Examination(loaded).run(); }

}  // namespace lithe::cli
