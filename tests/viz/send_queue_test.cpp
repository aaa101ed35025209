#include "lithe/viz/live/internal/send_queue.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace lithe::test {

using namespace internal;
namespace {

SendQueue::Bytes bytes(const std::string& text) { return std::make_shared<const std::string>(text); }

// All that is in it, in order; binary ones with a star.
std::vector<std::string> taken(SendQueue& send_queue) {
  std::vector<std::string> all;
  while (const std::optional<SendQueue::Message> message = send_queue.next()) {
    all.push_back(*message->bytes + (message->binary ? "*" : ""));
  }
  return all;
}

using Texts = std::vector<std::string>;

TEST(SendQueue, IsEmptyAtFirstAndAgainWhenAllWasTaken) {
  SendQueue send_queue;
  EXPECT_FALSE(send_queue.next());
  send_queue.put_scene(bytes("scene"));
  EXPECT_EQ(taken(send_queue), Texts{"scene"});
  EXPECT_FALSE(send_queue.next());
}

TEST(SendQueue, GivesTheSceneThenValuesThenErrorsThenTheFrame) {
  SendQueue send_queue;
  send_queue.put_scene(bytes("scene"));
  send_queue.put_frame(bytes("frame"));
  send_queue.put_error(bytes("error 1"));
  send_queue.put_error(bytes("error 2"));
  send_queue.put_values(bytes("values"));
  EXPECT_EQ(taken(send_queue), (Texts{"scene", "values", "error 1", "error 2", "frame*"}));
}

TEST(SendQueue, KeepsOnlyTheLastOfEachKind) {
  SendQueue send_queue;
  for (int i = 0; i < 10'000; ++i) {
    send_queue.put_scene(bytes("scene " + std::to_string(i)));
    send_queue.put_values(bytes("values " + std::to_string(i)));
    send_queue.put_frame(bytes("frame " + std::to_string(i)));
  }
  EXPECT_EQ(taken(send_queue), (Texts{"scene 9999", "values 9999", "frame 9999*"}));
}

TEST(SendQueue, LetsGoOfWhatIsVoid) {
  SendQueue send_queue;
  send_queue.put_scene(bytes("scene"));
  const SendQueue::Bytes frame = bytes("frame");
  send_queue.put_frame(frame);
  EXPECT_EQ(frame.use_count(), 2);
  send_queue.put_frame(bytes("later"));
  EXPECT_EQ(frame.use_count(), 1);
}

TEST(SendQueue, HoldsFewErrors) {
  SendQueue send_queue;
  for (int i = 0; i < 1000; ++i) send_queue.put_error(bytes(std::to_string(i)));
  const Texts left = taken(send_queue);
  ASSERT_EQ(left.size(), SendQueue::kMostErrors);
  EXPECT_EQ(left.front(), std::to_string(1000 - SendQueue::kMostErrors));
  EXPECT_EQ(left.back(), "999");
}

TEST(SendQueue, ANewSceneVoidsValuesAndFramesButNoErrors) {
  SendQueue send_queue;
  send_queue.put_scene(bytes("first"));
  send_queue.put_values(bytes("values"));
  send_queue.put_frame(bytes("frame"));
  send_queue.put_error(bytes("error"));
  send_queue.put_scene(bytes("second"));
  EXPECT_EQ(taken(send_queue), (Texts{"second", "error"}));
}

// A client is among all from its handshake on, and is told the scene a little later.
TEST(SendQueue, HasNoValuesOrFramesBeforeTheFirstScene) {
  SendQueue send_queue;
  send_queue.put_values(bytes("values"));
  send_queue.put_frame(bytes("frame"));
  send_queue.put_error(bytes("error"));
  EXPECT_EQ(taken(send_queue), Texts{"error"});
  send_queue.put_scene(bytes("scene"));
  send_queue.put_frame(bytes("frame"));
  EXPECT_EQ(taken(send_queue), (Texts{"scene", "frame*"}));
  send_queue.put_values(bytes("values"));
  EXPECT_EQ(taken(send_queue), Texts{"values"});
}

}  // namespace
}  // namespace lithe::test
