#include <fmt/core.h>

#include "app/pages/flow/shot_painter.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/heat_parts.h"
#include "app/widgets/paint.h"

namespace headscope::app::flow_page {

namespace {

/// Draws S: products, scores and weights in turn, with the names of its rows and columns.
class ScorePainter : ShotPainter {
 public:
  ScorePainter(Scene& scene, State& page, const Shot& shot, const FlowPlan& plan)
      : ShotPainter(page, shot), scene_(scene), plan_(plan) {}

  void paint() {
    if (plan_.s.GetWidth() < 1) return rowNames();
    scores();
    names();
    crosshair();
    hit();
  }

 private:
  Scene& scene_;
  const FlowPlan& plan_;

  /// S in one step's numbers, on the scale of the scores before the mask until there are weights.
  void cells(Step step) {
    const bool weights = step == Step::softmax;
    const Stage stage = weights              ? Stage::weights
                        : step == Step::mask ? Stage::scores
                        : step == Step::bias ? Stage::biased
                                             : Stage::dots;
    const StagePicture& picture = shot_.film.picture(stage);
    const ValueRange range =
        stage == Stage::dots ? ValueRange{picture.low, picture.high} : scoreRange(shot_, step);
    MatrixPicture look{fmt::format("flow.s.{}", static_cast<int>(stage)), Ink::map, range.low, range.high};
    look.gap = plan_.cell.x >= view_.px(8) ? std::max(1.0f, view_.px(1)) : 0;
    look.fade = shot_.at.stage > Step::mix ? 0.5f : 1;
    // The snapshot's pictures of all heads mark masked cells.
    const PictureLevel& marked = shot_.sequence.pictures.levelFor(200);
    if (weights || step == Step::mask)
      paintPicture(view_, page_.textures, look, (weights ? marked.weights : marked.scores)[shot_.cell.head],
                   plan_.s, scene_.look);
    else
      paintPicture(view_, page_.textures, look, picture.values, plan_.s, scene_.look);
  }

  /// Writes a step's numbers into the cells that have them, if cells are large enough.
  void numbers(Step step, const std::function<bool(Index, Index)>& has) {
    if (plan_.cell.x < view_.px(25) || shot_.at.stage > Step::mix) return;
    Look look = scene_.look;
    look.quantity = step == Step::softmax ? Quantity::weights : Quantity::scores;
    look.scoreColormap = look.colormap;
    paintValues(view_, list_, tile(), shot_.n(), shot_.m(), look, scoreRange(shot_, step),
                [&](Index i, Index j) -> std::optional<float> {
                  if (!has(i, j)) return std::nullopt;
                  if (step == Step::softmax) return static_cast<float>(shot_.weight(i, j));
                  return static_cast<float>(shot_.score(step, i, j));
                });
  }

  HeatTile tile() const {
    HeatTile tile;
    tile.area = plan_.s;
    tile.rows = static_cast<float>(shot_.n());
    tile.cols = static_cast<float>(shot_.m());
    tile.head = shot_.cell.head;
    return tile;
  }

  /// Draws S with `after` where `done` says so, and `before` elsewhere.
  void changing(Step before, Step after, const RowsDone& done) {
    cells(before);
    const auto rows = [&](Index from, Index to) {
      if (from >= to) return;
      const ImRect first = plan_.cellAt(from, 0), last = plan_.cellAt(to - 1, 0);
      list_.PushClipRect(ImVec2(plan_.s.Min.x, first.Min.y), ImVec2(plan_.s.Max.x, last.Max.y), true);
      list_.AddRectFilled(plan_.s.Min, plan_.s.Max, theme_.background);
      cells(after);
      list_.PopClipRect();
    };
    rows(0, done.above);
    if (done.selected) rows(query_, query_ + 1);
    rows(query_ + 1, done.below);
    const auto has = [&](Step step, bool changed) {
      numbers(step, [&, step, changed](Index i, Index j) {
        return done.has(i, query_) == changed && (step < Step::mask || shot_.visible(i, j));
      });
    };
    has(before, false);
    has(after, true);
  }

