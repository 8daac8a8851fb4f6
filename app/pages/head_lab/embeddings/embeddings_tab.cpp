#include <fmt/core.h>

#include <numeric>

#include "app/kit/board.h"
#include "app/pages/common/token_chips.h"
#include "app/pages/head_lab/embeddings/embeddings_state.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"

namespace headscope::app::head_lab_page {

namespace {

class EmbeddingsTab : public Tab {
 public:
  EmbeddingsTab(PageServices& services, State& page) : Tab(services, page), embeddings_(page) {}

  void draw(Scene& scene, const ImRect& area, const Layout&) override {
    if (!embeddings_.study.problem().empty()) return refusal(scene, area);
    if (!embeddings_.study) return;
    // Components of an earlier table are kept only while this tab edits the table.
    const bool own = scene.setup.input.source == EmbeddingSource::table &&
                     scene.setup.input.table.pointer() == embeddings_.made;
    if (!own && embeddings_.drag.kind == EmbeddingsState::Drag::Kind::none) embeddings_.kept.reset();
    Board board(page_.view, page_.inset(area));
    const std::vector<attention::Token>& tokens = page_.layer->sequence().queries;
    const float chips =
        tokenChipsHeight(page_.view, tokens, page_.view.px(board.width())) / page_.view.unit + 42;
    board
        .area("", {chips}, [this, &scene](const ImRect& part) { embeddingsTokens(scene, embeddings_, part); })
        .inWindow();
    constexpr PartWidth kWidths[] = {{320, 0.56f}, {200, 0.44f}};
    board.columns(kWidths, 32, [&](std::size_t i, Board& column) {
      if (i == 1) {
        column.picture("", {160, 300, 1}, [this, &scene](const ImRect& part) {
          headMaps(scene, page_, part, "embeddings.head",
                   embeddings_.drag.kind == EmbeddingsState::Drag::Kind::none);
        });
        column.legend({"weight", scene.look.colormap, {"0", "", "1"}});
        return;
      }
      // As high as the table, unless it has more rows than there is room for.
      const auto rows = static_cast<float>(std::max<Index>(tableNow(scene, embeddings_).values.rows(), 1));
      const float table = kTableAround + rows * kTableRow;
      column.picture("", {kTableAround + std::min(rows, 3.0f) * kTableRow, std::min(table, 480.0f), 1, table},
                     [this, &scene](const ImRect& part) { embeddingsTable(scene, embeddings_, part); });
      column.picture("", {120, 240, 1},
                     [this, &scene](const ImRect& part) { embeddingsPlane(scene, embeddings_, part); });
      column.apart(14);
    });
    board.show();
  }

  void paste(Scene& scene) override {
    if (embeddings_.study && embeddings_.study.problem().empty() && !page_.missing())
      pasteTable(scene, embeddings_);
  }

  void ask(const Scene& scene) override {
    embeddings_.study.ask(
        embeddingQuestion(scene.setup, scene.cursor.sequence, embeddings_.axes, embeddings_.kept),
        Lane::front);
  }

  void leave() override {
    embeddings_.drag = {};
    embeddings_.typing = {};
    embeddings_.kept.reset();
    embeddings_.extent = 0;
  }

  std::vector<CaptionPart> caption(const Scene& scene) const override {
    const bool fixed = !scene.setup.subject.model.empty();
    return {{fixed ? "The model learned its embeddings" : "Drag a number or a point to see every head change",
             page_.view.theme->secondary}};
  }

 private:
  void refusal(Scene& scene, const ImRect& area) {
    if (!scene.setup.subject.model.empty())
      emptyMessage(page_.view, area, "A model's embeddings are fixed", embeddings_.study.problem(),
                   "Switch to a synthetic layer", "model.leave");
    else
      paintMessage(page_.view, area, "Can't edit these embeddings", embeddings_.study.problem(),
                   page_.view.theme->text);
  }

