#include "app/pages/common/token_chips.h"

#include <fmt/core.h>

#include "app/kit/rows.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

constexpr std::size_t kMaxChips = 400;  // further tokens are counted, not drawn

struct ChipStyle {
  bool isQuery, isKey, isPad, isWritten;
  std::uint32_t ghost = 0;  ///< of the outline while it is hovered; 0 = none
};

float chipWidth(const View& view, const std::string& index, const std::string& text) {
  return textWidth(view.fonts->monoSmall, index) + textWidth(view.fonts->monoSmall, text) + view.px(18);
}

void paintChip(const View& view, ImVec2 from, ImVec2 to, const std::string& index, const std::string& text,
               ChipStyle style) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const std::uint32_t accent = style.isQuery ? theme.query : theme.key;
  const bool lit = style.isQuery || style.isKey;
  if (lit || !style.isWritten)
    list.AddRectFilled(from, to, lit ? mixed(theme.panel, accent, 0.16f) : theme.raised, view.px(4));
  else
    compat::rectOutline(list, from, to, theme.faint, view.px(4), 1);
  const float y = (from.y + to.y) / 2;
  const float x = from.x + view.px(6);
  const float offset =
      paintText(list, view.fonts->monoSmall, ImVec2(x, y), lit ? theme.secondary : theme.faint, index);
  paintText(list, view.fonts->monoSmall, ImVec2(x + offset + view.px(6), y),
            style.isPad ? theme.faint
            : lit       ? (theme.light ? mixed(accent, theme.text, 0.45f) : accent)
                        : theme.text,
            text);
  // A cue besides colour: a bar below the query, a bar above the key.
  if (style.isQuery)
    list.AddRectFilled(ImVec2(from.x + view.px(4), to.y - view.px(2)), ImVec2(to.x - view.px(4), to.y),
                       theme.query);
  if (style.isKey)
    list.AddRectFilled(ImVec2(from.x + view.px(4), from.y), ImVec2(to.x - view.px(4), from.y + view.px(2)),
                       theme.key);
  if (style.ghost) paintGhost(view, list, "ghost", insideChip(view, {from, to}), style.ghost);
}

/// Rows of chips shown before the box scrolls.
constexpr int kChipRows = 6;

/// Draws the tokens as chips. Hovering over one shows its row (if queries) and its column (if keys) dashed.
void chipRows(View& view, const std::string& name, const std::vector<attention::Token>& tokens,
              const ChipRoles& roles, Cursor& cursor) {
  const Cell selected = cursor.cell;
  const Theme& theme = *view.theme;
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = view.px(23), space = view.px(5);
  ImVec2 at = start;
  trackTokens(name, {nullptr, &tokens});
  const std::size_t shown = std::min(tokens.size(), kMaxChips);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto position = static_cast<Index>(i);
    const std::string index = std::to_string(i);
    const std::string text = fitted(view.fonts->monoSmall, tokens[i].text, width - view.px(50));
    const float wide = chipWidth(view, index, text);
    if (at.x > start.x && at.x + wide > start.x + width) at = ImVec2(start.x, at.y + height + space);
    const bool clicked = hitArea(name + "." + index, at, ImVec2(wide, height));
    if (ImGui::IsItemHovered()) {
      if (roles.areQueries) view.nextHover.query = position;
      if (roles.areKeys) view.nextHover.key = position;
    }
    if (clicked && roles.areQueries) cursor.cell.query = position;
    if (clicked && !roles.areQueries) choose(cursor, {selected.head, selected.query, position});
    const auto isQuery = [&](Index query) { return roles.areQueries && position == query; };
    const auto isKey = [&](Index key) { return roles.areKeys && position == key; };
    const ChipStyle style{isQuery(selected.query), isKey(selected.key), position >= roles.realLength,
                          roles.writtenFrom >= 0 && position >= roles.writtenFrom,
                          isQuery(view.hover.query) && !isQuery(selected.query) ? theme.query
                          : isKey(view.hover.key) && !isKey(selected.key)       ? theme.key
                                                                                : 0};
    if (ImGui::IsItemVisible()) paintChip(view, at, ImVec2(at.x + wide, at.y + height), index, text, style);
    at.x += wide + space;
  }
  ImGui::SetCursorScreenPos(start);
  ImGui::Dummy(ImVec2(width, at.y + height - start.y));
  if (shown < tokens.size()) hint(view, "and " + countText(tokens.size() - shown) + " more tokens");
}

}  // namespace

ImRect insideChip(const View& view, ImRect chip) {
  chip.Expand(-view.px(2.2f));
  return chip;
}

