#include <fmt/core.h>

#include <algorithm>

#include "app/labs/heads/heads_page.h"
#include "app/platform/track.h"
#include "app/scene/mask_rules.h"
#include "app/scene/number_text.h"
#include "app/widgets/field_controls.h"
#include "app/widgets/paint.h"
#include "app/widgets/text_box.h"

namespace headscope::app {

namespace {

constexpr std::size_t kMaxChips = 400;  // more are counted, not drawn

std::string tokenCount(Index count) {
  return countText(static_cast<std::uint64_t>(count)) + (count == 1 ? " token" : " tokens");
}

struct ChipStyle {
  bool isQuery, isKey, isPad;
};

float chipWidth(const View& view, const std::string& index, const std::string& text) {
  return textWidth(view.fonts->monoSmall, index) + textWidth(view.fonts->monoSmall, text) + view.px(18);
}

void paintChip(const View& view, ImVec2 from, ImVec2 to, const std::string& index, const std::string& text,
               ChipStyle style) {
  const Theme& theme = *view.theme;
  ImDrawList& list = *ImGui::GetWindowDrawList();
  const std::uint32_t accent = style.isQuery ? theme.query : theme.key;
  const bool lit = style.isQuery || style.isKey;
  list.AddRectFilled(from, to, lit ? mixed(theme.panel, accent, 0.16f) : theme.raised, view.px(4));
  const float y = (from.y + to.y) / 2;
  const float x = from.x + view.px(6);
  const float offset =
      paintText(list, view.fonts->monoSmall, ImVec2(x, y), lit ? theme.secondary : theme.faint, index);
  paintText(list, view.fonts->monoSmall, ImVec2(x + offset + view.px(6), y),
            style.isPad ? theme.faint
            : lit       ? (theme.light ? mixed(accent, theme.text, 0.45f) : accent)
                        : theme.text,
            text);
  // Shape says it again: a bar under the query, a bar over the key.
  if (style.isQuery)
    list.AddRectFilled(ImVec2(from.x + view.px(4), to.y - view.px(2)), ImVec2(to.x - view.px(4), to.y),
                       theme.query);
  if (style.isKey)
    list.AddRectFilled(ImVec2(from.x + view.px(4), from.y), ImVec2(to.x - view.px(4), from.y + view.px(2)),
                       theme.key);
}

/// As many rows of chips as are shown before they scroll.
constexpr int kChipRows = 6;

/// The height that chips of these widths take in rows of `width`.
float chipsHeight(const View& view, const std::vector<attention::Token>& tokens, float width) {
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

/// The tokens as chips. Pointing at one lights its row (queries) and its column (keys).
void chipRows(View& view, const std::string& name, const std::vector<attention::Token>& tokens,
              Index realLength, bool areQueries, bool areKeys, const Cell& selected, Cursor& cursor) {
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = view.px(23), space = view.px(5);
  const Index litQuery = view.hover.query >= 0 ? view.hover.query : selected.query;
  const Index litKey = view.hover.key >= 0 ? view.hover.key : selected.key;
  ImVec2 at = start;
  const std::size_t shown = std::min(tokens.size(), kMaxChips);
  for (std::size_t i = 0; i < shown; ++i) {
    const auto position = static_cast<Index>(i);
    const std::string index = std::to_string(i);
    const std::string text = fitted(view.fonts->monoSmall, tokens[i].text, width - view.px(50));
    const float wide = chipWidth(view, index, text);
    if (at.x > start.x && at.x + wide > start.x + width) at = ImVec2(start.x, at.y + height + space);
    ImGui::SetCursorScreenPos(at);
    ImGui::PushID(static_cast<int>(i));
    const bool clicked = ImGui::InvisibleButton(name.c_str(), ImVec2(wide, height));
    trackItem(name + "." + index);
    ImGui::PopID();
    if (ImGui::IsItemHovered()) {
      if (areQueries) view.nextHover.query = position;
      if (areKeys) view.nextHover.key = position;
    }
    if (clicked && areQueries) cursor.cell.query = position;
    if (clicked && !areQueries) cursor.cell.key = position;
    paintChip(view, at, ImVec2(at.x + wide, at.y + height), index, text,
              {areQueries && position == litQuery, areKeys && position == litKey, position >= realLength});
    at.x += wide + space;
  }
  ImGui::SetCursorScreenPos(start);
  ImGui::Dummy(ImVec2(width, at.y + height - start.y));
  if (shown < tokens.size()) hint(view, "and " + countText(tokens.size() - shown) + " more tokens");
}

/// The chips in a box of their own, so that a long text leaves room for the controls below.
void chips(View& view, const std::string& name, const std::vector<attention::Token>& tokens, Index realLength,
           bool areQueries, bool areKeys, const Cell& selected, Cursor& cursor) {
  const float height = chipsHeight(view, tokens, ImGui::GetContentRegionAvail().x);
  ImGui::BeginChild((name + ".box").c_str(), ImVec2(0, height), false,
                    ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoScrollbar);
  chipRows(view, name, tokens, realLength, areQueries, areKeys, selected, cursor);
  ImGui::EndChild();
}

/// Which line of the batch the heatmaps show.
void sequenceChoice(Scene& scene, const Snapshot& snapshot, View& view) {
  if (snapshot.sequences.size() < 2) return;
  gap(view, 4);
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < snapshot.sequences.size(); ++i) {
    const SequenceSnapshot& sequence = snapshot.sequences[i];
    choices.push_back(
        {fmt::format("Sequence {} · {}", i, tokenCount(sequence.queryLength)), "", std::to_string(i)});
  }
  int chosen =
      static_cast<int>(std::clamp<Index>(scene.cursor.sequence, 0, static_cast<Index>(choices.size()) - 1));
  if (dropdown(view, "sequence", choices, chosen, ImGui::GetContentRegionAvail().x))
    scene.cursor.sequence = chosen;
}

void embeddingChoice(Scene& scene, View& view) {
  const InputSetup& input = scene.setup.input;
  const std::string crossReason =
      input.cross ? "Cross-attention reads two texts; typed embeddings are one sequence" : "";
  if (fieldChoice(view, scene, "input.embedding", {"", crossReason}) &&
      input.source == EmbeddingSource::table)
    view.request("table.edit");
}

void tableControls(Scene& scene, View& view) {
  const attention::Table& table = *scene.setup.input.table;
  hint(view, fmt::format("{} tokens × {} dimensions", table.values.rows(), table.values.cols()));
  if (button(view, "edit_table", "Edit table…")) view.request("table.edit");
  ImGui::SameLine(0, view.px(8));
  if (button(view, "load_table", "Load file…")) view.request("table.open");
}

}  // namespace

void inputSection(Scene& scene, const Snapshot* snapshot, View& view) {
  InputSetup& input = scene.setup.input;
  const SequenceSnapshot* sequence = shownSequence(scene, snapshot);
  const bool typed = input.source == EmbeddingSource::text;
  sectionTitle(view, "TOKENS", sequence ? tokenCount(sequence->queryLength) : "");
  if (typed) {
    textBox(view, "text", input.text, 3, "Type a sentence. Each line is a sequence.");
    gap(view, 2);
    fieldChoice(view, scene, "input.tokenization");
  } else {
    tableControls(scene, view);
  }
  if (const PlacedError* error = errorAt(snapshot, Place::input)) problem(view, error->message);
  if (sequence) {
    gap(view, 2);
    chips(view, "token", sequence->queries, sequence->queryLength, true, !input.cross, scene.cursor.cell,
          scene.cursor);
    sequenceChoice(scene, *snapshot, view);
  }
  if (input.cross) {
    gap(view, 6);
    sectionTitle(view, "CONTEXT", sequence ? tokenCount(sequence->keyLength) : "");
    textBox(view, "context", input.contextText, 2, "The text that is read: keys and values.");
    if (const PlacedError* error = errorAt(snapshot, Place::context))
      error->waits ? hint(view, error->message) : problem(view, error->message);
    if (sequence) {
      gap(view, 2);
      chips(view, "context_token", sequence->keys, sequence->keyLength, false, true, scene.cursor.cell,
            scene.cursor);
    }
  }
  gap(view, 2);
  if (typed) {
    fieldToggle(view, scene, "input.ignore_case");
    if (fieldToggle(view, scene, "input.cross")) {
      if (input.cross && input.contextText.empty()) input.contextText = kSampleContext;
      followCross(scene.setup);
    }
  }
  embeddingChoice(scene, view);
}

}  // namespace headscope::app
