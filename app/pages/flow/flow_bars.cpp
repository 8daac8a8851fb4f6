#include <fmt/core.h>

#include <numbers>
#include <numeric>

#include "app/pages/flow/shot_painter.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/rich_text.h"

namespace headscope::app::flow_page {

namespace {

constexpr std::size_t kMostBars = 24;  ///< more keys leave those with the smallest weights out

/// A rectangle that may lie down: its middle, its two sides, and its turn in degrees.
struct Turned {
  ImVec2 middle, size;
  float degrees = 0;
};

/// The selected row through the steps between a product and a weight: a bar for each key. The same bars stay
/// through division, bias, mask and softmax; there they lie down on a ruler.
class BarPainter : ShotPainter {
 public:
  BarPainter(State& page, const Shot& shot, const ImRect& area)
      : ShotPainter(page, shot), area_(area), t_(shot.at.t), line_(view_.px(20)) {
    chooseKeys();
    const float names = view_.px(72), ruler = view_.px(30);
    // Without a ruler, the bars get its room.
    const bool ruled = shot.at.stage == Step::scale || shot.at.stage == Step::softmax;
    const float under = names + (ruled ? ruler + line_ * 1.6f : 0);
    chart_ = ImRect(area.Min.x + view_.px(8), area.Min.y + line_ * 2.6f, area.Max.x - view_.px(8),
                    area.Max.y - under);
    ruler_ = ImRect(chart_.Min.x, area.Max.y - line_ - ruler, chart_.Max.x, area.Max.y - line_);
  }

  void paint() {
    switch (shot_.at.stage) {
      case Step::scale:
        return scale();
      case Step::bias:
        return bias();
      case Step::mask:
        return mask();
      default:
        return softmax();
    }
  }

 private:
  const ImRect area_;
  const double t_;
  const float line_;
  ImRect chart_, ruler_;
  std::vector<Index> keys_;
  Index left_ = 0;  ///< keys without a bar

  double score(Step step, Index j) const { return shot_.score(step, query_, j); }
  bool visible(Index j) const { return shot_.visible(query_, j); }

  void chooseKeys() {
    keys_.resize(static_cast<std::size_t>(shot_.m()));
    std::iota(keys_.begin(), keys_.end(), Index{0});
    if (keys_.size() <= kMostBars) return;
    std::stable_sort(keys_.begin(), keys_.end(),
                     [&](Index a, Index b) { return shot_.weight(query_, a) > shot_.weight(query_, b); });
    left_ = std::ssize(keys_) - static_cast<Index>(kMostBars);
    keys_.resize(kMostBars);
    if (std::find(keys_.begin(), keys_.end(), shot_.cell.key) == keys_.end()) keys_.back() = shot_.cell.key;
    std::sort(keys_.begin(), keys_.end());
  }

  void heading(const std::string& formula, const std::string& words) {
    const float y = area_.Min.y + line_ / 2;
    const float used =
        paintScripted(view_, list_, view_.present ? fonts_.title : fonts_.bold, ImVec2(area_.Min.x, y),
                      theme_.text, formula, Align::left, area_.GetWidth());
    std::string after = words;
    if (left_ > 0) after += fmt::format("  ·  {} of {} keys", keys_.size(), shot_.m());
    const float room = area_.GetWidth() - used - view_.px(14);
    if (textWidth(small(), after) <= room)
      paintText(list_, small(), ImVec2(area_.Min.x + used + view_.px(14), y), theme_.secondary, after);
  }

  float slot() const {
    return chart_.GetWidth() / static_cast<float>(std::max<std::size_t>(keys_.size(), 1));
  }
  float middleOf(std::size_t place) const {
    return chart_.Min.x + slot() * (static_cast<float>(place) + 0.5f);
  }
  float thickness() const { return std::min(slot() * 0.7f, view_.px(34)); }

  std::uint32_t colorOf(Index j) const {
    return j == shot_.cell.key ? theme_.key : mixed(theme_.background, theme_.key, 0.55f);
  }

  /// A score, with one decimal where bars are narrow.
  std::string numberOf(double value) const {
    return textWidth(mono(), "−00.000") <= slot() || !std::isfinite(value) ? cellText(value)
                                                                           : fixedText(value, 1);
  }

