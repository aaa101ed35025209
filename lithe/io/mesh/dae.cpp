#include <Eigen/Geometry>

#include <cmath>
#include <numbers>

#include "lithe/io/mesh/dae_geometry.h"
#include "lithe/spatial/internal/robust_norm.h"
#include "lithe/spatial/rotation.h"

// Collada 1.4 and 1.5 (Khronos): a scene of nodes with transforms, which show geometries and other nodes. All that the
// scene shows becomes one mesh. Materials, lights, cameras and animations are passed over.
//
// A small file can ask for any amount of work, by nodes that show others twice, which show others twice, and so on. So
// each node is read once, into something small, and how often nodes are shown is counted.
namespace lithe {

using namespace internal;

namespace {

constexpr int kMostNested = 500;  // nodes that show nodes, since showing them is recursive

// The affine map x ↦ A x + p. Collada's transforms may stretch and mirror, which a Pose cannot.
struct AffineMap {
  Mat3 A = Mat3::Identity();
  Vec3 p = Vec3::Zero();

  friend AffineMap operator*(const AffineMap& a, const AffineMap& b) { return {a.A * b.A, a.p + a.A * b.p}; }
  friend Vec3 operator*(const AffineMap& a, const Vec3& x) { return a.p + a.A * x; }
};

// Reads a <matrix>, sixteen numbers row by row. A last row other than 0 0 0 1 would be a projection.
AffineMap matrix_of(const XmlElement& element) {
  const VecX rows = element.text_numbers(16, 16);
  const auto M = Eigen::Map<const Eigen::Matrix<double, 4, 4, Eigen::RowMajor>>(rows.data());
  if (M(3, 0) != 0 || M(3, 1) != 0 || M(3, 2) != 0 || M(3, 3) != 1) {
    element.fail(
        fmt::format("the last row of <matrix> is {} {} {} {}; it must be 0 0 0 1", M(3, 0), M(3, 1), M(3, 2), M(3, 3)));
  }
  return {M.topLeftCorner<3, 3>(), M.topRightCorner<3, 1>()};
}

// Reads a <rotate>: an axis of any length and an angle in degrees. Whole turns are taken off first, since a large angle
// in radians would lose digits.
AffineMap rotation_of(const XmlElement& element) {
  const VecX axis_and_degrees = element.text_numbers(4, 4);
  const Vec3 axis = axis_and_degrees.head<3>();
  const double length = robust_norm(axis);
  if (!(length > 0)) element.fail("the axis of <rotate> is 0 0 0");
  const double degrees = std::remainder(axis_and_degrees[3], 360.0);
  return {rotation_exp(axis / length * (degrees * std::numbers::pi / 180)), Vec3::Zero()};
}

// The map from the file's unit and axes, which <asset> names, to metres with z up. Where it is silent the format's
// defaults hold: the unit is the metre, and y is up.
AffineMap scene_frame(const XmlElement& root) {
  const XmlElement asset = root.child("asset");
  const XmlElement up_axis = asset ? asset.child("up_axis") : XmlElement();
  const XmlElement unit = asset ? asset.child("unit") : XmlElement();
  AffineMap frame;
  // The format's table says which axes point to the right, up and towards the viewer: −y, x, z for X_UP; x, y, z for
  // Y_UP; x, z, −y for Z_UP.
  const std::string_view up = up_axis ? up_axis.text() : "Y_UP";
  if (up == "X_UP") {
    frame.A << 0, -1, 0, 0, 0, -1, 1, 0, 0;
  } else if (up == "Y_UP") {
    frame.A << 1, 0, 0, 0, 0, -1, 0, 1, 0;
  } else if (up != "Z_UP") {
    up_axis.fail(fmt::format("<up_axis> is {}; it must be X_UP, Y_UP or Z_UP", shown(up)));
  }
  const double metres = unit ? unit.number_or("meter", 1) : 1;
  if (!(metres > 0)) unit.fail(fmt::format("attribute meter of <unit> is {}; it must be positive", metres));
  frame.A *= metres;
  return frame;
}

// Something that a node shows: the element that says so, and what that means.
struct Link {
  XmlElement element;
  int target;  // the number of a node or geometry; -1 if the element's URL leads nowhere
};

// A <node> with what it shows.
struct Node {
  AffineMap map;            // the product of the node's transforms
  XmlElement refused;       // a transform that is not read, or none
  std::vector<Link> nodes;  // those inside it, and those of <instance_node>
  std::vector<Link> geometries;
  bool open = false;  // it is being shown at the moment
};

// Reads the nodes of a document, then shows the scene and collects what is seen.
class SceneReader {
 public:
  SceneReader(const XmlElement& root, std::size_t file_bytes, const LoadLimits& limits)
      : root_(root), geometries_(root, file_bytes, limits), builder_(limits), visits_left_(limits.elements) {}

