#include <fmt/core.h>

#include <numbers>

#include "app/pages/flow/shot_painter.h"
#include "app/widgets/paint.h"

namespace headscope::app::flow_page {

namespace {

using Row = Eigen::RowVectorXf;

/// A few numbers as cells along a line, wherever it points.
struct Strip {
  attention::Matrix values;  ///< [rows, cols], pooled
  float most = 1;            ///< the magnitude of the brightest colour
  Ink ink = Ink::stream;
};

/// Where the strip's cells are: its top left corner, and the vectors along all columns and all rows.
struct Basis {
  ImVec2 from, along, down;
};

ImVec2 between(ImVec2 a, ImVec2 b, double share) {
  const auto t = static_cast<float>(share);
  return ImVec2(a.x + (b.x - a.x) * t, a.y + (b.y - a.y) * t);
}

Basis between(const Basis& a, const Basis& b, double share) {
  return {between(a.from, b.from, share), between(a.along, b.along, share), between(a.down, b.down, share)};
}

ImRect between(const ImRect& a, const ImRect& b, double share) {
  return {between(a.Min, b.Min, share), between(a.Max, b.Max, share)};
}

Basis basisOf(const ImRect& box) {
  return {box.Min, ImVec2(box.GetWidth(), 0), ImVec2(0, box.GetHeight())};
}

class MovePainter : ShotPainter {
 public:
  MovePainter(State& page, const Shot& shot, const FlowPlan& plan)
      : ShotPainter(page, shot), plan_(plan), t_(shot.at.t) {}

  void paint() {
    switch (shot_.at.stage) {
      case Step::input:
        return input();
      case Step::project:
        return project();
      case Step::split:
        return split();
      case Step::dot:
        return dot();
      case Step::mix:
        return mix();
      case Step::concat:
        return concat();
      case Step::output:
        return output();
      default:
        return;
    }
  }

 private:
  const FlowPlan& plan_;
  const double t_;

  void paintStrip(const Strip& strip, const Basis& at, float alpha = 1) {
    const render::Tint tint = inkTint(theme_, strip.ink);
    const std::uint32_t low = packed(tint.low), high = packed(tint.high);
    const Index rows = strip.values.rows(), cols = strip.values.cols();
    const ImVec2 across = at.along / static_cast<float>(cols), down = at.down / static_cast<float>(rows);
    for (Index i = 0; i < rows; ++i)
      for (Index j = 0; j < cols; ++j) {
        const float value = std::clamp(strip.values(i, j) / strip.most, -1.0f, 1.0f);
        const ImVec2 from = at.from + across * static_cast<float>(j) + down * static_cast<float>(i);
        const ImVec2 corners[] = {from, from + across, from + across + down, from + down};
        list_.AddConvexPolyFilled(corners, 4, faded(mixed(low, high, value / 2 + 0.5f), alpha));
      }
    const ImVec2 corners[] = {at.from, at.from + at.along, at.from + at.along + at.down, at.from + at.down,
                              at.from};
    list_.AddPolyline(corners, 5, faded(inkColor(theme_, strip.ink), alpha), 0,
                      std::max(1.0f, view_.px(1.3f)));
  }

  static Strip stripOf(const Eigen::Ref<const attention::Matrix>& values, const StagePicture& range,
                       Ink ink) {
    return {attention::poolByMagnitude(values, 24, 32), largestOf(range), ink};
  }
  Strip rowStrip(const Row& row, const StagePicture& range, Ink ink) const {
    return stripOf(attention::Matrix(row), range, ink);
  }

  /// The row comes from the bench, and goes to its place in X.
  void input() {
    const double share = easeBoth(passed(t_, 0.45, 0.7));
    if (share <= 0 || share >= 1) return;
    const ImRect to = FlowPlan::rowOf(plan_.x, query_, shot_.n());
    const ImRect from(plan_.floor.Max.x - view_.px(180), plan_.formula.Min.y, plan_.floor.Max.x,
                      plan_.formula.Min.y + to.GetHeight());
    paintStrip(rowStrip(shot_.layer.x.row(query_), shot_.film.picture(Stage::x), Ink::stream),
               basisOf(between(from, to, share)));
  }

