#include <fmt/core.h>

#include "app/pages/model/model_answers.h"
#include "app/pages/model/model_state.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

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

// The model's predictions, and what remains of the top one if heads are switched off.

namespace {

/// A bar of a probability: filled, the current one; as an outline, the one without the scene's changes.
void guessBar(const View& view, ImVec2 from, float width, float height, const Prediction& guess,
              std::uint32_t color) {
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 to(from.x + width, from.y + height);
  list.AddRectFilled(from, to, view.theme->raised);
  list.AddRectFilled(from, ImVec2(from.x + std::max(1.0f, width * guess.probability), to.y), color);
  if (guess.unchanged >= 0)
    compat::rectOutline(list, ImVec2(from.x, from.y - 1),
                        ImVec2(from.x + std::max(3.0f, width * guess.unchanged), to.y + 1), view.theme->text,
                        0, std::max(1.0f, view.px(1.4f)));
}

/// Why a click can't put a token after the query, for example because typed words follow; "" if it can.
std::string cannotGoOn(const Scene& scene, const ShownModel& model,
                       const std::shared_ptr<const ModelStudy>& study) {
  if (std::string why = model.opened->model->whyNoText(); !why.empty()) return why;
  const Index query = scene.cursor.cell.query;
  if (query + 1 < study->text.typed) return "Typed words follow here. Choose the last word of the text";
  return "";
}

/// Continues the text with this token after the query, in place of the generated tokens there.
void goOnWith(Scene& scene, const std::shared_ptr<const ModelStudy>& study, Writing& writing, Index id) {
  auto& written = scene.setup.subject.written;
  written.resize(static_cast<std::size_t>(scene.cursor.cell.query + 1 - study->text.typed));
  written.push_back(id);
  writing.followsLast = true;
}

/// Whether a click chooses an answer whose logit is compared, instead of continuing the text.
bool choosesAnswers(const Scene& scene, const ShownModel& model) {
  const ModelView view = scene.cursor.model.view;
  if (!model.config->causal || view == ModelView::study) return false;
  return view != ModelView::heads || !scene.compare.other.empty();
}

/// "+" for the token whose logit counts, "−" for the one whose logit is subtracted, otherwise the rank.
std::string placeMark(const Scene& scene, const State& page, Index id, Index place) {
  if (choosesAnswers(scene, page.model) && page.pair.pair) {
    if (id == page.pair.pair->answers.id) return "+";
    if (id == page.pair.pair->answers.other) return "−";
  }
  return std::to_string(place + 1);
}

void guessLine(Scene& scene, State& page, const Prediction& guess, Index place, float width) {
  View& view = page.view;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float height = view.px(26), y = at.y + height / 2;
  const std::string name = place < 0 ? "guess.former" : fmt::format("guess.{}", place);
  const bool clicked = hitArea(name, ImVec2(width, height));
  const bool answers = choosesAnswers(scene, page.model);
  const std::string reason = answers ? "" : cannotGoOn(scene, page.model, page.study);
  const bool hovered = ImGui::IsItemHovered();
  Canvas list = *ImGui::GetWindowDrawList();
  if (hovered && reason.empty())
    list.AddRectFilled(ImVec2(at.x - view.px(6), at.y), ImVec2(at.x + width + view.px(6), at.y + height),
                       view.theme->raised, view.px(5));
  if (place >= 0)
    paintText(list, view.fonts->monoSmall, ImVec2(at.x, y), view.theme->faint,
              placeMark(scene, page, guess.id, place));
  // Class names are long.
  const float wordWidth = page.model.classifies() ? width * 0.45f : std::min(view.px(90), width * 0.26f);
  const std::uint32_t color = place == 0 ? view.theme->text : view.theme->secondary;
  paintFitted(view, list, view.fonts->mono, ImVec2(at.x + view.px(18), y), wordWidth - view.px(4), color,
              page.word(guess));
  const bool change = guess.unchanged >= 0;
  const float numbers = view.px(change ? 116 : 58), left = at.x + view.px(18) + wordWidth;
  guessBar(view, ImVec2(left, y - view.px(7)), std::max(8.0f, width - view.px(18) - wordWidth - numbers),
           view.px(14), guess, color);
  paintText(list, view.fonts->mono, ImVec2(at.x + width - (change ? view.px(58) : 0), y), color,
            probabilityText(guess.probability), Align::right);
  if (change) {
    const float by = guess.probability - guess.unchanged;
    paintText(list, view.fonts->monoSmall, ImVec2(at.x + width, y), view.theme->secondary, signedText(by, 3),
              Align::right);
  }
  const std::string does = answers          ? "Click to count its logit, Shift+click to subtract it"
                           : reason.empty() ? "Click to continue the text with it"
                                            : reason;
  if (hovered)
    tooltip(view, fmt::format("{} · id {} · {}\n{}", page.word(guess), guess.id,
                              probabilityText(guess.probability), does));
  if (!clicked || !reason.empty()) return;
  if (!answers) return goOnWith(scene, page.study, page.writing, guess.id);
  (ImGui::GetIO().KeyShift ? scene.compare.otherAnswer : scene.compare.answer) = guess.id;
}

void winner(State& page, const Prediction& guess, float width) {
  const View& view = page.view;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  Canvas list = *ImGui::GetWindowDrawList();
  const float y = at.y + view.px(15);
  const std::string number = probabilityText(guess.probability);
  paintText(list, view.fonts->hero, ImVec2(at.x + width, y), view.theme->text, number, Align::right);
  float room = width - textWidth(view.fonts->hero, number) - view.px(12);
  if (guess.unchanged >= 0) {
    const std::string before = "unchanged " + probabilityText(guess.unchanged);
    const float wide = textWidth(view.fonts->monoSmall, before);
    paintText(list, view.fonts->monoSmall, ImVec2(at.x + room, y), view.theme->secondary, before,
              Align::right);
    room -= wide + view.px(10);
  }
  paintFitted(view, list, view.fonts->hero, ImVec2(at.x, y), room, view.theme->text, page.word(guess));
  ImGui::Dummy(ImVec2(width, view.px(34)));
}

/// "Actual next “Mary” · rank 1 · loss 0.872 nats".
void realNext(const View& view, const ShownModel& model, const TokenPredictions& predictions,
              const std::string& word) {
  if (!predictions.real) return;
  const auto loss = [](float probability) { return -std::log(std::max(probability, 1e-38f)); };
  std::string text =
      fmt::format("{} “{}” · rank {} · loss {} nats", model.config->causal ? "Actual next" : "Actual", word,
                  countText(static_cast<std::uint64_t>(predictions.rank)),
                  fixedText(loss(predictions.real->probability), 3));
  if (predictions.real->unchanged >= 0)
    text += fmt::format(", unchanged {}", fixedText(loss(predictions.real->unchanged), 3));
  hint(view, text);
}

/// The best predictions with their places. If the one that was first before the scene's changes has dropped
/// to the last of the `most` lines or below, it takes that line with place −1, so that it stays visible.
std::vector<std::pair<Index, Prediction>> guessesShown(const TokenPredictions& predictions,
                                                       std::size_t most) {
  std::vector<std::pair<Index, Prediction>> lines;
  for (const Prediction& guess : predictions.best) lines.emplace_back(std::ssize(lines), guess);
  const auto& former = predictions.former;
  const auto place = std::find_if(lines.begin(), lines.end(),
                                  [&](const auto& line) { return former && line.second.id == former->id; });
  const bool ghost = former && place - lines.begin() >= static_cast<std::ptrdiff_t>(most) - 1;
  lines.resize(std::min(lines.size(), ghost ? most - 1 : most));
  if (ghost) lines.emplace_back(-1, *former);
  return lines;
}

void forecastLines(State& page, float width) {
  const View& view = page.view;
  if (page.head.forecasts.empty()) return;
  gap(view, 6);
  const Index id = page.head.forecasts.front().question.id;
  sectionTitle(view, "IF SWITCHED OFF", "probability of “" + page.word(id) + "”");
  const ForecastAnswer* answer = page.head.forecast.get();
  const bool here = answer && answer->request == page.head.forecasts;
  Canvas list = *ImGui::GetWindowDrawList();
  const Prediction now = page.predicted.predictions && page.predicted.predictions->value &&
                                 !page.predicted.predictions->value->lens.empty()
                             ? page.predicted.predictions->value->lens.back()
                             : Prediction{};
  for (std::size_t i = 0; i < page.head.forecasts.size(); ++i) {
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float y = at.y + view.px(12), barWidth = width * 0.26f, numbers = view.px(58);
    paintFitted(view, list, view.fonts->text, ImVec2(at.x, y), width - barWidth - numbers - view.px(12),
                view.theme->text, page.head.forecasts[i].words);
    const float left = at.x + width - numbers - barWidth;
    const bool known = here && answer->value && i < answer->value->size();
    const float left_ = known ? (*answer->value)[i] : 0;
    guessBar(view, ImVec2(left, y - view.px(6)), barWidth, view.px(12),
             {id, known ? left_ : 0, now.probability}, view.theme->secondary);
    std::string says = "…";
    if (known) says = probabilityText(left_);
    if (here && !answer->value) says = "–";
    paintText(list, view.fonts->mono, ImVec2(at.x + width, y), view.theme->text, says, Align::right);
    ImGui::Dummy(ImVec2(width, view.px(25)));
  }
  if (here && !answer->value) hint(view, answer->value.error().message);
}

}  // namespace

