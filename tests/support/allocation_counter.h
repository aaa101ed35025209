#pragma once

namespace lithe::test {

// Counts the heap allocations of the whole process, all threads, since it was made:
//
//   if (!AllocationGuard::supported()) GTEST_SKIP() << AllocationGuard::kWhyNot;
//   const AllocationGuard guard;
//   step(...);
//   const long allocations = guard.count();
//   EXPECT_EQ(allocations, 0);
//
// It sits below everything: malloc and its relatives are replaced, and operator new, std::vector and Eigen all end
// there. A sanitizer brings its own malloc, so there (and without glibc) nothing can be counted.
class AllocationGuard {
 public:
  static constexpr char kWhyNot[] = "allocations cannot be counted here: malloc belongs to a sanitizer";

  AllocationGuard();
  static bool supported();
  long count() const;

 private:
  long start_;
};

}  // namespace lithe::test
