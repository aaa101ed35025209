#include "lithe/io/internal/reader_parts.h"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "lithe/model/configuration.h"

namespace lithe::internal {

namespace {

// A body whose moments are as small as if its mass were closer to its centre than this, in m, is a point mass; the
// signs of its moments are rounding.
constexpr double kPoint = 1e-6;

}  // namespace

Mat3 rotation_from_rpy(const Vec3& rpy) {
  return rotation_about(Vec3::UnitZ(), rpy.z()) * rotation_about(Vec3::UnitY(), rpy.y()) *
         rotation_about(Vec3::UnitX(), rpy.x());
}

Vec3 rpy_from_rotation(const Mat3& R) {
  const double pitch = std::atan2(-R(2, 0), std::hypot(R(0, 0), R(1, 0)));
  // Near the poles yaw is little more than rounding; roll is taken from what this yaw leaves, so that both together are right.
  const double yaw = std::atan2(R(1, 0), R(0, 0));
  const double s = std::sin(yaw), c = std::cos(yaw);
  return {std::atan2(s * R(0, 2) - c * R(1, 2), c * R(1, 1) - s * R(0, 1)), pitch, yaw};
}

Mat3 rotation_from_wxyz(const VecX& wxyz, const SourcePlace& place, WarningList& warnings) {
  const double length = wxyz.norm();
  if (!(length > 1e-9)) throw LoadError(place, "a quaternion is zero: it must have length 1");
  if (std::abs(length - 1) > 1e-3) {
    warnings.add(place, "quaternion.length",
                 fmt::format("a quaternion has length {:.6g}; it is taken as a direction and normalised", length));
  }
  return rotation_from_quaternion(Vec4(wxyz[1], wxyz[2], wxyz[3], wxyz[0]) / length);
}

void set_inertia(Body& body, double mass, const Mat3& about_centre, const Pose& X_BC, const SourcePlace& place,
                 WarningList& warnings) {
  if (mass < 0) throw LoadError(place, fmt::format("the mass of {} is {}, but must not be negative", body.name, mass));
  const Mat3 about_centre_in_body = X_BC.R * about_centre * X_BC.R.transpose();
  body.inertia =
      SpatialInertia::from_centre(mass, X_BC.p, 0.5 * (about_centre_in_body + about_centre_in_body.transpose()));
  const Vec3 moments = Eigen::SelfAdjointEigenSolver<Mat3>(about_centre, Eigen::EigenvaluesOnly).eigenvalues();
  // Files are rounded to some digits, so a moment may lie a little outside what is possible.
  const double slack = 1e-9 * std::max(moments.cwiseAbs().maxCoeff(), 1e-300);
  const bool positive = moments[0] >= -slack;
  const bool triangle = moments[0] + moments[1] >= moments[2] - slack;
  if (positive && triangle) return;
  // The builder would refuse such an inertia, but other simulators take the file as it is.
  body.allow_unphysical_inertia = true;
  if (moments.cwiseAbs().maxCoeff() <= mass * kPoint * kPoint) return;
  warnings.add(
      place, "inertia.unphysical",
      fmt::format(
          "the inertia of {} belongs to no real body: its principal moments are {:.4g}, {:.4g}, {:.4g}, {}", body.name,
          moments[0], moments[1], moments[2],
          positive ? "and the two smaller ones must add up to at least the largest" : "but none may be negative"));
}

// The options name the pieces by the mesh's file name as the model writes it, hence by `uri` and not by the file found.
std::vector<ConvexMesh> convex_meshes(Resources& resources, std::string_view uri, const MeshFrame& frame,
                                      const SourcePlace& place) {
  if ((frame.scale.array() == 0).any()) throw LoadError(place, fmt::format("the scale of mesh \"{}\" has a zero", uri));
  const auto& pieces = resources.options().convex_pieces;
  const auto given = pieces.find(std::string(uri));
  std::vector<ConvexMesh> meshes;
  const auto add = [&](std::string_view piece) {
    const std::shared_ptr<const TriangleMesh> mesh = resources.collision_mesh(piece, frame.scale, place);
    meshes.push_back(resources.hulls().add(resources.resolve(piece, place).string(), mesh->vertices, frame, place));
  };
  if (given == pieces.end()) {
    add(uri);
  } else {
    for (const std::string& piece : given->second) add(piece);
  }
  return meshes;
}

std::vector<ConvexMesh> convex_meshes(Resources& resources, std::string_view uri, const Vec3& scale,
                                      const SourcePlace& place, WarningList& warnings) {
  try {
    return convex_meshes(resources, uri, MeshFrame{.scale = scale}, place);
  } catch (const MissingFile& missing) {
    // A warning has a place of its own, so that of the error is taken off its text.
    const std::string what = missing.what();
    const std::string prefix = to_string(place) + ": error: ";
    warnings.add(
        place, "mesh.missing",
        fmt::format("{}; nothing collides in its place", what.starts_with(prefix) ? what.substr(prefix.size()) : what));
    return {};
  }
}

ConvexMesh ellipsoid_points(const Vec3& half_axes) {
  // The points are the two poles and eight circles of latitude with sixteen points each. Their hull lies inside the
  // ellipsoid.
  constexpr int kRings = 9, kAround = 16;
  ConvexMesh convex;
  for (int ring = 1; ring < kRings; ++ring) {
    const double polar = std::numbers::pi * ring / kRings;
    for (int k = 0; k < kAround; ++k) {
      const double azimuth = 2 * std::numbers::pi * k / kAround;
      const Vec3 direction(std::sin(polar) * std::cos(azimuth), std::sin(polar) * std::sin(azimuth), std::cos(polar));
      convex.points.push_back(half_axes.cwiseProduct(direction));
    }
  }
  for (const double sign : {-1.0, 1.0}) convex.points.emplace_back(0, 0, sign * half_axes.z());
  return convex;
}

namespace {

// Whether two words differ by one letter only: one too many, one too few, another one, or two that changed places.
bool is_misspelt(std::string_view word, std::string_view known) {
  if (known.size() < 3) return false;  // anything is near a short word
  const auto differ = std::ranges::mismatch(word, known);
  const std::string_view a = word.substr(static_cast<std::size_t>(differ.in1 - word.begin()));
  const std::string_view b = known.substr(static_cast<std::size_t>(differ.in2 - known.begin()));
  if (a.empty() || b.empty()) return a.size() + b.size() == 1;
  const bool swapped = a.size() > 1 && b.size() > 1 && a[0] == b[1] && a[1] == b[0] && a.substr(2) == b.substr(2);
  return swapped || a.substr(1) == b.substr(1) || a.substr(1) == b || a == b.substr(1);
}

// Warns of a word that the format does not have. If it looks like one of the known words, the warning ranks as
// `motion`: the author meant something, and the model does not have it.
void warn_of_one_unknown(const SourcePlace& place, const std::string& kind, const std::string& text,
                         std::string_view name, std::initializer_list<std::string_view> known, WarningList& warnings) {
  const auto* meant = std::ranges::find_if(known, [&](std::string_view word) { return is_misspelt(name, word); });
  if (meant == known.end()) {
    warnings.add(place, kind, text);
  } else {
    warnings.add(place, kind, fmt::format("{} (did you mean '{}'?)", text, *meant), WarningRank::motion);
  }
}

}  // namespace

void warn_of_unknown(const XmlElement& element, std::string_view kind, std::initializer_list<std::string_view> children,
                     std::initializer_list<std::string_view> attributes, WarningList& warnings) {
  const auto listed = [](std::initializer_list<std::string_view> names, std::string_view name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const XmlElement& child : element.children()) {
    if (listed(children, child.name())) continue;
    warn_of_one_unknown(child.place(), fmt::format("{}.unknown.{}", kind, child.name()),
                        fmt::format("<{}> in <{}> is not known and was ignored", child.name(), element.name()),
                        child.name(), children, warnings);
  }
  for (const auto& [name, value] : element.attributes()) {
    if (listed(attributes, name)) continue;
    warn_of_one_unknown(
        element.place(), fmt::format("{}.unknown.{}.{}", kind, element.name(), name),
        fmt::format("attribute {}=\"{}\" of <{}> is not known and was ignored", name, shortened(value), element.name()),
        name, attributes, warnings);
  }
}

std::string NameSet::unique(std::string wanted) {
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  bytes_ += wanted.size();
  LITHE_CHECK(bytes_ <= kMostBytes, "the names of shapes, visuals or joints have more than {} bytes; shorten them",
              kMostBytes);
  if (names_.insert(wanted).second) return wanted;
  // The search goes on where the last one for this name ended, so that a thousand equal names take a thousand steps.
  for (int& number = next_.try_emplace(wanted, 2).first->second;; ++number) {
    std::string name = fmt::format("{}_{}", wanted, number);
    if (names_.insert(name).second) return name;
  }
}

void finish(LoadedModel& loaded, const SourcePlace& place) {
  try {
    loaded.model = loaded.builder.build();
  } catch (const LoadError&) {
    throw;
  } catch (const Error& error) {
    throw LoadError(place, error.what());
  }
  loaded.q = neutral_configuration(loaded.model);
  loaded.v = VecX::Zero(loaded.model.nv());
  loaded.motor_targets = VecX::Zero(static_cast<Eigen::Index>(loaded.model.motors().size()));
}

}  // namespace lithe::internal
