#include "lithe/io/sdf/tree.h"

#include <numeric>
#include <utility>

namespace lithe::internal {

namespace {

// Keeps track of which nodes are connected (union-find; find() halves the paths).
class Connected {
 public:
  explicit Connected(int count) : above_(static_cast<std::size_t>(count)) {
    std::iota(above_.begin(), above_.end(), 0);
  }

  int find(int node) {
    while (up(node) != node) node = up(node) = up(up(node));
    return node;
  }
  // False if they were connected before.
  bool unite(int a, int b) {
    a = find(a);
    b = find(b);
    if (a == b) return false;
    up(std::max(a, b)) = std::min(a, b);
    return true;
  }

 private:
  int& up(int node) { return above_[static_cast<std::size_t>(node)]; }
  std::vector<int> above_;
};

// Chooses the edges of the tree, and puts the others into `loops` and `redundant`. Edges that cannot be loop closures
// come first, so that what is left over can be one if possible. Nodes that are fixed are one with the world.
std::vector<char> choose_edges(const SdfGraph& graph, SdfSpanningTree& tree) {
  Connected connected(graph.nodes), rigid(graph.nodes);
  for (int node = 1; node < graph.nodes; ++node) {
    if (!graph.fixed[static_cast<std::size_t>(node)]) continue;
    connected.unite(0, node);
    rigid.unite(0, node);
  }
  std::vector<char> chosen(graph.edges.size(), 0);
  for (const bool closable : {false, true}) {
    for (std::size_t e = 0; e < graph.edges.size(); ++e) {
      const SdfGraph::Edge& edge = graph.edges[e];
      if (edge.closable == closable) chosen[e] = connected.unite(edge.parent, edge.child);
      if (edge.closable == closable && chosen[e] && edge.rigid) rigid.unite(edge.parent, edge.child);
    }
  }
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    if (chosen[e]) continue;
    const bool same = rigid.find(graph.edges[e].parent) == rigid.find(graph.edges[e].child);
    (same ? tree.redundant : tree.loops).push_back(static_cast<int>(e));
  }
  return chosen;
}

// The chosen edges by node, in both directions: those of node n are edges[begin[n]] … edges[begin[n + 1] − 1], in the
// order of the file.
struct Adjacency {
  std::vector<int> begin, edges;

  Adjacency(const SdfGraph& graph, const std::vector<char>& chosen)
      : begin(static_cast<std::size_t>(graph.nodes) + 1, 0) {
    const auto each = [&](auto visit) {
      for (std::size_t e = 0; e < graph.edges.size(); ++e) {
        if (!chosen[e]) continue;
        visit(graph.edges[e].parent, static_cast<int>(e));
        visit(graph.edges[e].child, static_cast<int>(e));
      }
    };
    each([&](int node, int) { ++begin[static_cast<std::size_t>(node) + 1]; });
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<int> next = begin;
    edges.resize(static_cast<std::size_t>(begin.back()));
    each([&](int node, int e) { edges[static_cast<std::size_t>(next[static_cast<std::size_t>(node)]++)] = e; });
  }
};

}  // namespace

SdfSpanningTree spanning_tree(const SdfGraph& graph) {
  SdfSpanningTree tree;
  tree.hangs.resize(static_cast<std::size_t>(graph.nodes));
  const std::vector<char> chosen = choose_edges(graph, tree);
  const Adjacency near(graph, chosen);
  // A node that is no chosen edge's child is a natural root: the file hangs things on it.
  std::vector<char> is_child(static_cast<std::size_t>(graph.nodes), 0), reached(is_child);
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    if (chosen[e]) is_child[static_cast<std::size_t>(graph.edges[e].child)] = 1;
  }
  // Adds all that can be reached from the root, breadth first. An edge that is met from its child's side is turned
  // round.
  const auto grow_from = [&](int root) {
    std::vector<int> queue = {root};
    reached[static_cast<std::size_t>(root)] = 1;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const int node = queue[i];
      if (node != 0) tree.order.push_back(node);
      for (int k = near.begin[static_cast<std::size_t>(node)]; k < near.begin[static_cast<std::size_t>(node) + 1];
           ++k) {
        const int e = near.edges[static_cast<std::size_t>(k)];
        const SdfGraph::Edge& edge = graph.edges[static_cast<std::size_t>(e)];
        const bool reversed = edge.child == node;
        const int other = reversed ? edge.parent : edge.child;
        if (std::exchange(reached[static_cast<std::size_t>(other)], char{1})) continue;
        tree.hangs[static_cast<std::size_t>(other)] = {.parent = node, .edge = e, .reversed = reversed};
        queue.push_back(other);
      }
    }
  };
  // What is part of the world comes first, so that nothing there becomes another's child.
  reached[0] = 1;
  for (int node = 1; node < graph.nodes; ++node)
    reached[static_cast<std::size_t>(node)] = graph.fixed[static_cast<std::size_t>(node)];
  grow_from(0);
  for (int node = 1; node < graph.nodes; ++node) {
    if (graph.fixed[static_cast<std::size_t>(node)]) grow_from(node);
  }
  // Then come the natural roots, and at last any node, for what is left without one.
  for (const bool any : {false, true}) {
    for (int node = 1; node < graph.nodes; ++node) {
      const auto n = static_cast<std::size_t>(node);
      if (!reached[n] && (any || !is_child[n])) grow_from(node);
    }
  }
  return tree;
}

}  // namespace lithe::internal
