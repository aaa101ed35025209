#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/lithe/held_motion.h"
#include "lithe/step/gradcheck.h"

namespace lithe::cli {

// How derivatives and differences of many steps compared, and how to say so.
//
// A sample counts as compared where nothing was in the way (GradcheckResult::comparable) and half of its columns or more were compared.
class GradcheckReport {
 public:
  // `repeat` is the command that checked this scene, without the choice of a sample.
  GradcheckReport(std::string scene, const Model& model, std::uint64_t seed, double tolerance, std::string repeat);

  // Of how many parameters each sample was differentiated by how many.
  void set_parameters(long per_sample, long all);
  void set_settling(const HeldMotion::Settling& settling) { settling_ = settling; }
  // `parameters` are the names that the sample was differentiated by; `trouble` says why it cannot be compared, if it cannot.
  void add(long sample, const GradcheckResult& result, const std::vector<std::string>& parameters,
           const std::string& trouble);
  enum class End { all_done, out_of_time, interrupted };
  void finish(long samples_wanted, End end, double seconds);

  std::string text() const;
  std::string json() const;

  // Too little was compared to say anything: less than 80 % of the samples, or there were none.
  enum class Verdict { good, wrong, too_little };
  Verdict verdict() const;
  std::string reason() const;  // for a verdict that is not good, in a line

  bool interrupted() const { return end_ == End::interrupted; }
  long samples() const { return samples_; }
  long compared() const { return compared_; }
  long within_tolerance() const { return within_tolerance_; }
  double seconds() const { return seconds_; }
  std::optional<double> max_error() const;  // nothing where nothing was compared
  // "2 with targets dropped, 1 at a tie (sample 3: at a tie: lower limit of elbow)"; empty where all were compared.
  std::string left_out_text() const;

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

  // A sample that was not compared.
  struct LeftOut {
    long sample;
    std::string why;
  };

  std::optional<double> median_error() const;
  std::string reproduction(long sample) const;
  std::string block_table() const;
  std::string sample_text() const;
  std::string settling_text() const;
  std::string switch_text() const;
  std::string worst_text() const;

  std::string scene_, repeat_;
  int bodies_, dofs_;
  std::uint64_t seed_;
  double tolerance_;
  long parameters_ = 0, all_parameters_ = 0;
  std::optional<HeldMotion::Settling> settling_;
  long samples_wanted_ = 0, samples_ = 0, compared_ = 0, within_tolerance_ = 0;
  End end_ = End::all_done;
  double seconds_ = 0;
  // Samples that were not compared, by their reason; one may have several.
  long tied_ = 0, targets_dropped_ = 0, unpolished_ = 0, unsolved_ = 0, diverged_ = 0, singular_ = 0,
       mostly_switched_ = 0;
  std::vector<LeftOut> left_out_;
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
