#pragma once

#include "app/compute/jobs/answer.h"
#include "app/pages/model/model_state.h"

namespace headscope::app::model_page {

/// The model page's questions about the chosen head: how switching it off changes the prediction, how much it
/// copies, which heads it composes with, and how recorded weights follow from q and k.
class HeadAnswers {
 public:
  /// Seconds that the pointer must rest before ask() does anything.
  static constexpr double kRestSeconds = 0.15;

  HeadAnswers(Workers& workers, Resources& resources);

  /// Asks for the slower answers once the pointer rests and no text is generated. `page` must have a study.
  void ask(const Scene& scene, State& page);
  /// Asks how the weights of recorded attention follow from q and k, if the file has both.
  void askRecorded(const Scene& scene, const std::shared_ptr<const ModelStudy>& study);
  /// Takes new answers. Returns whether there were any.
  bool take(HeadState& heads, const std::shared_ptr<const OpenModel>& opened);
  void cancel();
  void forget();

 private:
  Resources& resources_;
  Answer<std::vector<Forecast>, std::vector<float>> forecast_;
  Answer<HeadLossQuestion, HeadLosses> losses_;
  Answer<CopyingQuestion, double> copying_;
  Answer<CompositionQuestion, HeadCompositions> compositions_;
  Answer<RecordedQuestion, RecordedRule> recorded_;
};

}  // namespace headscope::app::model_page
