#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/pages/head_lab/tabs/head_tabs.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/heat_parts.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/paint.h"

namespace headscope::app::head_lab_page {

using attention::Detector;
using attention::DetectorScore;

namespace {

/// The layout of the table's cells.
struct TablePlan {
  ImRect cells;
  float wide, high;
  Index first;  ///< first visible head
  Index shown;
  bool upright;   ///< turned column names, because large type doesn't fit horizontally
  float picture;  ///< side of the pictures of the heads' weights, in pixels; 0 = no space for them

  ImRect cell(Index row, std::size_t column) const {
    const float x = cells.Min.x + wide * static_cast<float>(column),
                y = cells.Min.y + high * static_cast<float>(row);
    return {x, y, x + wide, y + high};
  }
};

std::string_view wholeName(const Detector& detector) {
  return detector.column.empty() ? detector.title : detector.column;
}

/// A column's name in two lines: the full name if it fits, else the short one.
std::pair<std::string_view, std::string_view> columnName(const Detector& detector, ImFont* font, float width,
                                                         bool small) {
  const auto inTwo = [](std::string_view name) {
    const auto space = name.find(' ');
    return space == name.npos ? std::pair(std::string_view(""), name)
                              : std::pair(name.substr(0, space), name.substr(space + 1));
  };
  const auto whole = inTwo(wholeName(detector));
  const bool fits = textWidth(font, whole.first) <= width && textWidth(font, whole.second) <= width;
  return small || !fits ? inTwo(detector.shortName) : whole;
}

TablePlan planOf(const State& page, const ImRect& area, const ScoreTable& table, Index chosen) {
  const View& view = page.view;
  const bool small = page.small;
  TablePlan plan;
  plan.upright = page.presents;
  const float head = view.px(plan.upright ? 64 : small ? 44 : 52);
  const auto columns = attention::allDetectors().size();
  const float height = area.GetHeight() - head - view.px(22);
  const auto heads = std::ssize(table.rows);
  plan.shown = std::min<Index>(heads, std::max<Index>(static_cast<Index>(height / view.px(15)), 1));
  plan.high = std::floor(std::min(height / static_cast<float>(std::max<Index>(plan.shown, 1)), view.px(110)));
  plan.picture = !small && plan.high >= view.px(52) ? plan.high - view.px(8) : 0;
  const float names = view.px(page.presents ? 150 : small ? 132 : 196) + plan.picture * 0.75f;
  plan.cells = ImRect(area.Min.x + names, area.Min.y + head, area.Max.x, area.Max.y - view.px(22));
  plan.wide = std::floor(plan.cells.GetWidth() / static_cast<float>(columns));
  const auto at = std::ranges::find(table.rows, chosen) - table.rows.begin();
  plan.first = std::clamp<Index>(at - plan.shown / 2, 0, heads - plan.shown);
  plan.cells.Max = ImVec2(plan.cells.Min.x + plan.wide * static_cast<float>(columns),
                          plan.cells.Min.y + plan.high * static_cast<float>(plan.shown));
  return plan;
}

/// A score's position on its colour scale, 0 to 1; if `above`, the middle is even attention.
float shareOf(const Detector& detector, const DetectorScore& score, bool above) {
  // Distances have no maximum: twice that of even attention is the bright end.
  const float unit = detector.unit.empty() ? 1 : std::max(score.baseline, 1e-6f);
  if (above) return 0.5f + 0.5f * std::clamp(score.above() / unit, -1.0f, 1.0f);
  if (detector.ofMaps) return 0.5f + 0.5f * score.raw;
  return std::clamp(score.raw / (detector.unit.empty() ? 1 : 2 * unit), 0.0f, 1.0f);
}

/// ".94", "−.12", "3.4"; with one digit ".9" and "−.1".
std::string numberOf(const Detector& detector, const DetectorScore& score, bool above, int digits = 2) {
  const double value = static_cast<double>(above ? score.above() : score.raw), amount = std::abs(value);
  if (!detector.unit.empty()) digits = amount >= 99.5 ? 0 : 1;
  std::string text = fixedText(value, digits);
  if (!detector.unit.empty()) return text;
  if (text == fixedText(1, digits)) return "1";
  if (const std::size_t zero = text.starts_with("−") ? 3 : 0; text[zero] == '0') text.erase(zero, 1);
  return text;
}

/// Draws a column's name above it, in two lines. A click sorts by the column, a second one undoes that.
void paintHeader(Scene& scene, const State& page, const TablePlan& plan, std::size_t column, bool lit,
                 ScorePlace& pointed) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  const Detector& detector = *attention::allDetectors()[column];
  HeadLabCursor& at = scene.cursor.lab;
  const ImRect cell = plan.cell(0, column);
  const bool chosen = at.detector == detector.name;
  const float high = view.px(plan.upright ? 60 : page.small ? 40 : 48);
  const ImVec2 from(cell.Min.x, cell.Min.y - high), to(cell.Max.x, cell.Min.y);
  ImGui::SetCursorScreenPos(from);
  ImGui::PushID(static_cast<int>(column));
  if (compat::invisibleButton("column", ImVec2(to.x - from.x, to.y - from.y))) {
    const bool ordered = chosen && at.order == HeadOrder::score;
    at.detector = ordered ? "" : std::string(detector.name);
    at.order = ordered ? HeadOrder::number : HeadOrder::score;
  }
  ImGui::PopID();
  trackItem("detect.column." + std::string(detector.name));
  if (ImGui::IsItemHovered()) {
    pointed.detector = &detector;
    tooltip(view, fmt::format("{}\n{}", wholeName(detector), detector.help));
  }
  Canvas list = *ImGui::GetWindowDrawList();
  ImFont* font = chosen ? view.fonts->smallBold : view.fonts->small;
  const std::uint32_t color = chosen || lit ? theme.text : theme.secondary;
  const float middle = (from.x + to.x) / 2, y = to.y - view.px(10), room = plan.wide - view.px(2);
  const auto [above, words] = columnName(detector, view.fonts->smallBold, room, page.small);
  if (chosen && at.order == HeadOrder::score)
    list.AddRectFilled(ImVec2(from.x + view.px(4), to.y - view.px(2)), ImVec2(to.x - view.px(4), to.y),
                       theme.text);
  if (plan.upright) {
    const std::string name = fitted(font, detector.shortName, high - view.px(8));
    paintRotated(list, font, ImVec2(middle, to.y - view.px(6)), 90, color, name, Align::left);
    return;
  }
  paintText(list, font, ImVec2(middle, y - lineHeight(font) * 1.15f), color, fitted(font, above, room),
            Align::center);
  paintText(list, font, ImVec2(middle, y), color, fitted(font, words, room), Align::center);
}

/// Draws a row's head and name: "3 · previous token".
void paintRowName(const Scene& scene, const State& page, const ScoreTable& table, const TablePlan& plan,
                  Index row, float left) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  const Index head = table.rows[static_cast<std::size_t>(plan.first + row)];
  const auto& profile = table.study.profiles[static_cast<std::size_t>(head)];
  const bool chosen = head == scene.cursor.cell.head, lit = head == table.lit.head;
  const ImRect cell = plan.cell(row, 0);
  const float y = cell.GetCenter().y, step = std::max(plan.high, 1.0f);
  ImFont* font = step >= view.px(18) ? view.fonts->text : view.fonts->small;
  ImFont* mono = step >= view.px(18) ? view.fonts->mono : view.fonts->monoSmall;
  Canvas list = *ImGui::GetWindowDrawList();
  if (chosen || lit)
    list.AddRectFilled(ImVec2(left, cell.Min.y), ImVec2(cell.Min.x - view.px(4), cell.Max.y),
                       chosen ? theme.raised : theme.panel);
  if (chosen) list.AddRectFilled(ImVec2(left, cell.Min.y), ImVec2(left + view.px(3), cell.Max.y), theme.text);
  const auto kv = table.study.question.layer->config().kvHeadOf(head);
  list.AddCircleFilled(ImVec2(left + view.px(12), y), view.px(3), groupColor(theme, kv));
  paintText(list, mono, ImVec2(left + view.px(38), y), theme.text, std::to_string(head), Align::right);
  const attention::HeadLabel label = attention::labelHead(profile, scene.look.labelThreshold);
  const float x = left + view.px(48) + (plan.picture > 0 ? plan.picture + view.px(12) : 0);
  paintText(list, font, ImVec2(x, y), label.detector ? theme.text : theme.secondary,
            fitted(font, attention::describe(label), cell.Min.x - x - view.px(8)));
}

