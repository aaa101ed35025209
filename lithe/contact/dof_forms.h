#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "lithe/contact/touch_space.h"
#include "lithe/simd/lanes.h"

namespace lithe::internal {

struct Patch;

// The rows of one island as forms on DoFs, G = J X with M̂⁻¹ = X Xᵀ, and all of A = G Gᵀ.
//
// A row has numbers for the DoFs of its paths only. Four rows that follow one another make a group, and what they have for the four DoFs of
// a pack is a block, laid out as columns. So 4×4 entries of A are sums over the packs that two groups share, without sums over lanes. Where
// most touches carry few rows each, as joints and closed loops do, this takes a quarter of the time that T Λ Tᵀ takes.
class DofForms {
 public:
  // False where the paths have more packs than can be told apart.
  bool compute(const DofTree& tree, const TouchSpace& space, std::span<const Patch> patches, const double* coefficients,
               int row_count);
  // All of A, and zeros in its padding. Columns are `stride` apart, at least padded(rows).
  void multiply(double* A, int stride) const;

 private:
  using Packs = std::uint64_t;  // a set of the island's packs, the lower ones nearer to the root

  // A row's numbers: those of its packs one after the other, times a factor.
  struct Row {
    Packs packs = 0;
    const double* numbers = nullptr;
    double factor = 1;
  };
  struct Group {
    Packs packs = 0;
    int start = 0;  // of its blocks
  };
  bool find_packs(const DofTree& tree, const TouchSpace& space, std::span<const Patch> patches);
  bool find_packs(const DofTree& tree, const Touch& touch, Packs& packs);
  void add_rows(const DofTree& tree, const TouchSpace& space, const Patch& patch, const double* coefficients);
  void add_side(const DofTree& tree, const TouchSpace& space, const Touch& touch, const double* coefficients,
                int stride, int rows, Packs packs, double* out) const;
  void add_group(const Row* rows, int count);

  std::vector<int> number_of_pack_;  // by slot / kLanes; −1: none
  std::vector<int> packs_;           // slot / kLanes, by number
  std::vector<int> lanes_;           // DoFs in a pack, by number
  std::vector<Packs> packs_of_touch_;
  std::vector<Row> rows_;
  std::vector<Group> groups_;
  AlignedBuffer numbers_;  // of rows that are sums
  AlignedBuffer blocks_;
  std::size_t numbers_used_ = 0, blocks_used_ = 0;
};

}  // namespace lithe::internal
