#include "app/pages/model/model_answers.h"

#include <fmt/core.h>

#include "app/pages/model/model_pictures.h"

namespace headscope::app::model_page {

using attention::Result;

namespace {

/// The strongest previous-token head in an earlier layer, which the chosen induction head builds on (Olsson
/// et al. 2022, "K-composition"). Returns nothing for other heads, or if there is no such head.
std::optional<SwitchedHead> leansOn(const Scene& scene, const State& page) {
  const Index layer = scene.cursor.model.layer;
  const HeadSummary* chosen = page.summary(layer, scene.cursor.cell.head);
  const float threshold = scene.look.labelThreshold;
  const attention::Detector* does = chosen ? chosen->label(threshold).detector : nullptr;
  if (!does || does->name != "induction") return std::nullopt;
  std::optional<SwitchedHead> strongest;
  float most = 0;
  for (Index l = 0; l < layer; ++l)
    for (Index h = 0; h < page.model.config->heads; ++h) {
      const HeadSummary& head = *page.summary(l, h);
      const attention::Detector* detector = head.label(threshold).detector;
      if (!detector || detector->name != "previous" || isOff(scene, l, h)) continue;
      if (const float score = head.profile["previous"].raw; score > most) {
        most = score;
        strongest = SwitchedHead{l, h, HeadOff::zero};
      }
    }
  return strongest;
}

std::vector<Forecast> forecastsFor(const Scene& scene, const State& page) {
  std::vector<Forecast> wanted;
  const TokenPredictions* predictions = page.predictions.newest();
  if (!predictions || page.predictions.request().study != page.study.shared() || predictions->lens.empty())
    return wanted;
  const Index layer = scene.cursor.model.layer, head = scene.cursor.cell.head;
  const HeadSummary* chosen = page.summary(layer, head);
  if (!chosen || isOff(scene, layer, head)) return wanted;
  const auto ask = [&](std::string words, std::vector<SwitchedHead> heads) {
    wanted.push_back({std::move(words),
                      {page.study.shared(), page.predictions.request().query, predictions->lens.back().id,
                       std::move(heads)}});
  };
  ask("this head", {{layer, head, HeadOff::zero}});
  const float threshold = scene.look.labelThreshold;
  const attention::Detector* detector = chosen->label(threshold).detector;
  if (!detector) return wanted;
  if (const auto before = leansOn(scene, page))
    ask(fmt::format("layer {} head {}, previous token", before->layer, before->head), {*before});
  std::vector<SwitchedHead> alike;
  for (Index l = 0; l < static_cast<Index>(page.study->layers.size()); ++l)
    for (Index h = 0; h < page.model.config->heads; ++h)
      if (page.summary(l, h)->label(threshold).detector == detector && !isOff(scene, l, h))
        alike.push_back({l, h, HeadOff::zero});
  if (alike.size() < 2) return wanted;
  std::string words = fmt::format("all {} “{}”", alike.size(), detector->title);
  ask(std::move(words), std::move(alike));
  return wanted;
}

/// The question that B's study answers: about `recorded`, or about text B if that is null.
ModelQuestion questionOfB(const Scene& scene, const ModelStudy& a,
                          const std::shared_ptr<const OpenModel>& recorded) {
  if (recorded) {
    Setup setup = scene.setup;
    setup.subject.model = scene.compare.recorded;
    setup.subject.opened = recorded;
    return modelQuestion(setup);
  }
  return modelQuestion(otherText(scene.setup, scene.compare.other, a.text.ids));
}

/// Runs the study of a text, handing over its layers as they are computed.
Result<ModelStudy> runStudy(ModelRunner& runner, const ModelQuestion& question, Resources& resources,
                            Arriving<ArrivingLayers>& arriving, const std::stop_token& stop) {
  ArrivingLayers soFar{question.setup.subject.opened.get(), {}};
  arriving.put(soFar, stop);
  return runner.run(
      question, resources,
      [&](Index, std::shared_ptr<const LayerSummary> layer) {
        soFar.layers.push_back(std::move(layer));
        arriving.put(soFar, stop);
      },
      stop);
}

Result<HeadCopying> copyingOf(const CopyingQuestion& question, std::stop_token stop) {
  const auto score = headCopying(question, std::move(stop));
  if (!score) return score.error();
  return HeadCopying{*score};
}

Result<std::vector<float>> forecastAll(const std::vector<Forecast>& wanted, Resources& resources,
                                       const std::stop_token& stop) {
  std::vector<float> left;
  for (const Forecast& one : wanted) {
    const auto value = app::forecast(one.question, resources, stop);
    if (!value) return value.error();
    left.push_back(*value);
  }
  return left;
}

Result<Layers> compare(const ComparedQuestion& question, std::stop_token stop) {
  return comparedLayers(*question.a, *question.b, question.ties, question.difference, std::move(stop));
}

/// Fills a grid, beginning with the row under the pointer.
struct GridOf {
  const std::atomic<Index>& pointedRow;
  Result<PatchGrid> operator()(const PatchGridQuestion& question, const std::function<void(PatchGrid)>& soFar,
                               std::stop_token stop) const {
    return computePatchGrid(
        question, [this] { return pointedRow.load(); }, soFar, std::move(stop));
  }
};

std::pair<Index, Index> placeOf(const auto& question) {
  return {question.layer, question.head};
}

}  // namespace

State::State(PageServices& services)
    : view(services.view),
      shown(services.view, services.workers, services.resources),
      study(
          shown,
          [this, runner = std::make_shared<ModelRunner>()](const ModelQuestion& question,
                                                           Resources& resources, std::stop_token stop) {
            return runStudy(*runner, question, resources, arriving, stop);
          },
          {}, [this](const ModelQuestion&, const auto& next) { takeStudy(*next); }),
      unchanged(shown, studyStreams),
      details(&shown),
      predictions(details, predictTokens),
      strip(details, predictStrip),
      forecast(details, forecastAll),
      losses(details, headLosses),
      copying(details, copyingOf, {},
              [this](const CopyingQuestion& of, const auto& now) {
                head.copying.insert_or_assign(placeOf(of), now->score);
              }),
      compositions(details, headCompositions, {},
                   [this](const CompositionQuestion& of, const auto& now) {
                     head.compositions.insert_or_assign(placeOf(of), *now);
                   }),
      recorded(details, recordedRule),
      pairs(&shown),
      pair(pairs, studyPair),
      studyOfB(pairs, [runner = std::make_shared<ModelRunner>()](
                          const ModelQuestion& question, Resources& resources,
                          std::stop_token stop) { return runner->run(question, resources, {}, stop); }),
      compared(pairs, compare),
      headGrid(pairs, GridOf{pointedRow}),
      tokenGrid(pairs, GridOf{pointedRow}),
      sum(pairs, sumPatches),
      attribution(pairs, studyAttribution),
      lens(pairs, mapLens),
      lensOfB(pairs, mapLens) {}

void State::takeStudy(const ModelStudy& next) {
  if (!study || study->opened != next.opened) {
    copying.forget();
    compositions.forget();
    head.copying.clear();
    head.compositions.clear();
  }
  layers = next.layers;
  run.arrived = model.layersRead = std::ssize(layers);
  model.headRead = model.headRead || next.lastLogits.size() > 0;
}

void State::takeArriving() {
  const auto now = arriving.take();
  if (!now || now->model != model.opened.get()) return;
  run.arrived = std::ssize(now->layers);
  model.layersRead = std::max(model.layersRead, run.arrived);
  if (layers.size() < now->layers.size()) layers.resize(now->layers.size());
  std::copy(now->layers.begin(), now->layers.end(), layers.begin());
}

void askAboutHead(const Scene& scene, State& page) {
  if (page.writing.on) return;
  const Index layer = scene.cursor.model.layer, head = scene.cursor.cell.head;
  if (!page.head.copying.contains({layer, head}))
    page.copying.ask({page.model.opened, layer, head}, Lane::back);
  if (page.model.isSynthetic()) return;
  if (!page.head.compositions.contains({layer, head}))
    page.compositions.ask({page.model.opened, layer, head}, Lane::back);
  page.head.forecasts = forecastsFor(scene, page);
  if (!page.head.forecasts.empty()) page.forecast.ask(page.head.forecasts, Lane::back);
  if (losesQuickly(*page.study)) page.losses.ask({page.study.shared()}, Lane::back);
}

void askPredictions(const Scene& scene, State& page) {
  const std::shared_ptr<const ModelStudy> study = page.study.shared();
  const Index stop = scene.cursor.model.stop < 0 ? std::ssize(study->layers) : scene.cursor.model.stop;
  const bool changes = changesModel(scene.setup) && page.unchanged.of(unchangedQuestion(scene.setup));
  const std::shared_ptr<const StreamStudy> unchanged = changes ? page.unchanged.shared() : nullptr;
  page.predictions.ask({study, unchanged, scene.cursor.cell.query, stop}, Lane::front);
  page.strip.ask({study, unchanged, stop}, Lane::back);
}

std::optional<PathStart> followedPath(const Scene& scene) {
  const attention::Piece piece = scene.cursor.model.piece;
  const bool reads = piece == attention::Piece::queries || piece == attention::Piece::keys ||
                     piece == attention::Piece::values;
  const CompareSetup& compare = scene.compare;
  const attention::ModelConfig& config = scene.setup.subject.opened->config();
  const bool there = compare.fromLayer >= 0 && compare.fromLayer < config.layerCount() &&
                     compare.fromHead >= 0 && compare.fromHead < config.heads;
  return reads && there ? std::optional(PathStart{compare.fromLayer, compare.fromHead}) : std::nullopt;
}

bool comparesTwo(const Scene& scene) {
  const auto& opened = scene.setup.subject.opened;
  return opened && opened->recorded ? !scene.compare.recorded.empty() : !scene.compare.other.empty();
}

void swapTexts(Scene& scene) {
  CompareSetup& compare = scene.compare;
  std::swap(comparedText(scene.setup), compare.other);
  scene.setup.subject.written.clear();
  std::swap(compare.answer, compare.otherAnswer);
  compare.intoA = !compare.intoA;
  for (attention::TokenTie& tie : compare.alignment) std::swap(tie.a, tie.b);
}

void askAboutPair(const Scene& scene, State& page, bool current) {
  const ModelCursor& cursor = scene.cursor.model;
  const bool two = !scene.compare.other.empty();
  const bool alone = cursor.view == ModelView::study || (cursor.view == ModelView::heads && !two);
  if (!current || alone) return page.pairs.cancel();
  const PairQuestion question = pairQuestion(scene);
  page.pair.ask(question, Lane::front);
  if (two && cursor.view == ModelView::heads) askCompared(scene, page, nullptr);
  if (!page.pair.of(question)) return;
  const std::shared_ptr<const PairStudy> pair = page.pair.shared();
  if (cursor.view == ModelView::attribution) page.attribution.ask({pair}, Lane::front);
  if (cursor.view == ModelView::lens) {
    page.lens.ask({pair, false}, Lane::back);
    if (pair->b) page.lensOfB.ask({pair, true}, Lane::back);
  }
  if (cursor.view != ModelView::patch || !pair->b) return;
  const PatchSides sides{pair, scene.compare.intoA};
  page.headGrid.ask({sides, cursor.piece, false, followedPath(scene)}, Lane::back);
  page.tokenGrid.ask({sides, cursor.tokenPiece, true}, Lane::back);
  if (!scene.compare.patches.empty()) page.sum.ask({sides, scene.compare.patches}, Lane::front);
}

void askCompared(const Scene& scene, State& page, const std::shared_ptr<const OpenModel>& recorded) {
  const ShownText shown = scene.cursor.model.shown;
  if (shown == ShownText::a) return;
  const ModelQuestion ofB = questionOfB(scene, *page.study, recorded);
  page.studyOfB.ask(ofB, Lane::front);
  if (page.studyOfB.of(ofB))
    page.compared.ask({page.study.shared(), page.studyOfB.shared(), shown == ShownText::difference,
                       scene.compare.alignment},
                      Lane::front);
}

const Layers* shownCompared(const Scene& scene, const State& page) {
  const auto& opened = scene.setup.subject.opened;
  const ModelCursor& cursor = scene.cursor.model;
  const bool wanted = cursor.shown != ShownText::a && comparesTwo(scene) &&
                      ((opened && opened->recorded) || cursor.view == ModelView::heads);
  const bool there = wanted && page.compared.newest() && page.compared.request().a == page.study.shared() &&
                     page.compared.request().difference == (cursor.shown == ShownText::difference);
  return there ? page.compared.get() : nullptr;
}

}  // namespace headscope::app::model_page
