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

// How many of fifty calls allocate, after two. A thread that has had nothing to do so far, as on a busy machine, makes its workspaces when it gets
// something: each kind of work, on each thread, once.
template <class Work>
int calls_that_allocate(Work work) {
  work();
  work();
  int count = 0;
  for (int i = 0; i < 50; ++i) {
    const AllocationGuard guard;
    work();
    if (guard.count() > 0) ++count;
  }
  return count;
}

}  // namespace lithe::test
