#include "app/kit/wiring.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/compute/cache/cache_studies.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/heat_tile.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"

namespace headscope::app {

namespace {

/// Sizes in layout units.
struct WiringUnits {
  static constexpr float labels = 72;    ///< width of the column of labels
  static constexpr float widest = 132;   ///< from head to head
  static constexpr float pictured = 24;  ///< narrower heads are dots
  static constexpr float numbered = 30;  ///< narrower heads have no figures
  static constexpr float numbers = 17, drift = 18, notes = 17, bytes = 20;  ///< heights of the lines of text
  static constexpr float rule = 4;                                          ///< under a head's picture
};

}  // namespace

WiringLayout layWiring(const WiringSizes& sizes) {
  const auto px = [&](float units) { return units * sizes.unit; };
  const ImRect& area = sizes.area;
  WiringLayout layout;
  layout.left = area.Min.x + px(WiringUnits::labels);
  const float pitch =
      std::min((area.Max.x - layout.left) / static_cast<float>(sizes.heads), px(WiringUnits::widest));
  const float gap = std::min(px(8), pitch * 0.16f), wide = pitch - gap;
  layout.dots = pitch < px(WiringUnits::pictured);
  layout.numbered = pitch >= px(WiringUnits::numbered);
  const float texts = px(WiringUnits::numbers + WiringUnits::notes + WiringUnits::bytes +
                         (sizes.merged ? WiringUnits::drift : 0));
  const float rest = std::max(area.GetHeight() - texts, px(40));
  const float pictures = layout.dots ? px(9) : rest * 0.32f, lines = rest * 0.24f;
  const float block = rest - pictures - lines;
  const auto column = [&](Index head, float width, float from, float high) {
    const float middle = layout.left + pitch * (static_cast<float>(head) + 0.5f) - gap / 2;
    return ImRect(middle - width / 2, from, middle + width / 2, from + high);
  };
  const float pictured = layout.dots ? std::min(wide, px(8)) : std::min(wide, pictures * 1.6f);
  for (Index head = 0; head < sizes.heads; ++head) {
    float y = area.Min.y;
    const auto add = [&](std::vector<ImRect>& to, float width, float high) {
      to.push_back(column(head, width, y, high));
      y += high;
    };
    add(layout.numbers, wide, px(WiringUnits::numbers));
    add(layout.heads, pictured, pictures);
    if (sizes.merged) add(layout.drift, wide, px(WiringUnits::drift));
    y += lines;
    add(layout.slots, wide, block);
  }
  const Index group = sizes.heads / sizes.kvHeads;
  for (Index kv = 0; kv < sizes.kvHeads; ++kv) {
    const ImRect &first = layout.slots[static_cast<std::size_t>(kv * group)],
                 &last = layout.slots[static_cast<std::size_t>((kv + 1) * group - 1)];
    const float middle = (first.Min.x + last.Max.x) / 2;
    layout.blocks.emplace_back(middle - wide / 2, first.Min.y, middle + wide / 2, first.Max.y);
    layout.notes.emplace_back(first.Min.x, first.Max.y, last.Max.x, first.Max.y + px(WiringUnits::notes));
  }
  const float y = layout.slots[0].Max.y + px(WiringUnits::notes),
              end = layout.left + (area.Max.x - layout.left) * 0.3f;
  layout.bytes = ImRect(layout.left, y + px(4), end, y + px(WiringUnits::bytes - 4));
  layout.bytesText = ImRect(end + px(12), y, area.Max.x, y + px(WiringUnits::bytes));
  return layout;
}

namespace {

class WiringPainter {
 public:
  WiringPainter(View& view, Motion& motion, const WiringSubject& subject, const ImRect& area)
      : view_(view),
        subject_(subject),
        config_(subject.snapshot.config),
        theme_(*view.theme),
        area_(area),
        layout_(layWiring({area, view.unit, config_.heads, config_.kvHeads, merged()})) {
    for (Index head = 0; head < config_.heads; ++head)
      places_.push_back(motion.place(view, fmt::format("wiring.block.{}", head),
                                     layout_.blocks[static_cast<std::size_t>(config_.kvHeadOf(head))]));
  }

