// What the page asks for: the text's study first, and what takes longer once the pointer rests.

#include "app/pages/model/model_page.h"
#include "app/scene/models/open_model.h"

namespace headscope::app::model_page {

void Page::forgetModel() {
  page_.study.reset();
  page_.layers.clear();
  page_.arrived = 0;
  page_.words.clear();
  page_.unchanged.reset();
  page_.guesses.reset();
  page_.strip.reset();
  page_.forecast.reset();
  page_.forecasts.clear();
  page_.losses.reset();
  page_.recorded.reset();
  page_.copying.clear();
  page_.compositions.clear();
  page_.zoom = {};
  page_.edit = {};
  page_.stopped.reset();
  page_.layersRead = 0;
  page_.headRead = false;
  page_.writing = false;
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
  page_.opened = page_.study ? page_.study->opened : nullptr;
  page_.config = page_.opened ? &page_.opened->config() : &page_.awaited;
  if (page_.opened) return;
  page_.awaited = {};
  page_.awaited.causal = false;
  page_.awaited.heads = setup.model.heads;
  page_.awaited.kvHeads = setup.model.kvHeads;
  page_.awaited.headDim = setup.model.headDim;
  page_.awaited.modelDim = setup.model.modelDim;
  page_.awaited.layers.resize(static_cast<std::size_t>(setup.model.layers));
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
  if (page_.stopped && *page_.stopped != question) page_.stopped.reset();
  if (page_.stopped) return;
  run_.ask(question);
  if (stack) {
    if (page_.ready() && page_.study->question == question) heads_.ask(scene, page_);
    return;
  }
  if (!scene.setup.subject.opened->model) return askAboutRecorded(scene);
  predictions_.askUnchanged(scene);
  askAboutTexts(scene);
  const bool current = page_.ready() && page_.study->question == question;
  pairs_.pointAt(page_.pointedRow);
  pairs_.ask(scene, current ? page_.study : nullptr);
  if (!current) return;
  predictions_.ask(scene, page_);
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
  heads_.askRecorded(scene, page_);
}

}  // namespace headscope::app::model_page
