#pragma once

#include <memory>

#include "lithe/step/step_record.h"

namespace lithe::python {

// A StepRecord with the model that its step was taken with, so that derivatives need no second one. Records are large and warm up
// with their first step: one that Python lets go of is kept, and is the next one that is given out for its model.
class Record {
 public:
  explicit Record(const Model& model);
  ~Record();
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  StepRecord& operator*() { return *record_; }
  const StepRecord& operator*() const { return *record_; }
  StepRecord* operator->() { return record_.get(); }
  const StepRecord* operator->() const { return record_.get(); }

 private:
  std::unique_ptr<StepRecord> record_;
};

}  // namespace lithe::python
