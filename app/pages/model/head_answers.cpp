#include "app/pages/model/head_answers.h"

#include <fmt/core.h>

#include <utility>

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

}  // namespace headscope::app::model_page
