#pragma once

#include <algorithm>
#include <concepts>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "app/compute/jobs/answer.h"
#include "app/compute/layer/layer_inputs.h"
#include "app/widgets/heatmap_layer.h"
#include "app/widgets/view.h"

namespace headscope::app {

/// An answer that a page shows, whatever it is about, or a set of them.
class ShownPart {
 public:
  virtual ~ShownPart() = default;
  virtual bool take() = 0;
  virtual void forget() = 0;
  virtual void cancel() = 0;
  virtual std::size_t gpuBytes() const = 0;
  virtual double busySeconds() const = 0;
};

/// What a page shows that was computed. Each Shown registers with its page's set, so that a page takes, drops
/// and counts all of them at once. A set within another can also be stopped alone. Call on the page's thread.
class ShownSet : public ShownPart {
 public:
  ShownSet(const View& view, Workers& workers, Resources& resources)
      : view_(view), workers_(workers), resources_(resources) {}
  explicit ShownSet(ShownSet* whole) : ShownSet(whole->view_, whole->workers_, whole->resources_) {
    whole->add(*this);
  }
  ShownSet(const ShownSet&) = delete;
  ShownSet& operator=(const ShownSet&) = delete;

  /// Takes the newest answers, with their pictures. Returns whether any is new.
  bool take() override {
    bool any = false;
    for (ShownPart* member : members_) any |= member->take();
    return any;
  }
  /// Drops all answers with what they keep alive, as for a hidden page. Textures stay until they are
  /// replaced.
  void forget() override {
    for (ShownPart* member : members_) member->forget();
  }
  /// Stops what is being computed. Keeps the answers.
  void cancel() override {
    for (ShownPart* member : members_) member->cancel();
  }
  std::size_t gpuBytes() const override {
    std::size_t bytes = 0;
    for (const ShownPart* member : members_) bytes += member->gpuBytes();
    return bytes;
  }
  /// Seconds since the oldest question without an answer was asked; 0 when idle.
  double busySeconds() const override {
    double seconds = 0;
    for (const ShownPart* member : members_) seconds = std::max(seconds, member->busySeconds());
    return seconds;
  }
  void add(ShownPart& member) { members_.push_back(&member); }
  const View& view() const { return view_; }
  Workers& workers() { return workers_; }
  Resources& resources() { return resources_; }

 private:
  const View& view_;
  Workers& workers_;
  Resources& resources_;
  std::vector<ShownPart*> members_;  // each outlives the set's last call: both are members of the page
};

/// The newest part of what is being computed, on its way from a lane to the page's thread.
template <class Value>
class Arriving {
 public:
  /// Does nothing once the work was asked to stop.
  void put(Value value, const std::stop_token& stop) {
    const std::lock_guard lock(mutex_);
    if (!stop.stop_requested()) newest_ = std::move(value);
  }
  /// The newest since the last call.
  std::optional<Value> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(newest_, std::nullopt);
  }

 private:
  std::mutex mutex_;
  std::optional<Value> newest_;
};

/// An answer that a page shows, with its pictures. It reads like a pointer to the newest value that was
/// taken, null before the first; while a newer answer is an error, problem() says why.
template <class Request, class Value>
class Shown : public ShownPart {
 public:
  /// Called with each new answer that isn't an error, while the answer before is still shown.
  using Taken = std::function<void(const Request&, const std::shared_ptr<const Value>&)>;

  /// For computations that show what they have so far.
  using SoFar = std::function<void(Value)>;

  /// `compute` is called on a lane with the request, the window's resources if it takes them, a function for
  /// what it has so far if it takes one, and a stop token if it takes one; it returns a Value, a shared one,
  /// or a Result of either. `pictures` are the members of Value to draw as heatmaps.
  template <class Compute>
  Shown(ShownSet& set, Compute compute, std::vector<attention::Stack Value::*> pictures = {},
        Taken onTaken = {})
      : set_(set),
        pictures_(std::move(pictures)),
        textures_(pictures_.size()),
        onTaken_(std::move(onTaken)),
        answer_(set.workers(), computing(std::move(compute), set.resources())) {
    set.add(*this);
  }

  /// Cheap if this is already shown, waiting or running.
  void ask(Request request, Lane lane) {
    if (newest_ && newest_->value && newest_ != shown_ && newest_->request == request) show(newest_);
    answer_.ask(std::move(request), lane);
  }