void predictionSection(Scene& scene, State& page, float width) {
  View& view = page.view;
  const PredictionsAnswer* answer = page.predicted.predictions.get();
  const Index last = static_cast<Index>(page.layers.size());
  const Index stop = scene.cursor.model.stop < 0 ? last : scene.cursor.model.stop;
  const std::string where = stop == 0      ? "at the embedding"
                            : stop == last ? fmt::format("after the last layer, {}", last - 1)
                                           : fmt::format("after layer {}", stop - 1);
  const std::string& token = page.token(scene.cursor.cell.query);
  if (!page.model.predicts()) {
    sectionTitle(view, "PREDICTIONS");
    hint(view, page.model.opened->model->whyNoPredictions());
    trackItem("model.headless");
    return;
  }
  if (page.model.classifies())
    sectionTitle(view, "CLASSES OF THE PICTURE", where);
  else
    sectionTitle(view, (page.model.config->causal ? "NEXT TOKEN AFTER “" : "PREDICTION AT “") + token + "”",
                 where);
  if (!answer || !answer->value) {
    hint(view, answer && !answer->value ? answer->value.error().message : "…");
    return;
  }
  if (answer->value->best.empty()) return;
  const std::vector<std::pair<Index, Prediction>> lines = guessesShown(*answer->value, view.present ? 3 : 6);
  if (!view.present) winner(page, lines.front().second, width);
  for (const auto& [rank, guess] : lines) guessLine(scene, page, guess, rank, width);
  if (view.present) return;
  gap(view, 4);
  if (const auto& ruled = answer->value->ruled; ruled && stop == last) {
    hint(view, fmt::format("Generation takes “{}” here: {} rules out “{}”.", page.word(ruled->id),
                           ruled->rule, page.word(answer->value->best.front())));
    trackItem("guess.ruled");
  }
  if (answer->value->real)
    realNext(page.view, page.model, *answer->value, page.word(answer->value->real->id));
  forecastLines(page, width);
}

