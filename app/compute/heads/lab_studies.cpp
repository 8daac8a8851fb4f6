#include "app/compute/heads/lab_studies.h"

#include <fmt/core.h>

#include "app/scene/text/number_text.h"
#include "attention/core/extremes.h"

namespace headscope::app {

AblationStudy studyAblation(const std::shared_ptr<const LayerParts>& layer, std::stop_token stop) {
  AblationStudy study;
  study.question = layer;
  const SequenceSnapshot& sequence = layer->sequence();
  const attention::Stack& heads = sequence.attention.headOutput;
  const OutputMap map = outputMapOf(*layer);
  study.whole = map.apply(heads, stop);
  if (stop.stop_requested()) return study;
  study.shares =
      attention::headShares({heads, map.columns, map.bias, study.whole, sequence.queryLength}, stop);
  const Setup& setup = layer->question.snapshot->setup;
  for (Index head = 0; head < heads.count(); ++head)
    if (switchedOff(setup.subject, shownLayer(setup), head)) study.off.push_back(head);
  study.together = study.off.empty() ? attention::Vector::Zero(heads.rows())
                                     : attention::rowChanges(study.whole, sequence.attention.output);
  return study;
}

using attention::Error;
using attention::Matrix;
using attention::Result;

Result<std::shared_ptr<const PatchStudy>> studyPatch(const PatchQuestion& question, Resources& resources,
                                                     std::stop_token stop) {
  const LayerParts& layer = *question.layer;
  const SequenceSnapshot& here = layer.sequence();
  const Index n = here.attention.weights.rows(), m = here.attention.weights.cols();
  Setup setup = layer.question.snapshot->setup;
  setup.input.text = question.text;
  setup.input.source = EmbeddingSource::text;
  setup.subject.written.clear();
  setup.mask.compare = false;
  TokenBatch batch = tokenizeBatch(setup);
  if (batch.error) return Error{"The other text: " + batch.error->message};
  if (batch.lines.empty()) return Error{"Type another text to take its pattern."};
  const Index queries = batch.lines.front().queryLength, keys = batch.lines.front().keyLength;
  if (batch.lines.size() > 1)
    return Error{fmt::format("The other text has {} lines, expected one.", batch.lines.size())};
  if (queries != here.queryLength || keys != here.keyLength)
    return Error{fmt::format("The other text has {}, expected {}, as in this text.", tokenCountText(queries),
                             countText(static_cast<std::uint64_t>(here.queryLength)))};
  auto study = std::make_shared<PatchStudy>();
  study->question = question;
  study->other = std::make_shared<const Snapshot>(computeSnapshot(setup, resources, stop));
  if (stop.stop_requested()) return Error{"stopped"};
  if (study->other->error) return Error{"The other text: " + study->other->error->message};
  // Padding of this text, absent from the other, keeps its own rows.
  study->weights = here.attention.weights[question.head];
  study->weights.topLeftCorner(queries, keys) = study->sequence().attention.weights[question.head];
  if (study->weights.rows() != n || study->weights.cols() != m) return Error{"The patterns' shapes differ."};
  const OutputMap map = outputMapOf(layer);
  const Index kv = layer.config().kvHeadOf(question.head);
  study->headOutput = study->weights * here.attention.v[kv];
  const attention::Matrix before = here.attention.headOutput[question.head];
  study->headChange = attention::rowChanges(before, study->headOutput);
  const Matrix added = (study->headOutput - before) * map.columns(question.head).transpose();
  study->output = here.attention.output;
  // A switched-off head contributes nothing to the output.
  if (!switchedOff(setup.subject, shownLayer(setup), question.head)) study->output += added;
  study->change = attention::rowChanges(here.attention.output, study->output);
  return std::shared_ptr<const PatchStudy>(std::move(study));
}

HullStudy studyHull(const HullQuestion& question) {
  HullStudy study;
  study.question = question;
  const SequenceSnapshot& sequence = question.layer->sequence();
  const attention::AttentionResult& result = sequence.attention;
  const Index head = question.head, query = question.query;
  const attention::MatrixView values = result.v[question.layer->config().kvHeadOf(head)];
  study.plane = attention::principalPlane(values.topRows(sequence.keyLength));
  study.values = attention::onPlane(study.plane, values);
  study.outputs = attention::onPlane(study.plane, result.headOutput[head]);
  study.weights = result.weights[head].row(query).transpose();
  Matrix seen(values.rows(), 2);
  std::vector<Index> rows;
  for (Index key = 0; key < values.rows(); ++key) {
    study.visible.push_back(attention::visible(sequence.mask, head, query, key));
    if (!study.visible.back()) continue;
    seen.row(std::ssize(rows)) = study.values.row(key);
    rows.push_back(key);
  }
  seen.conservativeResize(std::ssize(rows), Eigen::NoChange);
  const std::vector<Index> corners = attention::convexHull(seen);
  for (const Index corner : corners) study.corners.push_back(rows[static_cast<std::size_t>(corner)]);
  study.mixes = !rows.empty() && question.layer->config().dropout.probability == 0;
  if (!rows.empty())
    study.outside =
        attention::distanceOutside(seen, corners, study.outputs(query, 0), study.outputs(query, 1));
  study.size = std::max(attention::largestFinite(study.values), attention::largestFinite(study.outputs));
  return study;
}

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
  placeWords(*study);
  return std::shared_ptr<const EmbeddingStudy>(std::move(study));
}