  void scores() {
    if (!begun(Step::dot)) return;
    const double t = shot_.at.t;
    const Index n = shot_.n();
    const Step last = shot_.biased() ? Step::bias : Step::scale;
    track("flow.s", plan_.s.Min, plan_.s.Max);
    switch (shot_.at.stage) {
      case Step::dot: {
        cells(Step::dot);
        const RowsDone done = rowsDone(n, query_, passed(t, 0, 0.15), true, passed(t, 0.88, 1));
        coverRows(view_, shot_, plan_.s, done, n);
        hideRest();
        numbers(Step::dot, [&](Index i, Index j) { return done.has(i, query_) && (i != query_ || made(j)); });
        compat::rectOutline(list_, plan_.s.Min, plan_.s.Max, theme_.line, 0, 1);
        break;
      }
      case Step::scale: {
        const bool own = t >= 0.6;
        changing(Step::dot, Step::scale, rowsDone(n, query_, own ? 1 : 0, own, passed(t, 0.8, 1)));
        break;
      }
      case Step::bias: {
        const bool own = t >= 0.6;
        changing(Step::scale, Step::bias, rowsDone(n, query_, own ? 1 : 0, own, passed(t, 0.7, 1)));
        break;
      }
      case Step::mask:
        cells(t >= 0.8 ? Step::mask : last);
        if (t < 0.8) sweep(passed(t, 0.1, 0.8));
        numbers(last, [&](Index i, Index j) {
          return shot_.visible(i, j) || std::abs(j - i) < front(passed(t, 0.1, 0.8));
        });
        break;
      case Step::softmax: {
        const double rest = passed(t, 0.8, 1);
        changing(Step::mask, Step::softmax, rowsDone(n, query_, passed(t, 0, 0.08), t >= 0.72, rest));
        break;
      }
      default:
        cells(Step::softmax);
        numbers(Step::softmax, [&](Index i, Index j) { return shot_.visible(i, j); });
    }
  }

  /// During Q·Kᵀ: whether the selected row has its cell for that key.
  bool made(Index j) const {
    const double t = shot_.at.t;
    const Index key = shot_.cell.key;
    if (j == key) return t >= 0.78;
    return j < key ? j < doneBy(passed(t, 0, 0.15), key)
                   : j <= key + doneBy(passed(t, 0.78, 0.88), shot_.m() - key - 1);
  }

  /// Covers the others.
  void hideRest() {
    for (Index j = 0; j < shot_.m(); ++j)
      if (const ImRect cell = plan_.cellAt(query_, j); !made(j))
        list_.AddRectFilled(cell.Min, cell.Max, theme_.background);
  }

  /// The distance from the diagonal from which on the mask has hidden cells.
  Index front(double share) const {
    return static_cast<Index>(static_cast<double>(std::max(shot_.n(), shot_.m())) * (1 - share));
  }

  /// The mask's front: of the cells that it hides, those farthest from the diagonal come first.
  void sweep(double share) {
    const Index n = shot_.n(), m = shot_.m(), nearest = front(share);
    // Rows are runs of cells, and one row a pixel is enough, so that long texts take few rectangles.
    const Index step = std::max<Index>(1, static_cast<Index>(1 / plan_.cell.y));
    for (Index i = 0; i < n; i += step) {
      Index from = -1;
      for (Index j = 0; j <= m; ++j) {
        const bool hides = j < m && !shot_.visible(i, j) && std::abs(j - i) >= nearest;
        if (hides && from < 0) from = j;
        if (hides || from < 0) continue;
        hidden(ImRect(plan_.cellAt(i, from).Min, plan_.cellAt(i, j - 1).Max));
        from = -1;
      }
    }
  }

