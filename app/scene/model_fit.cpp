#include "app/scene/model_fit.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdlib>

namespace headscope::app {

bool growModelDim(ModelSetup& model, const Suits& suits) {
  if (!suits || suits(model)) return false;
  const Index even = model.position == PositionKind::rope ? 2 : 1,
              unit = model.linked ? model.heads * even : 1;
  ModelSetup grown = model;
  do {
    grown.modelDim += unit;
    if (grown.modelDim > kMaxModelDim) return false;
    if (grown.linked) grown.headDim = grown.modelDim / grown.heads;
  } while (!suits(grown));
  model = grown;
  return true;
}

std::vector<Index> divisors(Index n) {
  std::vector<Index> result;
  for (Index d = 1; d <= n; ++d)
    if (n % d == 0) result.push_back(d);
  return result;
}

AttentionKind kindOf(const ModelSetup& model) {
  if (model.kvHeads == model.heads) return AttentionKind::mha;
  return model.kvHeads == 1 ? AttentionKind::mqa : AttentionKind::gqa;
}

Index kvHeadsFor(AttentionKind kind, Index heads) {
  if (kind == AttentionKind::mha) return heads;
  if (kind == AttentionKind::mqa) return 1;
  const double wanted = std::sqrt(static_cast<double>(heads));
  Index best = 1;
  for (Index d : divisors(heads))
    if (d != 1 && d != heads && (best == 1 || std::abs(d - wanted) < std::abs(best - wanted))) best = d;
  return best;
}

namespace {

/// The number of kv heads for `heads` query heads, as near as possible to the chosen `wanted`.
Index kvHeadsNear(AttentionKind kind, Index wanted, Index heads) {
  if (kind != AttentionKind::gqa) return kvHeadsFor(kind, heads);
  Index best = 1;
  for (Index d : divisors(heads))
    if (std::abs(d - wanted) < std::abs(best - wanted)) best = d;
  return best;
}

/// Whether heads of a legal size make up `modelDim`.
bool splits(const ModelSetup& model, Index modelDim, Index heads) {
  const Index headDim = modelDim / heads;
  const bool even = model.position == PositionKind::rope;
  return modelDim % heads == 0 && headDim <= kMaxHeadDim && !(even && headDim % 2 != 0);
}

/// The legal number of heads nearest to `wanted`; 0 if there is none.
Index headsNear(const ModelSetup& model, Index wanted) {
  Index best = 0;
  for (Index heads = 1; heads <= kMaxHeads; ++heads)
    if (splits(model, model.modelDim, heads) &&
        (best == 0 || std::abs(heads - wanted) < std::abs(best - wanted)))
      best = heads;
  return best;
}

}  // namespace

std::vector<Index> kvHeadCounts(const ModelSetup& model, const Suits& suits) {
  std::vector<Index> counts = divisors(model.heads);
  std::erase_if(counts, [&](Index kvHeads) {
    ModelSetup trial = model;
    trial.kvHeads = kvHeads;
    return kvHeads != model.kvHeads && suits && !suits(trial);
  });
  return counts;
}

void fitModelTo(ModelSetup& model) {
  if (!model.linked) return;
  const Index heads = headsNear(model, model.heads);
  if (heads == 0) {
    model.linked = false;
    return;
  }
  if (heads != model.heads) model.kvHeads = kvHeadsNear(kindOf(model), model.kvHeads, heads);
  model.heads = heads;
  model.headDim = model.modelDim / heads;
}

void ChosenHeads::follow(const ModelSetup& model) {
  if (model.modelDim != leftModelDim_) modelDim_ = model.modelDim;
  if (model.heads == leftHeads_ && model.kvHeads == leftKvHeads_ && model.modelDim == leftModelDim_) return;
  kind_ = kindOf(model);
  heads_ = model.heads;
  kvHeads_ = model.kvHeads;
}

/// Sets kvHeads by the user's choice, then remembers how the model was left.
bool ChosenHeads::settle(ModelSetup& model, const Suits& suits, bool mayGrow) {
  if (model.heads != heads_ || model.heads % kvHeads_ != 0 || kind_ != AttentionKind::gqa)
    model.kvHeads = kvHeadsNear(kind_, kvHeads_, model.heads);
  else
    model.kvHeads = kvHeads_;
  // Only linked heads grow with the model dim.
  bool suited = !suits || suits(model) || (mayGrow && model.linked && growModelDim(model, suits));
  if (!suited && kind_ == AttentionKind::gqa) {
    std::vector<Index> others = divisors(model.heads);
    std::stable_sort(others.begin(), others.end(),
                     [&](Index a, Index b) { return std::abs(a - kvHeads_) < std::abs(b - kvHeads_); });
    for (std::size_t i = 0; i < others.size() && !suited; ++i) {
      model.kvHeads = others[i];
      suited = suits(model);
    }
  }
  leftHeads_ = model.heads;
  leftKvHeads_ = model.kvHeads;
  leftModelDim_ = model.modelDim;
  return suited;
}

bool ChosenHeads::setHeads(ModelSetup& model, Index heads, const Suits& suits) {
  follow(model);
  if (model.linked && splits(model, modelDim_, heads)) model.modelDim = modelDim_;
  modelDim_ = model.modelDim;
  model.heads = heads_ = heads;
  if (model.linked) model.headDim = model.modelDim / heads;
  return settle(model, suits, true);
}

std::vector<Index> ChosenHeads::headCounts(const ModelSetup& model, const Suits& suits) const {
  const Index modelDim = ChosenHeads(*this).modelDim(model);
  std::vector<Index> counts;
  for (Index heads = 1; heads <= kMaxHeads; ++heads) {
    ModelSetup trial = model;
    if ((!model.linked || splits(model, modelDim, heads)) && ChosenHeads(*this).setHeads(trial, heads, suits))
      counts.push_back(heads);
  }
  if (counts.empty()) counts.push_back(model.heads);
  return counts;
}

bool ChosenHeads::setModelDim(ModelSetup& model, Index modelDim, const Suits& suits) {
  follow(model);
  model.modelDim = modelDim_ = modelDim;
  model.heads = heads_;
  model.kvHeads = kvHeads_;
  fitModelTo(model);
  return settle(model, suits, false);
}

Index ChosenHeads::heads(const ModelSetup& model) {
  follow(model);
  return heads_;
}

Index ChosenHeads::modelDim(const ModelSetup& model) {
  follow(model);
  return modelDim_;
}

using attention::require;
using attention::Table;

void takeTable(Scene& scene, Table table) {
  Setup& setup = scene.setup;
  setup.input.source = EmbeddingSource::table;
  setup.input.cross = false;
  if (setup.weights.source == WeightSource::planted) setup.weights.source = WeightSource::random;
  const bool resized = table.values.cols() != setup.model.modelDim;
  setup.model.modelDim = table.values.cols();
  setup.input.table = std::move(table);
  if (resized) fitModelTo(setup.model);
}

void takeOwnTable(Scene& scene, Table table) {
  Setup& setup = scene.setup;
  require(table.values.cols() == setup.model.modelDim, "a table of another width is not the scene's own");
  setup.input.source = EmbeddingSource::table;
  setup.input.cross = false;
  setup.input.table = std::move(table);
}

void editTable(Scene& scene, Table table) {
  const Setup& setup = scene.setup;
  const bool own = setup.input.source == EmbeddingSource::table &&
                   table.values.cols() == setup.model.modelDim &&
                   table.values.cols() == setup.input.table->values.cols();
  own ? takeOwnTable(scene, std::move(table)) : takeTable(scene, std::move(table));
}

attention::Result<Table> pastedTable(std::string_view text) {
  attention::Result<Table> table = attention::parseCsv(text, "the clipboard");
  if (!table) return table;
  const Index rows = table->values.rows(), cols = table->values.cols();
  if (rows == 0 || rows > kMaxTokens || cols > kMaxModelDim)
    return attention::Error{fmt::format(
        "the clipboard holds {} rows of {} numbers; expected 1 to 2,048 rows of 1 to 4,096", rows, cols)};
  return table;
}

namespace {

void requireRow(const Table& table, Index at) {
  require(at >= 0 && at < table.values.rows(), "token " + std::to_string(at) + " of a table with " +
                                                   std::to_string(table.values.rows()) + " was asked for");
}

/// Gives every row a name, an empty one if it had none.
void nameAll(Table& table) {
  table.names.resize(static_cast<std::size_t>(table.values.rows()));
}

/// Inserts `values` as row `at`; later rows move back by one.
void insertRow(Table& table, Index at, const std::string& name, const Eigen::RowVectorXf& values) {
  const Index rows = table.values.rows();
  attention::Matrix grown(rows + 1, table.values.cols());
  grown.topRows(at) = table.values.topRows(at);
  grown.row(at) = values;
  grown.bottomRows(rows - at) = table.values.bottomRows(rows - at);
  table.values = std::move(grown);
  table.names.insert(table.names.begin() + at, name);
}

}  // namespace

void swapTokens(Table& table, Index a, Index b) {
  requireRow(table, a);
  requireRow(table, b);
  nameAll(table);
  const Eigen::RowVectorXf kept = table.values.row(a);
  table.values.row(a) = table.values.row(b);
  table.values.row(b) = kept;
  std::swap(table.names[static_cast<std::size_t>(a)], table.names[static_cast<std::size_t>(b)]);
}

void duplicateToken(Table& table, Index at) {
  requireRow(table, at);
  nameAll(table);
  const Eigen::RowVectorXf values = table.values.row(at);
  insertRow(table, at + 1, table.names[static_cast<std::size_t>(at)], values);
}

void removeToken(Table& table, Index at) {
  requireRow(table, at);
  nameAll(table);
  const Index rows = table.values.rows();
  attention::Matrix left(rows - 1, table.values.cols());
  left.topRows(at) = table.values.topRows(at);
  left.bottomRows(rows - 1 - at) = table.values.bottomRows(rows - 1 - at);
  table.values = std::move(left);
  table.names.erase(table.names.begin() + at);
}

void insertToken(Table& table, Index at, const std::string& name) {
  require(at >= 0 && at <= table.values.rows() && table.values.rows() > 0, "there is no place for the token");
  nameAll(table);
  const Eigen::RowVectorXf mean = table.values.colwise().mean();
  insertRow(table, at, name, mean);
}

}  // namespace headscope::app
