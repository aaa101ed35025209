#pragma once

#include <functional>
#include <string>
#include <vector>

namespace lithe::cli {

// What the derivatives of one step take, by three ways: the paper's table (Werling et al. 2021, appendix, rows "All"), and the same
// measured here.
struct PaperWorld {
  // As the paper gives them: analytic; by central differences, and how many times as long; by Ridders' method, and how many times as long.
  struct Given {
    const char *analytic, *central, *central_ratio, *ridders, *ridders_ratio;
  };
  const char* name;   // in the paper
  const char* scene;  // of the catalogue
  Given paper;
  int dofs = 0, contacts = 0;
  double analytic = 0, central = 0, ridders = 0;  // here, s
};

// Asks `keep_going(share that is done)` now and then; false stops, and the worlds are those that are done.
std::vector<PaperWorld> measure_paper_worlds(int rounds, const std::function<bool(double)>& keep_going);

std::string paper_table(const std::vector<PaperWorld>& worlds);

}  // namespace lithe::cli
