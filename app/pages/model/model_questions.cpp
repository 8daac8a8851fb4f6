// What the page asks for: the text's study first, and what takes longer once the pointer rests.

#include <fmt/core.h>

#include <algorithm>

#include "app/pages/model/model_page.h"
#include "app/scene/models/open_model.h"

namespace headscope::app {

void ModelPage::forgetModel() {
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
  taken_.reset();
  page_.pictures = {};
  study_.forget();
  unchanged_.forget();
  guesses_.forget();
  strip_.forget();
  forecast_.forget();
  losses_.forget();
  recorded_.forget();
  copying_.forget();
  compositions_.forget();
  pairs_.forget();
  page_.pair = {};
  texts_.forget();
  page_.texts = {};  // what the scene names is read anew, for the next model
}

bool ModelPage::takeAboutHeads() {
  bool any = false;
  if (auto now = losses_.current(); now != page_.losses) {
    page_.losses = std::move(now);
    any = true;
  }
  if (auto now = recorded_.current(); now != page_.recorded) {
    page_.recorded = std::move(now);
    any = true;
  }
  if (const auto with = compositions_.current();
      with && with->value && with->request.opened == page_.opened &&
      !page_.compositions.contains({with->request.layer, with->request.head})) {
    page_.compositions.emplace(std::pair(with->request.layer, with->request.head), *with->value);
    any = true;
  }
  const auto copying = copying_.current();
  if (!copying || !copying->value || copying->request.opened != page_.opened) return any;
  const auto [at, isNew] =
      page_.copying.emplace(std::pair(copying->request.layer, copying->request.head), *copying->value);
  return any || isNew;
}

/// What the heads of B are shown in place of A's.
bool ModelPage::takePair(const Scene& scene) {
  const bool compared = !page_.pair.compared.empty();
  const bool any = pairs_.take(scene, page_.study, page_.pair);
  if (!page_.pair.compared.empty())
    page_.layers = page_.pair.compared;
  else if (compared && page_.study)
    page_.layers = page_.study->layers;
  return any;
}

/// The page is about the layers as they were run: sliders may have gone on meanwhile.
void ModelPage::takeStack(const Setup& setup) {
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

attention::Result<std::vector<float>> ModelPage::forecastAll(const std::vector<Forecast>& wanted,
                                                             std::stop_token stop) {
  std::vector<float> left;
  for (const Forecast& one : wanted) {
    const auto value = forecast(one.question, services_.resources, stop);
    if (!value) return value.error();
    left.push_back(*value);
  }
  return left;
}

/// What an induction head finds its word by: the strongest head of an earlier layer that looks one word back
/// (Olsson et al. 2022, "K-composition"). Nothing for other heads, and where there is none.
std::optional<SwitchedHead> ModelPage::leansOn(const Scene& scene) const {
  const Index layer = scene.cursor.model.layer;
  const HeadSummary* chosen = page_.summary(layer, scene.cursor.cell.head);
  const float threshold = scene.look.labelThreshold;
  const attention::Detector* does = chosen ? chosen->label(threshold).detector : nullptr;
  if (!does || does->name != "induction") return std::nullopt;
  std::optional<SwitchedHead> strongest;
  float most = 0;
  for (Index l = 0; l < layer; ++l)
    for (Index h = 0; h < page_.config->heads; ++h) {
      const HeadSummary& head = *page_.summary(l, h);
      const attention::Detector* detector = head.label(threshold).detector;
      if (!detector || detector->name != "previous" || isOff(scene, l, h)) continue;
      if (const float score = head.profile["previous"].raw; score > most) {
        most = score;
        strongest = SwitchedHead{l, h, HeadOff::zero};
      }
    }
  return strongest;
}

std::vector<Forecast> ModelPage::forecastsFor(const Scene& scene) const {
  std::vector<Forecast> wanted;
  const GuessAnswer* guesses = page_.guesses.get();
  const bool current =
      guesses && guesses->request.study == page_.study && guesses->value && !guesses->value->lens.empty();
  if (!current) return wanted;
  const Index layer = scene.cursor.model.layer, head = scene.cursor.cell.head;
  const HeadSummary* chosen = page_.summary(layer, head);
  if (!chosen || isOff(scene, layer, head)) return wanted;
  const auto ask = [&](std::string words, std::vector<SwitchedHead> heads) {
    wanted.push_back(
        {std::move(words),
         {page_.study, guesses->request.query, guesses->value->lens.back().id, std::move(heads)}});
  };
  ask("this head", {{layer, head, HeadOff::zero}});
  const float threshold = scene.look.labelThreshold;
  const attention::Detector* detector = chosen->label(threshold).detector;
  if (!detector) return wanted;
  if (const auto before = leansOn(scene))
    ask(fmt::format("layer {} head {}, previous token", before->layer, before->head), {*before});
  std::vector<SwitchedHead> alike;
  for (Index l = 0; l < static_cast<Index>(page_.study->layers.size()); ++l)
    for (Index h = 0; h < page_.config->heads; ++h)
      if (page_.summary(l, h)->label(threshold).detector == detector && !isOff(scene, l, h))
        alike.push_back({l, h, HeadOff::zero});
  if (alike.size() < 2) return wanted;
  std::string words = fmt::format("all {} “{}”", alike.size(), detector->title);
  ask(std::move(words), std::move(alike));
  return wanted;
}

void ModelPage::ask(const Scene& scene) {
  if (scene.setup.subject.opened || isStack(scene.setup)) {
    page_.opening.lookedForRecent = false;  // what is there may have changed by the next time
    return askShown(scene);
  }
  lookForRecent();
  lookForCached();
  if (scene.setup.subject.model.empty()) openExample();
  if (showsExample(scene)) askShown(exampleOf(scene));
}

void ModelPage::askShown(const Scene& scene) {
  const bool stack = isStack(scene.setup);
  const ModelQuestion question = modelQuestion(scene.setup, scene.cursor.sequence);
  if (page_.stopped && *page_.stopped != question) page_.stopped.reset();
  if (page_.stopped) return;
  study_.ask(question, Lane::front);
  if (stack) {
    if (page_.ready() && page_.study->question == question) askAboutHeads(scene);
    return;
  }
  if (!scene.setup.subject.opened->model) return askAboutRecorded(scene);
  if (changesModel(scene.setup))
    unchanged_.ask(unchangedQuestion(scene.setup), Lane::back);
  else
    unchanged_.cancel();
  askAboutTexts(scene);
  const bool current = page_.ready() && page_.study->question == question;
  pairs_.pointAt(page_.pointedRow);
  pairs_.ask(scene, current ? page_.study : nullptr);
  if (!current) return;
  guesses_.ask({page_.study, page_.unchanged, scene.cursor.cell.query,
                scene.cursor.model.stop < 0 ? std::ssize(page_.study->layers) : scene.cursor.model.stop},
               Lane::front);
  strip_.ask({page_.study, page_.unchanged,
              scene.cursor.model.stop < 0 ? std::ssize(page_.study->layers) : scene.cursor.model.stop},
             Lane::back);
  askAboutHeads(scene);
}

/// Nothing can be asked of what is recorded but how its weights came about.
void ModelPage::askAboutRecorded(const Scene& scene) {
  if (!page_.ready()) return;
  readOther(scene.compare.recorded);
  if (page_.other.opened)
    pairs_.askCompared(scene, page_.study, page_.other.opened);
  else
    pairs_.cancel();
  const RecordedQuestion question{page_.study, scene.cursor.model.layer, scene.cursor.cell.head};
  const LayerSummary& layer = *page_.study->layers[static_cast<std::size_t>(question.layer)];
  if (layer.q.size() > 0 && layer.k.size() > 0) recorded_.ask(question, Lane::back);
}

/// What takes a while: once the pointer rests, and nothing new is written.
void ModelPage::askAboutHeads(const Scene& scene) {
  if (services_.view.time - page_.restingSince < kRestSeconds || page_.writing) return;
  const Cursor& cursor = scene.cursor;
  if (!page_.copying.contains({cursor.model.layer, cursor.cell.head}))
    copying_.ask({page_.opened, cursor.model.layer, cursor.cell.head}, Lane::back);
  if (page_.madeHere()) return;
  if (!page_.compositions.contains({cursor.model.layer, cursor.cell.head}))
    compositions_.ask({page_.opened, cursor.model.layer, cursor.cell.head}, Lane::back);
  page_.forecasts = forecastsFor(scene);
  if (!page_.forecasts.empty()) forecast_.ask(page_.forecasts, Lane::back);
  if (losesQuickly(*page_.study)) losses_.ask({page_.study}, Lane::back);
}

}  // namespace headscope::app
