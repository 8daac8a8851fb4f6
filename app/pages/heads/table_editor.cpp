#include <fmt/core.h>

#include <cstdlib>

#include "app/pages/heads/heads_page.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/text_box.h"

namespace headscope::app::heads_page {

namespace {

using Editing = TableEditor::Editing;

/// A table to start with: the tokens shown (at most 64), with one dimension each, reused after 16.
attention::Table starterTable(const SequenceSnapshot* sequence) {
  constexpr Index kDims = 16;
  attention::Table table;
  const Index rows = sequence ? std::min<Index>(sequence->queryLength, 64) : 3;
  table.values = attention::Matrix::Zero(rows, kDims);
  for (Index row = 0; row < rows; ++row) {
    table.names.push_back(sequence ? sequence->queries[static_cast<std::size_t>(row)].text
                                   : fmt::format("t{}", row));
    table.values(row, row % kDims) = 1;
  }
  return table;
}

void resizeTable(Scene& scene, Index rows, Index cols) {
  attention::Table table = *scene.setup.input.table;
  const Index keptRows = std::min(rows, table.values.rows()), keptCols = std::min(cols, table.values.cols());
  attention::Matrix values = attention::Matrix::Zero(rows, cols);
  values.topLeftCorner(keptRows, keptCols) = table.values.topLeftCorner(keptRows, keptCols);
  table.values = std::move(values);
  table.names.resize(static_cast<std::size_t>(rows));
  editTable(scene, std::move(table));
}

void paste(Scene& scene, Editing& state) {
  const char* clip = ImGui::GetClipboardText();
  const attention::Result<attention::Table> table = pastedTable(clip ? clip : "");
  if (!table) {
    state.problem = table.error().message;
    return;
  }
  state.problem.clear();
  takeTable(scene, *table);
}

void commit(Scene& scene, Editing& state) {
  attention::Table table = *scene.setup.input.table;
  if (state.col < 0) {
    table.names[static_cast<std::size_t>(state.row)] = state.text;
  } else {
    const auto value = static_cast<float>(typedNumber(state.text).value_or(HUGE_VAL));
    if (!std::isfinite(value)) {
      state.problem = fmt::format("\"{}\" in row {}, dimension {} is not a finite number.", state.text,
                                  state.row, state.col);
      return;
    }
    table.values(state.row, state.col) = value;
  }
  state.problem.clear();
  editTable(scene, std::move(table));
}

void openCell(Editing& state, const attention::Table& table, Index row, Index col) {
  state.row = row;
  state.col = col;
  state.text = col < 0 ? table.names[static_cast<std::size_t>(row)] : roundedText(table.values(row, col));
  state.justOpened = true;
}

void cell(Scene& scene, View& view, Editing& state, Index row, Index col, float width) {
  const attention::Table& table = *scene.setup.input.table;
  const ImVec2 at = ImGui::GetCursorScreenPos();
  const std::string name = fmt::format("cell.{}.{}", row, col < 0 ? "name" : std::to_string(col));
  if (state.row == row && state.col == col) {
    const bool opened = state.justOpened;
    const bool entered = lineBox(view, name, state.text, width - view.px(4), opened, "");
    state.justOpened = false;
    const bool left = !opened && ImGui::IsItemDeactivated();
    if (entered || left) {
      commit(scene, state);
      // As in spreadsheets, Enter moves to the cell below.
      if (entered && state.problem.empty() && row + 1 < scene.setup.input.table->values.rows())
        openCell(state, *scene.setup.input.table, row + 1, col);
      else if (state.problem.empty() || left)
        state.row = state.col = -2;
      else
        state.justOpened = true;
    }
    ImGui::SetCursorScreenPos(ImVec2(at.x + width, at.y));
    return;
  }
  const ImRect area(at, ImVec2(at.x + width - view.px(4), at.y + view.px(26)));
  const bool clicked = hitArea(name, area.GetSize());
  Canvas list = *ImGui::GetWindowDrawList();
  list.AddRectFilled(area.Min, area.Max, ImGui::IsItemHovered() ? view.theme->raised : view.theme->background,
                     view.px(3));
  const float y = area.GetCenter().y;
  if (col < 0) {
    const std::string& shown = table.names[static_cast<std::size_t>(row)];
    paintFitted(view, list, view.fonts->mono, ImVec2(at.x + view.px(6), y), width - view.px(14),
                shown.empty() ? view.theme->faint : view.theme->query,
                shown.empty() ? fmt::format("t{}", row) : shown);
  } else {
    paintText(list, view.fonts->mono, ImVec2(at.x + width - view.px(10), y), view.theme->text,
              numberText(table.values(row, col), 4), Align::right);
  }
  if (clicked) openCell(state, table, row, col);
  ImGui::SetCursorScreenPos(ImVec2(at.x + width, at.y));
}

void cells(Scene& scene, View& view, Editing& state) {
  const attention::Table& table = *scene.setup.input.table;
  const float nameWidth = view.px(120), width = view.px(86), height = view.px(30);
  const auto cols = static_cast<float>(table.values.cols());
  ImGui::SetNextWindowContentSize(
      ImVec2(nameWidth + cols * width, height * static_cast<float>(table.values.rows() + 1)));
  ImGui::BeginChild("cells",
                    ImVec2(0, ImGui::GetContentRegionAvail().y - view.px(state.problem.empty() ? 44 : 78)),
                    false, ImGuiWindowFlags_HorizontalScrollbar | ImGuiWindowFlags_NoBackground);
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  const ImRect clip = ImGui::GetCurrentWindow()->InnerClipRect;
  // Build only the cells on screen.
  const auto firstCol = std::max<Index>(0, static_cast<Index>((clip.Min.x - origin.x - nameWidth) / width));
  const auto lastCol = std::min<Index>(table.values.cols(),
                                       static_cast<Index>((clip.Max.x - origin.x - nameWidth) / width) + 1);
  const auto firstRow = std::max<Index>(0, static_cast<Index>((clip.Min.y - origin.y) / height) - 1);
  const auto lastRow =
      std::min<Index>(table.values.rows(), static_cast<Index>((clip.Max.y - origin.y) / height) + 1);
  for (Index col = firstCol; col < lastCol; ++col)
    paintText(*ImGui::GetWindowDrawList(), view.fonts->monoSmall,
              ImVec2(origin.x + nameWidth + width * static_cast<float>(col + 1) - view.px(10),
                     origin.y + height / 2),
              view.theme->faint, std::to_string(col), Align::right);
  for (Index row = firstRow; row < lastRow; ++row) {
    const float y = origin.y + height * static_cast<float>(row + 1);
    ImGui::SetCursorScreenPos(ImVec2(origin.x, y));
    cell(scene, view, state, row, -1, nameWidth);
    for (Index col = firstCol; col < lastCol && row < scene.setup.input.table->values.rows(); ++col) {
      ImGui::SetCursorScreenPos(ImVec2(origin.x + nameWidth + width * static_cast<float>(col), y));
      cell(scene, view, state, row, col, width);
    }
  }
  compat::endChild();
}

}  // namespace

void TableEditor::draw(Scene& scene, View& view, bool) {
  Editing& state = editing_;
  if (scene.setup.input.table->values.rows() == 0)
    takeTable(scene, starterTable(shownSequence(scene, page_.snapshot.get())));
  const attention::Table& table = *scene.setup.input.table;
  const Index rows = table.values.rows(), cols = table.values.cols();
  if (std::ssize(table.names) != rows)
    scene.setup.input.table.edit().names.resize(static_cast<std::size_t>(rows));
  if (beginDialog(view, "table", "Embeddings: tokens × dimensions", 860, 340, true)) {
    const auto resizes = [&](const char* name, const char* label, bool can, const char* limit, Index byRows,
                             Index byCols, float space) {
      if (button(view, name, label, can ? "" : limit)) resizeTable(scene, rows + byRows, cols + byCols);
      ImGui::SameLine(0, view.px(space));
    };
    resizes("table.add_row", "+ Token", rows < kMaxTokens, "At most 2,048 tokens", 1, 0, 6);
    resizes("table.remove_row", "− Token", rows > 1, "At least one token", -1, 0, 14);
    resizes("table.add_col", "+ Dimension", cols < kMaxModelDim, "At most 4,096 dimensions", 0, 1, 6);
    resizes("table.remove_col", "− Dimension", cols > 1, "At least one dimension", 0, -1, 14);
    if (button(view, "table.paste", "Paste")) paste(scene, state);
    ImGui::SameLine(0, view.px(6));
    Rows below(view);
    below.action("table.load", "Load file…", "table.open");
    below.space(4);
    cells(scene, view, state);
    below.problem(state.problem);
    below.space(2);
    if (button(view, "table.done", "Done")) view.dialog.reset();
    ImGui::SameLine(0, view.px(12));
    below.hint(
        "Click a cell to edit; Enter moves down. Paste accepts rows from a spreadsheet, with or without "
        "names in the first column.");
  }
  endDialog();
}

}  // namespace headscope::app::heads_page
