#include "lithe/io/mesh/hull_cache.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <fcntl.h>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "lithe/collision/hull/facets.h"
#include "lithe/collision/hull/hull.h"
#include "lithe/core/internal/crc32.h"
#include "lithe/core/internal/little_endian.h"

namespace lithe::internal {

namespace fs = std::filesystem;

namespace {

// The version goes up whenever other points may be kept than before, or the file changes. It is part of a key as well
// as of an entry.
constexpr std::uint32_t kHullCacheVersion = 1;
// An entry is this word, then as 32-bit numbers, little endian: the version, the count of points kept, the number of
// vertices of the exact hull, the numbers of the points kept, and the CRC-32 of all before it.
constexpr std::string_view kHullMagic = "LITHHULL";
constexpr std::size_t kHeaderBytes = 8 + 3 * 4, kChecksumBytes = 4;
constexpr std::size_t kLargestEntry = kHeaderBytes + 4 * kMaxHullVertices + kChecksumBytes;

// An open file that is closed when this object ends.
class OpenFile {
 public:
  OpenFile(const fs::path& path, int flags, mode_t mode = 0) : number_(::open(path.c_str(), flags, mode)) {}
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  ~OpenFile() {
    if (number_ >= 0) ::close(number_);
  }
  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }

  // All bytes of the file. Nothing where it is no plain file, or too large to be an entry: then somebody else put it
  // there.
  std::optional<std::string> contents() const {
    struct stat status;
    if (::fstat(number_, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    if (status.st_size < 0 || static_cast<std::uintmax_t>(status.st_size) > kLargestEntry) return std::nullopt;
    std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
    std::size_t done = 0;
    while (done < bytes.size()) {
      const ssize_t count = ::read(number_, bytes.data() + done, bytes.size() - done);
      if (count <= 0) return std::nullopt;
      done += static_cast<std::size_t>(count);
    }
    return bytes;
  }

  // Whether all bytes could be written; a disk may be full.
  bool write(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::write(number_, bytes.data(), bytes.size());
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

 private:
  int number_;
};

// Sets the time of an entry that is used to now, once a day at most: trim() takes the oldest entries for those that
// nobody uses.
void mark_as_used(const OpenFile& file) {
  struct stat status;
  if (::fstat(file.number(), &status) != 0) return;
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  if (now - status.st_mtime > 86'400) static_cast<void>(::futimens(file.number(), nullptr));
}

// An entry as the bytes of its file.
std::string written(const HullCache::Entry& entry) {
  std::string bytes(kHullMagic);
  put_u32(bytes, kHullCacheVersion);
  put_u32(bytes, static_cast<std::uint32_t>(entry.kept.size()));
  put_u32(bytes, static_cast<std::uint32_t>(entry.exact_vertices));
  for (const int i : entry.kept) put_u32(bytes, static_cast<std::uint32_t>(i));
  put_u32(bytes, crc32(bytes.data(), bytes.size()));
  return bytes;
}

// The entry in the bytes of a file. Nothing where the length, the word at the beginning, the version or the checksum is
// wrong; whether the points' numbers make sense is for hull_of_kept() to say.
std::optional<HullCache::Entry> parsed(const std::string& bytes) {
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  if (bytes.size() < kHeaderBytes + kChecksumBytes || !bytes.starts_with(kHullMagic)) return std::nullopt;
  const std::uint32_t count = get_u32(data + 12), exact_vertices = get_u32(data + 16);
  if (get_u32(data + 8) != kHullCacheVersion || count > static_cast<std::uint32_t>(kMaxHullVertices))
    return std::nullopt;
  if (bytes.size() != kHeaderBytes + 4 * std::size_t{count} + kChecksumBytes) return std::nullopt;
  if (get_u32(data + bytes.size() - kChecksumBytes) != crc32(data, bytes.size() - kChecksumBytes)) return std::nullopt;
  HullCache::Entry entry;
  for (std::uint32_t k = 0; k < count; ++k) {
    entry.kept.push_back(std::bit_cast<std::int32_t>(get_u32(data + kHeaderBytes + 4 * std::size_t{k})));
  }
  entry.exact_vertices = std::max(0, std::bit_cast<std::int32_t>(exact_vertices));
  return entry;
}

// A name for a file that is being written, which no other process or thread uses. No reader looks for it, since it does
// not end with ".hull".
fs::path passing_name(const fs::path& folder) {
  static std::atomic<std::uint64_t> count{0};
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  return folder / (".hull-" + std::to_string(::getpid()) + "-" + std::to_string(now) + "-" + std::to_string(++count));
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

std::optional<HullCache> HullCache::of_user() {
  if (const std::string given = environment("LITHE_CACHE"); !given.empty()) {
    if (given == "off") return std::nullopt;
    return HullCache(given);
  }
  // A relative folder is to be ignored, as the XDG Base Directory Specification says.
  if (const fs::path cache = environment("XDG_CACHE_HOME"); cache.is_absolute()) return HullCache(cache / "lithe");
  if (const fs::path home = environment("HOME"); home.is_absolute()) return HullCache(home / ".cache" / "lithe");
  return std::nullopt;
}

HullCache::Key HullCache::key_of(std::span<const Vec3> points, const HullTolerance& tolerance) {
  static_assert(std::endian::native == std::endian::little, "a key is of the points as they lie in memory");
  // The key hashes everything on which the result depends, each part with its length or with a fixed size.
  std::string settings = "lithe hull\n";
  put_u32(settings, kHullCacheVersion);
  put_f64(settings, tolerance.absolute);
  put_f64(settings, tolerance.relative);
  put_u32(settings, static_cast<std::uint32_t>(points.size()));
  settings += qhull_version();
  settings += '\n';
  return Sha256().add(settings).add(std::as_bytes(points)).digest();
}

std::optional<HullCache::Entry> HullCache::find(const Key& key) const {
  // No link is followed, and nothing that makes whoever opens it wait.
  const OpenFile file(file_of(key), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (!file.is_open()) return std::nullopt;
  const std::optional<std::string> bytes = file.contents();
  if (!bytes) return std::nullopt;
  std::optional<Entry> entry = parsed(*bytes);
  if (entry) mark_as_used(file);
  return entry;
}

void HullCache::store(const Key& key, const Entry& entry) const {
  if (entry.kept.size() > static_cast<std::size_t>(kMaxHullVertices)) return;
  // Whatever fails here only means that nothing is remembered.
  std::error_code error;
  if (!fs::is_directory(folder_, error)) {
    fs::create_directories(folder_, error);
    if (error) return;
    fs::permissions(folder_, fs::perms::owner_all, error);
  }
  const fs::path passing = passing_name(folder_);
  bool complete = false;
  {
    const OpenFile file(passing, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (!file.is_open()) return;
    complete = file.write(written(entry));
  }
  if (complete) fs::rename(passing, file_of(key), error);
  if (!complete || error) fs::remove(passing, error);
}

void HullCache::trim(std::uintmax_t most) const {
  struct Found {
    fs::file_time_type time;
    std::uintmax_t size;
    fs::path path;
  };
  std::vector<Found> entries;
  std::uintmax_t total = 0;
  std::error_code error;
  const fs::file_time_type an_hour_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  for (fs::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;  // others may be at work here
    const fs::path& path = at->path();
    if (!fs::is_regular_file(at->symlink_status(gone)) || gone) continue;
    const fs::file_time_type time = at->last_write_time(gone);
    const std::uintmax_t size = gone ? 0 : at->file_size(gone);
    if (gone) continue;
    if (path.extension() == ".hull") {
      entries.push_back({time, size, path});
      total += size;
    } else if (path.filename().string().starts_with(".hull-") && time < an_hour_ago) {
      fs::remove(path, gone);  // its writer was stopped before it could rename the file
    }
  }
  if (total <= most) return;
  std::sort(entries.begin(), entries.end(), [](const Found& a, const Found& b) { return a.time < b.time; });
  for (const Found& entry : entries) {
    if (total <= most) break;
    fs::remove(entry.path, error);
    total -= entry.size;
  }
}

}  // namespace lithe::internal
