#include "lithe/optimize/methods.h"

#include <algorithm>
#include <iterator>

#include "lithe/core/check.h"
#include "lithe/core/internal/suggest.h"
#include "lithe/optimize/ddp.h"
#include "lithe/optimize/hybrid.h"
#include "lithe/optimize/multiple_shooting.h"
#include "lithe/optimize/single_shooting.h"
#include "lithe/optimize/stochastic_search.h"

namespace lithe {

using namespace internal;

namespace {

// A solver's options with the part that all share.
template <class Options>
Options shared(const MethodOptions& options) {
  Options out;
  static_cast<SolveOptions&>(out) = options;
  return out;
}

// Single shooting with one of its methods, and the caller's rate where there is one.
Solution shoot(SingleShootingOptions::Method method, const Problem& problem, const Plan& initial,
               const MethodOptions& options) {
  auto shooting = shared<SingleShootingOptions>(options);
  shooting.method = method;
  if (options.rate > 0) shooting.rate = options.rate;
  return single_shooting(problem, initial, shooting);
}

// Stochastic search with one of its methods.
Solution search(StochasticSearchOptions::Method method, const Problem& problem, const Plan& initial,
                const MethodOptions& options) {
  auto stochastic = shared<StochasticSearchOptions>(options);
  stochastic.method = method;
  return stochastic_search(problem, initial, stochastic);
}

// Multiple shooting. A shot has to end where a knot ends, so its length is rounded up to whole knots.
Solution shoot_in_parts(const Problem& problem, const Plan& initial, const MethodOptions& options) {
  auto multiple = shared<MultipleShootingOptions>(options);
  const int shot = options.shot > 0 ? options.shot : multiple.shot;
  multiple.shot = (shot + problem.hold - 1) / problem.hold * problem.hold;
  return multiple_shooting(problem, initial, multiple);
}

// A line of the table: what a command line calls the solver, and how it is called with the options that all share.
struct Method {
  std::string_view name;
  Solution (*solve)(const Problem& problem, const Plan& initial, const MethodOptions& options);
};

using Shooting = SingleShootingOptions::Method;
using Search = StochasticSearchOptions::Method;

constexpr Method kMethods[] = {
    {"ddp", [](const Problem& p, const Plan& i, const MethodOptions& o) { return ddp(p, i, shared<DdpOptions>(o)); }},
    {"shooting",
     [](const Problem& p, const Plan& i, const MethodOptions& o) { return shoot(Shooting::lbfgs, p, i, o); }},
    {"adam", [](const Problem& p, const Plan& i, const MethodOptions& o) { return shoot(Shooting::adam, p, i, o); }},
    {"descent", [](const Problem& p, const Plan& i,
                   const MethodOptions& o) { return shoot(Shooting::gradient_descent, p, i, o); }},
    {"multiple", shoot_in_parts},
    {"cem", [](const Problem& p, const Plan& i, const MethodOptions& o) { return search(Search::cem, p, i, o); }},
    {"mppi", [](const Problem& p, const Plan& i, const MethodOptions& o) { return search(Search::mppi, p, i, o); }},
    {"hybrid",
     [](const Problem& p, const Plan& i, const MethodOptions& o) { return hybrid(p, i, shared<HybridOptions>(o)); }},
};

}  // namespace

std::vector<std::string> method_names() {
  std::vector<std::string> names;
  for (const Method& method : kMethods) names.emplace_back(method.name);
  return names;
}

Solution solve_by(std::string_view method, const Problem& problem, const Plan& initial, const MethodOptions& options) {
  const auto found = std::ranges::find(kMethods, method, &Method::name);
  if (found == std::end(kMethods)) {
    std::vector<std::string_view> known;
    for (const Method& each : kMethods) known.push_back(each.name);
    LITHE_CHECK(false, "there is no method named '{}'{}", method, did_you_mean(method, known));
  }
  return found->solve(problem, initial, options);
}

}  // namespace lithe
