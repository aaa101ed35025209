#include "lithe/viz/live/live_view.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <mutex>
#include <thread>

#include "lithe/core/check.h"
#include "lithe/core/internal/overloaded.h"
#include "lithe/viz/document/show_json.h"
#include "lithe/viz/live/internal/live_command.h"
#include "lithe/viz/live/internal/live_messages.h"
#include "lithe/viz/live/internal/pacer.h"
#include "lithe/viz/live/internal/view_server.h"

namespace lithe {

using namespace internal;

namespace {

using Clock = std::chrono::steady_clock;

// A tick: frames are sent at most this often, and from one to the next the simulation goes on by as much time.
constexpr std::chrono::duration<double> kTick(1.0 / 60);
constexpr double kBudget = 0.8;  // share of a tick that steps may take: the rest is for frames
// Commands that may wait while something takes long (a scene that is opened).
constexpr std::size_t kMostWaiting = 256;

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

}  // namespace

// Two threads: the server's, which talks to browsers, and the simulation's, which owns the world and everything about
// it. Whatever the server hears, and whatever callers ask for, becomes a function in `work_` that the simulation's
// thread calls; only `work_` and `stopping_` are shared, and `mutex_` guards them.
class LiveView::Implementation {
 public:
  Implementation(LiveSubject subject, LiveCatalogue catalogue, std::string_view page, const LiveViewOptions& options)
      : options_(options),
        catalogue_(std::move(catalogue)),
        world_(std::make_unique<LiveWorld>(std::move(subject))),
        pacer_(world_->subject().time_step),
        server_({.port = options.port, .token = options.token},
                with_document(page, R"({"format":"lithe-live","version":1})"),
                {.opened = [this](int client) { post([this, client] { greet(client); }); },
                 .message = [this](int client, std::string_view text) { return hear(client, text); },
                 .closed = [this](int client) { post([this, client] { part(client); }); }}) {
    status_.can_step = options.can_step;
    thread_ = std::thread([this] { run(); });
  }

  ~Implementation() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }

  std::string address() const { return server_.address(); }

  // Has the simulation's thread do something, and waits for it; its Errors arrive here.
  template <class Work>
  auto call(Work work) {
    std::packaged_task<std::invoke_result_t<Work>()> task(std::move(work));
    auto result = task.get_future();
    post([&task] { task(); });
    return result.get();
  }

  LiveWorld& world() { return *world_; }
  int clients() const { return status_.clients; }
  // Starts or stops the clock. Time that went by while it stood still is not caught up with.
  void play(bool playing) {
    if (status_.playing == playing) return;
    status_.playing = playing;
    last_advance_ = Clock::now();
    pacer_.stop();
    steps_owed_ = 0;
    values_changed_ = true;
  }
  void state_changed() { frame_changed_ = true; }

 private:
  // Leaves something to do for the simulation's thread. From any thread.
  void post(std::function<void()> work) {
    {
      const std::lock_guard lock(mutex_);
      work_.push_back(std::move(work));
    }
    wake_.notify_one();
  }

  std::size_t waiting() {
    const std::lock_guard lock(mutex_);
    return work_.size();
  }

  // Parses what a client sent, in the server's thread, so that nonsense never reaches the simulation. Returns a
  // complaint.
  std::optional<std::string> hear(int client, std::string_view text) {
    try {
      live::Command command = live::parse_command(text);
      LITHE_CHECK(waiting() < kMostWaiting, "the simulation is busy; the command was dropped");
      post([this, client, command = std::move(command)] { obey(client, command); });
      return std::nullopt;
    } catch (const Error& error) {
      return error.what();
    }
  }

  // All that follows happens in the simulation's thread.
  void run() {
    while (wait()) {
      const Clock::time_point now = Clock::now();
      if (now < next_tick_ || !has_to_tick()) continue;
      try {
        tick(now);
      } catch (const std::exception& error) {
        // A loss that cannot be computed, say. Time stands still rather than to ask again and again.
        play(false);
        server_.send_error_to_all(error_message(fmt::format("the simulation was paused: {}", error.what())));
      }
      next_tick_ = std::max(next_tick_ + std::chrono::duration_cast<Clock::duration>(kTick), now);
    }
  }

