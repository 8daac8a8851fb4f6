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

namespace {

/// The query of `other` that corresponds to `query`: at the same position if the texts have the same length
/// or the same word there, else the only one with the same word; −1 if there is no unique match.
Index sameQuery(const SequenceSnapshot& line, const SequenceSnapshot& other, Index query) {
  const auto& from = line.queries;
  const auto& to = other.queries;
  if (query < 0 || query >= std::ssize(from)) return -1;
  const std::string& word = from[asSize(query)].text;
  const auto is = [&](const attention::Token& token) { return token.text == word; };
  const bool samePlace = query < std::ssize(to) && is(to[asSize(query)]);
  if (from.size() == to.size() || samePlace) return query;
  const auto found = std::find_if(to.begin(), to.end(), is);
  return std::count_if(to.begin(), to.end(), is) == 1 ? found - to.begin() : -1;
}

/// The head's map before the step, at most `room` pixels high, with a frame around the selected row.
void beforeMap(Rows& rows, const State& page, const ComparedRow& before, float room) {
  const View& view = page.view;
  const Theme& theme = *view.theme;
  const Look& look = page.stage.document->scene().look;
  attention::Matrix values = before.line->values(look.quantity)[before.head];
  const CellStyle style = cellStyle(view, look, values);
  for (Index row = 0; row < values.rows(); ++row)
    for (Index col = 0; col < values.cols(); ++col)
      if (!attention::visible(before.line->mask, before.head, row, col))
        values(row, col) = render::kMaskedCell;
  ImRect cells = squareCells({0, 0, rows.width() * 0.72f, room}, values.rows(), values.cols());
  const ImRect place = rows.area("", cells.GetHeight() / view.unit);
  cells.Translate(place.Min);
  Canvas list = *ImGui::GetWindowDrawList();
  paintCells(view, list, cells, values, style);
  track("lesson.before", cells.Min, cells.Max);
  const Index query = before.query;
  if (query < 0) return;
  const float high = cells.GetHeight() / static_cast<float>(values.rows());
  const float y = cells.Min.y + high * static_cast<float>(query);
  compat::rectOutline(list, ImVec2(cells.Min.x, y), ImVec2(cells.Max.x, y + high), theme.query, 0,
                      std::max(1.5f, view.px(1.6f)));
  Index key = 0;
  const float most = values.row(query).maxCoeff(&key);
  const std::string value = look.quantity == Quantity::scores ? numberText(most, 3) : weightText(most);
  const float x = cells.Max.x + view.px(12), left = place.Max.x - x;
  if (left <= view.px(50)) return;
  paintText(list, view.fonts->mono, ImVec2(x, y + high / 2), theme.text, value);
  paintFitted(view, list, view.fonts->small, ImVec2(x, y + high / 2 + view.px(17)), left, theme.secondary,
              "on “" + before.line->keys[asSize(key)].text + "”");
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

/// The head's output for the query before and now, and how far it moved.
void outputs(Rows& rows, const State& page, const ComparedRow& before, const ComparedRow& now) {
  const View& view = page.view;
  const std::uint32_t quiet = view.theme->secondary;
  const attention::Matrix a = before.line->attention.headOutput[before.head].row(before.query),
                          b = now.line->attention.headOutput[now.head].row(now.query);
  if (a.cols() != b.cols()) return;
  rows.line(Type::title, {{"Head output"}});
  const float largest = std::max(attention::largestFinite(a), attention::largestFinite(b));
  for (const auto& [name, row] : {std::pair("before", &a), std::pair("now", &b)}) {
    ImRect place = rows.area("", 22);
    paintText(*ImGui::GetWindowDrawList(), view.fonts->text, ImVec2(place.Min.x, place.GetCenter().y), quiet,
              name);
    place.Min.x += view.px(56);
    outputStrip(page, *row, largest, place);
  }
  const double moved = (b - a).norm() / std::max(a.norm(), 1e-12f);
  rows.line(
      Type::title,
      {{"changed by ", quiet}, {moved == 0 ? "0" : numberText(moved, 3)}, {" times its own length", quiet}});
  rows.hint("‖now − before‖ ÷ ‖before‖");
}

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

// The card "Softmax of the row": how softmax divides 1 among a query's visible keys.

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
  if (value >= 99.5 || std::abs(value - whole) < 1e-4 * value) return countText(whole);
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
                    token = row.line->keys[asSize(all.keys[all.top])].text,
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

/// The height of a strip, in layout units.
constexpr float kStripHeight = 26;

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
  const std::string& token = row.line->keys[asSize(all.keys[at])].text;
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

/// How softmax divides 1 among a query's visible keys, before and now, computed from the scores. `now` is
/// null while it must not be shown.
void sharedOut(Rows& rows, const ComparedRow& before, const ComparedRow* now) {
  const View& view = rows.view();
  Canvas list = *ImGui::GetWindowDrawList();
  rows.line(Type::title, {{"Softmax of the row"}});
  static const auto kSoftmax = parseFormula("w_j = \\frac{e^{s_j}}{\\sum e^{s_k}}");
  if (const ImRect place = rows.area("", 38); kSoftmax.ok()) {
    const float y = place.GetCenter().y, wide = formulaSize(richFonts(view), *kSoftmax).width + view.px(16);
    paintFormula(view, list, richFonts(view), *kSoftmax, ImVec2(place.Min.x, y));
    paintFitted(view, list, view.fonts->small, ImVec2(place.Min.x + wide, y), place.GetWidth() - wide,
                view.theme->secondary, "over the visible keys; they sum to 1");
  }
  RichFonts fonts = richFonts(view, view.theme->secondary);
  fonts.code = view.fonts->monoSmall;
  if (rows.width() < view.px(360)) fonts.plain = view.fonts->small, fonts.bold = view.fonts->smallBold;
  for (const auto& [name, row] : {std::pair("before", &before), std::pair("now", now)}) {
    if (!row) continue;
    const Powers all = powersOf(*row);
    rows.rich(fonts, sentence(view, fonts, name, *row, all, rows.width()));
    strip(view, *row, all, rows.area(fmt::format("lesson.shared.{}", name), kStripHeight));
    rows.space(0);
  }
}

// The heights of outputs() and sharedOut(), in layout units.
constexpr float kOutputsHeight = 142, kSharedHeight = 196;

}  // namespace

float comparisonBelowHeight(const View& view) {
  return view.px(2 * (kStripHeight + 10) + 8);
}

void comparisonBelow(Rows& rows, State& page) {
  const View& view = page.view;
  if (!comparable(page) || ImGui::GetContentRegionAvail().y < comparisonBelowHeight(view)) return;
  const ComparedRow is = rowNow(page), was = rowBefore(page, is);
  if (was.query < 0 || is.query < 0) return;
  rows.space(8);
  for (const auto& [name, row] : {std::pair("before", &was), std::pair("now", &is)}) {
    if (row == &is && page.asking()) continue;  // that is the question
    ImRect area = rows.area(fmt::format("lesson.shared.{}", name), kStripHeight);
    paintText(*ImGui::GetWindowDrawList(), view.fonts->text, ImVec2(area.Min.x, area.GetCenter().y),
              view.theme->secondary, name);
    area.Min.x += view.px(56);
    strip(view, *row, powersOf(*row), area);
  }
}

void comparison(State& page, const ImRect& area) {
  const View& view = page.view;
  const std::uint32_t quiet = view.theme->secondary;
  if (beginPanel(view, "lesson.comparison", area, 14, 0)) {
    Rows rows(page.view);
    rows.space(45);
    const ComparedRow is = rowNow(page), was = rowBefore(page, is);
    rows.line(Type::hero,
              {{"Before  ", quiet},
               {attention::maskText(page.here.study->before->setup.mask.layers), quiet, view.fonts->mono}});
    // The map leaves space for the row's softmax as long as it stays large enough. What the head does now is
    // not revealed before the question is answered.
    const bool row = was.query >= 0 && is.query >= 0, open = !page.asking();
    const float left = ImGui::GetContentRegionAvail().y - view.px(kOutputsHeight + kSharedHeight + 64);
    const bool shared = row && left >= view.px(130);
    beforeMap(rows, page, was, std::min(area.GetHeight() * 0.36f, shared ? left : INFINITY));
    rows.space(24);
    if (shared) sharedOut(rows, was, open ? &is : nullptr);
    if (shared) rows.space(24);
    if (row && open && ImGui::GetContentRegionAvail().y >= view.px(kOutputsHeight) - 1)
      outputs(rows, page, was, is);
  }
  endPanel();
}

}  // namespace headscope::app::lessons_page
