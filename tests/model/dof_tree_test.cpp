#include "lithe/model/dof_tree.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "lithe/model/configuration.h"
#include "lithe/model/model_builder.h"
#include "tests/support/plain_dynamics.h"
#include "tests/support/random_model.h"
#include "tests/support/random_test.h"

namespace lithe {
namespace {

using test::for_random_cases;

// What the joints say, found by walking up from body to body: the DoFs that move DoF i, from the root down to i's own
// joint (all of a ball's three, for each of them moves the other two).
std::vector<int> movers(const Model& model, int dof) {
  const auto owner = [&] {
    for (std::size_t j = 0; j < model.joints().size(); ++j) {
      const Joint& joint = model.joints()[j];
      if (joint.v_index <= dof && dof < joint.v_index + joint.nv()) return JointIndex(static_cast<int>(j));
    }
    return JointIndex();
  }();
  std::vector<int> dofs;
  for (BodyIndex b = model.joints()[owner].body; b.valid(); b = model.bodies()[b].parent) {
    const std::vector<JointIndex>& joints = model.bodies()[b].joints;
    for (auto j = joints.rbegin(); j != joints.rend(); ++j) {
      if (b == model.joints()[owner].body && *j > owner) continue;  // further out in the same list
      const Joint& joint = model.joints()[*j];
      for (int k = joint.nv(); k-- > 0;) dofs.insert(dofs.begin(), joint.v_index + k);
    }
  }
  return dofs;
}

TEST(DofTree, MovesIsWhatTheJointsSay) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const Model model = test::random_model(random);
    for (int i = 0; i < model.nv(); ++i) {
      const std::vector<int> above = movers(model, i);
      const std::set<int> expected(above.begin(), above.end());
      for (int j = 0; j < model.nv(); ++j) EXPECT_EQ(model.tree().moves(j, i), expected.contains(j)) << j << " " << i;
    }
  });
}

TEST(DofTree, ParentsLeadUpToTheRoot) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const Model model = test::random_model(random);
    const DofTree& tree = model.tree();
    for (int i = 0; i < model.nv(); ++i) {
      std::vector<int> way;
      for (int j = i; j >= 0; j = tree.parent[j]) way.insert(way.begin(), j);
      std::vector<int> expected = movers(model, i);
      while (expected.back() > i) expected.pop_back();  // the later DoFs of its own ball
      EXPECT_EQ(way, expected);
    }
  });
}

TEST(DofTree, SubtreesAreContiguous) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const Model model = test::random_model(random);
    const DofTree& tree = model.tree();
    for (int j = 0; j < model.nv(); ++j) {
      int last = j;
      for (int i = 0; i < model.nv(); ++i) {
        const std::vector<int> above = movers(model, i);
        if (std::find(above.begin(), above.end(), j) != above.end()) last = std::max(last, i);
      }
      EXPECT_EQ(tree.subtree_end[j], last + 1);
    }
  });
}

TEST(DofTree, JointsMatchTheModel) {
  for_random_cases(50, [](std::mt19937_64& random) {
    const Model model = test::random_model(random);
    const DofTree& tree = model.tree();
    ASSERT_EQ(tree.joints.size(), model.joints().size());
    EXPECT_EQ(tree.nv, model.nv());
    std::vector<int> balls;
    for (std::size_t j = 0; j < tree.joints.size(); ++j) {
      const Joint& joint = model.joints()[j];
      EXPECT_EQ(tree.joints[j].type, joint.type);
      EXPECT_EQ(tree.joints[j].dof, joint.v_index);
      EXPECT_EQ(tree.joints[j].q_index, joint.q_index);
      EXPECT_EQ(tree.joints[j].slot, tree.slot[joint.v_index]);
      const int parent = tree.parent[joint.v_index];
      EXPECT_EQ(tree.joints[j].parent_slot, parent < 0 ? -1 : tree.slot[parent]);
      if (joint.type == JointType::ball) balls.push_back(joint.v_index);
      for (int k = 0; k < joint.nv(); ++k) {
        EXPECT_EQ(tree.joint_of[joint.v_index + k], static_cast<int>(j));
        EXPECT_EQ(tree.joint_begin[joint.v_index + k], joint.v_index);
        EXPECT_EQ(tree.joint_end[joint.v_index + k], joint.v_index + joint.nv());
        EXPECT_EQ(tree.armature.at(0, tree.slot[joint.v_index + k]), joint.armature);
      }
    }
    EXPECT_EQ(tree.balls, balls);
  });
}

