#pragma once

#include <vector>

namespace lithe::internal {

// The links and joints of an SDF file as a graph. A Model is a tree and a few loops that close it.
//
// Node 0 is the world. Joints are taken into the tree as long as they connect what is not connected yet, those that
// could not be loop closures first. The tree grows from the world, and elsewhere from the first link that is no joint's
// child; a joint that is met from its child's side is turned round.
struct SdfGraph {
  struct Edge {
    int parent = 0;
    int child = 0;
    bool rigid = false;     // a fixed joint
    bool closable = false;  // a fixed or ball joint, which may be a loop closure
  };
  int nodes = 1;
  std::vector<Edge> edges = {};
  std::vector<char> fixed = {};  // per node: it is part of the world
};

// The tree that was chosen, and what is left over.
struct SdfSpanningTree {
  // How a node hangs on the one above it.
  struct Hang {
    int parent = 0;
    int edge = -1;          // −1: a root, or fixed to the world
    bool reversed = false;  // the edge's child is nearer to the root
  };
  std::vector<Hang> hangs = {};     // per node; the world's is empty
  std::vector<int> order = {};      // nodes, parents before children; without the world
  std::vector<int> loops = {};      // edges that close loops
  std::vector<int> redundant = {};  // edges between what is rigidly connected anyway
};

SdfSpanningTree spanning_tree(const SdfGraph& graph);

}  // namespace lithe::internal
