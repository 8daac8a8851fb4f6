#include <fmt/core.h>

#include "app/pages/model/model_answers.h"
#include "app/pages/model/model_state.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::model_page {

// The model's predictions, and what remains of the top one if heads are switched off.

namespace {

/// Why a click can't put a token after the query, for example because typed words follow; "" if it can.
std::string cannotGoOn(const Scene& scene, const State& page) {
  if (std::string why = page.model.opened->model->whyNoText(); !why.empty()) return why;
  if (scene.cursor.cell.query + 1 < page.study->text.typed)
    return "Typed words follow here. Choose the last word of the text";
  return "";
}

/// Continues the text with this token after the query, in place of the generated tokens there.
void goOnWith(Scene& scene, State& page, Index id) {
  auto& written = scene.setup.subject.written;
  written.resize(static_cast<std::size_t>(scene.cursor.cell.query + 1 - page.study->text.typed));
  written.push_back(id);
  page.writing.followsLast = true;
}

/// Whether a click chooses an answer whose logit is compared, instead of continuing the text.
bool choosesAnswers(const Scene& scene, const ShownModel& model) {
  const ModelView view = scene.cursor.model.view;
  if (!model.config->causal || view == ModelView::study) return false;
  return view != ModelView::heads || !scene.compare.other.empty();
}

/// "+" for the token whose logit counts, "−" for the one whose logit is subtracted, otherwise the rank.
std::string placeMark(const Scene& scene, const State& page, Index id, Index place) {
  if (choosesAnswers(scene, page.model) && page.pair) {
    if (id == page.pair->answers.id) return "+";
    if (id == page.pair->answers.other) return "−";
  }
  return std::to_string(place + 1);
}

void guessLine(Rows& rows, Scene& scene, State& page, const Prediction& guess, Index place) {
  const Theme& theme = rows.theme();
  const bool answers = choosesAnswers(scene, page.model);
  const std::string reason = answers ? "" : cannotGoOn(scene, page);
  ShareBar bar{page.word(guess), probabilityText(guess.probability), guess.probability, guess.unchanged,
               place == 0 ? theme.text : theme.secondary};
  bar.mark = place < 0 ? " " : placeMark(scene, page, guess.id, place);
  if (guess.unchanged >= 0) bar.change = signedText(guess.probability - guess.unchanged, 3);
  bar.font = page.view.fonts->mono;
  if (page.model.classifies())
    bar.labels = 0.45f;  // class names are long
  else
    bar.labelUnits = 90;
  const bool clicked =
      rows.bar(place < 0 ? "guess.former" : fmt::format("guess.{}", place), bar, reason.empty());
  const std::string does = answers          ? "Click to count its logit, Shift+click to subtract it"
                           : reason.empty() ? "Click to continue the text with it"
                                            : reason;
  if (ImGui::IsItemHovered())
    tooltip(page.view, fmt::format("{} · id {} · {}\n{}", bar.label, guess.id, bar.figure, does));
  if (!clicked || !reason.empty()) return;
  if (!answers) return goOnWith(scene, page, guess.id);
  (ImGui::GetIO().KeyShift ? scene.compare.otherAnswer : scene.compare.answer) = guess.id;
}

void winner(Rows& rows, State& page, const Prediction& guess) {
  std::vector<Span> parts{{page.word(guess)}};
  if (guess.unchanged >= 0)
    parts.push_back({"unchanged " + probabilityText(guess.unchanged), rows.theme().secondary,
                     page.view.fonts->monoSmall, true});
  parts.push_back({probabilityText(guess.probability), 0, nullptr, true});
  rows.line(Type::hero, parts);
}

/// "Actual next “Mary” · rank 1 · loss 0.872 nats".
void realNext(Rows& rows, State& page, const TokenPredictions& predictions) {
  if (!predictions.real) return;
  const auto loss = [](float probability) { return -std::log(std::max(probability, 1e-38f)); };
  std::string text =
      fmt::format("{} “{}” · rank {} · loss {} nats", page.model.config->causal ? "Actual next" : "Actual",
                  page.word(predictions.real->id), countText(static_cast<std::uint64_t>(predictions.rank)),
                  fixedText(loss(predictions.real->probability), 3));
  if (predictions.real->unchanged >= 0)
    text += fmt::format(", unchanged {}", fixedText(loss(predictions.real->unchanged), 3));
  rows.hint(text);
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

void forecastLines(Rows& rows, State& page, const TokenPredictions& predictions) {
  const std::vector<Forecast>& asked = page.head.forecasts;
  if (asked.empty()) return;
  rows.section("IF SWITCHED OFF", "probability of “" + page.word(asked.front().question.id) + "”");
  const std::vector<float>* left = page.forecast.of(asked);
  const std::string problem = page.forecast.problem(asked);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const float share = left && i < left->size() ? (*left)[i] : 0;
    ShareBar bar{asked[i].words, left ? probabilityText(share) : problem.empty() ? "…" : "–", share};
    if (!predictions.lens.empty()) bar.before = predictions.lens.back().probability;
    bar.labels = 0.56f;
    rows.bar("", bar, false);
  }
  rows.hint(problem);
}

}  // namespace

