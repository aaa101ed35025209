#pragma once

#include <cstdint>
#include <vector>

#include "lithe/model/body.h"
#include "lithe/model/joint.h"
#include "lithe/simd/lanes.h"

namespace lithe {

// The model as the dynamics kernels see it: a forest of degrees of freedom, compiled from bodies and joints.
//
// DoFs are numbered depth first, so the DoFs below any DoF are a contiguous range, and an unbranched run of
// DoFs, a *chain*, is contiguous too. Chains are what the kernels work on:
//
//   slots   Every per-DoF quantity lives in Lanes, four DoFs to a Pack. Each chain starts at a multiple of four,
//           so that a pack never mixes chains; the slots left over hold zeros.
//   paths   A DoF's path is everything from the root down to it. Row i of the mass matrix, of its factor and of
//           the factor's inverse has entries on i's path only, so rows are stored along paths. DoF j sits at the
//           same `position` in the row of each DoF below it, because the way down to j is the same for all.
//
// The joint frames here have their z axis along the joint axis, so that revolute joints only ever turn two
// columns of a matrix; a body's own frame is a constant `X_JB` away from its last joint's frame.
struct DofTree {
  struct TreeJoint {
    JointType type = JointType::revolute;
    double slide = 0;      // metres along z per unit of q: a screw's pitch, 1 for a prismatic joint
    int dof = -1;          // first DoF
    int q_index = -1;      // first entry in q
    int slot = -1;         // of the first DoF
    int parent_slot = -1;  // last slot of the joint above, or −1: the world
    int tree = -1;
    Mat3 R = Mat3::Identity();  // this joint's frame at q = 0 in the frame of the joint above
    Vec3 p = Vec3::Zero();
  };

  struct Chain {
    int first_dof, dof_count;
    int first_slot;
    int parent;                // chain, or −1
    int parent_slot;           // last DoF's slot of the parent chain, or −1
    int path_begin;            // position of its first DoF in a path
    int path_length;           // length of its DoFs' rows, padded
    int subtree_end;           // one past the last DoF at or below this chain
    int subtree_slot_end;      // and one past the last of their slots, padded
    int first_run, run_count;  // into comparable_runs
    int first_group;           // into path_groups: path_length / kLanes entries
    int tree;
  };

  // Bodies that share no DoF with others' motion: one robot, one free box.
  struct Tree {
    int first_dof, dof_count;
    int first_slot, slot_end;
    int first_chain, chain_end;
    int column_stride;           // from one column to the next in a dense matrix over this tree's DoFs: a pack may be
                                 // stored from any row on
    int first_joint, joint_end;  // into `joints`
    int root_joint_end;          // the root body's own joints are the first ones
  };

  // Where a body is: rigidly behind a slot's joint, or fixed in the world.
  struct BodyPlace {
    int slot;   // −1: fixed
    int dof;    // the slot's DoF, −1: fixed
    int tree;   // −1: fixed
    Pose X_JB;  // in that joint's frame, or in the world
  };

  // Equal for models of equal structure (copies of one model, whatever their numbers), different otherwise.
  std::uint64_t structure = 0;

  int nq = 0, nv = 0;
  int slot_count = 0;
  int row_storage = 0;     // doubles that all path rows take together
  int column_storage = 0;  // and the columns of one dense square block per tree

  std::vector<TreeJoint> joints;  // in DoF order
  std::vector<Chain> chains;      // in DoF order
  std::vector<Tree> trees;
  std::vector<BodyPlace> bodies;

  // Per DoF.
  std::vector<int> slot;
  std::vector<int> chain;
  std::vector<int> position;      // in its path
  std::vector<int> row_start;     // of its path row
  std::vector<int> column_start;  // of its column in a matrix of dense blocks, one block per tree
  std::vector<int> parent;        // DoF, or −1
  std::vector<int> subtree_end;
  std::vector<int> joint_begin, joint_end;  // DoFs of the joint it belongs to
  std::vector<int> joint_of;                // index into `joints`

  // Slots (multiples of kLanes) of the packs along each chain's path.
  std::vector<int> path_groups;
  // The DoF in the first lane of each pack; by slot / kLanes.
  std::vector<int> group_dof;
  // For each chain the DoFs that are above it, in it or below it, as runs within the tree (first DoF relative to the
  // tree's): the non-zero rows of a derivative's columns.
  struct Run {
    int first, count;
  };
  std::vector<Run> comparable_runs;
  // First DoF of each ball joint, which the running sums treat apart.
  std::vector<int> balls;

  // Constants per slot. Link inertia in the joint frame: m, centre of mass (3), inertia about it (6).
  Lanes<10> link;
  // How the joint axis z enters the motion axis S = [turn·z; turn·(p × z) + slide·z].
  Lanes<2> turn_slide;
  Lanes<1> armature;

  // How each DoF resists motion by itself, and where it ends.
  struct Resistance {
    double damping, stiffness, dry_friction;
    double rest, lower, upper;  // not for a ball's
  };
  std::vector<Resistance> resistance;  // per DoF
  // The few that need a look at each step, ascending.
  std::vector<int> limited_dofs;   // with a finite lower or upper limit
  std::vector<int> rubbing_dofs;   // with dry friction
  std::vector<int> sprung_joints;  // with stiffness; index into `joints`

  // True if DoF j moves whatever DoF i carries: i is j, below j, or in j's own joint.
  bool moves(int j, int i) const { return joint_begin[j] <= i && i < subtree_end[j]; }
};

// Remembers which structure a workspace was laid out for. What a structure leaves zero, kernels write only once.
class LayoutStamp {
 public:
  // True the first time, and whenever the structure is another one than at the last call.
  bool changed(const DofTree& tree) {
    if (structure_ == tree.structure) return false;
    structure_ = tree.structure;
    return true;
  }
  bool matches(const DofTree& tree) const { return structure_ == tree.structure; }

 private:
  std::uint64_t structure_ = 0;
};

// Turns a joint's frame so that z is the joint axis; the identity for a ball, which has none.
Mat3 axis_alignment(const Joint& joint);

// Compiles bodies and joints, already in depth-first order, with indices filled in.
DofTree compile_tree(const std::vector<Body>& bodies, const std::vector<Joint>& joints);

// Refreshes what depends on numbers only (inertias, placements, armature), not on the tree's shape.
void refresh_constants(const std::vector<Body>& bodies, const std::vector<Joint>& joints, DofTree& tree);

}  // namespace lithe