/// Draws each head's weights next to its name if rows are high enough.
void paintPictures(const Scene& scene, State& page, const ScoreTable& table, const TablePlan& plan,
                   float left) {
  if (plan.picture <= 0) return;
  View& view = page.view;
  const HeadPictures& pictures = page.layer->sequence().pictures;
  const PictureLevel& level = pictures.levelFor(plan.picture);
  EasedTextures& textures = page.pictures["detect.heads"];
  textures.set(level.weights, view.time, !view.preferences.reducedMotion);
  Look look = scene.look;
  look.quantity = Quantity::weights;
  const auto rows = static_cast<float>(page.layer->sequence().queries.size()),
             cols = static_cast<float>(page.layer->sequence().keys.size());
  std::vector<HeatmapTile> tiles;
  for (Index row = 0; row < plan.shown; ++row) {
    const Index head = table.rows[static_cast<std::size_t>(plan.first + row)];
    const ImVec2 from(std::round(left + view.px(48)),
                      std::round(plan.cell(row, 0).GetCenter().y - plan.picture / 2));
    const HeatTile tile{
        ImRect(from, ImVec2(from.x + plan.picture, from.y + plan.picture)), 0, 0, rows, cols, head, -1};
    tiles.push_back(pictureOf(tile, level.factor, rangeFor(look, pictures, head)));
    tiles.back().view.layer = static_cast<int>(head);
  }
  view.heatmaps->draw(*ImGui::GetWindowDrawList(), textures, styleFor(view, look), std::move(tiles));
}

