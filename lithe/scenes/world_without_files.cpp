#include "lithe/scenes/catalogue.h"
#include "lithe/scenes/world.h"

namespace lithe {

// A build without files knows scenes of the catalogue alone; an unknown name is an Error that lists the closest.
World::World(const std::string& scene_or_file) : World(scene(scene_or_file)) {}

}  // namespace lithe
