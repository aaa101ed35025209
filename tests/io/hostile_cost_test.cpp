#include <fmt/format.h>
#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lithe/io/load.h"
#include "tests/io/hostile_files.h"
#include "tests/support/allocation_counter.h"

// None of the most expensive files that LoadLimits::untrusted() admits takes a second or 512 MB, whether it is read or refused in the end.
// Each is loaded in a process of its own, whose processor time and peak memory count. Five seconds are allowed, for processors differ.

namespace lithe::test {
namespace {

struct Limits {
  double seconds, megabytes;
};

Limits limits() {
  if (kDefaultLimits) return {60, 8192};
  // Sanitizers check every access and keep what was freed for a while: their builds take several times as long and as much, and this
  // process, which the loading one is a copy of, is large itself.
  if (!AllocationGuard::supported()) return {75, 2048};
#ifdef NDEBUG
  return {5, 512};
#else
  return {75, 512};  // without optimisation
#endif
}

struct Cost {
  double seconds = 0, megabytes = 0;
  int exit_status = -1;
};

// Of a process that loads a file. A sanitizer that found something exits with 1.
constexpr int kLoaded = 0, kRefused = 3;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

// Runs an action in a process of its own; it gives the exit status.
template <class Action>
Cost cost_of(Action action) {
  const pid_t child = fork();
  if (child == 0) _exit(action());
  int status = -1;
  rusage use = {};
  EXPECT_EQ(wait4(child, &status, 0, &use), child);
  EXPECT_TRUE(WIFEXITED(status)) << "it ended by signal " << WTERMSIG(status);
  return {.seconds = seconds_of(use.ru_utime) + seconds_of(use.ru_stime),
          .megabytes = static_cast<double>(use.ru_maxrss) / 1024,
          .exit_status = WEXITSTATUS(status)};
}

int load_and_forget(const std::string& path) {
  try {
    LoadOptions options;
    options.limits = kLimits;
    return load(path, options).model.bodies().empty() ? 2 : kLoaded;
  } catch (const Error& error) {
    fmt::print(stderr, "refused: {:.200}\n", error.what());
    return kRefused;
  }
}

class HostileCost : public testing::TestWithParam<HostileFile> {};

TEST_P(HostileCost, IsLittle) {
  const Folder folder;
  // Written by a process of its own too, so that memory that this one has and keeps is not there for the load to use.
  const Cost writing = cost_of([&] {
    GetParam().write(folder);
    return 0;
  });
  ASSERT_EQ(writing.exit_status, 0);
  const Cost cost = cost_of([&] { return load_and_forget(folder.model()); });
  fmt::print("{}: {:.3f} s, {:.0f} MB\n", GetParam().name, cost.seconds, cost.megabytes);
  EXPECT_EQ(cost.exit_status, GetParam().loads ? kLoaded : kRefused);
  EXPECT_LT(cost.seconds, limits().seconds);
  EXPECT_LT(cost.megabytes, limits().megabytes);
}

const auto kName = [](const auto& test) { return std::string(test.param.name); };
INSTANTIATE_TEST_SUITE_P(Meshes, HostileCost, testing::ValuesIn(hostile_meshes()), kName);
INSTANTIATE_TEST_SUITE_P(Models, HostileCost, testing::ValuesIn(hostile_models()), kName);

}  // namespace
}  // namespace lithe::test
