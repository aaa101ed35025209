#include <array>
#include <cstdint>
#include <fstream>
#include <random>
#include <unistd.h>

#include "tests/io/hostile_files.h"

namespace lithe::test {

namespace {

// The i-th of some points all over the place.
std::array<float, 3> point(std::size_t i) {
  const auto scattered = static_cast<std::uint32_t>(i) * 2654435761u;
  return {static_cast<float>(scattered % 4096), static_cast<float>(scattered / 4096 % 4096), static_cast<float>(i)};
}

// A URDF that shows or collides with these files.
std::string urdf_with_meshes(const std::vector<std::string>& files, const char* role = "visual", int times = 1) {
  std::string text = "<robot name='r'><link name='b'>";
  text += kUrdfInertial;
  for (int i = 0; i < times; ++i) {
    for (const std::string& file : files) {
      append(text, "<{0}><geometry><mesh filename='{1}'/></geometry></{0}>", role, file);
    }
  }
  return text + "</link></robot>";
}

std::string binary_stl(std::size_t triangles) {
  std::string bytes(80, ' ');
  const auto count = static_cast<std::uint32_t>(triangles);
  bytes.append(reinterpret_cast<const char*>(&count), 4);
  bytes.reserve(84 + 50 * triangles);
  std::mt19937 random(1);
  for (std::size_t i = 0; i < triangles; ++i) {
    append_floats(bytes, {0, 0, 0});
    for (std::size_t k = 0; k < 3; ++k) {
      const std::size_t next = 3 * i + k;
      const auto [x, y, z] = point(next < kMostVertices ? next : random() % kMostVertices);
      append_floats(bytes, {x, y, z});
    }
    bytes.append(2, '\0');
  }
  return bytes;
}

void write_binary_stl(const Folder& folder) {
  folder.write("a.stl", binary_stl(std::min(kMostTriangles, (kMeshBytes - kRoom) / 50)));
  folder.write_model(urdf_with_meshes({"a.stl"}));
}

void write_text_stl(const Folder& folder) {
  std::string text = "solid a\n";
  text += repeated(kMostTriangles, kMeshBytes - 2 * kRoom, [](std::size_t i, std::string& out) {
    out += "facet normal 0 0 0 outer loop";
    for (std::size_t k = 0; k < 3; ++k) {
      const auto [x, y, z] = point((3 * i + k) % kMostVertices);
      append(out, " vertex {} {} {}", x, y, z);
    }
    out += " endloop endfacet\n";
  });
  folder.write("a.stl", text + "endsolid a\n");
  folder.write_model(urdf_with_meshes({"a.stl"}));
}

void write_obj(const Folder& folder) {
  std::string text = repeated(kMostVertices, kMeshBytes / 2, [](std::size_t i, std::string& out) {
    const auto [x, y, z] = point(i);
    append(out, "v {} {} {}\n", x, y, z);
  });
  text += repeated(kMostTriangles, kMeshBytes - text.size() - 2 * kRoom, [](std::size_t i, std::string& out) {
    append(out, "f {} -1 {}\n", 1 + i * 7919 % 100'000, 1 + i % 9);
  });
  folder.write("a.obj", text);
  folder.write_model(urdf_with_meshes({"a.obj"}));
}

void write_obj_of_words(const Folder& folder) {
  const std::string text =
      repeated(SIZE_MAX, kMeshBytes - 2 * kRoom, [](std::size_t, std::string& out) { out += "g a\n"; });
  folder.write("a.obj", text + "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n");
  folder.write_model(urdf_with_meshes({"a.obj"}));
}

void write_text_ply(const Folder& folder) {
  const std::size_t vertices = kMostVertices / 2;
  std::string text = repeated(vertices, SIZE_MAX, [](std::size_t i, std::string& out) {
    const auto [x, y, z] = point(i);
    append(out, "{} {} {}\n", x, y, z);
  });
  const std::size_t faces = std::min(kMostTriangles, (kMeshBytes - text.size() - 2 * kRoom) / 20);
  text += repeated(faces, SIZE_MAX, [&](std::size_t i, std::string& out) {
    append(out, "3 {} 1 {}\n", i * 7919 % vertices, i % vertices);
  });
  folder.write("a.ply", ply_header("ascii", vertices, faces, "uchar int") + text);
  folder.write_model(urdf_with_meshes({"a.ply"}));
}

// One byte per triangle: polygons with very many corners.
void write_fans(const Folder& folder) {
  std::vector<std::string> files;
  std::size_t bytes = 2 * kRoom;
  for (std::size_t i = 0; bytes + kMostTriangles / 4 + kRoom < kLimits.total_bytes && i < 200; ++i) {
    std::string content = ply_header("binary_little_endian", 3, 1, "uint uchar");
    for (std::size_t k = 0; k < 3; ++k) append_floats(content, {static_cast<float>(k), static_cast<float>(k * k), 1});
    const auto corners = static_cast<std::uint32_t>(kMostTriangles / 4);
    content.append(reinterpret_cast<const char*>(&corners), 4);
    content += repeated(corners, SIZE_MAX, [](std::size_t k, std::string& out) { out += static_cast<char>(k % 3); });
    files.push_back(fmt::format("{}.ply", i));
    folder.write(files.back(), content);
    bytes += content.size();
  }
  folder.write_model(urdf_with_meshes(files));
}

std::string dae(const std::string& mesh, const std::string& scene, const std::string& more = "") {
  return "<COLLADA version='1.4.1'><asset><unit meter='1'/></asset><library_geometries><geometry id='g'><mesh>" + mesh +
         "</mesh></geometry></library_geometries>" + more + "<library_visual_scenes><visual_scene id='s'>" + scene +
         "</visual_scene></library_visual_scenes><scene><instance_visual_scene url='#s'/></scene></COLLADA>";
}

std::string dae_mesh(std::size_t vertices, std::size_t triangles) {
  std::string text = "<source id='p'><float_array id='f' count='" + std::to_string(3 * vertices) + "'>";
  text += repeated(vertices, SIZE_MAX, [](std::size_t i, std::string& out) {
    const auto [x, y, z] = point(i);
    append(out, "{} {} {} ", x, y, z);
  });
  append(text,
         "</float_array><technique_common><accessor source='#f' count='{}' stride='3'><param name='X' "
         "type='float'/><param "
         "name='Y' type='float'/><param name='Z' type='float'/></accessor></technique_common></source><vertices "
         "id='v'><input "
         "semantic='POSITION' source='#p'/></vertices><triangles count='{}'><input semantic='VERTEX' source='#v' "
         "offset='0'/><p>",
         vertices, triangles);
  text += repeated(3 * triangles, SIZE_MAX,
                   [&](std::size_t i, std::string& out) { append(out, "{} ", i * 7919 % vertices); });
  return text + "</p></triangles>";
}

void write_dae(const Folder& folder) {
  const std::size_t vertices = kMostVertices, triangles = std::min(kMostTriangles, (kMeshBytes - 22 * vertices) / 24);
  folder.write("a.dae", dae(dae_mesh(vertices, triangles), "<node><instance_geometry url='#g'/></node>"));
  folder.write_model(urdf_with_meshes({"a.dae"}));
}

// Few triangles, shown very often.
void write_dae_of_nodes(const Folder& folder) {
  const std::string node =
      "<node><rotate>0 0 1 30</rotate><matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</matrix><instance_geometry "
      "url='#g'/></node>";
  std::string scene;
  for (std::size_t i = 0; i < kMostElements / 4 - 100; ++i) scene += node;
  folder.write("a.dae", dae(dae_mesh(60, std::min<std::size_t>(40, kMostTriangles * 4 / kMostElements)), scene));
  folder.write_model(urdf_with_meshes({"a.dae"}));
}

void write_colliding_points(const Folder& folder) {
  const std::size_t vertices = 1000;
  std::string text = repeated(vertices, SIZE_MAX, [](std::size_t i, std::string& out) {
    const auto [x, y, z] = point(i);
    append(out, "v {} {} {}\n", x, y, z);
  });
  for (std::size_t i = 1; i + 2 <= vertices; ++i) append(text, "f {} {} {}\n", i, i + 1, i + 2);
  folder.write("a.obj", text);
  folder.write_model(urdf_with_meshes({"a.obj"}, "collision", kLimits.convex_points / 1000));
}

void write_file_names(const Folder& folder) {
  std::string text;
  const std::size_t count = std::min(kMostElements / 3, static_cast<std::size_t>(kLimits.shapes)) - 20;
  for (std::size_t i = 0; i < count; ++i) {
    append(text, "<visual><geometry><mesh filename='{}a_{}.stl'/></geometry></visual>",
           i % 2 == 0 ? "../x/../" : "package://p/", i % 900);
  }
  folder.write_model(fmt::format("<robot name='r'><link name='b'>{}{}</link></robot>", kUrdfInertial, text));
}

}  // namespace

Folder::Folder() : path_(std::filesystem::temp_directory_path() / fmt::format("lithe_hostile_{}", getpid())) {
  std::filesystem::create_directories(path_);
}

Folder::~Folder() { std::filesystem::remove_all(path_); }

void Folder::write(const std::string& name, const std::string& bytes) const {
  std::ofstream(path_ / name, std::ios::binary) << bytes;
}

std::string repeated(std::size_t count, std::size_t bytes, const std::function<void(std::size_t, std::string&)>& add) {
  std::string text;
  text.reserve(std::min(bytes + kRoom, std::size_t{80} << 20));
  for (std::size_t i = 0; i < count && text.size() < bytes; ++i) add(i, text);
  return text;
}

void append_floats(std::string& bytes, std::initializer_list<float> numbers) {
  for (const float x : numbers) bytes.append(reinterpret_cast<const char*>(&x), sizeof x);
}

std::string ply_header(const char* format, std::size_t vertices, std::size_t faces, const char* list) {
  return fmt::format(
      "ply\nformat {} 1.0\nelement vertex {}\nproperty float x\nproperty float y\nproperty float z\nelement face "
      "{}\nproperty list {} vertex_indices\nend_header\n",
      format, vertices, faces, list);
}

const std::vector<HostileFile>& hostile_meshes() {
  static const std::vector<HostileFile> kFiles = {
      {"BinaryStl", write_binary_stl},
      {"TextStl", write_text_stl},
      {"Obj", write_obj},
      {"ObjOfWords", write_obj_of_words},
      {"TextPly", write_text_ply},
      {"PlyOfFans", write_fans},
      {"Dae", write_dae},
      {"DaeOfNodes", write_dae_of_nodes},
      {"CollidingPoints", write_colliding_points},
      {"FileNames", write_file_names},
  };
  return kFiles;
}

}  // namespace lithe::test
