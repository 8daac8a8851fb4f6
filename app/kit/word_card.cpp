#include "app/kit/word_card.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/kit/control_line.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app {

namespace {

constexpr float kWholeCard = 240, kCompactCard = 196, kStageCard = 150;  // heights in layout units
constexpr float kRoomForWhole = 600;                                     // of the page
constexpr float kNearestFrom = 760, kNearest = 180;  // width of a card that has nearest words; theirs
constexpr std::size_t kMostNear = 5;

/// Cuts `width` off the right end, with a gap.
ImRect cutRight(ImRect& area, float width, float gap) {
  const ImRect cut(area.Max.x - width, area.Min.y, area.Max.x, area.Max.y);
  area.Max.x = cut.Min.x - gap;
  return cut;
}

/// Draws the panel, with a tip below the word.
void paintCard(const View& view, const ImRect& area, float x) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const float round = view.px(8), half = view.px(8);
  list.AddRectFilled(area.Min, area.Max, theme.panel, round);
  compat::rectOutline(list, area.Min, area.Max, theme.line, round, std::max(1.0f, view.px(1)));
  if (x < area.Min.x + 2 * round || x > area.Max.x - 2 * round) return;
  const ImVec2 tip(x, area.Min.y - view.px(7)), left(x - half, area.Min.y + 1),
      right(x + half, area.Min.y + 1);
  list.AddTriangleFilled(tip, right, left, theme.panel);
  list.AddLine(left, tip, theme.line);
  list.AddLine(tip, right, theme.line);
}

/// "256 numbers, 221 of them for the word" in several wordings, longest first.
std::vector<std::string> numbersWords(const WordCardSubject& subject) {
  const Index dims = subject.values.cols();
  const std::string count = countedText(dims, "number");
  const WordStudy& study = subject.study;
  if (study.wordCount == dims) return {count};
  return {fmt::format("{}, {} of them for the word", count, study.wordCount),
          fmt::format("{}, {} for the word", count, study.wordCount), count};
}

/// "length 14.9", or "length 14.9 → 10.9".
std::string lengthText(const WordCardSubject& subject) {
  const std::string before = roundedText(static_cast<double>(subject.before.norm()), 3);
  if (!subject.changed()) return "length " + before;
  return fmt::format("length {} → {}", before, roundedText(static_cast<double>(subject.now().norm()), 3));
}

void derive(WordCardState& state, const WordCardSubject& subject) {
  WordCardState::Derived& derived = state.derived;
  if (derived.of == subject.version && derived.word == subject.word) return;
  derived.of = subject.version;
  derived.word = subject.word;
  state.problem.clear();
  state.mix.refused = false;
  derived.mix = findMix({subject.values, subject.before, subject.word});
  const attention::Matrix words = subject.values.middleCols(subject.study.wordAt, subject.study.wordCount);
  derived.nearest = nearestWords(words, subject.word, kMostNear);
}

/// The field of the mixture: shows what the vector is, and takes what it is to be.
void mixField(View& view, WordCardState& state, const WordCardSubject& subject, float width,
              WordCardEdit& edit) {
  WordCardState::Mix& mix = state.mix;
  const std::string is = mixText(state.derived.mix, subject.names);
  if (!mix.active && !mix.refused) mix.text = is;
  const bool entered = lineBox(view, "word.mix", mix.text, width, false, "a sum: 0.5·word + 0.5·other");
  const bool left = ImGui::IsItemDeactivated();
  if (ImGui::IsItemActive() && !mix.active) mix.refused = false;
  mix.active = ImGui::IsItemActive();
  if (!(entered || left) || mix.text == is || (!entered && mix.text.empty())) return;
  const auto terms = parseMix(mix.text, subject.names, subject.word);
  state.problem = terms ? "" : terms.error().message;
  if (terms) edit.vector = mixOf(*terms, {subject.values, subject.before, subject.word});
  if (edit.vector && !edit.vector->allFinite()) {
    state.problem = "The numbers of this sum are too large.";
    edit.vector.reset();
  }
  mix.refused = !state.problem.empty();
}

