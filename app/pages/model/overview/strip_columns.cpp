#include "app/pages/model/overview/strip_columns.h"

#include <algorithm>

#include "app/widgets/text/draw_text.h"

namespace headscope::app::model_page {

namespace {

/// Shows the text's beginning and the tokens around `token`. For texts that don't fit.
void showAround(StripColumns& columns, Index token, Index n) {
  const Index lead = std::min<Index>(4, columns.slots / 4), least = 6;
  if (columns.slots < least) return;
  const Index room = columns.slots - lead - 1;
  if (token - (room - 1) / 2 <= lead + 1) {
    columns.first = 0;
    columns.count = columns.slots - 1;
    columns.goesOn = true;
    return;
  }
  columns.lead = lead;
  columns.goesOn = token + room / 2 < n - 1;
  columns.count = room - (columns.goesOn ? 1 : 0);
  columns.first = std::min(token - (columns.count - 1) / 2, n - columns.count);
}

}  // namespace

void paintEllipses(const View& view, const StripColumns& columns, float y) {
  const Canvas list = *ImGui::GetWindowDrawList();
  const auto paint = [&](Index number) {
    paintText(list, columns.font, ImVec2(columns.slot(number) + columns.width / 2, y), view.theme->secondary,
              "…", Align::center);
  };
  if (columns.lead > 0) paint(columns.lead);
  if (columns.goesOn) paint(columns.slots - 1);
}

StripColumns columnsFor(const Scene& scene, const State& page, const ImRect& area) {
  const View& view = page.view;
  const float labels = view.px(view.present ? 0 : 86);
  StripColumns columns{area.Min.x + labels, 0, 0, 0, 0, view.fonts->mono};
  const float room = area.GetWidth() - labels;
  float widest = view.px(40);
  for (const auto& token : page.study->text.tokens)
    widest = std::max(widest, textWidth(view.fonts->mono, token.text) + view.px(10));
  columns.width = std::floor(std::min(widest, view.px(74)));
  // While presenting, the whole text is shown if its words stay readable.
  if (view.present) {
    columns.width = std::floor(
        std::clamp(room / static_cast<float>(page.tokens()), std::min(widest, view.px(36)), widest));
    if (columns.width < widest - view.px(4)) columns.font = view.fonts->monoSmall;
  }
  const Index slots = std::max<Index>(1, static_cast<Index>(room / columns.width));
  const Index n = page.tokens(), spare = view.present ? 0 : std::min<Index>(2, slots - 1);
  const Index newest = std::max<Index>(0, n + spare - slots);
  columns.first = page.writing.stripFrom < 0 ? newest : std::min(page.writing.stripFrom, newest);
  columns.count = std::min(slots, n - columns.first);
  columns.slots = slots;
  const Cell& cell = scene.cursor.cell;
  if (view.present && newest > 0 && page.writing.stripFrom < 0)
    showAround(columns, page.study->otherQueries.empty() ? cell.query : cell.key, n);
  return columns;
}

}  // namespace headscope::app::model_page
