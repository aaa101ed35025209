#include "bench/mujoco_world.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mujoco/mujoco.h>
#include <utility>
#include <vector>

#include "lithe/core/check.h"

namespace lithe::bench {

namespace {

using ModelPointer = std::shared_ptr<const mjModel>;
using DataPointer = std::unique_ptr<mjData, void (*)(mjData*)>;

// MuJoCo calls exit() otherwise, and writes a file for every warning (they are counted in mjData).
void raise_error(const char* text) { throw Error(std::string("MuJoCo: ") + text); }
void ignore_warning(const char*) {}

// Before anything else, once: how errors are told, and the plugins that come with the library, which some models name.
void prepare() {
  static const bool prepared = [] {
    mju_user_error = raise_error;
    mju_user_warning = ignore_warning;
    mj_loadAllPluginLibraries(LITHE_MUJOCO_PLUGINS, nullptr);
    return true;
  }();
  static_cast<void>(prepared);
}

ModelPointer read(const std::string& name, const mjVFS* files) {
  std::array<char, 1000> error = {};
  mjModel* model = mj_loadXML(name.c_str(), files, error.data(), static_cast<int>(error.size()));
  LITHE_CHECK(model != nullptr, "MuJoCo refuses the model: {}", error.data());
  return {model, mj_deleteModel};
}

DataPointer make_data(const mjModel* model) {
  DataPointer data(mj_makeData(model), mj_deleteData);
  LITHE_CHECK(data != nullptr, "MuJoCo has not enough memory for the model");
  return data;
}

}  // namespace

struct MujocoWorld::Data {
  explicit Data(ModelPointer made) : model(std::move(made)), data(make_data(model.get())) {}