  // One turn: time goes on as far as it is due, and whoever looks is told what changed.
  void tick(Clock::time_point now) {
    if (status_.playing) {
      advance(seconds_between(std::exchange(last_advance_, now), now));
    } else if (steps_owed_ > 0) {
      steps_owed_ -= take_steps(steps_owed_).count;
      if (world_->diverged()) steps_owed_ = 0;
    }
    publish();
  }

  // Whether there is anything to do at the next tick. If not, the thread sleeps until there is work.
  bool has_to_tick() const { return status_.playing || steps_owed_ > 0 || frame_changed_ || values_changed_; }

  // Until the next tick, if there is something to do then, or until there is work, which it does. Returns whether to go on.
  bool wait() {
    std::unique_lock lock(mutex_);
    const auto called = [this] { return stopping_ || !work_.empty(); };
    if (has_to_tick()) {
      wake_.wait_until(lock, next_tick_, called);
    } else {
      wake_.wait(lock, called);
    }
    // What comes in the meantime waits until time has gone on.
    for (std::size_t i = work_.size(); i > 0 && !stopping_; --i) {
      const std::function<void()> task = std::move(work_.front());
      work_.pop_front();
      lock.unlock();
      task();
      lock.lock();
    }
    return !stopping_;
  }

  // How many steps were taken, and in how many seconds.
  struct Taken {
    int count = 0;
    double seconds = 0;
  };

  // No more than there is time for in a tick.
  Taken take_steps(int most) {
    const Clock::time_point start = Clock::now();
    Taken taken;
    while (taken.count < most && !world_->diverged() && taken.seconds < kBudget * kTick.count()) {
      world_->step();
      ++taken.count;
      taken.seconds = seconds_between(start, Clock::now());
    }
    if (taken.count > 0) frame_changed_ = true;
    return taken;
  }

  // Lets this much real time go by.
  void advance(double seconds) {
    const Taken taken = take_steps(pacer_.due(seconds, status_.speed));
    pacer_.took(taken.count, taken.seconds);
    if (world_->diverged()) play(false);
  }

  // Sends what changed since the last turn. A frame takes work, so none is computed where nobody looks.
  void publish() {
    const bool values = std::exchange(values_changed_, false);
    const bool frame = std::exchange(frame_changed_, false) || values;
    if (values) server_.send_values_to_all(values_message(*world_, status_));
    if (frame && status_.clients > 0) {
      status_.step_seconds = pacer_.step_seconds();
      status_.real_time_factor = pacer_.real_time_factor();
      ++status_.frame;
      server_.send_frame_to_all(frame_message(world_->frame(), status_, world_->model().joints().size()));
    }
  }

  // A browser has come. The first one starts the simulation, unless it is to be paused, so that nobody misses its
  // beginning.
  void greet(int client) {
    ++status_.clients;
    if (!greeted_ && !options_.paused && options_.can_step) play(true);
    greeted_ = true;
    values_changed_ = true;
    try {
      server_.send_scene(client, scene_message(*world_, catalogue_, status_));
    } catch (const std::exception& error) {
      server_.send_error(client, error_message(error.what()));
    }
  }

  // A browser has left, and what it held is let go.
  void part(int client) {
    --status_.clients;
    world_->release(client);
    values_changed_ = true;
  }

  // Does what a browser asks for; if that is refused, only that browser hears why. A world that a program moves lets
  // browsers choose scenes, and nothing else.
  void obey(int client, const live::Command& command) {
    try {
      std::visit(Overloaded{[&](const live::ChooseScene& choose) { choose_scene(choose.name); },
                            [&](const auto& other) {
                              LITHE_CHECK(options_.can_step, "this world is moved by a program, not from here");
                              apply(client, other);
                            }},
                 command);
    } catch (const std::exception& error) {
      server_.send_error(client, error_message(error.what()));
    }
  }

