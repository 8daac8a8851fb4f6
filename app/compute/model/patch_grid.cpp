#include "app/compute/model/pair_study.h"
#include "app/compute/model/passes.h"

namespace headscope::app {

using attention::asSize;
using attention::Error;
using attention::Matrix;
using attention::Patch;
using attention::Piece;
using attention::Result;

namespace {

constexpr float kNotYet = std::numeric_limits<float>::quiet_NaN();

bool hasHeads(Piece piece) {
  return piece != Piece::stream && piece != Piece::middle && piece != Piece::mlp;
}

/// Runs the text with one head patched from the other text and everything after it held fixed, so that later
/// layers would read only that head's change.
Result<std::shared_ptr<const attention::PassResult>> directRun(const PatchSides& sides, PathStart from,
                                                               const std::stop_token& stop) {
  const attention::ModelConfig& config = sides.pair->opened->config();
  if (config.reads())
    return Error{
        "Paths aren't followed in a decoder with two attentions: they would also go through the heads that "
        "aren't shown."};
  const RecordedText& into = sides.into();
  attention::PassRequest request = into.request;
  const attention::TakenFrom own{into.run};
  std::vector<Patch> patches{sides.patch({Piece::head, from.layer, from.head})};
  for (Index layer = from.layer; layer < config.layerCount(); ++layer) {
    if (layer > from.layer) patches.push_back({.piece = Piece::head, .layer = layer, .by = own});
    if (config.feeds(layer)) patches.push_back({.piece = Piece::mlp, .layer = layer, .by = own});
  }
  request.runs = {std::move(patches)};
  request.own = into.run;
  request.weights = false;
  request.projections = true;
  request.logits = attention::LogitRows::none;
  attention::ModelSession session(sides.pair->opened->model);
  auto pass = session.append(into.text.ids, request, stop);
  if (!pass) return pass.error();
  return std::make_shared<const attention::PassResult>(*std::move(pass));
}

/// One cell of a grid.
struct GridCell {
  Index row = 0, column = 0;
};

/// Takes the next cells to compute, from the row closest to `row` that has any left.
std::vector<GridCell> takeNext(std::vector<std::vector<Index>>& left, Index row, Index most) {
  Index best = -1;
  for (Index i = 0; i < std::ssize(left); ++i)
    if (!left[asSize(i)].empty() && (best < 0 || std::abs(i - row) < std::abs(best - row))) best = i;
  std::vector<GridCell> places;
  if (best < 0) return places;
  std::vector<Index>& columns = left[asSize(best)];
  const auto count = std::min<Index>(most, std::ssize(columns));
  for (Index i = 0; i < count; ++i) places.push_back({best, columns[asSize(i)]});
  columns.erase(columns.begin(), columns.begin() + count);
  return places;
}

}  // namespace

Patch PatchSides::patch(const KeptPatch& kept) const {
  Patch patch;
  patch.piece = kept.piece;
  patch.layer = kept.layer;
  if (kept.head >= 0 && hasHeads(kept.piece)) patch.head = kept.head;
  if (kept.token >= 0) {
    patch.firstToken = kept.token;
    patch.tokens = 1;
  }
  patch.by = attention::TakenFrom{from().run, intoA ? pair->bOfA : pair->aOfB,
                                  intoA ? pair->sourceBofA : pair->sourceAofB};
  return patch;
}

double PatchSides::recovered(double difference) const {
  const double own = into().difference, other = from().difference;
  if (std::abs(other - own) < 1e-9) return std::numeric_limits<double>::quiet_NaN();
  return (difference - own) / (other - own);
}

Index PatchGridQuestion::rows() const {
  return sides.pair->opened->config().layerCount() + (piece == Piece::stream ? 1 : 0);
}

bool PatchGridQuestion::columnsAreTokens() const {
  return byToken || !hasHeads(piece);
}

Index PatchGridQuestion::columns() const {
  if (columnsAreTokens()) return sides.into().tokens();
  const attention::ModelConfig& config = sides.pair->opened->config();
  return piece == Piece::keys || piece == Piece::values ? config.kvHeads : config.heads;
}

Result<PatchGrid> computePatchGrid(const PatchGridQuestion& question, const std::function<Index()>& nearest,
                                   const std::function<void(const PatchGrid&)>& onPart,
                                   std::stop_token stop) {
  const PatchSides& sides = question.sides;
  const bool tokens = question.columnsAreTokens();
  const auto& partners = *(sides.intoA ? sides.pair->bOfA : sides.pair->aOfB);
  PatchGrid grid;
  grid.difference = grid.recovered = Matrix::Constant(question.rows(), question.columns(), kNotYet);
  std::shared_ptr<const attention::PassResult> direct;
  if (question.path) {
    auto run = directRun(sides, *question.path, stop);
    if (!run) return run.error();
    direct = *std::move(run);
  }
  std::vector<std::vector<Index>> left(asSize(question.rows()));
  // Layers up to the one where a path starts read nothing of it.
  for (Index row = question.path ? question.path->layer + 1 : 0; row < question.rows(); ++row)
    for (Index column = 0; column < question.columns(); ++column)
      if (!tokens || partners[asSize(column)] >= 0) left[asSize(row)].push_back(column), ++grid.of;
  onPart(grid);
  for (;;) {
    const auto places = takeNext(left, nearest(), runsPerPass(sides.into()));
    if (places.empty()) return grid;
    std::vector<std::vector<Patch>> runs;
    for (const GridCell& place : places) {
      Patch patch =
          sides.patch({question.piece, place.row, tokens ? -1 : place.column, tokens ? place.column : -1});
      if (direct) patch.by = attention::TakenFrom{direct};
      runs.push_back({std::move(patch)});
    }
    const auto logits = patchedLogits(*sides.pair->opened, sides.into(), std::move(runs), stop);
    if (!logits) return logits.error();
    for (std::size_t i = 0; i < places.size(); ++i) {
      const double difference = answerDifference(logits->row(static_cast<Index>(i)), sides.pair->answers);
      grid.difference(places[i].row, places[i].column) = static_cast<float>(difference);
      grid.recovered(places[i].row, places[i].column) = static_cast<float>(sides.recovered(difference));
    }
    grid.done += std::ssize(places);
    onPart(grid);
  }
}

Result<PatchSum> sumPatches(const PatchSumQuestion& question, std::stop_token stop) {
  const PatchSides& sides = question.sides;
  PatchSum sum;
  std::vector<Patch> all;
  for (const KeptPatch& kept : question.patches) all.push_back(sides.patch(kept));
  const auto logits = patchedLogits(*sides.pair->opened, sides.into(), {all}, stop);
  if (!logits) return logits.error();
  sum.together = answerDifference(logits->row(0), sides.pair->answers);
  for (const Patch& patch : all) {
    const auto one = patchedLogits(*sides.pair->opened, sides.into(), {{patch}}, stop);
    if (!one) return one.error();
    sum.single.push_back(answerDifference(one->row(0), sides.pair->answers));
  }
  Matrix shares = *logits;
  toProbabilities(shares);
  constexpr std::size_t kBest = 5;
  for (const Index id : largest(shares.row(0), kBest)) sum.best.emplace_back(id, shares(0, id));
  return sum;
}

}  // namespace headscope::app
