#include <fmt/core.h>

#include "app/pages/flow/shot_painter.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/rich_text.h"

namespace headscope::app::flow_page {

namespace {

/// The selected numbers' arithmetic, next to the matrices.
class BenchPainter : ShotPainter {
 public:
  BenchPainter(State& page, const Shot& shot, const ImRect& area)
      : ShotPainter(page, shot), area_(area), line_(view_.px(20)) {}

  void paint() {
    switch (shot_.at.stage) {
      case Step::input:
        return vector();
      case Step::split:
        return groups();
      case Step::concat:
        return slots();
      default:
        page_.terms = terms();
        return sum(sumOf(shot_, theme_, page_.terms));
    }
  }

 private:
  ImRect area_;
  const float line_;

  /// A title with secondary words; returns where the rest begins.
  float heading(const std::string& title, const std::vector<std::string>& after) {
    const float y = area_.Min.y + line_ / 2;
    const float used =
        paintScripted(view_, list_, view_.present ? fonts_.title : fonts_.bold, ImVec2(area_.Min.x, y),
                      theme_.text, title, Align::left, area_.GetWidth());
    const float room = area_.GetWidth() - used - view_.px(14);
    const std::string words = firstFitting(small(), after, room);
    if (textWidth(small(), words) <= room)
      paintText(list_, small(), ImVec2(area_.Min.x + used + view_.px(14), y), theme_.secondary, words);
    return area_.Min.y + line_ * 1.6f;
  }

  /// The terms that fit, each on a line, above the sum.
  std::size_t terms() const {
    const float room = area_.GetHeight() - line_ * 1.6f - line_ - view_.px(92);
    return static_cast<std::size_t>(std::clamp(room / termLine(), 3.0f, 64.0f));
  }
  float termLine() const { return view_.px(view_.present ? 20 : 17); }

  void sum(const GrowingSum& sum) {
    const float top = heading(sum.formula, {});
    const std::size_t count = sum.terms.size();
    const float each = std::min(termLine() * 1.4f, (area_.Max.y - view_.px(92) - top - line_) /
                                                       static_cast<float>(std::max<std::size_t>(count, 1)));
    const bool pairs = !sum.a.empty();
    float label = 0, number = textWidth(mono(), "−0.0000");
    for (const GrowingSum::Term& term : sum.terms) label = std::max(label, textWidth(mono(), term.label));
    label = std::min(label + view_.px(8), area_.GetWidth() * 0.3f);
    number = std::max(number, textWidth(small(), pairs ? "weight" : "")) + view_.px(8);
    const float x = area_.Min.x, a = x + label + number, b = a + number;
    const float product = pairs ? b + number : x + label + number;
    const float head = top + line_ / 2;
    if (pairs) {
      paintScripted(view_, list_, small(), ImVec2(a, head), sum.aColor, sum.a, Align::right, number);
      paintScripted(view_, list_, small(), ImVec2(b, head), sum.bColor, sum.b, Align::right, number);
    }
    if (pairs)
      paintScripted(view_, list_, small(), ImVec2(product, head), theme_.text, sum.product, Align::right,
                    number);
    else
      paintScripted(view_, list_, small(), ImVec2(x, head), theme_.secondary, sum.product);
    float low = 0, high = 0, running = 0;
    for (const GrowingSum::Term& term : sum.terms) {
      running += static_cast<float>(term.product);
      low = std::min({low, static_cast<float>(term.product), running});
      high = std::max({high, static_cast<float>(term.product), running});
    }
    const float barLeft = product + view_.px(12), barRoom = area_.Max.x - barLeft;
    const float most = std::max({high, -low, 1e-30f});
    float y = top + line_;
    for (std::size_t i = 0; i < count; ++i, y += each) {
      const GrowingSum::Term& term = sum.terms[i];
      const float middle = y + each / 2;
      const bool now = i == sum.done && sum.falling > 0, done = i < sum.done;
      if (now) list_.AddRectFilled(ImVec2(x - view_.px(4), y), ImVec2(area_.Max.x, y + each), theme_.raised);
      const std::uint32_t color = now ? theme_.text : done ? theme_.secondary : theme_.faint;
      paintText(list_, mono(), ImVec2(x, middle), color, fitted(mono(), term.label, label - view_.px(4)));
      const bool plain = term.at >= 0;
      if (pairs && plain) {
        paintText(list_, mono(), ImVec2(a, middle), done || now ? sum.aColor : theme_.faint, cellText(term.a),
                  Align::right);
        paintText(list_, mono(), ImVec2(b, middle), done || now ? sum.bColor : theme_.faint, cellText(term.b),
                  Align::right);
      }
      if (done || now)
        paintText(list_, mono(), ImVec2(product, middle), color, cellText(term.product), Align::right);
      if (!done && !now) continue;
      const float length = std::abs(static_cast<float>(term.product)) / most * barRoom;
      bar(ImRect(barLeft, y + 1, barLeft + std::max(length, 1.0f), y + each - 1), term.product < 0, done);
    }
    pile(sum, low, high);
  }

