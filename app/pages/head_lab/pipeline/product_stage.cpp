#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/pages/head_lab/map_view.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"
#include "attention/core/extremes.h"

namespace headscope::app::head_lab_page {

namespace {

using attention::Matrix;
using attention::MatrixView;

/// A product C = A·B, drawn with A left of C and B above it.
struct Product {
  std::string name;
  Ink a, b, c;
  Matrix left;                ///< [visible rows, inner]
  Matrix above;               ///< [inner, visible columns]
  Matrix cells;               ///< [visible rows, visible columns]
  float leftMost, aboveMost;  ///< ends of their ramps; 0 = from the visible values
  float low, high;            ///< of C
  VisibleCells rows, cols;
  Marked row, col;
  std::uint32_t rowColor, colColor;
  const std::vector<attention::Token>*rowTokens,
      *colTokens;  ///< null if columns are dimensions
  bool leftIsMap = false;
  std::vector<FormulaPart> formula;
  std::string rowTitle, colTitle;
  Index totalRows, totalCols;
  Index kv = -1;  ///< the kv head that is read, shown with the heads it serves; −1 = none
};

float mostOf(const Matrix& values, float given) {
  if (given > 0) return given;
  const float most = values.size() ? attention::largestFinite(values) : 1;
  return most > 0 ? most : 1;
}

/// The places of a product's three matrices, and the room for labels left of them.
struct ProductPlace {
  ImRect left, above, cells;
  float labels;
};

/// The most that they may fill.
ProductPlace roomOf(const View& view, const ImRect& area) {
  const float width = area.GetWidth();
  ProductPlace room;
  room.labels = view.px(std::clamp(width / view.unit * 0.16f, 60.0f, 104.0f));
  const ImVec2 first(std::min(view.px(190), (width - room.labels) * 0.32f),
                     std::min(view.px(192), area.GetHeight() * 0.3f));
  const ImVec2 from(std::round(area.Min.x + room.labels), std::round(area.Min.y));
  const ImVec2 to(std::round(from.x + first.x), std::round(from.y + first.y));
  const ImVec2 gap(view.px(20), view.px(16));
  const ImVec2 second(std::round(from.x + first.x + gap.x), std::round(from.y + first.y + gap.y));
  room.cells = ImRect(second, area.Max - ImVec2(0, view.px(72)));
  room.left = ImRect(from.x, second.y, to.x, room.cells.Max.y);
  room.above = ImRect(second.x, from.y, room.cells.Max.x, to.y);
  return room;
}

ProductPlace placeOf(const View& view, const ImRect& area, const Product& product) {
  ProductPlace place = roomOf(view, area);
  const auto rows = static_cast<float>(product.rows.count), cols = static_cast<float>(product.cols.count);
  float high = std::min(place.cells.GetHeight() / rows, view.px(30)),
        wide = std::min(place.cells.GetWidth() / cols, view.px(30));
  if (product.colTokens) high = wide = std::min(high, wide);
  if (high >= 4) high = std::floor(high);
  if (wide >= 4) wide = std::floor(wide);
  place.cells.Max = place.cells.Min + ImVec2(wide * cols, high * rows);
  place.left.Max.y = place.cells.Max.y;
  place.above.Max.x = place.cells.Max.x;
  return place;
}

/// Draws "KV 0  serves heads 0–3", below the formula.
void paintServedHeads(const State& page, ImVec2 at, float width, const Product& product) {
  const View& view = page.view;
  const Index group = page.layer->config().groupSize(), first = product.kv * group;
  if (product.kv < 0 || group == 1) return;
  Canvas list = *ImGui::GetWindowDrawList();
  const float badge =
      paintBadge(view, list, at, groupColor(*view.theme, product.kv), kvName(product.kv)) + view.px(8);
  const std::string words = fmt::format("serves heads {}–{}", first, first + group - 1);
  if (badge + textWidth(view.fonts->text, words) < width)
    paintText(list, view.fonts->text, at + ImVec2(badge, 0), view.theme->secondary, words);
}

/// Draws the three matrices, marking the row of A and the column of B that give the selected cell, and those
/// that give the hovered one. Returns the hovered cell.
MapHit paintProduct(const Scene& scene, State& page, const ImRect& area, const Product& product) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const ProductPlace place = placeOf(view, area, product);
  const Index inner = product.left.cols();
  const auto columns = static_cast<Index>(std::max(8.0f, place.left.GetWidth() / view.px(3)));
  const auto lines = static_cast<Index>(std::max(8.0f, place.above.GetHeight() / view.px(3)));
  const auto term = [&](Index shown) {
    const Index at = page.hover.term;
    return Marked{-1, at < 0 ? -1 : at * shown / std::max<Index>(inner, 1)};
  };
  MapView left{product.name + ".left",
               product.a,
               place.left,
               product.rows,
               {0, std::min(inner, columns)},
               product.row,
               term(std::min(inner, columns)),
               product.rowColor,
               product.rowColor};
  const float leftMost = mostOf(product.left, product.leftMost);
  left.low = product.leftIsMap ? 0 : -leftMost;
  left.high = leftMost;
  paintMap(scene, page, left, attention::poolByMagnitude(product.left, product.rows.count, left.cols.count));
  MapView above{product.name + ".above",
                product.b,
                place.above,
                {0, std::min(inner, lines)},
                product.cols,
                term(std::min(inner, lines)),
                product.col,
                product.colColor,
                product.colColor};
  above.high = mostOf(product.above, product.aboveMost);
  above.low = -above.high;
  paintMap(scene, page, above,
           attention::poolByMagnitude(product.above, above.rows.count, product.cols.count));
  MapView cells{product.name, product.c,        place.cells,      product.rows, product.cols, product.row,
                product.col,  product.rowColor, product.colColor, product.low,  product.high};
  paintMap(scene, page, cells, product.cells);
  rowNames(page, left, *product.rowTokens, place.labels);
  if (product.colTokens)
    columnNames(page, cells, *product.colTokens);
  else
    columnNumbers(page, cells, product.colColor);
  // The map's scale goes below the left matrix, where the names leave space.
  if (product.c == Ink::map && place.left.GetWidth() >= view.px(60))
    mapScale(scene, page, cells, place.left.Max + ImVec2(0, view.px(24)),
             std::min(place.left.GetWidth(), view.px(150)), product.formula.front().text);
  const float beside = place.cells.Min.x - area.Min.x;
  paintFormula(view, area.Min, product.formula, beside - view.px(12));
  if (place.above.GetHeight() > view.px(120))
    paintServedHeads(page, area.Min + ImVec2(0, view.px(82)), beside - view.px(16), product);
  Canvas list = *ImGui::GetWindowDrawList();
  paintText(list, view.fonts->text, place.left.Min - ImVec2(0, view.px(14)), product.rowColor,
            product.rowTitle);
  const float gap = view.px(10);
  paintText(list, view.fonts->text, place.above.GetBL() - ImVec2(gap, gap), product.colColor,
            product.colTitle, Align::right);
  paintText(
      list, view.fonts->small, area.GetBL() - ImVec2(0, view.px(6)), theme.faint,
      fitted(view.fonts->small,
             visiblePartText(product.rows, product.totalRows, product.cols, product.totalCols, "columns"),
             area.GetWidth()));
  return hitMap(cells, product.rowTokens, product.colTokens);
}

/// As many tokens per side as can be distinguished.
VisibleCells tokensInSight(const View& view, const ImRect& area, Index total, Index around, bool rows) {
  const ImRect room = roomOf(view, area).cells;
  const float pixels = rows ? room.GetHeight() : std::min(room.GetHeight(), room.GetWidth());
  return windowOf(total, std::min<Index>(cellsThatFit(view, pixels, 12), 48), around);
}

VisibleCells dimsInSight(const View& view, const ImRect& area, Index total, Index around) {
  return windowOf(total, cellsThatFit(view, roomOf(view, area).cells.GetWidth(), 9), around);
}

/// Makes the rows the layer's queries, with the selected and the hovered one marked.
void nameQueries(Product& product, const View& view, const SequenceSnapshot& sequence, const Cell& selected) {
  product.row = {selected.query, view.hover.query};
  product.rowColor = view.theme->query;
  product.rowTokens = &sequence.queries;
  product.rowTitle = "query ↓";
  product.totalRows = std::ssize(sequence.queries);
}

/// Sets the colour range to −most … most.
void setRange(Product& product, float most) {
  product.high = most;
  product.low = -most;
}

/// Handles the pointer over numbers whose rows are queries or keys: a click selects the hovered row and
/// column, or lets the column go if both are selected.
void chooseNumber(Scene& scene, State& page, const MapHit& hit, Index Cell::*token, Index& column,
                  Index& hoveredColumn) {
  if (hit.row < 0) return;
  const bool ofKeys = token == &Cell::key;
  (ofKeys ? page.view.nextHover.key : page.view.nextHover.query) = hit.row;
  hoveredColumn = hit.col;
  if (!hit.clicked) return;
  Index& row = scene.cursor.cell.*token;
  const bool selected = row == hit.row && column == hit.col;
  row = hit.row;
  column = selected ? -1 : hit.col;
  if (ofKeys) scene.cursor.keyChosen = !selected;
}

}  // namespace

