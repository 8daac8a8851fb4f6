#include <fmt/core.h>

#include "app/kit/table.h"
#include "app/pages/head_lab/ablation/ablation_state.h"
#include "app/pages/head_lab/ablation/share_columns.h"
#include "app/scene/text/number_text.h"
#include "app/widgets/paint.h"
#include "app/widgets/text/rich_text.h"
#include "attention/core/extremes.h"

namespace headscope::app::head_lab_page {

namespace {

/// The token explained: the hovered one as a preview, else the selected one.
Index previewedToken(const Scene& scene, const AblationState& ablation) {
  const Index last = ablation.study->shares.whole.size() - 1;
  return std::min(ablation.page.view.previewed(scene.cursor.cell).query, last);
}

/// Draws the first title that fits, tagged if it previews a token.
void paintTitle(const Scene& scene, const AblationState& ablation, const ImRect& area,
                const std::vector<std::string>& titles) {
  const View& view = ablation.page.view;
  ImFont* font = view.fonts->title;
  const bool previews = view.previewed(scene.cursor.cell).query != scene.cursor.cell.query;
  const float room = area.GetWidth() - view.px(previews ? 64 : 0);
  const ImVec2 at = area.Min + ImVec2(0, view.px(12));
  const std::string title = firstFitting(font, titles, room);
  paintFitted(view, *ImGui::GetWindowDrawList(), font, at, room, view.theme->text, title);
  if (previews) paintHoverTag(view, at + ImVec2(std::min(textWidth(font, title), room) + view.px(10), 0));
}

/// A head's part of the sum, or the combined part of several heads.
struct Part {
  std::string label;
  Index head = -1;
  double part = 0, amount = 0, cosine = 0;
};

/// The parts if none are combined.
std::size_t partCount(const attention::HeadShares& shares, Index token) {
  return static_cast<std::size_t>(shares.part.rows()) + (shares.biasAmount[token] > 0 ? 1 : 0);
}

constexpr float kWords = 74;  ///< height above the waterfall, in layout units

/// The heads with the largest parts, in head order; then the others combined, then the bias.
std::vector<Part> partsOf(const attention::HeadShares& shares, Index token, std::size_t most) {
  const Index heads = shares.part.rows();
  const bool hasBias = shares.biasAmount[token] > 0;
  std::vector<Index> order(static_cast<std::size_t>(heads));
  for (Index h = 0; h < heads; ++h) order[static_cast<std::size_t>(h)] = h;
  const std::size_t room = std::max<std::size_t>(most, hasBias ? 2 : 1) - (hasBias ? 1 : 0);
  std::vector<Part> parts;
  Part rest{"", -1, 0, NAN, NAN};
  if (order.size() > room) {
    std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
      return attention::descends(std::abs(shares.part(a, token)), std::abs(shares.part(b, token)));
    });
    for (std::size_t i = room - 1; i < order.size(); ++i)
      rest.part += static_cast<double>(shares.part(order[i], token));
    const std::size_t left = order.size() - (room - 1);
    rest.label = left < 1000 ? fmt::format("{} more", left) : "others";
    order.resize(room - 1);
    std::sort(order.begin(), order.end());
  }
  for (const Index h : order)
    parts.push_back({std::to_string(h), h, static_cast<double>(shares.part(h, token)),
                     static_cast<double>(shares.amount(h, token)),
                     static_cast<double>(shares.cosine(h, token))});
  if (!rest.label.empty()) parts.push_back(rest);
  if (hasBias)
    parts.push_back({"bias", -1, static_cast<double>(shares.biasPart[token]),
                     static_cast<double>(shares.biasAmount[token]),
                     static_cast<double>(shares.biasCosine[token])});
  return parts;
}