/// The word, what its vector is, and the controls.
void cardHead(View& view, WordCardState& state, const WordCardSubject& subject, const ImRect& area,
              WordCardEdit& edit) {
  const Theme& theme = *view.theme;
  ControlLine line(view, area, ControlLine::From::right, 8);
  if (!view.present) {
    edit.close = line.button("word.close", "Close");
    if (!subject.fixed()) {
      edit.all = line.fits("All words…") && line.button("word.all", "All words…");
      edit.back = line.button("word.back", "Back", subject.changed() ? "" : "The vector is as it was.");
      const float room = line.room() / view.unit - 150;
      if (room >= 120)
        line.part("word.mix.box", std::min(room, 250.0f),
                  [&] { mixField(view, state, subject, ImGui::GetContentRegionAvail().x, edit); });
    }
  }
  Canvas list = *ImGui::GetWindowDrawList();
  const float y = area.GetCenter().y, end = area.Min.x + line.room();
  float x = area.Min.x;
  const std::string name =
      fitted(view.fonts->title, subject.names[static_cast<std::size_t>(subject.word)], view.px(140));
  x += paintText(list, view.fonts->title, ImVec2(x, y), theme.query, name) + view.px(12);
  const std::string mix = view.present ? mixText(state.derived.mix, subject.names) : "";
  std::vector<std::string> wordings;
  for (const std::string& words : numbersWords(subject))
    wordings.push_back(words + " · " + lengthText(subject) + (mix.empty() ? "" : " · " + mix));
  if (!mix.empty()) wordings.push_back(mix);
  wordings.push_back(lengthText(subject));
  paintFitted(view, list, view.fonts->text, ImVec2(x, y), std::max(0.0f, end - x), theme.secondary,
              firstFitting(view.fonts->text, wordings, end - x));
}

void nearestPart(View& view, const WordCardState& state, const WordCardSubject& subject, const ImRect& area) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const float line = view.px(20), names = area.GetWidth() * 0.42f, values = view.px(40);
  float y = area.Min.y + view.px(7);
  paintText(list, view.fonts->smallBold, ImVec2(area.Min.x, y), theme.secondary, "Nearest words");
  paintText(list, view.fonts->small, ImVec2(area.Max.x, y), theme.faint, "cosine", Align::right);
  y += view.px(18);
  for (const NearWord& near : state.derived.nearest) {
    if (y + line / 2 > area.Max.y) break;
    const ImRect bar(area.Min.x + names, y - view.px(3), area.Max.x - values, y + view.px(3));
    paintFitted(view, list, view.fonts->mono, ImVec2(area.Min.x, y), names - view.px(8), theme.text,
                subject.names[static_cast<std::size_t>(near.word)]);
    list.AddRectFilled(bar.Min, bar.Max, theme.raised, view.px(2));
    list.AddRectFilled(bar.Min,
                       ImVec2(bar.Min.x + bar.GetWidth() * std::clamp(near.cosine, 0.0f, 1.0f), bar.Max.y),
                       theme.text, view.px(2));
    paintText(list, view.fonts->mono, ImVec2(area.Max.x, y), theme.text, fixedText(near.cosine, 2),
              Align::right);
    y += line;
  }
}

/// "Head 0 reads" with the list of the words it can be made to read, at the end of a line.
void readingPart(ControlLine& line, const WordCardSubject& subject, WordCardEdit& edit) {
  const WordReading& reading = subject.reading;
  if (subject.fixed() || reading.keys.size() < 2) return;
  if (reading.busy) return line.words(fmt::format("Looking for a vector for head {}…", reading.head));
  int chosen = reading.chosen;
  if (line.list("word.reads", reading.choices, chosen,
                "Choose another word: the vector changes as little as needed for the head to read that one."))
    edit.aimed = reading.keys[static_cast<std::size_t>(chosen)];
  line.words(fmt::format("Make head {} read", reading.head));
}

void cardFoot(View& view, const WordCardState& state, const WordCardSubject& subject, ImRect area,
              WordCardEdit& edit) {
  if (area.GetHeight() <= 0) return;
  ControlLine line(view, area, ControlLine::From::right, 10);
  readingPart(line, subject, edit);
  area.Max.x = area.Min.x + line.room() - view.px(10);
  const bool bad = !state.problem.empty();
  const std::string words =
      bad ? state.problem
      : subject.fixed()
          ? subject.study.fixed
          : firstFitting(view.fonts->small,
                         {"Drag a bar, or click its number to type. Drag the dot: near the line "
                          "to another word it catches, and the vectors are mixed.",
                          "Drag a bar or the dot, or click a number to type. Near the line to "
                          "another word the dot catches.",
                          "Drag a bar or the dot, or click a number to type."},
                         area.GetWidth());
  paintFitted(view, *ImGui::GetWindowDrawList(), view.fonts->small, ImVec2(area.Min.x, area.GetCenter().y),
              area.GetWidth(), bad ? view.theme->error : view.theme->secondary, words);
}