void dotStage(Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const LayerParts& layer = *page.layer;
  const SequenceSnapshot& sequence = layer.sequence();
  const Cell cell = selectedCell(scene, page);
  const Index kv = layer.config().kvHeadOf(cell.head), n = layer.x.rows(), m = layer.keySource().rows();
  const MatrixView q = sequence.attention.q[cell.head], k = sequence.attention.k[kv];
  Product product{};
  product.name = "dot";
  product.kv = kv;
  product.a = Ink::query;
  product.b = Ink::key;
  product.c = Ink::map;
  product.rows = tokensInSight(view, area, n, cell.query, true);
  product.cols = tokensInSight(view, area, m, cell.key, false);
  product.left = q.middleRows(product.rows.first, product.rows.count);
  product.above = k.middleRows(product.cols.first, product.cols.count).transpose();
  product.cells = page.head->steps.dots.block(product.rows.first, product.cols.first, product.rows.count,
                                              product.cols.count);
  const StagePicture& picture = page.head->picture(Stage::dots);
  product.low = picture.low;
  product.high = picture.high;
  nameQueries(product, view, sequence, cell);
  product.col = {cell.key, view.hover.key};
  product.colColor = theme.key;
  product.colTokens = &sequence.keys;
  product.colTitle = "key →";
  product.totalCols = m;
  product.formula = {{"S", shapeText(n, m), theme.text},
                     {"=", "", theme.secondary},
                     {withIndex("Q", cell.head), shapeText(n, q.cols()), theme.query},
                     {"·", "", theme.secondary},
                     {withIndex("K", kv) + "ᵀ", shapeText(q.cols(), m), theme.key}};
  chooseCell(scene, page, paintProduct(scene, page, area, product));
}

