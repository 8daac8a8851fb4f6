#include "app/kit/sentence.h"

#include <fmt/core.h>

#include "app/kit/sentence_parts.h"
#include "app/platform/track.h"
#include "app/platform/ui_state.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/heat_parts.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"

namespace headscope::app {

namespace {

constexpr float kWords = 38, kWeights = 22;       ///< heights of a line of words, and of the weights
constexpr float kAll = 20, kDots = 26;            ///< of the strip of all words, and of the dots
constexpr float kLeastArcs = 30, kMostArcs = 94;  ///< of the room for arcs
constexpr Index kStripFrom = 25;                  ///< so many words have a strip
constexpr float kNamed = 0.005f, kKeeps = 0.02f;  ///< weights with a number; weights that keep a word

const std::vector<attention::Token>& keysOf(const SentenceSubject& subject) {
  return subject.cross() ? subject.sequence.keys : subject.sequence.queries;
}

std::vector<float> rowOf(const SentenceSubject& subject) {
  const auto row = subject.sequence.probabilities()[subject.at.head].row(subject.at.query);
  return {row.data(), row.data() + row.size()};
}

/// A line of tokens, laid out in the larger of two types that fits.
SentenceWords wordsOf(const View& view, const std::vector<attention::Token>& tokens,
                      const std::vector<Index>& byImportance, float room) {
  SentenceWords words;
  for (ImFont* font : {view.fonts->sentence, view.fonts->sentenceSmall}) {
    words.font = font;
    std::vector<float> widths;
    for (const attention::Token& token : tokens)
      widths.push_back(std::clamp(textWidth(font, token.text), view.px(8), view.px(260)));
    const LineSizes sizes{room, textWidth(font, " ") + view.px(5),
                          textWidth(view.fonts->small, fmt::format("⋯ {}", tokens.size())) + view.px(16)};
    words.pieces = layLine(widths, byImportance, sizes);
    if (!words.folds()) break;
  }
  return words;
}

/// The layout of the sentence on `room` pixels from `left`.
void layOut(const View& view, SentenceState& state, const SentenceSubject& subject, float left, float room) {
  constexpr Index kQuick = 200;  // fewer words are laid out again in each frame
  constexpr double kKept = 1;    // seconds
  const std::vector<attention::Token>&queries = subject.sequence.queries, &tokens = keysOf(subject);
  const std::tuple now(&subject.sequence, subject.at, room, view.fonts->sentence, state.opened);
  SentenceLayout& layout = state.layout;
  const bool quick = std::ssize(tokens) < kQuick && std::ssize(queries) < kQuick;
  if (quick || now != state.laidOut || view.time - state.laidOutAt > kKept) {
    const Index own = subject.cross() ? subject.at.key : subject.at.query;
    const auto order = wordsByImportance(std::ssize(tokens), own, rowOf(subject), kKeeps, state.opened);
    layout.keys = layout.queries = wordsOf(view, tokens, order, room);
    if (subject.cross())
      layout.queries =
          wordsOf(view, queries, wordsByImportance(std::ssize(queries), subject.at.query, {}, 1, -1), room);
    layout.most = readMost(subject);
    state.laidOut = now;
    state.laidOutAt = view.time;
  }
  layout.keys.left = layout.queries.left = left;
}

bool hasStrip(const SentenceSubject& subject) {
  return std::ssize(keysOf(subject)) >= kStripFrom;
}

/// Draws the words, and reacts to the pointer over them.
class WordLine {
 public:
  WordLine(View& view, SentenceState& state, const SentenceSubject& subject, SentenceHit& hit)
      : view_(view), state_(state), subject_(subject), hit_(hit) {}

  void paint(const SentenceWords& words, const std::vector<attention::Token>& tokens, bool queries) {
    for (const LinePiece& piece : words.pieces)
      piece.folded ? folded(words, piece, queries) : word(words, tokens, piece, queries);
  }

 private:
  std::uint32_t ink(Index at, bool queries) const {
    const Theme& theme = *view_.theme;
    const Cell& cell = subject_.at;
    if ((queries || !subject_.cross()) && at == cell.query) return theme.query;
    if ((!queries || !subject_.cross()) && at == cell.key) return theme.key;
    if (subject_.steps >= 0 && at >= subject_.steps) return theme.faint;
    const bool read = queries && subject_.cross() ? false : subject_.visible(cell.head, cell.query, at);
    return read ? theme.text : theme.faint;
  }

