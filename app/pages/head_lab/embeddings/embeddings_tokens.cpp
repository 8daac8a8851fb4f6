#include <fmt/core.h>

#include <algorithm>

#include "app/pages/common/token_chips.h"
#include "app/pages/head_lab/embeddings/embeddings_state.h"
#include "app/platform/track.h"
#include "app/scene/embedding_table.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

using Kind = EmbeddingsState::Drag::Kind;

Index chosenToken(const Scene& scene, const EmbeddingsState& hand) {
  return std::clamp<Index>(scene.cursor.cell.query, 0, tableNow(scene, hand).values.rows() - 1);
}

}  // namespace

std::string whyNot(const Scene& scene, const EmbeddingsState& hand, TokenEdit edit) {
  const Index rows = tableNow(scene, hand).values.rows(), at = chosenToken(scene, hand);
  switch (edit) {
    case TokenEdit::duplicate:
    case TokenEdit::insert:
      return rows < kMaxTokens ? "" : "At most 2,048 tokens.";
    case TokenEdit::remove:
      return rows > 1 ? "" : "At least one token.";
    case TokenEdit::swapBack:
      return at > 0 ? "" : "This is the first token.";
    case TokenEdit::swapOn:
      return at + 1 < rows ? "" : "This is the last token.";
  }
  return "";
}

void editToken(Scene& scene, EmbeddingsState& hand, TokenEdit edit) {
  if (!whyNot(scene, hand, edit).empty()) return;
  attention::Table table = tableNow(scene, hand);
  Index& chosen = scene.cursor.cell.query;
  const Index at = chosen = chosenToken(scene, hand);
  switch (edit) {
    case TokenEdit::duplicate:
      duplicateToken(table, at);
      chosen = at + 1;
      break;
    case TokenEdit::remove:
      removeToken(table, at);
      chosen = std::min(at, table.values.rows() - 1);
      break;
    case TokenEdit::insert:
      insertToken(table, at + 1, "new");
      chosen = at + 1;
      break;
    case TokenEdit::swapBack:
      swapTokens(table, at, at - 1);
      chosen = at - 1;
      break;
    case TokenEdit::swapOn:
      swapTokens(table, at, at + 1);
      chosen = at + 1;
      break;
  }
  setTable(scene, hand, std::move(table), "");
}

namespace {

std::optional<Index> chipUnder(ImVec2 mouse, Index count) {
  for (Index i = 0; i < count; ++i)
    if (const auto chip = tracked(fmt::format("hand.token.{}", i)); chip && chip->Contains(mouse)) return i;
  return std::nullopt;
}

/// A chip that is dropped on another changes places with it.
void dragChips(Scene& scene, EmbeddingsState& hand) {
  const View& view = hand.page.view;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const Index rows = tableNow(scene, hand).values.rows();
  EmbeddingsState::Drag& drag = hand.drag;
  if (ImGui::IsMouseClicked(0))
    if (const auto chip = chipUnder(mouse, rows)) {
      drag = {};
      drag.kind = Kind::chip;
      drag.row = *chip;
      drag.from = mouse;
    }
  if (!hand.drags(Kind::chip)) return;
  const auto under = chipUnder(mouse, rows);
  const bool elsewhere = under && *under != drag.row && drag.row < rows;
  if (ImGui::IsMouseDown(0)) {
    if (!elsewhere) return;
    const ImRect target = *tracked(fmt::format("hand.token.{}", *under));
    compat::rectOutline(*ImGui::GetWindowDrawList(), ImVec2(target.Min.x - 2, target.Min.y - 2),
                        ImVec2(target.Max.x + 2, target.Max.y + 2), view.theme->text, view.px(5), view.px(2));
    return;
  }
  drag.kind = Kind::none;
  if (!elsewhere) return;
  attention::Table table = tableNow(scene, hand);
  swapTokens(table, drag.row, *under);
  scene.cursor.cell.query = *under;
  setTable(scene, hand, std::move(table), "");
}

}  // namespace

void pasteTable(Scene& scene, EmbeddingsState& hand) {
  const char* clip = ImGui::GetClipboardText();
  attention::Result<attention::Table> table = pastedTable(clip ? clip : "");
  if (!table) {
    hand.problem = table.error().message;
    return;
  }
  hand.problem.clear();
  hand.kept.reset();
  editTable(scene, *std::move(table));
}

namespace {

/// Buttons from the right; returns where they begin.
float buttons(Scene& scene, EmbeddingsState& hand, const ImRect& area) {
  View& view = hand.page.view;
  const bool typed = scene.setup.input.source == EmbeddingSource::table;
  struct Command {
    const char *name, *label;
    std::string reason;
    std::function<void()> run;
  };
  const auto edits = [&](const char* name, const char* label, TokenEdit edit) {
    return Command{name, label, whyNot(scene, hand, edit),
                   [&scene, &hand, edit] { editToken(scene, hand, edit); }};
  };
  std::vector<Command> commands{
      edits("hand.swap_back", "← Swap", TokenEdit::swapBack),
      edits("hand.swap_on", "Swap →", TokenEdit::swapOn),
      edits("hand.duplicate", "Duplicate", TokenEdit::duplicate),
      edits("hand.insert", "Insert", TokenEdit::insert),
      edits("hand.delete", "Delete", TokenEdit::remove),
      {"hand.copy", "Copy", "",
       [&] {
         ImGui::SetClipboardText(attention::formatCsv(tableNow(scene, hand)).c_str());
         view.tell("Copied the embeddings as CSV", view.pressedAt);
       }},
      {"hand.paste", "Paste", "", [&] { pasteTable(scene, hand); }},
      {"hand.text", "Reset to text", typed ? "" : "The embeddings already come from the text.", [&] {
         scene.setup.input.source = EmbeddingSource::text;
         hand.kept.reset();
       }}};
  float wide = -view.px(8);
  for (const Command& command : commands)
    wide += textWidth(view.fonts->text, command.label) + view.px(22 + 8);
  const float left = std::max(area.Min.x, area.Max.x - wide);
  ImGui::SetCursorScreenPos(ImVec2(left, area.Min.y));
  bool first = true;
  for (const Command& command : commands) {
    if (!std::exchange(first, false)) ImGui::SameLine(0, view.px(8));
    if (button(view, command.name, command.label, command.reason)) command.run();
  }
  return left;
}

}  // namespace

void handTokens(Scene& scene, EmbeddingsState& hand, const ImRect& area) {
  View& view = hand.page.view;
  const SequenceSnapshot& sequence = hand.page.layer->sequence();
  const float line = area.Max.y - view.px(30);
  ImGui::SetCursorScreenPos(area.Min);
  ImGui::BeginChild("hand.chips", ImVec2(area.GetWidth(), line - area.Min.y - view.px(6)), false,
                    ImGuiWindowFlags_NoBackground);
  tokenChips(view, "hand.token", sequence.queries, {sequence.queryLength, true, true}, scene.cursor);
  compat::endChild();
  dragChips(scene, hand);
  const float left = buttons(scene, hand, ImRect(area.Min.x, line, area.Max.x, area.Max.y));
  Canvas list = *ImGui::GetWindowDrawList();
  const bool bad = !hand.problem.empty();
  paintFitted(view, list, view.fonts->text, ImVec2(area.Min.x, line + view.px(14)),
              left - area.Min.x - view.px(16), bad ? view.theme->error : view.theme->secondary,
              bad ? hand.problem : "Drop a chip on another to swap them.");
}

}  // namespace headscope::app
