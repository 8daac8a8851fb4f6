// What the page asks for: the text's study first, and what takes longer once the pointer rests.

#include "app/pages/model/model_page.h"
#include "app/scene/models/open_model.h"

namespace headscope::app::model_page {

void Page::forgetModel() {
  page_.study.reset();
  page_.layers.clear();
  page_.run.arrived = 0;
  page_.model.words.clear();
  page_.predicted.unchanged.reset();
  page_.predicted.guesses.reset();
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
  page_.texts = {};  // what the scene names is read anew, for the next model
}

/// What the heads of B are shown in place of A's.
bool Page::takePair(const Scene& scene) {
  const bool compared = !page_.pair.compared.empty();
  const bool any = pairs_.take(scene, page_.study, page_.pair);
  if (!page_.pair.compared.empty())
    page_.layers = page_.pair.compared;
  else if (compared && page_.study)
    page_.layers = page_.study->layers;
  return any;
}

/// The page is about the layers as they were run: sliders may have gone on meanwhile.
void Page::takeStack(const Setup& setup) {
  page_.model.opened = page_.study ? page_.study->opened : nullptr;
  page_.model.config = page_.model.opened ? &page_.model.opened->config() : &page_.model.awaited;
  if (page_.model.opened) return;
  page_.model.awaited = {};
  page_.model.awaited.causal = false;
  page_.model.awaited.heads = setup.model.heads;
  page_.model.awaited.kvHeads = setup.model.kvHeads;
  page_.model.awaited.headDim = setup.model.headDim;
  page_.model.awaited.modelDim = setup.model.modelDim;
  page_.model.awaited.layers.resize(static_cast<std::size_t>(setup.model.layers));
}

void Page::ask(const Scene& scene) {
  if (scene.setup.subject.opened || isStack(scene.setup)) {
    page_.opening.lookedForRecent = false;  // what is there may have changed by the next time
    return askShown(scene);
  }
  lookForRecent();
  lookForCached();
  if (scene.setup.subject.model.empty()) openExample();
  if (showsExample(scene)) askShown(exampleOf(scene));
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
  askAboutTexts(scene);
  const bool current = page_.ready() && page_.study->question == question;
  pairs_.pointAt(page_.pair.pointedRow);
  pairs_.ask(scene, current ? page_.study : nullptr);
  if (!current) return;
  predictions_.ask(scene, page_.study, page_.predicted);
  heads_.ask(scene, page_);
}

/// Nothing can be asked of what is recorded but how its weights came about.
void Page::askAboutRecorded(const Scene& scene) {
  if (!page_.ready()) return;
  readOther(scene.compare.recorded);
  if (page_.other.opened)
    pairs_.askCompared(scene, page_.study, page_.other.opened);
  else
    pairs_.cancel();
  heads_.askRecorded(scene, page_.study);
}

}  // namespace headscope::app::model_page
