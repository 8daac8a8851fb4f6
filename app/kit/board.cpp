#include "app/kit/board.h"

#include <cmath>

#include "app/platform/track.h"
#include "app/platform/ui_state.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/draw_text.h"
#include "app/widgets/text/rich_text.h"

namespace headscope::app {

namespace {

constexpr float kRoomyHeight = 820, kRoomyWidth = 860;  ///< layout units from which type and spaces are large

Canvas canvas() {
  return *ImGui::GetWindowDrawList();
}

/// Shows `help` while the area is hovered.
void helpAt(const View& view, const ImRect& area, const std::string& help) {
  if (!help.empty() && ImGui::IsWindowHovered() && area.Contains(ImGui::GetIO().MousePos))
    tooltipBeside(view, help, area);
}

/// Paints the parts that are left, in the order in which they were added.
void paintParts(const View& view, std::vector<BoardPart>& parts) {
  for (BoardPart& part : parts) {
    if (!part.shown) continue;
    const ImRect area(part.left, std::round(part.top), part.right, std::round(part.bottom));
    if (part.bottom > part.top && !ImGui::IsRectVisible(area.Min, area.Max)) continue;  // scrolled away
    if (!part.name.empty()) track(part.name, area.Min, area.Max);
    if (part.picture) notePicture(area);
    if (part.paint) part.paint(area);
    for (auto& column : part.columns) paintParts(view, column);
  }
}

}  // namespace

Board::Board(View& view, const ImRect& area, std::string_view named)
    : view_(&view),
      area_(area),
      left_(area.Min.x),
      right_(area.Max.x),
      named_(named),
      roomy_((!view.present || view.figure) && area.GetHeight() >= view.px(kRoomyHeight) &&
             area.GetWidth() >= view.px(kRoomyWidth)),
      poster_(view.present) {}

Board::Board(const Board& parent, float left, float right)
    : view_(parent.view_),
      area_(parent.area_),
      left_(left),
      right_(right),
      named_(parent.named_),
      roomy_(parent.roomy_),
      poster_(parent.poster_) {}

Board& Board::add(const std::string& name, PartHeight units, bool picture,
                  std::function<void(const ImRect&)> paint) {
  BoardPart part;
  part.name = name;
  part.height = {px(units.least), px(std::max(units.least, units.want)), units.grows,
                 units.most < FLT_MAX ? px(units.most) : FLT_MAX};
  part.before = px(roomy_ ? 14 : 8);
  part.picture = picture;
  part.left = left_;
  part.right = right_;
  part.paint = std::move(paint);
  parts_.push_back(std::move(part));
  return *this;
}

Board& Board::leaves(int order) {
  parts_.back().leaves = order;
  return *this;
}

Board& Board::atEnd(float units, std::function<void(const ImRect&)> paint) {
  auto& all = parts_.back().paint;
  all = [this, units, start = std::move(all), end = std::move(paint)](const ImRect& area) {
    if (area.GetWidth() < px(2 * units)) return start(area);
    const float split = area.Max.x - px(units);
    start(ImRect(area.Min, ImVec2(split - px(16), area.Max.y)));
    end(ImRect(ImVec2(split, area.Min.y), area.Max));
  };
  return *this;
}

Board& Board::inWindow() {
  parts_.back().shown = !poster_;
  return *this;
}

Board& Board::onPoster() {
  parts_.back().shown = poster_;
  return *this;
}

Board& Board::apart(float units) {
  parts_.back().before = px(units);
  return *this;
}

Board& Board::headline(const Headline& what) {
  const bool roomy = roomy_;
  return add("", {roomy ? 76.0f : 58.0f}, false, [this, what, roomy](const ImRect& area) {
    notePicture(area);
    const float y = area.GetCenter().y;
    const float width = paintText(canvas(), roomy ? view_->fonts->display : view_->fonts->displaySmall,
                                  ImVec2(area.Min.x, y), what.color ? what.color : theme().text, what.figure);
    const ImRect figure(area.Min, ImVec2(area.Min.x + width, area.Max.y));
    track(what.name, figure.Min, figure.Max);
    helpAt(*view_, figure, what.help);
    const float x = figure.Max.x + px(roomy ? 30 : 22), room = area.Max.x - x;
    const auto line = [&](ImFont* font, float by, std::uint32_t color,
                          const std::vector<std::string>& wordings) {
      if (!wordings.empty())
        paintFitted(*view_, canvas(), font, ImVec2(x, y + px(by)), room, color,
                    firstFitting(font, wordings, room));
    };
    line(view_->fonts->hero, roomy ? -14 : -11, theme().text, what.sentence);
    line(view_->fonts->text, roomy ? 15 : 12, theme().secondary, what.rest);
  });
}

float Board::figureWidth(const std::string& figure) const {
  return textWidth(roomy_ ? view_->fonts->display : view_->fonts->displaySmall, figure) / view_->unit + 1;
}

Board& Board::largeFigure(const Headline& what) {
  const float width = right_ - left_, figure = px(roomy_ ? 70 : 46);
  ImFont* font = roomy_ ? view_->fonts->display : view_->fonts->displaySmall;
  if (textWidth(font, what.figure) > width) font = view_->fonts->hero;
  const TextLines lines = linesOf(view_->fonts->text, what.sentence.front(), width);
  const float units = (figure + lines.size.y) / view_->unit;
  return add(what.name, {units}, false, [this, what, font, lines, figure, width](const ImRect& area) {
    notePicture(area);
    paintFitted(*view_, canvas(), font, ImVec2(area.Min.x, area.Min.y + figure / 2), width,
                what.color ? what.color : theme().text, what.figure);
    paintLines(canvas(), view_->fonts->text, ImVec2(area.Min.x, area.Min.y + figure), theme().secondary,
               lines, what.sentence.front());
    helpAt(*view_, area, what.help);
  });
}

Board& Board::title(const std::string& text, const std::vector<std::string>& after, const LineLook& look) {
  const float high = roomy_ ? 30 : 26;
  return add(look.name, {high}, false, [this, text, after, look](const ImRect& area) {
    const float y = area.GetCenter().y;
    ImFont* font = roomy_ ? view_->fonts->title : view_->fonts->bold;
    paintFitted(*view_, canvas(), font, ImVec2(area.Min.x, y), area.GetWidth(),
                look.color ? look.color : theme().text, text);
    const float x = area.Min.x + textWidth(font, text) + px(12), room = area.Max.x - x;
    if (!after.empty() && room > px(40))
      paintFitted(*view_, canvas(), view_->fonts->text, ImVec2(x, y), room, theme().secondary,
                  firstFitting(view_->fonts->text, after, room));
    helpAt(*view_, area, look.help);
  });
}

Board& Board::words(const std::vector<std::string>& wordings, const LineLook& look) {
  return add(look.name, {roomy_ ? 24.0f : 20.0f}, false, [this, wordings, look](const ImRect& area) {
    paintFitted(*view_, canvas(), view_->fonts->text, ImVec2(area.Min.x, area.GetCenter().y), area.GetWidth(),
                look.color ? look.color : theme().secondary,
                firstFitting(view_->fonts->text, wordings, area.GetWidth()));
    helpAt(*view_, area, look.help);
  });
}

Board& Board::paragraph(ImFont* font, const std::string& text, const LineLook& look) {
  const TextLines lines = linesOf(font, text, right_ - left_);
  return add(look.name, {lines.size.y / view_->unit}, false,
             [this, font, text, lines, look](const ImRect& area) {
               paintLines(canvas(), font, area.Min, look.color ? look.color : theme().secondary, lines, text);
               helpAt(*view_, area, look.help);
             });
}

Board& Board::figure(const std::vector<std::string>& label, const std::string& value, bool bold,
                     const std::string& note) {
  return add("", {roomy_ ? 27.0f : 22.0f}, false,
             [this, label, value, bold, note](const ImRect& area) {
               const float y = area.GetCenter().y;
               float taken = paintText(canvas(), view_->fonts->text, ImVec2(area.Max.x, y), theme().text,
                                       note, Align::right);
               if (taken > 0) taken += px(10);
               taken += paintText(canvas(), bold ? view_->fonts->bold : view_->fonts->mono,
                                  ImVec2(area.Max.x - taken, y), theme().text, value, Align::right);
               const float room = area.GetWidth() - taken - px(6);
               paintFitted(*view_, canvas(), view_->fonts->text, ImVec2(area.Min.x, y), room,
                           theme().secondary, firstFitting(view_->fonts->text, label, room));
             })
      .apart(0);
}

Board& Board::number(const std::string& value, const std::vector<std::string>& words) {
  return add("", {28}, false,
             [this, value, words](const ImRect& area) {
               const float y = area.GetCenter().y;
               const float x =
                   area.Min.x + px(12) +
                   paintText(canvas(), view_->fonts->monoTitle, ImVec2(area.Min.x, y), theme().text, value);
               const auto fits = [&](const std::string& wording) {
                 return scriptedWidth(*view_, view_->fonts->text, wording) <= area.Max.x - x;
               };
               const auto found = std::find_if(words.begin(), words.end(), fits);
               paintScripted(*view_, canvas(), view_->fonts->text, ImVec2(x, y), theme().secondary,
                             found == words.end() ? words.back() : *found, Align::left, area.Max.x - x);
             })
      .apart(0);
}

Board& Board::picture(const std::string& name, PartHeight height, std::function<void(const ImRect&)> paint) {
  return add(name, height, true, std::move(paint));
}

Board& Board::legend(const FigureLegend& what) {
  return add("", {20}, false, [this, what](const ImRect& area) {
    paintLegendLine(*view_, canvas(), ImVec2(area.Max.x, area.GetCenter().y), area.GetWidth(), what);
  });
}

Board& Board::area(const std::string& name, PartHeight height, std::function<void(const ImRect&)> paint) {
  return add(name, height, false, std::move(paint));
}

Board& Board::message(const std::string& title, const std::string& text, std::uint32_t color) {
  return picture("", {90, 90, 1}, [this, title, text, color](const ImRect& area) {
    paintMessage(*view_, area, title, text, color ? color : theme().text);
  });
}

Board& Board::controls(std::function<void(ControlLine&)> line, float gap) {
  return add("", {28}, false,
             [this, line = std::move(line), gap](const ImRect& area) {
               ControlLine controls(*view_, area, ControlLine::From::left, gap);
               line(controls);
             })
      .inWindow();
}

Board& Board::columns(std::span<const PartWidth> widths, float gap, const Column& column) {
  const float gaps = px(gap) * static_cast<float>(widths.size() - 1);
  float least = gaps, shares = 0;
  for (const PartWidth& width : widths) {
    least += px(width.least);
    shares += width.share;
  }
  const float room = right_ - left_;
  add("", {}, false, {});
  std::vector<std::vector<BoardPart>> all;
  const auto place = [&](float from, float to, std::size_t first, std::size_t last) {
    columns_.emplace_back(new Board(*this, from, to));
    for (std::size_t i = first; i < last; ++i) column(i, *columns_.back());
    all.push_back(std::move(columns_.back()->parts_));
  };
  float x = left_;
  if (least > room) place(left_, right_, 0, widths.size());
  for (std::size_t i = 0; least <= room && i < widths.size(); ++i) {
    const float wide = px(widths[i].least) + (shares > 0 ? (room - least) * widths[i].share / shares : 0);
    place(x, x + wide, i, i + 1);
    x += wide + px(gap);
  }
  parts_.back().columns = std::move(all);
  return *this;
}

Board& Board::tiles(std::size_t count, float gap, const Column& column) {
  const std::vector<PartWidth> equal(count);
  columns(equal, gap, column);
  const auto& columns = parts_.back().columns;
  parts_.back().aligned = !columns.empty() && std::ranges::all_of(columns, [&](const auto& one) {
    return one.size() == columns.front().size();
  });
  return *this;
}

Board& Board::oneOf(const std::string& name, std::span<const char* const> tabs,
                    std::span<const std::string_view> names, int& shown, float gap, PartHeight height,
                    std::function<void(int, const ImRect&, float)> paint) {
  const auto wanted = std::find(names.begin(), names.end(), named_);
  const int only = poster_ && wanted != names.end() ? static_cast<int>(wanted - names.begin()) : shown;
  if (roomy_)
    return tiles(tabs.size(), gap, [&](std::size_t i, Board& tile) {
      tile.picture(std::string(names[i]), height,
                   [paint, i](const ImRect& area) { paint(static_cast<int>(i), area, 0); });
    });
  const float taken = poster_ ? 0 : px(300);
  return picture(poster_ ? std::string(names[static_cast<std::size_t>(only)]) : "", height,
                 [this, name, tabs, &shown, only, taken, paint = std::move(paint)](const ImRect& area) {
                   if (taken > 0) {
                     std::vector<Choice> choices;
                     for (const char* tab : tabs) choices.push_back({tab, "", ""});
                     const ImRect line(area.Max.x - taken, area.Min.y - px(4), area.Max.x,
                                       area.Min.y + px(28));
                     controlsIn(name.c_str(), line, [&] { segmented(*view_, name, choices, shown); });
                   }
                   paint(only, area, taken > 0 ? taken + px(16) : 0);
                 });
}

void Board::show() {
  const float top = area_.Min.y - (poster_ ? 0 : ImGui::GetScrollY());
  const float needed = layBoard(parts_, top, area_.GetHeight(), {poster_, named_});
  if (!poster_ && needed > area_.GetHeight()) {
    ImGui::SetCursorScreenPos(ImVec2(area_.Min.x, top + needed + px(8) - 1));
    ImGui::Dummy(ImVec2(1, 1));
  }
  paintParts(*view_, parts_);
}

}  // namespace headscope::app
