#include "tests/support/lcp_problems.h"

#include <Eigen/Cholesky>
#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "lithe/collision/detect_contacts.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/jacobians.h"
#include "lithe/dynamics/mass_matrix.h"
#include "lithe/model/configuration.h"
#include "lithe/scenes/robots/humanoid.h"
#include "tests/support/random_model.h"
#include "tests/support/rigid_scene.h"

namespace lithe::test {

namespace {

double random_friction(std::mt19937_64& random) {
  constexpr std::array kUsual = {0.0, 0.1, 0.3, 0.5, 1.0, 2.0};
  return chance(random, 0.7) ? kUsual[uniform_int(random, 0, 5)] : uniform(random, 0, 2);
}

// Each draw is a statement of its own: the order in which arguments are evaluated is the compiler's.
Vec3 random_place(std::mt19937_64& random, double size, double z = 0) {
  const double x = uniform(random, -size, size);
  return Vec3(x, uniform(random, -size, size), z);
}

void push_at_random(std::mt19937_64& random, RigidScene& scene, int body, double spin, double speed) {
  const Vec3 omega = random_vec3(random, spin);
  scene.push(body, omega, random_vec3(random, speed));
}

SampledLcp tiny(std::mt19937_64& random) {
  SampledLcp result;
  const int n = uniform_int(random, 1, chance(random, 0.5) ? 3 : 6), k = uniform_int(random, 1, n + 1);
  const bool whole = chance(random, 0.5);
  const auto number = [&] { return whole ? uniform_int(random, -2, 2) : random_vector(random, 1)[0]; };
  std::vector<int> normals;
  for (int i = 0; i < n; ++i) {
    const auto key = static_cast<std::uint64_t>(i) + 1;
    if (!normals.empty() && chance(random, 0.6)) {
      const int normal = normals[uniform_int(random, 0, static_cast<int>(normals.size()) - 1)];
      result.rows.push_back(LcpRow::make_friction(normal, random_friction(random), key));
    } else if (chance(random, 0.7)) {
      normals.push_back(i);
      result.rows.push_back(LcpRow::make_one_sided(key));
    } else if (chance(random, 0.6)) {
      const double lower = number(), width = chance(random, 0.1) ? 0 : std::abs(number());
      result.rows.push_back(LcpRow::make_bounded(lower, lower + width, key));
    } else {
      result.rows.push_back(LcpRow::make_two_sided(key));
    }
  }
  result.W = MatX::NullaryExpr(n, k, [&](Eigen::Index, Eigen::Index) { return number(); });
  result.u = VecX::NullaryExpr(k, [&](Eigen::Index) { return number(); });
  result.d = VecX::Zero(n);
  return result;
}

// `contacts` of three rows with one μ.
SampledLcp gaussian(std::mt19937_64& random, int contacts, int columns) {
  SampledLcp result;
  const double mu = random_friction(random);
  for (int i = 0; i < contacts; ++i) {
    const auto key = static_cast<std::uint64_t>(3 * i) + 1;
    result.rows.push_back(LcpRow::make_one_sided(key));
    result.rows.push_back(LcpRow::make_friction(3 * i, mu, key + 1));
    result.rows.push_back(LcpRow::make_friction(3 * i, mu, key + 2));
  }
  result.W = random_vector(random, 3 * contacts * columns).reshaped(3 * contacts, columns);
  result.u = random_vector(random, columns);
  result.d = VecX::Zero(3 * contacts);
  return result;
}

SampledLcp half_rank(std::mt19937_64& random) {
  const int contacts = uniform_int(random, 1, 12);
  return gaussian(random, contacts, std::max(2, 3 * contacts / 2));
}

SampledLcp doubled_rows(std::mt19937_64& random) {
  const int different = uniform_int(random, 1, 4), contacts = uniform_int(random, different, 10);
  const SampledLcp source = gaussian(random, different, uniform_int(random, 2, 8));
  SampledLcp result = gaussian(random, contacts, static_cast<int>(source.W.cols()));
  for (int i = 0; i < contacts; ++i) {
    result.W.middleRows(3 * i, 3) = source.W.middleRows(3 * (i % different), 3);
    for (int k = 1; k < 3; ++k) result.rows[3 * i + k].friction = source.rows[1].friction;
  }
  return result;
}

SampledLcp spread(std::mt19937_64& random) {
  SampledLcp result = half_rank(random);
  for (Eigen::Index k = 0; k < result.W.cols(); ++k) result.W.col(k) *= std::pow(10, random_vector(random, 1)[0]);
  return result;
}

SampledLcp foot_problem(std::mt19937_64& random) {
  constexpr std::array<std::array<double, 3>, 3> kHalfSizes = {{{0.1, 0.15, 0.05}, {0.1, 0.1, 0.3}, {0.1, 0.1, 0.1}}};
  const auto& half_size = kHalfSizes[uniform_int(random, 0, 2)];
  const Vec3 half(half_size[0], half_size[1], half_size[2]);
  const Mat3 R = chance(random, 0.5) ? Mat3::Identity()
                                     : Eigen::AngleAxisd(uniform(random, -3, 3), Vec3::UnitZ()).toRotationMatrix();
  RigidScene scene;
  const int box = scene.add_box(chance(random, 0.5) ? 1 : uniform(random, 0.1, 100), half, Vec3(0, 0, half.z()), R);
  const double mu = random_friction(random);
  constexpr std::array<std::array<double, 2>, 6> kPoints = {{{1, 1}, {-1, 1}, {-1, -1}, {1, -1}, {1, 0}, {-1, 0}}};
  const int points = chance(random, 0.6) ? 4 : uniform_int(random, 1, 6);
  for (int k = 0; k < points; ++k) {
    const Vec3 p = R * Vec3(half.x() * kPoints[k][0], half.y() * kPoints[k][1], 0);
    scene.add_contact(box, RigidScene::kWorld, p, Vec3::UnitZ(), mu);
  }
  switch (uniform_int(random, 0, 5)) {
    case 0: break;  // at rest
    case 1: scene.push(box, Vec3::Zero(), random_place(random, 2)); break;
    case 2: scene.push(box, Vec3(uniform(random, -1, 1), 3, 0), Vec3(1.5, 0.3, 0)); break;
    case 3: scene.push(box, Vec3(0, 0, uniform(random, 4, 14)), Vec3(0.5, 0, 0)); break;
    case 4: {  // on a slope
      const double slope = RigidScene::kGravity * RigidScene::kTimeStep * std::sin(uniform(random, 0, 0.8));
      scene.push(box, Vec3::Zero(), Vec3(slope, 0.1 * slope, 0));
      break;
    }
    default: push_at_random(random, scene, box, 3, 1);
  }
  return scene.finish();
}

// Boxes of half size 0.1, each on the one before.
SampledLcp stack(std::mt19937_64& random, std::span<const double> masses) {
  RigidScene scene;
  const double mu = random_friction(random), shift = chance(random, 0.5) ? 0.0 : 0.02;
  for (std::size_t i = 0; i < masses.size(); ++i) {
    const Vec3 p = random_place(random, shift, 0.1 + 0.2 * static_cast<double>(i));
    const int box = scene.add_box(masses[i], Vec3::Constant(0.1), p);
    const int below = i == 0 ? RigidScene::kWorld : box - 1;
    for (int corner = 0; corner < 4; ++corner) {
      const Vec3 offset(corner == 0 || corner == 3 ? 0.09 : -0.09, corner < 2 ? 0.09 : -0.09, -0.1);
      scene.add_contact(box, below, p + offset, Vec3::UnitZ(), mu);
    }
    if (chance(random, 0.3)) push_at_random(random, scene, box, 1, 0.5);
  }
  return scene.finish();
}

SampledLcp stack(std::mt19937_64& random) {
  const std::vector<double> masses(uniform_int(random, 2, 5), 1.0);
  return stack(random, masses);
}

SampledLcp mass_ratio(std::mt19937_64& random) {
  std::vector<double> masses(uniform_int(random, 2, 3));
  for (double& mass : masses) mass = std::pow(10, uniform(random, -4, 4));
  return stack(random, masses);
}

SampledLcp pile(std::mt19937_64& random) {
  RigidScene scene;
  const double mu = random_friction(random);
  const int count = uniform_int(random, 3, 10);
  const auto add_patch = [&](int box, int other, const Vec3& p, const Vec3& n) {
    const int points = uniform_int(random, 1, 4);
    scene.add_patch(box, other, p, n, 0.05, uniform(random, 0, 6), points, mu);
  };
  for (int i = 0; i < count; ++i) {
    const Vec3 p = Vec3(0.2 * (i % 2), 0, 0) + random_place(random, 0.05, 0.1 + 0.15 * (i / 2));
    const double mass = uniform(random, 0.5, 2);
    const int box = scene.add_box(mass, Vec3(0.07, 0.08, 0.06), p, random_rotation(random));
    push_at_random(random, scene, box, 0.5, 0.2);
    if (i < 2) {
      add_patch(box, RigidScene::kWorld, p - Vec3(0, 0, 0.1), Vec3::UnitZ());
      continue;
    }
    // On one or both of the layer below, and perhaps against a wall.
    for (int below = i - 2 - i % 2; below < i - i % 2; ++below) {
      if (below != i - 2 && chance(random, 0.6)) continue;
      const Vec3 n = (Vec3::UnitZ() + random_vec3(random, 0.4)).normalized();
      add_patch(box, below, p - 0.08 * n, n);
    }
    if (chance(random, 0.2)) add_patch(box, RigidScene::kWorld, p + Vec3(0.08, 0, 0), -Vec3::UnitX());
  }
  return scene.finish();
}

void add_random_motor(std::mt19937_64& random, RigidScene& scene, int a, int b, const Vec3& axis) {
  const double limit = RigidScene::kTimeStep * std::pow(10, uniform(random, -1, 2));
  const double lower = chance(random, 0.8) ? -limit : uniform(random, -limit, limit);
  scene.add_motor(a, b, axis, lower, chance(random, 0.05) ? lower : limit);
}

SampledLcp motors(std::mt19937_64& random) {
  RigidScene scene;
  const double mu = random_friction(random);
  const int count = uniform_int(random, 2, 4);
  for (int i = 0; i < count; ++i) {
    const Vec3 p(0.4 * i, 0, 0.1);
    const int body = scene.add_box(uniform(random, 0.5, 5), Vec3(0.18, 0.1, 0.1), p);
    push_at_random(random, scene, body, 1, 0.3);
    if (i > 0) {
      const Vec3 axis = chance(random, 0.7) ? Vec3::UnitY() : random_axis(random);
      scene.add_hinge(body, body - 1, p - Vec3(0.2, 0, 0), axis);
      if (chance(random, 0.9)) add_random_motor(random, scene, body, body - 1, axis);
    }
    if (i == 0 || chance(random, 0.5)) {
      scene.add_patch(body, RigidScene::kWorld, p - Vec3(0, 0, 0.1), Vec3::UnitZ(), 0.1, uniform(random, 0, 6), 4, mu);
    }
  }
  return scene.finish();
}

const Model& humanoid_model() {
  static const Model model = [] {
    ModelBuilder builder = humanoid();
    builder.add_shape("world", {.name = "ground", .geometry = Plane{}});
    return builder.build();
  }();
  return model;
}

// The humanoid at q, v: contacts with the ground and with itself, then `motors` rows.
SampledLcp humanoid_at(std::mt19937_64& random, const VecX& q, const VecX& v, int motors) {
  const Model& model = humanoid_model();
  static const ColliderSet colliders(model);
  Kinematics kin;
  kinematics(model, q, v, kin);
  std::vector<Pose> X_WB;
  body_poses(model, kin, X_WB);
  DetectionWorkspace workspace;
  ContactSet set;
  detect_contacts(colliders, X_WB, workspace, set);
  const std::size_t contacts = std::min<std::size_t>(set.contacts.size(), 20);

  SampledLcp result;
  if (contacts + motors == 0) return result;
  const double mu = random_friction(random);
  MatX J = MatX::Zero(static_cast<Eigen::Index>(3 * contacts) + motors, model.nv());
  Mat3X J_a, J_b;
  for (std::size_t k = 0; k < contacts; ++k) {
    const Contact& contact = set.contacts[k];
    const auto jacobian = [&](ShapeIndex shape, Mat3X& out) {
      const BodyIndex body = model.shapes()[shape].body;
      point_jacobian(model, kin, body, X_WB[body].inverse() * contact.p, out);
    };
    jacobian(contact.a, J_a);
    jacobian(contact.b, J_b);
    const Vec3 t1 = contact.n.unitOrthogonal(), t2 = contact.n.cross(t1);
    const int normal = static_cast<int>(3 * k);
    J.row(normal) = contact.n.transpose() * (J_a - J_b);
    J.row(normal + 1) = t1.transpose() * (J_a - J_b);
    J.row(normal + 2) = t2.transpose() * (J_a - J_b);
    result.rows.push_back(LcpRow::make_one_sided(3 * k + 1));
    result.rows.push_back(LcpRow::make_friction(normal, mu, 3 * k + 2));
    result.rows.push_back(LcpRow::make_friction(normal, mu, 3 * k + 3));
  }
  for (int k = 0; k < motors; ++k) {
    const double limit = RigidScene::kTimeStep * uniform(random, 1, 200);
    J(static_cast<Eigen::Index>(3 * contacts) + k, 6 + k) = 1;
    result.rows.push_back(LcpRow::make_bounded(-limit, limit, result.rows.size() + 1));
  }

  MassMatrix M;
  mass_matrix(model, kin, M);
  const Eigen::LLT<MatX> factor(M.dense(model));
  result.W = factor.matrixL().solve(J.transpose()).transpose();
  result.u = factor.matrixU() * v;
  result.d = VecX::Zero(J.rows());
  return result;
}

// Standing as it is, or in any posture, fallen into the ground a little.
SampledLcp humanoid_on_ground(std::mt19937_64& random) {
  const Model& model = humanoid_model();
  VecX q = neutral_configuration(model), v = random_vector(random, model.nv(), 0.1);
  if (chance(random, 0.5)) {
    VecX change = random_vector(random, model.nv(), 0.2);
    change.head(6) *= 0.3;
    q = retract(model, q, change);
    q[2] -= uniform(random, 0.05, 0.15);
    v *= 10;
  }
  v[2] -= RigidScene::kGravity * RigidScene::kTimeStep;
  const SampledLcp result = humanoid_at(random, q, v, chance(random, 0.3) ? 10 : 0);
  return result.size() > 0 ? result : humanoid_on_ground(random);
}

SampledLcp rounding(std::mt19937_64& random) {
  SampledLcp result = chance(random, 0.5) ? foot_problem(random) : half_rank(random);
  const int n = result.size();
  const double size = result.W.squaredNorm() / n, speed = (result.W * result.u).cwiseAbs().maxCoeff();
  result.A_noise = MatX::Zero(n, n);
  result.b_noise = VecX::Zero(n);
  for (int still = uniform_int(random, 1, 1 + n / 6); still > 0; --still) {
    const int i = uniform_int(random, 1, n - 1);  // not the first normal: something should move
    result.W.row(i).setZero();
    const VecX row = random_vector(random, n, 1e-15 * size);
    result.A_noise.row(i) += row.transpose();
    result.A_noise.col(i) += row;
    result.A_noise(i, i) = std::abs(result.A_noise(i, i));
    result.b_noise[i] = random_vector(random, 1, 1e-15 * speed)[0];
  }
  return result;
}

// Targets that some velocity e meets for every friction within its cone: d_n ≤ (W e)_n − Σ μ|(W e)_t|. Any stress f with
// Wᵀf = 0 has then dᵀf ≤ 0, so a solution exists.
void add_targets_that_can_be_met(std::mt19937_64& random, SampledLcp& lcp) {
  const VecX reached = lcp.W * random_vector(random, static_cast<int>(lcp.W.cols()), uniform(random, 0, 0.3));
  for (int i = 0; i < lcp.size(); ++i) {
    const LcpRow& row = lcp.rows[i];
    if (row.kind == RowKind::one_sided || row.kind == RowKind::two_sided) lcp.d[i] += reached[i];
    if (row.kind == RowKind::friction) lcp.d[row.normal] -= row.friction * std::abs(reached[i]);
  }
}

SampledLcp loops(std::mt19937_64& random) {
  RigidScene scene;
  const int count = uniform_int(random, 3, 5);
  const double turn = 2 * std::numbers::pi / count;
  const Vec3 axis = Vec3::UnitY();
  for (int i = 0; i < count; ++i) {
    const Mat3 R = Eigen::AngleAxisd(turn * i, axis).toRotationMatrix();
    const int body = scene.add_box(uniform(random, 0.5, 5), Vec3(0.1, 0.1, 0.3), R * Vec3(0.5, 0, 0), R);
    push_at_random(random, scene, body, 1, 0.3);
  }
  for (int i = 0; i < count; ++i) {
    const Mat3 R = Eigen::AngleAxisd(turn * (i + 0.5), axis).toRotationMatrix();
    scene.add_hinge((i + 1) % count, i, R * Vec3(0.6, 0, 0), axis);
    if (chance(random, 0.5)) add_random_motor(random, scene, (i + 1) % count, i, axis);
  }
  const int feet = uniform_int(random, 0, 4);
  const double mu = random_friction(random);
  scene.add_patch(0, RigidScene::kWorld, Vec3(0.5, 0, -0.4), Vec3::UnitZ(), 0.1, uniform(random, 0, 6), feet, mu);
  SampledLcp result = scene.finish();
  if (chance(random, 0.7)) add_targets_that_can_be_met(random, result);
  return result;
}

SampledLcp any_with_contacts(std::mt19937_64& random) {
  switch (uniform_int(random, 0, 4)) {
    case 0: return foot_problem(random);
    case 1: return stack(random);
    case 2: return pile(random);
    case 3: return tiny(random);
    default: return half_rank(random);
  }
}

SampledLcp targets(std::mt19937_64& random) {
  SampledLcp result = any_with_contacts(random);
  add_targets_that_can_be_met(random, result);
  return result;
}

SampledLcp contradiction(std::mt19937_64& random) {
  SampledLcp result = any_with_contacts(random);
  result.solvable = false;
  for (int i = 0; i < result.size(); ++i) {
    if (result.rows[i].kind == RowKind::one_sided) result.d[i] = 0.3 * std::abs(random_vector(random, 1)[0]);
    if (result.rows[i].kind == RowKind::two_sided) result.d[i] = random_vector(random, 1, 0.3)[0];
  }
  return result;
}

constexpr std::array kFamilies = {
    LcpFamily::tiny,  LcpFamily::full_rank, LcpFamily::half_rank,  LcpFamily::doubled_rows, LcpFamily::spread,
    LcpFamily::foot,  LcpFamily::stack,     LcpFamily::mass_ratio, LcpFamily::pile,         LcpFamily::motors,
    LcpFamily::loops, LcpFamily::humanoid,  LcpFamily::rounding,   LcpFamily::targets,      LcpFamily::contradiction,
};

}  // namespace

LcpProblem SampledLcp::problem() const {
  MatX A = W * W.transpose();
  VecX b = W * u - d;
  if (A_noise.size() > 0) A += A_noise;
  if (b_noise.size() > 0) b += b_noise;
  return {A, b, rows, d.isZero(0) ? VecX() : d};
}

std::span<const LcpFamily> all_lcp_families() { return kFamilies; }

const char* to_string(LcpFamily family) {
  constexpr std::array kNames = {"tiny",  "full rank", "half rank",  "doubled rows", "spread 1e4",
                                 "foot",  "stack",     "mass ratio", "pile",         "motors",
                                 "loops", "humanoid",  "rounding",   "targets",      "contradiction"};
  return kNames[static_cast<int>(family)];
}

SampledLcp random_lcp(LcpFamily family, std::mt19937_64& random) {
  switch (family) {
    case LcpFamily::tiny: return tiny(random);
    case LcpFamily::full_rank: {
      const int contacts = uniform_int(random, 1, 12);
      return gaussian(random, contacts, 3 * contacts + 2);
    }
    case LcpFamily::half_rank: return half_rank(random);
    case LcpFamily::doubled_rows: return doubled_rows(random);
    case LcpFamily::spread: return spread(random);
    case LcpFamily::foot: return foot_problem(random);
    case LcpFamily::stack: return stack(random);
    case LcpFamily::mass_ratio: return mass_ratio(random);
    case LcpFamily::pile: return pile(random);
    case LcpFamily::motors: return motors(random);
    case LcpFamily::loops: return loops(random);
    case LcpFamily::humanoid: return humanoid_on_ground(random);
    case LcpFamily::rounding: return rounding(random);
    case LcpFamily::targets: return targets(random);
    case LcpFamily::contradiction: break;
  }
  return contradiction(random);
}

LcpProblem permuted(const LcpProblem& problem, std::span<const int> order) {
  const int n = problem.size();
  std::vector<int> position(n);
  for (int k = 0; k < n; ++k) position[order[k]] = k;
  const BoxedLcp view = problem.view();
  MatX A(n, n);
  VecX b(n), d(static_cast<Eigen::Index>(problem.target.size()));
  std::vector<LcpRow> rows(n);
  for (int k = 0; k < n; ++k) {
    rows[k] = problem.rows[order[k]];
    if (rows[k].kind == RowKind::friction) rows[k].normal = position[rows[k].normal];
    b[k] = problem.b[order[k]];
    if (d.size() > 0) d[k] = problem.target[order[k]];
    for (int j = 0; j < n; ++j) A(j, k) = view.at(order[j], order[k]);
  }
  return {A, b, rows, d};
}

LcpProblem scaled(const LcpProblem& problem, double by_A, double by_b) {
  LcpProblem result = problem;
  for (double& a : result.A) a *= by_A;
  for (double& b : result.b) b *= by_b;
  for (double& d : result.target) d *= by_b;
  for (LcpRow& row : result.rows) {
    row.lower *= by_b / by_A;
    row.upper *= by_b / by_A;
  }
  return result;
}

}  // namespace lithe::test
