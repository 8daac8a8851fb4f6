#include <fmt/core.h>

#include "app/kit/sentence_parts.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/heat_parts.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"

namespace headscope::app {

namespace {

/// A largest weight below so many times that of an even row says nothing about a word.
constexpr float kEven = 1.3f;
constexpr Index kNumbered = 16;   ///< more heads have dots without numbers
constexpr double kTravel = 0.25;  ///< seconds that a dot takes to another word

struct Dot {
  Index head, key;
  float x = 0, y = 0;  ///< y: from the middle of the line
};

/// The dots of the heads that read a word most: columns of dots, centred under it.
struct Group {
  Index key;
  std::vector<Index> heads;
  float middle, half;
};

/// Moves groups apart, so that none covers another, and keeps them in the room.
void spread(std::vector<Group>& groups, float from, float to) {
  std::ranges::stable_sort(groups, {}, &Group::middle);
  for (Group& group : groups) {
    group.middle = std::max(group.middle, from + group.half);
    from = group.middle + group.half;
  }
  for (auto group = groups.rbegin(); group != groups.rend(); ++group) {
    group->middle = std::min(group->middle, to - group->half);
    to = group->middle - group->half;
  }
}

/// How the dots stand: in columns of `rows`, `pitch` apart.
struct DotSizes {
  float radius, pitch;
  Index rows;
};

std::vector<Dot> dotsOf(const SentenceLayout& layout, float from, float to, const DotSizes& sizes) {
  const SentenceWords& keys = layout.keys;
  std::map<Index, std::vector<Index>> byKey;
  for (Index head = 0; head < std::ssize(layout.most); ++head)
    byKey[layout.most[static_cast<std::size_t>(head)]].push_back(head);
  std::vector<Group> groups;
  for (auto& [key, heads] : byKey) {
    const LinePiece* piece = key >= 0 ? pieceOf(keys.pieces, key) : nullptr;
    const Index columns = (std::ssize(heads) + sizes.rows - 1) / sizes.rows;
    groups.push_back({key, std::move(heads), piece ? keys.left + piece->middle() : to,
                      sizes.pitch * static_cast<float>(columns) / 2});
  }
  spread(groups, from, to);
  std::vector<Dot> dots;
  for (const Group& group : groups)
    for (Index i = 0; i < std::ssize(group.heads); ++i) {
      const float column = static_cast<float>(i / sizes.rows) + 0.5f;
      const float row = static_cast<float>(i % sizes.rows) - static_cast<float>(sizes.rows - 1) / 2;
      dots.push_back({group.heads[static_cast<std::size_t>(i)], group.key,
                      group.middle - group.half + sizes.pitch * column, sizes.pitch * row});
    }
  return dots;
}

/// Moves the drawn dots towards their places. Returns whether all have arrived.
bool travel(const View& view, SentenceState& state, const SentenceSubject& subject,
            const std::vector<Dot>& dots) {
  const bool jumps =
      view.preferences.reducedMotion || state.shown != &subject.snapshot || state.dots.size() != dots.size();
  const double passed = std::exchange(state.movedAt, view.time);
  const float share = jumps ? 1 : 1 - static_cast<float>(std::exp(-(view.time - passed) * 4 / kTravel));
  state.shown = &subject.snapshot;
  if (jumps) state.dots.clear();
  bool rests = true;
  for (const Dot& dot : dots) {
    float& x = state.dots.try_emplace(dot.head, dot.x).first->second;
    x += (dot.x - x) * share;
    if (std::abs(dot.x - x) < 0.5f) x = dot.x;
    rests = rests && x == dot.x;
  }
  return rests;
}

}  // namespace

std::vector<Index> readMost(const SentenceSubject& subject) {
  std::vector<Index> keys;
  for (Index head = 0; head < subject.snapshot.config.heads; ++head) {
    const auto row = subject.sequence.probabilities()[head].row(subject.at.query);
    Index visible = 0;
    for (Index key = 0; key < row.size(); ++key) visible += subject.visible(head, subject.at.query, key);
    const Index most = strongestKey(row, row.size());
    const bool even = most >= 0 && visible > 1 && row[most] * static_cast<float>(visible) < kEven;
    keys.push_back(even ? -1 : most);
  }
  return keys;
}

void headDots(View& view, SentenceState& state, const SentenceSubject& subject, const ImRect& area,
              SentenceHit& hit) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const attention::AttentionConfig& config = subject.snapshot.config;
  const bool numbered = config.heads < kNumbered;
  const float y = area.GetCenter().y;
  const std::string words = "evenly";
  const float evenly = area.Max.x - textWidth(view.fonts->small, words);
  // Many heads have small dots without numbers, in columns of three.
  const DotSizes sizes =
      numbered ? DotSizes{view.px(10), view.px(23), 1} : DotSizes{view.px(3.2f), view.px(8), 3};
  const float radius = sizes.radius;
  const std::vector<Dot> dots = dotsOf(state.layout, area.Min.x, evenly - view.px(8), sizes);
  if (!travel(view, state, subject, dots)) view.redraw(2);
  if (std::ranges::any_of(dots, [](const Dot& dot) { return dot.key < 0; }))
    paintText(list, view.fonts->small, ImVec2(evenly, y), theme.faint, words);
  for (const Dot& dot : dots) {
    const ImVec2 at(state.dots.at(dot.head), y + dot.y);
    const bool chosen = dot.head == subject.at.head;
    const auto compared = std::ranges::find(state.compared, dot.head);
    const bool beside = compared != state.compared.end();
    const std::uint32_t hue = groupColor(theme, config.kvHeadOf(dot.head));
    const ImVec2 half(radius, radius);
    const bool clicked = hitArea(fmt::format("sentence.head.{}", dot.head), ImRect(at - half, at + half));
    list.AddCircleFilled(at, radius, chosen ? hue : mixed(theme.background, hue, 0.25f), 24);
    list.AddCircle(at, radius, chosen ? theme.text : hue, 24,
                   std::max(1.0f, view.px(chosen || beside ? 2 : 1)));
    if (numbered)
      paintText(list, view.fonts->monoSmall, at, chosen ? theme.background : theme.text,
                std::to_string(dot.head), Align::center);
    if (!ImGui::IsItemHovered()) continue;
    hit.head = dot.head;
    if (clicked && ImGui::GetIO().KeyShift && !chosen) {
      if (beside)
        state.compared.erase(compared);
      else
        state.compared.push_back(dot.head);
      continue;
    }
    hit.clicked = clicked;
    std::string text = headName(dot.head) + " reads all words evenly";
    if (dot.key >= 0) {
      const auto& words = subject.cross() ? subject.sequence.keys : subject.sequence.queries;
      text = fmt::format("{} reads “{}” with {}", headName(dot.head),
                         words[static_cast<std::size_t>(dot.key)].text,
                         weightText(subject.weight(dot.head, subject.at.query, dot.key)));
    }
    if (!chosen) text += beside ? "\nShift+click hides its arcs" : "\nShift+click shows its arcs, too";
    tooltip(view, text);
  }
}

