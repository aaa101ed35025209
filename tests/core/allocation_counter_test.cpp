#include "tests/support/allocation_counter.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "lithe/core/eigen.h"
#include "lithe/simd/lanes.h"

namespace lithe::test {
namespace {

// Keeps the optimiser from leaving an allocation out.
void use(const void* pointer) { asm volatile("" : : "g"(pointer) : "memory"); }

template <class Action>
long allocations_of(Action action) {
  const AllocationGuard guard;
  action();
  return guard.count();
}

class AllocationCounter : public testing::Test {
  void SetUp() override {
    if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
  }
};

TEST_F(AllocationCounter, CountsNothingWhereNothingIsAllocated) {
  VecX x = VecX::Ones(100);
  EXPECT_EQ(allocations_of([&] { x *= 2; }), 0);
}

TEST_F(AllocationCounter, CountsNewAndMalloc) {
  EXPECT_EQ(allocations_of([] { use(std::make_unique<int>(3).get()); }), 1);
  EXPECT_EQ(allocations_of([] {
              void* p = std::malloc(10);
              use(p);
              std::free(p);
            }),
            1);
}

TEST_F(AllocationCounter, CountsEigenAndAlignedBuffers) {
  EXPECT_EQ(allocations_of([] { use(VecX(100).data()); }), 1);
  EXPECT_EQ(allocations_of([] { use(AlignedBuffer(100).data()); }), 1);
}

TEST_F(AllocationCounter, CountsGrowth) {
  std::vector<int> numbers(10);
  EXPECT_GE(allocations_of([&] { numbers.resize(1000); }), 1);
}

TEST_F(AllocationCounter, CountsOtherThreads) {
  EXPECT_GE(allocations_of([] { std::thread([] { use(VecX(100).data()); }).join(); }), 1);
}

}  // namespace
}  // namespace lithe::test
