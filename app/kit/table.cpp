#include "app/kit/table.h"

#include <fmt/core.h>

#include <cmath>

#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

constexpr float kNote = 22;  ///< height of the line below the rows, in layout units

/// A title in two lines, broken at its first space.
std::pair<std::string_view, std::string_view> inTwo(std::string_view title) {
  const auto space = title.find(' ');
  if (space == title.npos) return {"", title};
  return {title.substr(0, space), title.substr(space + 1)};
}

}  // namespace

TableView::TableView(View& view, const ImRect& area, TableSpec spec)
    : view_(view), area_(area), spec_(std::move(spec)) {
  const bool titles =
      std::ranges::any_of(spec_.columns, [](const auto& each) { return !each.title.empty(); });
  const float header = !titles ? 0 : tall() ? view.px(view.present ? 64 : 52) : view.px(kNote);
  place(header);
  for (std::size_t i = 0; i < spec_.columns.size(); ++i) title(i, header);
  if (spec_.rows == 0 && !spec_.none.empty())
    paintText(*ImGui::GetWindowDrawList(), view.fonts->text,
              ImVec2(area.Min.x + view.px(20), top_ + view.px(24)), view.theme->secondary, spec_.none);
}

bool TableView::tall() const {
  return std::ranges::any_of(spec_.columns, [](const TableColumn& each) { return !each.key.empty(); });
}

/// Decides which rows are shown, and how high rows and how wide columns are.
void TableView::place(float header) {
  top_ = area_.Min.y + header;
  const float room = area_.Max.y - top_ - (spec_.note ? view_.px(kNote) : 0);
  const Index fit = std::max<Index>(static_cast<Index>(room / view_.px(spec_.least)), 1);
  const Index all = std::min(spec_.rows, fit), rest = spec_.rows - spec_.pinned;
  high_ = std::floor(std::min(room / static_cast<float>(std::max<Index>(all, 1)), view_.px(spec_.most)));
  shown_ = std::clamp<Index>(all - spec_.pinned, 0, std::max<Index>(rest, 0));
  first_ = std::clamp<Index>(spec_.inSight - spec_.pinned - shown_ / 2, 0, std::max<Index>(rest - shown_, 0));
  spec_.pinned = std::min(spec_.pinned, all);
  if (high_ < 1) spec_.pinned = shown_ = 0;  // no space
  float taken = 0, shares = 0;
  std::vector<float> widths;
  for (const TableColumn& each : spec_.columns) {
    const float least = view_.px(each.width), most = view_.px(std::max(each.width, each.most));
    widths.push_back(std::clamp(area_.GetWidth() * 0.172f, least, most));
    // High rows have space for a picture next to a name that isn't cut by it.
    if (each.most > 0 && high_ >= view_.px(52) && widths.back() >= view_.px(each.most) * 0.9f) {
      picture_ = high_ - view_.px(8);
      widths.back() += picture_ * 0.75f;
    }
    taken += widths.back();
    shares += each.width == 0 ? 1 : 0;
  }
  if (taken > area_.GetWidth())
    for (float& width : widths) width *= area_.GetWidth() / taken;
  const float share = std::floor(std::max(area_.GetWidth() - taken, 0.0f) / std::max(shares, 1.0f));
  edges_ = {area_.Min.x};
  for (const float width : widths) edges_.push_back(edges_.back() + (width > 0 ? width : share));
}

/// Draws a column's title. One with a key is a button.
void TableView::title(std::size_t column, float high) {
  const TableColumn& shown = spec_.columns[column];
  if (shown.title.empty()) return;
  const Theme& theme = *view_.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 from(edges_[column], top_ - high + view_.px(tall() ? 4 : 0)), to(edges_[column + 1], top_);
  const float y = to.y - view_.px(10);
  if (shown.key.empty()) {
    const bool first = column == 0;
    paintText(list, view_.fonts->small, ImVec2(first ? from.x + view_.px(20) : to.x, y),
              first ? theme.faint : theme.secondary, shown.title, first ? Align::left : Align::right);
    return;
  }
  const bool clicked = hitArea(fmt::format("{}.column.{}", spec_.name, shown.key), ImRect(from, to));
  if (ImGui::IsItemHovered()) {
    hovered_ = {-1, static_cast<Index>(column) - 1};
    clicked_ = clicked;
    tooltip(view_, fmt::format("{}\n{}", shown.title, shown.help));
  }
  if (shown.sorts)
    list.AddRectFilled(ImVec2(from.x + view_.px(4), to.y - view_.px(2)), ImVec2(to.x - view_.px(4), to.y),
                       theme.text);
  ImFont* const font = shown.chosen ? view_.fonts->smallBold : view_.fonts->small;
  const std::uint32_t color = shown.chosen || shown.lit ? theme.text : theme.secondary;
  const float middle = (from.x + to.x) / 2, room = to.x - from.x - view_.px(2);
  if (view_.present)  // large type doesn't fit horizontally
    return paintRotated(list, font, ImVec2(middle, to.y - view_.px(6)), 90, color,
                        fitted(font, shown.shortTitle, to.y - from.y - view_.px(8)), Align::left);
  const auto fits = [&](std::string_view words) { return textWidth(view_.fonts->smallBold, words) <= room; };
  auto lines = inTwo(shown.title);
  if (!fits(lines.first) || !fits(lines.second)) lines = inTwo(shown.shortTitle);
  paintText(list, font, ImVec2(middle, y - lineHeight(font) * 1.15f), color, fitted(font, lines.first, room),
            Align::center);
  paintText(list, font, ImVec2(middle, y), color, fitted(font, lines.second, room), Align::center);
}

