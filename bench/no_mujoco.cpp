// In place of mujoco_world.cpp where MuJoCo was not found.
#include "bench/mujoco_world.h"
#include "lithe/core/check.h"

namespace lithe::bench {

namespace {

[[noreturn]] void refuse() {
  throw Error("MuJoCo was not found when this was built (tools/setup.sh bench installs it)");
}

}  // namespace

struct MujocoWorld::Data {};

MujocoWorld::MujocoWorld(std::unique_ptr<Data> data) : data_(std::move(data)) {}
MujocoWorld::MujocoWorld(MujocoWorld&&) noexcept = default;
MujocoWorld& MujocoWorld::operator=(MujocoWorld&&) noexcept = default;
MujocoWorld::~MujocoWorld() = default;

bool have_mujoco() { return false; }
std::string mujoco_version() { refuse(); }
MujocoWorld MujocoWorld::from_file(const std::string&) { refuse(); }
MujocoWorld MujocoWorld::from_text(const std::string&) { refuse(); }
MujocoWorld MujocoWorld::another() const { refuse(); }
int MujocoWorld::nq() const { refuse(); }
int MujocoWorld::nv() const { refuse(); }
int MujocoWorld::nu() const { refuse(); }
double MujocoWorld::time_step() const { refuse(); }
void MujocoWorld::start(const VecX&, const VecX&) { refuse(); }
void MujocoWorld::set_controls(const VecX&) { refuse(); }
void MujocoWorld::set_forces(const VecX&) { refuse(); }
void MujocoWorld::step() { refuse(); }
MujocoWorld::StepState MujocoWorld::state() const { refuse(); }
void MujocoWorld::set_state(const StepState&) { refuse(); }
void MujocoWorld::set_position_and_velocity(const VecX&, const VecX&) { refuse(); }
void MujocoWorld::kinematics() { refuse(); }
void MujocoWorld::inverse_dynamics() { refuse(); }
void MujocoWorld::mass_matrix_and_factor() { refuse(); }
void MujocoWorld::forward_dynamics() { refuse(); }
void MujocoWorld::collide() { refuse(); }
MatX MujocoWorld::mass_matrix() const { refuse(); }
double MujocoWorld::drift() const { refuse(); }
int MujocoWorld::contacts() const { refuse(); }
int MujocoWorld::rows() const { refuse(); }
int MujocoWorld::iterations() const { refuse(); }
bool MujocoWorld::diverged() const { refuse(); }
bool MujocoWorld::overflowed() const { refuse(); }

}  // namespace lithe::bench
