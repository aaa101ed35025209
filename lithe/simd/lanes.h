#pragma once

#include <algorithm>
#include <cstddef>
#include <new>
#include <vector>

#include "lithe/simd/pack.h"

namespace lithe {

// Memory that starts on a cache line, whatever Eigen's or the consumer's own alignment is.
template <class T>
struct CacheAligned {
  using value_type = T;
  CacheAligned() = default;
  template <class U>
  explicit CacheAligned(const CacheAligned<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{64})); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, std::align_val_t{64}); }
  friend bool operator==(const CacheAligned&, const CacheAligned&) { return true; }
};

using AlignedBuffer = std::vector<double, CacheAligned<double>>;

// `Rows` numbers for each slot (a slot is a place for one DoF), stored so that four neighbouring slots make
// Packs: group by group, in each group row by row, in each row the four slots. All of a group's packs sit
// side by side, so a kernel that works on one group touches a few consecutive cache lines.
template <int Rows>
class Lanes {
 public:
  // Sets the number of slots (a multiple of kLanes). New content is zero; the same size keeps content.
  void resize(int slots) {
    const std::size_t size = static_cast<std::size_t>(slots) * Rows;
    if (data_.size() != size) data_.assign(size, 0.0);
  }
  // The same, with all content zero.
  void resize_zero(int slots) {
    resize(slots);
    set_zero();
  }
  void set_zero() { std::fill(data_.begin(), data_.end(), 0.0); }
  int slots() const { return static_cast<int>(data_.size()) / Rows; }

  // The pack of `row` for the four slots that start at `slot`, a multiple of kLanes.
  const Pack& pack(int row, int slot) const { return as_pack(&data_[offset(row, slot)]); }
  Pack& pack(int row, int slot) { return as_pack(&data_[offset(row, slot)]); }

  // With one row: the numbers of all slots, one after the other.
  const double* data() const { return data_.data(); }
  double* data() { return data_.data(); }

  // A slot's number of row 0; the other rows follow, kLanes apart.
  const double* rows_of(int slot) const { return data_.data() + offset(0, slot); }

  double at(int row, int slot) const { return data_[offset(row, slot)]; }
  double& at(int row, int slot) { return data_[offset(row, slot)]; }

 private:
  // All in size_t, so that a constant row becomes part of the instruction's address.
  static std::size_t offset(int row, int slot) {
    const auto lane = static_cast<std::size_t>(slot) % kLanes;
    return (static_cast<std::size_t>(slot) - lane) * Rows + lane + static_cast<std::size_t>(row) * kLanes;
  }
  AlignedBuffer data_;
};

}  // namespace lithe
