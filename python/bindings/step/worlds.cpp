#include "python/bindings/step/worlds.h"

#include <fmt/format.h>

#include "lithe/core/check.h"
#include "lithe/model/parameters.h"

namespace lithe::python {

namespace {

bool is_of_the_model(const StepParameters::Entry& entry) {
  return entry.kind != StepParameters::Entry::Kind::time_step &&
         entry.kind != StepParameters::Entry::Kind::motor_target;
}

}  // namespace

void Worlds::set(const StepParameters& parameters, const MatX& values) {
  const bool same_names = parameters.names() == parameters_.names();
  parameters_ = parameters;
  if (values.size() == 0) {
    values_.resize(0, 0);
    models_.clear();
    return;
  }
  std::vector<int> columns;
  std::vector<std::string> names;
  for (int k = 0; k < parameters.size(); ++k) {
    if (!is_of_the_model(parameters.entries()[k])) continue;
    columns.push_back(k);
    names.push_back(parameters.names()[k]);
  }
  const MatX before = values_;
  values_ = values;
  if (names.empty()) {
    models_.clear();
    return;
  }
  const bool fresh = models_.empty() || !same_names;
  if (fresh) models_.assign(size_, base_);
  for (int i = 0; i < size_; ++i) {
    if (!fresh && values.row(i) == before.row(i)) continue;
    const VecX row = values.row(i)(columns);
    try {
      set_parameters(models_[i], names, row);
    } catch (const Error& error) {
      // Some worlds have their new numbers and some do not: none are kept.
      models_.clear();
      values_.resize(0, 0);
      throw Error(fmt::format("world {}: {}", i, error.what()));
    }
  }
}

StepOptions Worlds::options(int i, const StepOptions& of_all) const {
  StepOptions options = of_all;
  if (values_.size() == 0) return options;
  for (int k = 0; k < parameters_.size(); ++k) {
    if (parameters_.entries()[k].kind == StepParameters::Entry::Kind::time_step) options.time_step = values_(i, k);
  }
  return options;
}

void Worlds::adjust(int i, Control& control) const {
  if (values_.size() == 0) return;
  for (int k = 0; k < parameters_.size(); ++k) {
    const StepParameters::Entry& entry = parameters_.entries()[k];
    if (entry.kind == StepParameters::Entry::Kind::motor_target && entry.index < control.motor_targets.size()) {
      control.motor_targets[entry.index] = values_(i, k);
    }
  }
}

RowsIn::RowsIn(const OptionalArray& array, const char* name, Eigen::Index rows, Eigen::Index columns)
    : columns_(columns) {
  if (!array) return;
  view_ = array->view(name);
  const std::vector<Eigen::Index> all = {rows, columns}, one = {columns};
  one_for_all_ = view_.shape == one;
  if (view_.shape != all && !one_for_all_) {
    throw nb::value_error(fmt::format("{}: expected shape {}, or {} for all, got {}", name, shape_text(all),
                                      shape_text(one), shape_text(view_.shape))
                              .c_str());
  }
  if (!view_.data) throw nb::value_error(fmt::format("{}: has no memory", name).c_str());
}

}  // namespace lithe::python