  /// A copy of the row slides right under the three matrices; what they make of it stays.
  void project() {
    const double share = passed(t_, 0.15, 0.75);
    if (share <= 0 || share >= 1) return;
    const ImRect row = FlowPlan::rowOf(plan_.x, query_, shot_.n());
    const float end = shot_.cross() ? plan_.q.Max.x : plan_.floorV.Max.x;
    const float x = row.Max.x + (end - row.Max.x) * static_cast<float>(share);
    const auto stays = [&](const char* name, const ImRect& box, Stage stage, Ink ink) {
      const ImRect made = FlowPlan::rowOf(box, query_, shot_.n());
      if (x <= made.Min.x) return;
      list_.PushClipRect(made.Min, ImVec2(std::min(x, made.Max.x), made.Max.y), true);
      const StagePicture& picture = shot_.film.picture(stage);
      const float most = largestOf(picture);
      paintPicture(page_.view, page_.textures, {std::string("flow.") + name + ".all", ink, -most, most},
                   picture.values, box, shot_.look);
      list_.PopClipRect();
    };
    stays("q", plan_.q, Stage::q, Ink::query);
    if (!shot_.cross()) {
      stays("k", plan_.floorK, Stage::k, Ink::key);
      stays("v", plan_.floorV, Stage::v, Ink::value);
    }
    for (const ImRect* weights : {&plan_.wq, &plan_.wk, &plan_.wv})
      if (x >= weights->Min.x && x <= weights->Max.x)
        list_.AddLine(ImVec2(x, weights->Min.y), ImVec2(x, row.Max.y), theme_.text,
                      std::max(1.0f, view_.px(1.5f)));
    const float wide = std::max(row.GetWidth(), view_.px(40));
    paintStrip(rowStrip(shot_.layer.x.row(query_), shot_.film.picture(Stage::x), Ink::stream),
               basisOf(ImRect(x - wide, row.Min.y, x, row.Max.y)), 0.9f);
  }

  /// K turns over its diagonal up to the shelf, and V rises.
  void split() {
    const double up = easeBoth(passed(t_, 0.35, 0.8));
    if (up >= 1) return;
    const Index kv = shot_.kvHead();
    const auto slice = [&](const ImRect& box) { return FlowPlan::columnOf(box, kv, shot_.config.kvHeads); };
    const ImRect& to = plan_.keys;
    // In Kᵀ, a token's row stands upright: its numbers go down, and tokens go right.
    const Basis turned{to.Min, ImVec2(0, to.GetHeight()), ImVec2(to.GetWidth(), 0)};
    paintStrip(stripOf(shot_.film.k.values, shot_.film.k, Ink::key),
               between(basisOf(slice(plan_.floorK)), turned, up));
    paintStrip(stripOf(shot_.film.v.values, shot_.film.v, Ink::value),
               basisOf(between(slice(plan_.floorV), plan_.values, up)));
  }

