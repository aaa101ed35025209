#include "lithe/io/mesh/hull_cache.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "lithe/collision/hull/hull.h"
#include "lithe/core/internal/crc32.h"
#include "lithe/core/internal/little_endian.h"
#include "lithe/io/load.h"
#include "tests/io/hull_files.h"
#include "tests/io/scratch_folder.h"

namespace lithe::test {

using namespace internal;
namespace {

namespace fs = std::filesystem;

// A variable of the environment, while this lives.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    value ? ::setenv(name, value, 1) : ::unsetenv(name);
  }
  ~Variable() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

class HullCacheFile : public testing::Test {
 protected:
  void write(const std::string& bytes) { std::ofstream(cache_.file_of(key_), std::ios::binary) << bytes; }
  std::string read() const {
    std::ifstream file(cache_.file_of(key_), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  static std::string with_checksum(std::string bytes) {
    put_u32(bytes, crc32(bytes.data(), bytes.size()));
    return bytes;
  }

  ScratchFolder folder_;
  HullCache cache_{folder_.path() / "cache"};
  HullCache::Key key_ = HullCache::key_of(std::vector<Vec3>{Vec3(1, 2, 3)}, {});
  HullCache::Entry entry_{{1, 5, 700}, 1234};
};

TEST_F(HullCacheFile, GivesBackWhatWasStored) {
  EXPECT_FALSE(cache_.find(key_));
  cache_.store(key_, entry_);
  const auto found = cache_.find(key_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kept, entry_.kept);
  EXPECT_EQ(found->exact_vertices, 1234);
  // Nobody else's business, and nothing is left of the writing.
  EXPECT_EQ(fs::status(cache_.folder()).permissions(), fs::perms::owner_all);
  EXPECT_EQ(std::distance(fs::directory_iterator(cache_.folder()), fs::directory_iterator()), 1);
}

TEST_F(HullCacheFile, IsNamedAfterAllThatItDependsOn) {
  const std::vector<Vec3> points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  std::vector<Vec3> other = points;
  std::swap(other[0], other[1]);
  const HullCache::Key key = HullCache::key_of(points, {});
  EXPECT_EQ(key, HullCache::key_of(points, HullTolerance{}));
  EXPECT_NE(key, HullCache::key_of(other, {}));
  EXPECT_NE(key, HullCache::key_of(points, {1e-3, 4e-3}));
  EXPECT_NE(key, HullCache::key_of(points, {2e-3, 5e-3}));
  EXPECT_NE(key, HullCache::key_of(std::span(points).first(2), {}));
}

TEST_F(HullCacheFile, ThatIsDamagedIsNone) {
  cache_.store(key_, entry_);
  const std::string whole = read();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write(whole.substr(0, length));
    EXPECT_FALSE(cache_.find(key_)) << length << " bytes of " << whole.size();
  }
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    write(damaged);
    EXPECT_FALSE(cache_.find(key_)) << "byte " << at;
  }
  write(whole + "x");
  EXPECT_FALSE(cache_.find(key_));
  write(std::string(100'000, 'x'));
  EXPECT_FALSE(cache_.find(key_));
  // With a checksum that fits, but a number of points that does not, or of another version.
  std::string header = "LITHHULL";
  put_u32(header, 1);
  put_u32(header, 0xffffffff);
  put_u32(header, 8);
  write(with_checksum(header));
  EXPECT_FALSE(cache_.find(key_));
  std::string newer = whole.substr(0, whole.size() - 4);
  newer[8] = 2;
  write(with_checksum(newer));
  EXPECT_FALSE(cache_.find(key_));
  write(whole);
  EXPECT_TRUE(cache_.find(key_));
}

TEST_F(HullCacheFile, ThatIsALinkAFolderOrAPipeIsNone) {
  cache_.store(key_, entry_);
  const fs::path elsewhere = folder_.path() / "elsewhere";
  fs::rename(cache_.file_of(key_), elsewhere);
  fs::create_symlink(elsewhere, cache_.file_of(key_));
  EXPECT_FALSE(cache_.find(key_));
  // Who stores an entry replaces the link, and leaves alone what it leads to.
  cache_.store(key_, {{1, 2, 3}, 4});
  EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(cache_.file_of(key_))));
  ASSERT_TRUE(cache_.find(key_));
  EXPECT_EQ(cache_.find(key_)->exact_vertices, 4);
  EXPECT_EQ(fs::file_size(elsewhere), 8u + 12 + 12 + 4);