TEST(DofTree, ChainsPartitionTheDofsAndDoNotBranch) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const Model model = test::random_model(random, {.max_dofs = 100});
    const DofTree& tree = model.tree();
    int next_dof = 0, next_slot = 0;
    for (std::size_t c = 0; c < tree.chains.size(); ++c) {
      const DofTree::Chain& chain = tree.chains[c];
      EXPECT_EQ(chain.first_dof, next_dof);
      EXPECT_EQ(chain.first_slot, next_slot);
      EXPECT_EQ(chain.first_slot % kLanes, 0);
      EXPECT_GT(chain.dof_count, 0);
      for (int k = 0; k < chain.dof_count; ++k) {
        const int dof = chain.first_dof + k;
        EXPECT_EQ(tree.chain[dof], static_cast<int>(c));
        EXPECT_EQ(tree.slot[dof], chain.first_slot + k);
        EXPECT_TRUE(k == 0 || tree.parent[dof] == dof - 1);
        EXPECT_EQ(tree.subtree_end[dof], chain.subtree_end);
        // A ball is never cut in two.
        EXPECT_EQ(tree.chain[tree.joint_begin[dof]], tree.chain[tree.joint_end[dof] - 1]);
      }
      const int parent = tree.parent[chain.first_dof];
      EXPECT_EQ(chain.parent, parent < 0 ? -1 : tree.chain[parent]);
      EXPECT_EQ(chain.parent_slot, parent < 0 ? -1 : tree.slot[parent]);
      if (parent >= 0) {
        const DofTree::Chain& up = tree.chains[chain.parent];
        EXPECT_EQ(parent, up.first_dof + up.dof_count - 1) << "a chain hangs on its parent chain's end";
      }
      next_dof += chain.dof_count;
      next_slot = padded(next_slot + chain.dof_count);
    }
    EXPECT_EQ(next_dof, tree.nv);
    EXPECT_EQ(next_slot, tree.slot_count);
  });
}

TEST(DofTree, PathsLeadFromTheRootToEachDof) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const Model model = test::random_model(random);
    const DofTree& tree = model.tree();
    int next_row = 0;
    for (int i = 0; i < tree.nv; ++i) {
      const DofTree::Chain& chain = tree.chains[tree.chain[i]];
      // Every DoF of the way down, and only those, has its slot at its position in the path's groups.
      std::set<int> slots;
      for (int j = i; j >= 0; j = tree.parent[j]) {
        ASSERT_LT(tree.position[j], chain.path_length);
        const int group = tree.path_groups[chain.first_group + tree.position[j] / kLanes];
        EXPECT_EQ(group + tree.position[j] % kLanes, tree.slot[j]);
        slots.insert(group);
      }
      EXPECT_EQ(chain.path_length % kLanes, 0);
      EXPECT_EQ(tree.row_start[i], next_row);
      next_row += chain.path_length;
      const int own_groups = padded(tree.position[i] + 1) / kLanes;
      EXPECT_EQ(static_cast<int>(slots.size()), own_groups) << "no group of the path is without a DoF";
    }
    EXPECT_EQ(next_row, tree.row_storage);
  });
}

