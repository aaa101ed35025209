#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lithe/collision/hull_tolerance.h"
#include "lithe/core/eigen.h"
#include "lithe/core/internal/sha256.h"

namespace lithe::internal {

// Remembers on the disk, between runs, which points the simplified hulls of meshes keep: to find that out is most of
// the work.
//
// An entry is named after the contents that it belongs to, so that a copied, changed or renamed mesh never gets
// another's. It only says which points are kept. Whoever reads it builds their hull and measures all points against it
// (hull_of_kept()), so that an entry which somebody tampered with is at worst useless. Writers write under a name of
// their own and rename, so that readers see all of an entry or nothing. Nothing here is ever an error: without a folder
// that can be written to, there is no cache.
class HullCache {
 public:
  // The folder is made when the first entry is stored.
  explicit HullCache(std::filesystem::path folder) : folder_(std::move(folder)) {}

  // The cache in $LITHE_CACHE, else in the folder "lithe" of $XDG_CACHE_HOME, else in ~/.cache/lithe. There is none if
  // LITHE_CACHE is "off".
  static std::optional<HullCache> of_user();

  // The SHA-256 of all on which the result depends: the points in their order, the tolerance, and the versions of the
  // algorithms.
  using Key = Sha256::Digest;
  static Key key_of(std::span<const Vec3> points, const HullTolerance& tolerance);

  struct Entry {
    std::vector<int> kept;   // as in HullResult; not checked
    int exact_vertices = 0;  // for information
  };
  // The entry of that key, or nothing; and storing one, which replaces an older one of the same key.
  std::optional<Entry> find(const Key& key) const;
  void store(const Key& key, const Entry& entry) const;

  // Removes what was not used for longest until the entries have at most `most` bytes.
  static constexpr std::uintmax_t kMostBytes = std::uintmax_t{256} << 20;
  void trim(std::uintmax_t most = kMostBytes) const;

  std::filesystem::path file_of(const Key& key) const { return folder_ / (hexadecimal(key) + ".hull"); }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace lithe::internal
