#pragma once

#include "app/compute/jobs/answer.h"
#include "app/pages/model/model_state.h"

namespace headscope::app::model_page {

/// What the page of a model asks about the next token: after the query, after every token, and what the
/// stream would be without the scene's changes.
class PredictionAnswers {
 public:
  PredictionAnswers(Workers& workers, Resources& resources);

  /// What the scene's changes are compared with, while there are any.
  void askUnchanged(const Scene& scene);
  /// `study` is of what the scene asks for.
  void ask(const Scene& scene, const std::shared_ptr<const ModelStudy>& study, const Predictions& predicted);
  /// Takes what has come; whether there was anything.
  bool take(const Scene& scene, Predictions& predicted);
  void cancel();
  void forget();

 private:
  Answer<ModelQuestion, StreamStudy> unchanged_;
  Answer<GuessQuestion, Guesses> guesses_;
  Answer<StripQuestion, std::vector<Foreseen>> strip_;
};

}  // namespace headscope::app::model_page
