#pragma once

#include <functional>
#include <stop_token>
#include <utility>

#include "app/compute/jobs/answer.h"
#include "app/compute/layer/resources.h"
#include "app/compute/layer/snapshot.h"

namespace headscope::app {

/// The layer the scene stands for, computed: what several pages look at.
class ComputedLayer {
 public:
  /// Both must outlive it.
  ComputedLayer(Workers& workers, Resources& resources);

  /// Computes by that instead of computeSnapshot(); before anything is asked.
  using Compute = std::function<Snapshot(const Setup&, Resources&, std::stop_token)>;
  void computeWith(Compute compute) { compute_ = std::move(compute); }
  void ask(const Setup& setup, Lane lane) {
    asked_ = true;
    answer_.ask(setup, lane);
  }
  /// `prepare` is called with every new snapshot, on the worker, for what would hold up the frame that shows
  /// it. Before the first is asked for.
  using Prepare = std::function<void(Snapshot&, std::stop_token)>;
  void prepareWith(Prepare prepare) { prepare_ = std::move(prepare); }
  /// Whether it was asked for since the last call.
  bool takeAsked() { return std::exchange(asked_, false); }
  /// Drops what was taken, and what is under way: null as before the first.
  void forget();
  /// Takes the newest answer; whether there was one.
  bool take();
  /// What was taken last; null before the first.
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
