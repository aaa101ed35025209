#include <cmath>
#include <limits>
#include <utility>

#include "lithe/core/check.h"
#include "lithe/dynamics/body_motion.h"
#include "lithe/dynamics/centroidal.h"
#include "lithe/dynamics/energy.h"
#include "lithe/dynamics/kinematics.h"
#include "lithe/spatial/internal/robust_norm.h"
#include "lithe/viz/document/internal/show_parts.h"
#include "lithe/viz/document/show_document.h"

namespace lithe {

using namespace internal;

namespace {

// Adds numbers as floats.
void append(std::vector<float>& out, const ConstVecRef& values) {
  for (const double value : values) out.push_back(show_number(value));
}

// Whether every time is later than the one before.
bool ascends(const std::vector<float>& times) {
  for (std::size_t t = 1; t < times.size(); ++t) {
    if (!(times[t] > times[t - 1])) return false;
  }
  return true;
}

// The times of the frames as floats, which have to ascend as the times do: a viewer finds a frame by its time.
std::vector<float> rounded_times(const ShowMotion& motion) {
  const std::vector<double>& times = motion.times;
  for (std::size_t t = 0; t < times.size(); ++t) {
    LITHE_CHECK(std::isfinite(times[t]) && (t == 0 || times[t] > times[t - 1]),
                "the times of '{}' do not ascend: {} s in frame {}{}", motion.name, times[t], t,
                t == 0 ? std::string() : fmt::format(", {} s before it", times[t - 1]));
  }
  std::vector<float> rounded(times.size());
  for (std::size_t t = 0; t < times.size(); ++t) rounded[t] = show_number(times[t]);
  if (ascends(rounded)) return rounded;
  // From the first frame on; what is still the same float (frames far closer than the others) makes room for the next.
  for (std::size_t t = 0; t < times.size(); ++t) {
    rounded[t] = show_number(times[t] - times[0]);
    if (t > 0 && !(rounded[t] > rounded[t - 1])) {
      rounded[t] = std::nextafter(rounded[t - 1], std::numeric_limits<float>::infinity());
    }
  }
  LITHE_CHECK(std::isfinite(rounded.back()), "the times of '{}' are too large: {} s", motion.name, times.back());
  return rounded;
}

// Computes one motion's track frame by frame.
class TrackMaker {
 public:
  TrackMaker(const Model& model, const ShowMotion& motion) : model_(model), motion_(motion) { check_sizes(); }

  ShowTrack make() {
    track_.name = motion_.name;
    track_.times = rounded_times(motion_);
    track_.contact_counts.assign(motion_.times.size(), 0);
    for (const auto& [name, unit] : {std::pair{"energy", "J"}, {"kinetic energy", "J"}, {"potential energy", "J"}}) {
      track_.series.push_back({name, unit, {}});
    }
    track_.series.push_back({"contact force", "N", {}});
    for (std::size_t t = 0; t < motion_.times.size(); ++t) add_frame(t);
    add_series();
    add_gradients();
    return std::move(track_);
  }

 private:
  // Refuses what does not fit the model, before anything is computed.
  void check_sizes() const {
    const auto frames = static_cast<Eigen::Index>(motion_.times.size());
    const std::size_t contact_frames = motion_.contacts.size();
    LITHE_CHECK(frames == 0 || (motion_.q.rows() == model_.nq() && motion_.v.rows() == model_.nv()),
                "the states of '{}' have {} coordinates and {} velocities, the model has {} and {}", motion_.name,
                motion_.q.rows(), motion_.v.rows(), model_.nq(), model_.nv());
    LITHE_CHECK(motion_.q.cols() == frames && motion_.v.cols() == frames,
                "'{}' has {} times, but {} configurations and {} velocities", motion_.name, frames, motion_.q.cols(),
                motion_.v.cols());
    LITHE_CHECK(contact_frames == 0 || contact_frames == motion_.times.size(),
                "'{}' has {} times, but contacts of {} frames", motion_.name, frames, contact_frames);
    LITHE_CHECK(contact_frames == 0 || (motion_.time_step > 0 && std::isfinite(motion_.time_step)),
                "'{}' has a time step of {} s; it must be positive", motion_.name, motion_.time_step);
  }

  // Computes all that is drawn of one frame, and the numbers of its plots.
  void add_frame(std::size_t t) {
    const auto column = static_cast<Eigen::Index>(t);
    try {
      kinematics(model_, motion_.q.col(column), motion_.v.col(column), kin_);
    } catch (const Error& error) {
      throw Error(fmt::format("frame {} of '{}' (t = {} s): {}", t, motion_.name, motion_.times[t], error.what()));
    }
    add_poses();
    if (model_.total_mass() > 0) append(track_.centre_of_mass, centre_of_mass(model_, kin_));
    const double kinetic = kinetic_energy(model_, kin_);
    const double potential = potential_energy(model_, kin_);
    track_.series[0].values.push_back(show_number(kinetic + potential));
    track_.series[1].values.push_back(show_number(kinetic));
    track_.series[2].values.push_back(show_number(potential));
    track_.series[3].values.push_back(show_number(add_contacts(t)));
  }

