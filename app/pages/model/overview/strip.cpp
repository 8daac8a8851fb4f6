// The text with one column per token: how well each next token was predicted, and what the KV cache stores
// for it. Also the controls for generating text.

#include <fmt/core.h>

#include "app/pages/model/overview/overview_parts.h"
#include "app/platform/keyboard_focus.h"
#include "app/platform/track.h"
#include "app/scene/fields.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::model_page {

namespace {

/// A button with a transport symbol, pointing left if `sign` is negative. Disabled if `reason` isn't empty.
bool transportButton(View& view, const std::string& name, const char* help, const std::string& reason,
                     int sign) {
  const float side = view.px(28);
  const bool clicked = hitArea(name, ImVec2(side, side));
  const bool enabled = reason.empty(), hovered = ImGui::IsItemHovered();
  const ImVec2 from = ImGui::GetItemRectMin(), to = ImGui::GetItemRectMax();
  const ImVec2 at((from.x + to.x) / 2, (from.y + to.y) / 2);
  Canvas list = *ImGui::GetWindowDrawList();
  if (hovered && enabled) list.AddRectFilled(from, to, view.theme->raised, view.px(6));
  const std::uint32_t color = !enabled  ? faded(view.theme->faint, 0.6f)
                              : hovered ? view.theme->text
                                        : view.theme->secondary;
  const float u = view.px(5), direction = sign < 0 ? -1.0f : 1.0f;
  list.AddTriangleFilled(ImVec2(at.x - u * direction, at.y - u), ImVec2(at.x - u * direction, at.y + u),
                         ImVec2(at.x + u * 0.7f * direction, at.y), color);
  list.AddRectFilled(ImVec2(at.x + direction * u * 0.9f - view.px(1), at.y - u),
                     ImVec2(at.x + direction * u * 0.9f + view.px(1), at.y + u), color);
  if (hovered) tooltip(view, enabled ? help : reason);
  return clicked && enabled;
}

std::string cannotWrite(const State& page) {
  if (!page.study) return "Reading the text…";
  const attention::ModelConfig& config = *page.model.config;
  if (std::string why = page.model.opened->model->whyNoText(); !why.empty()) return why;
  if (page.tokens() == 0) return "Type a sentence to continue";
  if (const auto limit = config.positionLimit(); limit && page.tokens() >= *limit)
    return fmt::format("The text fills all {} positions of the model", *limit);
  if (page.tokens() >= kMaxTokens) return fmt::format("At most {} tokens can be shown", kMaxTokens);
  return "";
}

/// "temperature 0.8 · top-p 0.95 · seed 7".
std::string samplingText(const GenerationSetup& generation) {
  if (generation.temperature == 0) return "always the most likely (greedy)";
  std::string text = "temperature " + shortNumber(generation.temperature);
  if (generation.topK > 0) text += fmt::format(" · top-k {}", generation.topK);
  if (generation.topP < 1) text += " · top-p " + shortNumber(generation.topP);
  return text + fmt::format(" · seed {}", generation.seed);
}

void transport(const Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const std::string reason = cannotWrite(page);
  const std::string nothing = scene.setup.subject.written.empty() ? "Nothing generated yet" : "";
  const float y = area.Min.y + view.px(6);
  ImGui::SetCursorScreenPos(ImVec2(area.Min.x - view.px(8), y));
  if (transportButton(view, "model.back", "Remove one generated token  (,)", nothing, -1))
    view.request("model.back");
  ImGui::SameLine(0, view.px(2));
  if (button(view, "model.play", page.writing.on ? "Pause" : "Generate", page.writing.on ? "" : reason))
    view.request("model.play");
  ImGui::SameLine(0, view.px(2));
  if (transportButton(view, "model.step", "Generate one token  (.)", reason, 1)) view.request("model.step");
  Canvas list = *ImGui::GetWindowDrawList();
  const float x = ImGui::GetItemRectMax().x + view.px(18), middle = y + view.px(14);
  paintFitted(view, list, view.fonts->text, ImVec2(x, middle), area.Max.x - x - view.px(190),
              view.theme->secondary, samplingText(scene.generation));
  if (!page.study || !view.showTimings || page.study->seconds <= 0 || scene.setup.subject.written.empty())
    return;
  const double rate = 1 / page.study->seconds;
  const std::string number = rate >= 100 ? fixedText(rate, 0) : fixedText(rate, 1);
  const float wide = textWidth(view.fonts->mono, number);
  paintText(list, view.fonts->mono, ImVec2(area.Max.x, middle), view.theme->text, number, Align::right);
  paintText(list, view.fonts->small, ImVec2(area.Max.x - wide - view.px(6), middle), view.theme->faint,
            "tokens/s", Align::right);
}

/// The rectangle of a column's word.
ImRect wordOf(const View& view, const StripColumns& columns, Index token, const ImRect& area) {
  const float x = columns.at(token);
  return {x, area.Min.y, x + columns.width - view.px(4), area.Min.y + view.px(24)};
}

/// A bar of how well a column's next token was predicted.
void foreseenBar(State& page, const StripColumns& columns, Index token, float wordY, std::uint32_t fill,
                 bool folded) {
  const std::vector<StripPrediction>* all = page.foreseen();
  if (!all || static_cast<std::size_t>(token) >= all->size()) return;
  const View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const float x = columns.at(token), width = columns.width, center = x + (width - view.px(4)) / 2;
  const StripPrediction& one = (*all)[static_cast<std::size_t>(token)];
  const float top = wordY + view.px(18), bottom = top + view.px(folded ? 34 : 44);
  const float half = std::min(view.px(14), width * 0.32f);
  list.AddLine(ImVec2(x, bottom), ImVec2(x + width - view.px(4), bottom), view.theme->line);
  if (page.model.config->causal && token + 1 >= page.tokens()) {
    paintText(list, view.fonts->small, ImVec2(center, (top + bottom) / 2), view.theme->secondary,
              fitted(view.fonts->small, page.word(one.top) + "?", width - view.px(4)), Align::center);
    return;
  }
  list.AddRectFilled(ImVec2(center - half, bottom - (bottom - top) * one.real), ImVec2(center + half, bottom),
                     fill);
  if (one.unchanged >= 0)
    compat::rectOutline(list, ImVec2(center - half - 1, bottom - (bottom - top) * one.unchanged - 1),
                        ImVec2(center + half + 1, bottom), view.theme->text, 0,
                        std::max(1.0f, view.px(1.2f)));
  if (folded) return;
  paintText(list, view.fonts->monoSmall, ImVec2(center, bottom + view.px(11)), fill,
            "#" + (one.rank < 10000 ? std::to_string(one.rank) : std::to_string(one.rank / 1000) + "k"),
            Align::center);
  paintText(list, view.fonts->monoSmall, ImVec2(center, bottom + view.px(27)), fill, fixedText(one.loss, 2),
            Align::center);
}

/// A column's token, bar and figures.
void column(const Scene& scene, State& page, const StripColumns& columns, Index token, const ImRect& area,
            bool folded) {
  const View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const ImRect place = wordOf(view, columns, token, area);
  const float center = place.GetCenter().x, wordY = area.Min.y + view.px(12);
  const Cell& cell = scene.cursor.cell;
  // For attention between two texts the columns are only queries or only keys. Figures highlight neither.
  const bool query = !view.figure && page.study->otherQueries.empty() && token == cell.query,
             key = !view.figure && page.study->otherKeys.empty() && token == cell.key;
  const ImRect whole(place.Min, ImVec2(place.Max.x, area.Max.y));
  if (query)
    list.AddRectFilled(whole.Min, whole.Max, faded(view.theme->query, 0.09f));
  else if (page.study->otherQueries.empty() && token == view.hover.query)
    paintGhost(view, list, "ghost", whole, view.theme->query);
  if (!key && page.study->otherKeys.empty() && token == view.hover.key)
    paintGhost(view, list, "ghost", whole, view.theme->key);
  const std::uint32_t color = query ? view.theme->query : key ? view.theme->key : view.theme->text;
  if (page.writing.edit.token != token) {
    // A long word may reach beyond its column, as far as its neighbours leave room.
    const float own = columns.width - view.px(6);
    float room = FLT_MAX;
    for (const Index beside : {token - 1, token + 1})
      if (beside >= 0 && columns.has(beside))
        room = std::min(room, 2 * own - textWidth(columns.font, page.token(beside)));
    const std::string word = fitted(columns.font, page.token(token), std::max(own, room));
    const float wide = paintText(list, columns.font, ImVec2(center, wordY), color, word, Align::center);
    if (token >= page.study->text.typed)
      list.AddRectFilled(ImVec2(center - wide / 2, wordY + view.px(9)),
                         ImVec2(center + wide / 2, wordY + view.px(10.5f)), color);
  }
  if (!view.present)
    foreseenBar(page, columns, token, wordY, query ? view.theme->text : view.theme->secondary, folded);
  // Tokens after a word being edited are dimmed, since they will be dropped.
  if (page.writing.edit.token >= 0 && token > page.writing.edit.token)
    list.AddRectFilled(place.Min, ImVec2(place.Max.x + view.px(4), area.Max.y),
                       faded(view.theme->background, 0.7f));
}

render::HeatmapStyle cacheStyle(const View& view, bool values) {
  render::HeatmapStyle style;
  style.background = unpacked(view.theme->background);
  style.maskedHatch = style.deadHatch = style.background;
  style.gap = 0;
  const std::uint32_t ink = values ? view.theme->value : view.theme->key;
  style.tint = render::Tint{unpacked(mixed(view.theme->background, ink, 0.12f)), unpacked(ink)};
  return style;
}

/// Keys above values, one column per token, one row per layer and kv head (or several that share a row).
void cacheRows(const Scene& scene, State& page, const StripColumns& columns, const ImRect& area) {
  View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  if (page.pictures.cache.empty() || page.study->bands == 0) return;
  const float height = std::floor((area.GetHeight() - view.px(4)) / 2);
  const auto bands = static_cast<float>(page.study->bands);
  for (const bool values : {false, true}) {
    const float top = area.Min.y + (values ? height + view.px(4) : 0);
    std::vector<HeatmapTile> tiles;
    for (Index i = 0; i < columns.count; ++i) {
      HeatmapTile tile;
      const float x = columns.at(columns.first + i);
      tile.view.target = {x, top, x + columns.width - view.px(4), top + height};
      tile.view.clip = tile.view.target;
      tile.view.layer = values ? 1 : 0;
      tile.view.rows = static_cast<float>(page.pictures.cache.current().rows());
      tile.view.firstCol = static_cast<float>(columns.first + i) * bands;
      tile.view.cols = bands;
      tile.range = {-1, 1};
      tiles.push_back(tile);
    }
    view.heatmaps->draw(list, page.pictures.cache, cacheStyle(view, values), std::move(tiles));
    paintText(list, view.fonts->small, ImVec2(columns.left - view.px(80), top + height / 2),
              values ? view.theme->value : view.theme->key, values ? "values" : "keys");
  }
  const auto outline = [&](Index token, std::uint32_t color) {
    if (token < columns.first || token >= columns.first + columns.count) return;
    const float x = columns.at(token);
    paintMark(
        view, list, "column",
        {ImVec2(x, area.Min.y), ImVec2(x + columns.width - view.px(4), area.Min.y + 2 * height + view.px(4))},
        color);
  };
  for (Index slot = page.tokens(); slot < columns.first + columns.slots && slot < page.tokens() + 2; ++slot) {
    const float x = columns.at(slot);  // empty slots for the next tokens
    compat::rectOutline(list, ImVec2(x, area.Min.y),
                        ImVec2(x + columns.width - view.px(4), area.Min.y + 2 * height + view.px(4)),
                        view.theme->line, 0, 1);
  }
  if (page.study->otherKeys.empty()) outline(scene.cursor.cell.key, view.theme->key);
  if (!scene.setup.subject.written.empty()) outline(page.tokens() - 1, view.theme->text);
}

void rowNames(const View& view, const ShownModel& model, const ImRect& area, bool folded) {
  Canvas list = *ImGui::GetWindowDrawList();
  const float x = area.Min.x, top = area.Min.y + view.px(12 + 18);
  const auto line = [&](float y, const char* text) {
    paintText(list, view.fonts->small, ImVec2(x, y), view.theme->faint, text);
  };
  if (!model.predictsTokens())
    return line(top + view.px(folded ? 10 : 14), model.opened->model->whyNoPredictions().c_str());
  line(top + view.px(folded ? 10 : 14), "probability of");
  line(top + view.px(folded ? 24 : 28), model.config->causal ? "the actual next" : "the actual token");
  if (folded) return;
  line(top + view.px(44 + 11), "rank");
  line(top + view.px(44 + 27), "loss, nats");
}

void cacheFigures(const State& page, const StripColumns& columns, float right, float y) {
  const View& view = page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const attention::ModelConfig& config = *page.model.config;
  const auto perToken = static_cast<double>(page.model.opened->model->cacheBytesPerToken());
  const Index rows = config.layerCount() * config.kvHeads;
  const auto drawn = static_cast<Index>(page.pictures.cache.current().rows());
  const std::string of =
      drawn == rows
          ? (config.kvHeads == 1 ? "one row per layer" : "one row per layer and kv head")
          : fmt::format("each row shows the strongest of {} layers and kv heads", (rows + drawn - 1) / drawn);
  const std::string layers = countedText(config.layerCount(), "layer");
  const std::string factors = config.latent.rank > 0
                                  ? fmt::format("{} · (latent {} + rotated {}) · 4 B", layers,
                                                config.latent.rank, config.latent.ropeDim)
                                  : fmt::format("2 · {} · {} · {} · 4 B", layers,
                                                countedText(config.kvHeads, "kv head"), config.headDim);
  // What cross heads read is cached once, as long as the encoder's text.
  const auto source = page.study ? page.study->text.source.size() : 0;
  const std::string once =
      source == 0 ? ""
                  : fmt::format(" · cross {}, constant", bytesText(perToken * static_cast<double>(source)));
  const std::string figures =
      fmt::format("{} · +{} per token = {}{}", bytesText(perToken * static_cast<double>(page.tokens())),
                  bytesText(perToken), factors, once);
  const float wide =
      paintText(list, view.fonts->small, ImVec2(right, y), view.theme->secondary, figures, Align::right);
  if (columns.left + textWidth(view.fonts->small, of) + view.px(20) < right - wide)
    paintText(list, view.fonts->small, ImVec2(columns.left, y), view.theme->faint, of);
}

/// A click on a column selects the query, or the key of another text; the wheel scrolls through a long text.
void pointAtColumns(Scene& scene, State& page, const StripColumns& columns, const ImRect& area) {
  View& view = page.view;
  hitArea("model.strip", ImVec2(columns.left, area.Min.y),
          ImVec2(std::max(1.0f, area.Max.x - columns.left), area.GetHeight()));
  noteTabStopKind(TabStopKind::picture, {columns.width, area.GetHeight()});
  for (const char* name : {"strip", "strip.word"}) trackTokens(name, {nullptr, &page.study->text.tokens});
  columns.each([&](Index token) {
    const float x = columns.at(token);
    track(fmt::format("strip.{}", token), ImVec2(x, area.Min.y),
          ImVec2(x + columns.width - view.px(4), area.Max.y));
    const ImRect word = wordOf(view, columns, token, area);
    track(fmt::format("strip.word.{}", token), word.Min, word.Max);
  });
  if (!ImGui::IsItemHovered()) return;
  const Index n = page.tokens();
  const Index newest = std::max<Index>(0, n + std::min<Index>(2, columns.slots - 1) - columns.slots);
  if (const float wheel = ImGui::GetIO().MouseWheel; wheel != 0 && newest > 0) {
    page.writing.stripFrom =
        std::clamp<Index>(columns.first - static_cast<Index>(wheel > 0 ? 3 : -3), 0, newest);
    if (page.writing.stripFrom == newest) page.writing.stripFrom = -1;
  }
  const Index token = columns.tokenAt(ImGui::GetIO().MousePos.x);
  if (token < 0) return;
  const bool other = !page.study->otherQueries.empty();
  (other ? view.nextHover.key : view.nextHover.query) = token;
  const bool onWord = token >= page.study->text.typed && page.model.config->causal &&
                      wordOf(view, columns, token, area).Contains(ImGui::GetIO().MousePos);
  if (ImGui::IsMouseClicked(0)) {
    Cell& cell = scene.cursor.cell;
    if (other)
      choose(scene.cursor, {cell.head, cell.query, token});
    else
      cell.query = token;
    if (onWord) openTokenEdit(page, token);
  }
  if (ImGui::IsMouseClicked(1) && !page.model.isSynthetic() && page.model.opened->model) {
    scene.cursor.cell.query = token;
    view.menu = {"model.edit_token", "model.cut", "model.forget"};
  }
  std::string text = fmt::format("{} · token {}", page.token(token), token);
  if (const Index id = page.study->text.ids[static_cast<std::size_t>(token)]; id >= 0)
    text += fmt::format(" · id {}", id);
  const std::vector<StripPrediction>* all = page.foreseen();
  if (all && static_cast<std::size_t>(token) < all->size()) {
    const StripPrediction& one = (*all)[static_cast<std::size_t>(token)];
    text += "\ntop prediction: " + page.word(one.top);
    if (token + 1 < n)
      text += fmt::format("\nactual next: {} · {} · rank {} · {} nats", page.token(token + 1),
                          probabilityText(one.real), countText(static_cast<std::uint64_t>(one.rank)),
                          fixedText(one.loss, 3));
  }
  if (onWord) text += "\nClick to replace it and continue from there";
  tooltip(view, text);
}

}  // namespace