void paintCell(const Scene& scene, const State& page, const ScoreTable& table, const TablePlan& plan,
               Index row, std::size_t column) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  const Detector& detector = *attention::allDetectors()[column];
  const Index head = table.rows[static_cast<std::size_t>(plan.first + row)];
  const DetectorScore& score = table.study.profiles[static_cast<std::size_t>(head)].scores[column];
  const bool above = scene.cursor.lab.aboveEven && !detector.ofMaps;
  const ImRect cell = plan.cell(row, column);
  const float gap = plan.high >= view.px(18) ? 1 : 0;
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 from(cell.Min.x + 1, cell.Min.y + gap), to(cell.Max.x - 1, cell.Max.y - gap);
  if (score.rows == 0) {
    list.AddRectFilled(from, to, theme.panel);
    if (plan.high >= view.px(14))
      paintText(list, view.fonts->small, cell.GetCenter(), theme.faint, "–", Align::center);
    return;
  }
  const bool signedColors = above || detector.ofMaps;
  const render::Color color = render::sample(signedColors ? scene.look.scoreColormap : scene.look.colormap,
                                             shareOf(detector, score, above));
  list.AddRectFilled(from, to, packed(color));
  const bool roomy = plan.wide >= view.px(52);
  ImFont* font = plan.high >= view.px(52) && roomy   ? view.fonts->monoTitle
                 : plan.high >= view.px(24) && roomy ? view.fonts->mono
                                                     : view.fonts->monoSmall;
  std::string number = numberOf(detector, score, above);
  if (textWidth(font, number) >= plan.wide - 2) number = numberOf(detector, score, above, 1);
  const std::string found =
      detector.name == "stripe" ? fmt::format("key {}", score.at) : fmt::format("k = {}", score.at);
  const bool second =
      detector.titleOf && plan.high >= view.px(36) && textWidth(view.fonts->small, found) <= plan.wide - 2;
  if (plan.high >= view.px(13) && textWidth(font, number) < plan.wide - 2)
    paintText(list, font, ImVec2(cell.GetCenter().x, cell.GetCenter().y - (second ? view.px(6) : 0)),
              inkOn(color), number, Align::center);
  if (second)
    paintText(list, view.fonts->small, ImVec2(cell.GetCenter().x, cell.GetCenter().y + view.px(10)),
              inkOn(color), found, Align::center);
}

