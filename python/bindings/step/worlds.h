#pragma once

#include <vector>

#include "lithe/step/step_parameters.h"
#include "lithe/step/step_record.h"
#include "python/bindings/values/arrays.h"

namespace lithe::python {

// Many copies of one model that differ in some of their numbers.
class Worlds {
 public:
  Worlds(const Model& model, int size) : base_(model), size_(size) {}

  // Gives world i the numbers values[i] (size × parameters); none: all worlds are the model itself. Numbers that are no model's (the time
  // step, the motors' targets) come into effect through options() and control().
  void set(const StepParameters& parameters, const MatX& values);

  // Worlds of another model.
  void set_base(const Model& model) {
    base_ = model;
    models_.clear();
    values_.resize(0, 0);
    parameters_ = {};
  }

  const Model& model(int i) const { return models_.empty() ? base_ : models_[i]; }
  const Model& base() const { return base_; }
  int size() const { return size_; }
  StepOptions options(int i, const StepOptions& of_all) const;
  void adjust(int i, Control& control) const;
  const StepParameters& parameters() const { return parameters_; }

 private:
  Model base_;
  int size_;
  std::vector<Model> models_;
  StepParameters parameters_;
  MatX values_;  // size × parameters, as set
};

// The numbers of the items that `is_one` says yes to.
template <class Items, class Predicate>
std::vector<int> indices_of(const Items& items, Predicate is_one) {
  std::vector<int> indices;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (is_one(items[i])) indices.push_back(static_cast<int>(i));
  }
  return indices;
}

// The rows of an array (size, columns), or one row for all: returns a pointer to row i.
class RowsIn {
 public:
  RowsIn() = default;
  RowsIn(const OptionalArray& array, const char* name, Eigen::Index rows, Eigen::Index columns);
  bool empty() const { return !view_.data; }
  Eigen::Map<const VecX> row(Eigen::Index i) const {
    return {view_.data + (one_for_all_ ? 0 : i * columns_), columns_};
  }

 private:
  ArrayIn::View view_;
  Eigen::Index columns_ = 0;
  bool one_for_all_ = false;
};

}  // namespace lithe::python