  /// The query's row swings about the cell it fills onto the key's column, then slides on over the others.
  void dot() {
    if (t_ < 0.15 || t_ >= 0.9) return;
    const attention::AttentionResult& result = shot_.sequence.attention;
    const Strip strip = rowStrip(result.q[shot_.cell.head].row(query_), shot_.film.q, Ink::query);
    const double swing = easeBoth(passed(t_, 0.2, 0.38)), on = easeBoth(passed(t_, 0.78, 0.88));
    const double last = static_cast<double>(shot_.m() - 1 - shot_.cell.key);
    const ImRect cell = plan_.cellAt(query_, shot_.cell.key);
    const ImVec2 middle = cell.GetCenter() + ImVec2(static_cast<float>(on * last) * plan_.cell.x, 0);
    // From pointing left, where its last number is nearest, to pointing up.
    const double angle = std::numbers::pi * (1 + swing / 2);
    const ImVec2 out(static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle)));
    const float near = middle.x - plan_.q.Max.x, far = middle.y - plan_.keys.Max.y;
    const float radius = near + (far - near) * static_cast<float>(swing);
    const float length =
        plan_.q.GetWidth() + (plan_.keys.GetHeight() - plan_.q.GetWidth()) * static_cast<float>(swing);
    const float thick = std::max(plan_.cell.y, view_.px(5));
    const ImVec2 across(-out.y * thick, out.x * thick);
    // It ends next to the column, so that both are seen.
    const ImVec2 aside(-(thick + plan_.cell.x) / 2 * static_cast<float>(swing), 0);
    Basis at;
    at.from = middle + aside + out * (radius + length) - across / 2;
    at.along = out * -length;
    at.down = across;
    if (swing < 1) arc(middle, near, far);
    paintStrip(strip, at, 0.92f);
    if (swing >= 1 && t_ < 0.72) pair(at);
    if (t_ >= 0.72 && t_ < 0.78) falls(passed(t_, 0.72, 0.78));
  }

  /// The way that the row's inner end takes.
  void arc(ImVec2 middle, float near, float far) {
    std::vector<ImVec2> way;
    for (int i = 0; i <= 24; ++i) {
      const float share = static_cast<float>(i) / 24, angle = std::numbers::pi_v<float> * (1 + share / 2);
      const float radius = near + (far - near) * share;
      way.push_back(middle + ImVec2(std::cos(angle), std::sin(angle)) * radius);
    }
    list_.AddPolyline(way.data(), static_cast<int>(way.size()), faded(theme_.query, 0.5f), 0,
                      std::max(1.0f, view_.px(1)));
  }

  /// Frames the two numbers that are multiplied, which the bench lists.
  void pair(const Basis& strip) {
    const GrowingSum sum = sumOf(shot_, theme_, page_.terms);
    if (sum.done >= sum.terms.size() || sum.terms[sum.done].at < 0) return;
    const ImRect column = FlowPlan::columnOf(plan_.keys, shot_.cell.key, shot_.m());
    const auto dims = static_cast<float>(shot_.config.headDim);
    const float y = column.Min.y + static_cast<float>(sum.terms[sum.done].at) / dims * column.GetHeight();
    const float high = std::max(column.GetHeight() / dims, 3.0f);
    const float left = std::min(strip.from.x + std::min(strip.down.x, 0.0f), column.Min.x);
    compat::rectOutline(list_, ImVec2(left, y), ImVec2(column.Max.x, y + high), theme_.text, 0,
                        std::max(1.0f, view_.px(1.5f)));
  }

  /// The sum falls down the column into its cell.
  void falls(double share) {
    const ImRect cell = plan_.cellAt(query_, shot_.cell.key);
    const float y = plan_.keys.Max.y + (cell.Min.y - plan_.keys.Max.y) * static_cast<float>(easeOut(share));
    list_.AddRectFilled(ImVec2(cell.Min.x, y), ImVec2(cell.Max.x, y + plan_.cell.y), theme_.text);
  }

