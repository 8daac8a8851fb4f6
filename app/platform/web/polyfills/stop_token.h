#pragma once

#include <atomic>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <utility>

namespace headscope::stand_in {

// C++20's <stop_token> and std::jthread, which Emscripten's libc++ 13 lacks. One deviation: callbacks run
// under the lock, so destroying a stop_callback meanwhile on another thread waits for all of them.

/// If set, called whenever work checks whether to stop. Without threads, long work lets other work run there.
/// Must not throw.
inline std::function<void()> atStopCheck;

class StopState {
 public:
  bool requested() const noexcept { return requested_.load(std::memory_order_acquire); }
  /// Returns whether this is the first request. Runs the callbacks on the requesting thread.
  bool request() {
    const std::lock_guard lock(mutex_);
    if (requested_.exchange(true)) return false;
    while (!callbacks_.empty()) {
      std::function<void()>* const next = callbacks_.front();
      callbacks_.pop_front();
      (*next)();
    }
    return true;
  }
  /// Calls the callback at once if a stop was already requested.
  void add(std::function<void()>& callback) {
    const std::lock_guard lock(mutex_);
    requested_ ? callback() : callbacks_.push_back(&callback);
  }
  void remove(std::function<void()>& callback) {
    const std::lock_guard lock(mutex_);
    callbacks_.remove(&callback);
  }

 private:
  std::atomic<bool> requested_ = false;
  std::recursive_mutex mutex_;  ///< recursive: a callback may remove itself
  std::list<std::function<void()>*> callbacks_;
};

class stop_token {
 public:
  stop_token() noexcept = default;
  explicit stop_token(std::shared_ptr<StopState> state) noexcept : state_(std::move(state)) {}
  bool stop_requested() const noexcept {
    if (atStopCheck) atStopCheck();
    return state_ && state_->requested();
  }
  bool stop_possible() const noexcept { return state_ != nullptr; }
  friend bool operator==(const stop_token& a, const stop_token& b) noexcept { return a.state_ == b.state_; }

 private:
  template <typename F>
  friend class stop_callback;
  std::shared_ptr<StopState> state_;
};

struct nostopstate_t {
  explicit nostopstate_t() = default;
};
inline constexpr nostopstate_t nostopstate{};

class stop_source {
 public:
  stop_source() : state_(std::make_shared<StopState>()) {}
  explicit stop_source(nostopstate_t) noexcept {}
  stop_token get_token() const noexcept { return stop_token(state_); }
  bool request_stop() { return state_ && state_->request(); }
  bool stop_requested() const noexcept { return state_ && state_->requested(); }
  bool stop_possible() const noexcept { return state_ != nullptr; }

 private:
  std::shared_ptr<StopState> state_;
};

template <typename F>
class stop_callback {
 public:
  template <typename C>
  stop_callback(stop_token token, C&& callback)
      : callback_(std::forward<C>(callback)), state_(std::move(token.state_)) {
    if (state_) state_->add(callback_);
  }
  ~stop_callback() {
    if (state_) state_->remove(callback_);
  }
  stop_callback(const stop_callback&) = delete;
  stop_callback& operator=(const stop_callback&) = delete;

 private:
  std::function<void()> callback_;
  std::shared_ptr<StopState> state_;
};
template <typename C>
stop_callback(stop_token, C) -> stop_callback<C>;

class jthread {
 public:
  using id = std::thread::id;
  jthread() noexcept : source_(nostopstate) {}
  template <typename F, typename = std::enable_if_t<!std::is_same_v<std::decay_t<F>, jthread>>>
  explicit jthread(F&& work) {
    if constexpr (std::is_invocable_v<std::decay_t<F>, stop_token>)
      thread_ = std::thread(std::forward<F>(work), source_.get_token());
    else
      thread_ = std::thread(std::forward<F>(work));
  }
  ~jthread() { end(); }
  jthread(jthread&&) noexcept = default;
  jthread& operator=(jthread&& other) noexcept {
    if (this == &other) return *this;
    end();
    thread_ = std::move(other.thread_);
    source_ = std::move(other.source_);
    return *this;
  }
  bool joinable() const noexcept { return thread_.joinable(); }
  void join() { thread_.join(); }
  void detach() { thread_.detach(); }
  id get_id() const noexcept { return thread_.get_id(); }
  stop_token get_stop_token() const noexcept { return source_.get_token(); }
  bool request_stop() { return source_.request_stop(); }

 private:
  void end() {
    if (!thread_.joinable()) return;
    source_.request_stop();
    thread_.join();
  }
  stop_source source_;
  std::thread thread_;
};

}  // namespace headscope::stand_in