/// The place of a row among those shown; −1 = it isn't.
float TableView::lineOf(Index row) const {
  if (row >= 0 && row < std::min(spec_.pinned, spec_.rows)) return static_cast<float>(row);
  const Index after = row - spec_.pinned - first_;
  return row >= spec_.pinned && after >= 0 && after < shown_ ? static_cast<float>(spec_.pinned + after) : -1;
}

ImRect TableView::cellAt(Index row, std::size_t column) const {
  const float y = top_ + high_ * lineOf(row);
  return {edges_[column], y, edges_[column + 1], y + high_};
}

ImRect TableView::nextCell() {
  const std::size_t column = std::min(cell_++, spec_.columns.size() - 1);
  const ImRect cell = cellAt(row_, column);
  if (const std::string& key = spec_.columns[column].key; !key.empty())
    track(fmt::format("{}.{}.{}", spec_.name, look_.key, key), cell.Min, cell.Max);
  return cell;
}

ImRect TableView::filled(std::uint32_t color) {
  const ImRect cell = nextCell();
  const float gap = high_ >= view_.px(18) ? 1 : 0;
  Canvas(*ImGui::GetWindowDrawList())
      .AddRectFilled(ImVec2(cell.Min.x + 1, cell.Min.y + gap), ImVec2(cell.Max.x - 1, cell.Max.y - gap),
                     color);
  return cell;
}

std::uint32_t TableView::ink(std::uint32_t color) const {
  return color ? color : look_.chosen || look_.lit ? view_.theme->text : view_.theme->secondary;
}

bool TableView::row(Index row, const std::string& name, const RowLook& look) {
  if (lineOf(row) < 0) return false;
  row_ = row;
  cell_ = 0;
  look_ = look;
  const ImRect names = cellAt(row, 0), whole(names.Min, ImVec2(edges_.back(), names.Max.y));
  if (look.key.empty()) {
    if (!name.empty()) track(name, whole.Min, whole.Max);
    return true;
  }
  const bool clicked = hitArea(name, whole);
  if (ImGui::IsItemHovered()) {
    const float x = ImGui::GetIO().MousePos.x;
    hovered_ = {row, std::ranges::upper_bound(edges_, x) - edges_.begin() - 2};
    clicked_ = clicked;
  }
  if (!look.chosen && !look.lit) return true;
  Canvas list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(names.Min, ImVec2(names.Max.x - view_.px(4), names.Max.y),
                     look.chosen ? view_.theme->raised : view_.theme->panel);
  if (look.chosen)
    list.AddRectFilled(names.Min, ImVec2(names.Min.x + view_.px(3), names.Max.y), view_.theme->text);
  return true;
}

ImRect TableView::head(std::uint32_t color, Index head, const std::string& words, bool secondary) {
  const ImRect cell = nextCell();
  const Theme& theme = *view_.theme;
  const Fonts& fonts = *view_.fonts;
  Canvas list = *ImGui::GetWindowDrawList();
  const bool large = high_ >= view_.px(18);
  const float y = cell.GetCenter().y, left = cell.Min.x;
  list.AddCircleFilled(ImVec2(left + view_.px(12), y), view_.px(3), color);
  paintText(list, large ? fonts.mono : fonts.monoSmall, ImVec2(left + view_.px(38), y), theme.text,
            std::to_string(head), Align::right);
  ImFont* const font = large ? fonts.text : fonts.small;
  const float from = left + view_.px(48), x = from + (picture_ > 0 ? picture_ + view_.px(12) : 0);
  paintText(list, font, ImVec2(x, y), secondary ? theme.secondary : theme.text,
            fitted(font, words, cell.Max.x - x - view_.px(8)));
  const ImVec2 corner(std::round(from), std::round(y - picture_ / 2));
  return {corner, ImVec2(corner.x + picture_, corner.y + picture_)};
}