  EmbeddingsState embeddings_;
};

}  // namespace

std::unique_ptr<Tab> makeEmbeddingsTab(PageServices& services, State& page) {
  return std::make_unique<EmbeddingsTab>(services, page);
}

namespace {

using Kind = EmbeddingsState::Drag::Kind;

/// "PC 1 · 23 % of the variance" or "dimension 4".
std::string axisName(const EmbeddingsState& embeddings, bool first) {
  const attention::Plane& plane = *embeddings.study->plane;
  const EmbeddingAxes& axes = embeddings.study->question.axes;
  if (!axes.principal()) return fmt::format("dimension {}", first ? axes.first : axes.second);
  return fmt::format("PC {} · {} of the variance", first ? 1 : 2,
                     percentText(first ? plane.firstShare : plane.secondShare));
}

void paintAxes(const EmbeddingsState& embeddings, const PlaneView& plane) {
  const View& view = embeddings.page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const ImVec2 zero = plane.pixel(0, 0);
  list.AddRectFilled(plane.area.Min, plane.area.Max, theme.panel, view.px(4));
  list.AddLine(ImVec2(plane.area.Min.x, zero.y), ImVec2(plane.area.Max.x, zero.y), theme.line);
  list.AddLine(ImVec2(zero.x, plane.area.Min.y), ImVec2(zero.x, plane.area.Max.y), theme.line);
}

/// A dragged point follows the pointer: its token's vector changes only along the plane's two directions.
void dragPoint(Scene& scene, EmbeddingsState& embeddings, const PlaneView& plane) {
  View& view = embeddings.page.view;
  hitArea("embeddings.plane", plane.area);
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  EmbeddingsState::Drag& drag = embeddings.drag;
  const Index under = pointUnder(plane, embeddings.study->points, mouse, view.px(14));
  if (ImGui::IsItemHovered() && under >= 0 && !embeddings.drags(Kind::point)) {
    view.nextHover.query = view.nextHover.key = under;
    ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
  }
  const attention::Table& table = tableNow(scene, embeddings);
  if (ImGui::IsItemActivated() && under >= 0 && under < table.values.rows()) {
    drag = {};
    drag.kind = Kind::point;
    drag.row = under;
    drag.from = mouse;
    drag.vector = table.values.row(under);
    scene.cursor.cell.query = under;
    if (embeddings.axes.principal()) embeddings.kept = embeddings.study->plane;
  }
  if (!embeddings.drags(Kind::point)) return;
  const attention::Plane& through = *embeddings.study->plane;
  if (!ImGui::IsItemActive() || drag.row >= table.values.rows() ||
      drag.vector.size() != through.first.size() || drag.vector.size() != table.values.cols()) {
    drag.kind = Kind::none;
    return;
  }
  drag.moved = drag.moved || std::hypot(mouse.x - drag.from.x, mouse.y - drag.from.y) >= view.px(2);
  view.nextHover.query = view.nextHover.key = drag.row;
  if (!drag.moved) return;
  const float dx = (mouse.x - drag.from.x) / plane.perUnit, dy = (drag.from.y - mouse.y) / plane.perUnit;
  attention::Table edited = table;
  // If the same dimension is chosen twice, both directions are equal.
  edited.values.row(drag.row) = drag.vector + dx * through.first;
  if (through.first != through.second) edited.values.row(drag.row) += dy * through.second;
  if (edited.values.row(drag.row) == table.values.row(drag.row)) return;
  setTable(scene, embeddings, std::move(edited), "embeddings.point");
}

/// Draws the points and their labels, except labels that would overlap; the selected one is always drawn.
void paintPoints(const Scene& scene, const EmbeddingsState& embeddings, const PlaneView& plane) {
  const View& view = embeddings.page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  attention::Matrix points = embeddings.study->points;
  const attention::Table& table = tableNow(scene, embeddings);
  if (embeddings.drags(Kind::point) && embeddings.drag.row < points.rows() &&
      table.values.cols() == embeddings.study->plane->mean.size())
    points.row(embeddings.drag.row) =
        attention::onPlane(*embeddings.study->plane, table.values.row(embeddings.drag.row));
  const std::vector<std::string>& names = embeddings.study->table.names;
  const Index selected = scene.cursor.cell.query, hovered = view.hover.query;
  PointNames labels(view, plane.area);
  labels.paintAxes(axisName(embeddings, true), axisName(embeddings, false));
  list.PushClipRect(plane.area.Min, plane.area.Max, true);
  // The selected one first and then the hovered one, so that they get their labels.
  std::vector<Index> order(static_cast<std::size_t>(points.rows()));
  std::iota(order.begin(), order.end(), Index{0});
  for (const Index first : {hovered, selected})
    if (const auto at = std::ranges::find(order, first); at != order.end())
      std::rotate(order.begin(), at, at + 1);
  for (const Index i : order) {
    const ImVec2 at = plane.pixel(points(i, 0), points(i, 1));
    const float r = view.px(i == selected ? 6 : 4);
    list.AddCircleFilled(at, r + view.px(1), theme.background, 20);
    list.AddCircleFilled(at, r, i == selected ? theme.query : theme.text, 20);
    if (i == hovered && i != selected) {
      const ImVec2 half(view.px(7), view.px(7));
      paintGhost(view, list, "ghost", {at - half, at + half}, theme.query);
    }
    track(fmt::format("embeddings.point.{}", i), ImVec2(at.x - 3, at.y - 3), ImVec2(at.x + 3, at.y + 3));
    labels.keepClear(at, r);
  }
  for (const Index i : order) {
    const bool named = i < std::ssize(names) && !names[static_cast<std::size_t>(i)].empty();
    const std::string name = named ? names[static_cast<std::size_t>(i)] : fmt::format("t{}", i);
    labels.paint(plane.pixel(points(i, 0), points(i, 1)), view.px(5),
                 fitted(view.fonts->mono, name, view.px(110)), i == selected ? theme.query : theme.text);
  }
  list.PopClipRect();
}

void axisChoice(EmbeddingsState& embeddings, const ImRect& area) {
  const Index dims = embeddings.study->table.values.cols();
  ControlLine line(embeddings.page.view, area, ControlLine::From::right, 10);
  const auto dimension = [&](const char* name, Index& chosen) {
    // Thousands of dimensions are too many for a list, so it offers those visible in the table.
    const Index first = std::clamp<Index>(embeddings.firstColumn, 0, std::max<Index>(0, dims - 32));
    std::vector<Index> values(static_cast<std::size_t>(std::min<Index>(dims - first, 32)));
    std::iota(values.begin(), values.end(), first);
    if (std::ranges::find(values, chosen) == values.end()) values.insert(values.begin(), chosen);
    std::vector<Choice> choices;
    for (const Index d : values) choices.push_back({fmt::format("dim {}", d), "", std::to_string(d)});
    int at = static_cast<int>(std::ranges::find(values, chosen) - values.begin());
    if (!line.list(name, choices, at, "Dimension on this axis, of those visible in the table.")) return;
    chosen = values[static_cast<std::size_t>(at)];
    embeddings.extent = 0;
  };
  if (!embeddings.axes.principal()) {
    dimension("embeddings.second", embeddings.axes.second);
    dimension("embeddings.first", embeddings.axes.first);
  } else if (embeddings.study->keptPlane && line.button("embeddings.fit", "Refit")) {
    embeddings.kept.reset();
    embeddings.extent = 0;
  }
  const Choice kinds[] = {{"Principal components", "", "principal"},
                          {"Two dimensions", dims < 2 ? "There is only one dimension." : "", "dimensions"}};
  int chosen = embeddings.axes.principal() ? 0 : 1;
  if (!line.list("embeddings.axes", kinds, chosen, "The plane's two directions.")) return;
  const Index first = std::min(embeddings.firstColumn, dims - 2);
  embeddings.axes = chosen == 0 ? EmbeddingAxes{} : EmbeddingAxes{first, first + 1};
  embeddings.extent = 0;
}

}  // namespace

void embeddingsPlane(Scene& scene, EmbeddingsState& embeddings, const ImRect& area) {
  const View& view = embeddings.page.view;
  Canvas list = *ImGui::GetWindowDrawList();
  const float y = area.Min.y + view.px(13);
  const float used = paintText(list, view.fonts->title, ImVec2(area.Min.x, y), view.theme->text, "Points");
  const std::string words =
      embeddings.study->keptPlane ? "components fitted before the change" : "drag one to move its vector";
  const float room = area.GetWidth() - used - view.px(12 + 320);
  if (textWidth(view.fonts->text, words) < room)
    paintText(list, view.fonts->text, ImVec2(area.Min.x + used + view.px(12), y), view.theme->secondary,
              words);
  axisChoice(embeddings, ImRect(area.Min, ImVec2(area.Max.x, area.Min.y + view.px(26))));
  const PlaneView plane = planeAround(ImRect(area.Min.x, area.Min.y + view.px(34), area.Max.x, area.Max.y),
                                      embeddings.study->points, embeddings.extent,
                                      embeddings.drags(Kind::point) || embeddings.drags(Kind::cell));
  if (plane.area.GetHeight() < view.px(40)) return;
  paintAxes(embeddings, plane);
  dragPoint(scene, embeddings, plane);
  paintPoints(scene, embeddings, plane);
}

}  // namespace headscope::app::head_lab_page