std::vector<CaptionPart> changeCaption(const Scene& scene, const State& page) {
  const PredictionsAnswer* answer = page.predicted.predictions.get();
  if (!answer || !answer->value || answer->value->best.empty() ||
      answer->request.query != scene.cursor.cell.query)
    return {};
  const Prediction guess = answer->value->former.value_or(answer->value->best.front());
  const auto word = page.model.words.find(guess.id);
  if (guess.unchanged < 0 || word == page.model.words.end() || !std::isfinite(guess.probability) ||
      std::abs(guess.probability - guess.unchanged) < 0.0005f)
    return {};
  constexpr std::array<const char*, 10> kCounts{"",     "",    "two",   "three", "four",
                                                "five", "six", "seven", "eight", "nine"};
  const std::size_t off = scene.setup.subject.switchedOff.size();
  const std::string heads = off < kCounts.size() ? kCounts[off] : std::to_string(off);
  const std::string cause = off == 0   ? "After this change "
                            : off == 1 ? "Without this head "
                                       : "Without these " + heads + " heads ";
  const std::uint32_t color = page.view.theme->text;
  return {{cause, color},
          {"“" + word->second + "”", page.view.theme->key},
          {fmt::format(" {} from {} to {}.", guess.probability < guess.unchanged ? "falls" : "rises",
                       probabilityText(guess.unchanged), probabilityText(guess.probability)),
           color}};
}

