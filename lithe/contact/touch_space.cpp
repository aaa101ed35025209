#include "lithe/contact/touch_space.h"

#include <algorithm>
#include <span>

#include "lithe/dynamics/internal/stage_check.h"
#include "lithe/linalg/symmetric_matrix.h"

namespace lithe::internal {

namespace {

// Slot of the g-th pack along the path of `dof`.
int path_slot(const DofTree& tree, int dof, int g) {
  return tree.path_groups[tree.chains[tree.chain[dof]].first_group + g];
}

// W = Σ_i S_i X_i over the DoFs i of the path, one pack of columns at a time.
void body_rows(const DofTree& tree, const Kinematics& kin, const double* X, const std::vector<int>& path, int packs,
               double* W) {
  std::size_t first = 0;  // of the DoFs whose row reaches the pack
  for (int g = 0; g < packs; ++g) {
    while (tree.position[path[first]] < kLanes * g) ++first;
    Pack sum[6] = {};
    for (std::size_t i = first; i < path.size(); ++i) {
      const int dof = path[i];
      const Pack x = as_pack(X + tree.row_start[dof] + kLanes * g);
      const int slot = tree.slot[dof];
      for (int k = 0; k < 6; ++k) sum[k] += broadcast(kin.S.at(k, slot)) * x;
    }
    for (int k = 0; k < 6; ++k) as_pack(W + kLanes * (k * packs + g)) = sum[k];
  }
}

// Packs that two paths of one tree share.
int shared_packs(const DofTree& tree, const Touch& a, const Touch& b) {
  const int most = std::min(a.packs, b.packs);
  int g = 0;
  while (g < most && path_slot(tree, a.dof, g) == path_slot(tree, b.dof, g)) ++g;
  return g;
}

// Column c of W_a W_bᵀ: `Size` dot products, four at a time.
template <int Size>
LITHE_INLINE void dot_column(const double* Wa, int stride_a, const double* Wb, int packs, double* out) {
  Pack sum[Size] = {};
  for (int g = 0; g < packs; ++g) {
    const Pack y = as_pack(Wb + kLanes * g);
    for (int k = 0; k < Size; ++k) sum[k] += as_pack(Wa + k * stride_a + kLanes * g) * y;
  }
  if constexpr (Size == 1) {
    out[0] = lane_sum(sum[0]);
  } else {
    transpose(sum[0], sum[1], sum[2], sum[3]);
    store_anywhere(out, (sum[0] + sum[2]) + (sum[1] + sum[3]));
    for (int k = kLanes; k < Size; ++k) out[k] = lane_sum(sum[k]);
  }
}

// W_a W_bᵀ into the block that starts at `out`, over the packs that their paths share.
void multiply_touches(const Touch& a, const Touch& b, int packs, const double* W, double* out, int stride) {
  const int stride_a = a.packs * kLanes;
  const int stride_b = b.packs * kLanes;
  for (int k = 0; k < b.size; ++k, out += stride) {
    const double* Wb = W + b.W_start + k * stride_b;
    if (a.size == 6) {
      dot_column<6>(W + a.W_start, stride_a, Wb, packs, out);
    } else {
      dot_column<1>(W + a.W_start, stride_a, Wb, packs, out);
    }
  }
}

// The same for four DoFs that follow one another.
LITHE_INLINE void multiply_four_dofs(const Touch* a, const Touch& b, int packs, const double* W, double* out,
                                     int stride) {
  const double* Wb = W + b.W_start;
  for (int k = 0; k < b.size; ++k, out += stride, Wb += b.packs * kLanes) {
    Pack sum[kLanes] = {};
    for (int g = 0; g < packs; ++g) {
      const Pack y = as_pack(Wb + kLanes * g);
      for (int i = 0; i < kLanes; ++i) sum[i] += as_pack(W + a[i].W_start + kLanes * g) * y;
    }
    transpose(sum[0], sum[1], sum[2], sum[3]);
    store_anywhere(out, (sum[0] + sum[2]) + (sum[1] + sum[3]));
  }
}

// Λ of one block from the diagonal down.
void fill_lower_triangle(const DofTree& tree, std::span<const Touch> touches, const double* W, double* Lambda,
                         int stride) {
  const Touch* const end = touches.data() + touches.size();
  for (const Touch& b : touches) {
    double* column = Lambda + static_cast<std::ptrdiff_t>(b.first) * stride;
    for (const Touch* a = &b; a != end;) {
      // Touches of one chain have paths that begin alike, and the last one's is the longest.
      const Touch* last = a;
      while (last + 1 != end && tree.chain[last[1].dof] == tree.chain[a->dof]) ++last;
      const int shared = shared_packs(tree, *last, b);
      while (a <= last) {
        const int packs = std::min(a->packs, shared);
        const bool four = last - a >= kLanes - 1 && a[0].size + a[1].size + a[2].size + a[3].size == kLanes &&
                          std::min(a[3].packs, shared) == packs;
        if (four) {
          multiply_four_dofs(a, b, packs, W, column + a->first, stride);
        } else {
          multiply_touches(*a, b, packs, W, column + a->first, stride);
        }
        a += four ? kLanes : 1;
      }
    }
  }
}

}  // namespace

// Each touch once, by 2·dof + (0: body, 1: DoF).
void TouchSpace::add(int key) {
  if (touch_of_[key] >= 0) return;
  touch_of_[key] = 0;
  keys_.push_back(key);
}

void TouchSpace::collect(const DofTree& tree, const std::vector<Constraint>& constraints) {
  if (touch_of_.size() != 2 * static_cast<std::size_t>(tree.nv)) {
    touch_of_.assign(2 * static_cast<std::size_t>(tree.nv), -1);
  } else {
    for (const int key : keys_) touch_of_[key] = -1;
  }
  keys_.clear();
  for (const Constraint& constraint : constraints) {
    const int kind = acts_on_bodies(constraint.kind) ? 0 : 1;
    if (constraint.dof_a >= 0) add(2 * constraint.dof_a + kind);
    if (constraint.dof_b >= 0) add(2 * constraint.dof_b + kind);
  }
  // In the order of DoFs the touches of one tree follow one another, and those of one chain do.
  if (!std::is_sorted(keys_.begin(), keys_.end())) std::sort(keys_.begin(), keys_.end());

  touches.clear();
  blocks.clear();
  int current_tree = -1;
  int W_size = 0;
  for (const int key : keys_) {
    const int dof = key / 2;
    const DofTree::Chain& chain = tree.chains[tree.chain[dof]];
    if (chain.tree != current_tree) {
      current_tree = chain.tree;
      blocks.push_back({.first_touch = static_cast<int>(touches.size())});
    }
    TouchBlock& block = blocks.back();
    Touch touch{.dof = dof, .size = key % 2 == 0 ? 6 : 1, .block = static_cast<int>(blocks.size()) - 1};
    touch.first = block.size;
    touch.packs = tree.position[dof] / kLanes + 1;
    touch.W_start = W_size;
    W_size += touch.size * touch.packs * kLanes;
    block.size += touch.size;
    ++block.touch_count;
    touch_of_[key] = static_cast<int>(touches.size());
    touches.push_back(touch);
  }
  size = 0;
  int Lambda_size = 0;
  for (TouchBlock& block : blocks) {
    block.stride = padded(block.size);
    block.start = size;
    block.Lambda_start = Lambda_size;
    size += block.stride;
    Lambda_size += block.stride * block.size;
  }
  if (W.size() < static_cast<std::size_t>(W_size)) W.resize(W_size);
  if (Lambda.size() < static_cast<std::size_t>(Lambda_size)) Lambda.resize(Lambda_size);
}

void TouchSpace::compute(const Model& model, const Kinematics& kin, const InverseFactor& inverse) {
  check_stage(model, inverse.layout, "InverseFactor", "invert()");
  const DofTree& tree = model.tree();
  const double* X = inverse.rows.data();
  has_Lambda = false;
  for (const Touch& touch : touches) {
    if (touch.size == 1) {
      // J_F of a DoF picks one row of X.
      std::copy_n(X + tree.row_start[touch.dof], touch.packs * kLanes, W.data() + touch.W_start);
      continue;
    }
    path_.clear();
    for (int dof = touch.dof; dof >= 0; dof = tree.parent[dof]) path_.push_back(dof);
    std::reverse(path_.begin(), path_.end());
    body_rows(tree, kin, X, path_, touch.packs, W.data() + touch.W_start);
  }
}

void TouchSpace::find_Lambda(const DofTree& tree) {
  if (has_Lambda) return;
  has_Lambda = true;
  for (const TouchBlock& block : blocks) {
    double* Lambda_block = Lambda.data() + block.Lambda_start;
    fill_lower_triangle(tree, std::span(touches).subspan(block.first_touch, block.touch_count), W.data(), Lambda_block,
                        block.stride);
    for (int j = 0; j < block.size; ++j) {
      std::fill(Lambda_block + j * block.stride + block.size, Lambda_block + (j + 1) * block.stride, 0.0);
    }
    mirror_lower_triangle(Lambda_block, block.size, block.stride);
  }
}

void TouchSpace::velocities(const DofTree& tree, const Kinematics& kin, const Lanes<1>& v, double* out) const {
  velocities(tree, kin.S, 1, v, out);
}

void TouchSpace::velocities(const DofTree& tree, const Lanes<6>& axes, double own, const Lanes<1>& v,
                            double* out) const {
  for (const Touch& touch : touches) {
    double* at = out + start_of(touch);
    if (touch.size == 1) {
      *at = own * v.at(0, tree.slot[touch.dof]);
      continue;
    }
    Pack sum[6] = {};
    for (int g = 0; g < touch.packs; ++g) {
      const int slot = path_slot(tree, touch.dof, g);
      Pack rate = v.pack(0, slot);
      // The chain may go on below the touch.
      if (g + 1 == touch.packs) rate = select_below(tree.position[touch.dof] % kLanes + 1, rate, Pack{});
      for (int k = 0; k < 6; ++k) sum[k] += axes.pack(k, slot) * rate;
    }
    for (int k = 0; k < 6; ++k) at[k] = lane_sum(sum[k]);
  }
}

void TouchSpace::add_forces(const DofTree& tree, const Lanes<6>& axes, double own, const double* phi,
                            Lanes<1>& out) const {
  for (const Touch& touch : touches) {
    const double* at = phi + start_of(touch);
    if (touch.size == 1) {
      out.at(0, tree.slot[touch.dof]) += own * *at;
      continue;
    }
    for (int g = 0; g < touch.packs; ++g) {
      const int slot = path_slot(tree, touch.dof, g);
      Pack force = {};
      for (int k = 0; k < 6; ++k) force += axes.pack(k, slot) * broadcast(at[k]);
      if (g + 1 == touch.packs) force = select_below(tree.position[touch.dof] % kLanes + 1, force, Pack{});
      out.pack(0, slot) += force;
    }
  }
}

void TouchSpace::product(const DofTree& tree, const Lanes<1>& z, double* out) const {
  for (const Touch& touch : touches) {
    double* at = out + start_of(touch);
    const double* row = W.data() + touch.W_start;
    for (int k = 0; k < touch.size; ++k) {
      Pack sum = {};
      for (int g = 0; g < touch.packs; ++g, row += kLanes) {
        sum += as_pack(row) * z.pack(0, path_slot(tree, touch.dof, g));
      }
      at[k] = lane_sum(sum);
    }
  }
}

void TouchSpace::transposed_product(const DofTree& tree, const double* phi, Lanes<1>& z) const {
  z.resize_zero(tree.slot_count);
  add_transposed_product(tree, phi, z);
}

void TouchSpace::add_transposed_product(const DofTree& tree, const double* phi, Lanes<1>& z) const {
  for (const Touch& touch : touches) {
    const double* at = phi + start_of(touch);
    const double* rows = W.data() + touch.W_start;
    for (int g = 0; g < touch.packs; ++g) {
      Pack sum = {};
      for (int k = 0; k < touch.size; ++k) sum += broadcast(at[k]) * as_pack(rows + kLanes * (k * touch.packs + g));
      z.pack(0, path_slot(tree, touch.dof, g)) += sum;
    }
  }
}

}  // namespace lithe::internal
