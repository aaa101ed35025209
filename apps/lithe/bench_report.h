#pragma once

#include <array>
#include <string>
#include <vector>

#include "lithe/step/step_jacobians.h"

namespace lithe::cli {

// The Jacobians that are also timed one by one.
struct TimedBlock {
  const char* title;
  const char* key;
  StepBlocks block;
};
inline constexpr std::array<TimedBlock, 6> kTimedBlocks = {{
    {"∂q⁺/∂q", "qnext_q", StepBlocks::qnext_q},
    {"∂q⁺/∂v", "qnext_v", StepBlocks::qnext_v},
    {"∂q⁺/∂τ", "qnext_tau", StepBlocks::qnext_tau},
    {"∂v⁺/∂q", "vnext_q", StepBlocks::vnext_q},
    {"∂v⁺/∂v", "vnext_v", StepBlocks::vnext_v},
    {"∂v⁺/∂τ", "vnext_tau", StepBlocks::vnext_tau},
}};

// How long one step of a scene and its derivatives take, in µs.
struct BenchResult {
  std::string scene;
  int nv = 0, contacts = 0, rows = 0;
  int rank = 0;                  // of the rows that clamp
  int islands = 0, guessed = 0;  // problems to solve, and how many the warm start has the modes of
  double forward = 0;            // a whole warm step
  double jacobians = 0;          // all six, from its record
  double vjp = 0, jvp = 0;
  double central = 0, ridders = 0;                      // the six Jacobians by differences
  std::array<double, kTimedBlocks.size()> blocks = {};  // each Jacobian alone
};

// What a benchmark has to say: to people, and to programs.
struct BenchReport {
  std::vector<BenchResult> results = {};
  int scenes_wanted = 0;  // more than there are results of: it was interrupted
  int rounds = 0;

  bool interrupted() const { return static_cast<int>(results.size()) < scenes_wanted; }
  std::string text() const;
  std::string json() const;
};

}  // namespace lithe::cli
