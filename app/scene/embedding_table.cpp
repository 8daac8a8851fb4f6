#include "app/scene/embedding_table.h"

#include <fmt/core.h>

#include "app/scene/model_fit.h"
#include "attention/core/result.h"

namespace headscope::app {

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
