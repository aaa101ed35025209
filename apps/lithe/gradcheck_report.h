#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "lithe/step/gradcheck.h"

namespace lithe::cli {

// How derivatives and differences of many steps compared, and how to say so.
class GradcheckReport {
 public:
  GradcheckReport(std::string scene, int bodies, int dofs, std::uint64_t seed, double tolerance);

  // `parameters` are the names that the sample was differentiated by.
  void add(long sample, const GradcheckResult& result, const std::vector<std::string>& parameters);
  void finish(long samples_wanted, double seconds);

  std::string text() const;
  std::string json() const;

  bool interrupted() const { return samples_ < samples_wanted_; }
  double max_error() const { return worst_.error; }
  // Empty if all is well, else what is not, in a line.
  std::string failure() const;

 private:
  // The largest error, and where it is.
  struct Worst {
    double error = 0;
    long sample = -1;
    GradcheckBlock block = GradcheckBlock::qnext_q;
    BlockCheck check = {};
    std::string parameter;
  };
  struct Block {
    std::vector<double> errors;  // one per sample
    double most = 0;
    long sample = -1;  // of the largest
  };

  double median_error() const;
  std::string reproduction(long sample) const;
  std::string block_table() const;
  std::string left_out_text() const;
  std::string switch_text() const;
  std::string worst_text() const;

  std::string scene_;
  int bodies_, dofs_;
  std::uint64_t seed_;
  double tolerance_;
  long samples_wanted_ = 0, samples_ = 0, compared_ = 0;
  double seconds_ = 0;
  // Samples that were not compared, by their reason; one may have several.
  long tied_ = 0, targets_dropped_ = 0, unpolished_ = 0, unsolved_ = 0, diverged_ = 0;
  // Samples in which some column met a change of mode, all together and by its kind.
  long switched_ = 0;
  std::array<long, 6> switches_ = {};
  long columns_ = 0, switched_columns_ = 0, unsettled_ = 0, refused_ = 0;
  std::array<Block, kGradcheckBlocks> blocks_;
  std::vector<double> errors_;  // the largest of each sample that was compared
  Worst worst_;
  double vjp_error_ = 0, jvp_error_ = 0;
  long product_sample_ = -1;
};

}  // namespace lithe::cli