/// Draws each head's share of one token's output as steps that add up to the whole.
void waterfall(Scene& scene, AblationState& ablation, const ImRect& area) {
  View& view = ablation.page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const attention::HeadShares& shares = ablation.study->shares;
  const SequenceSnapshot& sequence = ablation.study->question->sequence();
  const Index token = previewedToken(scene, ablation);
  const std::string& name = sequence.queries[static_cast<std::size_t>(token)].text;
  paintTitle(
      scene, ablation, area,
      {"Output of “" + name + "” = sum of its heads' shares", "“" + name + "”: sum of its heads' shares"});
  ImVec2 at = area.Min + ImVec2(0, view.px(36));
  const std::string sum = fmt::format("output = Σ head[h] · W_O[h]{}    ‖output‖ {}",
                                      shares.biasAmount[token] > 0 ? " + bias" : "",
                                      cellText(static_cast<double>(shares.whole[token])));
  paintScripted(view, list, view.fonts->mono, at, theme.secondary, sum, Align::left, area.GetWidth());
  at.y += view.px(20);
  // Rounding differs between processors, but the power of ten that bounds the error doesn't.
  const double below = shares.gap > 0 ? std::pow(10.0, std::floor(std::log10(shares.gap)) + 1) : 0;
  const std::string off = "error below " + numberText(std::max(below, 1e-6), 1);
  paintFitted(view, list, view.fonts->text, at, area.GetWidth(), theme.secondary,
              firstFitting(view.fonts->text,
                           {fmt::format("the shares sum to the output: {}, for values up to {}", off,
                                        cellText(shares.largest)),
                            off},
                           area.GetWidth()));
  Columns columns;
  columns.name = "ablation.sum";
  // Lines have space for two numbers.
  const ImRect bars(ImVec2(area.Min.x, area.Min.y + view.px(kWords)), area.Max);
  columns.lines = hasLines(view, bars, partCount(shares, token) + 1);
  const bool wide = !columns.lines;
  columns.rowNames = {"cosine", wide ? "of ‖output‖" : "share"};
  columns.rowColors = {theme.secondary, theme.text};
  if (wide) {
    columns.rowNames.insert(columns.rowNames.begin(), "‖share‖");
    columns.rowColors.insert(columns.rowColors.begin(), theme.value);
  }
  double running = 0;
  const std::vector<Part> parts = partsOf(shares, token, columnRoom(view, bars, columns.lines) - 1);
  for (const Part& part : parts) {
    Column column;
    column.label = part.label;
    column.from = running;
    running += part.part;
    column.to = running;
    column.above = cellText(running);
    column.color = theme.value;
    column.outlined = part.part < 0;
    column.lit = part.head >= 0 && part.head == scene.cursor.cell.head;
    column.hovered = part.head >= 0 && part.head == view.hover.head;
    const auto text = [](double value) { return std::isnan(value) ? "" : cellText(value); };
    column.numbers = {text(part.cosine), cellText(part.part)};
    if (wide) column.numbers.insert(column.numbers.begin(), text(part.amount));
    columns.low = std::min({columns.low, column.from, column.to});
    columns.high = std::max({columns.high, column.from, column.to});
    columns.columns.push_back(std::move(column));
  }
  Column total;
  total.label = "output";
  total.to = running;
  total.above = cellText(running);
  total.numbers = {"1", cellText(running)};
  if (wide) total.numbers.insert(total.numbers.begin(), cellText(static_cast<double>(shares.whole[token])));
  total.color = theme.secondary;
  columns.columns.push_back(std::move(total));
  const int pointed = paintColumns(view, bars, columns);
  if (pointed < 0 || static_cast<std::size_t>(pointed) >= parts.size()) return;
  const Index head = parts[static_cast<std::size_t>(pointed)].head;
  if (head < 0) return;
  view.nextHover.head = head;
  if (ImGui::IsMouseClicked(0)) scene.cursor.cell.head = head;
}

/// Draws one run's result for the shown token, compared to the run with all heads on.
void lossRow(const AblationState& ablation, TableView& table, const std::string& name, const TextLoss* loss,
             std::size_t token) {
  const Theme& theme = *ablation.page.view.theme;
  table.text(name);
  if (!loss) return table.text("…", theme.faint);
  const TextLoss& all = *ablation.allOn;
  const double change = loss->mean - all.mean;
  const bool base = loss == &all;
  table.figure(cellText(loss->mean));
  table.figure(base ? "" : (change >= 0 ? "+" : "") + cellText(change));
  if (token >= loss->probability.size()) return;
  table.bar(loss->probability[token], base ? theme.secondary : theme.value,
            base ? 0 : all.probability[token]);
  table.figure(fixedText(loss->probability[token], 3));
}