  void hidden(const ImRect& box) {
    list_.AddRectFilled(box.Min, box.Max, mixed(theme_.background, theme_.panel, 0.7f));
    const float space = view_.px(12);
    if (box.GetHeight() < space) return;
    list_.PushClipRect(box.Min, box.Max, true);
    for (float x = box.Min.x - box.GetHeight(); x < box.Max.x; x += space)
      list_.AddLine(ImVec2(x, box.Max.y), ImVec2(x + box.GetHeight(), box.Min.y),
                    mixed(theme_.background, theme_.line, 0.8f));
    list_.PopClipRect();
  }

  /// The tokens' names left of the rows, and below the keys' columns.
  void names() {
    rowNames();
    AxisLabels labels{&shot_.sequence.queries, &shot_.sequence.keys, shot_.cell.query, shot_.cell.key};
    labels.large = plan_.poster;
    if (begun(Step::dot) && !at(Step::concat) && !at(Step::output)) {
      labels.leftRoom = 0;
      labels.bottomRoom = view_.px(70);
      paintAxisLabels(view_, list_, tile(), labels);
    }
  }

  void rowNames() {
    AxisLabels labels{&shot_.sequence.queries, &shot_.sequence.keys, shot_.cell.query, shot_.cell.key};
    labels.large = plan_.poster || plan_.cell.y >= view_.px(24);
    labels.leftRoom = view_.px(plan_.poster ? 130 : 110);
    HeatTile rows = tile();
    rows.area = ImRect(plan_.names, plan_.floor.Min.y, plan_.names + view_.px(40), plan_.floor.Max.y);
    paintAxisLabels(view_, list_, rows, labels);
    paintText(list_, plan_.poster ? fonts_.text : fonts_.small,
              ImVec2(plan_.names - view_.px(8), plan_.floor.Min.y - view_.px(12)), theme_.query, "query ↓",
              Align::right);
  }

  /// The selected cell's row and column, and the hovered ones dashed.
  void crosshair() {
    if (!begun(Step::dot)) return;
    paintCrosshairs(view_, list_, tile(), {shot_.cell.head, shot_.cell.query, shot_.cell.key}, view_.hover,
                    shot_.n(), shot_.m());
    const ImRect cell = plan_.cellAt(shot_.cell.query, shot_.cell.key);
    paintMark(view_, list_, "cell", cell, theme_.text, std::max(1.5f, view_.px(2)));
  }

  void hit() {
    if (!begun(Step::dot)) return;
    const bool clicked = hitArea("flow.cells", plan_.s);
    trackCells("flow.cells", tile(), &shot_.sequence.queries, &shot_.sequence.keys);
    if (!ImGui::IsItemHovered()) return;
    const auto cell = tile().cellAt(ImGui::GetIO().MousePos, shot_.n(), shot_.m());
    if (!cell) return;
    view_.nextHover.query = cell->row;
    view_.nextHover.key = cell->col;
    if (clicked) choose(scene_.cursor, {shot_.cell.head, cell->row, cell->col});
  }
};

}  // namespace

void coverRows(const View& view, const Shot& shot, const ImRect& box, const RowsDone& done, Index rows) {
  Canvas list = *ImGui::GetWindowDrawList();
  const Index chosen = shot.cell.query;
  const auto hide = [&](Index from, Index to) {
    if (from >= to) return;
    const ImRect first = FlowPlan::rowOf(box, from, rows), last = FlowPlan::rowOf(box, to - 1, rows);
    list.AddRectFilled(ImVec2(box.Min.x, first.Min.y), ImVec2(box.Max.x, last.Max.y), view.theme->background);
  };
  hide(done.above, std::min(chosen, rows));
  if (!done.selected && chosen < rows) hide(chosen, chosen + 1);
  hide(std::max(done.below, chosen + 1), rows);
}

void flowScores(Scene& scene, State& page, const Shot& shot, const FlowPlan& plan) {
  ScorePainter(scene, page, shot, plan).paint();
}

}  // namespace headscope::app::flow_page
