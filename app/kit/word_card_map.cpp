// The map of a word's card: all words on a plane, on which the word is dragged.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/kit/plane_view.h"
#include "app/kit/word_card.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

using Kind = WordCardState::Drag::Kind;

constexpr float kCatches = 12;          // layout units from a line or a word
constexpr std::size_t kMostNames = 48;  // words whose names are tried

/// Where a vector stands on the plane.
Eigen::RowVector2f placeOn(const attention::Plane& plane, const Eigen::RowVectorXf& vector) {
  const attention::Matrix row = vector;
  return Eigen::RowVector2f(attention::onPlane(plane, row));
}

/// A word's point is dragged, and other words' points are chosen.
void dragDot(View& view, WordCardState& state, const WordCardSubject& subject, const PlaneView& plane,
             const attention::Matrix& points, WordCardEdit& edit) {
  hitArea("word.map", plane.area);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  WordCardState::Drag& drag = state.drag;
  Index under = pointUnder(plane, points, mouse, view.px(12));
  // Of words in one place, the card's own is meant.
  if (under >= 0 && points.row(under) == points.row(subject.word)) under = subject.word;
  if (ImGui::IsItemHovered() && under >= 0 && drag.kind != Kind::dot) {
    edit.hovered = under;
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  }
  if (ImGui::IsItemActivated() && under >= 0) {
    if (under != subject.word) {
      if (under < subject.study.queries) edit.chosen = under;
    } else if (!subject.fixed()) {
      drag = {};
      drag.kind = Kind::dot;
      drag.from = mouse;
      drag.vector = subject.now();
      drag.place = points.row(subject.word);
    }
  }
  if (drag.kind != Kind::dot) return;
  if (!ImGui::IsItemActive() || drag.vector.size() != subject.values.cols()) {
    drag.kind = Kind::none;
    return;
  }
  drag.moved = drag.moved || std::hypot(mouse.x - drag.from.x, mouse.y - drag.from.y) >= view.px(2);
  if (!drag.moved) return;
  const Eigen::RowVector2f by((mouse.x - drag.from.x) / plane.perUnit,
                              (drag.from.y - mouse.y) / plane.perUnit);
  edit.vector = moveOnMap(*subject.study.plane, points, {subject.values, subject.before, subject.word},
                          drag.vector, drag.place + by, view.px(kCatches) / plane.perUnit)
                    .vector;
  edit.drag = "word.map";
}

/// Draws where the word was, and the line to the word that it is mixed with.
void paintBefore(const View& view, const WordCardState& state, const WordCardSubject& subject,
                 const PlaneView& plane, const attention::Matrix& points, PointNames& names) {
  if (!subject.changed()) return;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const Eigen::RowVector2f was = placeOn(*subject.study.plane, subject.before);
  const ImVec2 from = plane.pixel(was[0], was[1]),
               now = plane.pixel(points(subject.word, 0), points(subject.word, 1));
  const std::vector<MixTerm>& mix = state.derived.mix;
  const Index other = mix.empty() ? -1 : mix.back().word;
  const float thick = std::max(1.0f, view.px(1.5f));
  if (other >= 0 && other != subject.word) {
    const ImVec2 to = plane.pixel(points(other, 0), points(other, 1));
    list.AddLine(from, to, theme.line, thick);
    names.keepOff(from, to);
  }
  list.AddLine(from, now, theme.query, thick);
  list.AddCircleFilled(from, view.px(5), theme.background, 20);
  list.AddCircle(from, view.px(5), theme.secondary, 20, thick);
  names.keepClear(from, view.px(5));
}

