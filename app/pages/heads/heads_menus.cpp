// The page's context menus.

#include <algorithm>

#include "app/pages/heads/heads_state.h"

namespace headscope::app::heads_page {

void offerForCell(Scene& scene, View& view, TokenMenu& menu, const Cell& cell) {
  scene.cursor.cell = cell;
  menu.token = -1;
  const bool large = scene.cursor.focus >= 0;
  if (large) scene.cursor.focus = cell.head;
  view.menu = {large ? "look.back" : "look.focus",
               "head.copy",
               "picture.save_head",
               "picture.save_heads",
               "page.map",
               "page.mask"};
}

void offerForToken(Scene& scene, State& page, bool query, Index at) {
  (query ? scene.cursor.cell.query : scene.cursor.cell.key) = at;
  page.menu.token = at;
  page.menu.tokenIsQuery = query;
  page.view.menu = {query ? "token.copy_query" : "token.copy_key", "token.copy"};
  if (page.snapshot && page.snapshot->causal) page.view.menu.emplace_back("decode.here");
  page.view.menu.emplace_back("head.copy");
}

void pointAtLabels(Scene& scene, State& page, const HeatTile& tile, const AxisLabels& labels) {
  if (!ImGui::IsWindowHovered()) return;
  const auto under = labelAt(tile, labels, page.view, ImGui::GetIO().MousePos);
  if (!under) return;
  Crosshair& lit = page.view.nextHover;
  (under->query ? lit.query : lit.key) = under->at;
  if (!ImGui::IsMouseClicked(1)) return;
  scene.cursor.cell.head = tile.head;
  offerForToken(scene, page, under->query, under->at);
}

}  // namespace headscope::app::heads_page