  WiringHit paint() {
    labels();
    slots();
    lines();
    blocks();
    heads();
    drift();
    notes();
    bytes();
    return pointAtHeads();
  }

 private:
  static constexpr int kSteps = 20;  ///< pieces of a line

  bool merged() const { return !subject_.sequence.drift.empty(); }
  std::uint32_t hue(Index head) const { return groupColor(theme_, config_.kvHeadOf(head)); }
  static const ImRect& at(const std::vector<ImRect>& places, Index index) {
    return places[static_cast<std::size_t>(index)];
  }
  float moved(Index head) const { return subject_.sequence.drift[static_cast<std::size_t>(head)].moved; }

  void label(float y, std::uint32_t color, const char* text) const {
    paintText(list_, view_.fonts->small, ImVec2(layout_.left - view_.px(12), y), color, text, Align::right);
  }

  void labels() const {
    const ImRect& block = layout_.blocks[0];
    const float quarter = block.GetHeight() / 4;
    label(layout_.heads[0].GetCenter().y, theme_.query, "heads");
    if (merged()) label(layout_.drift[0].GetCenter().y, theme_.faint, "moved");
    label(block.Min.y + quarter, theme_.key, "K");
    label(block.Max.y - quarter, theme_.value, "V");
    label(layout_.bytes.GetCenter().y, theme_.faint, "cache");
  }

  void hatched(const ImRect& place) const {
    list_.PushClipRect(place.Min, place.Max, true);
    const float high = place.GetHeight();
    for (float x = place.Min.x - high; x < place.Max.x; x += view_.px(8))
      list_.AddLine(ImVec2(x, place.Max.y), ImVec2(x + high, place.Min.y),
                    mixed(theme_.background, theme_.line, 0.6f));
    list_.PopClipRect();
    compat::rectOutline(list_, place.Min, place.Max, theme_.line, view_.px(2), 1);
  }

  void slots() const {
    for (const ImRect& slot : layout_.slots) hatched(slot);
  }

  /// A line for each head, from under it to its place at the upper edge of the block that it reads.
  void lines() const {
    const Index group = config_.groupSize();
    for (Index head = 0; head < config_.heads; ++head) {
      const ImRect &above = merged() ? at(layout_.drift, head) : at(layout_.heads, head),
                   &block = places_[head];
      const ImVec2 from(above.GetCenter().x, above.Max.y + view_.px(3));
      const float apart = std::min(view_.px(14), block.GetWidth() / static_cast<float>(group));
      const float beside = static_cast<float>(head % group) - static_cast<float>(group - 1) / 2;
      const ImVec2 to(block.GetCenter().x + beside * apart, block.Min.y - view_.px(2));
      std::vector<ImVec2> points;
      for (int i = 0; i <= kSteps; ++i) {
        const float t = static_cast<float>(i) / kSteps, eased = t * t * (3 - 2 * t);
        points.emplace_back(from.x + (to.x - from.x) * eased, from.y + (to.y - from.y) * t);
      }
      const float thick = view_.px(head == subject_.head ? 3 : layout_.dots ? 1 : 2);
      list_.AddPolyline(points.data(), static_cast<int>(points.size()), hue(head), 0, std::max(1.0f, thick));
    }
  }

