#pragma once

#include <memory>
#include <string>
#include <vector>

#include "lithe/scenes/scene.h"

struct mjModel_;
struct mjData_;

namespace lithe::bench {

// A scene in MuJoCo, with its default settings (Newton's method, pyramidal friction cones, its own warm start), stepped
// from a few neighbouring states in turn.
class MujocoWorkload {
 public:
  // Translates the scene, checks the translation (compare_models), lets it run for `settling` steps and keeps the states
  // of the `count` steps after. Throws if MuJoCo refuses the model, or if it differs from ours.
  MujocoWorkload(const Scene& scene, int max_contacts, int settling, int count);
  ~MujocoWorkload();
  MujocoWorkload(const MujocoWorkload&) = delete;
  MujocoWorkload& operator=(const MujocoWorkload&) = delete;

  // One step from the state whose turn it is.
  void step();

  // Means over the states.
  double contacts() const { return contacts_; }
  double rows() const { return rows_; }
  double iterations() const { return iterations_; }
  // How far a body has moved from where the scene starts: something that stands has stayed.
  double largest_drift() const { return drift_; }

 private:
  struct StepState {
    std::vector<double> qpos, qvel, warm_start;
  };

  void load(const std::string& mjcf);
  void compare_models(const Scene& scene) const;
  void set(const StepState& state);
  StepState get() const;

  std::shared_ptr<mjModel_> model_;
  std::shared_ptr<mjData_> data_;
  std::vector<StepState> states_;
  std::size_t next_ = 0;
  double contacts_ = 0, rows_ = 0, iterations_ = 0, drift_ = 0;
};

std::string mujoco_version();

}  // namespace lithe::bench
