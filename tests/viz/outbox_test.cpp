#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "lithe/viz/live/internal/send_queue.h"

namespace lithe::test {

using namespace internal;
namespace {

Outbox::Bytes bytes(const std::string& text) { return std::make_shared<const std::string>(text); }

// All that is in it, in order; binary ones with a star.
std::vector<std::string> taken(Outbox& outbox) {
  std::vector<std::string> all;
  while (const std::optional<Outbox::Message> message = outbox.next()) {
    all.push_back(*message->bytes + (message->binary ? "*" : ""));
  }
  return all;
}

using Texts = std::vector<std::string>;

TEST(Outbox, IsEmptyAtFirstAndAgainWhenAllWasTaken) {
  Outbox outbox;
  EXPECT_FALSE(outbox.next());
  outbox.put_scene(bytes("scene"));
  EXPECT_EQ(taken(outbox), Texts{"scene"});
  EXPECT_FALSE(outbox.next());
}

TEST(Outbox, GivesTheSceneThenValuesThenErrorsThenTheFrame) {
  Outbox outbox;
  outbox.put_scene(bytes("scene"));
  outbox.put_frame(bytes("frame"));
  outbox.put_error(bytes("error 1"));
  outbox.put_error(bytes("error 2"));
  outbox.put_values(bytes("values"));
  EXPECT_EQ(taken(outbox), (Texts{"scene", "values", "error 1", "error 2", "frame*"}));
}

TEST(Outbox, KeepsOnlyTheLastOfEachKind) {
  Outbox outbox;
  for (int i = 0; i < 10'000; ++i) {
    outbox.put_scene(bytes("scene " + std::to_string(i)));
    outbox.put_values(bytes("values " + std::to_string(i)));
    outbox.put_frame(bytes("frame " + std::to_string(i)));
  }
  EXPECT_EQ(taken(outbox), (Texts{"scene 9999", "values 9999", "frame 9999*"}));
}

TEST(Outbox, LetsGoOfWhatIsVoid) {
  Outbox outbox;
  outbox.put_scene(bytes("scene"));
  const Outbox::Bytes frame = bytes("frame");
  outbox.put_frame(frame);
  EXPECT_EQ(frame.use_count(), 2);
  outbox.put_frame(bytes("later"));
  EXPECT_EQ(frame.use_count(), 1);
}

TEST(Outbox, HoldsFewErrors) {
  Outbox outbox;
  for (int i = 0; i < 1000; ++i) outbox.put_error(bytes(std::to_string(i)));
  const Texts left = taken(outbox);
  ASSERT_EQ(left.size(), Outbox::kMostErrors);
  EXPECT_EQ(left.front(), std::to_string(1000 - Outbox::kMostErrors));
  EXPECT_EQ(left.back(), "999");
}

TEST(Outbox, ANewSceneVoidsValuesAndFramesButNoErrors) {
  Outbox outbox;
  outbox.put_scene(bytes("first"));
  outbox.put_values(bytes("values"));
  outbox.put_frame(bytes("frame"));
  outbox.put_error(bytes("error"));
  outbox.put_scene(bytes("second"));
  EXPECT_EQ(taken(outbox), (Texts{"second", "error"}));
}

// A client is among all from its handshake on, and is told the scene a little later.
TEST(Outbox, HasNoValuesOrFramesBeforeTheFirstScene) {
  Outbox outbox;
  outbox.put_values(bytes("values"));
  outbox.put_frame(bytes("frame"));
  outbox.put_error(bytes("error"));
  EXPECT_EQ(taken(outbox), Texts{"error"});
  outbox.put_scene(bytes("scene"));
  outbox.put_frame(bytes("frame"));
  EXPECT_EQ(taken(outbox), (Texts{"scene", "frame*"}));
  outbox.put_values(bytes("values"));
  EXPECT_EQ(taken(outbox), Texts{"values"});
}

}  // namespace
}  // namespace lithe::test
