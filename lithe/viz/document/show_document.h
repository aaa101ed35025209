#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lithe/io/loaded_model.h"
#include "lithe/viz/document/show_motion.h"

namespace lithe {

// Everything that a viewer needs to show motions of a model, and nothing to compute: where each body is at each time,
// what it looks like, what touches. docs/show.md has the JSON that to_json() makes of it; to_html() and to_glb() give
// files that people open.
//
// Arrays that grow with the length of a motion are floats: that is what leaves for the graphics card in the end.

// A surface of triangles, in the frame of the shape that it belongs to (m).
struct ShowMesh {
  std::vector<Vec3> vertices = {};
  std::vector<std::uint32_t> triangles = {};  // three numbers of vertices each, anticlockwise seen from outside
};

// A body as the viewer lists it.
struct ShowBody {
  std::string name;
  int robot = -1;     // bodies that hang together have one number, for the palette; −1: fixed in the world
  Pose neutral = {};  // X_WB in the neutral configuration
  bool fixed() const { return robot < 0; }
};

// Something to be seen on a body. Geometry is in its own frame G, as in model/shape.h.
struct ShowShape {
  std::string name;
  int body = 0;
  bool visual = false;  // only to be seen; else it collides
  std::variant<Sphere, Capsule, Box, Cylinder, Plane, ShowMesh> geometry = Sphere{};
  Pose placement = {};             // X_BG
  std::optional<Vec4> color = {};  // red, green, blue, opacity; none: the viewer's choice
};

// Place and axis in the frame of the body that the joint carries. Where further joints lie between (the x of a free
// joint), as it is in the neutral configuration.
struct ShowJoint {
  std::string name;
  JointType type = JointType::revolute;
  int body = 0;
  Vec3 position = Vec3::Zero();
  Vec3 axis = Vec3::UnitZ();
};

// Two bodies that never touch, whatever they do, and why, as a sentence.
struct ShowExceptedPair {
  std::string a, b, reason;
};

// A motion as it is drawn. T frames, B bodies, C contacts in all frames together.
struct ShowTrack {
  struct Series {
    std::string name, unit;
    std::vector<float> values;  // T
  };
  struct Gradients {
    std::string loss;
    std::vector<float> bodies, joints;  // T × B × 3, T × joints
  };
  std::string name;
  std::vector<float> times;                   // T, s; every one above the one before
  std::vector<float> poses;                   // T × B × 7: position, unit quaternion x y z w; of X_WB
  std::vector<std::uint32_t> contact_counts;  // T
  std::vector<std::uint32_t> contact_shapes;  // C × 2: a, b
  std::vector<float> contact_values;          // C × 9: point, normal from b to a, force on a in N
  std::vector<float> centre_of_mass;          // T × 3, or empty: the model has no mass that moves
  std::vector<Series> series;
  std::optional<Gradients> gradients;

  std::size_t frames() const { return times.size(); }
};

// A plot that is not over time: the cost by the solver's iterations.
struct ShowCurve {
  std::string name;
  std::vector<double> x, y;
  std::string x_label = {}, y_label = {};
  bool log_y = false;
};

// The whole document: the parts that do not move with time, and the motions.
struct ShowDocument {
  std::string title;
  double time_step = 0;  // s
  Vec3 gravity = Vec3::Zero();
  std::vector<ShowBody> bodies = {};   // the world first
  std::vector<ShowShape> shapes = {};  // those that collide first, with the model's numbers, then visuals
  std::vector<ShowJoint> joints = {};
  std::vector<ShowTrack> motions = {};
  // Empty from make_show(): to be added by who knows them.
  std::vector<ShowCurve> curves = {};
  std::vector<ShowExceptedPair> excepted_pairs = {};
};

// Computes poses, centres of mass and four series: kinetic, potential and total energy, and the sum of |contact force|.
//
// Times are rounded to floats. Where that would merge frames (a clock that starts at a billion seconds), they count from
// the motion's first frame instead.
//
// Errors: sizes that do not fit the model, times that do not ascend, numbers that are not finite, contacts of unknown
// shapes, visuals of unknown bodies.
ShowDocument make_show(const Model& model, const std::vector<Visual>& visuals, std::string title, double time_step,
                       const std::vector<ShowMotion>& motions);

// LoadedModel::excepted_pairs, for the document.
std::vector<ShowExceptedPair> show_excepted_pairs(const std::vector<ExceptedPair>& pairs);

// One of its motions alone.
ShowTrack make_track(const Model& model, const ShowMotion& motion);

// The nearest float. What is too large for one becomes the largest; NaN is an Error.
float show_number(double value);

}  // namespace lithe