void mixStage(Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const LayerParts& layer = *page.layer;
  const SequenceSnapshot& sequence = layer.sequence();
  const Spot spot = selectedSpot(scene, page);
  const Cell& cell = spot.cell;
  const Index kv = layer.config().kvHeadOf(cell.head), n = layer.x.rows(), m = layer.keySource().rows();
  const Index dims = layer.config().headDim;
  Product product{};
  product.name = "mix";
  product.kv = kv;
  product.a = Ink::map;
  product.leftIsMap = true;
  product.b = product.c = Ink::value;
  product.rows = tokensInSight(view, area, n, cell.query, true);
  product.cols = dimsInSight(view, area, dims, spot.dim);
  product.left = sequence.attention.weights[cell.head].middleRows(product.rows.first, product.rows.count);
  // The picture shows weights before dropout, which enlarges the weights it keeps.
  const float dropout = layer.config().dropout.probability;
  product.leftMost = std::max(page.head->picture(Stage::weights).high / (1 - dropout), 1e-6f);
  product.above = sequence.attention.v[kv].middleCols(product.cols.first, product.cols.count);
  product.cells = sequence.attention.headOutput[cell.head].block(product.rows.first, product.cols.first,
                                                                 product.rows.count, product.cols.count);
  setRange(product, largestOf(page.head->picture(Stage::headOutput)));
  nameQueries(product, view, sequence, cell);
  product.col = {spot.dim, page.hover.dim};
  product.colColor = theme.value;
  product.colTitle = "dimension →";
  product.totalCols = dims;
  product.formula = {{withIndex("O", cell.head), shapeText(n, dims), theme.value},
                     {"=", "", theme.secondary},
                     {dropout > 0 ? "dropout(A)" : "A", shapeText(n, m), theme.text},
                     {"·", "", theme.secondary},
                     {withIndex("V", kv), shapeText(m, dims), theme.value}};
  chooseNumber(scene, page, paintProduct(scene, page, area, product), &Cell::query, page.dim,
               page.nextHover.dim);
}

