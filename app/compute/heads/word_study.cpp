#include "app/compute/heads/word_study.h"

#include <fmt/core.h>

#include "app/compute/layer/layer_inputs.h"

namespace headscope::app {

namespace {

using attention::Error;
using attention::Result;
using attention::Table;

constexpr Index kMostNumbers = Index{1} << 24;  ///< in all vectors together

/// What a model's layers read: its words with their positions, as they enter the first layer.
Result<Table> learnedVectors(const OpenModel& opened, const LineTokens& line) {
  if (!opened.model || opened.readsPictures() || opened.isCrossAttention || line.ids.empty() ||
      line.ids.size() != line.queries.size())
    return Error{"These words have no vectors of one table."};
  const Index count = std::ssize(line.ids);
  if (count * opened.model->config().modelDim > kMostNumbers)
    return Error{fmt::format("{} words are too many for their vectors to be compared.", count)};
  Table table;
  for (Index i = 0; i < count; ++i) table.names.push_back(line.queries[static_cast<std::size_t>(i)].text);
  table.values = opened.model->embed(line.ids, 0);
  return table;
}

/// The vectors of both texts of cross-attention.
Result<Table> bothTexts(const Setup& setup, const LineTokens& line) {
  Result<Table> table = ownVectors(setup, line.queries);
  if (!table) return table;
  const Result<Table> read = ownVectors(setup, line.keys);
  if (!read) return read.error();
  const Index own = table->values.rows();
  table->values.conservativeResize(own + read->values.rows(), Eigen::NoChange);
  table->values.bottomRows(read->values.rows()) = read->values;
  table->names.insert(table->names.end(), read->names.begin(), read->names.end());
  return table;
}

/// Which dimensions hold the words.
void findWordPart(const Setup& setup, WordStudy& study) {
  study.wordCount = study.table.values.cols();
  if (!usesPlantedEmbedding(setup)) return;
  const Result<attention::EmbeddingLayout> layout = plantedLayoutOf(setup);
  if (!layout || layout->modelDim != study.wordCount) return;
  study.wordAt = layout->identityAt();
  study.wordCount = layout->identity;
}

}  // namespace

Result<std::shared_ptr<const WordStudy>> studyWords(const EmbeddingQuestion& question) {
  const Setup& setup = question.setup;
  const bool model = !setup.subject.model.empty();
  auto study = std::make_shared<WordStudy>();
  if (!model && !isCross(setup)) {
    const auto own = studyEmbedding(question);
    if (!own) return own.error();
    static_cast<EmbeddingStudy&>(*study) = **own;
    study->queries = study->table.values.rows();
    findWordPart(setup, *study);
    return std::shared_ptr<const WordStudy>(std::move(study));
  }
  if (model && !setup.subject.opened) return Error{"The model is still being opened."};
  TokenBatch batch = tokenizeBatch(setup);
  if (batch.error) return Error{batch.error->message};
  if (batch.lines.empty()) return Error{"Type a text to see its words' vectors."};
  const auto at = std::min<std::size_t>(static_cast<std::size_t>(question.sequence), batch.lines.size() - 1);
  LineTokens& line = batch.lines[at];
  line.queries.resize(static_cast<std::size_t>(line.queryLength));  // removes padding
  line.keys.resize(static_cast<std::size_t>(line.keyLength));
  Result<Table> table = model ? learnedVectors(*setup.subject.opened, line) : bothTexts(setup, line);
  if (!table) return table.error();
  study->question = question;
  study->table = *std::move(table);
  study->queries = line.queryLength;
  study->learned = model;
  study->fixed =
      model ? "The model's embeddings are fixed." : "Typed vectors are one text; cross-attention reads two.";
  findWordPart(setup, *study);
  placeWords(*study);
  return std::shared_ptr<const WordStudy>(std::move(study));
}

HeadChanges studyChanges(const ChangeQuestion& question) {
  HeadChanges changes;
  if (question.sequenceBefore >= std::ssize(question.before->sequences) ||
      question.sequence >= std::ssize(question.now->sequences))
    return changes;
  const attention::Stack
      &before = question.before->sequences[static_cast<std::size_t>(question.sequenceBefore)].probabilities(),
      &now = question.now->sequences[static_cast<std::size_t>(question.sequence)].probabilities();
  if (before.count() != now.count() || before.rows() != now.rows() || before.cols() != now.cols())
    return changes;
  for (Index head = 0; head < now.count(); ++head)
    changes.cells.push_back(((before[head].array() - now[head].array()).abs() > kChangedWeight).count());
  return changes;
}

}  // namespace headscope::app