/// Highlights the hovered row or cell; a click selects the head, and the detector if one is hovered.
void pointAt(Scene& scene, const State& page, const ScoreTable& table, const TablePlan& plan, float left,
             ScorePlace& pointed) {
  const View& view = page.view;
  const auto all = attention::allDetectors();
  for (Index row = 0; row < plan.shown; ++row) {
    const Index head = table.rows[static_cast<std::size_t>(plan.first + row)];
    const ImRect cell = plan.cell(row, 0);
    const bool clicked = hitArea(fmt::format("detect.head.{}", head), ImVec2(left, cell.Min.y),
                                 ImVec2(plan.cells.Max.x - left, plan.high));
    for (std::size_t column = 0; column < all.size(); ++column) {
      const ImRect one = plan.cell(row, column);
      track(fmt::format("detect.{}.{}", head, all[column]->name), one.Min, one.Max);
    }
    if (!ImGui::IsItemHovered()) continue;
    pointed.head = head;
    const float x = ImGui::GetIO().MousePos.x - plan.cells.Min.x;
    const auto column = static_cast<std::size_t>(std::max(x, 0.0f) / plan.wide);
    if (x >= 0 && column < all.size()) pointed.detector = all[column];
    if (!clicked) continue;
    scene.cursor.cell.head = head;
    if (x >= 0 && column < all.size()) scene.cursor.lab.detector = std::string(all[column]->name);
  }
  if (table.lit.head < 0 || !table.lit.detector) return;
  const auto row = std::ranges::find(table.rows, table.lit.head) - table.rows.begin() - plan.first;
  const auto column = std::ranges::find(all, table.lit.detector) - all.begin();
  if (row < 0 || row >= plan.shown) return;
  const ImRect cell = plan.cell(row, static_cast<std::size_t>(column));
  Canvas list = *ImGui::GetWindowDrawList();
  compat::rectOutline(list, ImVec2(cell.Min.x - 1, cell.Min.y - 1), ImVec2(cell.Max.x + 1, cell.Max.y + 1),
                      view.theme->background, 0, 3);
  compat::rectOutline(list, cell.Min, cell.Max, view.theme->text, 0, std::max(1.5f, view.px(2)));
}

}  // namespace

void paintScores(Scene& scene, State& page, const ImRect& area, const ScoreTable& table,
                 ScorePlace& pointed) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const TablePlan plan = planOf(page, area, table, scene.cursor.cell.head);
  const auto all = attention::allDetectors();
  paintText(list, view.fonts->small, ImVec2(area.Min.x + view.px(20), plan.cells.Min.y - view.px(10)),
            theme.faint, "head and behaviour");
  for (std::size_t column = 0; column < all.size(); ++column)
    paintHeader(scene, page, plan, column, table.lit.detector == all[column], pointed);
  if (table.rows.empty()) {
    paintText(
        list, view.fonts->text, ImVec2(area.Min.x + view.px(20), plan.cells.Min.y + view.px(24)),
        theme.secondary,
        fmt::format("No head scores {} above even attention here.", fixedText(scene.look.labelThreshold, 2)));
    return;
  }
  for (Index row = 0; row < plan.shown; ++row) {
    paintRowName(scene, page, table, plan, row, area.Min.x);
    for (std::size_t column = 0; column < all.size(); ++column)
      paintCell(scene, page, table, plan, row, column);
  }
  paintPictures(scene, page, table, plan, area.Min.x);
  pointAt(scene, page, table, plan, area.Min.x, pointed);
  const auto hidden = std::ssize(table.rows) - plan.shown;
  const std::string below =
      hidden > 0 ? fmt::format("heads {}–{} of {}; PgUp and PgDn for more", plan.first + 1,
                               plan.first + plan.shown, table.rows.size())
                 : std::string("Point at a score to see its cells. Click a column to sort by it.");
  paintText(list, view.fonts->small, ImVec2(area.Min.x + view.px(20), plan.cells.Max.y + view.px(14)),
            theme.secondary, fitted(view.fonts->small, below, area.GetWidth() - view.px(20)));
}

