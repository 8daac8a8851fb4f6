// What the page asks for: first the study of the text, then slower answers once the pointer rests.

#include "app/pages/model/model_page.h"
#include "app/pages/model/model_parts.h"
#include "app/scene/models/open_model.h"

namespace headscope::app::model_page {

void Page::forgetModel() {
  page_.study.reset();
  page_.layers.clear();
  page_.run.arrived = 0;
  page_.model.words.clear();
  page_.predicted.unchanged.reset();
  page_.predicted.predictions.reset();
  page_.predicted.strip.reset();
  page_.head.forecast.reset();
  page_.head.forecasts.clear();
  page_.head.losses.reset();
  page_.head.recorded.reset();
  page_.head.copying.clear();
  page_.head.compositions.clear();
  page_.zoom = {};
  page_.writing.edit = {};
  page_.run.stopped.reset();
  page_.model.layersRead = 0;
  page_.model.headRead = false;
  page_.writing.on = false;
  page_.pictures = {};
  run_.forget();
  predictions_.forget();
  heads_.forget();
  pairs_.forget();
  page_.pair = {};
  texts_.forget();
}

/// Takes the answers about the pair, and shows the heads of B or B − A in place of A's if requested.
bool Page::takePair(const Scene& scene) {
  const bool compared = !page_.pair.compared.empty();
  const bool any = pairs_.take(scene, page_.study, page_.pair);
  if (!page_.pair.compared.empty())
    page_.layers = page_.pair.compared;
  else if (compared && page_.study)
    page_.layers = page_.study->layers;
  return any;
}

void showStack(State& page, const Setup& setup) {
  page.model.opened = page.study ? page.study->opened : nullptr;
  page.model.config = page.model.opened ? &page.model.opened->config() : &page.model.awaited;
  if (page.model.opened) return;
  page.model.awaited = {};
  page.model.awaited.causal = false;
  page.model.awaited.heads = setup.model.heads;
  page.model.awaited.kvHeads = setup.model.kvHeads;
  page.model.awaited.headDim = setup.model.headDim;
  page.model.awaited.modelDim = setup.model.modelDim;
  page.model.awaited.layers.resize(static_cast<std::size_t>(setup.model.layers));
}

void Page::ask(const Scene& scene) {
  if (scene.setup.subject.opened || isStack(scene.setup)) {
    opener_.lookAgain();  // the files may have changed by the next time
    return askShown(scene);
  }
  opener_.look();
  if (scene.setup.subject.model.empty()) bundled_.read();
  if (bundled_.isShown(scene)) askShown(bundled_.shownScene(scene));
}

void Page::askShown(const Scene& scene) {
  const bool stack = isStack(scene.setup);
  const ModelQuestion question = modelQuestion(scene.setup, scene.cursor.sequence);
  if (page_.run.stopped && *page_.run.stopped != question) page_.run.stopped.reset();
  if (page_.run.stopped) return;
  run_.ask(question);
  if (stack) {
    if (page_.ready() && page_.study->question == question) heads_.ask(scene, page_);
    return;
  }
  if (!scene.setup.subject.opened->model) return askAboutRecorded(scene);
  predictions_.askUnchanged(scene);
  texts_.ask(scene);
  const bool current = page_.ready() && page_.study->question == question;
  pairs_.pointAt(page_.pair.pointedRow);
  pairs_.ask(scene, current ? page_.study : nullptr);
  if (!current) return;
  predictions_.ask(scene, page_.study, page_.predicted);
  heads_.ask(scene, page_);
}

/// Recorded attention can only be compared with another recording, and its weights traced to q and k.
void Page::askAboutRecorded(const Scene& scene) {
  if (!page_.ready()) return;
  opener_.readOther(scene.compare.recorded);
  if (page_.other.opened)
    pairs_.askCompared(scene, page_.study, page_.other.opened);
  else
    pairs_.cancel();
  heads_.askRecorded(scene, page_.study);
}

}  // namespace headscope::app::model_page