void predictionSection(Rows& rows, Scene& scene, State& page, std::size_t most) {
  const Index last = static_cast<Index>(page.layers.size());
  const Index stop = scene.cursor.model.stop < 0 ? last : scene.cursor.model.stop;
  const std::string where = stop == 0      ? "at the embedding"
                            : stop == last ? fmt::format("after the last layer, {}", last - 1)
                                           : fmt::format("after layer {}", stop - 1);
  if (!page.model.predicts()) {
    rows.section("PREDICTIONS");
    return rows.hint(page.model.opened->model->whyNoPredictions(), "model.headless");
  }
  rows.section(page.model.classifies()
                   ? "CLASSES OF THE PICTURE"
                   : (page.model.config->causal ? "NEXT TOKEN AFTER “" : "PREDICTION AT “") +
                         page.token(scene.cursor.cell.query) + "”",
               where);
  const TokenPredictions* predictions = page.predictions.newest();
  if (!predictions) return rows.hint(page.predictions.problem().empty() ? "…" : page.predictions.problem());
  if (predictions->best.empty()) return;
  const std::vector<std::pair<Index, Prediction>> lines = guessesShown(*predictions, most);
  rows.inWindow([&] { winner(rows, page, lines.front().second); });
  for (const auto& [rank, guess] : lines) guessLine(rows, scene, page, guess, rank);
  rows.inWindow([&] {
    if (const auto& ruled = predictions->ruled; ruled && stop == last)
      rows.hint(fmt::format("Generation takes “{}” here: {} rules out “{}”.", page.word(ruled->id),
                            ruled->rule, page.word(predictions->best.front())),
                "guess.ruled");
    realNext(rows, page, *predictions);
    forecastLines(rows, page, *predictions);
  });
}

std::vector<CaptionPart> changeCaption(const Scene& scene, const State& page) {
  const TokenPredictions* predictions = page.predictions.newest();
  if (!predictions || predictions->best.empty() ||
      page.predictions.request().query != scene.cursor.cell.query)
    return {};
  const Prediction guess = predictions->former.value_or(predictions->best.front());
  const auto word = page.model.words.find(guess.id);
  if (guess.unchanged < 0 || word == page.model.words.end() || !std::isfinite(guess.probability) ||
      std::abs(guess.probability - guess.unchanged) < 0.0005f)
    return {};
  const auto& off = scene.setup.subject.switchedOff;
  const std::string cause =
      off.empty()       ? "After this change "
      : off.size() == 1 ? fmt::format("Without layer {}, head {}, ", off.front().layer, off.front().head)
                        : "Without these " + numberWord(std::ssize(off)) + " heads ";
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
  const auto column = [&](Index token) {
    const float left = area.Min.x + wide * static_cast<float>(token);
    return ImRect(left, area.Min.y, left + std::max(wide, 2.0f), area.Max.y);
  };
  if (const Index over = view.hover.query; over >= 0 && over < tokens && over != query)
    paintGhost(view, list, "ghost", column(over), view.theme->query);
  paintMark(view, list, "column", column(query), view.theme->query);
}

}  // namespace

void expertSection(Rows& rows, Scene& scene, State& page) {
  const Index layer = scene.cursor.model.layer;
  const LayerSummary* const summary = page.ready() ? page.layer(layer) : nullptr;
  if (!page.model.config || page.model.config->mixture.experts == 0 || !summary) return;
  rows.section(fmt::format("EXPERTS IN LAYER {}", layer));
  const attention::Routing& routing = summary->routing;
  if (routing.shares.size() == 0) return rows.hint("This layer has one MLP for all tokens.");
  const Index tokens = routing.shares.rows(), experts = page.model.config->mixture.experts;
  Index& query = scene.cursor.cell.query;
  const float high = page.view.px(std::clamp(10 * static_cast<float>(experts), 60.0f, 200.0f));
  const bool clicked = hitArea("model.experts", ImVec2(rows.width(), high));
  const ImRect area(ImGui::GetItemRectMin(), ImGui::GetItemRectMax());
  paintShares(page.view, area, routing, experts, std::min(query, tokens - 1));
  if (ImGui::IsItemHovered()) {
    const float share = (ImGui::GetIO().MousePos.x - area.Min.x) / area.GetWidth();
    const Index token =
        std::clamp<Index>(static_cast<Index>(share * static_cast<float>(tokens)), 0, tokens - 1);
    page.view.nextHover.query = token;
    tooltip(page.view, page.token(token) + ": " + sharesText(routing, token));
    if (clicked) query = token;
  }
  if (query < tokens) rows.hint(page.token(query) + ": " + sharesText(routing, query));
  rows.hint(fmt::format("Rows are the {} experts, columns the tokens; contrast shows the share.", experts));
}

}  // namespace headscope::app::model_page
