#include <algorithm>
#include <type_traits>

#include "lithe/lcp/block/mode_system.h"
#include "lithe/lcp/sweeps/gauss_seidel_iteration.h"
#include "lithe/simd/pack.h"

// Products of forms with vectors over coordinates. A row's form has the numbers of one or two blocks, so each product reads or writes two
// short pieces of a vector; between free bodies these are unrolled.
namespace lithe::internal {

namespace {

// Calls work(width a, width b), with constants where blocks are free bodies, whose six numbers are padded to eight: two of them, or one
// and the world.
template <class Work>
LITHE_INLINE void with_widths(int a, int b, Work work) {
  if (a == 8 && b == 8) {
    work(std::integral_constant<int, 8>{}, std::integral_constant<int, 8>{});
  } else if (a == 8 && b == 0) {
    work(std::integral_constant<int, 8>{}, std::integral_constant<int, 0>{});
  } else {
    work(a, b);
  }
}

// A form times the two pieces (a, b) of a vector, lane by lane: the sum of the lanes is the product.
LITHE_INLINE Pack form_products(const double* form, int width_a, const double* a, int width_b, const double* b) {
  Pack sum = {};
  for (int r = 0; r < width_a; r += kLanes) sum += as_pack(form + r) * as_pack(a + r);
  for (int r = 0; r < width_b; r += kLanes) sum += as_pack(form + width_a + r) * as_pack(b + r);
  return sum;
}

// out[i] = form i · (a, b), four forms at a time, because one transposition adds up the lanes of four sums.
LITHE_INLINE void apply_forms(const double* const* forms, int count, int width_a, const double* a, int width_b,
                              const double* b, double* out) {
  with_widths(width_a, width_b, [&](auto wa, auto wb) {
    int i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      Pack sum[kLanes];
      for (int k = 0; k < kLanes; ++k) sum[k] = form_products(forms[i + k], wa, a, wb, b);
      transpose(sum[0], sum[1], sum[2], sum[3]);
      store_anywhere(out + i, (sum[0] + sum[2]) + (sum[1] + sum[3]));
    }
    for (; i < count; ++i) out[i] = lane_sum(form_products(forms[i], wa, a, wb, b));
  });
}

// (a, b) += Σ_i x[i]·form i.
LITHE_INLINE void add_forms(const double* const* forms, int count, const double* x, int width_a, double* a, int width_b,
                            double* b) {
  with_widths(width_a, width_b, [&](auto wa, auto wb) {
    if constexpr (!std::is_same_v<decltype(wa), int>) {  // sums stay in registers
      Pack sum[4] = {as_pack(a), as_pack(a + kLanes)};
      if (wb > 0) {
        sum[2] = as_pack(b);
        sum[3] = as_pack(b + kLanes);
      }
      for (int i = 0; i < count; ++i) {
        const Pack factor = broadcast(x[i]);
        for (int r = 0; r < (wa + wb) / kLanes; ++r) sum[r] += factor * as_pack(forms[i] + r * kLanes);
      }
      for (int r = 0; r < wa / kLanes; ++r) as_pack(a + r * kLanes) = sum[r];
      for (int r = 0; r < wb / kLanes; ++r) as_pack(b + r * kLanes) = sum[2 + r];
      return;
    }
    for (int i = 0; i < count; ++i) {
      const Pack factor = broadcast(x[i]);
      for (int r = 0; r < wa; r += kLanes) as_pack(a + r) += factor * as_pack(forms[i] + r);
      for (int r = 0; r < wb; r += kLanes) as_pack(b + r) += factor * as_pack(forms[i] + wa + r);
    }
  });
}

}  // namespace

// u = Gᵀ f, group by group.
void BlockModeSystem::push(std::span<const double> f, double* u) const {
  std::fill_n(u, graph_->coordinates(), 0.0);
  for (std::size_t k = 0; k < sides_.size(); ++k) {
    const RowGroup& group = lcp_->groups[k];
    const Side& s = sides_[k];
    add_forms(&forms_[group.first_row], group.row_count, f.data() + group.first_row, s.width_a, u + s.start_a,
              s.width_b, u + s.start_b);
  }
}

double BlockModeSystem::form(int row, const double* u) const {
  const Side& s = sides_[group_of_[row]];
  double product = 0;
  with_widths(s.width_a, s.width_b, [&](auto wa, auto wb) {
    product = lane_sum(form_products(forms_[row], wa, u + s.start_a, wb, u + s.start_b));
  });
  return product;
}

void BlockModeSystem::add_form(int row, double factor, double* u) const {
  const Side& s = sides_[group_of_[row]];
  add_forms(&forms_[row], 1, &factor, s.width_a, u + s.start_a, s.width_b, u + s.start_b);
}

double BlockModeSystem::sweep(double ridge, double inert, std::span<double> f, double* u) const {
  // Coordinates answer a push, and each row reads its velocity from them.
  struct Operator {
    const BlockModeSystem& system;
    double ridge;
    std::span<const double> f;
    double* u;

    double diagonal(int i) const { return system.lcp_->diagonal[i] + ridge; }
    double velocity(int i) const { return system.form(i, u) + ridge * f[i] + system.lcp_->b[i]; }
    void push(int i, double change) const { system.add_form(i, change, u); }
  };
  Operator A{*this, ridge, f, u};
  return gauss_seidel::sweep(lcp_->rows, A, inert + ridge, f);
}

// A f = G (Gᵀ f): A is never formed.
void BlockModeSystem::apply(std::span<const double> f, std::span<double> w) {
  double* u = e_.data();
  push(f, u);
  for (std::size_t k = 0; k < sides_.size(); ++k) {
    const RowGroup& group = lcp_->groups[k];
    const Side& s = sides_[k];
    apply_forms(&forms_[group.first_row], group.row_count, s.width_a, u + s.start_a, s.width_b, u + s.start_b,
                w.data() + group.first_row);
  }
}

void BlockModeSystem::evaluate(std::span<const double> f, std::span<double> w) {
  apply(f, w);
  for (std::size_t i = 0; i < w.size(); ++i) w[i] += lcp_->b[i];
}

// Over the clamping rows, which are listed group by group.
void BlockModeSystem::multiply(const Forms& forms, const double* u, double* x) const {
  for (std::size_t k = 0; k < sides_.size(); ++k) {
    const Side& s = sides_[k];
    const int first = first_[k];
    apply_forms(forms.data() + first, first_[k + 1] - first, s.width_a, u + s.start_a, s.width_b, u + s.start_b,
                x + first);
  }
}

void BlockModeSystem::multiply_transposed(const Forms& forms, const double* x, double* u) const {
  std::fill_n(u, graph_->coordinates(), 0.0);
  for (std::size_t k = 0; k < sides_.size(); ++k) {
    const Side& s = sides_[k];
    const int first = first_[k];
    add_forms(forms.data() + first, first_[k + 1] - first, x + first, s.width_a, u + s.start_a, s.width_b,
              u + s.start_b);
  }
}

}  // namespace lithe::internal
