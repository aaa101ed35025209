#pragma once

#include <algorithm>
#include <string>

#include "lithe/scenes/world.h"

namespace lithe::cli {

// How a simulation went, step by step added up, and how to say so.
class SimulationReport {
 public:
  SimulationReport(std::string scene, const World& world, long steps_wanted);

  void add_step(const World& world, double seconds);
  void finish(const World& world, double seconds, bool interrupted);
  void add_recording(const std::string& path, std::size_t frames, std::size_t bytes);

  std::string text() const;
  std::string json() const;

  bool diverged() const { return diverged_; }
  bool interrupted() const { return interrupted_; }
  long steps() const { return steps_; }
  // "step 17 (t = 0.017 s)"
  std::string last_step() const;

 private:
  // Of a number that every step has one of.
  struct Tally {
    double sum = 0, most = 0;
    void add(double value) {
      sum += value;
      most = std::max(most, value);
    }
  };
  // LCPs, one per island and step, by the stage that answered.
  struct Lcps {
    long guess = 0, followed = 0, active_set = 0, path = 0, other = 0, unsolved = 0;
    long unpolished = 0, targets_dropped = 0;
    long factorizations = 0, events = 0;
    double residual = 0;
    long total() const { return guess + followed + active_set + path + other + unsolved; }
  };

  double mean(const Tally& tally) const { return steps_ > 0 ? tally.sum / static_cast<double>(steps_) : 0; }
  void count(const LcpReport& lcp);
  std::string lcp_text() const;
  std::string outcome_text() const;

  std::string scene_;
  int bodies_, dofs_;
  double time_step_;
  long steps_wanted_;
  long steps_ = 0;
  double simulated_ = 0;  // s
  double wall_ = 0;       // s, of everything
  Tally seconds_;         // of the steps alone
  long slowest_step_ = 0;
  Tally contacts_, rows_, islands_;
  Lcps lcps_;
  double energy_start_, energy_end_ = 0;
  std::string held_;  // the joint of a DoF that nothing resists
  bool diverged_ = false, interrupted_ = false;
  std::string recording_;
  std::size_t frames_ = 0, bytes_ = 0;
};

}  // namespace lithe::cli