float tokenChipsHeight(const View& view, const std::vector<attention::Token>& tokens, float width) {
  float x = 0;
  int rows = 1;
  for (std::size_t i = 0; i < std::min(tokens.size(), kMaxChips) && rows <= kChipRows; ++i) {
    const float wide = std::min(width, chipWidth(view, std::to_string(i), tokens[i].text));
    if (x > 0 && x + wide > width) {
      x = 0;
      ++rows;
    }
    x += wide + view.px(5);
  }
  return static_cast<float>(std::min(rows, kChipRows)) * view.px(28) + (rows > kChipRows ? view.px(10) : 0);
}

void tokenChips(View& view, const std::string& name, const std::vector<attention::Token>& tokens,
                const ChipRoles& roles, Cursor& cursor) {
  const float height = tokenChipsHeight(view, tokens, ImGui::GetContentRegionAvail().x);
  ImGui::BeginChild((name + ".box").c_str(), ImVec2(0, height), false,
                    ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar);
  chipRows(view, name, tokens, roles, cursor);
  compat::endChild();
}

namespace {

/// Joins words: "zebra and quantum", "zebra, quantum, qubit and 3 more".
std::string someOf(const std::vector<std::string>& words) {
  constexpr std::size_t kMax = 4;
  const std::size_t shown = words.size() > kMax ? kMax - 1 : words.size();
  std::string text;
  for (std::size_t i = 0; i < shown; ++i)
    text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
  return shown < words.size() ? fmt::format("{} and {} more", text, words.size() - shown) : text;
}

/// Appends a word to the text, separated by a space.
void append(Scene& scene, const std::string& word) {
  std::string text = scene.setup.input.text;
  if (!text.empty() && text.back() != ' ' && text.back() != '\n') text += ' ';
  scene.setup.input.text = text + word;
}

}  // namespace

void unknownWords(const Scene& scene, View& view) {
  const auto& opened = scene.setup.subject.opened;
  if (!opened || scene.setup.input.source != EmbeddingSource::text) return;
  const std::vector<std::string> unknown = wordsOutside(opened->learned.words, *scene.setup.input.text);
  if (unknown.empty()) return;
  Rows rows(view);
  rows.space(2);
  rows.paragraph(view.fonts->small,
                 fmt::format("Outside {}'s vocabulary of {} words, so split into pieces: {}", opened->name,
                             opened->learned.words.size(), someOf(unknown)),
                 "words.unknown", view.theme->warning);
  if (scene.setup.subject.model != kLearned) return;  // the actions belong to that model
  if (button(view, "words.list", "Vocabulary…")) view.request("model.words");
  ImGui::SameLine(0, view.px(8));
  if (button(view, "words.examples", "Example texts…"))
    for (const LearnedSkill& skill : opened->learned.skills) view.menu.push_back(exampleAction(skill));
}

std::string exampleAction(const LearnedSkill& skill) {
  return "model.example." + skill.name;
}

void WordList::draw(Scene& scene, View& view, bool) {
  if (beginDialog(view, "words", fmt::format("{} words in Miniature's vocabulary", learned_->words.size()),
                  720, 560)) {
    hint(view,
         "Other words split into pieces that the model hardly knows. Click a word to add it to the text.");
    gap(view, 4);
    ImGui::BeginChild("words.all", ImVec2(0, 0), false, ImGuiWindowFlags_NoBackground);
    ImFont* font = view.fonts->mono;
    const float column = view.px(112), high = view.px(25);
    const auto columns = std::max<std::size_t>(
        1, static_cast<std::size_t>(std::max(0.0f, ImGui::GetContentRegionAvail().x) / column));
    const std::size_t rows = (learned_->words.size() + columns - 1) / columns;
    const ImVec2 from = ImGui::GetCursorScreenPos();
    Canvas list = *ImGui::GetWindowDrawList();
    for (std::size_t i = 0; i < learned_->words.size(); ++i) {
      const std::string& word = learned_->words[i];
      const ImVec2 at(from.x + column * static_cast<float>(i / rows),
                      from.y + high * static_cast<float>(i % rows));
      if (hitArea("word." + word, at, ImVec2(column - view.px(4), high))) append(scene, word);
      if (ImGui::IsItemHovered())
        list.AddRectFilled(at, ImVec2(at.x + column - view.px(4), at.y + high), view.theme->line, view.px(4));
      paintText(list, font, ImVec2(at.x + view.px(6), at.y + high / 2), view.theme->text, word);
    }
    ImGui::SetCursorScreenPos(ImVec2(from.x, from.y + high * static_cast<float>(rows)));
    ImGui::Dummy(ImVec2(1, 1));
    compat::endChild();
  }
  endDialog();
}

}  // namespace headscope::app