void placeWords(EmbeddingStudy& study) {
  constexpr Index kOverviewRows = 144, kOverviewColumns = 512;
  const EmbeddingQuestion& question = study.question;
  const attention::Matrix& values = study.table.values;
  const Index dim = values.cols();
  if (!question.axes.principal()) {
    const Index last = dim - 1;
    study.plane = std::make_shared<const attention::Plane>(attention::planeOfDimensions(
        dim, std::min(question.axes.first, last), std::min(question.axes.second, last)));
  } else if (question.kept && question.kept->mean.size() == dim) {
    study.plane = question.kept;
    study.keptPlane = true;
  } else {
    study.plane = std::make_shared<const attention::Plane>(attention::principalPlane(values));
  }
  study.points = attention::onPlane(*study.plane, values);
  study.overview = attention::poolByMagnitude(values, kOverviewRows, kOverviewColumns);
  const float largest = attention::largestFinite(values);
  study.largest = largest > 0 ? largest : 1;
}

using attention::Mistake;
using attention::MistakeInput;
using attention::Token;

namespace {

/// Returns the words that name the random tokens: a sentence, with padding where the demonstration has it.
std::vector<Token> demonstrationTokens(const MistakeInput& input) {
  static constexpr const char* kWords[] = {"The",     "animal", "didn't", "cross", "the",   "street",
                                           "because", "it",     "was",    "too",   "tired", "."};
  std::vector<Token> tokens;
  for (const char* word : kWords) tokens.push_back({word, false});
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto at = static_cast<Index>(i);
    if (at < input.paddedUpTo || (input.paddedFrom >= 0 && at >= input.paddedFrom))
      tokens[i] = {"[pad]", false};
  }
  return tokens;
}

/// Returns the head's queries and keys from the snapshot.
MistakeInput inputOf(const MistakeQuestion& question, MistakeStudy& study) {
  const Snapshot& snapshot = *question.snapshot;
  const SequenceSnapshot& sequence = snapshot.sequences[static_cast<std::size_t>(question.sequence)];
  const attention::AttentionConfig& config = snapshot.config;
  MistakeInput input;
  input.q = sequence.attention.q;
  input.k = sequence.attention.k;
  input.head = question.head;
  input.modelDim = config.modelDim;
  input.scale = attention::scoreFactor(config);
  const auto scores = sequence.attention.scores[question.head];
  input.visible = (scores.array() > -INFINITY).cast<float>();
  if (sequence.keyLength < static_cast<Index>(sequence.keys.size())) input.paddedFrom = sequence.keyLength;
  for (const attention::ScoreTerm& term : attention::scoreTerms())
    study.omitsTerms = study.omitsTerms || ((term.adds() || term.kind == attention::TermKind::cap) &&
                                            term.applies(config, sequence.mask));
  study.queries = sequence.queries;
  study.keys = sequence.keys;
  return input;
}

}  // namespace

bool aboutScale(Mistake mistake) {
  return mistake == Mistake::noScale || mistake == Mistake::modelScale;
}

MistakeStudy studyMistake(const MistakeQuestion& question) {
  MistakeStudy study;
  study.question = question;
  MistakeInput input;
  if (question.snapshot) {
    input = inputOf(question, study);
  } else {
    input = attention::demonstration(question.mistake, 12, question.headDim, kDemonstrationSeed);
    study.queries = study.keys = demonstrationTokens(input);
  }
  study.heads = input.q.count();
  study.kvHeads = input.k.count();
  study.headDim = input.q.cols();
  study.head = input.head;
  study.result = attention::makeMistake(question.mistake, input);
  return study;
}

}  // namespace headscope::app
