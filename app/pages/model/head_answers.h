#pragma once

#include "app/compute/jobs/answer.h"
#include "app/pages/model/model_state.h"

namespace headscope::app::model_page {

/// What the page of a model asks about the head that is looked at: what switching it off does to the guess,
/// what it copies, which heads it reads, and how recorded weights came about.
class HeadAnswers {
 public:
  /// Seconds that the pointer rests before heads are tried without.
  static constexpr double kRestSeconds = 0.15;

  HeadAnswers(Workers& workers, Resources& resources);

  /// What takes a while: once the pointer rests, and nothing new is written. `page` has a study.
  void ask(const Scene& scene, State& page);
  /// Nothing can be asked of what is recorded but how its weights came about.
  void askRecorded(const Scene& scene, const std::shared_ptr<const ModelStudy>& study);
  /// Takes what has come; whether there was anything.
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
