#include "lithe/io/mesh/hull_jobs.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>
#include <thread>

#include "lithe/collision/hull/hull.h"
#include "lithe/collision/hull/shared_hull.h"
#include "lithe/core/internal/size_of.h"
#include "lithe/core/thread_pool.h"
#include "lithe/io/mesh/hull_cache.h"

namespace lithe::internal {

namespace {

constexpr std::size_t kStandInPoints = 4;     // what a shape must have at least
constexpr std::size_t kWorthKeeping = 200;    // points: hulls of fewer are built sooner than read
constexpr std::size_t kWorthThreads = 5'000;  // points of all meshes together
constexpr int kMostThreads = 16;

// A vertex of the file as a point of the shape, as MeshFrame says it.
Vec3 placed(const MeshFrame& frame, const Vec3& scale, const Vec3& x) {
  return scale.cwiseProduct(frame.R.transpose() * (x - frame.origin));
}

// What two requests must share to be one job: the file and the frame to the last bit, but not the signs of the scale.
std::string key_of(const std::string& file, const MeshFrame& frame) {
  std::string key = file;
  const Vec3 scale = frame.scale.cwiseAbs();
  for (const auto& [data, count] :
       {std::pair(scale.data(), 3), std::pair(frame.R.data(), 9), std::pair(frame.origin.data(), 3)}) {
    key.append(reinterpret_cast<const char*>(data), static_cast<std::size_t>(count) * sizeof(double));
  }
  return key;
}

// Does work(0) … work(count − 1), each once, on several threads. The thread that called also calls `between` with the
// number of finished ones, after each of its own and at the end.
template <class Work, class Between>
void in_parallel(std::size_t count, int threads, Work work, Between between) {
  std::atomic<std::size_t> next{0}, done{0};
  const auto take = [&](auto&& after) {
    for (std::size_t i = next++; i < count; i = next++) {
      work(i);
      ++done;
      after();
    }
  };
  ThreadPool pool(threads);
  pool.parallel_for(threads, [&](int item, int) {
    if (item == 0) {
      take([&] { between(done.load()); });
    } else {
      take([] {});
    }
  });
  between(done.load());
}

}  // namespace

ConvexMesh HullJobs::add(const std::string& file, const std::vector<Vec3>& vertices, const MeshFrame& frame,
                         const SourcePlace& place) {
  const auto [known, is_new] = by_key_.try_emplace(key_of(file, frame), jobs_.size());
  if (is_new) {
    Job& fresh = jobs_.emplace_back();
    fresh.file = file;
    fresh.place = place;
    fresh.points.reserve(vertices.size());
    for (const Vec3& x : vertices) fresh.points.push_back(placed(frame, frame.scale.cwiseAbs(), x));
  }
  // A stand-in is recognised by the address of its empty hull, which copies of the shape share. Each combination of
  // signs has a stand-in of its own.
  Job& job = jobs_[known->second];
  const Vec3 signs = frame.scale.cwiseSign();
  auto variant =
      std::find_if(job.variants.begin(), job.variants.end(), [&](const Variant& v) { return v.signs == signs; });
  if (variant == job.variants.end()) {
    job.variants.push_back({signs, std::make_shared<const Hull>(), {}});
    variant = std::prev(job.variants.end());
    by_stand_in_[variant->stand_in.get()] = {known->second, job.variants.size() - 1};
  }
  ConvexMesh stand_in{{}, variant->stand_in};
  for (std::size_t i = 0; i < std::min(kStandInPoints, job.points.size()); ++i) {
    stand_in.points.push_back(signs.cwiseProduct(job.points[i]));
  }
  return stand_in;
}

// Builds the hull of one job and its mirror images. What the cache says about the points to keep is only a claim, which
// hull_of_kept() checks; without a valid one the points are chosen anew and remembered. This runs on any thread and
// touches nothing but its job.
void HullJobs::run(Job& job, const LoadOptions& options, const HullCache* cache) {
  const HullTolerance& tolerance = options.hull_tolerance;
  std::optional<HullResult> result;
  std::optional<HullCache::Key> key;
  if (cache && job.points.size() >= kWorthKeeping) {
    key = HullCache::key_of(job.points, tolerance);
    if (const std::optional<HullCache::Entry> entry = cache->find(*key)) {
      result = hull_of_kept(job.points, entry->kept, job.file, tolerance);
      if (result) result->exact_vertices = entry->exact_vertices;
      job.report.from_cache = result.has_value();
    }
  }
  if (!result) {
    result = build_hull(job.points, job.file, tolerance);
    if (key && !result->kept.empty()) cache->store(*key, {result->kept, result->exact_vertices});
  }
  job.report.file = job.file;
  job.report.points = size_of(job.points);
  job.report.exact_vertices = result->exact_vertices;
  job.report.tolerance = result->tolerance;
  job.report.error = result->error;
  job.warnings = result->warnings;

  std::vector<Vec3> kept;
  for (const int i : result->kept) kept.push_back(job.points[i]);
  if (result->kept.empty()) kept = job.points;
  job.report.kept_vertices = size_of(result->hull.vertices);
  // Mirror images keep the mirrored points, so that left and right hands stay alike. Only the faces are found anew.
  for (Variant& variant : job.variants) {
    for (const Vec3& x : kept) variant.mesh.points.push_back(variant.signs.cwiseProduct(x));
    Hull hull = variant.signs == Vec3::Ones() ? result->hull : build_hull(variant.mesh.points, job.file).hull;
    variant.mesh.hull = std::make_shared<const Hull>(std::move(hull));
  }
  // They are not needed any more, and those of all meshes together are large.
  job.points = {};
}

void HullJobs::build(const LoadOptions& options, WarningList& warnings) {
  const std::optional<HullCache> cache = options.cache ? HullCache::of_user() : std::nullopt;
  // The largest jobs come first, so that none of them is left to one thread at the end.
  std::vector<std::size_t> order(jobs_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return jobs_[a].points.size() > jobs_[b].points.size(); });
  std::size_t points = 0;
  for (const Job& job : jobs_) points += job.points.size();
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const int threads = points < kWorthThreads ? 1 : std::min(kMostThreads, cores);
  in_parallel(
      order.size(), std::clamp(threads, 1, std::max(1, size_of(order))),
      [&](std::size_t i) {
        Job& job = jobs_[order[i]];
        // An exception must not leave the thread. It is thrown below, for the first job that failed, whichever failed
        // first.
        try {
          run(job, options, cache ? &*cache : nullptr);
        } catch (const std::exception& error) {
          job.error = error.what();
        }
      },
      [&](std::size_t done) {
        if (options.progress && !jobs_.empty()) options.progress("hulls", static_cast<int>(done), size_of(jobs_));
      });
  bool stored = false;
  for (const Job& job : jobs_) {
    if (!job.error.empty()) throw LoadError(job.place, job.error);
    for (const std::string& text : job.warnings) warnings.add(job.place, "mesh.hull", text);
    stored = stored || !job.report.from_cache;
  }
  if (cache && stored) cache->trim();
}

ConvexMesh HullJobs::finished(const ConvexMesh& mesh, const std::string& name) const {
  // Points that are no mesh's, such as those of an ellipsoid, are not among the jobs and keep all their vertices.
  const auto found = by_stand_in_.find(mesh.hull.get());
  if (found != by_stand_in_.end()) return jobs_[found->second.first].variants[found->second.second].mesh;
  ConvexMesh result = mesh;
  result.hull = shared_hull(mesh, name).hull;
  return result;
}

std::vector<LoadedHull> HullJobs::report() const {
  std::vector<LoadedHull> hulls;
  for (const Job& job : jobs_) hulls.push_back(job.report);
  return hulls;
}

}  // namespace lithe::internal