  /// A bar's label below the chart, and its number above the bar.
  void label(std::size_t place, Index j, const std::string& number, float y) {
    const bool chosen = j == shot_.cell.key;
    const float x = middleOf(place);
    const std::string& text = shot_.key(j);
    const std::uint32_t color = chosen ? theme_.key : visible(j) ? theme_.secondary : theme_.faint;
    const float under = chart_.Max.y + view_.px(10);
    if (textWidth(mono(), text) <= slot() - view_.px(2))
      paintText(list_, mono(), ImVec2(x, under + view_.px(2)), color, text, Align::center);
    else if (chosen || slot() >= lineHeight(mono()) * 0.8f)
      paintRotated(list_, mono(), ImVec2(x, under), 62, color, fitted(mono(), text, view_.px(66)));
    if (!number.empty() && (textWidth(mono(), number) <= slot() - 1 || chosen))
      paintText(list_, mono(), ImVec2(x, y - view_.px(9)), chosen ? theme_.text : theme_.secondary, number,
                Align::center);
  }

  /// Bars from an axis of `low` to `high`: values, and hollow ones where they were before.
  struct Level {
    double low = 0, high = 1;
  };
  float yOf(double value, const Level& level) const {
    const double share = (value - level.low) / std::max(level.high - level.low, 1e-30);
    return chart_.Max.y - static_cast<float>(std::clamp(share, 0.0, 1.0)) * chart_.GetHeight();
  }
  void bar(std::size_t place, double value, const Level& level, std::uint32_t color, bool hollow) {
    const float half = thickness() / 2, x = middleOf(place), zero = yOf(std::max(level.low, 0.0), level);
    const float y = yOf(value, level);
    const ImVec2 from(x - half, std::min(y, zero)), to(x + half, std::max({y, zero, std::min(y, zero) + 1}));
    if (hollow)
      compat::rectOutline(list_, from, to, color, 0, std::max(1.0f, view_.px(1)));
    else
      list_.AddRectFilled(from, to, color);
  }
  void axis(const Level& level) {
    const float zero = yOf(std::max(level.low, std::min(0.0, level.high)), level);
    list_.AddLine(ImVec2(chart_.Min.x, zero), ImVec2(chart_.Max.x, zero), theme_.line);
  }

  Level levelOf(std::initializer_list<Step> steps) const {
    Level level{0, 0};
    for (const Step step : steps)
      for (const Index j : keys_) {
        const double value = score(step, j);
        if (!std::isfinite(value)) continue;
        level.low = std::min(level.low, value);
        level.high = std::max(level.high, value);
      }
    if (level.high <= level.low) level.high = level.low + 1;
    return level;
  }

  /// The same bars on the way from one step's scores to the next one's, on an axis that stays.
  void change(Step before, Step after, double share, bool newNumbers) {
    const Level level = levelOf({before, after});
    axis(level);
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const double from = score(before, keys_[i]), to = score(after, keys_[i]);
      if (share > 0) bar(i, from, level, theme_.faint, true);
      bar(i, from + (to - from) * share, level, colorOf(keys_[i]), false);
      label(i, keys_[i], numberOf(newNumbers ? to : from), yOf(std::max(newNumbers ? to : from, 0.0), level));
    }
  }

  void scale() {
    heading(fmt::format("{} for each key", factorText(static_cast<double>(shot_.film.steps.factor))),
            "the outlines are the products");
    change(Step::dot, Step::scale, easeBoth(passed(t_, 0.25, 0.6)), t_ >= 0.6);
    if (t_ >= 0.6 && shot_.film.steps.factor != 1) shares(passed(t_, 0.6, 0.8));
  }

  /// One whole shared out by softmax, without the scaling and with it. Visible keys alone take part.
  void shares(double share) {
    const float high = view_.px(20);
    const auto row = [&](Step step, float top, const std::string& words) {
      const SoftmaxSum sum = shot_.softmax(step);
      paintText(list_, small(), ImVec2(chart_.Min.x, top - view_.px(9)), theme_.secondary, words);
      float x = chart_.Min.x;
      for (Index j = 0; j < shot_.m() && sum.whole > 0; ++j) {
        if (!visible(j)) continue;
        const double own = std::exp(score(step, j) - sum.largest) / sum.whole;
        const float part = static_cast<float>(own * share) * chart_.GetWidth();
        piece(ImRect(x, top, x + part, top + high), j, weightText(static_cast<float>(own)));
        x += part;
      }
    };
    const float gap = view_.px(40);
    row(Step::dot, area_.Max.y - high - gap, std::string("shares without the ") + shot_.scaling());
    row(Step::scale, area_.Max.y - high, "and with it");
  }

