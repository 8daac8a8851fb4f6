#pragma once

#include <functional>
#include <stop_token>
#include <utility>

#include "app/compute/jobs/answer.h"
#include "app/compute/layer/resources.h"
#include "app/compute/layer/snapshot.h"

namespace headscope::app {

/// The scene's computed layer, shared by several pages.
class ComputedLayer {
 public:
  /// Both must outlive it.
  ComputedLayer(Workers& workers, Resources& resources);

  /// Replaces computeSnapshot(). Call before the first ask().
  using Compute = std::function<Snapshot(const Setup&, Resources&, std::stop_token)>;
  void computeWith(Compute compute) { compute_ = std::move(compute); }
  void ask(const Setup& setup, Lane lane) {
    asked_ = true;
    answer_.ask(setup, lane);
  }
  /// Sets a function that is called on the worker with every new snapshot, for work that would delay the
  /// frame that shows it. Call before the first ask().
  using Prepare = std::function<void(Snapshot&, std::stop_token)>;
  void prepareWith(Prepare prepare) { prepare_ = std::move(prepare); }
  /// Whether ask() was called since the last takeAsked().
  bool takeAsked() { return std::exchange(asked_, false); }
  /// Drops the current snapshot and any computation in progress; snapshot() is null again.
  void forget();
  /// Takes the newest answer. Returns whether there was a new one.
  bool take();
  /// Returns the last snapshot taken; null before the first.
  const std::shared_ptr<const Snapshot>& snapshot() const { return snapshot_; }
  bool upToDate(const Setup& setup) const { return snapshot_ && snapshot_->setup == setup; }
  double busySeconds() const { return answer_.busySeconds(); }

 private:
  Compute compute_;
  std::shared_ptr<const Answered<Setup, Snapshot>> taken_;
  std::shared_ptr<const Snapshot> snapshot_;
  bool asked_ = false;
  Prepare prepare_;
  Answer<Setup, Snapshot> answer_;
};

}  // namespace headscope::app