/// The part of the card that has content.
ImRect insideCard(const View& view, const ImRect& area) {
  return {area.Min.x + view.px(14), area.Min.y + view.px(6), area.Max.x - view.px(14),
          area.Max.y - view.px(6)};
}

}  // namespace

float wordCardHeight(const View& view, float room) {
  return view.present ? kStageCard : room >= kRoomForWhole ? kWholeCard : kCompactCard;
}

WordCardLayout layWordCard(const ImRect& area, float unit, Index dims, bool hands) {
  WordCardLayout layout;
  layout.head = ImRect(area.Min, ImVec2(area.Max.x, area.Min.y + 36 * unit));
  layout.foot = ImRect(area.Min.x, area.Max.y - (hands ? 28 * unit : 0), area.Max.x, area.Max.y);
  ImRect body(area.Min.x, layout.head.Max.y + 4 * unit, area.Max.x, layout.foot.Min.y - 2 * unit);
  const float wide = area.GetWidth(), gap = 20 * unit;
  layout.map = cutRight(body, std::clamp(0.3f * wide, 150 * unit, 340 * unit), gap);
  if (wide >= kNearestFrom * unit && body.GetHeight() >= 120 * unit)
    layout.nearest = cutRight(body, kNearest * unit, gap);
  else
    layout.nearest = ImRect(body.Max, body.Max);
  layout.shown = std::clamp<Index>(std::min(dims, static_cast<Index>(body.GetWidth() / (38 * unit))), 1, 12);
  const float strip = std::clamp(0.22f * body.GetHeight(), 14 * unit, 36 * unit);
  layout.dims = ImRect(body.Min.x, body.Max.y - 14 * unit, body.Max.x, body.Max.y);
  layout.cells = ImRect(body.Min.x, layout.dims.Min.y - 22 * unit, body.Max.x, layout.dims.Min.y);
  layout.strip = ImRect(body.Min, ImVec2(body.Max.x, body.Min.y + strip));
  layout.bars = ImRect(body.Min.x, layout.strip.Max.y + 8 * unit, body.Max.x, layout.cells.Min.y - 4 * unit);
  return layout;
}

WordCardEdit wordCard(View& view, WordCardState& state, const WordCardSubject& subject, const ImRect& area) {
  WordCardEdit edit;
  paintCard(view, area, subject.x);
  track("word.card", area.Min, area.Max);
  if (!ImGui::IsMouseDown(0)) state.drag.kind = WordCardState::Drag::Kind::none;
  derive(state, subject);
  const WordCardLayout layout =
      layWordCard(insideCard(view, area), view.unit, subject.values.cols(), !view.present);
  if (layout.bars.GetHeight() < view.px(8) || layout.bars.GetWidth() < view.px(60)) return edit;
  cardHead(view, state, subject, layout.head, edit);
  wordNumbers(view, state, subject, layout, edit);
  if (layout.nearest.GetWidth() > 0) nearestPart(view, state, subject, layout.nearest);
  wordMap(view, state, subject, layout.map, edit);
  cardFoot(view, state, subject, layout.foot, edit);
  return edit;
}

WordCardEdit emptyWordCard(View& view, const std::string& why, const ImRect& area) {
  WordCardEdit edit;
  paintCard(view, area, -1);
  track("word.card", area.Min, area.Max);
  const ImRect inside = insideCard(view, area);
  if (!view.present) {
    ControlLine line(view, ImRect(inside.Min, ImVec2(inside.Max.x, inside.Min.y + view.px(36))),
                     ControlLine::From::right, 8);
    edit.close = line.button("word.close", "Close");
  }
  paintFitted(view, *ImGui::GetWindowDrawList(), view.fonts->text, inside.GetCenter(), inside.GetWidth(),
              view.theme->secondary, why, Align::center);
  return edit;
}

}  // namespace headscope::app