  /// While blocks slide, each head has one, from its old place to that of its kv head; then they are one.
  void blocks() const {
    const render::HeatmapTextures& pictures = subject_.cache.current();
    const bool pictured = layout_.blocks[0].GetWidth() >= view_.px(8);
    std::vector<HeatmapTile> tiles[2];
    for (Index head = config_.heads - 1; head >= 0; --head) {
      const Index kv = config_.kvHeadOf(head), first = kv * config_.groupSize();
      const ImRect& place = places_[static_cast<std::size_t>(head)];
      if (head != first && place.Min.x == places_[static_cast<std::size_t>(first)].Min.x) continue;
      const float middle = std::round(place.GetCenter().y);
      list_.AddRectFilled(place.Min, ImVec2(place.Max.x, middle), theme_.key);
      list_.AddRectFilled(ImVec2(place.Min.x, middle), place.Max, theme_.value);
      for (const int values : {0, 1}) {
        HeatmapTile tile;
        tile.range = {-1, 1};
        tile.view.layer = static_cast<int>(2 * kv) + values;
        if (!pictured || tile.view.layer >= pictures.layers()) continue;
        tile.view.target = {place.Min.x, values ? middle : place.Min.y, place.Max.x,
                            values ? place.Max.y : middle};
        tile.view.clip = tile.view.target;
        tile.view.rows = static_cast<float>(pictures.rows());
        tile.view.cols = static_cast<float>(pictures.cols());
        tiles[values].push_back(tile);
      }
    }
    for (const int values : {0, 1}) {
      render::HeatmapStyle style;
      style.background = style.maskedHatch = style.deadHatch = unpacked(theme_.background);
      style.gap = 0;
      style.tint = values ? subject_.value : subject_.key;
      view_.heatmaps->draw(list_, subject_.cache, style, std::move(tiles[values]));
    }
    for (Index head = config_.heads - 1; head >= 0; --head) {
      const ImRect& place = places_[static_cast<std::size_t>(head)];
      compat::rectOutline(list_, place.Min, place.Max, hue(head), view_.px(2),
                          std::max(1.0f, view_.px(1.5f)));
      if (head % config_.groupSize() == 0)
        track(fmt::format("wiring.kv.{}", config_.kvHeadOf(head)), place.Min, place.Max);
    }
  }

  void heads() const {
    const auto rows = static_cast<float>(subject_.sequence.queries.size()),
               cols = static_cast<float>(subject_.sequence.keys.size());
    const Look look = lookFor(subject_.look, subject_.sequence.pictures);
    std::vector<HeatmapTile> tiles;
    for (Index head = 0; head < config_.heads; ++head) {
      const ImRect& place = at(layout_.heads, head);
      const bool chosen = head == subject_.head;
      if (layout_.numbered || chosen)
        paintText(list_, view_.fonts->monoSmall, at(layout_.numbers, head).GetCenter(),
                  chosen ? theme_.text : hue(head), std::to_string(head), Align::center);
      if (layout_.dots) {
        list_.AddCircleFilled(place.GetCenter(), std::min(place.GetWidth(), place.GetHeight()) / 2,
                              chosen ? theme_.text : hue(head), 16);
        continue;
      }
      const ImRect cells(place.Min, ImVec2(place.Max.x, place.Max.y - view_.px(WiringUnits::rule)));
      HeatmapTile tile = pictureOf({cells, 0, 0, rows, cols, head, -1}, subject_.factor,
                                   rangeFor(look, subject_.sequence.pictures, head));
      tile.view.layer = static_cast<int>(head);
      if (head < subject_.heads.current().layers()) tiles.push_back(tile);
      list_.AddRectFilled(ImVec2(place.Min.x, place.Max.y - view_.px(2)), place.Max, hue(head));
    }
    view_.heatmaps->draw(list_, subject_.heads, styleFor(view_, look), std::move(tiles));
    if (!layout_.dots) {
      const ImRect& place = at(layout_.heads, subject_.head);
      compat::rectOutline(list_, place.Min, ImVec2(place.Max.x, place.Max.y - view_.px(WiringUnits::rule)),
                          theme_.text, 0, std::max(1.0f, view_.px(1.5f)));
    }
  }

  /// How far each head's weight moved, in figures or, where they don't fit, as bars.
  void drift() const {
    for (Index head = 0; head < std::ssize(layout_.drift); ++head) {
      const ImRect& place = at(layout_.drift, head);
      const bool moves = moved(head) >= 0.005f;
      if (layout_.numbered) {
        ImFont* font = head == subject_.head ? view_.fonts->mono : view_.fonts->monoSmall;
        paintText(list_, font, place.GetCenter(), moves ? theme_.text : theme_.faint,
                  firstFitting(font, {wholePercentText(moved(head)), fixedText(moved(head) * 100, 0)},
                               place.GetWidth()),
                  Align::center);
        continue;
      }
      const float low = place.Max.y - view_.px(2), high = (low - place.Min.y - view_.px(2)) * moved(head);
      list_.AddRectFilled(ImVec2(place.Min.x, low - std::max(high, 1.0f)), ImVec2(place.Max.x, low),
                          moves ? theme_.text : theme_.faint);
    }
  }

