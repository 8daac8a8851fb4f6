#include "app/pages/model/study_run.h"

#include <algorithm>
#include <utility>

namespace headscope::app::model_page {

StudyRun::StudyRun(Workers& workers, Resources& resources)
    : resources_(resources), study_(workers, [this](const ModelQuestion& question, std::stop_token stop) {
        return run(question, stop);
      }) {}

attention::Result<ModelStudy> StudyRun::run(const ModelQuestion& question, std::stop_token stop) {
  {
    const std::lock_guard lock(arriving_.mutex);
    arriving_.layers.clear();
    arriving_.model = question.setup.subject.opened.get();
    arriving_.changed = true;
  }
  return runner_.run(
      question, resources_,
      [this](Index, std::shared_ptr<const LayerSummary> layer) {
        const std::lock_guard lock(arriving_.mutex);
        arriving_.layers.push_back(std::move(layer));
        arriving_.changed = true;
      },
      stop);
}

void StudyRun::takeArriving(const OpenModel* model, State& page) {
  const std::lock_guard lock(arriving_.mutex);
  if (arriving_.model != model || !std::exchange(arriving_.changed, false)) return;
  page.run.arrived = static_cast<Index>(arriving_.layers.size());
  page.model.layersRead = std::max(page.model.layersRead, page.run.arrived);
  if (page.layers.size() < arriving_.layers.size()) page.layers.resize(arriving_.layers.size());
  std::copy(arriving_.layers.begin(), arriving_.layers.end(), page.layers.begin());
}

bool StudyRun::take(State& page) {
  const auto answer = study_.current();
  if (!answer || answer == taken_) return false;
  taken_ = answer;
  page.run.problem = answer->value ? "" : answer->value.error().message;
  if (!answer->value) return true;
  page.study = {answer, &*answer->value};
  page.layers = page.study->layers;
  page.run.arrived = page.model.layersRead = static_cast<Index>(page.layers.size());
  page.model.headRead = page.model.headRead || page.study->lastLogits.size() > 0;
  return true;
}

void StudyRun::forget() {
  taken_.reset();
  study_.forget();
}

}  // namespace headscope::app::model_page