TEST(DofTree, TreesPartitionTheDofs) {
  for_random_cases(100, [](std::mt19937_64& random) {
    const Model model = test::random_model(random, {.new_root = 0.3});
    const DofTree& tree = model.tree();
    int next_dof = 0, next_slot = 0, next_chain = 0, next_joint = 0;
    for (const DofTree::Tree& t : tree.trees) {
      EXPECT_EQ(t.first_dof, next_dof);
      EXPECT_EQ(t.first_slot, next_slot);
      EXPECT_EQ(t.first_chain, next_chain);
      EXPECT_EQ(t.first_joint, next_joint);
      EXPECT_EQ(tree.subtree_end[t.first_dof], t.first_dof + t.dof_count);
      EXPECT_EQ(tree.parent[t.first_dof], -1);
      for (int c = t.first_chain; c < t.chain_end; ++c) EXPECT_EQ(&tree.trees[tree.chains[c].tree], &t);
      for (int j = t.first_joint; j < t.joint_end; ++j) {
        EXPECT_EQ(&tree.trees[tree.joints[j].tree], &t);
        // The first joints are those of one body, the tree's root.
        EXPECT_EQ(j < t.root_joint_end, model.joints()[j].body == model.joints()[t.first_joint].body);
      }
      next_dof += t.dof_count;
      next_slot = t.slot_end;
      next_chain = t.chain_end;
      next_joint = t.joint_end;
    }
    EXPECT_EQ(next_dof, tree.nv);
    EXPECT_EQ(next_slot, tree.slot_count);
    EXPECT_EQ(next_chain, static_cast<int>(tree.chains.size()));
    EXPECT_EQ(next_joint, static_cast<int>(tree.joints.size()));
  });
}

TEST(DofTree, ColumnsOfDenseBlocksDoNotOverlap) {
  for_random_cases(50, [](std::mt19937_64& random) {
    const Model model = test::random_model(random, {.max_dofs = 100});
    const DofTree& tree = model.tree();
    for (int i = 0; i < tree.nv; ++i) {
      const int rows = tree.trees[tree.chains[tree.chain[i]].tree].dof_count;
      const int next = i + 1 < tree.nv ? tree.column_start[i + 1] : tree.column_storage;
      EXPECT_LE(tree.column_start[i] + padded(rows), next);
      EXPECT_EQ(tree.column_start[i] % kLanes, 0);
    }
  });
}

TEST(DofTree, RunsListTheDofsAboveInAndBelowEachChain) {
  for_random_cases(50, [](std::mt19937_64& random) {
    const Model model = test::random_model(random);
    const DofTree& tree = model.tree();
    for (int i = 0; i < tree.nv; ++i) {
      const DofTree::Chain& chain = tree.chains[tree.chain[i]];
      std::set<int> listed, expected;
      for (int r = chain.first_run; r < chain.first_run + chain.run_count; ++r) {
        const DofTree::Run& run = tree.comparable_runs[r];
        for (int k = 0; k < run.count; ++k) {
          EXPECT_TRUE(listed.insert(tree.trees[chain.tree].first_dof + run.first + k).second) << "listed twice";
        }
      }
      for (int j = 0; j < tree.nv; ++j) {
        if (tree.moves(i, j) || tree.moves(j, i)) expected.insert(j);
      }
      EXPECT_EQ(listed, expected);
    }
  });
}

TEST(DofTree, BodiesHangOnTheLastDofThatMovesThem) {
  for_random_cases(50, [](std::mt19937_64& random) {
    const Model model = test::random_model(random);
    const VecX q = test::random_state(model, random).q;
    const test::PlainKinematics kin = test::plain_kinematics(model, q);
    for (std::size_t b = 0; b < model.bodies().size(); ++b) {
      const DofTree::BodyPlace& place = model.tree().bodies[b];
      int last = -1;
      for (int i = 0; i < model.nv(); ++i) {
        if (!kin.J[b].col(i).isZero(0)) last = i;
      }
      EXPECT_EQ(place.dof, last);
      EXPECT_EQ(place.slot, last < 0 ? -1 : model.tree().slot[last]);
      EXPECT_EQ(place.tree, last < 0 ? -1 : model.tree().chains[model.tree().chain[last]].tree);
    }
  });
}