/// Draws the model's loss and prediction with all heads on, as in the scene, and without each single head.
void losses(Scene& scene, AblationState& ablation, const ImRect& area) {
  View& view = ablation.page.view;
  const Theme& theme = *view.theme;
  Canvas list = *ImGui::GetWindowDrawList();
  const SubjectSetup& subject = scene.setup.subject;
  const auto token = static_cast<std::size_t>(previewedToken(scene, ablation));
  const SequenceSnapshot& sequence = ablation.study->question->sequence();
  const std::string& problem = ablation.loss.problem();
  if (!problem.empty() || !ablation.allOn)
    return paintFitted(view, list, view.fonts->text, area.Min + ImVec2(0, view.px(12)), area.GetWidth(),
                       theme.secondary,
                       problem.empty() ? "Running the model once without each head…" : problem);
  const Index id = token < ablation.allOn->guess.size() ? ablation.allOn->guess[token] : 0;
  const std::string word = modelTokens(subject.opened->tokenizer.value(), std::span(&id, 1)).front().text;
  paintTitle(scene, ablation, area,
             {fmt::format("Top prediction {} “{}”: “{}”", subject.opened->config().causal ? "after" : "at",
                          sequence.queries[token].text, word)});
  std::vector<std::pair<std::string, const TextLoss*>> runs{{"All heads on", ablation.allOn.get()}};
  if (ablation.asIs != ablation.allOn) runs.emplace_back("Current", ablation.asIs.get());
  const Index pinned = std::ssize(runs);
  for (const auto& loss : ablation.without)
    runs.emplace_back(fmt::format("without {}", std::ssize(runs) - pinned), loss.get());
  const Index lit = pinned + std::clamp<Index>(scene.cursor.cell.head, 0,
                                               std::max<Index>(std::ssize(ablation.without) - 1, 0));
  TableView table(
      view, ImRect(area.Min + ImVec2(0, view.px(26)), area.Max),
      {.columns = {{"", 110}, {"loss, nats per token", 80}, {"change", 80}, {""}, {"probability", 64}},
       .rows = std::ssize(runs),
       .inSight = lit,
       .pinned = pinned});
  for (Index row = 0; row < std::ssize(runs); ++row) {
    const std::string name = row < pinned ? "" : fmt::format("ablation.loss.{}", row - pinned);
    const auto& [words, loss] = runs[static_cast<std::size_t>(row)];
    if (table.row(row, name, {.lit = row < pinned || row == lit}))
      lossRow(ablation, table, words, loss, token);
  }
  if (const Index head = view.hover.head; head >= 0 && head + pinned != lit)
    paintGhostOf(view, fmt::format("ablation.loss.{}", head));
}

}  // namespace

void headsView(Scene& scene, AblationState& ablation, Board& board) {
  constexpr PartWidth kWidths[] = {{300, 0.57f}, {240, 0.43f}};
  board.columns(kWidths, 28, [&](std::size_t i, Board& part) {
    const auto picture = [&](PartHeight height, auto draw) {
      part.picture("", height,
                   [&scene, &ablation, draw](const ImRect& area) { draw(scene, ablation, area); });
    };
    if (i == 0) return picture({200, 400, 1}, ablationMap);
    if (ablation.study->shares.whole.size() == 0) return;
    // All heads have a line before the losses get any room.
    const std::size_t lines = partCount(ablation.study->shares, 0) + 1;
    const float high = std::max(150.0f, std::min(kWords + linesHeight(lines), 0.9f * board.height()));
    picture({high, std::max(high, 260.0f), 1}, waterfall);
    part.leaves(2);
    if (!scene.setup.subject.opened) return;
    picture({130, 260, 1}, losses);
    part.apart(16).leaves(1);
  });
}

}  // namespace headscope::app::head_lab_page
