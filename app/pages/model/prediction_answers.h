#pragma once

#include "app/compute/jobs/answer.h"
#include "app/pages/model/model_state.h"

namespace headscope::app::model_page {

/// The model page's questions about the next token: after the query, after every token, and with the residual
/// streams of the unchanged model.
class PredictionAnswers {
 public:
  PredictionAnswers(Workers& workers, Resources& resources);

  /// Asks for the unchanged model's streams if the scene changes the model; otherwise cancels.
  void askUnchanged(const Scene& scene);
  /// Asks for the predictions. `study` must be of the scene's current question.
  void ask(const Scene& scene, const std::shared_ptr<const ModelStudy>& study, const Predictions& predicted);
  /// Takes new answers. Returns whether there were any.
  bool take(const Scene& scene, Predictions& predicted);
  void cancel();
  void forget();

 private:
  Answer<ModelQuestion, StreamStudy> unchanged_;
  Answer<PredictionQuestion, TokenPredictions> predictions_;
  Answer<StripQuestion, std::vector<StripPrediction>> strip_;
};

}  // namespace headscope::app::model_page
