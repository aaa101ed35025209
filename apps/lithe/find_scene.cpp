#include "apps/lithe/find_scene.h"

#include "lithe/core/check.h"
#include "lithe/scenes/catalogue.h"

namespace lithe::cli {

namespace {

bool looks_like_file(const std::string& name) {
  if (name.find('/') != std::string::npos) return true;
  for (const char* ending : {".urdf", ".xml", ".mjcf", ".sdf", ".skel", ".usd", ".obj", ".stl"}) {
    if (name.ends_with(ending)) return true;
  }
  return false;
}

}  // namespace

Scene find_scene(const std::string& name) {
  LITHE_CHECK(!looks_like_file(name),
              "'{}' looks like a file, and robot files are not read yet; `lithe scenes` lists what there is", name);
  return scene(name);
}

}  // namespace lithe::cli
