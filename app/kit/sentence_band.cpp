#include <fmt/core.h>

#include "app/kit/sentence_parts.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/plot.h"

namespace headscope::app {

namespace {

constexpr float kLeast = 0.02f;  ///< weights below have no ribbon, only their number
constexpr int kSteps = 32;       ///< pieces of an arc
constexpr float kOwn = 12;       ///< height of the loop to the query itself, in layout units

/// A point of the cubic curve through four control points (Bézier).
ImVec2 onCurve(const std::array<ImVec2, 4>& p, float t) {
  const float s = 1 - t, a = s * s * s, b = 3 * s * s * t, c = 3 * s * t * t, d = t * t * t;
  return {a * p[0].x + b * p[1].x + c * p[2].x + d * p[3].x,
          a * p[0].y + b * p[1].y + c * p[2].y + d * p[3].y};
}

/// An arc with upright ends. Its crest is `rise` above `from`; without a rise it goes down to `to`.
std::vector<ImVec2> arc(ImVec2 from, ImVec2 to, float rise) {
  const float above = rise > 0 ? from.y - rise / 0.75f : (from.y + to.y) / 2;
  const std::array<ImVec2, 4> control{from, ImVec2(from.x, above), ImVec2(to.x, above), to};
  std::vector<ImVec2> points;
  for (int i = 0; i <= kSteps; ++i) points.push_back(onCurve(control, static_cast<float>(i) / kSteps));
  return points;
}

/// The weight that the selected query gives a piece of the line.
float shareOf(const SentenceSubject& subject, Index head, const LinePiece& piece) {
  float share = 0;
  for (Index key = piece.from; key < piece.to; ++key)
    share += std::max(0.0f, subject.weight(head, subject.at.query, key));
  return share;
}

/// What a query reads of a piece of the line.
struct Ribbon {
  const LinePiece* piece;
  float share;      ///< of the band
  float start = 0;  ///< x at the query
};

/// The ribbons, with their places in the band, so that they never cross: of the keys on the left, the nearest
/// leaves farthest left; of those on the right, the farthest.
std::vector<Ribbon> ribbonsOf(const SentenceSubject& subject, const SentenceWords& keys, float query,
                              float thick) {
  std::vector<Ribbon> ribbons;
  for (const LinePiece& piece : keys.pieces) {
    const float share = shareOf(subject, subject.at.head, piece);
    if (share >= kLeast) ribbons.push_back({&piece, std::min(share, 1.0f)});
  }
  const auto place = [&](const Ribbon& ribbon) { return keys.left + ribbon.piece->middle(); };
  if (!subject.cross())
    std::ranges::sort(ribbons, {}, [&](const Ribbon& ribbon) {
      const float away = place(ribbon) - query;
      return away < 0 ? std::pair(0, -away) : away == 0 ? std::pair(1, 0.0f) : std::pair(2, -away);
    });
  float x = query - thick / 2;
  for (Ribbon& ribbon : ribbons) {
    ribbon.start = x + thick * ribbon.share / 2;
    x += thick * ribbon.share;
  }
  return ribbons;
}

/// Draws the arc from the query's colour to the key's: its ends in one piece each, and its middle, where the
/// colour changes, in short pieces that overlap.
void paintRibbon(const View& view, Canvas list, const std::vector<ImVec2>& points, float thick,
                 float strength) {
  const Theme& theme = *view.theme;
  constexpr int kTurns = kSteps * 9 / 32, kTurned = kSteps * 20 / 32, kPiece = 2;
  for (int from = 0, to = kTurns; from < kSteps; from = to, to = to < kTurned ? to + kPiece : kSteps) {
    const float middle = static_cast<float>(from + to) / 2;
    const float blue = std::clamp((middle - kTurns) / (kTurned - kTurns), 0.0f, 1.0f);
    const std::uint32_t color = mixed(theme.background, mixed(theme.query, theme.key, blue), strength);
    const int end = std::min(to + 1, kSteps);
    list.AddPolyline(points.data() + from, end - from + 1, color, 0, thick);
  }
}

void paintArrow(const View& view, Canvas list, ImVec2 tip, float thick, std::uint32_t color) {
  const float half = std::max(view.px(4), thick * 0.75f), high = half * 1.3f;
  list.AddTriangleFilled(tip, ImVec2(tip.x - half, tip.y - high), ImVec2(tip.x + half, tip.y - high), color);
}

float arrowHeight(const View& view, float thick) {
  return std::max(view.px(4), thick * 0.75f) * 1.3f;
}

/// The crest of an arc over `away` pixels, of at most `most`.
float riseOver(float away, float line, float most) {
  return most * (0.5f + 0.5f * std::min(1.0f, away / (0.72f * line)));
}

ImRect boxOf(const View& view, const ArcTag& tag) {
  const ImVec2 half(textWidth(view.fonts->monoSmall, tag.text) / 2 + view.px(4),
                    lineHeight(view.fonts->monoSmall) / 2 + view.px(2));
  return {tag.middle - half, tag.middle + half};
}

void paintTag(const View& view, Canvas list, const ArcTag& tag) {
  const ImRect box = boxOf(view, tag);
  list.AddRectFilled(box.Min, box.Max, view.theme->background);
  paintText(list, view.fonts->monoSmall, tag.middle, tag.color, tag.text, Align::center);
}

/// The arc of the hovered cell, dashed, with its weight on the crest.
void paintHovered(const View& view, const SentenceSubject& subject, const SentenceWords& queries,
                  const SentenceWords& keys, float most) {
  const Crosshair& hover = view.hover;
  const Cell cell = view.previewed(subject.at);
  if (hover.query < 0 || hover.key < 0 || cell == subject.at) return;
  const LinePiece *from = pieceOf(queries.pieces, cell.query), *to = pieceOf(keys.pieces, cell.key);
  if (!from || !to || (from->from == to->from && !subject.cross())) return;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 start(queries.left + from->middle(), queries.y + view.px(subject.cross() ? 18 : -18)),
      end(keys.left + to->middle(), keys.y - view.px(20));
  const float line = std::max(1.0f, keys.pieces.back().x + keys.pieces.back().width);
  const float rise = subject.cross() ? 0 : riseOver(std::abs(end.x - start.x), line, most);
  const std::vector<ImVec2> points = arc(start, end, rise);
  paintDashed(list, points, Dash::dashed, theme.secondary, std::max(1.0f, view.px(1.4f)), view.unit);
  paintArrow(view, list, end, view.px(3), theme.secondary);
  const std::string text = "hover " + weightText(subject.weight(cell.head, cell.query, cell.key));
  paintTag(view, list, {points[kSteps / 2], text, theme.text});
}

}  // namespace

std::vector<ArcTag> paintCompared(const View& view, const SentenceSubject& subject,
                                  std::span<const Index> heads, const SentenceWords& queries,
                                  const SentenceWords& keys, float top) {
  std::vector<ArcTag> tags;
  const LinePiece* own = pieceOf(queries.pieces, subject.at.query);
  if (!own || keys.pieces.empty()) return tags;
  Canvas list = *ImGui::GetWindowDrawList();
  const bool cross = subject.cross();
  const ImVec2 start(queries.left + own->middle(), queries.y + view.px(cross ? 18 : -18));
  const float line = std::max(1.0f, keys.pieces.back().x + keys.pieces.back().width);
  const float most = start.y - top - view.px(14);
  for (const Index head : heads) {
    if (head == subject.at.head || head >= subject.snapshot.config.heads) continue;
    const std::uint32_t hue = groupColor(*view.theme, subject.snapshot.config.kvHeadOf(head));
    float largest = 0;
    ImVec2 crest = start;
    for (const LinePiece& piece : keys.pieces) {
      const float share = shareOf(subject, head, piece);
      if (share < kLeast) continue;
      const bool isOwn = !cross && piece.from == own->from;
      const ImVec2 end(keys.left + piece.middle() + (isOwn ? view.px(14) : 0), keys.y - view.px(20));
      const float away = std::abs(end.x - start.x);
      const float rise = cross ? 0 : isOwn ? view.px(kOwn) : riseOver(away, line, most) * 0.86f;
      const std::vector<ImVec2> points = arc(start, end, rise);
      const float thick = std::max(view.px(1.2f), view.px(6) * std::min(share, 1.0f));
      list.AddPolyline(points.data(), static_cast<int>(points.size()), hue, 0, thick);
      paintArrow(view, list, end, thick, hue);
      // The loop to the query itself is too small for words, so another arc has them if there is one.
      if (largest == 0 || (!isOwn && share > largest)) crest = points[kSteps / 2];
      largest = std::max(largest, isOwn ? kLeast : share);
    }
    if (largest > 0) tags.push_back({crest, "head " + std::to_string(head), hue});
  }
  return tags;
}

void paintTags(const View& view, const std::vector<ArcTag>& tags) {
  std::vector<ImRect> taken;
  for (ArcTag tag : tags) {
    while (std::ranges::any_of(taken, [&](const ImRect& other) { return other.Overlaps(boxOf(view, tag)); }))
      tag.middle.y += view.px(2);
    taken.push_back(boxOf(view, tag));
    paintTag(view, *ImGui::GetWindowDrawList(), tag);
  }
}

void paintBand(const View& view, const SentenceSubject& subject, const SentenceWords& queries,
               const SentenceWords& keys, float top) {
  const Cell& cell = subject.at;
  const LinePiece* own = pieceOf(queries.pieces, cell.query);
  if (!own || keys.pieces.empty()) return;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const bool cross = subject.cross();
  const float query = queries.left + own->middle(), room = queries.y - view.px(18) - top;
  const float thick = cross ? view.px(14) : std::clamp(room * 0.22f, view.px(9), view.px(18));
  const float most = room - thick / 2 - view.px(4);
  const float line = std::max(1.0f, keys.pieces.back().x + keys.pieces.back().width);
  track("sentence.band", ImVec2(query - thick / 2, queries.y - view.px(18)),
        ImVec2(query + thick / 2, queries.y - view.px(17)));
  for (const Ribbon& ribbon : ribbonsOf(subject, keys, query, thick)) {
    const float wide = std::max(1.2f * view.unit, thick * ribbon.share), arrow = arrowHeight(view, wide);
    const bool isOwn = !cross && ribbon.piece->from == own->from;
    const ImVec2 from(ribbon.start, queries.y + view.px(cross ? 18 : -17));
    const ImVec2 tip(isOwn ? query + thick / 2 + view.px(6) : keys.left + ribbon.piece->middle(),
                     keys.y - view.px(18));
    const float rise = cross   ? 0
                       : isOwn ? view.px(kOwn) + wide
                               : riseOver(std::abs(tip.x - query), line, most);
    const float strength = !ribbon.piece->folded && ribbon.piece->from == cell.key ? 1.0f : 0.8f;
    paintRibbon(view, list, arc(from, ImVec2(tip.x, tip.y - arrow * 0.7f), rise), wide, strength);
    paintArrow(view, list, tip, wide, mixed(theme.background, theme.key, strength));
  }
  paintHovered(view, subject, queries, keys, most);
}

}  // namespace headscope::app
