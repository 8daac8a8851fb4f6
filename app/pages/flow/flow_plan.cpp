#include "app/pages/flow/flow_page.h"
#include "app/widgets/heat_parts.h"
#include "app/widgets/paint.h"

namespace headscope::app::flow_page {

namespace {

// Layout units.
constexpr float kTitles = 26;      ///< above the shelf
constexpr float kLedge = 16;       ///< between shelf and floor
constexpr float kUnder = 26;       ///< names of matrices below the floor
constexpr float kMostCell = 44;    ///< of S
constexpr float kMostShelf = 240;  ///< height of the shelf, and width of Q and O
constexpr float kLeastShelf = 60;

}  // namespace

ImRect FlowPlan::cellAt(Index i, Index j) const {
  const ImVec2 from = s.Min + ImVec2(cell.x * static_cast<float>(j), cell.y * static_cast<float>(i));
  return {from, from + cell};
}

ImRect FlowPlan::rowOf(const ImRect& matrix, Index row, Index rows) {
  const float each = matrix.GetHeight() / static_cast<float>(std::max<Index>(rows, 1));
  const float top = matrix.Min.y + each * static_cast<float>(row);
  return {matrix.Min.x, top, matrix.Max.x, top + each};
}

ImRect FlowPlan::columnOf(const ImRect& matrix, Index column, Index columns) {
  const float each = matrix.GetWidth() / static_cast<float>(std::max<Index>(columns, 1));
  const float left = matrix.Min.x + each * static_cast<float>(column);
  return {left, matrix.Min.y, left + each, matrix.Max.y};
}

namespace {

/// Whether the stage needs the matrix of an earlier or later one.
struct Needs {
  bool x, deck, q, s, o, concat, y;
};

Needs needsOf(Step stage) {
  const bool made = stage <= Step::project, split = stage == Step::split, dot = stage == Step::dot;
  const bool row = stage >= Step::scale && stage <= Step::softmax, mix = stage == Step::mix;
  const bool concat = stage == Step::concat, output = stage == Step::output;
  return {made,
          split,
          stage == Step::project || split || dot,
          stage == Step::project || split || dot || row || mix,
          stage == Step::project || split || mix || concat,
          concat || output,
          output};
}

/// S alone, next to a large bench.
void planScores(const View& view, const Shot& shot, const ImRect& area, float left, float high,
                FlowPlan& plan) {
  const auto n = static_cast<float>(shot.n()), m = static_cast<float>(shot.m());
  const float each = std::max(0.02f, std::min({(area.GetWidth() - left) / m, high / n, view.px(kMostCell)}));
  plan.cell = {each, each};
  const ImVec2 from = area.Min + ImVec2(left, view.px(kTitles));
  plan.s = plan.floor = {from, from + ImVec2(each * m, each * n)};
  plan.names = plan.s.Min.x;
  plan.x = plan.deck = plan.q = plan.o = plan.concat = plan.y = ImRect(plan.s.Min, plan.s.Min);
  plan.keys = plan.values = plan.wo = plan.floorK = plan.floorV = plan.wq = plan.wk = plan.wv = plan.formula =
      plan.x;
}

}  // namespace

FlowPlan planFlow(const View& view, const Shot& shot, const ImRect& area) {
  FlowPlan plan;
  plan.poster = view.present;
  const Step stage = shot.at.stage;
  plan.mapOnly = plan.poster && stage >= Step::scale && stage <= Step::softmax;
  const auto n = static_cast<float>(shot.n()), m = static_cast<float>(shot.m());
  const NameRoom names = nameRoom(view, shot.sequence.queries, shot.sequence.keys);
  const float left = std::min(names.left * (plan.poster ? 1.3f : 1.0f), view.px(plan.poster ? 130 : 110));
  const float below = std::max(std::min(names.below, view.px(60)), view.px(kUnder));
  const float high = area.GetHeight() - below - view.px(kTitles + kLedge);
  if (plan.mapOnly) {
    planScores(view, shot, area, left, high, plan);
    return plan;
  }
  const bool roomy = area.GetWidth() >= view.px(760) && !plan.poster;
  Needs needs = needsOf(stage);
  if (!plan.poster) {
    const bool all = area.GetWidth() >= view.px(900);
    needs = {all || stage <= Step::project, all || stage == Step::split, true, true, true, true, true};
  }
  const float narrow = view.px(roomy ? 60 : plan.poster ? 64 : 40), deck = view.px(roomy ? 40 : 24);
  // A stage with few matrices shows them large.
  const float wideX = stage == Step::input && plan.poster ? view.px(260) : narrow;
  const float concat = view.px(roomy ? 100 : plan.poster ? 240 : 56);
  float gap = view.px(roomy ? 18 : 12);
  const float wide = area.GetWidth() - left;
  const float fixed = (needs.x ? wideX + gap : 0) + (needs.deck ? deck + gap : 0) +
                      (needs.concat ? concat + gap : 0) + (needs.y ? narrow + gap : 0);
  const float squares = static_cast<float>(needs.q + needs.o), cells = needs.s ? m : 0;
  const float most = view.px(plan.poster ? 64 : kMostCell);
  const float inner = wide - fixed - gap * (squares + (needs.s ? 1 : 0));
  // Q is as wide as the shelf is high, so that a row of Q can stand next to a column of K.
  float shelf = std::clamp(std::min(high * 0.44f, inner * 0.27f), view.px(kLeastShelf), view.px(kMostShelf));
  const float each = std::max(
      0.5f, std::min({cells > 0 ? (inner - squares * shelf) / cells : most, (high - shelf) / n, most}));
  if (squares > 0)
    shelf =
        std::clamp(std::min(high - each * n, (inner - each * cells) / squares), shelf, view.px(kMostShelf));
  gap += std::clamp((inner - squares * shelf - each * cells) / 6, 0.0f, view.px(14));
  plan.cell = {each, each};
  const float shelfTop = area.Min.y + view.px(kTitles), floor = shelfTop + shelf + view.px(kLedge);
  const float floorEnd = floor + each * n;
  plan.ledge = floor - view.px(kLedge) / 2;
  float x = area.Min.x + left;
  plan.names = x;
  const auto place = [&](bool needed, float width) {
    const ImRect box(x, floor, needed ? x + width : x, floorEnd);
    if (needed) x += width + gap;
    return box;
  };
  plan.x = place(needs.x, wideX);
  plan.deck = place(needs.deck, deck);
  plan.q = place(needs.q, shelf);
  plan.s = place(needs.s, each * m);
  plan.o = place(needs.o, shelf);
  plan.concat = place(needs.concat, concat);
  plan.y = place(needs.y, narrow);
  plan.floor = {plan.names, floor, x - gap, floorEnd};
  const auto over = [&](const ImRect& box) {
    return ImRect(box.Min.x, shelfTop, box.Max.x, shelfTop + shelf);
  };
  plan.keys = over(plan.s);
  plan.values = over(plan.o);
  plan.wo = over(plan.y);
  const float room = plan.o.Max.x - plan.s.Min.x - gap;
  const float made = std::max(0.0f, std::min(shelf, room / 2));
  // Another text has its own number of rows.
  const float keysEnd = std::min(floor + each * m, floorEnd);
  plan.floorK = {plan.s.Min.x, floor, plan.s.Min.x + made, keysEnd};
  plan.floorV = {plan.floorK.Max.x + gap, floor, plan.floorK.Max.x + gap + made, keysEnd};
  plan.wq = over(plan.q);
  plan.wk = over(plan.floorK);
  plan.wv = over(plan.floorV);
  // The corner that stays free.
  const float corner = stage == Step::project              ? plan.deck.Max.x
                       : stage == Step::mix && plan.poster ? plan.values.Min.x - gap
                                                           : plan.q.Max.x;
  plan.formula = {area.Min.x, shelfTop, corner, shelfTop + shelf};
  return plan;
}

}  // namespace headscope::app::flow_page
