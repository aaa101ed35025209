#include <gtest/gtest.h>

#include "lithe/model/model_builder.h"
#include "lithe/model/parameters.h"
#include "tests/support/error_text.h"

namespace lithe {
namespace {

Model arm_beside_table() {
  ModelBuilder builder;
  builder.add_body("world", {.name = "link", .inertia = SpatialInertia::sphere(1, 0.1)},
                   revolute("hinge", Vec3::UnitY()));
  builder.add_body("world", {.name = "table"});
  builder.add_shape("link", {.name = "skin", .geometry = Capsule{0.1, 0.2}});
  builder.add_shape("table", {.name = "top", .geometry = ConvexMesh{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}});
  builder.add_frame("link", {.name = "tip"});
  builder.add_motor("hinge", velocity_motor("drive"));
  return builder.build();
}

template <class Change>
bool renews(Change change) {
  Model model = arm_beside_table();
  const std::uint64_t before = model.collision_revision();
  change(model);
  return model.collision_revision() != before;
}

template <class Change>
bool shape_change_renews(const char* shape, Change change) {
  return renews([&](Model& model) {
    Shape changed = model.shapes()[model.shape(shape)];
    change(changed);
    model.set_shape(model.shape(shape), changed);
  });
}

bool parameter_renews(const char* name, double value) {
  return renews([&](Model& model) { set_parameter(model, name, value); });
}

TEST(CollisionRevision, IsSharedByCopiesUntilOneChanges) {
  const Model original = arm_beside_table();
  Model copy = original;
  EXPECT_EQ(copy.collision_revision(), original.collision_revision());
  set_parameter(copy, "shape/skin/radius", 0.3);
  EXPECT_NE(copy.collision_revision(), original.collision_revision());
  Model other = original;
  set_parameter(other, "shape/skin/radius", 0.3);
  EXPECT_NE(other.collision_revision(), copy.collision_revision());  // no two changes share one
}

TEST(CollisionRevision, IsAnotherForEveryModelBuilt) {
  EXPECT_NE(arm_beside_table().collision_revision(), arm_beside_table().collision_revision());
  EXPECT_NE(ModelBuilder().build().collision_revision(), 0u);
}

TEST(CollisionRevision, ChangesWithGeometryPlaceMarginAndFilter) {
  EXPECT_TRUE(shape_change_renews("skin", [](Shape& shape) { shape.geometry = Sphere{0.1}; }));
  EXPECT_TRUE(shape_change_renews("skin", [](Shape& shape) { shape.geometry = Capsule{0.1, 0.3}; }));
  EXPECT_TRUE(shape_change_renews("skin", [](Shape& shape) { shape.placement.p.x() = 1; }));
  EXPECT_TRUE(shape_change_renews("skin", [](Shape& shape) { shape.margin = 0.01; }));
  EXPECT_TRUE(shape_change_renews("skin", [](Shape& shape) { shape.filter.mask = 2; }));
  EXPECT_TRUE(shape_change_renews("top", [](Shape& shape) { std::get<ConvexMesh>(shape.geometry).points[3].z() = 2; }));
}

TEST(CollisionRevision, ChangesWithThePlacementsOfBodiesAndJoints) {
  EXPECT_TRUE(parameter_renews("body/table/z", 0.7));
  EXPECT_TRUE(parameter_renews("body/link/z", 0.7));
  EXPECT_TRUE(parameter_renews("joint/hinge/x", 0.7));
}

TEST(CollisionRevision, StaysWithAMaterialAndWithWhateverDoesNotTouch) {
  EXPECT_FALSE(parameter_renews("shape/skin/friction", 0.3));
  EXPECT_FALSE(parameter_renews("shape/top/restitution", 0.5));
  EXPECT_FALSE(parameter_renews("body/link/mass", 3));
  EXPECT_FALSE(parameter_renews("joint/hinge/damping", 3));
  EXPECT_FALSE(parameter_renews("frame/tip/x", 3));
  EXPECT_FALSE(parameter_renews("motor/drive/max_effort", 3));
  EXPECT_FALSE(parameter_renews("gravity/x", 3));
}

TEST(CollisionRevision, StaysWhenWhatIsThereIsSetAgain) {
  EXPECT_FALSE(renews([](Model& model) {
    const std::vector<std::string> names = parameter_names(model);
    set_parameters(model, names, parameters(model, names));
  }));
}

TEST(CollisionRevision, StaysWhenAChangeIsRefused) {
  EXPECT_FALSE(renews([](Model& model) {
    test::expect_error([&] { set_parameter(model, "shape/skin/radius", -1); });
    Joint hinge = model.joints()[0];
    hinge.placement.p.x() = 1;
    hinge.damping = -1;
    test::expect_error([&] { model.set_joint(JointIndex(0), hinge); });
  }));
}

}  // namespace
}  // namespace lithe