  /// A share of the ruler with what fits of its name and number.
  void piece(const ImRect& box, Index j, const std::string& number) {
    if (box.GetWidth() < 0.5f) return;
    list_.AddRectFilled(box.Min, ImVec2(std::max(box.Max.x - 1, box.Min.x + 0.5f), box.Max.y), colorOf(j));
    const std::string both = shot_.key(j) + "  " + number;
    for (const std::string& text : {both, number})
      if (textWidth(mono(), text) <= box.GetWidth() - view_.px(4))
        return void(
            paintText(list_, mono(), box.GetCenter(), inkOn(unpacked(colorOf(j))), text, Align::center));
  }

  void bias() {
    heading(biasText(shot_, "s"), "the outlines are the scores before");
    change(Step::scale, Step::bias, easeBoth(passed(t_, 0.2, 0.6)), t_ >= 0.6);
  }

  /// What the mask hides narrows to nothing.
  void mask() {
    heading("s + mask", "hidden: s = −∞");
    const Step before = shot_.biased() ? Step::bias : Step::scale;
    const Level level = levelOf({before});
    axis(level);
    const double gone = easeBoth(passed(t_, 0.8, 1));
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const Index j = keys_[i];
      const double value = score(before, j);
      if (visible(j))
        bar(i, value, level, colorOf(j), false);
      else
        bar(i, value * (1 - gone), level, theme_.faint, true);
      const bool hidden = !visible(j) && t_ >= 0.8;
      label(i, j, hidden ? "−∞" : numberOf(value), yOf(hidden ? 0 : std::max(value, 0.0), level));
    }
  }

  // Softmax.

  void softmax() {
    heading("w = e^{s − max} ÷ Σ",
            t_ < 0.34 ? "the largest becomes 0, then 1" : "laid end to end, then divided by the sum");
    const SoftmaxSum sum = shot_.softmax(Step::mask);
    const double most = sum.largest;
    if (sum.key < 0)
      return void(paintText(list_, small(), chart_.GetCenter(), theme_.secondary,
                            "No visible key: all weights are 0.", Align::center));
    if (t_ < 0.18) return drop(most);
    grow(most);
    if (t_ >= 0.34) lie(most, sum.whole);
  }

