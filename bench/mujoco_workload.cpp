#include "bench/mujoco_workload.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <mujoco/mujoco.h>

#include "bench/mjcf.h"
#include "lithe/core/check.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/mass_matrix.h"

namespace lithe::bench {

namespace {

constexpr double kSame = 1e-9;       // relative difference of two computations of the same number
constexpr int kLargestMatrix = 200;  // DoFs up to which the mass matrices are compared too

// MuJoCo calls exit() otherwise.
void raise_error(const char* text) { detail::throw_error(std::string("MuJoCo: ") + text); }
void ignore_warning(const char*) {}  // they are counted in mjData

MatX mass_matrix_of(const mjModel* model, const mjData* data) {
  MatX M(model->nv, model->nv);
  mj_fullM(model, M.data(), data->qM);
  return M;
}

double relative_difference(const MatX& a, const MatX& b) {
  return (a - b).cwiseAbs().maxCoeff() / std::max(1e-300, b.cwiseAbs().maxCoeff());
}

}  // namespace

MujocoWorkload::MujocoWorkload(const Scene& scene, int max_contacts, int settling, int count) {
  mju_user_error = raise_error;
  mju_user_warning = ignore_warning;
  load(to_mjcf(scene.model, scene.time_step, max_contacts));
  const std::vector<double> positions = mujoco_positions(scene.model, scene.q);
  LITHE_CHECK(static_cast<int>(positions.size()) == model_->nq && scene.model.nv() == model_->nv,
              "MuJoCo has {} coordinates and {} DoFs, ours translate to {} and {}", model_->nq, model_->nv,
              positions.size(), scene.model.nv());
  mju_copy(data_->qpos, positions.data(), model_->nq);
  mju_copy(data_->qvel, scene.v.data(), model_->nv);
  mj_forward(model_.get(), data_.get());
  compare_models(scene);

  const std::vector<double> start(data_->xpos, data_->xpos + 3 * model_->nbody);
  for (int i = 0; i < settling; ++i) mj_step(model_.get(), data_.get());
  for (int i = 0; i < count; ++i) {
    states_.push_back(get());
    mj_step(model_.get(), data_.get());
    contacts_ += data_->ncon / static_cast<double>(count);
    rows_ += data_->nefc / static_cast<double>(count);
    iterations_ += data_->solver_iter / static_cast<double>(count);
  }
  for (std::size_t i = 0; i < start.size(); ++i) drift_ = std::max(drift_, std::abs(data_->xpos[i] - start[i]));
  for (int i = 0; i < mjNWARNING; ++i) {
    LITHE_CHECK(data_->warning[i].number == 0, "MuJoCo warns: {}", mju_warningText(i, data_->warning[i].lastinfo));
  }
}

MujocoWorkload::~MujocoWorkload() = default;

void MujocoWorkload::load(const std::string& mjcf) {
  const auto files = std::make_unique<mjVFS>();
  mj_defaultVFS(files.get());
  const int size = static_cast<int>(mjcf.size()) + 1;
  mj_makeEmptyFileVFS(files.get(), "model.xml", size);
  std::memcpy(files->filedata[mj_findFileVFS(files.get(), "model.xml")], mjcf.c_str(), size);
  std::array<char, 1000> error = {};
  mjModel* model = mj_loadXML("model.xml", files.get(), error.data(), error.size());
  mj_deleteVFS(files.get());
  LITHE_CHECK(model != nullptr, "MuJoCo refuses the model: {}", error.data());
  model_.reset(model, mj_deleteModel);
  data_.reset(mj_makeData(model), mj_deleteData);
  LITHE_CHECK(data_ != nullptr, "MuJoCo has not enough memory for the model");
}

// Both are the same model if masses, places of all bodies and the mass matrix are the same numbers.
void MujocoWorkload::compare_models(const Scene& scene) const {
  const Model& model = scene.model;
  const double mass = mj_getTotalmass(model_.get());
  LITHE_CHECK(std::abs(mass - model.total_mass()) <= kSame * model.total_mass(), "MuJoCo's model has {} kg, ours {} kg",
              mass, model.total_mass());
  Kinematics kin;
  kinematics(model, scene.q, kin);
  for (std::size_t b = 1; b < model.bodies().size(); ++b) {
    const Body& body = model.bodies()[b];
    const Vec3 ours = body_pose(model, kin, BodyIndex(static_cast<int>(b))).p;
    const int id = mj_name2id(model_.get(), mjOBJ_BODY, body.name.c_str());
    LITHE_CHECK(id > 0, "MuJoCo's model has no body '{}'", body.name);
    const Vec3 theirs = Eigen::Map<const Vec3>(data_->xpos + 3 * id);
    LITHE_CHECK((ours - theirs).norm() <= kSame * (1 + ours.norm()), "body '{}' is elsewhere in MuJoCo's model",
                body.name);
  }
  if (model.nv() > kLargestMatrix) return;
  MassMatrix M;
  mass_matrix(model, kin, M);
  const double difference = relative_difference(mass_matrix_of(model_.get(), data_.get()), M.dense(model));
  LITHE_CHECK(difference <= kSame, "MuJoCo's mass matrix differs from ours by {}", difference);
}

MujocoWorkload::StepState MujocoWorkload::get() const {
  const auto copy = [](const double* first, int n) { return std::vector<double>(first, first + n); };
  return {.qpos = copy(data_->qpos, model_->nq),
          .qvel = copy(data_->qvel, model_->nv),
          .warm_start = copy(data_->qacc_warmstart, model_->nv)};
}

void MujocoWorkload::set(const StepState& state) {
  mju_copy(data_->qpos, state.qpos.data(), model_->nq);
  mju_copy(data_->qvel, state.qvel.data(), model_->nv);
  mju_copy(data_->qacc_warmstart, state.warm_start.data(), model_->nv);
}

void MujocoWorkload::step() {
  set(states_[next_]);
  mj_step(model_.get(), data_.get());
  next_ = (next_ + 1) % states_.size();
}

std::string mujoco_version() { return mj_versionString(); }

}  // namespace lithe::bench
