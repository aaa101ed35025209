#pragma once

#include <string>

#include "apps/lithe/find_scene.h"
#include "lithe/viz/live/live_subject.h"

namespace lithe::cli {

// A scene or a robot file, to be shown live. A scene's task is the loss.
LiveSubject live_subject(const std::string& name, const SceneOptions& options);

// All scenes.
LiveCatalogue live_catalogue();

// Whether there is a file of this name that begins as recordings do.
bool is_recording(const std::string& name);

}  // namespace lithe::cli
