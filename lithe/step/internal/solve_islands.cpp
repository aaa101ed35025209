#include "lithe/step/internal/solve_islands.h"

#include <algorithm>
#include <memory>

#include "lithe/contact/correction_energy.h"
#include "lithe/step/internal/step_tape.h"

namespace lithe::internal {

namespace {

// Fewer are solved before another thread is awake.
constexpr std::size_t kRowsWorthThreads = 400;
// From here on the time that an island takes grows with its rows, below with their square.
constexpr int kRowsOfSparseIslands = 300;

// Adds an island's report to the status of the step.
void count_stage(const LcpReport& report, StepStatus& status) {
  switch (report.stage) {
    case LcpStage::none: break;
    case LcpStage::guess: ++status.guessed; break;
    case LcpStage::follow: ++status.followed; break;
    case LcpStage::active_set: ++status.active_set; break;
    case LcpStage::path: ++status.path; break;
    case LcpStage::dantzig:
    case LcpStage::gauss_seidel: ++status.other; break;
    case LcpStage::unsolved: break;
  }
  if (!report.solved()) ++status.unsolved;
  status.flags = status.flags | report.flags;
  status.residual = std::max(status.residual, report.residual);
  status.factorizations += report.factorizations;
  status.events += report.events;
}

// What one island's solution is made of.
struct IslandRows {
  LcpGuess guess;
  std::span<double> f, w;
  std::span<RowMode> modes;
};

// Solves an island by what suits it: with A, by algebra over trees, or by sweeps. Marks the targets that were dropped.
LcpReport solve_island(const DofTree& tree, const StepRecord& record, ContactProblem& problem, int island,
                       const IslandRows& rows) {
  const LcpOptions& options = record.options.lcp;
  IslandWorkspace& work = island_workspace();
  LcpReport report;
  if (problem.A_start[island] >= 0) {
    report = solve_lcp(problem.lcp(island), options, rows.guess, work.lcp, rows.f, rows.w, rows.modes);
  } else if (options.method == LcpMethod::direct) {
    work.forms.compute(tree, problem, island);
    report = solve_lcp(work.forms.lcp(problem, island), options, rows.guess, work.lcp, rows.f, rows.w, rows.modes);
  } else {
    return solve_by_sweeps(problem, island, options, work.sweeps, rows.f, rows.w, rows.modes);
  }
  if (has(report.flags, LcpFlag::targets_dropped)) {
    std::ranges::copy(work.lcp.dropped_targets(),
                      problem.target_dropped.begin() + problem.islands.islands()[island].first_row);
  }
  return report;
}

// Whether the answer was what had been guessed: then so it may be the next time.
bool is_steady(const IslandRows& rows, const LcpReport& report) {
  return !has(report.flags, LcpFlag::targets_dropped) && report.solved() &&
         std::ranges::equal(rows.guess.modes, rows.modes);
}

// Solves again with smaller targets where correction would add too much energy, and without them if that was not enough. True
// where it did; the report stays that of the solver.
bool limit_correction(const DofTree& tree, const StepRecord& record, ContactProblem& problem, int island,
                      const IslandRows& rows, double gravity_step, LcpReport& report) {
  double gain = energy_gain(problem, island, rows.f, rows.w);
  if (!(gain > 0)) return false;  // the usual case
  const double allowance = energy_allowance(problem, island, record.tape().island_masses[island], gravity_step);
  bool reduced = false;
  for (int attempt = 0; gain > allowance && attempt < 2; ++attempt) {
    // The gain falls at least in proportion to the targets, as long as no row changes its mode.
    if (!reduce_correction(problem, island, attempt == 0 ? allowance / gain : 0)) break;  // a bounce, not a correction
    reduced = true;
    report = solve_island(tree, record, problem, island, rows);
    gain = energy_gain(problem, island, rows.f, rows.w);
  }
  return reduced;
}

// Solves the islands of one problem.
class IslandSolver {
 public:
  IslandSolver(const Model& model, StepRecord& record, StepWorkspace& work, bool guessing)
      : model_(model),
        record_(record),
        work_(work),
        problem_(work.stages.problem),
        guessing_(guessing),
        gravity_step_(model.gravity().norm() * record.options.time_step) {}

