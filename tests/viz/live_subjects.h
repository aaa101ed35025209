#pragma once

#include <random>
#include <string>

#include "lithe/viz/live/live_subject.h"
#include "lithe/viz/live/live_view.h"

namespace lithe::test {

inline constexpr LiveViewOptions kPaused = {.paused = true};

// A scene of the catalogue. Its task, if it has one, is the loss.
LiveSubject scene_subject(const std::string& name);

// A free box of 2 kg and 0.2 m whose centre is 0.5 m above a ground; body 1.
LiveSubject falling_box();

// That many free boxes without a ground, far from one another.
LiveSubject many_boxes(int count);

// A catalogue of two scenes, "falling box" and "pendulum", and one that cannot be opened, "broken".
LiveCatalogue small_catalogue();

}  // namespace lithe::test