  /// All scores drop by the largest.
  void drop(double most) {
    Level level = levelOf({Step::mask});
    const double by = easeOut(passed(t_, 0.08, 0.15)) * most;
    level = {std::min(level.low, level.low - most), std::max(level.high, 0.0)};
    const float zero = yOf(0, level);
    list_.AddLine(ImVec2(chart_.Min.x, zero), ImVec2(chart_.Max.x, zero), theme_.line);
    paintText(list_, mono(), ImVec2(area_.Min.x, zero - view_.px(8)), theme_.faint, "0");
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const double value = score(Step::mask, keys_[i]);
      if (!std::isfinite(value)) {
        label(i, keys_[i], "−∞", zero);
        continue;
      }
      const float half = thickness() / 2, x = middleOf(i), y = yOf(value - by, level);
      list_.AddRectFilled(ImVec2(x - half, std::min(y, zero)),
                          ImVec2(x + half, std::max({y, zero, std::min(y, zero) + 1})), colorOf(keys_[i]));
      label(i, keys_[i], numberOf(t_ >= 0.15 ? value - most : value), std::min(y, zero));
    }
  }

  /// How far a bar has lain down: below 0 before, 1 when it lies. Bars without a share don't take time.
  double lyingOf(std::size_t place) const {
    std::size_t before = 0, all = 0;
    for (std::size_t i = 0; i < keys_.size(); ++i)
      if (visible(keys_[i])) before += i < place ? 1 : 0, ++all;
    return passed(t_, 0.34, 0.535) * static_cast<double>(all) - static_cast<double>(before);
  }

  /// e to the power of each grows from the line.
  void grow(double most) {
    const Level level{0, 1};
    axis(level);
    const double grown = easeOut(passed(t_, 0.18, 0.34));
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const double value = std::exp(score(Step::mask, keys_[i]) - most);
      const bool laid = t_ >= 0.34 && lyingOf(i) >= 0;
      bar(i, value * grown, level, laid ? theme_.faint : colorOf(keys_[i]), laid);
      label(i, keys_[i], cellText(value), yOf(value * grown, level));
    }
  }

  /// The bars lie down on the ruler one after the other; then only the ruler's numbers change.
  void lie(double most, double sum) {
    const double renamed = passed(t_, 0.535, 0.65);
    list_.AddRectFilled(ruler_.Min, ruler_.Max, mixed(theme_.background, theme_.panel, 0.8f));
    float x = ruler_.Min.x;
    double running = 0;
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const double value = std::exp(score(Step::mask, keys_[i]) - most);
      const float wide = static_cast<float>(value / sum) * ruler_.GetWidth();
      const double share = easeBoth(std::clamp(lyingOf(i), 0.0, 1.0));
      const ImRect box(x, ruler_.Min.y, x + wide, ruler_.Max.y);
      if (share >= 1) {
        piece(box, keys_[i], weightText(static_cast<float>(renamed >= 1 ? value / sum : value)));
        running += value;
      } else if (share > 0) {
        falling(i, value, box, share);
      }
      x += wide;
    }
    if (running < sum && t_ >= 0.535) {  // the keys without a bar
      list_.AddRectFilled(ImVec2(x, ruler_.Min.y), ruler_.Max, mixed(theme_.background, theme_.text, 0.25f));
      running = sum;
    }
    const float under = ruler_.Max.y + view_.px(11);
    const float at = ruler_.Min.x + static_cast<float>(running / sum) * ruler_.GetWidth();
    list_.AddLine(ImVec2(at, ruler_.Min.y - view_.px(5)), ImVec2(at, ruler_.Max.y + view_.px(3)), theme_.text,
                  std::max(1.0f, view_.px(2)));
    paintText(list_, mono(), ImVec2(ruler_.Min.x, under), theme_.secondary, "0");
    const std::string end = renamed >= 1 ? "1" : renamed > 0 ? cellText(sum) + " is 1" : cellText(sum);
    paintText(list_, renamed > 0 ? fonts_.monoTitle : mono(), ImVec2(ruler_.Max.x, under), theme_.text, end,
              Align::right);
    if (at > ruler_.Min.x + view_.px(40) && at < ruler_.Max.x - view_.px(90) && renamed == 0)
      paintText(list_, mono(), ImVec2(at, under), theme_.text, cellText(running), Align::center);
    track("flow.ruler", ruler_.Min, ruler_.Max);
  }

  /// A bar on its way from standing in the chart to lying on the ruler.
  void falling(std::size_t place, double value, const ImRect& target, double share) {
    const float high = static_cast<float>(value) * chart_.GetHeight(), thick = thickness();
    const Turned from{ImVec2(middleOf(place), chart_.Max.y - high / 2), ImVec2(high, thick), -90};
    const Turned to{target.GetCenter(), ImVec2(target.GetWidth(), target.GetHeight()), 0};
    const auto s = static_cast<float>(share);
    const ImVec2 middle = from.middle + (to.middle - from.middle) * s,
                 size = from.size + (to.size - from.size) * s;
    const float turn = (from.degrees + (to.degrees - from.degrees) * s) * std::numbers::pi_v<float> / 180;
    const ImVec2 along(std::cos(turn) * size.x / 2, std::sin(turn) * size.x / 2);
    const ImVec2 across(-std::sin(turn) * size.y / 2, std::cos(turn) * size.y / 2);
    const ImVec2 corners[] = {middle - along - across, middle + along - across, middle + along + across,
                              middle - along + across, middle - along - across};
    list_.AddConvexPolyFilled(corners, 4, colorOf(keys_[place]));
    list_.AddPolyline(corners, 5, theme_.text, 0, std::max(1.0f, view_.px(1)));
  }
};

}  // namespace

void flowBars(State& page, const Shot& shot, const ImRect& area) {
  BarPainter(page, shot, area).paint();
}

}  // namespace headscope::app::flow_page
