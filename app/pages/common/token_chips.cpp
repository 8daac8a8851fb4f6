#include "app/pages/common/token_chips.h"

#include <algorithm>

#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/controls.h"
#include "app/widgets/paint.h"

namespace headscope::app {

namespace {

constexpr std::size_t kMaxChips = 400;  // further tokens are counted, not drawn

struct ChipStyle {
  bool isQuery, isKey, isPad, isWritten;
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
}

/// Rows of chips shown before the box scrolls.
constexpr int kChipRows = 6;

/// Draws the tokens as chips. Hovering over one highlights its row (if queries) and its column (if keys).
void chipRows(View& view, const std::string& name, const std::vector<attention::Token>& tokens,
              const ChipRoles& roles, Cursor& cursor) {
  const Cell& selected = cursor.cell;
  const ImVec2 start = ImGui::GetCursorScreenPos();
  const float width = ImGui::GetContentRegionAvail().x, height = view.px(23), space = view.px(5);
  const Index litQuery = view.hover.query >= 0 ? view.hover.query : selected.query;
  const Index litKey = view.hover.key >= 0 ? view.hover.key : selected.key;
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
    if (clicked && !roles.areQueries) cursor.cell.key = position;
    if (ImGui::IsItemVisible())
      paintChip(view, at, ImVec2(at.x + wide, at.y + height), index, text,
                {roles.areQueries && position == litQuery, roles.areKeys && position == litKey,
                 position >= roles.realLength, roles.writtenFrom >= 0 && position >= roles.writtenFrom});
    at.x += wide + space;
  }
  ImGui::SetCursorScreenPos(start);
  ImGui::Dummy(ImVec2(width, at.y + height - start.y));
  if (shown < tokens.size()) hint(view, "and " + countText(tokens.size() - shown) + " more tokens");
}

}  // namespace

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

}  // namespace headscope::app
