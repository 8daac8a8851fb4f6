#include <fmt/core.h>

#include "app/pages/model/overview/overview_parts.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/draw_text.h"

namespace headscope::app::model_page {

// The stream columns next to each layer: the entropy of its heads, what it adds to the residual stream, the
// stops at which predictions can be read (lens), and the prediction there.

namespace {

const char* kEntropyHelp =
    "Entropy −Σ A·ln A divided by ln of the visible keys, mean over heads and rows: 0 means one key gets all "
    "the weight, 1 uniform.";
const char* kAddsHelp =
    "How much attention and the MLP change the residual stream: ‖what is added‖ / ‖stream before‖, mean over "
    "tokens.";
const char* kLensHelp =
    "The prediction if the model stopped here: the residual stream after this layer through the final norm "
    "and unembedding (logit lens).";

/// The columns' x positions, from left to right.
struct Columns {
  float entropy, adds, stop, guess, right;
  float adding = 0;  ///< the longest bar of what is added
};

Columns columnsOf(const View& view, const OverviewPlan& plan) {
  const float x = plan.columns;
  return {x, x + view.px(72), x + view.px(180), x + view.px(198), plan.area.Max.x, view.px(30)};
}

/// A value from 0 to 1 as a grey bar, with its number above if there is space.
void paintEntropy(const View& view, ImVec2 at, float value, bool digits, float row) {
  Canvas list = *ImGui::GetWindowDrawList();
  const float wide = view.px(46), half = std::min(view.px(2), row * 0.3f);
  if (digits)
    paintText(list, view.fonts->monoSmall, ImVec2(at.x, at.y - view.px(8)), view.theme->secondary,
              fixedText(value, 2));
  const float y = at.y + (digits ? view.px(6) : 0);
  list.AddRectFilled(ImVec2(at.x, y - half), ImVec2(at.x + wide, y + half), view.theme->raised);
  list.AddRectFilled(ImVec2(at.x, y - half), ImVec2(at.x + wide * std::clamp(value, 0.0f, 1.0f), y + half),
                     view.theme->secondary);
}

/// A bar that ends at the stream: filled for attention, hollow for the MLP.
void paintAdded(const View& view, float right, float y, float length, bool filled, float half) {
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 from(right - std::max(length, 1.0f), y - half), to(right, y + half);
  if (filled)
    list.AddRectFilled(from, to, view.theme->secondary);
  else
    compat::rectOutline(list, from, to, view.theme->secondary, 0, std::max(1.0f, view.px(1)));
}

float mostAdded(const Layers& layers) {
  float most = 1e-6f;
  for (const auto& layer : layers) most = std::max({most, layer->attentionAdds, layer->mlpAdds});
  return most;
}

/// A stop on the stream. A click reads predictions there.
void stopMark(Scene& scene, View& view, const Layers& layers, ImVec2 at, Index stop, float row) {
  const Index last = static_cast<Index>(layers.size());
  const Index chosen = scene.cursor.model.stop < 0 ? last : scene.cursor.model.stop;
  Canvas list = *ImGui::GetWindowDrawList();
  const float radius = std::min(view.px(4.5f), row * 0.42f), hit = std::min(view.px(9), row / 2);
  const std::string name = fmt::format("model.stop.{}", stop);
  if (hitArea(name, ImVec2(at.x - hit, at.y - hit), ImVec2(2 * hit, 2 * hit)))
    scene.cursor.model.stop = stop == last ? -1 : stop;
  if (ImGui::IsItemHovered())
    tooltip(view, (stop == 0 ? "the embedding" : fmt::format("after layer {}", stop - 1)) +
                      std::string("\n") + kLensHelp);
  list.AddCircleFilled(
      at, radius, stop == chosen || ImGui::IsItemHovered() ? view.theme->text : view.theme->background, 20);
  list.AddCircle(at, radius, stop == chosen ? view.theme->text : view.theme->secondary, 20,
                 std::max(1.0f, view.px(1.4f)));
}

/// "×0.31": the size of what is added relative to the stream before.
std::string timesText(float share) {
  return std::isfinite(share) ? fmt::format("×{}", fixedText(share, 2)) : numberText(share);
}

/// The most likely next token at a stop, with its probability as a bar; hollow: without the scene's changes.
void paintGuess(State& page, ImVec2 at, float right, Index stop, bool chosen, bool bar) {
  const View& view = page.view;
  const TokenPredictions* predictions = page.predictions.newest();
  if (!predictions || stop >= std::ssize(predictions->lens)) return;
  const Prediction& guess = predictions->lens[static_cast<std::size_t>(stop)];
  Canvas list = *ImGui::GetWindowDrawList();
  const std::uint32_t color = chosen ? view.theme->text : view.theme->secondary;
  const std::string number = probabilityText(guess.probability);
  const float numbers = textWidth(view.fonts->monoSmall, number);
  const float y = bar ? at.y - view.px(6) : at.y;
  paintText(list, view.fonts->monoSmall, ImVec2(right, y), color, number, Align::right);
  paintFitted(view, list, view.fonts->mono, ImVec2(at.x, y), right - at.x - numbers - view.px(8), color,
              page.word(guess));
  if (!bar) return;
  const float bottom = at.y + view.px(8), half = view.px(2.5f), wide = right - at.x;
  list.AddRectFilled(ImVec2(at.x, bottom - half), ImVec2(right, bottom + half), view.theme->raised);
  list.AddRectFilled(ImVec2(at.x, bottom - half), ImVec2(at.x + wide * guess.probability, bottom + half),
                     color);
  if (guess.unchanged >= 0)
    compat::rectOutline(list, ImVec2(at.x, bottom - half - 1),
                        ImVec2(at.x + std::max(2.0f, wide * guess.unchanged), bottom + half + 1),
                        view.theme->text, 0, std::max(1.0f, view.px(1)));
}

/// "next after “key”": what the predictions at the stops are of.
std::string guessTitle(const Scene& scene, const State& page, const Columns& columns) {
  if (page.model.classifies() || !page.ready()) return "prediction so far";
  ImFont* const font = page.view.fonts->small;
  const std::string start = page.model.config->causal ? "next after “" : "word at “";
  const float room = columns.right - columns.guess - textWidth(font, start + "”");
  return start + fitted(font, page.token(scene.cursor.cell.query), room) + "”";
}

void columnTitle(View& view, const char* name, float x, float y, const std::string& text, const char* help) {
  Canvas list = *ImGui::GetWindowDrawList();
  const float width = paintText(list, view.fonts->small, ImVec2(x, y), view.theme->faint, text);
  ImGui::SetCursorScreenPos(ImVec2(x, y - view.px(8)));
  compat::invisibleButton(name, ImVec2(width, view.px(16)));
  if (ImGui::IsItemHovered()) hoverHelp(view, name, help);
}

void besideRows(Scene& scene, State& page, const OverviewPlan& plan) {
  View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const Columns columns = columnsOf(view, plan);
  const bool digits = plan.rowPitch >= view.px(30);
  const float head = plan.top - view.px(10), most = mostAdded(page.layers);
  columnTitle(view, "model.entropy", columns.entropy, head, "entropy 0–1", kEntropyHelp);
  columnTitle(view, "model.adds", columns.adds, head, "adds to stream", kAddsHelp);
  if (page.model.predicts())
    columnTitle(view, "model.lens", columns.guess, head, guessTitle(scene, page, columns), kLensHelp);
  const auto layers = static_cast<Index>(page.layers.size());
  const auto middle = [&](Index at) { return plan.tile(at, 0).GetCenter().y; };
  list.AddLine(ImVec2(columns.stop, head), ImVec2(columns.stop, std::min(middle(layers - 1), plan.map.Max.y)),
               view.theme->faint, std::max(1.0f, view.px(1.4f)));
  const Index chosen = scene.cursor.model.stop < 0 ? layers : scene.cursor.model.stop;
  // With very many layers, only some of them and the chosen one show predictions.
  const Index every = plan.rowPitch >= view.px(15) ? 1 : plan.rowPitch >= view.px(8) ? 2 : 4;
  for (Index at = 0; at < layers; ++at) {
    const LayerSummary& layer = *page.layer(at);
    const float y = middle(at);
    if (y < plan.map.Min.y || y > plan.map.Max.y) continue;
    paintEntropy(view, ImVec2(columns.entropy, y), layer.entropy, digits, plan.rowPitch);
    const float end = columns.stop - view.px(2);
    const float apart = digits ? view.px(7) : std::min(view.px(4), plan.rowPitch * 0.25f);
    const float half = std::min(view.px(4), plan.rowPitch * 0.22f);
    if (digits) {
      const auto line = [&](const char* what, float value, float at_) {
        paintText(list, view.fonts->monoSmall, ImVec2(columns.adds, at_), view.theme->secondary,
                  fmt::format("{} {}", what, fixedText(value, 2)));
      };
      line("attn", layer.attentionAdds, y - apart);
      line("MLP ", layer.mlpAdds, y + apart);
    }
    paintAdded(view, end, y - apart, columns.adding * layer.attentionAdds / most, true, half);
    paintAdded(view, end, y + apart, columns.adding * layer.mlpAdds / most, false, half);
    const bool crowded = every > 1 && at + 1 != chosen && std::abs(at + 1 - chosen) < every;
    if (at + 1 == chosen || ((layers - 1 - at) % every == 0 && !crowded))
      paintGuess(page, ImVec2(columns.guess, y), columns.right, at + 1, at + 1 == chosen, digits);
    stopMark(scene, page.view, page.layers, ImVec2(columns.stop, y), at + 1, plan.rowPitch);
  }
  stopMark(scene, page.view, page.layers, ImVec2(columns.stop, head), 0, view.px(18));
}

void underRows(Scene& scene, State& page, const OverviewPlan& plan) {
  View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const auto layers = static_cast<Index>(page.layers.size());
  const float line = plan.area.Min.x + view.px(8), right = plan.tile(0, plan.heads - 1).Max.x;
  const auto under = [&](Index at) {
    return plan.tile(at, 0).Max.y + view.px(16) + (plan.belowTriangle ? view.px(14) : 0);
  };
  const Index chosen = scene.cursor.model.stop < 0 ? layers : scene.cursor.model.stop;
  const float most = mostAdded(page.layers);
  list.AddLine(ImVec2(line, plan.top - view.px(10)), ImVec2(line, under(layers - 1)), view.theme->faint,
               std::max(1.0f, view.px(1.4f)));
  for (Index at = 0; at < layers; ++at) {
    const LayerSummary& layer = *page.layer(at);
    const float y = under(at);
    const std::string says =
        fmt::format("stream after layer {}{}", at, page.model.predicts() ? " predicts" : "");
    float x = plan.left + paintText(list, view.fonts->small, ImVec2(plan.left, y), view.theme->faint, says) +
              view.px(8);
    const float guessEnd = std::min(x + view.px(190), right);
    paintGuess(page, ImVec2(x, y), guessEnd, at + 1, at + 1 == chosen, false);
    // From the right: what is added, then the entropy, as far as they fit.
    struct Part {
      std::string text, name;
      const char* help;
      float value, most;
      int style;
    };
    const Part parts[] = {
        {timesText(layer.mlpAdds), "MLP adds", kAddsHelp, layer.mlpAdds, most, 2},
        {timesText(layer.attentionAdds), "attention adds", kAddsHelp, layer.attentionAdds, most, 1},
        {std::isnan(layer.entropy) ? "NaN" : fixedText(layer.entropy, 2), "entropy", kEntropyHelp,
         layer.entropy, 1, 0}};
    float end = right;
    for (const Part& part : parts) {
      const float needed = textWidth(view.fonts->small, part.name) + view.px(44 + 50 + 24);
      if (end - needed < guessEnd + view.px(16)) break;
      paintText(list, view.fonts->monoSmall, ImVec2(end, y), view.theme->secondary, part.text, Align::right);
      const float barEnd = end - view.px(48), barStart = barEnd - view.px(40);
      if (part.style == 0)
        list.AddRectFilled(ImVec2(barStart, y - view.px(4)), ImVec2(barEnd, y + view.px(4)),
                           view.theme->raised);
      const float length = view.px(40) * part.value / part.most;
      if (part.style == 2)
        compat::rectOutline(list, ImVec2(barStart, y - view.px(4)),
                            ImVec2(barStart + std::max(2.0f, length), y + view.px(4)), view.theme->secondary,
                            0, std::max(1.0f, view.px(1)));
      else
        list.AddRectFilled(ImVec2(barStart, y - view.px(4)), ImVec2(barStart + length, y + view.px(4)),
                           view.theme->secondary);
      const float nameWidth = textWidth(view.fonts->small, part.name);
      columnTitle(view, fmt::format("model.{}.{}", part.name, at).c_str(), barStart - view.px(8) - nameWidth,
                  y, part.name, part.help);
      end = barStart - nameWidth - view.px(26);
    }
    stopMark(scene, page.view, page.layers, ImVec2(line, y), at + 1, plan.rowPitch);
  }
  stopMark(scene, page.view, page.layers, ImVec2(line, plan.top - view.px(10)), 0, view.px(18));
}

}  // namespace

void streamColumns(Scene& scene, State& page, const OverviewPlan& plan) {
  if (plan.band)
    underRows(scene, page, plan);
  else
    besideRows(scene, page, plan);
}

namespace {

/// Shows the text's beginning and the tokens around `token`. For texts that don't fit.
void showAround(StripColumns& columns, Index token, Index n) {
  const Index lead = std::min<Index>(4, columns.slots / 4), least = 6;
  if (columns.slots < least) return;
  const Index room = columns.slots - lead - 1;
  if (token - (room - 1) / 2 <= lead + 1) {
    columns.first = 0;
    columns.count = columns.slots - 1;
    columns.goesOn = true;
    return;
  }
  columns.lead = lead;
  columns.goesOn = token + room / 2 < n - 1;
  columns.count = room - (columns.goesOn ? 1 : 0);
  columns.first = std::min(token - (columns.count - 1) / 2, n - columns.count);
}

}  // namespace

void paintEllipses(const View& view, const StripColumns& columns, float y) {
  const Canvas list = *ImGui::GetWindowDrawList();
  const auto paint = [&](Index number) {
    paintText(list, columns.font, ImVec2(columns.slot(number) + columns.width / 2, y), view.theme->secondary,
              "…", Align::center);
  };
  if (columns.lead > 0) paint(columns.lead);
  if (columns.goesOn) paint(columns.slots - 1);
}

StripColumns columnsFor(const Scene& scene, const State& page, const ImRect& area) {
  const View& view = page.view;
  const float labels = view.px(view.present ? 0 : 86);
  StripColumns columns{area.Min.x + labels, 0, 0, 0, 0, view.fonts->mono};
  const float room = area.GetWidth() - labels;
  float widest = view.px(40);
  for (const auto& token : page.study->text.tokens)
    widest = std::max(widest, textWidth(view.fonts->mono, token.text) + view.px(10));
  // Somewhat narrower words are better than one that isn't there.
  const float most = std::min(widest, view.px(74)), share = room / static_cast<float>(page.tokens());
  columns.width = std::floor(std::clamp(share, std::min(most, view.px(60)), most));
  // While presenting, the whole text is shown if its words stay readable.
  if (view.present) {
    columns.width = std::floor(std::clamp(share, std::min(widest, view.px(36)), widest));
    if (columns.width < widest - view.px(4)) columns.font = view.fonts->monoSmall;
  }
  const Index slots = std::max<Index>(1, static_cast<Index>(room / columns.width));
  const Index n = page.tokens(), spare = view.present ? 0 : std::clamp<Index>(slots - n, 0, 2);
  const Index newest = std::max<Index>(0, n + spare - slots);
  columns.first = page.writing.stripFrom < 0 ? newest : std::min(page.writing.stripFrom, newest);
  columns.count = std::min(slots, n - columns.first);
  columns.slots = slots;
  const Cell& cell = scene.cursor.cell;
  if (view.present && newest > 0 && page.writing.stripFrom < 0)
    showAround(columns, page.study->otherQueries.empty() ? cell.query : cell.key, n);
  return columns;
}

}  // namespace headscope::app::model_page