  void word(const SentenceWords& words, const std::vector<attention::Token>& tokens, const LinePiece& piece,
            bool queries) {
    const Theme& theme = *view_.theme;
    Canvas list = *ImGui::GetWindowDrawList();
    const ImRect box = words.box(view_, piece);
    const bool isQuery = queries || !subject_.cross(), isKey = !queries || !subject_.cross();
    const std::string name = fmt::format("sentence.{}.{}", isQuery ? "query" : "key", piece.from);
    const bool clicked = hitArea(name, box), over = ImGui::IsItemHovered();
    const float thick = std::max(2.0f, std::round(view_.px(2))), tint = theme.light ? 0.06f : 0.2f;
    if (isQuery && piece.from == subject_.at.query) {
      list.AddRectFilled(box.Min, box.Max, mixed(theme.background, theme.query, tint), view_.px(5));
      list.AddRectFilled(ImVec2(box.Min.x, box.Max.y - thick), box.Max, theme.query);
    }
    if (isKey && piece.from == subject_.at.key) {
      if (!isQuery || piece.from != subject_.at.query)
        list.AddRectFilled(box.Min, box.Max, mixed(theme.background, theme.key, tint), view_.px(5));
      list.AddRectFilled(box.Min, ImVec2(box.Max.x, box.Min.y + thick), theme.key);
    }
    if (isKey && view_.hover.key == piece.from && piece.from != subject_.at.key)
      paintGhost(view_, list, "ghost", box, theme.key);
    if (isQuery && view_.hover.query == piece.from && piece.from != subject_.at.query)
      paintGhost(view_, list, "ghost", box, theme.query);
    paintFitted(view_, list, words.font, ImVec2(box.GetCenter().x, words.y), piece.width + view_.px(2),
                ink(piece.from, queries), tokens[static_cast<std::size_t>(piece.from)].text, Align::center);
    if (!over) return;
    (isQuery ? hit_.query : hit_.key) = piece.from;
    hit_.clicked = clicked;
    hit_.offers = ImGui::IsMouseClicked(1);
  }

  /// "⋯ 53": a click unfolds the words in its middle.
  void folded(const SentenceWords& words, const LinePiece& piece, bool queries) {
    const Theme& theme = *view_.theme;
    Canvas list = *ImGui::GetWindowDrawList();
    const float half = view_.px(10), left = words.left + piece.x;
    const ImRect box(left, words.y - half, left + piece.width, words.y + half);
    const bool clicked = hitArea(fmt::format("sentence.folded.{}", piece.from), box);
    list.AddRectFilled(box.Min, box.Max, ImGui::IsItemHovered() ? theme.line : theme.raised, view_.px(5));
    paintText(list, view_.fonts->small, box.GetCenter(), theme.secondary,
              fmt::format("⋯ {}", piece.to - piece.from), Align::center);
    if (clicked) state_.opened = (piece.from + piece.to) / 2;
    if (!ImGui::IsItemHovered()) return;
    float weight = 0;
    if (!queries || !subject_.cross())
      for (Index key = piece.from; key < piece.to; ++key)
        weight += subject_.weight(subject_.at.head, subject_.at.query, key);
    tooltip(view_, fmt::format("words {} to {}, with {} of the weight. Click to unfold.", piece.from,
                               piece.to - 1, weightText(weight)));
  }