  /// Weights light the values; lit values fall into the query's row and add up, as the bench lists them.
  void mix() {
    const attention::AttentionResult& result = shot_.sequence.attention;
    const Row weights = result.weights[shot_.cell.head].row(query_);
    const auto values = result.v[shot_.kvHead()];
    const GrowingSum sum = sumOf(shot_, theme_, page_.terms);
    const double lit = passed(t_, 0.12, 0.22);
    for (const GrowingSum::Term& term : sum.terms) {
      if (term.at < 0 || t_ >= 0.8) continue;
      const ImRect cell = plan_.cellAt(query_, term.at),
                   value = FlowPlan::rowOf(plan_.values, term.at, shot_.m());
      const float alpha = std::abs(weights[term.at]) * static_cast<float>(lit);
      if (alpha <= 0.01f) continue;
      list_.AddLine(cell.GetCenter(), ImVec2(value.Min.x, value.GetCenter().y), faded(theme_.value, alpha),
                    std::max(1.0f, view_.px(1 + 3 * alpha)));
      compat::rectOutline(list_, value.Min, value.Max, faded(theme_.value, 0.3f + 0.7f * alpha), 0,
                          std::max(1.0f, view_.px(1.2f)));
    }
    if (t_ < 0.22 || t_ >= 0.72) return;
    const ImRect target = FlowPlan::rowOf(plan_.o, query_, shot_.n());
    Row made = Row::Zero(shot_.config.headDim);
    for (std::size_t i = 0; i < sum.done; ++i)
      if (const Index j = sum.terms[i].at; j >= 0) made += weights[j] * values.row(j);
    if (sum.done > 0)
      paintStrip(rowStrip(made, shot_.film.picture(Stage::headOutput), Ink::value), basisOf(target));
    if (sum.done >= sum.terms.size() || sum.terms[sum.done].at < 0) return;
    const Index j = sum.terms[sum.done].at;
    const ImRect from = FlowPlan::rowOf(plan_.values, j, shot_.m());
    paintStrip(rowStrip(values.row(j), shot_.film.v, Ink::value),
               basisOf(between(from, target, easeBoth(sum.falling))),
               std::clamp(std::abs(weights[j]), 0.25f, 1.0f));
  }

  /// A head's output goes to its slot, narrowing.
  void concat() {
    const double place = shot_.headsMoved(), head = std::floor(place);
    if (place <= 0 || head >= static_cast<double>(shot_.config.heads)) return;
    const ImRect to = FlowPlan::columnOf(plan_.concat, static_cast<Index>(head), shot_.config.heads);
    const ImRect box = between(plan_.o, to, easeBoth(place - head));
    paintStrip(stripOf(shot_.sequence.attention.headOutput[static_cast<Index>(head)],
                       shot_.film.picture(Stage::concat), Ink::value),
               basisOf(box));
    compat::rectOutline(list_, box.Min, box.Max,
                        groupColor(theme_, shot_.config.kvHeadOf(static_cast<Index>(head))), 0,
                        std::max(1.0f, view_.px(1.5f)));
  }

  /// The row of all heads slides under the column of W_O that makes one number.
  void output() {
    const double share = easeBoth(passed(t_, 0.1, 0.2));
    const auto columns = static_cast<float>(shot_.config.modelDim);
    const float x =
        plan_.wo.Min.x + plan_.wo.GetWidth() * (static_cast<float>(shot_.column) + 0.5f) / columns;
    if (t_ < 0.8) {
      const float half = std::max(view_.px(1.5f), plan_.wo.GetWidth() / columns / 2);
      compat::rectOutline(list_, ImVec2(x - half, plan_.wo.Min.y), ImVec2(x + half, plan_.wo.Max.y),
                          theme_.text, 0, 1);
    }
    if (t_ < 0.1 || t_ >= 0.8) return;
    Row row(shot_.config.heads * shot_.config.headDim);
    for (Index h = 0; h < shot_.config.heads; ++h)
      row.segment(h * shot_.config.headDim, shot_.config.headDim) =
          shot_.sequence.attention.headOutput[h].row(query_);
    const ImRect from = FlowPlan::rowOf(plan_.concat, query_, shot_.n());
    const float by = plan_.y.Min.x - from.Max.x;
    ImRect box = from;
    box.TranslateX(by * static_cast<float>(share));
    paintStrip(rowStrip(row, shot_.film.picture(Stage::concat), Ink::value), basisOf(box), 0.92f);
    if (t_ < 0.72) return;
    const ImRect cell = FlowPlan::rowOf(plan_.y, query_, shot_.n());
    const float half = view_.px(2);
    list_.AddRectFilled(ImVec2(x - half, cell.Min.y), ImVec2(x + half, cell.Max.y), theme_.text);
  }
};

}  // namespace

void flowMoves(State& page, const Shot& shot, const FlowPlan& plan) {
  if (!plan.mapOnly) MovePainter(page, shot, plan).paint();
}

}  // namespace headscope::app::flow_page