  explicit operator bool() const { return shown_ != nullptr; }
  const Value& operator*() const { return **shown_->value; }
  const Value* operator->() const { return shown_->value->get(); }
  /// The value, for whoever needs it longer than it is shown; null if there is none.
  std::shared_ptr<const Value> shared() const { return shown_ ? *shown_->value : nullptr; }
  const Value* get() const { return shown_ ? shown_->value->get() : nullptr; }
  /// The question that the value answers. Requires a value.
  const Request& request() const { return shown_->request; }
  /// Why a newer question than the value's has none; "" if the value is the newest answer.
  std::string problem() const {
    return newest_ && !newest_->value && !partial_ ? newest_->value.error().message : "";
  }
  /// Why `request` has no value; "" if the newest answer isn't to it.
  std::string problem(const Request& request) const { return answers(request) ? problem() : ""; }
  /// The value unless a newer question has none; else null.
  const Value* newest() const { return problem().empty() ? get() : nullptr; }
  /// The value if it answers this question; else null.
  const Value* of(const Request& request) const {
    return shown_ && shown_->request == request ? get() : nullptr;
  }
  /// Whether the newest answer, be it an error, is to `request`.
  bool answers(const Request& request) const { return newest_ && newest_->request == request; }
  /// A picture of the value, in the order given.
  const EasedTextures& picture(std::size_t which = 0) const { return textures_[which]; }
  EasedTextures& picture(std::size_t which = 0) { return textures_[which]; }

  bool take() override {
    const auto now = answer_.current();
    const bool isNew = now != newest_;
    if (isNew) partial_ = false;
    if (isNew && (newest_ = now) && now->value) show(now);
    const auto part = soFar_.take();
    if (!part || (now && now->request == (*part)->request)) return isNew;
    partial_ = true;
    show(*part);
    return true;
  }
  void forget() override {
    answer_.forget();
    soFar_.take();
    partial_ = false;
    shown_.reset();
    newest_.reset();
  }
  void cancel() override { answer_.cancel(); }
  double busySeconds() const override { return answer_.busySeconds(); }
  std::size_t gpuBytes() const override {
    std::size_t bytes = 0;
    for (const EasedTextures& each : textures_) bytes += each.bytes();
    return bytes;
  }

 private:
  using Shared = std::shared_ptr<const Value>;
  using One = std::shared_ptr<const Answered<Request, Shared>>;

  void show(const One& now) {
    if (onTaken_) onTaken_(now->request, *now->value);
    shown_ = now;
    for (std::size_t i = 0; i < pictures_.size(); ++i)
      textures_[i].set((**now->value).*pictures_[i], set_.view().time,
                       !set_.view().preferences.reducedMotion);
  }

  template <class Compute>
  auto called(const Compute& compute, const Request& request, Resources& resources, std::stop_token stop) {
    if constexpr (std::invocable<const Compute&, const Request&, const SoFar&, std::stop_token>)
      return compute(
          request,
          [&](Value value) {
            soFar_.put(std::make_shared<const Answered<Request, Shared>>(Answered<Request, Shared>{
                           request, std::make_shared<const Value>(std::move(value)), 0}),
                       stop);
          },
          stop);
    else if constexpr (std::invocable<const Compute&, const Request&, Resources&, std::stop_token>)
      return compute(request, resources, stop);
    else if constexpr (std::invocable<const Compute&, const Request&, std::stop_token>)
      return compute(request, stop);
    else
      return compute(request);
  }

  static attention::Result<Shared> sharing(Value value) {
    return std::make_shared<const Value>(std::move(value));
  }
  static attention::Result<Shared> sharing(attention::Result<Value> value) {
    if (!value) return value.error();
    return std::make_shared<const Value>(std::move(*value));
  }
  static attention::Result<Shared> sharing(attention::Result<Shared> value) { return value; }

  template <class Compute>
  auto computing(Compute compute, Resources& resources) {
    return [this, compute = std::move(compute), &resources](const Request& request, std::stop_token stop) {
      return sharing(called(compute, request, resources, stop));
    };
  }

  ShownSet& set_;
  std::vector<attention::Stack Value::*> pictures_;
  std::deque<EasedTextures> textures_;
  Taken onTaken_;
  One newest_, shown_;              // shown_ has a value
  Arriving<One> soFar_;             // has a value
  bool partial_ = false;            // what is shown is newer than newest_, and not whole yet
  Answer<Request, Shared> answer_;  // last member: destroyed first, so that its work ends before the rest
};

}  // namespace headscope::app
