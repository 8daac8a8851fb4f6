#include "app/pages/model/prediction_answers.h"

#include <utility>

namespace headscope::app::model_page {

PredictionAnswers::PredictionAnswers(Workers& workers, Resources& resources)
    : unchanged_(workers,
                 [&resources](const ModelQuestion& question, std::stop_token stop) {
                   return studyStreams(question, resources, stop);
                 }),
      predictions_(workers, predictTokens),
      strip_(workers, predictStrip) {}

void PredictionAnswers::askUnchanged(const Scene& scene) {
  if (changesModel(scene.setup))
    unchanged_.ask(unchangedQuestion(scene.setup), Lane::back);
  else
    unchanged_.cancel();
}

void PredictionAnswers::ask(const Scene& scene, const std::shared_ptr<const ModelStudy>& study,
                            const Predictions& predicted) {
  const Index stop = scene.cursor.model.stop < 0 ? std::ssize(study->layers) : scene.cursor.model.stop;
  predictions_.ask({study, predicted.unchanged, scene.cursor.cell.query, stop}, Lane::front);
  strip_.ask({study, predicted.unchanged, stop}, Lane::back);
}

bool PredictionAnswers::take(const Scene& scene, Predictions& predicted) {
  bool any = false;
  const auto newer = [&](auto& held, const auto& answer) {
    if (auto now = answer.current(); now != held) {
      held = std::move(now);
      any = true;
    }
  };
  newer(predicted.predictions, predictions_);
  newer(predicted.strip, strip_);
  const auto streams = unchanged_.current();
  const bool wanted = streams && streams->value && changesModel(scene.setup) &&
                      streams->request == unchangedQuestion(scene.setup);
  if (wanted != (predicted.unchanged != nullptr) ||
      (wanted && predicted.unchanged.get() != &*streams->value)) {
    predicted.unchanged = wanted ? std::shared_ptr<const StreamStudy>(streams, &*streams->value) : nullptr;
    any = true;
  }
  return any;
}

void PredictionAnswers::cancel() {
  predictions_.cancel();
  strip_.cancel();
}

void PredictionAnswers::forget() {
  unchanged_.forget();
  predictions_.forget();
  strip_.forget();
}

}  // namespace headscope::app::model_page