std::string briefShare(float weight) {
  const std::string text = fixedText(weight, 2);
  return text.front() == '0' ? text.substr(1) : weight == 1 ? "1" : text;
}

void paintPooledRow(const View& view, Canvas list, const ImRect& area, const attention::Matrix& row,
                    render::Colormap colormap) {
  const Index count = row.cols();
  const Index shown = std::min<Index>(count, static_cast<Index>(area.GetWidth() / 2));
  const float each = area.GetWidth() / static_cast<float>(shown), gap = each > view.px(5) ? view.px(1) : 0;
  for (Index i = 0; i < shown; ++i) {
    const Index from = i * count / shown, to = std::max(from + 1, (i + 1) * count / shown);
    const float most = row.middleCols(from, to - from).maxCoeff();
    const float x = area.Min.x + each * static_cast<float>(i);
    list.AddRectFilled(
        ImVec2(x, area.Min.y), ImVec2(x + each - gap, area.Max.y),
        most == render::kMaskedCell ? view.theme->raised : packed(colorOn(*view.theme, colormap, most)));
  }
}

void paintHidden(const View& view, const SentenceSubject& subject, const SentenceWords& keys, float y) {
  const Cell& cell = subject.at;
  Canvas list = *ImGui::GetWindowDrawList();
  const auto hidden = [&](const LinePiece& piece) {
    for (Index key = piece.from; key < piece.to; ++key)
      if (subject.visible(cell.head, cell.query, key)) return false;
    return true;
  };
  for (auto piece = keys.pieces.begin(); piece != keys.pieces.end(); ++piece) {
    if (!hidden(*piece)) continue;
    const auto first = piece;
    while (std::next(piece) != keys.pieces.end() && hidden(*std::next(piece))) ++piece;
    const float from = keys.left + first->x, to = keys.left + piece->x + piece->width;
    const std::string why = subject.snapshot.causal && first->from > cell.query ? "causal mask" : "masked";
    const float words = textWidth(view.fonts->small, why) + view.px(12), middle = (from + to) / 2;
    const bool fits = to - from >= words;
    if (fits) paintText(list, view.fonts->small, ImVec2(middle, y), view.theme->faint, why, Align::center);
    const auto hatch = [&](float left, float right) {
      const float step = view.px(6), high = view.px(4);
      for (float x = left; x + high <= right; x += step)
        list.AddLine(ImVec2(x, y + high), ImVec2(x + 2 * high, y - high), view.theme->line);
    };
    hatch(from, fits ? middle - words / 2 : to);
    if (fits) hatch(middle + words / 2, to);
  }
}

}  // namespace headscope::app
