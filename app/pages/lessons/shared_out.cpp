#include <fmt/core.h>

#include "app/pages/lessons/lessons_page.h"
#include "app/platform/track.h"
#include "app/widgets/heat_parts.h"
#include "attention/core/extremes.h"

namespace headscope::app::lessons_page {

/// A row of a head's map, in one of two scenes compared side by side.
struct ComparedRow {
  const SequenceSnapshot* line = nullptr;
  Index head = 0, query = -1;  ///< −1 = none
};

/// Draws how softmax divides 1 among a query's visible keys, before and now, computed from the scores. `now`
/// is null while it must not be shown. `at` is the middle of the title's left edge.
void sharedOut(const View& view, const ComparedRow& before, const ComparedRow* now, ImVec2 at, float width);
/// The height of that drawing in pixels.
float sharedOutHeight(const View& view);

namespace {

/// The query of `other` that corresponds to `query`: at the same position if the texts have the same length
/// or the same word there, else the only one with the same word; −1 if there is no unique match.
Index sameQuery(const SequenceSnapshot& line, const SequenceSnapshot& other, Index query) {
  const auto& from = line.queries;
  const auto& to = other.queries;
  if (query < 0 || query >= std::ssize(from)) return -1;
  const std::string& word = from[static_cast<std::size_t>(query)].text;
  const auto is = [&](const attention::Token& token) { return token.text == word; };
  const bool samePlace = query < std::ssize(to) && is(to[static_cast<std::size_t>(query)]);
  if (from.size() == to.size() || samePlace) return query;
  const auto found = std::find_if(to.begin(), to.end(), is);
  return std::count_if(to.begin(), to.end(), is) == 1 ? found - to.begin() : -1;
}

/// Draws the head's map before the step, with a frame around the selected row. Returns its height.
float beforeMap(const State& page, const ComparedRow& before, ImVec2 at, float width, float room) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const Look& look = page.stage.document->scene().look;
  attention::Matrix values = before.line->values(look.quantity)[before.head];
  const float wide =
      std::min(width * 0.72f, room * static_cast<float>(values.cols()) / static_cast<float>(values.rows()));
  const ImRect cells = squareCells({at.x, at.y, at.x + wide, at.y + room}, values.rows(), values.cols());
  CellStyle style{colormapFor(look), 0, 1, std::max(1.0f, view.px(1))};
  if (look.quantity == Quantity::scores) {
    std::tie(style.low, style.high) = attention::finiteRange(values);
    style.high = std::max(style.high, style.low + 1e-6f);
  }
  for (Index row = 0; row < values.rows(); ++row)
    for (Index col = 0; col < values.cols(); ++col)
      if (!attention::visible(before.line->mask, before.head, row, col))
        values(row, col) = render::kMaskedCell;
  paintCells(view, list, cells, values, style);
  track("lesson.before", cells.Min, cells.Max);
  const Index query = before.query;
  if (query < 0) return cells.GetHeight();
  const float high = cells.GetHeight() / static_cast<float>(values.rows());
  const float y = cells.Min.y + high * static_cast<float>(query);
  compat::rectOutline(list, ImVec2(cells.Min.x, y), ImVec2(cells.Max.x, y + high), theme.query, 0,
                      std::max(1.5f, view.px(1.6f)));
  Index key = 0;
  const float most = values.row(query).maxCoeff(&key);
  const std::string value = look.quantity == Quantity::scores ? numberText(most, 3) : weightText(most);
  const float x = cells.Max.x + view.px(12), left = at.x + width - x;
  if (left > view.px(50)) {
    paintText(list, view.fonts->mono, ImVec2(x, y + high / 2), theme.text, value);
    paintFitted(view, list, view.fonts->small, ImVec2(x, y + high / 2 + view.px(17)), left, theme.secondary,
                "on “" + before.line->keys[static_cast<std::size_t>(key)].text + "”");
  }
  return cells.GetHeight();
}

/// Draws a head's output for one query as a strip: the larger a value, the stronger its colour.
void outputStrip(const State& page, const attention::Matrix& row, float largest, const ImRect& area) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const float wide = area.GetWidth() / static_cast<float>(row.cols());
  for (Index c = 0; c < row.cols(); ++c) {
    const float t = 0.5f + 0.5f * row(0, c) / std::max(largest, 1e-9f);
    const float x = area.Min.x + wide * static_cast<float>(c);
    list.AddRectFilled(ImVec2(x, area.Min.y), ImVec2(x + std::max(1.0f, wide - view.px(1)), area.Max.y),
                       mixed(theme.background, theme.value, 0.1f + 0.9f * std::clamp(t, 0.0f, 1.0f)));
  }
}