void paintSimilarity(Scene& scene, const State& page, const ImRect& area, const DetectorStudy& study,
                     ScorePlace& pointed) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const auto heads = std::ssize(study.order);
  if (heads == 0) return;
  const bool cosine = study.question.likeness == Similarity::cosine;
  std::string title = std::string(page.presents ? "Similarity: " : "Similarity of two heads: ") +
                      (cosine ? "cosine" : "1 − Jensen–Shannon");
  if (study.comparedRows < study.question.layer->sequence().queryLength)
    title += fmt::format(", over {}", countedText(study.comparedRows, "row"));
  if (!page.presents) title += "; similar heads adjacent";
  paintText(list, view.fonts->small, ImVec2(area.Min.x, area.Min.y + view.px(6)), theme.secondary,
            fitted(view.fonts->small, title, area.GetWidth()));
  const float top = area.Min.y + view.px(18), labels = view.px(26);
  const float size = std::floor(std::min(area.Max.y - view.px(14) - top, area.GetWidth() - labels) /
                                static_cast<float>(heads));
  if (size < 2) return;
  const ImVec2 from(area.Min.x + labels, top);
  const float bar = view.px(90), barEnd = from.x + size * static_cast<float>(heads) + view.px(16) + bar;
  if (barEnd <= area.Max.x)
    paintColourBar(view, scene.look.colormap, {"0", "", "1"}, ImVec2(barEnd, top + view.px(16)), bar);
  const auto every = static_cast<Index>(std::ceil(lineHeight(view.fonts->monoSmall) / std::max(size, 1.0f)));
  const auto litAt = std::find(study.order.begin(), study.order.end(), scene.cursor.cell.head);
  const Index litRow = litAt == study.order.end() ? -1 : litAt - study.order.begin();
  for (Index i = 0; i < heads; ++i) {
    const Index a = study.order[static_cast<std::size_t>(i)];
    const float y = from.y + size * static_cast<float>(i);
    const bool lit = a == scene.cursor.cell.head;
    const bool besideLit = litRow >= 0 && std::abs(i - litRow) < every;
    if (lit || (i % every == 0 && !besideLit)) {
      const std::uint32_t color = lit ? theme.text : theme.secondary;
      paintText(list, view.fonts->monoSmall, ImVec2(from.x - view.px(6), y + size / 2), color,
                std::to_string(a), Align::right);
      paintText(list, view.fonts->monoSmall,
                ImVec2(from.x + size * (static_cast<float>(i) + 0.5f),
                       from.y + size * static_cast<float>(heads) + view.px(8)),
                color, std::to_string(a), Align::center);
    }
    for (Index j = 0; j < heads; ++j) {
      const float x = from.x + size * static_cast<float>(j);
      const Index b = study.order[static_cast<std::size_t>(j)];
      list.AddRectFilled(ImVec2(x, y), ImVec2(x + size - (size > 6 ? 1 : 0), y + size - (size > 6 ? 1 : 0)),
                         packed(render::sample(scene.look.colormap, study.likeness(a, b))));
    }
  }
  const float side = size * static_cast<float>(heads);
  const bool clicked = hitArea("detect.likeness_map", from, ImVec2(side, side));
  if (!ImGui::IsItemHovered()) return;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const auto place = [&](float at) {
    return study
        .order[static_cast<std::size_t>(std::clamp<Index>(static_cast<Index>(at / size), 0, heads - 1))];
  };
  const Index a = place(mouse.y - from.y), b = place(mouse.x - from.x);
  tooltip(view, a == b ? fmt::format("head {}", a)
                       : fmt::format("heads {} and {}: {}", a, b, fixedText(study.likeness(a, b), 2)));
  pointed.head = a;
  if (!clicked) return;
  scene.cursor.cell.head = a;
  scene.cursor.lab.order = HeadOrder::likeness;
}

}  // namespace headscope::app::head_lab_page
