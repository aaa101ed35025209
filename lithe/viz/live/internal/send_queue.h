#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

namespace lithe::internal {

// What a client is to be sent next. It holds little however slowly the client reads: of scenes, values and frames only
// the last ones, which make the earlier ones void, and a few errors.
class SendQueue {
 public:
  using Bytes = std::shared_ptr<const std::string>;
  struct Message {
    Bytes bytes;
    bool binary = false;
  };

  void put_scene(Bytes text);  // values and frames before it are void
  // Before the first scene there is nothing that they could belong to: they are dropped.
  void put_values(Bytes text);
  void put_frame(Bytes bytes);
  void put_error(Bytes text);  // the oldest are lost if there are too many

  // Takes out what goes first: the scene, values, errors, the frame.
  std::optional<Message> next();

  static constexpr std::size_t kMostErrors = 8;

 private:
  bool has_scene_ = false;
  Bytes scene_, values_, frame_;
  std::deque<Bytes> errors_;
};

}  // namespace lithe::internal
