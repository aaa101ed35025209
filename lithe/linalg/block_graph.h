#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace lithe::internal {

// Which blocks of a factored problem meet, in which order they are eliminated, and where the blocks of the factor lie.
//
// Minimum degree (Tinney & Walker 1967), degrees counted in coordinates; among equals the one that waits for the shortest chain of others,
// then the lower number: the order depends on the graph only. A stack is eliminated from both ends in turn, and a processor works on both
// at once. Neighbours are kept as sets of bits, so that one elimination joins sets word by word; a thousand blocks take less than a
// millisecond.
class BlockGraph {
 public:
  using Pair = std::pair<int, int>;  // of blocks, the lower number first

  // `pairs`: ascending, each once.
  void analyse(std::span<const int> sizes, std::span<const Pair> pairs);
  // Whether that was analysed last.
  bool is_of(std::span<const int> sizes, std::span<const Pair> pairs) const;

  int size() const { return static_cast<int>(columns_.size()); }  // blocks
  int coordinates() const { return coordinates_; }                // of vectors over all blocks, padded block by block
  std::ptrdiff_t storage() const { return storage_; }             // of the factor's blocks
  double flops() const { return flops_; }                         // multiplications of one symmetric factorisation
  bool has_only_sixes() const { return has_only_sixes_; }         // all blocks have six coordinates

  // A block of the factor is a column-major matrix, its columns padded(rows) apart.
  struct Column {
    int block = 0;
    int size = 0, stride = 0;
    int start = 0;                // of its coordinates in vectors
    std::ptrdiff_t diagonal = 0;  // of the block on the diagonal, and
    std::ptrdiff_t spare = 0;     // room for a second one: its triangular factors are kept apart
    int first = 0, count = 0;     // of the entries below the diagonal
    std::ptrdiff_t first_target = 0;
  };
  // Block (row, column) of the lower triangle, and (column, row) of the upper one.
  struct Entry {
    int row = 0;  // a place in the order, ascending
    std::ptrdiff_t lower = 0, upper = 0;
  };
  const Column& column(int place) const { return columns_[place]; }
  std::span<const Entry> below(const Column& column) const {
    return std::span(entries_).subspan(column.first, column.count);
  }
  // Where the product of the column's entries `a` and `b` goes: block (row of a, row of b).
  std::ptrdiff_t target(const Column& column, int a, int b) const {
    return targets_[column.first_target + static_cast<std::ptrdiff_t>(a) * column.count + b];
  }
  int place(int block) const { return place_[block]; }
  int start_of(int block) const { return columns_[place_[block]].start; }
  // Block (row, column) of blocks that meet.
  std::ptrdiff_t offset(int row_block, int column_block) const {
    return offset_at(place_[row_block], place_[column_block]);
  }

 private:
  void find_order();
  void lay_out();
  std::ptrdiff_t offset_at(int row, int column) const;

  std::vector<int> sizes_;
  std::vector<Pair> pairs_;
  std::vector<Column> columns_;  // in the order of elimination
  std::vector<Entry> entries_;
  std::vector<std::ptrdiff_t> targets_;
  std::vector<int> place_;
  int coordinates_ = 0;
  std::ptrdiff_t storage_ = 0;
  double flops_ = 0;
  bool has_only_sixes_ = false;
  // Workspace.
  std::vector<std::uint64_t> neighbours_;
  std::vector<int> degree_, level_;
};

}  // namespace lithe::internal
