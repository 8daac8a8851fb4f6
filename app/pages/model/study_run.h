#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "app/compute/jobs/answer.h"
#include "app/pages/model/model_state.h"

namespace headscope::app::model_page {

/// Runs the study of the scene's text, and provides its layers as they are computed.
class StudyRun {
 public:
  StudyRun(Workers& workers, Resources& resources);

  void ask(const ModelQuestion& question) { study_.ask(question, Lane::front); }
  bool upToDate(const ModelQuestion& question) const { return study_.upToDate(question); }
  /// Seconds that the current study has been running; 0 if none is.
  double busySeconds() const { return study_.busySeconds(); }
  void cancel() { study_.cancel(); }
  void forget();
  /// Gives the page a new study, or the reason why there is none. Returns whether there was either.
  bool take(State& page);
  /// Gives the page the layers of `model` that have been computed so far.
  void takeArriving(const OpenModel* model, State& page);

 private:
  /// The layers computed so far. Written on the runner's thread.
  struct Arriving {
    std::mutex mutex;
    std::vector<std::shared_ptr<const LayerSummary>> layers;
    const OpenModel* model = nullptr;  ///< that the layers belong to
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