  ModelPointer model;
  DataPointer data;
  std::vector<double> first_positions;  // of the bodies
};

MujocoWorld::MujocoWorld(std::unique_ptr<Data> data) : data_(std::move(data)) {}
MujocoWorld::MujocoWorld(MujocoWorld&&) noexcept = default;
MujocoWorld& MujocoWorld::operator=(MujocoWorld&&) noexcept = default;
MujocoWorld::~MujocoWorld() = default;

MujocoWorld MujocoWorld::from_file(const std::string& path) {
  prepare();
  return MujocoWorld(std::make_unique<Data>(read(path, nullptr)));
}

MujocoWorld MujocoWorld::from_text(const std::string& mjcf) {
  prepare();
  const auto files = std::make_unique<mjVFS>();
  mj_defaultVFS(files.get());
  const std::shared_ptr<mjVFS> at_end(files.get(), mj_deleteVFS);
  LITHE_CHECK(mj_addBufferVFS(files.get(), "model.xml", mjcf.data(), static_cast<int>(mjcf.size())) == 0,
              "MuJoCo takes no file of {} bytes", mjcf.size());
  return MujocoWorld(std::make_unique<Data>(read("model.xml", files.get())));
}

MujocoWorld MujocoWorld::another() const { return MujocoWorld(std::make_unique<Data>(data_->model)); }

int MujocoWorld::nq() const { return static_cast<int>(data_->model->nq); }
int MujocoWorld::nv() const { return static_cast<int>(data_->model->nv); }
int MujocoWorld::nu() const { return static_cast<int>(data_->model->nu); }
double MujocoWorld::time_step() const { return data_->model->opt.timestep; }

void MujocoWorld::start(const VecX& qpos, const VecX& qvel) {
  LITHE_CHECK(qpos.size() == nq() && qvel.size() == nv(), "MuJoCo has {} coordinates and {} DoFs, we have {} and {}",
              nq(), nv(), qpos.size(), qvel.size());
  const mjModel* model = data_->model.get();
  mjData* data = data_->data.get();
  mj_resetData(model, data);
  mju_copy(data->qpos, qpos.data(), nq());
  mju_copy(data->qvel, qvel.data(), nv());
  mj_forward(model, data);
  data_->first_positions.assign(data->xpos, data->xpos + 3 * model->nbody);
}

void MujocoWorld::set_controls(const VecX& ctrl) {
  LITHE_CHECK(ctrl.size() == nu(), "MuJoCo has {} controls, not {}", nu(), ctrl.size());
  mju_copy(data_->data->ctrl, ctrl.data(), nu());
}

void MujocoWorld::set_forces(const VecX& forces) {
  LITHE_CHECK(forces.size() == nv(), "MuJoCo has {} DoFs, not {}", nv(), forces.size());
  mju_copy(data_->data->qfrc_applied, forces.data(), nv());
}

void MujocoWorld::step() { mj_step(data_->model.get(), data_->data.get()); }

MujocoWorld::StepState MujocoWorld::state() const {
  const auto copy = [](const double* first, int n) -> VecX { return Eigen::Map<const VecX>(first, n); };
  const mjData* data = data_->data.get();
  return {copy(data->qpos, nq()), copy(data->qvel, nv()), copy(data->qacc_warmstart, nv())};
}

void MujocoWorld::set_state(const StepState& state) {
  mjData* data = data_->data.get();
  mju_copy(data->qpos, state.qpos.data(), nq());
  mju_copy(data->qvel, state.qvel.data(), nv());
  mju_copy(data->qacc_warmstart, state.warm_start.data(), nv());
}

void MujocoWorld::set_position_and_velocity(const VecX& qpos, const VecX& qvel) {
  mju_copy(data_->data->qpos, qpos.data(), nq());
  mju_copy(data_->data->qvel, qvel.data(), nv());
}

void MujocoWorld::kinematics() {
  mj_kinematics(data_->model.get(), data_->data.get());
  mj_comPos(data_->model.get(), data_->data.get());
  mj_comVel(data_->model.get(), data_->data.get());
}

void MujocoWorld::inverse_dynamics() {
  kinematics();
  mj_rne(data_->model.get(), data_->data.get(), 1, data_->data->qfrc_inverse);
}

void MujocoWorld::mass_matrix_and_factor() {
  mj_kinematics(data_->model.get(), data_->data.get());
  mj_comPos(data_->model.get(), data_->data.get());
  mj_makeM(data_->model.get(), data_->data.get());
  mj_factorM(data_->model.get(), data_->data.get());
}

void MujocoWorld::forward_dynamics() {
  mjData* data = data_->data.get();
  mass_matrix_and_factor();
  mj_comVel(data_->model.get(), data);
  mj_rne(data_->model.get(), data, 0, data->qfrc_bias);
  mju_sub(data->qfrc_smooth, data->qfrc_applied, data->qfrc_bias, nv());
  mj_solveM(data_->model.get(), data, data->qacc_smooth, data->qfrc_smooth, 1);
}

void MujocoWorld::collide() { mj_collision(data_->model.get(), data_->data.get()); }

MatX MujocoWorld::mass_matrix() const {
  MatX M(nv(), nv());
  mj_fullM(data_->model.get(), data_->data.get(), M.data());
  return M;
}

double MujocoWorld::drift() const {
  double largest = 0;
  for (std::size_t i = 0; i < data_->first_positions.size(); i += 3) {
    const Vec3 now = Eigen::Map<const Vec3>(data_->data->xpos + i);
    largest = std::max(largest, (now - Eigen::Map<const Vec3>(data_->first_positions.data() + i)).norm());
  }
  return largest;
}

int MujocoWorld::contacts() const { return static_cast<int>(data_->data->ncon); }
int MujocoWorld::rows() const { return static_cast<int>(data_->data->nefc); }
int MujocoWorld::iterations() const {
  const mjData* data = data_->data.get();
  const int islands = std::clamp(static_cast<int>(data->nisland), 1, static_cast<int>(mjNISLAND));
  int total = 0;
  for (int i = 0; i < islands; ++i) total += data->solver_niter[i];
  return total;
}

bool MujocoWorld::diverged() const {
  const mjWarningStat* warning = data_->data->warning;
  return warning[mjWARN_BADQPOS].number + warning[mjWARN_BADQVEL].number + warning[mjWARN_BADQACC].number > 0;
}

bool MujocoWorld::overflowed() const {
  const mjWarningStat* warning = data_->data->warning;
  return warning[mjWARN_CONTACTFULL].number + warning[mjWARN_CNSTRFULL].number > 0;
}

bool have_mujoco() { return true; }
std::string mujoco_version() { return mj_versionString(); }

}  // namespace lithe::bench
