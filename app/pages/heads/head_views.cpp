#include <fmt/core.h>

#include "app/pages/heads/heads_page.h"
#include "app/platform/track.h"
#include "app/widgets/paint.h"

namespace headscope::app::heads_page {

namespace {

/// The aspect of a map. Cells stay square until one side would be a sliver; then they stretch.
float aspectOf(float queries, float keys) {
  return std::clamp(keys / queries, 0.2f, 5.0f);
}

struct Request {
  ImVec2 area;
  int heads, groupSize;
  float aspect, labelLeft, labelBottom;
};

GridPlan planWith(const View& view, const Request& asked, int columns, GridPlan::Labels labels) {
  using Labels = GridPlan::Labels;
  GridPlan plan;
  plan.columns = columns;
  plan.rows = (asked.heads + columns - 1) / columns;
  plan.labels = labels;
  plan.titleHeight = view.px(view.present ? 23 : asked.heads > 32 ? 20 : 26);
  plan.gapX = view.px(labels == Labels::every ? 12 : asked.heads > 16 ? 10 : 16);
  plan.gapY = view.px(view.present ? 2 : asked.heads > 16 ? 6 : 10);
  if (labels == Labels::every) {
    plan.leftRoom = asked.labelLeft;
    plan.bottomRoom = asked.labelBottom;
  } else {
    // Keep the axis titles, so that it is clear that rows are queries and columns are keys.
    plan.margin = labels == Labels::firstOfRow ? asked.labelLeft : view.px(58);
    plan.bottomRoom = labels == Labels::firstOfRow ? view.px(view.present ? 17 : 20) : 0;
  }
  const auto c = static_cast<float>(columns), r = static_cast<float>(plan.rows);
  const float roomX = (asked.area.x - plan.margin - plan.gapX * (c - 1)) / c - plan.leftRoom;
  const float roomY = (asked.area.y - plan.gapY * (r - 1)) / r - plan.titleHeight - plan.bottomRoom;
  // To fill the space, cells may be up to a quarter wider than high, or higher than wide.
  constexpr float stretch = 1.25f;
  plan.mapWidth = std::max(4.0f, std::floor(std::min(roomX, roomY * asked.aspect * stretch)));
  plan.mapHeight = std::max(4.0f, std::floor(std::min(roomY, plan.mapWidth / asked.aspect * stretch)));
  plan.tileWidth = plan.mapWidth + plan.leftRoom;
  plan.tileHeight = plan.mapHeight + plan.titleHeight + plan.bottomRoom;
  return plan;
}

GridPlan bestPlan(const View& view, const Request& asked, GridPlan::Labels labels) {
  GridPlan best;
  float bestScore = -1;
  for (int columns = 1; columns <= asked.heads; ++columns) {
    const GridPlan plan = planWith(view, asked, columns, labels);
    // Skip if fewer columns give as many rows: 6 heads need two rows with three columns or four.
    if ((asked.heads + plan.rows - 1) / plan.rows < columns) continue;
    const bool aligned =
        asked.groupSize > 1 && (columns % asked.groupSize == 0 || asked.groupSize % columns == 0);
    const bool full = asked.heads % columns == 0;
    const float high = (plan.tileHeight + plan.gapY) * static_cast<float>(plan.rows) / asked.area.y;
    // Whole rows and whole kv groups are worth smaller maps; of equal ones, those that fill the height.
    const float score = std::min(plan.mapWidth, plan.mapHeight * asked.aspect) * (aligned ? 1.18f : 1) *
                        (full ? 1.12f : 1) * (0.92f + 0.08f * std::min(high, 1.0f));
    if (score > bestScore) {
      best = plan;
      bestScore = score;
    }
  }
  return best;
}

}  // namespace

GridPlan planGrid(const View& view, ImVec2 area, int heads, int groupSize, float queries, float keys,
                  float labelLeft, float labelBottom) {
  using Labels = GridPlan::Labels;
  const Request asked{area, heads, groupSize, aspectOf(queries, keys), labelLeft, labelBottom};
  GridPlan plan;
  // Show labels only while the maps they explain are larger than they are.
  for (const Labels labels : {Labels::every, Labels::firstOfRow, Labels::none}) {
    plan = bestPlan(view, asked, labels);
    plan.cell = std::max(plan.mapWidth / keys, plan.mapHeight / queries);
    const float side = std::min(plan.mapWidth, plan.mapHeight);
    const float cell = std::min(plan.mapWidth / keys, plan.mapHeight / queries);
    const float least = labels == Labels::every ? 130 : 64;
    if (side >= view.px(least) || (labels == Labels::every && cell >= view.px(18))) break;
  }
  return plan;
}

GridPlan planFigure(View& view, int heads, ImVec2 map, float labelLeft, float below) {
  GridPlan plan;
  plan.labels = GridPlan::Labels::outer;
  plan.mapWidth = map.x;
  plan.mapHeight = map.y;
  plan.titleHeight = view.px(26);
  plan.gapX = view.px(26);
  plan.gapY = view.px(10);
  plan.margin = labelLeft;
  plan.tileWidth = std::max(map.x, view.px(heads > 32 ? 124 : 190));  // the width of a title
  plan.tileHeight = plan.mapHeight + plan.titleHeight;
  const auto sizeWith = [&](int columns) {
    const auto c = static_cast<float>(columns), r = std::ceil(static_cast<float>(heads) / c);
    return ImVec2(c * (plan.tileWidth + plan.gapX), r * (plan.tileHeight + plan.gapY));
  };
  float least = FLT_MAX;
  for (int columns = 1; columns <= heads; ++columns) {
    const ImVec2 size = sizeWith(columns);
    // Avoid a partly empty last row if possible.
    const float off =
        std::abs(std::log(size.x / size.y / view.figure->aspect)) + (heads % columns == 0 ? 0 : 0.5f);
    if (off < least) plan.columns = columns;
    least = std::min(least, off);
  }
  plan.rows = (heads + plan.columns - 1) / plan.columns;
  const ImVec2 size = sizeWith(plan.columns);
  view.fitFigure(ImVec2(labelLeft + size.x + legendRoom(view), std::max(size.y + below, view.px(330))));
  return plan;
}

std::vector<ImRect> mapAreas(const View& view, const GridPlan& plan, const ImRect& area, int heads) {
  const auto columns = static_cast<float>(plan.columns), rows = static_cast<float>(plan.rows);
  const float wide = plan.margin + plan.tileWidth * columns + plan.gapX * (columns - 1);
  const float high = plan.tileHeight * rows + plan.gapY * (rows - 1);
  // Spare space goes between the tiles, up to a limit, then around them.
  const bool spreads = !view.figure;
  const float spreadX =
      spreads && columns > 1 ? std::min((area.GetWidth() - wide) / (columns - 1), view.px(40)) : 0;
  const float spreadY =
      spreads && rows > 1 ? std::min((area.GetHeight() - high) / (rows - 1), view.px(28)) : 0;
  const float startX =
      area.Min.x + (spreads ? 1 : 0) * std::max(0.0f, (area.GetWidth() - wide - spreadX * (columns - 1)) / 2);
  const float startY =
      area.Min.y + (spreads ? 1 : 0) * std::max(0.0f, (area.GetHeight() - high - spreadY * (rows - 1)) / 3);
  std::vector<ImRect> areas;
  for (int head = 0; head < heads; ++head) {
    const auto column = static_cast<float>(head % plan.columns),
               row = static_cast<float>(head / plan.columns);
    const float x =
        std::round(startX + plan.margin + column * (plan.tileWidth + plan.gapX + spreadX) + plan.leftRoom);
    const float y = std::round(startY + row * (plan.tileHeight + plan.gapY + spreadY) + plan.titleHeight);
    areas.emplace_back(x, y, x + plan.mapWidth, y + plan.mapHeight);
  }
  return areas;
}

namespace {

/// Height below the cells for the prediction of a lesson's reader, in layout units.
constexpr float kGuessRoom = 40;
/// Minimum width of a figure for its title, in layout units.
constexpr float kMinTitle = 330;

/// Width left of the cells. While presenting, space is scarce, so it is as narrow as the labels allow.
float labelRoom(const View& view, const std::vector<attention::Token>& queries) {
  const float usual = view.px(116);
  if (!view.present || !view.guessedRow.empty()) return usual;
  return std::clamp(longestLabel(view, queries, view.px(104)) + view.px(12), view.px(72), usual);
}

/// The cells' area: square cells, centred, with space for title and labels.
ImRect cellArea(const View& view, const ImRect& area, const SequenceSnapshot& sequence, bool besideReceipt,
                bool sinks) {
  const auto n = static_cast<float>(sequence.queries.size()), m = static_cast<float>(sequence.keys.size());
  const float guess = view.guessedRow.empty() ? 0 : kGuessRoom;
  const float labels =
      view.present ? longestLabel(view, sequence.keys, view.px(70)) * 0.9f + view.px(16) : view.px(100);
  const float left = labelRoom(view, sequence.queries), bottom = labels + view.px(guess), top = view.px(44);
  // A hall reads the rows of a few queries only if they are higher than wide.
  const float aspect = view.present ? std::clamp(m / n, 0.45f, 2.2f) : std::clamp(m / n, 0.2f, 5.0f);
  // While presenting, a lesson's mark may be on the right, unless the receipt takes that space.
  const float right = view.px(!view.present   ? 24
                              : besideReceipt ? 12
                                              : 44) +
                      (sinks ? sinkBarsRoom(view) : 0);
  const float roomX = area.GetWidth() - left - right, roomY = area.GetHeight() - top - bottom;
  const float width = std::floor(std::max(view.px(60), std::min(roomX, roomY * aspect)));
  const float height = std::floor(width / aspect);
  const float x = std::round(area.Min.x + left + std::max(0.0f, (roomX - width) / 2));
  const float y = std::round(area.Min.y + top);
  return {x, y, x + width, y + height};
}

/// The same for a figure, whose size follows its cells and the legend next to them.
ImRect figureArea(View& view, const ImRect& area, const SequenceSnapshot& sequence, bool sinks) {
  const NameRoom names = nameRoom(view, sequence.queries, sequence.keys);
  const ImVec2 cells = figureCells(view, std::ssize(sequence.queries), std::ssize(sequence.keys));
  const ImVec2 at(std::round(area.Min.x + names.left), std::round(area.Min.y + view.px(56)));
  view.fitFigure(ImVec2(names.left + std::max(cells.x, view.px(kMinTitle)) + legendRoom(view) +
                            (sinks ? sinkBarsRoom(view) : 0),
                        view.px(56) + std::max(cells.y, view.px(200)) + names.below + view.px(20)));
  return {at, ImVec2(at.x + cells.x, at.y + cells.y)};
}

/// Draws the reader's prediction for the highlighted query in a frame below the cells, one cell per key.
void paintGuess(const View& view, Canvas list, const HeatTile& tile, const Look& look,
                const ValueRange& range) {
  const std::vector<float>& row = view.guessedRow;
  if (row.empty() || static_cast<float>(row.size()) != tile.cols) return;
  attention::Matrix values(1, std::ssize(row));
  std::copy(row.begin(), row.end(), values.data());
  const ImRect area(tile.area.Min.x, tile.area.Max.y + view.px(10), tile.area.Max.x,
                    tile.area.Max.y + view.px(34));
  paintCells(view, list, area, values,
             {colormapFor(look), range.low, range.high, std::max(1.0f, view.px(1))});
  const HeatTile cells{area, 0, 0, 1, tile.cols, tile.head, -1};
  paintValues(view, list, cells, 1, std::ssize(row), look, range,
              [&](Index, Index key) -> std::optional<float> {
                const float value = row[static_cast<std::size_t>(key)];
                return std::isfinite(value) ? std::optional(value) : std::nullopt;
              });
  const float frame = view.px(2);
  compat::rectOutline(list, ImVec2(area.Min.x - frame, area.Min.y - frame),
                      ImVec2(area.Max.x + frame, area.Max.y + frame), view.theme->secondary, 0,
                      std::max(1.5f, view.px(1.6f)));
  track("lesson.guess", area.Min, area.Max);
  paintText(list, view.fonts->text, ImVec2(area.Min.x - view.px(12), area.GetCenter().y),
            view.theme->secondary, "your answer", Align::right);
}

/// Labels rows next to the rows, and keys below the prediction.
void paintLabelsBelowGuess(const View& view, Canvas list, const HeatTile& tile, const AxisLabels& labels) {
  static const std::vector<attention::Token> kNone;
  AxisLabels rows = labels, keys = labels;
  rows.keys = keys.queries = &kNone;
  paintAxisLabels(view, list, tile, rows);
  HeatTile lower = tile;
  lower.area.Translate(ImVec2(0, view.px(kGuessRoom)));
  paintAxisLabels(view, list, lower, keys);
  ImRect both = tile.area;
  both.Max.y += view.px(kGuessRoom);
  paintAxisTitles(view, list, both, view.px(112));
}

/// "queries 120–160 of 512, keys 0–40 of 512 · brightest of 2 × 2 cells", or how to zoom and move.
std::string visibleRangeText(const State& page, const HeatTile& tile, Index n, Index m) {
  const auto span = [](float first, float count, Index total) {
    const Index last = std::min<Index>(total, static_cast<Index>(std::ceil(first + count))) - 1;
    return fmt::format("{}–{} of {}", static_cast<Index>(first), last, total);
  };
  std::string text = page.camera.zoom > 1.01f ? "queries " + span(tile.row, tile.rows, n) + ", keys " +
                                                    span(tile.col, tile.cols, m)
                     : !page.keysTurn ? "wheel zooms, drag moves"
                                      : "wheel zooms, drag moves, Page Up and Page Down change the head";
  if (page.pictures.focusFactor > 1) text += " · " + pooledText(page.pictures.focusFactor);
  return text;
}

}  // namespace

void focusView(Scene& scene, State& page, const SequenceSnapshot& sequence, const ImRect& area,
               bool besideReceipt) {
  View& view = page.view;
  const Snapshot& snapshot = *page.snapshot;
  Canvas list = *ImGui::GetWindowDrawList();
  const Index n = std::ssize(sequence.queries), m = std::ssize(sequence.keys);
  const Index head = std::min(scene.cursor.focus, snapshot.config.heads - 1);
  const bool sinks = !snapshot.config.sinks.empty();
  const ImRect cells = view.figure ? figureArea(view, area, sequence, sinks)
                                   : cellArea(view, area, sequence, besideReceipt, sinks);
  PointedMap map = pointAtMap(view, "focus", page.camera, cells, sequence.queries, sequence.keys, head);
  HeatTile& tile = map.tile;
  if (scene.cursor.decoding) tile.decodedRows = scene.cursor.step;
  track("focus.cells", ImVec2(tile.x(0), tile.y(0)),
        ImVec2(tile.x(static_cast<float>(m)), tile.y(static_cast<float>(n))));

  Pictures& pictures = page.pictures;
  pictures.focusCell = std::max(tile.cellWidth(), tile.cellHeight());
  tile.area = page.motion.place(view, fmt::format("head.{}", head), tile.area);
  const ValueRange range = rangeFor(scene.look, sequence.pictures, head);
  const Look look = lookFor(scene.look, sequence.pictures);
  HeatmapTile picture = pictureOf(tile, pictures.focusFactor, range);
  if (scene.cursor.decoding)
    picture.view.litRows =
        static_cast<int>((scene.cursor.step + pictures.focusFactor - 1) / pictures.focusFactor);
  view.heatmaps->draw(list, pictures.focus, styleFor(view, look), {picture});

  const Cell chosen{head, scene.cursor.cell.query, scene.cursor.cell.key};
  paintHeadTitle(view, list, scene.look, snapshot, sequence, head,
                 ImVec2(tile.area.Min.x, tile.area.Min.y - view.px(22)),
                 std::max(tile.area.GetWidth(), view.figure ? view.px(kMinTitle) : 0), true, 0,
                 changeNotes(page, head));
  paintCellValues(view, list, tile, sequence, look, range);
  paintChanges(page, sequence, list, tile);
  const NameRoom names =
      view.figure ? nameRoom(view, sequence.queries, sequence.keys) : NameRoom{view.px(112), view.px(96)};
  const AxisLabels labels{&sequence.queries, &sequence.keys, chosen.query, chosen.key,
                          names.left,        names.below,    !view.figure};
  if (view.guessedRow.empty()) {
    paintAxisLabels(view, list, tile, labels);
    pointAtLabels(scene, page, tile, labels);
    paintAxisTitles(view, list, tile.area, names.left);
  } else {
    paintGuess(view, list, tile, scene.look, range);
    paintLabelsBelowGuess(view, list, tile, labels);
  }
  paintCrosshair(view, list, tile, chosen.query, chosen.key, n, m);
  if (sinks)
    paintSinkBars(view, list, tile, n, [&](Index row) {
      return attention::sinkShare(snapshot.config, sequence.attention, head, row);
    });
  if (view.figure) {
    view.figure->title = figureTitle(scene, snapshot, sequence, headName(head));
    paintHeadsLegend(view, list, scene.look, snapshot, sequence, head, pictures.focus.values(),
                     pictures.focusFactor,
                     ImVec2(cells.Max.x + (sinks ? sinkBarsRoom(view) : 0), cells.Min.y), cells.GetHeight());
  }
  if (!view.present)
    paintFitted(view, list, view.fonts->small, ImVec2(cells.Min.x, area.Max.y - view.px(8)),
                area.Max.x - cells.Min.x, view.theme->faint, visibleRangeText(page, tile, n, m));
  const ImRect title(cells.Min.x, cells.Min.y - view.px(40), cells.Max.x, cells.Min.y - view.px(4));
  offerForTitle(scene, page, title, chosen);
  if (!map.hovered || !map.cell) return;
  const Cell under{head, map.cell->row, map.cell->col};
  view.nextHover = {head, under.query, under.key};
  if (!ImGui::IsMouseDragging(0, view.px(4))) cellTooltip(view, sequence, head, under.query, under.key);
  if (map.clicked) choose(scene.cursor, under);
  if (ImGui::IsMouseClicked(1)) offerForCell(scene, view, page.menu, under);
}

void sentencePart(Board& board, Scene& scene, State& page, const SequenceSnapshot& sequence, bool ownPanel) {
  View& view = page.view;
  const SentenceSubject subject{*page.snapshot, sequence, scene.look, selectedCell(scene, *page.snapshot),
                                scene.cursor.decoding ? scene.cursor.step : -1};
  // An enlarged head is read for itself: in a low window it gets the height.
  const bool low = scene.cursor.focus >= 0 && board.height() < 700;
  // A lesson's text says it beside a narrow picture.
  const bool wide = ownPanel || board.width() > 640;
  // An open card takes room from the arcs, too.
  const float share = board.height() * 0.28f,
              units = scene.cursor.wordCard ? std::min(share, std::max(share * 0.75f, 118.0f)) : share;
  const float width = view.px(board.width()), most = view.px(units);
  const float height = low || !wide || view.figure ? 0 : sentenceHeight(view, subject, width, most);
  // A wiring that is switched on is there even without room for words; held sliders show it in their
  // place.
  const bool roomy = wide && board.height() >= 460;
  page.showsWiring = !view.figure && (height > 0 || (scene.cursor.wiring && roomy)) &&
                     wiringPart(board, scene, page, sequence, height / view.unit);
  page.showsSentence = height > 0 && !(page.showsWiring && scene.cursor.wiring);
  if (height <= 0 || page.showsWiring) return;
  board.area("", {height / view.unit}, [&scene, &page, subject](const ImRect& area) {
    const SentenceHit hit = sentence(page.view, page.sentence, subject, area);
    if (!hit.query && !hit.key && !hit.head) return;
    page.view.nextHover = {hit.head.value_or(-1), hit.query.value_or(-1), hit.key.value_or(-1)};
    Cursor& cursor = scene.cursor;
    if (hit.offers && !hit.head)
      offerForToken(scene, page, hit.query.has_value(), hit.query.value_or(hit.key.value_or(0)));
    if (!hit.clicked) return;
    // The first click explores what a word reads; only the second opens its vector, which takes room.
    if (hit.query && *hit.query == subject.at.query) cursor.wordCard = !cursor.wordCard;
    if (hit.query) cursor.cell.query = *hit.query;
    if (hit.key) choose(cursor, {subject.at.head, subject.at.query, *hit.key});
    if (hit.head) cursor.cell.head = *hit.head;
    if (hit.head && cursor.focus >= 0) cursor.focus = *hit.head;
  });
}

}  // namespace headscope::app::heads_page