  // Adds the poses of all bodies. Of the two quaternions of a rotation, the one closer to the frame before is taken:
  // what is drawn between frames turns the short way.
  void add_poses() {
    body_poses(model_, kin_, X_WB_);
    last_.resize(X_WB_.size(), quaternion_identity());
    for (std::size_t body = 0; body < X_WB_.size(); ++body) {
      Vec4 quaternion = quaternion_from_rotation(X_WB_[body].R).normalized();
      if (quaternion.dot(last_[body]) < 0) quaternion = -quaternion;
      append(track_.poses, X_WB_[body].p);
      append(track_.poses, quaternion);
      last_[body] = quaternion;
    }
  }

  // Adds the contacts of one frame, with mean forces in place of impulses. Returns the sum of the forces' magnitudes.
  double add_contacts(std::size_t t) {
    if (motion_.contacts.empty()) return 0;
    double sum = 0;
    for (const RecordedContact& contact : motion_.contacts[t]) {
      LITHE_CHECK(contact.a < model_.shapes().size() && contact.b < model_.shapes().size(),
                  "frame {} of '{}': a contact of shapes {} and {}, of {}", t, motion_.name, contact.a, contact.b,
                  model_.shapes().size());
      // An impulse acts during a step, so over the time step it is a mean force.
      const Vec3 force = contact.impulse / motion_.time_step;
      track_.contact_shapes.insert(track_.contact_shapes.end(), {contact.a, contact.b});
      append(track_.contact_values, contact.point);
      append(track_.contact_values, contact.normal);
      append(track_.contact_values, force);
      sum += robust_norm(force);
    }
    track_.contact_counts[t] = static_cast<std::uint32_t>(motion_.contacts[t].size());
    return sum;
  }

  // Adds the numbers over time that the caller brought along.
  void add_series() {
    for (const ShowSeries& series : motion_.series) {
      LITHE_CHECK(series.values.size() == motion_.times.size(), "series '{}' of '{}' has {} values for {} frames",
                  series.name, motion_.name, series.values.size(), motion_.times.size());
      track_.series.push_back({series.name, series.unit, {}});
      for (const double value : series.values) track_.series.back().values.push_back(show_number(value));
    }
  }

  // Adds the gradients that the caller brought along, frame after frame.
  void add_gradients() {
    if (!motion_.gradients) return;
    const ShowGradients& given = *motion_.gradients;
    const auto frames = static_cast<Eigen::Index>(motion_.times.size());
    const auto bodies = static_cast<Eigen::Index>(model_.bodies().size());
    const auto joints = static_cast<Eigen::Index>(model_.joints().size());
    LITHE_CHECK(given.bodies.rows() == 3 * bodies && given.joints.rows() == joints && given.bodies.cols() == frames &&
                    given.joints.cols() == frames,
                "the gradients of '{}' are {}×{} by bodies and {}×{} by joints, but must be {}×{} and {}×{}",
                motion_.name, given.bodies.rows(), given.bodies.cols(), given.joints.rows(), given.joints.cols(),
                3 * bodies, frames, joints, frames);
    ShowTrack::Gradients gradients = {.loss = given.loss, .bodies = {}, .joints = {}};
    append(gradients.bodies, given.bodies.reshaped());
    append(gradients.joints, given.joints.reshaped());
    track_.gradients = std::move(gradients);
  }

  const Model& model_;
  const ShowMotion& motion_;
  ShowTrack track_;
  Kinematics kin_;
  std::vector<Pose> X_WB_;
  std::vector<Vec4> last_;  // quaternions of the frame before
};

}  // namespace

// fmax and fmin also turn infinities into the largest floats.
float show_number(double value) {
  LITHE_CHECK(!std::isnan(value), "a number to be shown is not a number (NaN)");
  constexpr double kMost = std::numeric_limits<float>::max();
  return static_cast<float>(std::fmin(std::fmax(value, -kMost), kMost));
}

std::vector<ShowExceptedPair> show_excepted_pairs(const std::vector<ExceptedPair>& pairs) {
  std::vector<ShowExceptedPair> shown;
  shown.reserve(pairs.size());
  for (const ExceptedPair& pair : pairs) shown.push_back({pair.a, pair.b, describe_reason(pair)});
  return shown;
}

ShowTrack make_track(const Model& model, const ShowMotion& motion) { return TrackMaker(model, motion).make(); }

ShowDocument make_show(const Model& model, const std::vector<Visual>& visuals, std::string title, double time_step,
                       const std::vector<ShowMotion>& motions) {
  LITHE_CHECK(time_step > 0 && std::isfinite(time_step), "a time step of {} s; it must be positive", time_step);
  ShowDocument show = {.title = std::move(title),
                       .time_step = time_step,
                       .gravity = model.gravity(),
                       .bodies = show_bodies(model),
                       .shapes = show_shapes(model, visuals),
                       .joints = show_joints(model)};
  for (const ShowMotion& motion : motions) show.motions.push_back(make_track(model, motion));
  return show;
}

}  // namespace lithe
