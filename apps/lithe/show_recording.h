#pragma once

#include <string>

#include "apps/lithe/find_scene.h"
#include "lithe/viz/document/show_document.h"

namespace lithe::cli {

struct RecordingOptions {
  std::string recording, compare;  // `compare` may be empty
  std::string model;               // SCENE|FILE; empty: what the recording's title names
  SceneOptions files;
  int every = 1;
  bool gradients = false;   // of the scene's task: see apps/experiments/motion_gradients.h
  bool for_browser = true;  // refuse what is too long for one
};

// What recordings hold, ready to be looked at. One that was cut off gives a warning on stderr.
ShowDocument read_show(const RecordingOptions& options);

}  // namespace lithe::cli