  View& view_;
  SentenceState& state_;
  const SentenceSubject& subject_;
  SentenceHit& hit_;
};

constexpr const char* kLookAt = "heads look at";

/// The width of the column of labels, the longest of which names the dots.
float labelsWidth(const View& view) {
  return textWidth(view.fonts->small, kLookAt) + view.px(10);
}

void label(const View& view, float right, float y, const std::string& text, std::uint32_t color = 0) {
  paintText(*ImGui::GetWindowDrawList(), view.fonts->small, ImVec2(right - view.px(10), y),
            color ? color : view.theme->faint, text, Align::right);
}

/// The weights under the words, and what hides the words that have none.
void paintWeights(const View& view, const SentenceSubject& subject, const SentenceWords& keys, float y) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const Cell& cell = subject.at;
  // Under short words, the selected key's number comes first, then the largest for which there is room.
  const auto isOwn = [&](const LinePiece& piece) { return !piece.folded && piece.from == cell.key; };
  std::vector<std::pair<float, const LinePiece*>> named;
  for (const LinePiece& piece : keys.pieces) {
    float weight = 0;
    for (Index key = piece.from; key < piece.to; ++key) weight += subject.weight(cell.head, cell.query, key);
    if (weight >= kNamed) named.emplace_back(weight, &piece);
  }
  std::ranges::stable_sort(named, [&](const auto& a, const auto& b) {
    return std::pair(isOwn(*a.second), a.first) > std::pair(isOwn(*b.second), b.first);
  });
  std::vector<std::pair<float, float>> taken;
  for (const auto& [weight, piece] : named) {
    const bool own = isOwn(*piece);
    ImFont* const font = own ? view.fonts->mono : view.fonts->monoSmall;
    const std::string text = own ? weightText(weight) : briefShare(weight);
    const float middle = keys.left + piece->middle(), half = textWidth(font, text) / 2 + view.px(3);
    if (std::ranges::any_of(taken, [&](const auto& other) {
          return middle - half < other.second && middle + half > other.first;
        }))
      continue;
    taken.emplace_back(middle - half, middle + half);
    paintText(list, font, ImVec2(middle, y),
              own             ? theme.key
              : piece->folded ? theme.faint
                              : theme.secondary,
              text, Align::center);
  }
  paintHidden(view, subject, keys, y);
}

/// All words as cells, with those that the line shows underlined. A click unfolds there.
void allWords(View& view, SentenceState& state, const SentenceSubject& subject, const SentenceWords& keys,
              const ImRect& strip) {
  Canvas list = *ImGui::GetWindowDrawList();
  const Theme& theme = *view.theme;
  const Index count = std::ssize(keysOf(subject));
  attention::Matrix row(1, count);
  for (Index key = 0; key < count; ++key)
    row(0, key) = subject.visible(subject.at.head, subject.at.query, key)
                      ? subject.weight(subject.at.head, subject.at.query, key)
                      : render::kMaskedCell;
  paintPooledRow(view, list, strip, row, subject.look.colormap);
  const auto x = [&](Index at) {
    return strip.Min.x + strip.GetWidth() * static_cast<float>(at) / static_cast<float>(count);
  };
  for (const LinePiece& piece : keys.pieces)
    if (!piece.folded)
      list.AddRectFilled(ImVec2(x(piece.from), strip.Max.y + view.px(2)),
                         ImVec2(std::max(x(piece.to), x(piece.from) + 1), strip.Max.y + view.px(4)),
                         piece.from == subject.at.key ? theme.key : theme.secondary);
  if (!subject.cross())
    paintMark(view, list, "query",
              {ImVec2(x(subject.at.query), strip.Min.y), ImVec2(x(subject.at.query + 1), strip.Max.y)},
              theme.query);
  hitArea("sentence.all", strip);
  if (!ImGui::IsItemActive() && !ImGui::IsItemHovered()) return;
  const float share = (ImGui::GetIO().MousePos.x - strip.Min.x) / strip.GetWidth();
  const Index at = std::clamp<Index>(static_cast<Index>(share * static_cast<float>(count)), 0, count - 1);
  if (ImGui::IsItemActive()) state.opened = at;
  tooltip(view, fmt::format("{} {}: {}", at, keysOf(subject)[static_cast<std::size_t>(at)].text,
                            weightText(subject.weight(subject.at.head, subject.at.query, at))));
}

/// The words and their weights.
float wordsHeight(const View& view, const SentenceSubject& subject) {
  return view.px(kWords * (subject.cross() ? 2 : 1) + kWeights);
}

}  // namespace

float sentenceHeight(const View& view, const SentenceSubject& subject, float width, float most) {
  if (subject.sequence.queryLength == 0 || width < view.px(360)) return 0;
  const float words = wordsHeight(view, subject), strip = hasStrip(subject) ? view.px(kAll) : 0;
  const float least = words + view.px(kLeastArcs) + strip, roomy = words + view.px(kDots + kMostArcs) + strip;
  return most < least ? 0 : std::clamp(most, least, roomy);
}

SentenceHit sentence(View& view, SentenceState& state, const SentenceSubject& subject, const ImRect& area) {
  SentenceHit hit;
  const std::vector<attention::Token>& tokens = keysOf(subject);
  const float left = area.Min.x + labelsWidth(view), room = area.Max.x - left - view.px(4);
  layOut(view, state, subject, left, room);
  SentenceWords &keys = state.layout.keys, &queries = state.layout.queries;
  const bool strip = keys.folds() || hasStrip(subject);
  // In a low area the dots leave first.
  const float high = wordsHeight(view, subject) + view.px(kLeastArcs + (strip ? kAll : 0));
  const float dots = area.GetHeight() >= high + view.px(kDots) ? view.px(kDots) : 0;
  float y = area.Max.y - dots - view.px(kWeights + (strip ? kAll : 0));
  keys.y = y - view.px(kWords / 2);
  queries.y = subject.cross() ? area.Min.y + view.px(kWords / 2) : keys.y;
  const auto tags = paintCompared(view, subject, state.compared, queries, keys, area.Min.y);
  paintBand(view, subject, queries, keys, area.Min.y);
  paintTags(view, tags);
  WordLine line(view, state, subject, hit);
  line.paint(keys, tokens, !subject.cross());
  if (subject.cross()) line.paint(queries, subject.sequence.queries, true);
  label(view, left, queries.y, headName(subject.at.head), view.theme->text);
  const float weights = y + view.px(kWeights / 2 - 2);
  label(view, left, weights, "weight");
  paintWeights(view, subject, keys, weights);
  y += view.px(kWeights);
  if (strip) {
    label(view, left, y + view.px(6), fmt::format("all {}", tokens.size()));
    allWords(view, state, subject, keys, {left, y, left + room, y + view.px(12)});
    y += view.px(kAll);
  }
  if (dots > 0) {
    label(view, left, y + dots / 2, kLookAt);
    headDots(view, state, subject, ImRect(left, y, left + room, y + dots), hit);
  }
  track("sentence", area.Min, area.Max);
  notePicture(area);
  return hit;
}

}  // namespace headscope::app