void stripPanel(Scene& scene, State& page, const ImRect& area, bool folded) {
  View& view = page.view;
  Canvas back = *ImGui::GetBackgroundDrawList();
  back.AddLine(area.Min, ImVec2(area.Max.x, area.Min.y), view.theme->line);
  if (beginPanel(view, "strip", area, 0, 0, ImGuiWindowFlags_NoScrollWithMouse)) {
    const float pad = view.px(20);
    const ImRect inner(area.Min.x + pad, area.Min.y, area.Max.x - pad, area.Max.y - view.px(4));
    const float bar = view.present ? 0 : view.px(42);
    const bool recorded = page.model.isSynthetic() || page.model.opened->recorded;  // nothing to predict with
    if (recorded && !view.present) {
      ImGui::SetCursorScreenPos(ImVec2(inner.Min.x, inner.Min.y + view.px(10)));
      hint(view, page.model.isSynthetic()
                     ? "Synthetic layers have no vocabulary and make no predictions. Text:"
                     : "Imported attention (view only): no model is open to predict what comes next.");
    } else if (bar > 0) {
      transport(scene, page, inner);
    }
    if (page.ready()) {
      ImRect rows(inner.Min.x, inner.Min.y + bar, inner.Max.x, inner.Max.y);
      const StripColumns columns = columnsFor(scene, page, rows);
      const Index edited = page.writing.edit.token;
      if (edited >= page.tokens()) page.writing.edit = {};
      const bool editing = edited >= 0 && columns.has(edited);
      if (editing)
        tokenEditBox(page.view, page.writing, wordOf(view, columns, edited, rows));  // first: on top
      pointAtColumns(scene, page, columns, rows);
      columns.each([&](Index token) { column(scene, page, columns, token, rows, folded); });
      paintEllipses(view, columns, rows.Min.y + view.px(12));
      if (!recorded && !view.present) rowNames(page.view, page.model, rows, folded);
      if (!folded && !recorded) {
        const float top = rows.Min.y + view.px(12 + 18 + 44 + 42);
        cacheRows(scene, page, columns, ImRect(rows.Min.x, top, rows.Max.x, inner.Max.y - view.px(20)));
        cacheFigures(page, columns, inner.Max.x, inner.Max.y - view.px(8));
      }
    }
  }
  endPanel();
}

}  // namespace headscope::app::model_page