  void apply(int, const live::Play&) {
    LITHE_CHECK(!world_->diverged(), "the simulation diverged; reset it first");
    play(true);
  }
  void apply(int, const live::Pause&) { play(false); }
  void apply(int, const live::Step& step) {
    LITHE_CHECK(!status_.playing, "pause first: steps are for a simulation that stands still");
    LITHE_CHECK(!world_->diverged(), "the simulation diverged; reset it first");
    steps_owed_ = std::min(steps_owed_ + step.count, live::kMostSteps);
  }
  void apply(int, const live::Reset&) {
    world_->reset();
    steps_owed_ = 0;
    frame_changed_ = true;
  }
  void apply(int, const live::Speed& speed) {
    status_.speed = speed.factor;
    values_changed_ = true;
  }
  void apply(int, const live::SetControl& set) {
    world_->set_control(set.slider, set.value);
    values_changed_ = true;
  }
  void apply(int, const live::SetParameter& set) {
    world_->set_parameter(set.slider, set.value);
    values_changed_ = true;
  }
  void apply(int, const live::RestoreDefaults&) {
    world_->restore_defaults();
    values_changed_ = true;
  }
  void apply(int client, const live::Push& push) {
    world_->push(client, push.grab);
    frame_changed_ = true;
  }
  void apply(int client, const live::Release&) {
    world_->release(client);
    frame_changed_ = true;
  }

  // Changes to another scene of the catalogue: nothing else that a client names is ever opened.
  void choose_scene(const std::string& name) {
    const auto known = [&](const LiveCatalogue::Entry& entry) { return entry.name == name; };
    LITHE_CHECK(std::ranges::any_of(catalogue_.entries, known), "there is no scene of this name to choose");
    // If it cannot be opened, the scene that there is stays.
    auto chosen = std::make_unique<LiveWorld>(catalogue_.open(name));
    LiveStatus status = status_;
    ++status.scene;
    status.frame = 0;
    server_.send_scene_to_all(scene_message(*chosen, catalogue_, status));
    world_ = std::move(chosen);
    status_ = status;
    pacer_ = Pacer(world_->subject().time_step);
    steps_owed_ = 0;
    values_changed_ = true;
  }

  const LiveViewOptions options_;
  LiveCatalogue catalogue_;
  std::unique_ptr<LiveWorld> world_;
  LiveStatus status_;
  Pacer pacer_;
  Clock::time_point next_tick_ = {}, last_advance_ = {};
  int steps_owed_ = 0;  // asked for while time stands still
  bool greeted_ = false;
  bool values_changed_ = false, frame_changed_ = false;  // since they were sent

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::function<void()>> work_;  // for the simulation's thread
  bool stopping_ = false;

  // Last: they stop first, while all the rest is still there.
  ViewServer server_;
  std::thread thread_;
};

LiveView::LiveView(LiveSubject subject, LiveCatalogue catalogue, std::string_view viewer_page,
                   const LiveViewOptions& options)
    : implementation_(
          std::make_unique<Implementation>(std::move(subject), std::move(catalogue), viewer_page, options)) {}

LiveView::~LiveView() = default;

std::string LiveView::address() const { return implementation_->address(); }

int LiveView::clients() const {
  return implementation_->call([this] { return implementation_->clients(); });
}

void LiveView::show(const ConstVecRef& q, const ConstVecRef& v, double time) {
  implementation_->call([&] {
    implementation_->world().set_state(q, v, time);
    implementation_->state_changed();
  });
}

void LiveView::play(bool playing) {
  implementation_->call([&] { implementation_->play(playing); });
}

LiveView::Moment LiveView::now() const {
  return implementation_->call([this] {
    const LiveWorld& world = implementation_->world();
    return Moment{world.state(), world.time()};
  });
}

}  // namespace lithe
