#include "app/compute/heads/embedding_study.h"

#include "app/compute/layer/layer_inputs.h"
#include "attention/core/extremes.h"
#include "attention/heads/head_steps.h"

namespace headscope::app {

using attention::Error;
using attention::Result;

EmbeddingQuestion embeddingQuestion(const Setup& setup, Index sequence, EmbeddingAxes axes,
                                    std::shared_ptr<const attention::Plane> kept) {
  EmbeddingQuestion question{setup, sequence, axes, std::move(kept)};
  question.setup.mask = {};
  question.setup.prefill = 1;
  question.setup.weights = {};
  question.setup.weights.source = setup.weights.source;
  if (setup.input.source == EmbeddingSource::text)
    question.setup.input.table = {};
  else
    question.setup.input.text = std::string();
  return question;
}

Result<std::shared_ptr<const EmbeddingStudy>> studyEmbedding(const EmbeddingQuestion& question) {
  constexpr Index kOverviewRows = 144, kOverviewColumns = 512;
  const Setup& setup = question.setup;
  if (!setup.subject.model.empty())
    return Error{
        "A trained model's embeddings can't be edited. Switch to a synthetic layer to edit vectors."};
  if (isCross(setup)) return Error{"Cross-attention needs two texts; edited embeddings are one sequence."};
  TokenBatch batch = tokenizeBatch(setup);
  if (batch.error) return Error{batch.error->message};
  if (batch.lines.empty()) return Error{"No tokens. Type a text on Heads or paste a table."};
  const auto at = std::min<std::size_t>(static_cast<std::size_t>(question.sequence), batch.lines.size() - 1);
  LineTokens& line = batch.lines[at];
  line.queries.resize(static_cast<std::size_t>(line.queryLength));  // removes padding
  Result<attention::Table> table = ownVectors(setup, line.queries);
  if (!table) return table.error();
  auto study = std::make_shared<EmbeddingStudy>();
  study->question = question;
  study->table = *std::move(table);
  const attention::Matrix& values = study->table.values;
  const Index dim = values.cols();
  if (!question.axes.principal()) {
    const Index last = dim - 1;
    study->plane = std::make_shared<const attention::Plane>(attention::planeOfDimensions(
        dim, std::min(question.axes.first, last), std::min(question.axes.second, last)));
  } else if (question.kept && question.kept->mean.size() == dim) {
    study->plane = question.kept;
    study->keptPlane = true;
  } else {
    study->plane = std::make_shared<const attention::Plane>(attention::principalPlane(values));
  }
  study->points = attention::onPlane(*study->plane, values);
  study->overview = attention::poolByMagnitude(values, kOverviewRows, kOverviewColumns);
  const float largest = attention::largestFinite(values);
  study->largest = largest > 0 ? largest : 1;
  return std::shared_ptr<const EmbeddingStudy>(std::move(study));
}

}  // namespace headscope::app
