#include "lithe/viz/live/internal/send_queue.h"

#include <utility>

namespace lithe::internal {

// A new scene makes void what was said of the old one.
void SendQueue::put_scene(Bytes text) {
  has_scene_ = true;
  scene_ = std::move(text);
  values_ = nullptr;
  frame_ = nullptr;
}

void SendQueue::put_values(Bytes text) {
  if (has_scene_) values_ = std::move(text);
}

void SendQueue::put_frame(Bytes bytes) {
  if (has_scene_) frame_ = std::move(bytes);
}

void SendQueue::put_error(Bytes text) {
  errors_.push_back(std::move(text));
  if (errors_.size() > kMostErrors) errors_.pop_front();
}

// Frames come last: there is always another one, and a client that only just keeps up should still get everything else.
std::optional<SendQueue::Message> SendQueue::next() {
  if (scene_) return Message{std::exchange(scene_, nullptr), false};
  if (values_) return Message{std::exchange(values_, nullptr), false};
  if (!errors_.empty()) {
    Message message = {std::move(errors_.front()), false};
    errors_.pop_front();
    return message;
  }
  if (frame_) return Message{std::exchange(frame_, nullptr), true};
  return std::nullopt;
}

}  // namespace lithe::internal
