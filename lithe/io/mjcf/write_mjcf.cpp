#include "lithe/io/write_mjcf.h"

#include "lithe/io/mjcf/write_parts.h"

namespace lithe {
namespace internal::mjcf {

// The shortest text that gives back the same number.
std::string text_of(double number) { return fmt::format("{}", number); }

std::string text_of(const ConstVecRef& numbers) {
  std::string text;
  for (const double x : numbers) text += fmt::format("{}{}", text.empty() ? "" : " ", x);
  return text;
}

void Output::pose(const Pose& X) {
  if (X.p != Vec3::Zero()) attribute("pos", X.p);
  if (X.R == Mat3::Identity()) return;
  const Vec4 q = quaternion_from_rotation(X.R);
  attribute("quat", text_of(Vec4(q.w(), q.x(), q.y(), q.z())));
}

void Output::warn(const std::string& kind, const std::string& text) {
  if (kinds_.insert(kind).second) warnings_.push_back(text);
}

NeutralBody neutral(const Model& model, const Body& body) {
  NeutralBody result;
  // MJCF has the joints in the body's frame, a Model from the parent outwards.
  std::vector<Pose> X_PJ;
  Pose at;
  for (const JointIndex j : body.joints) {
    at = at * model.joints()[j].placement;
    X_PJ.push_back(at);
  }
  result.X_PB = at * body.placement;
  const Pose X_BP = result.X_PB.inverse();
  for (const Pose& X : X_PJ) result.X_BJ.push_back(X_BP * X);
  return result;
}

std::vector<Pose> neutral_poses(const Model& model) {
  std::vector<Pose> X_WB(model.bodies().size());
  for (std::size_t b = 1; b < X_WB.size(); ++b) {
    const Body& body = model.bodies()[b];
    X_WB[b] = X_WB[body.parent] * neutral(model, body).X_PB;
  }
  return X_WB;
}

namespace {

// Writes <inertial>, or nothing for a body without mass and inertia. A moving body with a moment of 0 is one that
// MuJoCo refuses, which is worth a warning.
void write_inertial(const Body& body, bool moves, Output& out) {
  if (body.inertia.mass == 0 && body.inertia.rotational.isZero(0)) return;
  const Mat3 I = body.inertia.about_centre();
  out.open("inertial");
  out.attribute("pos", body.inertia.centre());
  out.attribute("mass", body.inertia.mass);
  const bool is_diagonal = I(0, 1) == 0 && I(0, 2) == 0 && I(1, 2) == 0;
  if (is_diagonal) {
    out.attribute("diaginertia", Vec3(I.diagonal()));
  } else {
    out.attribute("fullinertia", text_of((Vec6() << I(0, 0), I(1, 1), I(2, 2), I(0, 1), I(0, 2), I(1, 2)).finished()));
  }
  out.close();
  if (moves && !(I.diagonal().minCoeff() > 1e-15)) {
    out.warn("point mass",
             fmt::format("body '{}' moves and has a moment of inertia of 0: Lithe reads it back, but MuJoCo "
                         "refuses it",
                         body.name));
  }
}

// Writes the tree of bodies without recursion: bodies come depth first, so those that are open are a stack. Shapes,
// frames and the sites of loops are sorted by body first.
class BodyWriter {
 public:
  BodyWriter(const Model& model, const std::vector<Pose>& X_WB, Output& out)
      : model_(model), out_(out), bits_(contact_bits(model, out)), parts_(model.bodies().size()) {
    for (std::size_t s = 0; s < model.shapes().size(); ++s) parts_[model.shapes()[s].body].shapes.push_back(s);
    for (const Frame& frame : model.frames()) parts_[frame.body].sites.push_back(frame);
    for (const LoopClosure& loop : model.loops()) {
      if (!needs_sites(loop, X_WB)) continue;
      parts_[loop.a].sites.push_back({.name = site_name(loop, 'a'), .placement = loop.placement_a});
      parts_[loop.b].sites.push_back({.name = site_name(loop, 'b'), .placement = loop.placement_b});
    }
  }

  // Writes <worldbody>. Before a body is opened, those that are no parents of it are closed.
  void write() {
    out_.open("worldbody");
    write_parts(0);
    std::vector<int> open = {0};
    for (std::size_t b = 1; b < model_.bodies().size(); ++b) {
      const Body& body = model_.bodies()[b];
      for (; open.back() != body.parent; open.pop_back()) out_.close();
      open.push_back(static_cast<int>(b));
      write_body(static_cast<int>(b), body);
    }
    for (; !open.empty(); open.pop_back()) out_.close();
  }

  const std::vector<WrittenScrew>& screws() const { return screws_; }

 private:
  struct Parts {
    std::vector<std::size_t> shapes;
    std::vector<Frame> sites;
  };

  // Opens a <body> and writes all of it but the bodies that hang on it.
  void write_body(int index, const Body& body) {
    const NeutralBody at = neutral(model_, body);
    out_.open("body");
    out_.attribute("name", body.name);
    out_.pose(at.X_PB);
    write_inertial(body, !body.joints.empty(), out_);
    write_joints(model_, body, at, out_, screws_);
    write_parts(index);
  }

  // Writes the geoms and sites of a body.
  void write_parts(int body) {
    for (const std::size_t s : parts_[body].shapes) {
      write_geom(model_, model_.shapes()[s], bits_[s].first, bits_[s].second, out_);
    }
    for (const Frame& site : parts_[body].sites) {
      out_.open("site");
      out_.attribute("name", site.name);
      out_.pose(site.placement);
      out_.close();
    }
  }

  const Model& model_;
  Output& out_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> bits_;
  std::vector<Parts> parts_;
  std::vector<WrittenScrew> screws_;
};

}  // namespace

}  // namespace internal::mjcf

using namespace internal;

MjcfFile write_mjcf(const Model& model, const MjcfWriteOptions& options) {
  mjcf::Output out;
  out.open("mujoco");
  out.attribute("model", options.name);
  out.open("compiler");
  out.attribute("angle", "radian");
  out.attribute("inertiafromgeom", "false");  // masses are stated; geoms have none
  out.close();
  out.open("option");
  out.attribute("timestep", options.time_step);
  out.attribute("gravity", model.gravity());
  out.close();
  write_meshes(model, out);
  const std::vector<Pose> X_WB = mjcf::neutral_poses(model);
  mjcf::BodyWriter bodies(model, X_WB, out);
  bodies.write();
  write_contacts(model, out);
  write_equality(model, bodies.screws(), X_WB, out);
  write_actuators(model, out);
  out.close();
  return {out.xml(), out.warnings()};
}

}  // namespace lithe