  /// What each kv head is made of, or who reads it.
  void notes() const {
    const Index group = config_.groupSize();
    if (group == 1) return;
    for (Index kv = 0; kv < config_.kvHeads; ++kv) {
      const ImRect& place = at(layout_.notes, kv);
      const Index first = kv * group, last = first + group - 1;
      const std::vector<std::string> wordings =
          !merged() ? std::vector{fmt::format("heads {}–{}", first, last), fmt::format("{}–{}", first, last)}
          : group == 2 ? std::vector<std::string>{"½ + ½", "½+½"}
                       : std::vector{fmt::format("mean of {} heads’ K and V", group),
                                     fmt::format("mean of {}", group), fmt::format("÷{}", group)};
      const std::string text = firstFitting(view_.fonts->small, wordings, place.GetWidth());
      if (textWidth(view_.fonts->small, text) <= place.GetWidth())
        paintText(list_, view_.fonts->small, place.GetCenter(), groupColor(theme_, kv), text, Align::center);
    }
  }

  /// The cache's bytes as a share of MHA's.
  void bytes() const {
    const auto of = [&](Index kvHeads) {
      return cacheBytes(subject_.snapshot, kvHeads, subject_.tokens, subject_.look.cacheBytes);
    };
    const double own = of(config_.kvHeads), mha = of(config_.heads);
    const ImRect& bar = layout_.bytes;
    const float share = mha > 0 ? static_cast<float>(own / mha) : 1;
    const float half = bar.Min.x + bar.GetWidth() * share / 2, end = bar.Min.x + bar.GetWidth() * share;
    hatched(bar);
    list_.AddRectFilled(bar.Min, ImVec2(half, bar.Max.y), theme_.key);
    list_.AddRectFilled(ImVec2(half, bar.Min.y), ImVec2(end, bar.Max.y), theme_.value);
    track("wiring.bytes", bar.Min, ImVec2(end, bar.Max.y));
    const std::string text = config_.kvHeads == config_.heads
                                 ? fourDigitBytes(own)
                                 : fmt::format("{} in place of {}", fourDigitBytes(own), fourDigitBytes(mha));
    const ImRect& words = layout_.bytesText;
    const float y = words.GetCenter().y;
    paintFitted(view_, list_, view_.fonts->mono, ImVec2(words.Min.x, y), words.GetWidth(), theme_.text, text);
    const float used = textWidth(view_.fonts->mono, text) + view_.px(24);
    ImFont* const font = view_.fonts->small;
    if (used + textWidth(font, subject_.note) <= words.GetWidth())
      paintText(list_, font, ImVec2(words.Max.x, y), theme_.secondary, subject_.note, Align::right);
  }

  WiringHit pointAtHeads() const {
    WiringHit hit;
    for (Index head = 0; head < config_.heads; ++head) {
      const bool clicked = hitArea(fmt::format("wiring.head.{}", head), at(layout_.heads, head));
      if (!ImGui::IsItemHovered()) continue;
      hit = {head, clicked};
      std::string text = fmt::format("{} reads {}", headName(head), kvName(config_.kvHeadOf(head)));
      if (merged())
        text += fmt::format(". Merging moved {} of its weight to other keys", wholePercentText(moved(head)));
      tooltip(view_, text);
    }
    return hit;
  }

  View& view_;
  const WiringSubject& subject_;
  const attention::AttentionConfig& config_;
  const Theme& theme_;
  const ImRect area_;
  const WiringLayout layout_;
  std::vector<ImRect> places_;  ///< [heads] of its kv head's block, maybe on its way
  const Canvas list_ = *ImGui::GetWindowDrawList();
};

}  // namespace

WiringHit wiring(View& view, Motion& motion, const WiringSubject& subject, const ImRect& area) {
  return WiringPainter(view, motion, subject, area).paint();
}

}  // namespace headscope::app
