#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "lithe/io/loaded_model.h"
#include "lithe/step/step_record.h"

namespace lithe {

// A loss of states. With each frame, its gradient is carried back through the coming step, contacts included, and the
// viewer draws the result.
struct LiveLoss {
  struct Value {
    double value = 0;
    VecX by_q, by_v;  // nv each
  };
  std::string name;
  std::function<Value(const ConstVecRef& q, const ConstVecRef& v)> evaluate;
};

// What is shown live: a model, where it starts, what it looks like.
struct LiveSubject {
  std::string name;
  Model model;
  State start;
  double time_step = 1e-3;  // s
  StepOptions step = {};    // but for its time step
  VecX motor_targets = {};  // one per motor; empty: motors are off
  std::vector<Visual> visuals = {};
  std::optional<LiveLoss> loss = {};
  std::vector<ExceptedPair> excepted_pairs = {};  // to be listed: the model knows of them
};

// What a viewer can switch to.
struct LiveCatalogue {
  struct Entry {
    std::string name, description;
  };
  std::vector<Entry> entries = {};
  std::function<LiveSubject(const std::string& name)> open = {};  // of an entry
};

}  // namespace lithe