  // The mesh of all that the document's <scene> shows, in metres and z up.
  TriangleMesh read(const std::string& file) && {
    const AffineMap world = scene_frame(root_);
    read_nodes();
    const XmlElement scene = root_.child("scene");
    const XmlElement instance = scene ? scene.child("instance_visual_scene") : XmlElement();
    if (instance) {
      show_all(scenes_[scene_numbers_.required(instance, "url")], world);
    } else {
      show_everything(world);
    }
    return std::move(builder_).finish(file);
  }

 private:
  // Numbers the nodes of all libraries. A scene is the list of its outermost nodes.
  void read_nodes() {
    for (const XmlElement& library : root_.children("library_nodes")) {
      for (const XmlElement& node : library.children("node")) read_node(node);
    }
    for (const XmlElement& library : root_.children("library_visual_scenes")) {
      for (const XmlElement& scene : library.children("visual_scene")) {
        scene_numbers_.add(scene, static_cast<int>(scenes_.size()));
        std::vector<Link> links;
        for (const XmlElement& node : scene.children("node")) links.push_back({node, read_node(node)});
        scenes_.push_back(std::move(links));
      }
    }
    // Only now all nodes have their numbers.
    for (Node& node : nodes_) {
      for (Link& link : node.nodes) {
        if (link.element.name() != "instance_node") continue;
        if (const int* number = node_numbers_.find(link.element, "url")) link.target = *number;
      }
    }
  }

  // Reads a <node> and those inside it, and returns its number. The recursion is as deep as the XML is nested, which is
  // bounded. Transforms are multiplied in their order in the file, so that the last one acts first.
  int read_node(const XmlElement& element) {
    const int number = static_cast<int>(nodes_.size());
    node_numbers_.add(element, number);
    // The place in the list is taken before the nodes inside take theirs.
    nodes_.emplace_back();
    Node node;
    for (const XmlElement& child : element.children()) {
      const std::string_view kind = child.name();
      if (kind == "matrix") {
        node.map = node.map * matrix_of(child);
      } else if (kind == "translate") {
        node.map = node.map * AffineMap{Mat3::Identity(), child.text_numbers(3, 3)};
      } else if (kind == "rotate") {
        node.map = node.map * rotation_of(child);
      } else if (kind == "scale") {
        node.map = node.map * AffineMap{Vec3(child.text_numbers(3, 3)).asDiagonal(), Vec3::Zero()};
      } else if (kind == "lookat" || kind == "skew") {
        // It is no error yet: cameras have <lookat>, and no geometry may hang below.
        node.refused = child;
      } else if (kind == "node") {
        node.nodes.push_back({child, read_node(child)});
      } else if (kind == "instance_node") {
        node.nodes.push_back({child, -1});
      } else if (kind == "instance_geometry" || kind == "instance_controller") {
        const int* geometry = geometries_.find(child);
        node.geometries.push_back({child, geometry ? *geometry : -1});
      }
    }
    nodes_[number] = std::move(node);
    return number;
  }

  // Where the document names no scene, all of them are shown, and if it has none, all geometries.
  void show_everything(const AffineMap& world) {
    for (const std::vector<Link>& scene : scenes_) show_all(scene, world);
    if (!scenes_.empty()) return;
    for (int i = 0; i < geometries_.count(); ++i) add(geometries_.mesh(i), world, geometries_.element(i));
  }

