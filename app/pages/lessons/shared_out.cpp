// The card "Softmax of the row": how softmax divides 1 among a query's visible keys.

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/pages/lessons/comparison.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/scene/text/rich_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/rich_text.h"

namespace headscope::app::lessons_page {

namespace {

/// A largest score above this is subtracted from all scores, for readable powers; softmax stays the same.
constexpr double kLargestExponent = 13.8;  // e^13.8 is about a million

/// e^score of each key that a query sees.
struct Powers {
  std::vector<Index> keys;
  std::vector<double> powers;
  double sum = 0, shift = 0;
  std::size_t top = 0;
  double topScore = 0;
  bool even = true;      ///< all powers are equal
  bool restEven = true;  ///< all but the largest are equal
};

Powers powersOf(const ComparedRow& row) {
  Powers all;
  const attention::MatrixView scores = row.line->attention.scores[row.head];
  double most = -INFINITY, least = INFINITY, leastPower = INFINITY, mostOfRest = 0;
  for (Index key = 0; key < scores.cols(); ++key) {
    const auto score = static_cast<double>(scores(row.query, key));
    if (score == -INFINITY) continue;
    if (score > most) all.top = all.keys.size();
    most = std::max(most, score);
    least = std::min(least, score);
    all.keys.push_back(key);
  }
  all.topScore = most;
  all.even = most - least < 1e-4;
  if (most > kLargestExponent) all.shift = most;
  for (const Index key : all.keys)
    all.powers.push_back(std::exp(static_cast<double>(scores(row.query, key)) - all.shift));
  for (std::size_t i = 0; i < all.powers.size(); ++i) {
    all.sum += all.powers[i];
    if (i == all.top) continue;
    leastPower = std::min(leastPower, all.powers[i]);
    mostOfRest = std::max(mostOfRest, all.powers[i]);
  }
  all.restEven = all.powers.size() > 1 && mostOfRest - leastPower < 1e-4 * mostOfRest;
  return all;
}

/// "1,024", "1" or "0.0274".
std::string powerText(double value) {
  const double whole = std::round(value);
  if (value >= 99.5 || std::abs(value - whole) < 1e-4 * value)
    return countText(static_cast<std::uint64_t>(whole));
  return numberText(value, value < 10 ? 4 : 3);
}

RichSpan words(std::string text) {
  return {RichSpan::Kind::plain, std::move(text), nullptr};
}

/// A formula: e to the power of a score.
RichSpan powerSpan(double score) {
  const auto formula = parseFormula("e^{" + roundedText(std::abs(score) < 5e-3 ? 0 : score, 3) + "}");
  return formula.ok() ? RichSpan{RichSpan::Kind::formula, "", std::make_shared<const FormulaNode>(*formula)}
                      : words("e");
}

/// "12 visible: e^6.93 = 1,024 for “The”, 1 for each other", shortened to the available width.
RichText sentence(const View& view, const RichFonts& fonts, const std::string& name, const ComparedRow& row,
                  const Powers& all, float width) {
  const std::size_t count = all.keys.size();
  std::vector<RichSpan> line{{RichSpan::Kind::bold, name, nullptr}};
  if (count == 0) {
    line.push_back(words("  sees no key"));
    return {line};
  }
  const double rest = all.sum - all.powers[all.top];
  const std::string top = powerText(all.powers[all.top]),
                    token = row.line->keys[static_cast<std::size_t>(all.keys[all.top])].text,
                    less = all.shift > 0 ? fmt::format(", scores minus {}", numberText(all.shift, 3)) : "",
                    others = all.restEven ? fmt::format(", {} for {}",
                                                        powerText(rest / static_cast<double>(count - 1)),
                                                        count == 2 ? "the other" : "each other")
                                          : fmt::format(", {} for the rest", powerText(rest));
  line.push_back(words(fmt::format("  {} visible{}: ", count, less)));
  line.push_back(powerSpan(all.topScore - all.shift));
  // Parts of an even strip are too narrow for labels, so the sentence gives their weight.
  const std::string each =
      fmt::format(" each, weight {}", weightText(static_cast<float>(1.0 / static_cast<double>(count))));
  line.push_back(words(all.even ? fmt::format(" = {}{}", top, count > 1 ? each : "")
                                : fmt::format(" = {} for “{}”{}", top, token, others)));
  const auto fits = [&] {
    return paintRichText(view, nullptr, fonts, {line}, ImVec2(0, 0), width) < 1.6f * lineHeight(fonts.plain);
  };
  if (fits()) return {line};
  line.back() = words(all.even ? fmt::format(" = {}{}", top, count > 1 ? " each" : "")
                               : fmt::format(" = {} for “{}”", top, token));
  if (!fits()) line = {line.front(), words(fmt::format("  {} visible{}", count, less))};
  return {line};
}

/// A part of the strip: index of its key among the visible ones, and its extent.
struct SharedPart {
  std::size_t at;
  float from, to;
};

/// The detail of a share's label. All shares use the same one, so that they can be compared.
struct SharedWords {
  ImFont* font;
  bool token, sum;
};

std::string shareText(const ComparedRow& row, const Powers& all, std::size_t at, const SharedWords& words) {
  const std::string& token = row.line->keys[static_cast<std::size_t>(all.keys[at])].text;
  const std::string weight = weightText(static_cast<float>(all.powers[at] / all.sum));
  if (words.sum)
    return fmt::format("{}   {} ÷ {} = {}", token, powerText(all.powers[at]), powerText(all.sum), weight);
  return words.token ? token + " " + weight : weight;
}

/// Draws a strip of length 1, divided into the keys' shares.
void strip(const View& view, const ComparedRow& row, const Powers& all, const ImRect& area) {
  Canvas list = *ImGui::GetWindowDrawList();
  const Theme& theme = *view.theme;
  compat::rectOutline(list, area.Min, area.Max, theme.line, 0, 1);
  std::vector<SharedPart> shares;
  double before = 0;
  float widest = 0;
  const float gap = std::max(1.0f, view.px(1));
  for (std::size_t i = 0; i < all.keys.size(); ++i) {
    const double share = all.powers[i] / all.sum;
    const float from = area.Min.x + area.GetWidth() * static_cast<float>(before),
                to = area.Min.x + area.GetWidth() * static_cast<float>(before + share);
    before += share;
    shares.push_back({i, from, std::max(to - gap, from + std::min(gap, to - from))});
    widest = std::max(widest, shares.back().to - from);
  }
  // The most detail that fits into all shares except small ones.
  const auto fits = [&](const SharedPart& share, const SharedWords& words) {
    return textWidth(words.font, shareText(row, all, share.at, words)) + view.px(6) <= share.to - share.from;
  };
  const SharedWords kinds[] = {{view.fonts->mono, true, true},
                               {view.fonts->mono, true, false},
                               {view.fonts->monoSmall, true, false},
                               {view.fonts->monoSmall, false, false}};
  const auto words = std::find_if(std::begin(kinds), std::end(kinds) - 1, [&](const SharedWords& each) {
    return std::all_of(shares.begin(), shares.end(), [&](const SharedPart& share) {
      return share.to - share.from < widest / 2 || fits(share, each);
    });
  });
  for (const SharedPart& share : shares) {
    list.AddRectFilled(ImVec2(share.from, area.Min.y), ImVec2(share.to, area.Max.y),
                       mixed(theme.background, theme.key, 0.45f));
    if (fits(share, *words))
      paintText(list, words->font, ImVec2((share.from + share.to) / 2, area.GetCenter().y), theme.text,
                shareText(row, all, share.at, *words), Align::center);
  }
}

}  // namespace

float sharedOutHeight(const View& view) {
  return view.px(190);
}

void sharedOut(const View& view, const ComparedRow& before, const ComparedRow* now, ImVec2 at, float width) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  paintText(list, view.fonts->title, at, theme.text, "Softmax of the row");
  float y = at.y + view.px(34);
  const RichFonts fonts{view.fonts->text, view.fonts->bold, view.fonts->mono, view.fonts->small,
                        theme.secondary};
  static const auto kSoftmax = parseFormula("w_j = \\frac{e^{s_j}}{\\sum e^{s_k}}");
  if (kSoftmax.ok()) {
    const FormulaSize size = formulaSize(fonts, *kSoftmax);
    RichFonts bright = fonts;
    bright.color = theme.text;
    paintFormula(view, list, bright, *kSoftmax, ImVec2(at.x, y));
    paintFitted(view, list, view.fonts->small, ImVec2(at.x + size.width + view.px(16), y),
                width - size.width - view.px(16), theme.secondary, "over the visible keys; they sum to 1");
  }
  y += view.px(32);
  const bool narrow = width < view.px(360);
  const RichFonts small{narrow ? view.fonts->small : view.fonts->text,
                        narrow ? view.fonts->smallBold : view.fonts->bold, view.fonts->monoSmall,
                        view.fonts->small, theme.secondary};
  for (const auto& [name, row] : {std::pair("before", &before), std::pair("now", now)}) {
    if (!row) continue;
    const Powers all = powersOf(*row);
    paintRichText(view, &list, small, sentence(view, small, name, *row, all, width), ImVec2(at.x, y), width);
    y += view.px(24);
    const ImRect area(at.x, y, at.x + width, y + view.px(26));
    strip(view, *row, all, area);
    track(fmt::format("lesson.shared.{}", name), area.Min, area.Max);
    y += view.px(36);
  }
}

}  // namespace headscope::app::lessons_page
