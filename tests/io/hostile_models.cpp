#include <cmath>
#include <cstdint>

#include "lithe/io/xml/xml.h"
#include "tests/io/hostile_files.h"

namespace lithe::test {

using namespace internal;

namespace {

const std::size_t kShapes = static_cast<std::size_t>(kLimits.shapes);
const std::size_t kBodies = static_cast<std::size_t>(kLimits.bodies);

// --- XML ---

void write_comments(const Folder& folder) {
  std::string text = "<robot name='r'><link name='b'/>";
  text += repeated(SIZE_MAX, kLimits.xml_bytes - kRoom, [](std::size_t, std::string& out) { out += "<!---->"; });
  folder.write_model(text + "</robot>");
}

// Elements with many attributes that mean nothing: `before` and `after` stand around them, and what an element holds is `inside`.
void write_attributes(const Folder& folder, const std::string& before, const std::string& name,
                      const std::string& inside, const std::string& after) {
  std::string attributes;
  for (int a = 0; a < 90; ++a) append(attributes, " a{}=''", a);
  folder.write_model(before +
                     repeated(3 * kMostElements / 92 - 1, kLimits.xml_bytes - kRoom,
                              [&](std::size_t i, std::string& out) {
                                append(out, "<{0} name='n{1}'{2}>{3}</{0}>", name, i, attributes, inside);
                              }) +
                     after);
}

void write_long_text(const Folder& folder) {
  std::string text = "<robot name='r'><link name='b'>";
  text += kUrdfInertial;
  text += "<visual><origin xyz='";
  text += repeated(SIZE_MAX, kLimits.xml_bytes - kRoom, [](std::size_t, std::string& out) { out += "1 "; });
  folder.write_model(text + "'/><geometry><sphere radius='1'/></geometry></visual></link></robot>");
}

void write_unknown_elements(const Folder& folder) {
  std::string text = "<robot name='r'><link name='b'/>";
  for (std::size_t i = 0; i < kMostElements - 10; ++i) append(text, "<x{} y='1'/>", i);
  folder.write_model(text + "</robot>");
}

void write_deep(const Folder& folder) {
  std::string text = "<robot name='r'><link name='b'/>";
  std::string open, close;
  for (int i = 0; i < 95; ++i) {
    open += "<a>";
    close += "</a>";
  }
  for (std::size_t i = 0; i < kMostElements / 95 - 2; ++i) text += open + close;
  folder.write_model(text + "</robot>");
}

// --- URDF ---

std::string urdf_link(std::size_t i, const char* parent, const char* type) {
  return fmt::format(
      "<link name='l{0}'>{1}</link><joint name='j{0}' type='{2}'><origin xyz='1 2 3' rpy='1 2 3'/><parent "
      "link='{3}'/><child "
      "link='l{0}'/><axis xyz='1 2 3'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint>",
      i, kUrdfInertial, type, parent);
}

void write_urdf_links(const Folder& folder, const char* type, std::size_t count) {
  std::string text = "<robot name='r'><link name='world'/>";
  for (std::size_t i = 0; i < count; ++i) text += urdf_link(i, "world", type);
  folder.write_model(text + "</robot>");
}

void write_urdf_chain(const Folder& folder, std::size_t count) {
  std::string text = "<robot name='r'><link name='world'/>";
  for (std::size_t i = 0; i < count; ++i)
    text += urdf_link(i, i == 0 ? "world" : fmt::format("l{}", i - 1).c_str(), "revolute");
  folder.write_model(text + "</robot>");
}

void write_urdf_shapes(const Folder& folder, std::size_t name_length) {
  const std::string name(name_length, 'b');
  std::string text = fmt::format("<robot name='r'><link name='{}'>{}", name, kUrdfInertial);
  for (std::size_t i = 0; i < kShapes / 2; ++i) {
    text +=
        "<visual><geometry><sphere radius='1'/></geometry></visual><collision><geometry><sphere "
        "radius='1'/></geometry></collision>";
  }
  folder.write_model(text + "</link></robot>");
}

// Very many of what is beside the links.
void write_urdf_extras(const Folder& folder) {
  std::string text = "<robot name='r'>" + std::string("<link name='world'/>") + urdf_link(0, "world", "revolute");
  for (std::size_t i = 0; i < kMostElements / 9 - 10; ++i) {
    append(text,
           "<transmission name='t{0}'><type>x</type><joint "
           "name='j0'><hardwareInterface>EffortJointInterface</hardwareInterface>"
           "</joint><actuator name='a{0}'/></transmission><gazebo reference='l0'><mu1>1</mu1></gazebo><material "
           "name='m{0}'><color rgba='1 1 1 1'/></material>",
           i);
  }
  folder.write_model(text + "</robot>");
}

// --- SDF ---

constexpr const char* kSdfInertial = "<inertial><mass>1</mass></inertial>";

void write_sdf_models(const Folder& folder) {
  std::string text = "<sdf version='1.9'><world name='w'>";
  for (std::size_t i = 0; i < kBodies / 4; ++i) {
    append(text,
           "<model name='m{}'><pose>1 2 3 4 5 6</pose><link name='l'>{}<collision "
           "name='c'><geometry><sphere><radius>1</radius></sphere></geometry></collision></link></model>",
           i, kSdfInertial);
  }
  folder.write_model(text + "</world></sdf>");
}

void write_sdf_frames(const Folder& folder) {
  std::string text = "<sdf version='1.9'><model name='m'><link name='l'/><frame name='f0'/>";
  for (std::size_t i = 1; i < std::min(kMostElements / 2 - 10, 3 * kBodies); ++i) {
    append(text, "<frame name='f{}' attached_to='f{}'><pose relative_to='f{}'>1 2 3 4 5 6</pose></frame>", i, i - 1,
           i - 1);
  }
  folder.write_model(text + "</model></sdf>");
}

// Long names in models within models.
void write_sdf_names(const Folder& folder) {
  const std::string name(kLongestName, 'n');
  std::string text = "<sdf version='1.9'>";
  constexpr int kDeep = 60;
  for (int i = 0; i < kDeep; ++i) append(text, "<model name='{}'>", name);
  text += "<link name='l'>";
  for (std::size_t i = 0; i < kMostElements / 8 - 100; ++i)
    append(text,
           "<collision name='c{0}'><geometry><sphere><radius>1</radius></sphere></geometry></collision><visual "
           "name='v{0}'><geometry><sphere><radius>1</radius></sphere></geometry></visual>",
           i);
  text += "</link>";
  for (int i = 0; i < kDeep; ++i) text += "</model>";
  folder.write_model(text + "</sdf>");
}

// A chain of links, none of which touches another.
void write_sdf_chain(const Folder& folder) {
  std::string text = "<sdf version='1.9'><model name='m'><link name='l0'/>";
  for (std::size_t i = 1; i < 6000; ++i) {
    append(text,
           "<link name='l{0}'>{2}<pose relative_to='l{1}'>1 2 3 4 5 6</pose></link><joint name='j{0}' "
           "type='revolute'><parent>l{1}</parent><child>l{0}</child><axis><xyz>1 2 3</xyz></axis></joint>",
           i, i - 1, kSdfInertial);
  }
  folder.write_model(text + "</model></sdf>");
}

void write_sdf_includes(const Folder& folder) {
  const std::size_t includes = static_cast<std::size_t>(kLimits.included_files);
  std::string model = "<sdf version='1.9'><model name='m'><static>true</static>";
  for (std::size_t i = 0; i < kBodies / includes - 1; ++i) {
    append(model, "<link name='l{0}'/><frame name='f{0}' attached_to='l{0}'><pose>1 2 3 4 5 6</pose></frame>", i);
  }
  folder.write("part.sdf", model + "</model></sdf>");
  std::string text = "<sdf version='1.9'><world name='w'>";
  for (std::size_t i = 0; i < includes; ++i) append(text, "<include><uri>part.sdf</uri><name>m{}</name></include>", i);
  folder.write_model(text + "</world></sdf>");
}

// --- MJCF ---

std::string mjcf(const std::string& inside, const std::string& before = "") {
  return "<mujoco>" + before + "<worldbody>" + inside + "</worldbody></mujoco>";
}

void write_mjcf_bodies(const Folder& folder) {
  std::string text;
  for (std::size_t i = 0; i < kBodies / 4; ++i)
    text += "<body pos='1 2 3' euler='1 2 3'><freejoint/><geom size='1'/></body>";
  folder.write_model(mjcf(text));
}

void write_mjcf_hinges(const Folder& folder) {
  std::string text;
  for (std::size_t i = 0; i < kBodies - 1; ++i)
    text += "<body pos='1 2 3' euler='1 2 3'><joint/><geom size='1'/></body>";
  folder.write_model(mjcf(text));
}

void write_mjcf_geoms(const Folder& folder, const char* geom) {
  std::string text = "<body name='" + std::string(60, 'b') + "'><freejoint/><geom size='1'/>";
  const std::size_t count = std::string_view(geom).find("ellipsoid") == std::string_view::npos
                                ? kShapes - 10
                                : static_cast<std::size_t>(kLimits.convex_points) / 130;
  for (std::size_t i = 0; i < count; ++i) text += geom;
  folder.write_model(mjcf(text + "</body>"));
}

// Classes within classes, each with its own of everything.
void write_mjcf_defaults(const Folder& folder) {
  std::string classes = "<default>", geoms;
  std::size_t count = 0;
  while (count < 9'000) {
    std::string end;
    for (int depth = 0; depth < 60; ++depth, ++count) {
      append(classes,
             "<default class='c{}'><geom friction='1' rgba='1 1 1 1' solref='1 1' margin='0' size='1'/><joint "
             "damping='1' armature='1' stiffness='1'/>",
             count);
      end += "</default>";
    }
    classes += end;
  }
  classes += "</default>";
  for (std::size_t i = 0; i < kShapes; ++i) append(geoms, "<geom class='c{}'/>", i % count);
  folder.write_model(mjcf(geoms, classes));
}

// One small file of many triangles, as very many meshes.
void write_mjcf_meshes(const Folder& folder) {
  std::string content = ply_header("binary_little_endian", 4, 1, "uint uchar");
  append_floats(content, {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1});
  const auto corners = static_cast<std::uint32_t>(kMostTriangles / 3);
  content.append(reinterpret_cast<const char*>(&corners), 4);
  content += repeated(corners, SIZE_MAX, [](std::size_t k, std::string& out) { out += static_cast<char>(k % 4); });
  folder.write("a.ply", content);
  std::string assets = "<asset>", geoms = "<body><freejoint/>";
  for (int i = 0; i < 1000; ++i) {
    append(assets, "<mesh name='m{}' file='a.ply' inertia='shell'/>", i);
    append(geoms, "<geom type='mesh' mesh='m{}'/>", i);
  }
  folder.write_model(mjcf(geoms + "</body>", assets + "</asset>"));
}

// Points on a sphere, all of them on the hull that gives the mass.
std::string hull_mesh() {
  std::string text = "<mesh name='hull' inertia='convex' vertex='";
  for (int i = 0; i < kLimits.hull_points; ++i) {
    const double z = 1 - 2 * (i + 0.5) / kLimits.hull_points, r = std::sqrt(1 - z * z);
    append(text, "{:.6f} {:.6f} {:.6f} ", r * std::cos(2.4 * i), r * std::sin(2.4 * i), z);
  }
  return text + "' face='0 1 2'/>";
}

void write_mjcf_hull(const Folder& folder) {
  folder.write_model(
      mjcf("<body><freejoint/><geom type='mesh' mesh='hull'/></body>", "<asset>" + hull_mesh() + "</asset>"));
}

// Very many of what is small: sites, exceptions, motors.
void write_mjcf_parts(const Folder& folder) {
  std::string text = "<body name='a'><joint name='j'/><geom size='1'/>";
  for (std::size_t i = 0; i < kMostElements / 3 - 10; ++i) text += "<site pos='1 2 3'/>";
  std::string sections = "<contact>";
  for (std::size_t i = 0; i < kMostElements / 3 - 10; ++i) sections += "<exclude body1='a' body2='b'/>";
  sections += "</contact><actuator>";
  for (std::size_t i = 0; i < kMostElements / 3 - 10; ++i) sections += "<position joint='j' kp='1'/>";
  folder.write_model("<mujoco><worldbody>" + text + "</body><body name='b'/></worldbody>" + sections +
                     "</actuator></mujoco>");
}

// A long text that every class within would have a copy of.
void write_mjcf_long_defaults(const Folder& folder) {
  std::string text = "<default><geom user='" + std::string(1'000'000, '1') + "'/>";
  for (int i = 0; i < 9'000; ++i) append(text, "<default class='c{}'><geom size='1'/></default>", i);
  folder.write_model(mjcf("", text + "</default>"));
}

void write_mjcf_keyframes(const Folder& folder) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "<body><freejoint/><geom size='1'/></body>";
  std::string keys = "<keyframe>";
  for (std::size_t i = 0; i < kMostElements - 2000; ++i) keys += "<key/>";
  folder.write_model("<mujoco><worldbody>" + text + "</worldbody>" + keys + "</keyframe></mujoco>");
}

// All of it together: bodies, geoms, attributes that mean nothing, a hull and a mesh.
void write_everything(const Folder& folder) {
  std::string attributes;
  for (int a = 0; a < 8; ++a) append(attributes, " a{}=''", a);
  std::string text = "<body><freejoint/><geom type='mesh' mesh='hull'/><geom type='mesh' mesh='stl'/></body>";
  for (std::size_t i = 0; i < kBodies - 10; ++i)
    text += "<body pos='1 2 3' euler='1 2 3'><joint/><geom size='1'/></body>";
  for (std::size_t i = 0; i < kShapes - kBodies - 10; ++i) append(text, "<geom size='1'{}/>", attributes);
  std::string stl = "solid a\n";
  stl += repeated(kMostTriangles, kMeshBytes - text.size() - hull_mesh().size() - 2 * kRoom,
                  [](std::size_t i, std::string& out) {
                    out += "facet normal 0 0 0 outer loop";
                    for (std::size_t k = 0; k < 3; ++k) {
                      append(out, " vertex {} {} {}", (i * 7919 + k) % 4096, i % 512, (i + k) % 64);
                    }
                    out += " endloop endfacet\n";
                  });
  folder.write("a.stl", stl + "endsolid a\n");
  folder.write_model(mjcf(text, "<asset>" + hull_mesh() + "<mesh name='stl' file='a.stl' inertia='shell'/></asset>"));
}

void write_mjcf_includes(const Folder& folder) {
  std::string text;
  for (int i = 0; i < kLimits.included_files - 1; ++i) {
    folder.write(fmt::format("{}.xml", i), "<mujocoinclude><geom size='1'/></mujocoinclude>");
    append(text, "<include file='{}.xml'/>", i);
  }
  folder.write_model(mjcf(text));
}

}  // namespace

const std::vector<HostileFile>& hostile_models() {
  static const std::vector<HostileFile> kFiles = {
      {"Comments", write_comments, false},
      {"UrdfAttributes",
       [](const Folder& f) {
         write_attributes(f, "<robot name='r'><link name='b'>", "visual", "<geometry><sphere radius='1'/></geometry>",
                          "</link></robot>");
       }},
      {"SdfAttributes",
       [](const Folder& f) {
         write_attributes(f, "<sdf version='1.9'><model name='m'><link name='b'>", "visual",
                          "<geometry><sphere><radius>1</radius></sphere></geometry>", "</link></model></sdf>");
       }},
      {"MjcfAttributes",
       [](const Folder& f) {
         write_attributes(f, "<mujoco><default><geom size='1'/></default><worldbody>", "geom", "",
                          "</worldbody></mujoco>");
       }},
      {"LongText", write_long_text, false},
      {"UnknownElements", write_unknown_elements},
      {"DeepElements", write_deep},
      {"UrdfHinges",
       [](const Folder& f) { write_urdf_links(f, "revolute", std::min(kBodies, kMostElements / 10) - 10); }},
      {"UrdfFloating",
       [](const Folder& f) { write_urdf_links(f, "floating", std::min<std::size_t>(kBodies - 1, 6'600)); }},
      {"UrdfChain", [](const Folder& f) { write_urdf_chain(f, 6'300); }},
      {"UrdfShapes", [](const Folder& f) { write_urdf_shapes(f, 10); }},
      {"UrdfLongNames", [](const Folder& f) { write_urdf_shapes(f, 230); }},
      {"UrdfExtras", write_urdf_extras},
      {"SdfModels", write_sdf_models},
      {"SdfFrames", write_sdf_frames},
      {"SdfNames", write_sdf_names, false},
      {"SdfChain", write_sdf_chain},
      {"SdfIncludes", write_sdf_includes},
      {"MjcfFree", write_mjcf_bodies},
      {"MjcfHinges", write_mjcf_hinges},
      {"MjcfGeoms", [](const Folder& f) { write_mjcf_geoms(f, "<geom size='1'/>"); }},
      {"MjcfEllipsoids", [](const Folder& f) { write_mjcf_geoms(f, "<geom type='ellipsoid' size='1 2 3'/>"); }},
      {"MjcfDefaults", write_mjcf_defaults},
      {"MjcfParts", write_mjcf_parts},
      {"MjcfLongDefaults", write_mjcf_long_defaults, false},
      {"MjcfMeshes", write_mjcf_meshes, false},
      {"MjcfHull", write_mjcf_hull},
      {"MjcfKeyframes", write_mjcf_keyframes, false},
      {"MjcfIncludes", write_mjcf_includes},
      {"Everything", write_everything},
  };
  return kFiles;
}

}  // namespace lithe::test
