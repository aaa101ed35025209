#include "tests/support/allocation_counter.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LITHE_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define LITHE_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef LITHE_COUNTS_ALLOCATIONS
#ifdef __GLIBC__
#define LITHE_COUNTS_ALLOCATIONS 1
#else
#define LITHE_COUNTS_ALLOCATIONS 0
#endif
#endif

namespace lithe::test {

namespace {

std::atomic<long> allocation_count{0};

}  // namespace

AllocationGuard::AllocationGuard() : start_(allocation_count) {}

bool AllocationGuard::supported() { return LITHE_COUNTS_ALLOCATIONS != 0; }

long AllocationGuard::count() const { return allocation_count - start_; }

}  // namespace lithe::test

#if LITHE_COUNTS_ALLOCATIONS

// glibc's own functions under their second names; free() takes what they return, so it stays as it is.
extern "C" {

void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) noexcept {
  ++lithe::test::allocation_count;
  return __libc_malloc(size);
}

void* calloc(std::size_t count, std::size_t size) noexcept {
  ++lithe::test::allocation_count;
  return __libc_calloc(count, size);
}

void* realloc(void* old, std::size_t size) noexcept {
  ++lithe::test::allocation_count;
  return __libc_realloc(old, size);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept {
  ++lithe::test::allocation_count;
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept { return memalign(alignment, size); }

int posix_memalign(void** out, std::size_t alignment, std::size_t size) noexcept {
  *out = memalign(alignment, size);
  return *out == nullptr ? ENOMEM : 0;
}

}  // extern "C"

#endif
