#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "app/compute/jobs/answer.h"
#include "app/pages/model/model_state.h"

namespace headscope::app::model_page {

/// The study of the scene's text: its layers as they come, and then the whole.
class StudyRun {
 public:
  StudyRun(Workers& workers, Resources& resources);

  void ask(const ModelQuestion& question) { study_.ask(question, Lane::front); }
  bool upToDate(const ModelQuestion& question) const { return study_.upToDate(question); }
  /// Seconds that the study under way has taken; 0: none is.
  double busySeconds() const { return study_.busySeconds(); }
  void cancel() { study_.cancel(); }
  void forget();
  /// Gives the page a study that has come since the last time, or why there is none; whether one has.
  bool take(State& page);
  /// Gives the page the layers of `model` that are there already.
  void takeArriving(const OpenModel* model, State& page);

 private:
  /// Layers as the runner tells of them, from the thread that it runs on.
  struct Arriving {
    std::mutex mutex;
    std::vector<std::shared_ptr<const LayerSummary>> layers;
    const OpenModel* model = nullptr;  ///< whose they are
    bool changed = false;
  };
  attention::Result<ModelStudy> run(const ModelQuestion& question, std::stop_token stop);

  Resources& resources_;
  ModelRunner runner_;
  Arriving arriving_;
  std::shared_ptr<const StudyAnswer> taken_;
  Answer<ModelQuestion, ModelStudy> study_;
};

}  // namespace headscope::app::model_page
