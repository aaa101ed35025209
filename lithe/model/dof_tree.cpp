#include "lithe/model/dof_tree.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "lithe/core/check.h"
#include "lithe/spatial/rotation.h"

namespace lithe {

namespace {

// Long runs are cut here, so that the factor's blocks stay in the first-level cache.
constexpr int kMaxChainDofs = 24;

// Distance between columns of n rows: whole packs, and never a multiple of 256 bytes, because columns that far apart
// compete for the same few places in the cache.
int column_stride(int n) { return padded(n) % 32 == 0 ? padded(n) + 8 : padded(n); }

// One tree's dense matrices must stay addressable with an int.
constexpr int kMaxTreeDofs = 20000;

// Joint i's DoFs hang on joint parents[i], or on the world (−1).
std::vector<int> joint_parents(const std::vector<Body>& bodies, const std::vector<Joint>& joints) {
  std::vector<int> last_joint(bodies.size(), -1);  // that moves the body
  std::vector<int> parents(joints.size(), -1);
  for (std::size_t b = 1; b < bodies.size(); ++b) {
    int above = last_joint[bodies[b].parent];
    for (const JointIndex j : bodies[b].joints) {
      parents[j] = above;
      above = j;
    }
    last_joint[b] = above;
  }
  return parents;
}

// Splits the DoFs into chains and gives each DoF its slot.
void lay_out_chains(const std::vector<int>& joint_parent, DofTree& tree) {
  std::vector<int> children(tree.joints.size(), 0);
  for (const int parent : joint_parent) {
    if (parent >= 0) ++children[parent];
  }
  int dofs_in_tree = 0;
  for (std::size_t j = 0; j < tree.joints.size(); ++j) {
    DofTree::TreeJoint& joint = tree.joints[j];
    const int count = joint.type == JointType::ball ? 3 : 1;
    const int above = joint_parent[j];
    dofs_in_tree = above < 0 ? count : dofs_in_tree + count;
    LITHE_CHECK(dofs_in_tree <= kMaxTreeDofs, "one robot has more than {} degrees of freedom; split it", kMaxTreeDofs);
    const int parent_dof = above < 0 ? -1 : tree.joint_end[tree.joints[above].dof] - 1;
    // A chain goes on while each joint carries exactly one other; it ends at a branch and where it would become too
    // long.
    const bool starts_chain = above < 0 || children[above] != 1 || tree.chains.back().dof_count + count > kMaxChainDofs;
    if (starts_chain) {
      tree.slot_count = padded(tree.slot_count);
      DofTree::Chain chain{};
      chain.first_dof = joint.dof;
      chain.first_slot = tree.slot_count;
      chain.parent = parent_dof < 0 ? -1 : tree.chain[parent_dof];
      chain.parent_slot = parent_dof < 0 ? -1 : tree.slot[parent_dof];
      if (chain.parent >= 0) {
        const DofTree::Chain& up = tree.chains[chain.parent];
        chain.path_begin = up.path_begin + padded(up.dof_count);
      }
      tree.chains.push_back(chain);
    }
    DofTree::Chain& chain = tree.chains.back();
    joint.slot = tree.slot_count;
    joint.parent_slot = parent_dof < 0 ? -1 : tree.slot[parent_dof];
    for (int k = 0; k < count; ++k) {
      tree.slot.push_back(tree.slot_count++);
      tree.chain.push_back(static_cast<int>(tree.chains.size()) - 1);
      tree.position.push_back(chain.path_begin + chain.dof_count++);
      tree.parent.push_back(k == 0 ? parent_dof : joint.dof + k - 1);
      tree.joint_begin.push_back(joint.dof);
      tree.joint_end.push_back(joint.dof + count);
      tree.joint_of.push_back(static_cast<int>(j));
    }
    if (joint.type == JointType::ball) tree.balls.push_back(joint.dof);
  }
  tree.slot_count = padded(tree.slot_count);
}

// Gives each chain the packs along its path, each DoF its row, and finds where subtrees end. Parents come before
// children, so a path begins with the path of the chain above.
void lay_out_paths(DofTree& tree) {
  for (DofTree::Chain& chain : tree.chains) {
    chain.first_group = static_cast<int>(tree.path_groups.size());
    chain.path_length = chain.path_begin + padded(chain.dof_count);
    if (chain.parent >= 0) {
      const DofTree::Chain& up = tree.chains[chain.parent];
      for (int g = 0; g < up.path_length / kLanes; ++g) {
        const int group = tree.path_groups[up.first_group + g];
        tree.path_groups.push_back(group);
      }
    }
    for (int s = 0; s < chain.dof_count; s += kLanes) {
      tree.path_groups.push_back(chain.first_slot + s);
      tree.group_dof.push_back(chain.first_dof + s);
    }
    for (int i = 0; i < chain.dof_count; ++i) {
      tree.row_start.push_back(tree.row_storage);
      tree.row_storage += chain.path_length;
    }
  }
  // Depth-first numbering: a subtree ends where the last of its chains ends.
  for (DofTree::Chain& chain : tree.chains) chain.subtree_end = chain.first_dof + chain.dof_count;
  for (std::size_t c = tree.chains.size(); c-- > 0;) {
    const DofTree::Chain& chain = tree.chains[c];
    if (chain.parent < 0) continue;
    DofTree::Chain& up = tree.chains[chain.parent];
    up.subtree_end = std::max(up.subtree_end, chain.subtree_end);
  }
  for (const int c : tree.chain) tree.subtree_end.push_back(tree.chains[c].subtree_end);
  for (DofTree::Chain& chain : tree.chains) {
    chain.subtree_slot_end = padded(tree.slot[chain.subtree_end - 1] + 1);
  }
}

// A tree begins at every chain that hangs on the world.
void lay_out_trees(DofTree& tree) {
  for (std::size_t c = 0; c < tree.chains.size(); ++c) {
    DofTree::Chain& chain = tree.chains[c];
    if (chain.parent < 0) {
      DofTree::Tree t{};
      t.first_dof = chain.first_dof;
      t.dof_count = chain.subtree_end - chain.first_dof;
      t.first_slot = chain.first_slot;
      t.first_chain = static_cast<int>(c);
      tree.trees.push_back(t);
    }
    chain.tree = static_cast<int>(tree.trees.size()) - 1;
    tree.trees.back().chain_end = static_cast<int>(c) + 1;
    tree.trees.back().slot_end = chain.first_slot + padded(chain.dof_count);
  }
  for (DofTree::Tree& t : tree.trees) {
    t.first_joint = tree.joint_of[t.first_dof];
    t.joint_end = tree.joint_of[t.first_dof + t.dof_count - 1] + 1;
    t.column_stride = column_stride(t.dof_count + kLanes - 1);
    for (int i = 0; i < t.dof_count; ++i) {
      tree.column_start.push_back(tree.column_storage);
      tree.column_storage += t.column_stride;
    }
  }
  for (DofTree::TreeJoint& joint : tree.joints) joint.tree = tree.chains[tree.chain[joint.dof]].tree;
}

// Finds the runs of DoFs at or below each chain and above it, and joins those that touch.
void lay_out_comparable_runs(DofTree& tree) {
  for (DofTree::Chain& chain : tree.chains) {
    const int tree_first = tree.trees[chain.tree].first_dof;
    std::vector<DofTree::Run> runs = {{chain.first_dof - tree_first, chain.subtree_end - chain.first_dof}};
    for (int c = chain.parent; c >= 0; c = tree.chains[c].parent) {
      const DofTree::Chain& above = tree.chains[c];
      const DofTree::Run run = {above.first_dof - tree_first, above.dof_count};
      if (run.first + run.count == runs.back().first) {
        runs.back() = {run.first, run.count + runs.back().count};
      } else {
        runs.push_back(run);
      }
    }
    chain.first_run = static_cast<int>(tree.comparable_runs.size());
    chain.run_count = static_cast<int>(runs.size());
    tree.comparable_runs.insert(tree.comparable_runs.end(), runs.begin(), runs.end());
  }
}

// The slots that the bodies hang on, and each tree's root joints.
void place_bodies(const std::vector<Body>& bodies, DofTree& tree) {
  for (const Body& body : bodies) {
    DofTree::BodyPlace place{-1, -1, -1, Pose{}};
    if (body.parent.valid()) place = tree.bodies[body.parent];
    if (!body.joints.empty()) {
      const DofTree::TreeJoint& last = tree.joints[body.joints.back()];
      if (place.tree < 0) {
        tree.trees[last.tree].root_joint_end = body.joints.back() + 1;
      }
      place.dof = tree.joint_end[last.dof] - 1;
      place.slot = tree.slot[place.dof];
      place.tree = last.tree;
    }
    tree.bodies.push_back(place);
  }
}

}  // namespace

Mat3 axis_alignment(const Joint& joint) {
  return joint.type == JointType::ball ? Mat3(Mat3::Identity()) : rotation_from_z(joint.axis);
}

DofTree compile_tree(const std::vector<Body>& bodies, const std::vector<Joint>& joints) {
  static std::atomic<std::uint64_t> structures = 0;
  DofTree tree;
  tree.structure = ++structures;
  for (const Joint& joint : joints) {
    tree.joints.push_back({.type = joint.type, .dof = joint.v_index, .q_index = joint.q_index});
    tree.nq += joint.nq();
    tree.nv += joint.nv();
  }
  lay_out_chains(joint_parents(bodies, joints), tree);
  lay_out_paths(tree);
  lay_out_trees(tree);
  lay_out_comparable_runs(tree);
  place_bodies(bodies, tree);
  tree.link.resize(tree.slot_count);
  tree.turn_slide.resize(tree.slot_count);
  tree.armature.resize(tree.slot_count);
  refresh_constants(bodies, joints, tree);
  return tree;
}

namespace {

// Collects how DoFs resist motion by themselves, and which of them a step has to look at for that.
void refresh_resistance(const std::vector<Joint>& joints, DofTree& tree) {
  tree.resistance.clear();
  tree.limited_dofs.clear();
  tree.rubbing_dofs.clear();
  tree.sprung_joints.clear();
  for (std::size_t j = 0; j < joints.size(); ++j) {
    const Joint& joint = joints[j];
    const bool limited = joint.type != JointType::ball && (std::isfinite(joint.lower) || std::isfinite(joint.upper));
    if (joint.stiffness > 0) tree.sprung_joints.push_back(static_cast<int>(j));
    for (int k = 0; k < joint.nv(); ++k) {
      const int dof = static_cast<int>(tree.resistance.size());
      if (limited) tree.limited_dofs.push_back(dof);
      if (joint.dry_friction > 0) tree.rubbing_dofs.push_back(dof);
      tree.resistance.push_back(
          {joint.damping, joint.stiffness, joint.dry_friction, joint.rest, joint.lower, joint.upper});
    }
  }
}

}  // namespace

void refresh_constants(const std::vector<Body>& bodies, const std::vector<Joint>& joints, DofTree& tree) {
  std::vector<SpatialInertia> link(tree.slot_count);
  for (std::size_t b = 0; b < bodies.size(); ++b) {
    const Body& body = bodies[b];
    // From the frame of the joint that moves the parent (or from the world) outwards.
    Pose X = body.parent.valid() ? tree.bodies[body.parent].X_JB : Pose{};
    for (const JointIndex j : body.joints) {
      const Mat3 align = axis_alignment(joints[j]);
      const Pose X_joint = X * joints[j].placement * Pose::rotation(align);
      tree.joints[j].R = X_joint.R;
      tree.joints[j].p = X_joint.p;
      X = Pose::rotation(align.transpose());
    }
    DofTree::BodyPlace& place = tree.bodies[b];
    place.X_JB = X * body.placement;
    if (place.slot >= 0) link[place.slot] += body.inertia.in(place.X_JB);
  }
  for (int s = 0; s < tree.slot_count; ++s) {
    const Vec3 c = link[s].centre();
    const Mat3 I = link[s].about_centre();
    const double numbers[10] = {link[s].mass, c.x(),   c.y(),   c.z(),   I(0, 0),
                                I(0, 1),      I(0, 2), I(1, 1), I(1, 2), I(2, 2)};
    for (int k = 0; k < 10; ++k) tree.link.at(k, s) = numbers[k];
  }
  for (std::size_t j = 0; j < joints.size(); ++j) {
    const Joint& joint = joints[j];
    tree.joints[j].slide = joint.type == JointType::screw ? joint.pitch : joint.type == JointType::prismatic ? 1 : 0;
    for (int k = 0; k < joint.nv(); ++k) {
      const int s = tree.joints[j].slot + k;
      tree.turn_slide.at(0, s) = joint.type == JointType::prismatic ? 0 : 1;
      tree.turn_slide.at(1, s) = tree.joints[j].slide;
      tree.armature.at(0, s) = joint.armature;
    }
  }
  refresh_resistance(joints, tree);
}

}  // namespace lithe