  fs::remove(cache_.file_of(key_));
  fs::create_directory(cache_.file_of(key_));
  EXPECT_FALSE(cache_.find(key_));
  cache_.store(key_, entry_);
  EXPECT_FALSE(cache_.find(key_));
  fs::remove(cache_.file_of(key_));
  ASSERT_EQ(::mkfifo(cache_.file_of(key_).c_str(), 0600), 0);
  EXPECT_FALSE(cache_.find(key_));  // and does not wait for somebody to write
}

TEST_F(HullCacheFile, IsWholeForReadersWhileMany) {
  constexpr int kWriters = 6, kTimes = 60;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  cache_.store(key_, {std::vector<int>(500, 0), 0});
  for (int t = 0; t < kWriters; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kTimes; ++i) {
        cache_.store(key_, {std::vector<int>(static_cast<std::size_t>(500 + t), t), t});
        const auto found = cache_.find(key_);
        // What one of the writers wrote, from its first number to its last.
        const bool whole = found && static_cast<int>(found->kept.size()) == 500 + found->exact_vertices &&
                           found->kept.front() == found->exact_vertices && found->kept.back() == found->exact_vertices;
        wrong += whole ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(cache_.folder()), fs::directory_iterator()), 1);
}

TEST_F(HullCacheFile, WithoutAFolderThatCanBeWrittenIsNoError) {
  std::ofstream(folder_.path() / "file") << "not a folder";
  for (const fs::path& place :
       {folder_.path() / "file", folder_.path() / "file" / "deeper", fs::path("/proc/nowhere")}) {
    const HullCache cache(place);
    cache.store(key_, entry_);
    EXPECT_FALSE(cache.find(key_));
    cache.trim();
  }
}

TEST_F(HullCacheFile, ThatIsOldestGoesFirst) {
  std::vector<HullCache::Key> keys;
  for (int i = 0; i < 10; ++i) {
    keys.push_back(HullCache::key_of(std::vector<Vec3>{Vec3(i, 0, 0)}, {}));
    cache_.store(keys.back(), {std::vector<int>(100, i), i});
    fs::last_write_time(cache_.file_of(keys.back()), fs::file_time_type::clock::now() - std::chrono::hours(100 - i));
  }
  const fs::path left_over = cache_.folder() / ".hull-1-2-3", foreign = cache_.folder() / "notes.txt";
  std::ofstream(left_over) << "half";
  std::ofstream(foreign) << "mine";
  fs::last_write_time(left_over, fs::file_time_type::clock::now() - std::chrono::hours(2));
  EXPECT_TRUE(cache_.find(keys[0]));  // which makes it young again
  const std::uintmax_t one = fs::file_size(cache_.file_of(keys[0]));
  cache_.trim(4 * one);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(cache_.find(keys[i]).has_value(), i == 0 || i > 6) << i;
  EXPECT_FALSE(fs::exists(left_over));
  EXPECT_TRUE(fs::exists(foreign));
}

