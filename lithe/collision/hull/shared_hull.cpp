#include "lithe/collision/hull/shared_hull.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <span>

#include "lithe/collision/hull/hull.h"
#include "lithe/core/check.h"
#include "lithe/core/internal/sha256.h"

namespace lithe::internal {
namespace {

std::string prefix_of(const std::string& name) { return fmt::format("mesh '{}': ", name); }

struct RememberedHull {
  Hull hull;
  std::vector<std::string> warnings;  // without the name of the mesh, since each has its own
};

// All hulls of the process that somebody holds.
class HullMemory {
 public:
  std::shared_ptr<const RememberedHull> find(const Sha256::Digest& key) {
    const std::scoped_lock lock(mutex_);
    const auto found = hulls_.find(key);
    return found == hulls_.end() ? nullptr : found->second.lock();
  }

  // The hull that is remembered from now on: this one, or that of another thread which was faster.
  std::shared_ptr<const RememberedHull> remember(const Sha256::Digest& key,
                                                 std::shared_ptr<const RememberedHull> hull) {
    const std::scoped_lock lock(mutex_);
    forget_lost();
    std::weak_ptr<const RememberedHull>& place = hulls_[key];
    if (auto known = place.lock()) return known;
    place = hull;
    return hull;
  }

 private:
  // Each time that the number has doubled, so that it costs little.
  void forget_lost() {
    if (hulls_.size() < next_sweep_) return;
    std::erase_if(hulls_, [](const auto& entry) { return entry.second.expired(); });
    next_sweep_ = std::max<std::size_t>(64, 2 * hulls_.size());
  }

  std::mutex mutex_;
  std::map<Sha256::Digest, std::weak_ptr<const RememberedHull>> hulls_;
  std::size_t next_sweep_ = 64;
};

HullMemory& hull_memory() {
  static HullMemory memory;
  return memory;
}

}  // namespace

SharedHull shared_hull(const ConvexMesh& mesh, const std::string& name) {
  if (mesh.hull) return {mesh.hull, {}};
  static_assert(sizeof(Vec3) == 3 * sizeof(double), "points are hashed as they lie in memory");
  const Sha256::Digest key = Sha256().add(std::as_bytes(std::span(mesh.points))).digest();
  std::shared_ptr<const RememberedHull> remembered = hull_memory().find(key);
  const std::string prefix = prefix_of(name);
  if (!remembered) {
    HullResult built = build_hull(mesh.points, name);
    for (std::string& text : built.warnings) {
      if (text.starts_with(prefix)) text.erase(0, prefix.size());
    }
    auto fresh = std::make_shared<RememberedHull>();
    fresh->hull = std::move(built.hull);
    fresh->warnings = std::move(built.warnings);
    remembered = hull_memory().remember(key, std::move(fresh));
  }
  SharedHull result{{remembered, &remembered->hull}, {}};
  for (const std::string& text : remembered->warnings) result.warnings.push_back(prefix + text);
  return result;
}

}  // namespace lithe::internal