void TableView::text(const std::string& words, std::uint32_t color) {
  const ImRect cell = nextCell();
  paintFitted(view_, *ImGui::GetWindowDrawList(), view_.fonts->text, ImVec2(cell.Min.x, cell.GetCenter().y),
              cell.GetWidth() - view_.px(8), ink(color), words);
}

void TableView::figure(const std::string& words, std::uint32_t color) {
  const ImRect cell = nextCell();
  paintText(*ImGui::GetWindowDrawList(), view_.fonts->mono, ImVec2(cell.Max.x, cell.GetCenter().y),
            ink(color), fitted(view_.fonts->mono, words, cell.GetWidth()), Align::right);
}

void TableView::bar(float share, std::uint32_t color, float compared) {
  const ImRect cell = nextCell();
  const float left = cell.Min.x + view_.px(10), room = cell.Max.x - view_.px(10) - left;
  if (room < view_.px(20)) return;
  const float y = cell.GetCenter().y, half = std::min(view_.px(7), high_ * 0.28f);
  const auto to = [&](float part) {
    return ImVec2(left + std::max(room * std::min(part, 1.0f), 1.0f), y + half);
  };
  Canvas list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(ImVec2(left, y - half), to(share), color);
  if (compared > 0)
    compat::rectOutline(list, ImVec2(left, y - half), to(compared), view_.theme->secondary, 0, 1);
}

void TableView::value(const render::Color& color, const std::vector<std::string>& numbers,
                      const std::string& below) {
  const ImRect cell = filled(packed(color));
  const Fonts& fonts = *view_.fonts;
  Canvas list = *ImGui::GetWindowDrawList();
  const bool roomy = cell.GetWidth() >= view_.px(52);
  ImFont* const font = high_ >= view_.px(52) && roomy   ? fonts.monoTitle
                       : high_ >= view_.px(24) && roomy ? fonts.mono
                                                        : fonts.monoSmall;
  const float wide = cell.GetWidth() - 2, y = cell.GetCenter().y;
  const std::string number = firstFitting(font, numbers, wide);
  const bool second = !below.empty() && high_ >= view_.px(36) && textWidth(fonts.small, below) <= wide;
  if (high_ >= view_.px(13) && textWidth(font, number) < wide)
    paintText(list, font, ImVec2(cell.GetCenter().x, y - (second ? view_.px(6) : 0)), inkOn(color), number,
              Align::center);
  if (second)
    paintText(list, fonts.small, ImVec2(cell.GetCenter().x, y + view_.px(10)), inkOn(color), below,
              Align::center);
}

void TableView::empty() {
  const ImRect cell = filled(view_.theme->panel);
  if (high_ >= view_.px(14))
    paintText(*ImGui::GetWindowDrawList(), view_.fonts->small, cell.GetCenter(), view_.theme->faint, "–",
              Align::center);
}

void TableView::mark(TableCell place) {
  if (lineOf(place.row) < 0 || place.column < 0) return;
  const ImRect cell = cellAt(place.row, static_cast<std::size_t>(place.column + 1));
  Canvas list = *ImGui::GetWindowDrawList();
  compat::rectOutline(list, ImVec2(cell.Min.x - 1, cell.Min.y - 1), ImVec2(cell.Max.x + 1, cell.Max.y + 1),
                      view_.theme->background, 0, 3);
  compat::rectOutline(list, cell.Min, cell.Max, view_.theme->text, 0, std::max(1.5f, view_.px(2)));
}

ImRect TableView::note(const std::string& rows, const std::string& text) {
  if (spec_.rows == 0) return {};
  const bool whole = shown_ + spec_.pinned >= spec_.rows;
  const float y = top_ + high_ * static_cast<float>(shown_ + spec_.pinned) + view_.px(14);
  ImFont* const font = view_.fonts->small;
  const float left = area_.Min.x + view_.px(20);
  const std::string words =
      whole ? (view_.present ? "" : text)  // what the pointer does
            : fmt::format("{} {}–{} of {}; PgUp and PgDn for more", rows, spec_.pinned + first_ + 1,
                          spec_.pinned + first_ + shown_, spec_.rows);
  const float wide = paintText(*ImGui::GetWindowDrawList(), font, ImVec2(left, y), view_.theme->secondary,
                               fitted(font, words, area_.Max.x - left));
  const float from = left + wide + view_.px(20);
  return {from, y - view_.px(8), std::max(edges_.back(), from), y + view_.px(8)};
}

}  // namespace headscope::app