TEST(HullCacheFolder, IsWhereTheEnvironmentSays) {
  const Variable home("HOME", "/home/somebody");
  {
    const Variable cache("LITHE_CACHE", nullptr), xdg("XDG_CACHE_HOME", nullptr);
    EXPECT_EQ(HullCache::of_user()->folder(), "/home/somebody/.cache/lithe");
  }
  {
    const Variable cache("LITHE_CACHE", nullptr), xdg("XDG_CACHE_HOME", "/var/caches");
    EXPECT_EQ(HullCache::of_user()->folder(), "/var/caches/lithe");
  }
  {
    const Variable cache("LITHE_CACHE", "here"), xdg("XDG_CACHE_HOME", "/var/caches");
    EXPECT_EQ(HullCache::of_user()->folder(), "here");
  }
  {
    const Variable cache("LITHE_CACHE", "off");
    EXPECT_FALSE(HullCache::of_user());
  }
  {
    const Variable cache("LITHE_CACHE", ""), xdg("XDG_CACHE_HOME", "relative"), nobody("HOME", nullptr);
    EXPECT_FALSE(HullCache::of_user());
  }
}

// load() with the cache in a folder of the test's own.
class CachedLoad : public testing::Test {
 protected:
  LoadedModel load_ball(bool cache = true) const {
    const Variable variable("LITHE_CACHE", cache_.folder().c_str());
    LoadOptions options;
    options.cache = cache;
    return load(ball_, options);
  }
  std::vector<fs::path> entries() const {
    std::vector<fs::path> found;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(cache_.folder(), none)) found.push_back(entry.path());
    return found;
  }
  static void expect_same(const LoadedModel& a, const LoadedModel& b) {
    const auto& x = std::get<ConvexMesh>(a.model.shapes().at(0).geometry);
    const auto& y = std::get<ConvexMesh>(b.model.shapes().at(0).geometry);
    EXPECT_EQ(x.points, y.points);
    EXPECT_EQ(x.hull->vertices, y.hull->vertices);
    EXPECT_EQ(x.hull->ring, y.hull->ring);
    EXPECT_EQ(a.hulls.at(0).error, b.hulls.at(0).error);
    EXPECT_EQ(a.hulls.at(0).exact_vertices, b.hulls.at(0).exact_vertices);
  }

  ScratchFolder folder_;
  HullCache cache_{folder_.path() / "cache"};
  std::string ball_ = write_ball_robot(folder_.path());
};

TEST_F(CachedLoad, IsTheSameTheSecondTime) {
  const LoadedModel first = load_ball();
  EXPECT_FALSE(first.hulls.at(0).from_cache);
  EXPECT_EQ(entries().size(), 1u);
  const LoadedModel second = load_ball();
  EXPECT_TRUE(second.hulls.at(0).from_cache);
  expect_same(first, second);
}

TEST_F(CachedLoad, CanBeSwitchedOff) {
  load_ball(false);
  EXPECT_TRUE(entries().empty());
  const Variable variable("LITHE_CACHE", "off");
  EXPECT_FALSE(load(ball_).hulls.at(0).from_cache);
}

TEST_F(CachedLoad, DoesNotBelieveAPoisonedEntry) {
  const LoadedModel honest = load_ball();
  ASSERT_EQ(entries().size(), 1u);
  const fs::path file = entries()[0];
  const int points = honest.hulls.at(0).points;
  // Entries that are in order as files, but claim what is not so: too few points, points that there are not, none.
  for (const std::vector<int>& claim :
       {std::vector<int>{0, 1, 2, 3}, {0, 1, 2, points}, {-5, 1, 2, 3}, {3, 2, 1, 0}, {}}) {
    std::string bytes = "LITHHULL";
    put_u32(bytes, 1);
    put_u32(bytes, static_cast<std::uint32_t>(claim.size()));
    put_u32(bytes, 7);
    for (const int i : claim) put_u32(bytes, static_cast<std::uint32_t>(i));
    put_u32(bytes, crc32(bytes.data(), bytes.size()));
    std::ofstream(file, std::ios::binary) << bytes;
    const LoadedModel loaded = load_ball();
    EXPECT_FALSE(loaded.hulls.at(0).from_cache);
    expect_same(honest, loaded);
    // And it is put right.
    EXPECT_TRUE(load_ball().hulls.at(0).from_cache);
  }
}

}  // namespace
}  // namespace lithe::test