void projectStage(Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const LayerParts& layer = *page.layer;
  const SequenceSnapshot& sequence = layer.sequence();
  const Spot spot = selectedSpot(scene, page);
  const Cell& cell = spot.cell;
  const bool ofQuery = scene.cursor.lab.map == MapShown::q;
  const Index kv = layer.config().kvHeadOf(cell.head), dims = layer.config().headDim;
  const attention::Matrix& x = ofQuery ? layer.x : layer.keySource();
  const MapRows& map = ofQuery                               ? page.head->q
                       : scene.cursor.lab.map == MapShown::k ? page.head->k
                                                             : page.head->v;
  const MatrixView made = ofQuery                               ? sequence.attention.q[cell.head]
                          : scene.cursor.lab.map == MapShown::k ? sequence.attention.k[kv]
                                                                : sequence.attention.v[kv];
  const char* letter = ofQuery ? "Q" : scene.cursor.lab.map == MapShown::k ? "K" : "V";
  Product product{};
  product.name = "project";
  product.a = Ink::stream;
  product.b = product.c = ofQuery ? Ink::query : scene.cursor.lab.map == MapShown::k ? Ink::key : Ink::value;
  product.row = ofQuery ? Marked{cell.query, view.hover.query} : Marked{cell.key, view.hover.key};
  product.rows = tokensInSight(view, area, x.rows(), product.row.selected, true);
  product.cols = dimsInSight(view, area, dims, spot.dim);
  product.left = x.middleRows(product.rows.first, product.rows.count);
  product.leftMost = largestOf(page.head->picture(ofQuery ? Stage::x : Stage::context));
  product.above = map.weight.middleRows(product.cols.first, product.cols.count).transpose();
  product.cells = made.block(product.rows.first, product.cols.first, product.rows.count, product.cols.count);
  setRange(product, made.size() ? std::max(attention::largestFinite(made), 1e-6f) : 1);
  product.col = {spot.dim, page.hover.dim};
  product.rowColor = ofQuery ? theme.query : theme.key;
  product.colColor = inkColor(theme, product.b);
  product.rowTokens = ofQuery ? &sequence.queries : &sequence.keys;
  product.rowTitle = ofQuery ? "query ↓" : "key ↓";
  product.colTitle = "dimension →";
  product.totalRows = x.rows();
  product.totalCols = dims;
  product.formula = {
      {withIndex(letter, ofQuery ? cell.head : kv), shapeText(x.rows(), dims), product.colColor},
      {"=", "", theme.secondary},
      {ofQuery || layer.context.size() == 0 ? "X" : "C", shapeText(x.rows(), x.cols()), theme.text},
      {"·", "", theme.secondary},
      {std::string("W_") + letter, shapeText(x.cols(), dims), product.colColor}};
  chooseNumber(scene, page, paintProduct(scene, page, area, product), ofQuery ? &Cell::query : &Cell::key,
               page.dim, page.nextHover.dim);
}

void outputStage(Scene& scene, State& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  const LayerParts& layer = *page.layer;
  const SequenceSnapshot& sequence = layer.sequence();
  const Spot spot = selectedSpot(scene, page);
  const Index n = layer.x.rows(), wide = layer.config().heads * layer.config().headDim;
  const Index d = layer.config().modelDim;
  const HeadParts& head = *page.head;
  const Index first = head.question.firstColumn, have = head.outputRows.rows();
  Product product{};
  product.name = "output";
  product.a = Ink::value;
  product.b = product.c = Ink::stream;
  product.rows = tokensInSight(view, area, n, spot.cell.query, true);
  const VisibleCells window = windowOf(have, cellsThatFit(view, roomOf(view, area).cells.GetWidth(), 9),
                                       std::clamp<Index>(spot.column - first, 0, have - 1));
  product.cols = {first + window.first, window.count};
  product.left.resize(product.rows.count, wide);
  for (Index h = 0; h < layer.config().heads; ++h)
    product.left.middleCols(h * layer.config().headDim, layer.config().headDim) =
        sequence.attention.headOutput[h].middleRows(product.rows.first, product.rows.count);
  product.leftMost = largestOf(head.picture(Stage::concat));
  product.above = head.outputRows.middleRows(window.first, window.count).transpose();
  product.cells = sequence.attention.output.block(product.rows.first, product.cols.first, product.rows.count,
                                                  product.cols.count);
  setRange(product, largestOf(head.picture(Stage::output)));
  nameQueries(product, view, sequence, spot.cell);
  product.col = {spot.column, page.hover.column};
  product.colColor = theme.text;
  product.colTitle = "column →";
  product.totalCols = d;
  product.formula = {{"Y", shapeText(n, d), theme.text},
                     {"=", "", theme.secondary},
                     {"concat", shapeText(n, wide), theme.value},
                     {"·", "", theme.secondary},
                     {"W_O", shapeText(wide, d), theme.text}};
  chooseNumber(scene, page, paintProduct(scene, page, area, product), &Cell::query, page.column,
               page.nextHover.column);
}

}  // namespace headscope::app::head_lab_page