  // Writes what is the island's own and nothing else.
  void solve(int i) {
    const Island& island = problem_.islands.islands()[i];
    const auto part = [&](auto& all) { return std::span(all).subspan(island.first_row, island.row_count); };
    IslandRows rows = {{}, part(record_.f), part(record_.w), part(record_.modes)};
    if (guessing_) {
      rows.guess = LcpGuess(part(work_.guess.modes), part(work_.guess.impulses), work_.guess.steady[i] != 0,
                            work_.guess.ridges[i]);
    }
    LcpReport& report = record_.reports[i];
    report = solve_island(model_.tree(), record_, problem_, i, rows);
    // Where rows are folded, what correction adds is asked of all of them (FoldedMotors).
    if (work_.folded.empty()) {
      work_.corrected_less[i] = limit_correction(model_.tree(), record_, problem_, i, rows, gravity_step_, report);
    }
    work_.steady[i] = is_steady(rows, report);
  }

  // Each thread gets islands that follow one another and take about as long as those of any other.
  void solve_all(ThreadPool& pool) {
    const int count = problem_.island_count(), threads = std::min(pool.size(), count);
    double sum = 0;
    for (const Island& island : problem_.islands.islands()) sum += cost_of(island);
    std::vector<int>& first = work_.first_island;
    first.assign(threads + 1, count);
    double done = 0;
    for (int i = 0, thread = 0; i < count; ++i) {
      while (thread < threads && done >= sum * thread / threads) first[thread++] = i;
      done += cost_of(problem_.islands.islands()[i]);
    }
    pool.parallel_for(threads, [&](int thread, int) {
      for (int i = first[thread]; i < first[thread + 1]; ++i) solve(i);
    });
  }

 private:
  // How long an island takes, compared with others.
  static double cost_of(const Island& island) {
    return static_cast<double>(island.row_count) * std::min(island.row_count, kRowsOfSparseIslands);
  }

  const Model& model_;
  StepRecord& record_;
  StepWorkspace& work_;
  ContactProblem& problem_;
  bool guessing_;
  double gravity_step_;
};

// The threads to share islands, or none.
ThreadPool* pool_for(const ContactProblem& problem, int threads, StepWorkspace& work) {
  const bool few = problem.island_count() < 2 || problem.rows.size() < kRowsWorthThreads;
  if (threads == 1 || few) return nullptr;
  if (!work.pool || work.pool_threads != threads) {
    work.pool = std::make_unique<ThreadPool>(threads);
    work.pool_threads = threads;
  }
  return work.pool.get();
}

}  // namespace

void weigh_islands(const DofTree& tree, const MassMatrix& M, const Islands& islands, std::vector<double>& masses) {
  masses.assign(islands.islands().size(), 0.0);
  for (std::size_t t = 0; t < tree.trees.size(); ++t) {
    const int island = islands.island_of(static_cast<int>(t));
    if (island >= 0) masses[island] += M.I.at(0, tree.trees[t].first_slot);  // of the whole tree
  }
}

void solve_islands(const Model& model, StepRecord& record, StepWorkspace& work, const WarmStart* guess) {
  ContactProblem& problem = work.stages.problem;
  const std::size_t row_count = problem.rows.size();
  record.f.resize(row_count);
  record.w.resize(row_count);
  record.modes.resize(row_count);
  record.reports.resize(problem.island_count());
  const bool guessing = guess != nullptr && !guess->empty() && !record.options.lcp.cold;
  if (guessing) RowMemory::guess(*guess, problem, work.guess);
  work.steady.assign(problem.island_count(), 0);
  work.corrected_less.assign(problem.island_count(), 0);
  problem.target_dropped.assign(row_count, 0);
  record.status.contacts = static_cast<int>(record.contacts.contacts.size());
  record.status.rows = static_cast<int>(row_count);
  record.status.islands = problem.island_count();
  weigh_islands(model.tree(), work.stages.M, problem.islands, record.tape().island_masses);
  IslandSolver solver(model, record, work, guessing);
  if (ThreadPool* pool = pool_for(problem, record.options.threads, work)) {
    solver.solve_all(*pool);
  } else {
    for (int i = 0; i < problem.island_count(); ++i) solver.solve(i);
  }
  for (int i = 0; i < problem.island_count(); ++i) {
    if (work.corrected_less[i]) record.status.flags = record.status.flags | LcpFlag::targets_dropped;
    count_stage(record.reports[i], record.status);
  }
}

}  // namespace lithe::internal