  /// A bar; outlined where it takes away, dim once it has been added.
  void bar(const ImRect& box, bool negative, bool added) {
    const std::uint32_t color = mixed(theme_.background, theme_.text, added ? 0.4f : 0.85f);
    if (negative)
      compat::rectOutline(list_, box.Min, box.Max, color, 0, std::max(1.0f, view_.px(1)));
    else
      list_.AddRectFilled(box.Min, box.Max, color);
  }

  /// The sum so far on an axis that has room for all of it.
  void pile(const GrowingSum& sum, float low, float high) {
    const float top = area_.Max.y - view_.px(84), y = top + view_.px(14);
    const std::string done =
        fmt::format("{} of {}", sum.products(sum.done), countedText(sum.products(sum.terms.size()), "term"));
    const float sign = paintText(list_, fonts_.title, ImVec2(area_.Min.x, y), theme_.text, "Σ");
    paintText(list_, small(), ImVec2(area_.Min.x + sign + view_.px(10), y), theme_.secondary, done);
    paintText(list_, fonts_.monoHero, ImVec2(area_.Max.x, y), theme_.text, cellText(sum.sum()), Align::right);
    const ImRect axis(area_.Min.x, top + view_.px(30), area_.Max.x, top + view_.px(54));
    list_.AddRectFilled(axis.Min, axis.Max, mixed(theme_.background, theme_.panel, 0.8f));
    const float range = std::max(high - low, 1e-30f);
    const auto at = [&](double value) {
      return axis.Min.x + (static_cast<float>(value) - low) / range * axis.GetWidth();
    };
    double running = 0;
    for (std::size_t i = 0; i < sum.done; ++i) {
      const double next = running + sum.terms[i].product;
      const float from = std::min(at(running), at(next)), to = std::max(at(running), at(next));
      if (sum.terms[i].product >= 0)
        list_.AddRectFilled(ImVec2(from, axis.Min.y), ImVec2(std::max(to - 1, from + 0.5f), axis.Max.y),
                            mixed(theme_.background, theme_.text, i % 2 ? 0.62f : 0.74f));
      else
        list_.AddRectFilled(ImVec2(from, axis.Min.y), ImVec2(to, axis.Max.y),
                            mixed(theme_.background, theme_.text, 0.2f));
      running = next;
    }
    list_.AddLine(ImVec2(at(running), axis.Min.y - view_.px(5)),
                  ImVec2(at(running), axis.Max.y + view_.px(3)), theme_.text, std::max(1.0f, view_.px(2)));
    const float under = axis.Max.y + view_.px(13);
    paintText(list_, mono(), ImVec2(axis.Min.x, under), theme_.secondary, cellText(static_cast<double>(low)));
    paintText(list_, mono(), ImVec2(axis.Max.x, under), theme_.secondary, cellText(static_cast<double>(high)),
              Align::right);
    if (low < 0 && high > 0)
      list_.AddLine(ImVec2(at(0), axis.Min.y), ImVec2(at(0), axis.Max.y + view_.px(4)), theme_.secondary);
    if (!sum.note.empty())
      paintText(list_, small(), ImVec2(axis.GetCenter().x, under), theme_.secondary,
                fitted(small(), sum.note, axis.GetWidth() * 0.6f), Align::center);
    track("flow.sum", axis.Min, axis.Max);
  }