TEST(DofTree, ItsFramesPutTheBodiesWhereTheJointsDo) {
  for_random_cases(50, [](std::mt19937_64& random) {
    const Model model = test::random_model(random);
    const DofTree& tree = model.tree();
    const VecX q = test::random_state(model, random).q;
    // Each joint's frame after its motion, which here is always about or along z.
    std::vector<Pose> X_WJ(tree.slot_count);
    for (const DofTree::TreeJoint& joint : tree.joints) {
      Pose motion;
      if (joint.type == JointType::ball) {
        motion.R = rotation_from_quaternion(q.segment<4>(joint.q_index));
      } else {
        const double turn = joint.type == JointType::prismatic ? 0 : q[joint.q_index];
        motion = {rotation_about(Vec3::UnitZ(), turn), joint.slide * q[joint.q_index] * Vec3::UnitZ()};
      }
      const Pose X_WP = joint.parent_slot < 0 ? Pose{} : X_WJ[joint.parent_slot];
      const int count = joint.type == JointType::ball ? 3 : 1;
      for (int k = 0; k < count; ++k) X_WJ[joint.slot + k] = X_WP * Pose{joint.R, joint.p} * motion;
    }
    const test::PlainKinematics kin = test::plain_kinematics(model, q);
    for (std::size_t b = 0; b < model.bodies().size(); ++b) {
      const DofTree::BodyPlace& place = tree.bodies[b];
      const Pose X_WB = (place.slot < 0 ? Pose{} : X_WJ[place.slot]) * place.X_JB;
      EXPECT_LT((X_WB.R - kin.X_WB[b].R).norm(), 1e-11);
      EXPECT_LT((X_WB.p - kin.X_WB[b].p).norm(), 1e-11 * (1 + kin.X_WB[b].p.norm()));
    }
  });
}

TEST(DofTree, LinksCarryTheMassOfTheirBodies) {
  for_random_cases(50, [](std::mt19937_64& random) {
    const Model model = test::random_model(random);
    const DofTree& tree = model.tree();
    std::vector<SpatialInertia> links(tree.slot_count);
    for (std::size_t b = 0; b < model.bodies().size(); ++b) {
      const DofTree::BodyPlace& place = tree.bodies[b];
      if (place.slot >= 0) links[place.slot] += model.bodies()[b].inertia.in(place.X_JB);
    }
    for (int slot = 0; slot < tree.slot_count; ++slot) {
      const auto number = [&](int row) { return tree.link.at(row, slot); };
      Mat3 about_centre;
      about_centre << number(4), number(5), number(6), number(5), number(7), number(8), number(6), number(8), number(9);
      const SpatialInertia link =
          SpatialInertia::from_centre(number(0), Vec3(number(1), number(2), number(3)), about_centre);
      EXPECT_LT((link.parameters() - links[slot].parameters()).norm(), 1e-12 * (1 + links[slot].parameters().norm()));
    }
  });
}

TEST(DofTree, StructureIsThatOfCopiesOnly) {
  std::mt19937_64 random(1);
  const Model model = test::random_model(random);
  Model copy = model;
  copy.set_inertia(BodyIndex(1), test::random_inertia(random));
  EXPECT_EQ(copy.tree().structure, model.tree().structure);
  EXPECT_NE(test::random_model(random).tree().structure, model.tree().structure);
}

TEST(DofTree, LongChainsAreCutButStayPaths) {
  ModelBuilder builder;
  std::string parent = "world";
  for (int i = 0; i < 100; ++i) {
    const std::string name = "link" + std::to_string(i);
    builder.add_body(parent, {.name = name, .inertia = SpatialInertia::sphere(1, 0.1)},
                     revolute("joint" + std::to_string(i), Vec3::UnitY(), Pose::translation(0, 0, 0.1)));
    parent = name;
  }
  const Model model = builder.build();
  EXPECT_GT(model.tree().chains.size(), 1u);
  EXPECT_EQ(model.tree().trees.size(), 1u);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(model.tree().subtree_end[i], 100);
  EXPECT_TRUE(model.tree().moves(0, 99));
  EXPECT_FALSE(model.tree().moves(99, 0));
}

}  // namespace
}  // namespace lithe
