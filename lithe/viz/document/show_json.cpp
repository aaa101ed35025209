#include "lithe/viz/document/show_json.h"

#include <cmath>

#include "lithe/core/check.h"
#include "lithe/core/internal/overloaded.h"
#include "lithe/viz/document/internal/base64.h"
#include "lithe/viz/document/internal/json_text.h"

namespace lithe {

using namespace internal;

namespace {

// A body; where it is at each time is the motions' affair.
void put_body(JsonText& json, const ShowBody& body) {
  json.open('{')
      .key("name")
      .text(body.name)
      .key("fixed")
      .truth(body.fixed())
      .key("robot")
      .number(body.robot)
      .close('}');
}

// The coordinates of points one after the other, as the document's arrays have them.
std::vector<float> floats(const std::vector<Vec3>& points) {
  std::vector<float> out;
  out.reserve(3 * points.size());
  for (const Vec3& point : points) {
    for (const double x : point) out.push_back(show_number(x));
  }
  return out;
}

// What a shape is, with its sizes in m.
void put_geometry(JsonText& json, const ShowShape& shape) {
  const auto put_rod = [&](const char* kind, const auto& rod) {
    json.key("kind").plain(kind).key("radius").number(rod.radius).key("half_length").number(rod.half_length);
  };
  std::visit(
      Overloaded{[&](const Sphere& s) { json.key("kind").plain("sphere").key("radius").number(s.radius); },
                 [&](const Capsule& c) { put_rod("capsule", c); }, [&](const Cylinder& c) { put_rod("cylinder", c); },
                 [&](const Box& b) { json.key("kind").plain("box").key("half_size").numbers(b.half_size); },
                 [&](const Plane&) { json.key("kind").plain("plane"); },
                 [&](const ShowMesh& m) {
                   json.key("kind").plain("mesh").key("vertices").plain(base64(floats(m.vertices)));
                   json.key("triangles").plain(base64(m.triangles));
                 }},
      shape.geometry);
}

// A shape with its place on its body. Its colour is null where the viewer chooses.
void put_shape(JsonText& json, const ShowShape& shape) {
  json.open('{').key("name").text(shape.name).key("body").number(shape.body);
  json.key("role").plain(shape.visual ? "visual" : "collision");
  put_geometry(json, shape);
  json.key("position").numbers(shape.placement.p);
  json.key("quaternion").numbers(quaternion_from_rotation(shape.placement.R));
  json.key("color");
  if (shape.color) {
    json.numbers(*shape.color);
  } else {
    json.null();
  }
  json.close('}');
}

void put_joint(JsonText& json, const ShowJoint& joint) {
  json.open('{').key("name").text(joint.name).key("type").plain(to_string(joint.type)).key("body").number(joint.body);
  json.key("position").numbers(joint.position).key("axis").numbers(joint.axis).close('}');
}

// A motion. All that grows with it is base64, which is exact and shorter than numbers in digits.
void put_motion(JsonText& json, const ShowTrack& track) {
  json.open('{').key("name").text(track.name);
  json.key("times").plain(base64(track.times));
  json.key("poses").plain(base64(track.poses));
  json.key("contact_counts").plain(base64(track.contact_counts));
  json.key("contact_shapes").plain(base64(track.contact_shapes));
  json.key("contact_values").plain(base64(track.contact_values));
  json.key("centre_of_mass").plain(base64(track.centre_of_mass));
  json.key("series").open('[');
  for (const ShowTrack::Series& series : track.series) {
    json.open('{').key("name").text(series.name).key("unit").text(series.unit);
    json.key("values").plain(base64(series.values)).close('}');
  }
  json.close(']');
  if (track.gradients) {
    json.key("gradients").open('{').key("loss").text(track.gradients->loss);
    json.key("bodies").plain(base64(track.gradients->bodies));
    json.key("joints").plain(base64(track.gradients->joints)).close('}');
  }
  json.close('}');
}

// Points that are not finite (the cost of a motion that diverged) leave a gap.
void put_curve(JsonText& json, const ShowCurve& curve) {
  LITHE_CHECK(curve.x.size() == curve.y.size(), "curve '{}' has {} x and {} y", curve.name, curve.x.size(),
              curve.y.size());
  std::vector<float> x, y;
  for (std::size_t i = 0; i < curve.x.size(); ++i) {
    if (!std::isfinite(curve.x[i]) || !std::isfinite(curve.y[i])) continue;
    x.push_back(show_number(curve.x[i]));
    y.push_back(show_number(curve.y[i]));
  }
  json.open('{').key("name").text(curve.name).key("x").plain(base64(x)).key("y").plain(base64(y));
  json.key("x_label").text(curve.x_label).key("y_label").text(curve.y_label).key("log_y").truth(curve.log_y).close('}');
}

void put_excepted_pair(JsonText& json, const ShowExceptedPair& pair) {
  json.open('{').key("a").text(pair.a).key("b").text(pair.b).key("reason").text(pair.reason).close('}');
}

// A member of the document that is a list, each item written by `put`.
template <class Item, class Put>
void put_list(JsonText& json, const char* name, const std::vector<Item>& items, Put put) {
  json.key(name).open('[');
  for (const Item& item : items) put(json, item);
  json.close(']');
}

}  // namespace

std::string to_json(const ShowDocument& show) {
  JsonText json;
  json.open('{').key("format").plain("lithe-show").key("version").number(1).key("title").text(show.title);
  json.key("time_step").number(show.time_step).key("up").plain("z").key("gravity").numbers(show.gravity);
  put_list(json, "bodies", show.bodies, put_body);
  put_list(json, "shapes", show.shapes, put_shape);
  put_list(json, "joints", show.joints, put_joint);
  put_list(json, "motions", show.motions, put_motion);
  put_list(json, "curves", show.curves, put_curve);
  put_list(json, "excepted_pairs", show.excepted_pairs, put_excepted_pair);
  json.close('}');
  return std::move(json).str();
}

std::string with_document(std::string_view viewer_page, std::string_view json) {
  const std::size_t place = viewer_page.find(kShowPlaceholder);
  LITHE_CHECK(place != std::string_view::npos, "the viewer's page has no place for the document: {} is not in it",
              kShowPlaceholder);
  const std::size_t content = place + kShowPlaceholder.find("null");
  std::string page(viewer_page.substr(0, content));
  page += json;
  page += viewer_page.substr(content + std::string_view("null").size());
  return page;
}

std::string to_html(const ShowDocument& show, std::string_view viewer_page) {
  return with_document(viewer_page, to_json(show));
}

}  // namespace lithe
