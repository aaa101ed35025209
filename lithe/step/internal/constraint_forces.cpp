#include "lithe/core/check.h"
#include "lithe/dynamics/mass_matrix.h"
#include "lithe/step/internal/recorded_stages.h"
#include "lithe/step/step_record.h"

namespace lithe {

using namespace internal;

VecX constraint_forces(const Model& model, const StepRecord& record) {
  // M̂(v⁺ − v_free) = Jᵀf, without forming J.
  LITHE_CHECK(record.next.v.size() == model.nv(), "this record holds no step of this model");
  VecX forces = VecX::Zero(model.nv());
  if (record.f.empty() || record.status.diverged) return forces;
  const StepStages& stages = mass_stages_of(model, record);
  const VecX change = record.next.v - stages.v_free;
  multiply(model, stages.M, change, forces);
  forces += stages.added_diagonal.cwiseProduct(change);
  return forces / record.options.time_step;
}

}  // namespace lithe