/// Draws the head's output for the query before and now, and how far it moved.
void outputs(const State& page, const ComparedRow& before, const ComparedRow& now, ImVec2 at, float width) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const attention::Matrix a = before.line->attention.headOutput[before.head].row(before.query),
                          b = now.line->attention.headOutput[now.head].row(now.query);
  if (a.cols() != b.cols()) return;
  paintText(list, view.fonts->title, ImVec2(at.x, at.y), theme.text, "Head output");
  const float largest = std::max(attention::largestFinite(a), attention::largestFinite(b));
  const float label = view.px(56), high = view.px(22);
  float y = at.y + view.px(20);
  for (const auto& [name, row] : {std::pair("before", &a), std::pair("now", &b)}) {
    paintText(list, view.fonts->text, ImVec2(at.x, y + high / 2), theme.secondary, name);
    outputStrip(page, *row, largest, ImRect(at.x + label, y, at.x + width, y + high));
    y += high + view.px(8);
  }
  const double moved = (b - a).norm() / std::max(a.norm(), 1e-12f);
  float x = at.x;
  y += view.px(14);
  x += paintText(list, view.fonts->text, ImVec2(x, y), theme.secondary, "changed by ") + view.px(4);
  x += paintText(list, view.fonts->monoHero, ImVec2(x, y), theme.text,
                 moved == 0 ? "0" : numberText(moved, 3)) +
       view.px(6);
  const float room = at.x + width - x;
  const char* words = "times its own length";
  if (textWidth(view.fonts->text, words) > room) words = "× its length";
  paintFitted(view, list, view.fonts->text, ImVec2(x, y), room, theme.secondary, words);
  paintFitted(view, list, view.fonts->small, ImVec2(at.x, y + view.px(24)), width, theme.secondary,
              "‖now − before‖ ÷ ‖before‖");
}

/// Height of outputs(), in layout units.
constexpr float kOutputsHeight = 134;

/// The selected row, in the stage's current snapshot.
ComparedRow rowNow(const State& page) {
  const Snapshot* snapshot = page.stage.shown.get();
  if (!snapshot || snapshot->sequences.empty()) snapshot = page.here.study->snapshot.get();
  const Cursor& at = page.stage.document->scene().cursor;
  ComparedRow row{shownSequence(page.stage.document->scene(), snapshot),
                  std::clamp<Index>(at.focus, 0, snapshot->config.heads - 1), at.cell.query};
  row.query = std::min<Index>(row.query, std::ssize(row.line->queries) - 1);
  return row;
}

ComparedRow rowBefore(const State& page, const ComparedRow& now) {
  const Snapshot& snapshot = *page.here.study->before;
  const SequenceSnapshot* line = shownSequence(page.stage.document->scene(), &snapshot);
  return {line, std::min<Index>(now.head, snapshot.config.heads - 1), sameQuery(*now.line, *line, now.query)};
}

}  // namespace

void comparison(State& page, const ImRect& area) {
  View& view = page.view;
  const Theme& theme = *view.theme;
  if (beginPanel(view, "lesson.comparison", area, 0, 0, 0)) {
    Canvas list = *ImGui::GetWindowDrawList();
    const float pad = view.px(14), x = area.Min.x + pad, width = area.GetWidth() - 2 * pad;
    float y = area.Min.y + view.px(70);
    const ComparedRow is = rowNow(page), was = rowBefore(page, is);
    const float wide = paintText(list, view.fonts->hero, ImVec2(x, y), theme.secondary, "Before");
    paintFitted(view, list, view.fonts->mono, ImVec2(x + wide + view.px(12), y), width - wide - view.px(12),
                theme.secondary, attention::maskText(page.here.study->before->setup.mask.layers));
    y += view.px(30);
    // The map leaves space for the row's softmax as long as it stays large enough.
    const bool row = was.query >= 0 && is.query >= 0;
    const float gap = view.px(32), parts = view.px(kOutputsHeight) + sharedOutHeight(view) + 2 * gap;
    const float left = area.Max.y - y - parts;
    const bool shared = row && left >= view.px(130);
    const float room = std::min(area.GetHeight() * 0.36f, shared ? left : INFINITY);
    y += beforeMap(page, was, ImVec2(x, y), width, room) + gap;
    // Don't reveal what the head does now before the question is answered.
    const bool open = !page.asking();
    if (shared) {
      sharedOut(view, was, open ? &is : nullptr, ImVec2(x, y), width);
      y += sharedOutHeight(view) + gap;
    }
    if (row && open && area.Max.y - y >= view.px(kOutputsHeight) - 1)
      outputs(page, was, is, ImVec2(x, y), width);
  }
  endPanel();
}

// The card "Softmax of the row": how softmax divides 1 among a query's visible keys.

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
