#include <fmt/core.h>

#include "app/pages/head_lab/pipeline/pipeline.h"
#include "app/platform/track.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/rich_text.h"

namespace headscope::app::head_lab_page {

namespace {

constexpr std::size_t kFewColumns = 7;  ///< fewer leave too much out: lines have room for more
constexpr std::size_t kLargest = 8;     ///< lines show these, and the rest in one

/// Σ a[c]·b[c] with its labels.
struct Sum {
  std::string formula;  ///< "Σ q₇[c] · k₆[c]"
  std::string place, a, b, product;
  std::uint32_t aColor, bColor;
  Eigen::RowVectorXf left, right;
  double bias = 0;
  bool hasBias = false;
  std::string note;
  std::function<std::string(Index)> label;
};

/// A receipt: what it explains, and whether that is hovered rather than selected.
struct Receipt {
  ImRect area;
  Spot spot;
  bool previews;
};

std::span<const float> spanOf(const Eigen::RowVectorXf& row) {
  return {row.data(), static_cast<std::size_t>(row.size())};
}

}  // namespace

void paintSumTitle(const View& view, const ImRect& area, const SumTitle& title) {
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  ImVec2 at = area.Min + ImVec2(0, view.px(14));
  const float used =
      paintScripted(view, list, view.fonts->monoTitle, at, title.total ? theme.secondary : theme.text,
                    title.total ? title.formula + " = " : title.formula);
  if (title.total)
    paintText(list, view.fonts->monoHero, at + ImVec2(used + view.px(6), 0), theme.text,
              cellText(*title.total));
  at.y += view.px(24);
  if (title.previews) at.x += paintHoverTag(view, at);
  paintScripted(view, list, view.fonts->small, at, theme.secondary, title.how, Align::left,
                area.Max.x - at.x);
}

ImRect belowSumTitle(const View& view, const ImRect& area) {
  return {area.Min + ImVec2(0, view.px(50)), area.Max};
}

bool hasLines(const View& view, const ImRect& table) {
  const std::size_t columns = columnsThatFit(view, table);
  return columns < kFewColumns && linesThatFit(view, table) > columns;
}

std::size_t tableRoom(const State& page, const ImRect& table) {
  return hasLines(page.view, table) ? linesThatFit(page.view, table) : columnsThatFit(page.view, table);
}

int paintTable(const State& page, const ImRect& table, const Columns& columns) {
  return (hasLines(page.view, table) ? paintLines : paintColumns)(page.view, table, columns);
}

namespace {

void paintSum(State& page, const Receipt& receipt, const Sum& sum) {
  const View& view = page.view;
  const ImRect& area = receipt.area;
  const Theme& theme = *view.theme;
  const auto all = static_cast<std::size_t>(sum.left.size());
  const std::size_t extra = sum.hasBias ? 1 : 0;
  const ImRect table = belowSumTitle(view, area);
  const std::size_t room =
      std::min(tableRoom(page, table), hasLines(view, table) ? kLargest + 1 + extra : 17);
  const std::size_t most = all + extra <= room ? all : room - 1 - extra;
  const attention::WorkedSum worked = attention::workedSum(spanOf(sum.left), spanOf(sum.right), most);
  Columns columns;
  columns.name = "sum";
  columns.place = sum.place;
  columns.joined = true;
  columns.rowNames = {sum.a, sum.b, sum.product};
  columns.rowColors = {sum.aColor, sum.bColor, theme.text};
  const std::uint32_t bar = mixed(theme.background, theme.text, 0.72f);
  double running = 0;
  const auto add = [&](const std::string& label, double value, std::vector<std::string> numbers, bool plain) {
    Column column{label,
                  running,
                  running + value,
                  cellText(running + value),
                  std::move(numbers),
                  plain ? bar : mixed(theme.background, theme.text, 0.42f),
                  value < 0};
    running += value;
    columns.low = std::min({columns.low, column.from, column.to});
    columns.high = std::max({columns.high, column.from, column.to});
    columns.columns.push_back(std::move(column));
  };
  for (const attention::SumTerm& term : worked.terms) {
    add(sum.label(term.at), term.product,
        {cellText(static_cast<double>(term.a)), cellText(static_cast<double>(term.b)),
         cellText(term.product)},
        true);
    columns.columns.back().hovered = term.at == page.hover.term;
  }
  if (!worked.nothingOmitted)
    add(moreText(worked.omitted), worked.rest, {"", "", cellText(worked.rest)}, false);
  // If every product is 0, that is what there is to see.
  if (columns.columns.empty()) add(fmt::format("all {}", all), 0, {"", "", cellText(0)}, false);
  if (sum.hasBias) add("bias", sum.bias, {"", "", cellText(sum.bias)}, false);
  std::string how =
      all == 1               ? "one product"
      : worked.omitted == 0  ? fmt::format("all {} products, in order", all)
      : worked.terms.empty() ? fmt::format("all {} products are 0", all)
      : worked.nothingOmitted
          ? fmt::format("{} of {} products, in order; the others are 0", worked.terms.size(), all)
          : fmt::format("{} largest of {} products, in order; the rest combined", worked.terms.size(), all);
  if (!sum.note.empty()) how += ". " + sum.note;
  paintSumTitle(view, area, {sum.formula, running, how, receipt.previews});
  const int pointed = paintTable(page, table, columns);
  if (pointed >= 0 && pointed < static_cast<int>(worked.terms.size()))
    page.nextHover.term = worked.terms[static_cast<std::size_t>(pointed)].at;
}

std::string dimension(Index at) {
  return std::to_string(at);
}

void dotSum(State& page, const Receipt& receipt) {
  const Theme& theme = *page.view.theme;
  const Cell& cell = receipt.spot.cell;
  const attention::AttentionResult& result = page.layer->sequence().attention;
  const std::string q = withIndex("q", cell.query), k = withIndex("k", cell.key);
  paintSum(page, receipt,
           {fmt::format("Σ {}[c] · {}[c]", q, k), "c", q + "[c]", k + "[c]", "q · k", theme.query, theme.key,
            result.q[cell.head].row(cell.query),
            result.k[page.layer->config().kvHeadOf(cell.head)].row(cell.key), 0, false, "", dimension});
}

void projectSum(State& page, const Receipt& receipt, MapShown shownMap) {
  const Theme& theme = *page.view.theme;
  const auto& [cell, dim, column] = receipt.spot;
  const LayerParts& layer = *page.layer;
  const attention::AttentionResult& result = layer.sequence().attention;
  const Index kv = layer.config().kvHeadOf(cell.head);
  const bool q = shownMap == MapShown::q, v = shownMap == MapShown::v;
  const MapRows& map = q ? page.head->q : v ? page.head->v : page.head->k;
  const Index row = q ? cell.query : cell.key;
  const char* letter = q ? "Q" : v ? "V" : "K";
  const float shown = q   ? result.q.at(cell.head, row, dim)
                      : v ? result.v.at(kv, row, dim)
                          : result.k.at(kv, row, dim);
  Sum sum{fmt::format("Σ {}[c] · W_{}[c, {}]", withIndex("x", row), letter, dim),
          "c",
          withIndex("x", row) + "[c]",
          fmt::format("W_{}", letter),
          "x · W",
          theme.secondary,
          q   ? theme.query
          : v ? theme.value
              : theme.key,
          (q ? layer.x : layer.keySource()).row(row),
          map.weight.row(dim),
          static_cast<double>(map.bias[dim]),
          !map.bias.isZero(0),
          "",
          dimension};
  const double made = static_cast<double>(sum.left.dot(sum.right)) + sum.bias;
  const double tolerance = 1e-3 * (1 + std::abs(made));
  if (std::abs(made - static_cast<double>(shown)) > tolerance)
    sum.note = fmt::format("{} turns this into {}",
                           layer.config().ropeTheta ? "RoPE" : "The model's norm or rotation",
                           cellText(static_cast<double>(shown)));
  paintSum(page, receipt, sum);
}

void mixSum(State& page, const Receipt& receipt) {
  const Theme& theme = *page.view.theme;
  const Cell& cell = receipt.spot.cell;
  const LayerParts& layer = *page.layer;
  const attention::AttentionResult& result = layer.sequence().attention;
  const Index kv = layer.config().kvHeadOf(cell.head), dim = receipt.spot.dim;
  const std::vector<attention::Token>& keys = layer.sequence().keys;
  const float dropout = layer.config().dropout.probability;
  const std::string left = dropout > 0 ? fmt::format("a is the weight after dropout: 0 or weight ÷ {}",
                                                     roundedText(1 - dropout, 4))
                                       : "";
  paintSum(page, receipt,
           {fmt::format("Σ a[j] · v[j, {}]", dim), "j", dropout > 0 ? "a" : "weight",
            fmt::format("v[j, {}]", dim), "a · v", theme.query, theme.value,
            result.weights[cell.head].row(cell.query), result.v[kv].col(dim).transpose(), 0, false, left,
            [&keys](Index at) { return keys[static_cast<std::size_t>(at)].text; }});
}

void outputSum(State& page, const Receipt& receipt) {
  const Theme& theme = *page.view.theme;
  const Cell& cell = receipt.spot.cell;
  const LayerParts& layer = *page.layer;
  const HeadParts& head = *page.head;
  const attention::AttentionConfig& config = layer.config();
  const attention::AttentionResult& result = layer.sequence().attention;
  const Index column = receipt.spot.column;
  const Index row = std::clamp<Index>(column - head.question.firstColumn, 0, head.outputRows.rows() - 1);
  Eigen::RowVectorXf concat(config.heads * config.headDim);
  for (Index h = 0; h < config.heads; ++h)
    concat.segment(h * config.headDim, config.headDim) = result.headOutput[h].row(cell.query);
  Sum sum{fmt::format("Σ concat[c] · W_O[c, {}]", column),
          "c",
          "concat",
          "W_O",
          "product",
          theme.value,
          theme.secondary,
          concat,
          head.outputRows.row(row),
          static_cast<double>(head.outputBias[row]),
          !head.outputBias.isZero(0),
          "",
          [dim = config.headDim](Index at) { return fmt::format("h{}·{}", at / dim, at % dim); }};
  const double made = static_cast<double>(sum.left.dot(sum.right)) + sum.bias;
  if (std::abs(made - static_cast<double>(result.output(cell.query, column))) > 1e-3 * (1 + std::abs(made)))
    sum.note = "The output omits switched-off heads";
  paintSum(page, receipt, sum);
}

/// Shows a vector's numbers, those farthest from 0.
void vectorBars(State& page, const Receipt& receipt, const std::string& formula,
                const Eigen::RowVectorXf& values, std::uint32_t color, const std::string& how) {
  const View& view = page.view;
  const ImRect table = belowSumTitle(view, receipt.area);
  const Eigen::RowVectorXf ones = Eigen::RowVectorXf::Ones(values.size());
  const attention::WorkedSum worked = attention::workedSum(
      spanOf(values), spanOf(ones),
      std::min<std::size_t>(tableRoom(page, table), hasLines(view, table) ? kLargest : 17));
  Columns columns;
  columns.name = "vector";
  columns.rowNames = {"value"};
  columns.rowColors = {color};
  for (const attention::SumTerm& term : worked.terms) {
    columns.columns.push_back(
        {std::to_string(term.at), 0, term.product, "", {cellText(term.product)}, color, term.product < 0});
    columns.low = std::min(columns.low, term.product);
    columns.high = std::max(columns.high, term.product);
  }
  const std::string some = worked.omitted > 0 ? fmt::format("{} largest of {} values by magnitude. ",
                                                            worked.terms.size(), values.size())
                                              : "";
  paintSumTitle(view, receipt.area, {formula, std::nullopt, some + how, receipt.previews});
  paintTable(page, table, columns);
}

void concatRow(State& page, const Receipt& receipt) {
  const auto& [cell, dim, column] = receipt.spot;
  const Index wide = page.layer->config().headDim;
  vectorBars(page, receipt,
             fmt::format("column {} of head {} = column {} · {} + {} = {}", dim, cell.head, cell.head, wide,
                         dim, cell.head * wide + dim),
             page.layer->sequence().attention.headOutput[cell.head].row(cell.query), page.view.theme->value,
             "The head's output is copied.");
}

/// One cell's sum or row in full.
void paintReceipt(Scene& scene, State& page, const ImRect& area) {
  const Spot spot = previewedSpot(scene, page);
  const Receipt receipt{area, spot, spot != selectedSpot(scene, page)};
  switch (scene.cursor.lab.step) {
    case Step::input:
      return vectorBars(page, receipt, withIndex("x", spot.cell.query), page.layer->x.row(spot.cell.query),
                        mixed(page.view.theme->background, page.view.theme->text, 0.72f), "");
    case Step::project:
      return projectSum(page, receipt, scene.cursor.lab.map);
    case Step::split:
      return groupTable(scene, page, area);
    case Step::dot:
      return dotSum(page, receipt);
    case Step::scale:
    case Step::bias:
    case Step::mask:
    case Step::softmax:
      return rowTable(scene, page, area, spot.cell);
    case Step::mix:
      return mixSum(page, receipt);
    case Step::concat:
      return concatRow(page, receipt);
    case Step::output:
      return outputSum(page, receipt);
  }
}

}  // namespace

void addCalculation(Scene& scene, State& page, Board& board) {
  const View& view = page.view;
  const StepWords words = stepWords(scene, page);
  const float width = view.px(board.width());
  ImFont* font = textWidth(view.fonts->hero, words.title) <= width ? view.fonts->hero : view.fonts->title;
  board.paragraph(font, words.title, {.color = view.theme->text}).leaves(2);
  // A poster's caption says the sentence.
  board
      .area("", {placeSentence(view, {}, width, words.sentence) / view.unit},
            [&view, words](const ImRect& area) {
              const Canvas list = *ImGui::GetWindowDrawList();
              placeSentence(view, area.Min, area.GetWidth(), words.sentence, &list);
            })
      .inWindow();
  board.picture("", {210, 300, 1}, [&](const ImRect& area) { paintReceipt(scene, page, area); })
      .leaves(2)
      .apart(10);
}

}  // namespace headscope::app::head_lab_page