  void show_all(const std::vector<Link>& nodes, const AffineMap& X_WP) {
    for (const Link& link : nodes) show(link, X_WP, {}, 1);
  }

  // Shows a node whose parent has the map X_WP, with everything below it. `refused` is a transform further up that is
  // not read; it matters only if there is a geometry below.
  void show(const Link& link, const AffineMap& X_WP, XmlElement refused, int depth) {
    if (link.target < 0) node_numbers_.required(link.element, "url");
    Node& node = nodes_[link.target];
    if (node.open) {
      const std::string url = link.element.required_attribute("url");
      link.element.fail(fmt::format("the node {} shows itself, directly or through others; take this out", shown(url)));
    }
    if (depth > kMostNested) link.element.fail(fmt::format("nodes show nodes more than {} deep", kMostNested));
    if (node.refused) refused = node.refused;
    const AffineMap X_WN = X_WP * node.map;
    node.open = true;
    for (const Link& geometry : node.geometries) show_geometry(geometry, X_WN, refused);
    for (const Link& child : node.nodes) {
      count_visit(child.element);
      show(child, X_WN, refused, depth + 1);
    }
    node.open = false;
  }

  // Shows an <instance_geometry>. Whatever is not read is refused here at last, where something would look wrong
  // without it.
  void show_geometry(const Link& link, const AffineMap& X_WN, const XmlElement& refused) {
    count_visit(link.element);
    if (refused) {
      refused.fail(fmt::format("<{}> is not read; export the mesh with its transforms applied", refused.name()));
    }
    if (link.element.name() == "instance_controller") {
      link.element.fail("skins and morphs are not read; export the mesh without its armature");
    }
    if (link.target < 0) geometries_.required(link.element);
    add(geometries_.mesh(link.target), X_WN, link.element);
  }

  // Counts how often nodes and geometries are shown, against LoadLimits::elements.
  void count_visit(const XmlElement& element) {
    if (--visits_left_ < 0) element.fail("the scene shows more nodes and geometries than LoadLimits::elements allows");
  }

  // Adds a geometry to the mesh of the scene. Errors are at the element that shows it.
  void add(const TriangleMesh& mesh, const AffineMap& X_WG, const XmlElement& element) {
    const ElementCursor cursor(element);
    builder_.expect_vertices(mesh.vertices.size(), cursor);
    builder_.expect_triangles(mesh.triangles.size(), cursor);
    const auto first = static_cast<std::int32_t>(builder_.mesh().vertices.size());
    for (const Vec3& p : mesh.vertices) builder_.add_vertex(X_WG * p, cursor);
    // A mirror turns the inside out; the other order of the corners turns it back.
    const bool mirrored = X_WG.A.col(0).cross(X_WG.A.col(1)).dot(X_WG.A.col(2)) < 0;
    for (const auto& [a, b, c] : mesh.triangles) {
      builder_.add_triangle(first + a, first + (mirrored ? c : b), first + (mirrored ? b : c), cursor);
    }
  }

  XmlElement root_;
  ColladaGeometries geometries_;
  std::vector<Node> nodes_;
  std::vector<std::vector<Link>> scenes_;
  IdTable<int> node_numbers_ = IdTable<int>("node");
  IdTable<int> scene_numbers_ = IdTable<int>("visual_scene");
  MeshBuilder builder_;
  int visits_left_;
};

}  // namespace

TriangleMesh parse_dae(std::string_view text, const std::string& file, const LoadLimits& limits) {
  check_mesh_bytes(text, file, limits);
  int elements_left = limits.elements;
  const XmlDocument document(text, file, elements_left);
  const XmlElement root = document.root();
  if (root.name() != "COLLADA")
    root.fail(fmt::format("{} where COLLADA is expected as the first element", shown(root.name())));
  if (const char* version = root.attribute("version")) {
    const std::string_view number = version;
    if (!number.starts_with("1.4") && !number.starts_with("1.5")) {
      root.fail(fmt::format("Collada {} is not read; export it as 1.4 or 1.5", shown(number)));
    }
  }
  return SceneReader(root, text.size(), limits).read(file);
}

}  // namespace lithe