/// Draws the points and the names for which there is room: the card's word first.
void paintWords(const View& view, const WordCardState& state, const WordCardSubject& subject,
                const PlaneView& plane, const attention::Matrix& points, PointNames& names) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const std::vector<MixTerm>& mix = state.derived.mix;
  const Index other = mix.empty() ? subject.word : mix.back().word;
  std::vector<Index> order{subject.word};
  if (other != subject.word) order.push_back(other);
  for (Index i = 0; i < points.rows(); ++i)
    if (i != subject.word && i != other) order.push_back(i);
  std::erase_if(order, [&](Index i) { return !points.row(i).allFinite(); });
  const auto at = [&](Index i) { return plane.pixel(points(i, 0), points(i, 1)); };
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    const bool own = *i == subject.word;
    const float r = view.px(own ? 6 : 4);
    list.AddCircleFilled(at(*i), r + view.px(1), theme.background, 20);
    list.AddCircleFilled(at(*i), r,
                         own                          ? theme.query
                         : *i < subject.study.queries ? theme.secondary
                                                      : theme.key,
                         20);
    track(fmt::format("word.dot.{}", *i), at(*i) - ImVec2(1, 1), at(*i) + ImVec2(1, 1));
    names.keepClear(at(*i), r);
    const Index hovered = *i < subject.study.queries ? view.hover.query : -1;
    if (*i == hovered && !own)
      paintGhost(view, list, "ghost", {at(*i) - ImVec2(r, r) * 1.7f, at(*i) + ImVec2(r, r) * 1.7f},
                 theme.query);
  }
  for (std::size_t i = 0; i < std::min(order.size(), kMostNames); ++i) {
    const std::string& name = subject.names[static_cast<std::size_t>(order[i])];
    names.paint(at(order[i]), view.px(4), fitted(view.fonts->mono, name, view.px(110)),
                order[i] == subject.word ? theme.query : theme.text);
  }
}

}  // namespace

void wordMap(View& view, WordCardState& state, const WordCardSubject& subject, const ImRect& area,
             WordCardEdit& edit) {
  const Theme& theme = *view.theme;
  const attention::Plane& through = *subject.study.plane;
  if (through.mean.size() != subject.values.cols() || subject.study.points.rows() != subject.values.rows())
    return;  // the study of another text
  Canvas list = *ImGui::GetWindowDrawList();
  const float line = view.px(18), y = area.Min.y + line / 2 - view.px(2);
  const float used =
      paintText(list, view.fonts->smallBold, ImVec2(area.Min.x, y), theme.secondary, "Word map");
  const double share = through.firstShare + through.secondShare;
  const std::string shares = wholePercentText(share) + " of the variance";
  // Random vectors are near each other by chance.
  const std::string kind = subject.study.learned                                                ? "learned, "
                           : subject.study.question.setup.input.source == EmbeddingSource::text ? "random, "
                                                                                                : "";
  const float room = area.GetWidth() - used - view.px(10);
  paintText(list, view.fonts->small, ImVec2(area.Max.x, y), theme.faint,
            fitted(view.fonts->small, firstFitting(view.fonts->small, {kind + shares, shares}, room), room),
            Align::right);
  attention::Matrix points = subject.study.points;
  points.row(subject.word) = placeOn(through, subject.now());
  attention::Matrix inside = points;
  inside.conservativeResize(points.rows() + 1, Eigen::NoChange);
  inside.row(points.rows()) = placeOn(through, subject.before);
  const PlaneView plane = planeAround(ImRect(area.Min.x, area.Min.y + line, area.Max.x, area.Max.y), inside,
                                      state.extent, state.drag.kind != Kind::none);
  if (plane.area.GetHeight() < view.px(30)) return;
  list.AddRectFilled(plane.area.Min, plane.area.Max, theme.background, view.px(4));
  const ImVec2 zero = plane.pixel(0, 0);
  list.AddLine(ImVec2(plane.area.Min.x, zero.y), ImVec2(plane.area.Max.x, zero.y), theme.line);
  list.AddLine(ImVec2(zero.x, plane.area.Min.y), ImVec2(zero.x, plane.area.Max.y), theme.line);
  dragDot(view, state, subject, plane, points, edit);
  list.PushClipRect(plane.area.Min, plane.area.Max, true);
  PointNames names(view, plane.area);
  paintBefore(view, state, subject, plane, points, names);
  paintWords(view, state, subject, plane, points, names);
  list.PopClipRect();
}

}  // namespace headscope::app