// The experts that the text's tokens were routed to, in the chosen layer.

namespace {

/// "expert 5 0.61, expert 2 0.39", the largest share first.
std::string sharesText(const attention::Routing& routing, Index token) {
  std::string text;
  for (Index i = 0; i < routing.shares.cols(); ++i)
    text += fmt::format("{}expert {} {}", i == 0 ? "" : ", ", routing.experts(token, i),
                        weightText(routing.shares(token, i)));
  return text;
}

/// Paints one row per expert and one column per token; the larger the share, the stronger the cell.
void paintShares(const View& view, const ImRect& area, const attention::Routing& routing, Index experts,
                 Index query) {
  Canvas list = *ImGui::GetWindowDrawList();
  const Index tokens = routing.shares.rows();
  const float wide = area.GetWidth() / static_cast<float>(tokens),
              high = area.GetHeight() / static_cast<float>(experts);
  list.AddRectFilled(area.Min, area.Max, view.theme->raised);
  const float most = std::max(routing.shares.maxCoeff(), 1e-6f);
  for (Index token = 0; token < tokens; ++token)
    for (Index i = 0; i < routing.shares.cols(); ++i) {
      const auto row = static_cast<float>(routing.experts(token, i));
      const float strength = std::clamp(routing.shares(token, i) / most, 0.1f, 1.0f);
      const ImVec2 from(area.Min.x + wide * static_cast<float>(token), area.Min.y + high * row);
      list.AddRectFilled(from, ImVec2(from.x + std::max(wide, 1.0f), from.y + std::max(high, 1.0f)),
                         faded(view.theme->text, strength));
    }
  const float left = area.Min.x + wide * static_cast<float>(query);
  compat::rectOutline(list, ImVec2(left, area.Min.y), ImVec2(left + std::max(wide, 2.0f), area.Max.y),
                      view.theme->query, 0, std::max(1.0f, view.px(1.4f)));
}

}  // namespace

void expertSection(Scene& scene, State& page) {
  const Index layer = scene.cursor.model.layer;
  const LayerSummary* const summary = page.ready() ? page.layer(layer) : nullptr;
  if (!page.model.config || page.model.config->mixture.experts == 0 || !summary) return;
  View& view = page.view;
  gap(view, 12);
  sectionTitle(view, fmt::format("EXPERTS IN LAYER {}", layer));
  const attention::Routing& routing = summary->routing;
  if (routing.shares.size() == 0) return hint(view, "This layer has one MLP for all tokens.");
  const Index tokens = routing.shares.rows(), experts = page.model.config->mixture.experts;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const float high = std::clamp(view.px(10) * static_cast<float>(experts), view.px(60), view.px(200));
  const ImRect area(at.x, at.y, at.x + ImGui::GetContentRegionAvail().x, at.y + high);
  Index& query = scene.cursor.cell.query;
  const bool clicked = hitArea("model.experts", area.GetSize());
  paintShares(view, area, routing, experts, std::min(query, tokens - 1));
  if (ImGui::IsItemHovered()) {
    const float share = (ImGui::GetIO().MousePos.x - area.Min.x) / area.GetWidth();
    const Index token =
        std::clamp<Index>(static_cast<Index>(share * static_cast<float>(tokens)), 0, tokens - 1);
    tooltip(view, page.token(token) + ": " + sharesText(routing, token));
    if (clicked) query = token;
  }
  gap(view, 4);
  if (query < tokens) hint(view, page.token(query) + ": " + sharesText(routing, query));
  hint(view, fmt::format("Rows are the {} experts, columns the tokens; contrast shows the share.", experts));
}

}  // namespace headscope::app::model_page
