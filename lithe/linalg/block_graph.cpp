#include "lithe/linalg/block_graph.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "lithe/core/check.h"
#include "lithe/simd/pack.h"

namespace lithe::internal {

namespace {

// Bits in one word of a set of blocks.
constexpr int kWord = 64;

// Calls visit(b) for the bits b that are set, in ascending order.
template <class Visit>
void for_each_bit(const std::uint64_t* words, int word_count, Visit visit) {
  for (int k = 0; k < word_count; ++k) {
    for (std::uint64_t word = words[k]; word != 0; word &= word - 1) visit(kWord * k + std::countr_zero(word));
  }
}

void set_bit(std::uint64_t* words, int bit) { words[bit / kWord] |= std::uint64_t{1} << (bit % kWord); }
void clear_bit(std::uint64_t* words, int bit) { words[bit / kWord] &= ~(std::uint64_t{1} << (bit % kWord)); }

}  // namespace

bool BlockGraph::is_of(std::span<const int> sizes, std::span<const Pair> pairs) const {
  return std::equal(sizes.begin(), sizes.end(), sizes_.begin(), sizes_.end()) &&
         std::equal(pairs.begin(), pairs.end(), pairs_.begin(), pairs_.end());
}

void BlockGraph::analyse(std::span<const int> sizes, std::span<const Pair> pairs) {
  sizes_.assign(sizes.begin(), sizes.end());
  pairs_.assign(pairs.begin(), pairs.end());
  has_only_sixes_ = std::ranges::all_of(sizes_, [](int size) { return size == 6; });
  find_order();
  lay_out();
}

// An eliminated block's remaining neighbours are the rows of its column, and become neighbours of one another. Its own set stays as it was
// when it went; the sets of the others lose it.
void BlockGraph::find_order() {
  const int count = static_cast<int>(sizes_.size());
  const int words = (count + kWord - 1) / kWord;
  neighbours_.assign(static_cast<std::size_t>(count) * words, 0);
  const auto set_of = [&](int block) { return neighbours_.data() + static_cast<std::ptrdiff_t>(block) * words; };
  for (const auto& [a, b] : pairs_) {
    LITHE_ASSERT(a >= 0 && a < b && b < count);
    set_bit(set_of(a), b);
    set_bit(set_of(b), a);
  }
  // Degrees are counted in coordinates, because that is what an elimination costs.
  const auto count_degree = [&](int block) {
    int degree = 0;
    for_each_bit(set_of(block), words, [&](int other) { degree += sizes_[other]; });
    return degree;
  };
  degree_.resize(count);
  for (int block = 0; block < count; ++block) degree_[block] = count_degree(block);

  // How many eliminated blocks a block waits for, one after the other. Among equal degrees the lowest level goes first, so that
  // eliminations which do not wait for one another come next to one another.
  level_.assign(count, 0);
  const auto comes_before = [&](int a, int b) {
    return degree_[a] != degree_[b] ? degree_[a] < degree_[b] : level_[a] < level_[b];
  };
  columns_.clear();
  entries_.clear();
  place_.assign(count, -1);
  for (int k = 0; k < count; ++k) {
    int least = -1;
    for (int block = 0; block < count; ++block) {
      if (place_[block] < 0 && (least < 0 || comes_before(block, least))) least = block;
    }
    place_[least] = k;
    Column& column = columns_.emplace_back();
    column.block = least;
    column.size = sizes_[least];
    column.stride = padded(column.size);
    column.first = static_cast<int>(entries_.size());
    const std::uint64_t* own = set_of(least);
    for_each_bit(own, words, [&](int other) { entries_.push_back({.row = other}); });  // places follow
    column.count = static_cast<int>(entries_.size()) - column.first;
    for_each_bit(own, words, [&](int other) {
      std::uint64_t* set = set_of(other);
      for (int w = 0; w < words; ++w) set[w] |= own[w];
      clear_bit(set, other);
      clear_bit(set, least);
    });
    for_each_bit(own, words, [&](int other) {
      degree_[other] = count_degree(other);
      level_[other] = std::max(level_[other], level_[least] + 1);
    });
  }
}

// Where everything lies: coordinates in vectors by number of the block, blocks of the factor column by column in the order of elimination,
// each with its spare one or with its mirror image next to it.
void BlockGraph::lay_out() {
  coordinates_ = 0;
  for (std::size_t block = 0; block < sizes_.size(); ++block) {
    columns_[place_[block]].start = coordinates_;
    coordinates_ += padded(sizes_[block]);
  }
  storage_ = 0;
  flops_ = 0;
  std::ptrdiff_t target_count = 0;
  for (Column& column : columns_) {
    const std::ptrdiff_t square = static_cast<std::ptrdiff_t>(column.stride) * column.size;
    column.diagonal = storage_;
    column.spare = storage_ + square;
    storage_ += 2 * square;
    const auto below = std::span(entries_).subspan(column.first, column.count);
    for (Entry& entry : below) entry.row = place_[entry.row];
    std::sort(below.begin(), below.end(), [](const Entry& a, const Entry& b) { return a.row < b.row; });
    double rows = 0;
    for (Entry& entry : below) {
      const Column& other = columns_[entry.row];
      entry.lower = storage_;
      storage_ += static_cast<std::ptrdiff_t>(other.stride) * column.size;
      entry.upper = storage_;
      storage_ += static_cast<std::ptrdiff_t>(column.stride) * other.size;
      rows += other.size;
    }
    column.first_target = target_count;
    target_count += static_cast<std::ptrdiff_t>(column.count) * column.count;
    // To factorise the diagonal block, to divide the blocks below by it, and to take the lower half of their products off later blocks.
    const double size = column.size;
    flops_ += size * (size * size / 6 + size * rows / 2 + rows * rows / 2);
  }
  // All these blocks exist, since neighbours of an eliminated block have become neighbours of one another.
  targets_.resize(target_count);
  for (const Column& column : columns_) {
    const auto below = this->below(column);
    for (int a = 0; a < column.count; ++a) {
      for (int b = 0; b < column.count; ++b) {
        targets_[column.first_target + static_cast<std::ptrdiff_t>(a) * column.count + b] =
            offset_at(below[a].row, below[b].row);
      }
    }
  }
}

// Both blocks of an entry belong to the column that is eliminated first.
std::ptrdiff_t BlockGraph::offset_at(int row, int column) const {
  if (row == column) return columns_[row].diagonal;
  const auto entries = below(columns_[std::min(row, column)]);
  const auto found = std::lower_bound(entries.begin(), entries.end(), std::max(row, column),
                                      [](const Entry& entry, int place) { return entry.row < place; });
  LITHE_ASSERT(found != entries.end() && found->row == std::max(row, column));
  return row > column ? found->lower : found->upper;
}

}  // namespace lithe::internal
