#include <fmt/core.h>

#include "app/pages/common/token_chips.h"
#include "app/pages/head_lab/embeddings/embeddings_state.h"
#include "app/platform/track.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app::head_lab_page {

namespace {

using Kind = EmbeddingsState::Drag::Kind;

Index chosenToken(const Scene& scene, const EmbeddingsState& embeddings) {
  return std::clamp<Index>(scene.cursor.cell.query, 0, tableNow(scene, embeddings).values.rows() - 1);
}

}  // namespace

std::string whyNot(const Scene& scene, const EmbeddingsState& embeddings, TokenEdit edit) {
  const Index rows = tableNow(scene, embeddings).values.rows(), at = chosenToken(scene, embeddings);
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

void editToken(Scene& scene, EmbeddingsState& embeddings, TokenEdit edit) {
  if (!whyNot(scene, embeddings, edit).empty()) return;
  attention::Table table = tableNow(scene, embeddings);
  Index& chosen = scene.cursor.cell.query;
  const Index at = chosen = chosenToken(scene, embeddings);
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
  setTable(scene, embeddings, std::move(table), "");
}

namespace {

std::optional<Index> chipUnder(ImVec2 mouse, Index count) {
  for (Index i = 0; i < count; ++i)
    if (const auto chip = tracked(fmt::format("embeddings.token.{}", i)); chip && chip->Contains(mouse))
      return i;
  return std::nullopt;
}

/// Swaps a chip with the one it is dropped on.
void dragChips(Scene& scene, EmbeddingsState& embeddings) {
  const View& view = embeddings.page.view;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const Index rows = tableNow(scene, embeddings).values.rows();
  EmbeddingsState::Drag& drag = embeddings.drag;
  if (ImGui::IsMouseClicked(0))
    if (const auto chip = chipUnder(mouse, rows)) {
      drag = {};
      drag.kind = Kind::chip;
      drag.row = *chip;
      drag.from = mouse;
    }
  if (!embeddings.drags(Kind::chip)) return;
  const auto under = chipUnder(mouse, rows);
  const bool elsewhere = under && *under != drag.row && drag.row < rows;
  if (ImGui::IsMouseDown(0)) {
    if (!elsewhere) return;
    const ImRect target = *tracked(fmt::format("embeddings.token.{}", *under));
    compat::rectOutline(*ImGui::GetWindowDrawList(), ImVec2(target.Min.x - 2, target.Min.y - 2),
                        ImVec2(target.Max.x + 2, target.Max.y + 2), view.theme->text, view.px(5), view.px(2));
    return;
  }
  drag.kind = Kind::none;
  if (!elsewhere) return;
  attention::Table table = tableNow(scene, embeddings);
  swapTokens(table, drag.row, *under);
  scene.cursor.cell.query = *under;
  setTable(scene, embeddings, std::move(table), "");
}

}  // namespace

void pasteTable(Scene& scene, EmbeddingsState& embeddings) {
  const char* clip = ImGui::GetClipboardText();
  attention::Result<attention::Table> table = pastedTable(clip ? clip : "");
  if (!table) {
    embeddings.problem = table.error().message;
    return;
  }
  embeddings.problem.clear();
  embeddings.kept.reset();
  editTable(scene, *std::move(table));
}

namespace {

/// Adds dimensions of zeros at the end, or removes the last ones.
void addDimensions(Scene& scene, EmbeddingsState& embeddings, Index count) {
  attention::Table table = tableNow(scene, embeddings);
  const Index before = table.values.cols(), dims = before + count;
  table.values.conservativeResize(Eigen::NoChange, dims);
  if (count > 0) table.values.rightCols(count).setZero();
  const bool planted = scene.setup.weights.source == WeightSource::planted;
  takeTable(scene, std::move(table));
  embeddings.kept.reset();
  embeddings.problem.clear();
  embeddings.firstColumn = dims;  // shows the last ones
  if (planted)
    embeddings.page.view.say("Planted heads read vectors of the former size, so the weights are random now.");
}

/// Draws the buttons from right to left. Returns the x of the leftmost.
float buttons(Scene& scene, EmbeddingsState& embeddings, const ImRect& area) {
  View& view = embeddings.page.view;
  const bool typed = scene.setup.input.source == EmbeddingSource::table;
  const Index dims = tableNow(scene, embeddings).values.cols();
  struct Command {
    const char *name, *label;
    std::string reason;
    std::function<void()> run;
  };
  const auto edits = [&](const char* name, const char* label, TokenEdit edit) {
    return Command{name, label, whyNot(scene, embeddings, edit),
                   [&scene, &embeddings, edit] { editToken(scene, embeddings, edit); }};
  };
  std::vector<Command> commands{
      edits("embeddings.swap_back", "← Swap", TokenEdit::swapBack),
      edits("embeddings.swap_on", "Swap →", TokenEdit::swapOn),
      edits("embeddings.duplicate", "Duplicate", TokenEdit::duplicate),
      edits("embeddings.insert", "Insert", TokenEdit::insert),
      edits("embeddings.delete", "Delete", TokenEdit::remove),
      {"embeddings.rename", "Rename", "", [&] { renameToken(scene, embeddings); }},
      {"embeddings.add_dim", "+ Dim", dims < kMaxModelDim ? "" : "At most 4,096 dimensions.",
       [&] { addDimensions(scene, embeddings, 1); }},
      {"embeddings.remove_dim", "− Dim", dims > 1 ? "" : "At least one dimension.",
       [&] { addDimensions(scene, embeddings, -1); }},
      {"embeddings.copy", "Copy", "",
       [&] {
         ImGui::SetClipboardText(attention::formatCsv(tableNow(scene, embeddings)).c_str());
         view.tell("Copied the embeddings as CSV", view.pressedAt);
       }},
      {"embeddings.paste", "Paste", "", [&] { pasteTable(scene, embeddings); }},
      {"embeddings.load", "Load…", "", [&] { view.request("table.open"); }},
      {"embeddings.text", "Reset to text", typed ? "" : "The embeddings already come from the text.", [&] {
         scene.setup.input.source = EmbeddingSource::text;
         embeddings.kept.reset();
       }}};
  float wide = -view.px(8);
  const auto width = [&](const Command& command) {
    return textWidth(view.fonts->text, command.label) + view.px(22 + 8);
  };
  for (const Command& command : commands) wide += width(command);
  // What is needed least leaves a narrow line.
  for (const char* name :
       {"embeddings.add_dim", "embeddings.remove_dim", "embeddings.load", "embeddings.rename"}) {
    if (wide <= area.GetWidth()) break;
    const auto at = std::find_if(commands.begin(), commands.end(), [&](const Command& command) {
      return command.name == std::string_view(name);
    });
    wide -= width(*at);
    commands.erase(at);
  }
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

void embeddingsTokens(Scene& scene, EmbeddingsState& embeddings, const ImRect& area) {
  View& view = embeddings.page.view;
  const SequenceSnapshot& sequence = embeddings.page.layer->sequence();
  const float line = area.Max.y - view.px(30);
  ImGui::SetCursorScreenPos(area.Min);
  ImGui::BeginChild("embeddings.chips", ImVec2(area.GetWidth(), line - area.Min.y - view.px(6)), false,
                    ImGuiWindowFlags_NoBackground);
  tokenChips(view, "embeddings.token", sequence.queries, {sequence.queryLength, true, true}, scene.cursor);
  compat::endChild();
  dragChips(scene, embeddings);
  const float left = buttons(scene, embeddings, ImRect(area.Min.x, line, area.Max.x, area.Max.y));
  Canvas list = *ImGui::GetWindowDrawList();
  const bool bad = !embeddings.problem.empty();
  paintFitted(view, list, view.fonts->text, ImVec2(area.Min.x, line + view.px(14)),
              left - area.Min.x - view.px(16), bad ? view.theme->error : view.theme->secondary,
              bad ? embeddings.problem : "Drop a chip on another to swap them.");
}

}  // namespace headscope::app::head_lab_page
