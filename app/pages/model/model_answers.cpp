#include "app/pages/model/model_answers.h"

#include <fmt/core.h>

#include "app/pages/model/model_pictures.h"

namespace headscope::app::model_page {

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
  const PredictionsAnswer* predictions = page.predicted.predictions.get();
  const bool current = predictions && predictions->request.study == page.study && predictions->value &&
                       !predictions->value->lens.empty();
  if (!current) return wanted;
  const Index layer = scene.cursor.model.layer, head = scene.cursor.cell.head;
  const HeadSummary* chosen = page.summary(layer, head);
  if (!chosen || isOff(scene, layer, head)) return wanted;
  const auto ask = [&](std::string words, std::vector<SwitchedHead> heads) {
    wanted.push_back(
        {std::move(words),
         {page.study, predictions->request.query, predictions->value->lens.back().id, std::move(heads)}});
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

}  // namespace

HeadAnswers::HeadAnswers(Workers& workers, Resources& resources)
    : resources_(resources),
      forecast_(workers,
                [this](const std::vector<Forecast>& wanted,
                       std::stop_token stop) -> attention::Result<std::vector<float>> {
                  std::vector<float> left;
                  for (const Forecast& one : wanted) {
                    const auto value = forecast(one.question, resources_, stop);
                    if (!value) return value.error();
                    left.push_back(*value);
                  }
                  return left;
                }),
      losses_(workers, [this](const HeadLossQuestion& question,
                              std::stop_token stop) { return headLosses(question, resources_, stop); }),
      copying_(workers, headCopying),
      compositions_(workers, headCompositions),
      recorded_(workers, recordedRule) {}

void HeadAnswers::ask(const Scene& scene, State& page) {
  if (page.view.time - page.head.restingSince < kRestSeconds || page.writing.on) return;
  const Cursor& cursor = scene.cursor;
  if (!page.head.copying.contains({cursor.model.layer, cursor.cell.head}))
    copying_.ask({page.model.opened, cursor.model.layer, cursor.cell.head}, Lane::back);
  if (page.model.isSynthetic()) return;
  if (!page.head.compositions.contains({cursor.model.layer, cursor.cell.head}))
    compositions_.ask({page.model.opened, cursor.model.layer, cursor.cell.head}, Lane::back);
  page.head.forecasts = forecastsFor(scene, page);
  if (!page.head.forecasts.empty()) forecast_.ask(page.head.forecasts, Lane::back);
  if (losesQuickly(*page.study)) losses_.ask({page.study}, Lane::back);
}

void HeadAnswers::askRecorded(const Scene& scene, const std::shared_ptr<const ModelStudy>& study) {
  const RecordedQuestion question{study, scene.cursor.model.layer, scene.cursor.cell.head};
  const LayerSummary& layer = *study->layers[static_cast<std::size_t>(question.layer)];
  if (layer.q.size() > 0 && layer.k.size() > 0) recorded_.ask(question, Lane::back);
}

bool HeadAnswers::take(HeadState& heads, const std::shared_ptr<const OpenModel>& opened) {
  bool any = false;
  if (auto now = forecast_.current(); now != heads.forecast) {
    heads.forecast = std::move(now);
    any = true;
  }
  if (auto now = losses_.current(); now != heads.losses) {
    heads.losses = std::move(now);
    any = true;
  }
  if (auto now = recorded_.current(); now != heads.recorded) {
    heads.recorded = std::move(now);
    any = true;
  }
  if (const auto with = compositions_.current();
      with && with->value && with->request.opened == opened &&
      !heads.compositions.contains({with->request.layer, with->request.head})) {
    heads.compositions.emplace(std::pair(with->request.layer, with->request.head), *with->value);
    any = true;
  }
  const auto copying = copying_.current();
  if (!copying || !copying->value || copying->request.opened != opened) return any;
  const auto [at, isNew] =
      heads.copying.emplace(std::pair(copying->request.layer, copying->request.head), *copying->value);
  return any || isNew;
}

void HeadAnswers::cancel() {
  forecast_.cancel();
  losses_.cancel();
  copying_.cancel();
  compositions_.cancel();
  recorded_.cancel();
}

void HeadAnswers::forget() {
  forecast_.forget();
  losses_.forget();
  copying_.forget();
  compositions_.forget();
  recorded_.forget();
}

using attention::Error;
using attention::Result;

namespace {

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

}  // namespace

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

PairAnswers::GridAnswer::Compute PairAnswers::filling(Arriving& arriving) {
  return [this, &arriving](const PatchGridQuestion& question, std::stop_token stop) {
    return computePatchGrid(
        question, [this] { return nearest_.load(); },
        [&](const PatchGrid& grid) {
          const std::lock_guard lock(arriving.mutex);
          arriving.question = question;
          arriving.grid = grid;
          arriving.changed = true;
        },
        stop);
  };
}

PairAnswers::PairAnswers(Workers& workers, Resources& resources)
    : resources_(resources),
      pair_(workers,
            [this](const PairQuestion& question,
                   std::stop_token stop) -> Result<std::shared_ptr<const PairStudy>> {
              auto study = studyPair(question, resources_, stop);
              if (!study) return study.error();
              return std::make_shared<const PairStudy>(*std::move(study));
            }),
      other_(workers, [this](const ModelQuestion& question,
                             std::stop_token stop) { return runner_.run(question, resources_, {}, stop); }),
      compared_(workers,
                [](const ComparedQuestion& question, std::stop_token stop) {
                  return comparedLayers(*question.a, *question.b, question.ties, question.difference, stop);
                }),
      heads_(workers, filling(arrivingHeads_)),
      tokens_(workers, filling(arrivingTokens_)),
      sum_(workers, sumPatches),
      attribution_(workers, studyAttribution),
      lens_(workers, mapLens) {}

void PairAnswers::ask(const Scene& scene, const std::shared_ptr<const ModelStudy>& study) {
  const ModelCursor& cursor = scene.cursor.model;
  const bool two = !scene.compare.other.empty();
  const bool alone = cursor.view == ModelView::study || (cursor.view == ModelView::heads && !two);
  if (!study || alone) return cancel();
  const PairQuestion question = pairQuestion(scene);
  pair_.ask(question, Lane::front);
  if (two && cursor.view == ModelView::heads) askCompared(scene, study, nullptr);
  const auto answer = pair_.current();
  if (!answer || !(answer->request == question) || !answer->value) return;
  const std::shared_ptr<const PairStudy>& pair = *answer->value;
  if (cursor.view == ModelView::attribution) attribution_.ask({pair}, Lane::front);
  if (cursor.view == ModelView::lens) lens_.ask({pair, false}, Lane::back);
  if (cursor.view != ModelView::patch || !pair->b) return;
  const PatchSides sides{pair, scene.compare.intoA};
  heads_.ask({sides, cursor.piece, false, followedPath(scene)}, Lane::back);
  tokens_.ask({sides, cursor.tokenPiece, true}, Lane::back);
  if (!scene.compare.patches.empty()) sum_.ask({sides, scene.compare.patches}, Lane::front);
}

void PairAnswers::askCompared(const Scene& scene, const std::shared_ptr<const ModelStudy>& study,
                              const std::shared_ptr<const OpenModel>& recorded) {
  const ShownText shown = scene.cursor.model.shown;
  if (shown == ShownText::a) return;
  const ModelQuestion ofB = questionOfB(scene, *study, recorded);
  other_.ask(ofB, Lane::front);
  if (const auto b = other_.current(); b && b->request == ofB && b->value)
    compared_.ask({study, {b, &*b->value}, shown == ShownText::difference, scene.compare.alignment},
                  Lane::front);
}

bool PairAnswers::takeGrid(const GridAnswer& answer, Arriving& arriving, PairState::Grid& grid) {
  bool any = false;
  {
    const std::lock_guard lock(arriving.mutex);
    if (std::exchange(arriving.changed, false)) {
      grid.question = arriving.question;
      grid.grid = arriving.grid;
      grid.problem.clear();
      any = true;
    }
  }
  if (const auto whole = answer.current(); whole && !whole->value && grid.problem.empty()) {
    grid.problem = whole->value.error().message;
    any = true;
  }
  return any;
}

bool PairAnswers::takeCompared(const Scene& scene, const std::shared_ptr<const ModelStudy>& study,
                               PairState& state) {
  const auto& opened = scene.setup.subject.opened;
  const bool recorded = opened && opened->recorded;
  const bool wanted = scene.cursor.model.shown != ShownText::a && comparesTwo(scene) &&
                      (recorded || scene.cursor.model.view == ModelView::heads);
  const auto answer = compared_.current();
  const bool there = wanted && answer && answer->value && answer->request.a == study &&
                     answer->request.difference == (scene.cursor.model.shown == ShownText::difference);
  Compared now = there ? *answer->value : Compared();
  state.other = there ? answer->request.b : nullptr;
  const auto b = other_.current();
  state.comparedProblem = !wanted                    ? ""
                          : b && !b->value           ? b->value.error().message
                          : answer && !answer->value ? answer->value.error().message
                                                     : "";
  if (now == state.compared) return false;
  state.compared = std::move(now);
  return true;
}

bool PairAnswers::take(const Scene& scene, const std::shared_ptr<const ModelStudy>& study, PairState& state) {
  bool any = takeCompared(scene, study, state);
  state.busySeconds = std::max({pair_.busySeconds(), heads_.busySeconds(), tokens_.busySeconds(),
                                lens_.busySeconds(), sum_.busySeconds()});
  if (const auto answer = pair_.current()) {
    const std::string problem = answer->value ? "" : answer->value.error().message;
    const auto pair = answer->value ? *answer->value : nullptr;
    any = any || problem != state.problem || (pair && pair != state.pair);
    state.problem = problem;
    if (pair) state.pair = pair;
  }
  const auto newer = [&](auto& held, const auto& answer) {
    if (auto now = answer.current(); now != held) {
      held = std::move(now);
      any = true;
    }
  };
  newer(state.sum, sum_);
  newer(state.attribution, attribution_);
  newer(state.lens, lens_);
  any = takeGrid(heads_, arrivingHeads_, state.heads) || any;
  return takeGrid(tokens_, arrivingTokens_, state.tokens) || any;
}

void PairAnswers::cancel() {
  pair_.cancel();
  other_.cancel();
  compared_.cancel();
  heads_.cancel();
  tokens_.cancel();
  sum_.cancel();
  attribution_.cancel();
  lens_.cancel();
}

void PairAnswers::forget() {
  pair_.forget();
  other_.forget();
  compared_.forget();
  heads_.forget();
  tokens_.forget();
  sum_.forget();
  attribution_.forget();
  lens_.forget();
}

}  // namespace headscope::app::model_page
