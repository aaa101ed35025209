#include <gtest/gtest.h>

#include "tests/io/mjcf_text.h"
#include "tests/support/constants.h"

// Masses and moments from geoms, by formulas that anyone can look up, and what the compiler does to them.
namespace lithe::test {
namespace {

SpatialInertia inertia_of(const std::string& inside, const std::string& before = "") {
  const LoadedModel loaded =
      load_mjcf_text(before + "<worldbody><body name=\"b\"><freejoint/>" + inside + "</body></worldbody>");
  return body_of(loaded, "b").inertia;
}

void expect_inertia(const SpatialInertia& inertia, double mass, const Vec3& centre, const Vec3& moments) {
  EXPECT_NEAR(inertia.mass, mass, 1e-13 * mass);
  EXPECT_TRUE(inertia.centre().isApprox(centre, 1e-13) || (inertia.centre() - centre).norm() < 1e-14);
  const Mat3 expected = moments.asDiagonal();
  EXPECT_TRUE(inertia.about_centre().isApprox(expected, 1e-12)) << inertia.about_centre();
}

TEST(MjcfInertia, OfASphere) {
  const double m = 1000 * 4.0 / 3 * kPi * 0.001;
  expect_inertia(inertia_of("<geom size=\"0.1\" pos=\"1 2 3\"/>"), m, Vec3(1, 2, 3), Vec3::Constant(0.4 * m * 0.01));
}

TEST(MjcfInertia, OfABox) {
  const double m = 500 * 0.2 * 0.4 * 0.6;  // half sizes are given
  expect_inertia(inertia_of("<geom type=\"box\" size=\"0.1 0.2 0.3\" density=\"500\"/>"), m, Vec3::Zero(),
                 m / 12 * Vec3(0.16 + 0.36, 0.04 + 0.36, 0.04 + 0.16));
}

TEST(MjcfInertia, OfACylinder) {
  expect_inertia(inertia_of("<geom type=\"cylinder\" size=\"0.1 0.2\" mass=\"2\"/>"), 2, Vec3::Zero(),
                 2 * Vec3(0.01 / 4 + 0.16 / 12, 0.01 / 4 + 0.16 / 12, 0.01 / 2));
}

TEST(MjcfInertia, OfACapsule) {
  // A cylinder of length 0.4 and two half balls, each with its centre 3/8 r beyond the cylinder's end and about that
  // centre (2/5 − 9/64) m r² across.
  const double r = 0.1, L = 0.4;
  const double shaft = 1000 * kPi * r * r * L, half = 1000 * 2.0 / 3 * kPi * r * r * r;
  const double reach = L / 2 + 3.0 / 8 * r;
  const double across = shaft * (r * r / 4 + L * L / 12) + 2 * half * ((0.4 - 9.0 / 64) * r * r + reach * reach);
  const double along = shaft * r * r / 2 + 2 * half * 0.4 * r * r;
  expect_inertia(inertia_of("<geom type=\"capsule\" size=\"0.1 0.2\"/>"), shaft + 2 * half, Vec3::Zero(),
                 Vec3(across, across, along));
  expect_inertia(inertia_of("<geom type=\"capsule\" size=\"0.1\" fromto=\"0 0 0 0.4 0 0\"/>"), shaft + 2 * half,
                 Vec3(0.2, 0, 0), Vec3(along, across, across));
}

TEST(MjcfInertia, OfAnEllipsoid) {
  expect_inertia(inertia_of("<geom type=\"ellipsoid\" size=\"0.1 0.2 0.3\" mass=\"5\"/>"), 5, Vec3::Zero(),
                 Vec3(0.04 + 0.09, 0.01 + 0.09, 0.01 + 0.04));
}

// The unit cube's corners, and its surface as twelve triangles.
const std::string kCorners = "vertex=\"0 0 0 1 0 0 1 1 0 0 1 0 0 0 1 1 0 1 1 1 1 0 1 1\"";
const std::string kFaces = " face=\"0 2 1 0 3 2 4 5 6 4 6 7 0 1 5 0 5 4 1 2 6 1 6 5 2 3 7 2 7 6 3 0 4 3 4 7\"";
const std::string kGeom = "<geom type=\"mesh\" mesh=\"m\"/>";

std::string mesh(const std::string& attributes) { return "<asset><mesh name=\"m\" " + attributes + "/></asset>"; }

TEST(MjcfInertia, OfAMeshIsThatOfItsVolume) {
  const Vec3 middle = Vec3::Constant(0.5), moments = Vec3::Constant(1000.0 / 6);
  expect_inertia(inertia_of(kGeom, mesh(kCorners + kFaces)), 1000, middle, moments);
  expect_inertia(inertia_of(kGeom, mesh(kCorners)), 1000, middle, moments);  // the hull
  expect_inertia(inertia_of(kGeom, mesh(kCorners + kFaces + " inertia=\"convex\"")), 1000, middle, moments);
  // Stretched by 2 along x and mirrored: 2000 kg, and 2000/12·(1 + 1, 4 + 1, 4 + 1).
  expect_inertia(inertia_of(kGeom, mesh(kCorners + kFaces + " scale=\"-2 1 1\"")), 2000, Vec3(-1, 0.5, 0.5),
                 2000.0 / 12 * Vec3(2, 5, 5));
}

TEST(MjcfInertia, OfAShellIsThatOfItsSurface) {
  // Six unit squares of 1000 kg: four whose middle is ½ away across the axis and which are thin, two that turn flat.
  // About an axis through the middle: each of the four sides m(1/12 + 1/4), each of the two m(1/12 + 1/12).
  const double moment = 4 * 1000 * (1.0 / 12 + 0.25) + 2 * 1000 * (1.0 / 6);
  expect_inertia(inertia_of(kGeom, mesh(kCorners + kFaces + " inertia=\"shell\"")), 6000, Vec3::Constant(0.5),
                 Vec3::Constant(moment));
}

// What MuJoCo 4.0 has in body_mass, body_ipos and body_inertia for the same file.
TEST(MjcfInertia, OfAMeshWithAHoleIsThatOfMujocosPyramids) {
  const std::string without_lid = " face=\"0 2 1 0 3 2 0 1 5 0 5 4 1 2 6 1 6 5 2 3 7 2 7 6 3 0 4 3 4 7\"";
  const LoadedModel loaded = load_mjcf_text(mesh(kCorners + without_lid) + "<worldbody><body name=\"b\"><freejoint/>" +
                                            kGeom + "</body></worldbody>");
  const SpatialInertia& inertia = body_of(loaded, "b").inertia;
  EXPECT_NEAR(inertia.mass, 804.1666666666667, 1e-9);
  EXPECT_TRUE(inertia.centre().isApprox(Vec3(0.5, 0.5, 0.4125), 1e-12)) << inertia.centre();
  const Mat3 moments = Vec3(123.97539062500064, 123.97539062500064, 147.08333333333408).asDiagonal();
  EXPECT_TRUE(inertia.about_centre().isApprox(moments, 1e-12)) << inertia.about_centre();
  EXPECT_EQ(warning_count(loaded, "mjcf.mesh.open"), 1);
}

// An L of two boxes, 1 × 1 and 3 × 1 and 1 thick: parts of it lie twice over its centre.
TEST(MjcfInertia, OfAMeshThatIsNotConvexIsMujocosUnlessExact) {
  const std::string corners = "vertex=\"0 0 0 3 0 0 3 1 0 1 1 0 1 3 0 0 3 0 0 0 1 3 0 1 3 1 1 1 1 1 1 3 1 0 3 1\"";
  const std::string faces =
      " face=\"0 2 1 0 3 2 0 4 3 0 5 4 6 7 8 6 8 9 6 9 10 6 10 11 0 1 7 0 7 6 1 2 8 1 8 7 2 3 9 2 9 8 3 4 10 3 10 9 4 "
      "5 11 4 11 "
      "10 5 0 6 5 6 11\"";
  const SpatialInertia exact = inertia_of(kGeom, mesh(corners + faces + " inertia=\"exact\""));
  EXPECT_NEAR(exact.mass, 5000, 1e-9);
  const LoadedModel loaded = load_mjcf_text(mesh(corners + faces) + "<worldbody><body name=\"b\"><freejoint/>" + kGeom +
                                            "</body></worldbody>");
  const SpatialInertia& legacy = body_of(loaded, "b").inertia;
  EXPECT_NEAR(legacy.mass, 5322.547508988188, 1e-9);
  EXPECT_TRUE(legacy.centre().isApprox(Vec3(1.1209553158705703, 1.1209553158705703, 0.5), 1e-12)) << legacy.centre();
  Mat3 moments;
  moments << 4160.098395696366, 1818.3813166817006, 0, 1818.3813166817006, 4160.098395696366, 0, 0, 0,
      7454.608707160577;
  EXPECT_TRUE(legacy.about_centre().isApprox(moments, 1e-12)) << legacy.about_centre();
  EXPECT_EQ(warning_count(loaded, "mjcf.mesh.inertia"), 1);
}

// Sizes by MuJoCo's rule: from the box that has the mesh's moments, or from the mesh's bounds. Of a box both are the box itself.
TEST(MjcfInertia, OfAPrimitiveThatIsFittedToAMesh) {
  const std::string stretched = mesh(kCorners + kFaces + " scale=\"0.2 0.4 1\"");
  const auto fitted = [&](const std::string& type, const std::string& compiler = "") {
    return load_mjcf_text(compiler + stretched +
                          "<worldbody><body name=\"b\" pos=\"0 0 1\"><freejoint/><geom name=\"g\" type=\"" + type +
                          "\" mesh=\"m\" fitscale=\"2\"/></body></worldbody>");
  };
  const LoadedModel box = fitted("box");
  EXPECT_TRUE(std::get<Box>(shape_of(box, "g").geometry).half_size.isApprox(Vec3(0.2, 0.4, 1), 1e-12));
  EXPECT_TRUE(shape_of(box, "g").placement.p.isApprox(Vec3(0.1, 0.2, 0.5), 1e-12));
  EXPECT_NEAR(body_of(box, "b").inertia.mass, 1000 * 0.2 * 0.4 * 8, 1e-9) << "the mass is that of the primitive";
  const LoadedModel capsule = fitted("capsule");
  const auto& by_moments = std::get<Capsule>(shape_of(capsule, "g").geometry);
  EXPECT_NEAR(by_moments.radius, 0.3, 1e-12);
  EXPECT_NEAR(by_moments.half_length, 1 - 0.15, 1e-12);
  const LoadedModel bounded = fitted("capsule", "<compiler fitaabb=\"true\"/>");
  const auto& by_bounds = std::get<Capsule>(shape_of(bounded, "g").geometry);
  EXPECT_NEAR(by_bounds.radius, 0.4, 1e-6);
  EXPECT_NEAR(by_bounds.half_length, 0.6, 1e-6);
  EXPECT_NEAR(std::get<Sphere>(shape_of(fitted("sphere"), "g").geometry).radius, 2 * 0.8 / 3, 1e-12);
}

TEST(MjcfInertia, AddsUpTheGeomsOfABody) {
  // Two points' worth of spheres, 2 m apart along x, turned by their own frames.
  const SpatialInertia sum = inertia_of(
      "<geom size=\"0.1\" mass=\"1\" pos=\"-1 0 0\"/><geom size=\"0.1\" mass=\"1\" pos=\"1 0 0\" euler=\"10 20 30\"/>");
  expect_inertia(sum, 2, Vec3::Zero(), Vec3(0.008, 2.008, 2.008));
}

TEST(MjcfInertia, TakesOnlyTheGroupsThatTheCompilerNames) {
  const std::string geoms = "<geom size=\"0.1\" mass=\"1\"/><geom size=\"0.1\" mass=\"2\" group=\"4\"/>";
  EXPECT_DOUBLE_EQ(inertia_of(geoms).mass, 3);
  EXPECT_DOUBLE_EQ(inertia_of(geoms, "<compiler inertiagrouprange=\"0 3\"/>").mass, 1);
}

TEST(MjcfInertia, IsStatedOrComesFromGeomsAsTheCompilerSays) {
  const std::string both =
      "<inertial pos=\"0 0 1\" mass=\"3\" diaginertia=\"1 2 2.5\"/><geom size=\"0.1\" mass=\"1\"/>";
  expect_inertia(inertia_of(both), 3, Vec3(0, 0, 1), Vec3(1, 2, 2.5));
  EXPECT_DOUBLE_EQ(inertia_of(both, "<compiler inertiafromgeom=\"true\"/>").mass, 1);
  EXPECT_DOUBLE_EQ(inertia_of(both, "<compiler inertiafromgeom=\"false\"/>").mass, 3);
}

TEST(MjcfInertia, ReadsTheFullMatrixInMujocosOrder) {
  const SpatialInertia inertia = inertia_of("<inertial pos=\"0 0 0\" mass=\"1\" fullinertia=\"5 6 7 0.1 0.2 0.3\"/>");
  Mat3 expected;
  expected << 5, 0.1, 0.2, 0.1, 6, 0.3, 0.2, 0.3, 7;
  EXPECT_TRUE(inertia.rotational.isApprox(expected, 1e-15));
}

TEST(MjcfInertia, TurnsPrincipalMomentsIntoTheBody) {
  const SpatialInertia inertia =
      inertia_of("<inertial pos=\"0 0 0\" mass=\"1\" euler=\"0 0 90\" diaginertia=\"1 2 2.5\"/>");
  EXPECT_TRUE(inertia.rotational.isApprox(Mat3(Vec3(2, 1, 2.5).asDiagonal()), 1e-14));
}

TEST(MjcfInertia, IsBoundedBalancedAndScaledByTheCompiler) {
  const std::string unreal = "<inertial pos=\"0 0 0\" mass=\"2\" diaginertia=\"1 1 4\"/>";
  expect_inertia(inertia_of(unreal, "<compiler balanceinertia=\"true\"/>"), 2, Vec3::Zero(), Vec3::Constant(2));
  expect_inertia(inertia_of("<geom size=\"0.001\"/>", "<compiler boundmass=\"0.5\" boundinertia=\"0.01\"/>"), 0.5,
                 Vec3::Zero(), Vec3::Constant(0.01));
  expect_inertia(inertia_of("<geom size=\"0.1\" mass=\"1\"/>", "<compiler settotalmass=\"10\"/>"), 10, Vec3::Zero(),
                 Vec3::Constant(0.04));
  const LoadedModel loaded = load_world("<body name=\"b\"><freejoint/>" + unreal + "</body>");
  EXPECT_EQ(warning_count(loaded, "inertia.unphysical"), 1) << "without balanceinertia it stays, with a warning";
}

}  // namespace
}  // namespace lithe::test