  /// The row that the selected word becomes.
  void vector() {
    const Eigen::RowVectorXf row = shot_.layer.x.row(shot_.cell.query);
    const float top =
        heading(fmt::format("x_{{{}}}", shot_.cell.query),
                {countedText(row.size(), "number") + ": the row of " + shot_.query(shot_.cell.query),
                 countedText(row.size(), "number")});
    const float share = static_cast<float>(easeOut(passed(shot_.into(Step::input), 0, 0.45)));
    const float most = std::max(row.cwiseAbs().maxCoeff(), 1e-30f);
    const ImRect chart(area_.Min.x, top, area_.Max.x, std::min(area_.Max.y, top + view_.px(220)));
    const float zero = chart.GetCenter().y, half = chart.GetHeight() / 2;
    list_.AddLine(ImVec2(chart.Min.x, zero), ImVec2(chart.Max.x, zero), theme_.line);
    const float each = chart.GetWidth() / static_cast<float>(row.size());
    const auto shown = static_cast<Index>(share * static_cast<float>(row.size()));
    for (Index c = 0; c < shown; ++c) {
      const float x = chart.Min.x + each * static_cast<float>(c), y = zero - row[c] / most * half;
      list_.AddRectFilled(ImVec2(x, std::min(y, zero)),
                          ImVec2(x + std::max(each - 1, 1.0f), std::max(y, zero)),
                          mixed(theme_.background, theme_.text, 0.72f));
    }
    const float under = chart.Max.y + line_;
    if (under > area_.Max.y) return;
    paintText(list_, mono(), ImVec2(chart.Min.x, under), theme_.secondary, "c = 0");
    paintText(list_, mono(), ImVec2(chart.Max.x, under), theme_.secondary, std::to_string(row.size() - 1),
              Align::right);
    paintText(list_, mono(), ImVec2(chart.GetCenter().x, under), theme_.secondary,
              "±" + cellText(static_cast<double>(most)), Align::center);
  }

  /// Which query heads read which kv head, a line for each kv head around the selected one.
  void groups() {
    const attention::AttentionConfig& config = shot_.config;
    const float top =
        heading(countedText(config.heads, "head") + ", " + countedText(config.kvHeads, "kv head"),
                {"which head reads which keys and values"});
    const auto room = static_cast<Index>(std::max(1.0f, (area_.Max.y - top) / (line_ * 1.5f)));
    const Index shown = std::min(config.kvHeads, room - (config.kvHeads > room ? 1 : 0));
    const Index first = std::clamp<Index>(shot_.kvHead() - shown / 2, 0, config.kvHeads - shown);
    for (Index i = 0; i < shown; ++i) {
      const Index g = first + i;
      ImVec2 at(area_.Min.x, top + line_ * 1.5f * (static_cast<float>(i) + 0.5f));
      at.x += paintBadge(view_, list_, at, groupColor(theme_, g), kvName(g)) + view_.px(14);
      for (Index h = g * config.groupSize(); h < (g + 1) * config.groupSize(); ++h) {
        const std::string text = std::to_string(h);
        if (at.x + view_.px(60) > area_.Max.x && h + 1 < (g + 1) * config.groupSize()) {
          paintText(list_, small(), at, theme_.secondary,
                    fmt::format("+ {}", (g + 1) * config.groupSize() - h));
          break;
        }
        at.x +=
            paintText(list_, fonts_.mono, at, h == shot_.cell.head ? theme_.query : theme_.secondary, text) +
            view_.px(12);
      }
    }
    if (shown < config.kvHeads)
      paintText(list_, small(), ImVec2(area_.Min.x, top + line_ * 1.5f * (static_cast<float>(shown) + 0.5f)),
                theme_.secondary, "and " + countedText(config.kvHeads - shown, "more kv head"));
  }

  /// The heads' slots in the row of all heads.
  void slots() {
    const attention::AttentionConfig& config = shot_.config;
    const float top =
        heading(fmt::format("{} · {} = {}", config.heads, config.headDim, config.heads * config.headDim),
                {"numbers of each token, head after head"});
    const ImRect bar(area_.Min.x, top + line_, area_.Max.x, top + line_ * 2.6f);
    const auto done = static_cast<float>(shot_.headsMoved());
    for (Index h = 0; h < config.heads; ++h) {
      const ImRect slot = FlowPlan::columnOf(bar, h, config.heads);
      const std::uint32_t hue = groupColor(theme_, config.kvHeadOf(h));
      if (static_cast<float>(h) + 1 <= done)
        list_.AddRectFilled(slot.Min, ImVec2(slot.Max.x - 1, slot.Max.y),
                            mixed(theme_.background, hue, 0.3f));
      compat::rectOutline(list_, slot.Min, ImVec2(slot.Max.x - 1, slot.Max.y), hue, 0, 1);
      const std::string text = std::to_string(h);
      if (textWidth(mono(), text) < slot.GetWidth() - 2)
        paintText(list_, mono(), slot.GetCenter(), theme_.text, text, Align::center);
    }
  }
};

}  // namespace

void flowBench(State& page, const Shot& shot, const ImRect& area) {
  const Step stage = shot.at.stage;
  if (stage >= Step::scale && stage <= Step::softmax) return flowBars(page, shot, area);
  BenchPainter(page, shot, area).paint();
}

}  // namespace headscope::app::flow_page
