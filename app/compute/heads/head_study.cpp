#include "app/compute/heads/head_study.h"

#include <algorithm>
#include <cmath>

#include "attention/core/max_pool.h"
#include "attention/core/score_terms.h"
#include "attention/core/softmax.h"
#include "render/heatmap.h"

namespace headscope::app {

using attention::Matrix;
using attention::MatrixView;

namespace {

constexpr Index kFinest = 1024;

/// Pools `values` by the one farthest from 0; cells that are masked in `scores` stay marked.
SignedPicture picture(const Matrix& values, const MatrixView& scores, const attention::Matrix& lse,
                      Index head) {
  SignedPicture result;
  const Index longer = std::max(values.rows(), values.cols());
  while ((longer + result.factor - 1) / result.factor > kFinest) result.factor *= 2;
  const Index factor = result.factor;
  result.values = Matrix::Constant(attention::pooledSize(values.rows(), factor),
                                   attention::pooledSize(values.cols(), factor), render::kMaskedCell);
  for (Index row = 0; row < values.rows(); ++row) {
    if (lse(head, row) == render::kMaskedCell) continue;
    for (Index col = 0; col < values.cols(); ++col) {
      if (scores(row, col) == render::kMaskedCell) continue;
      float& cell = result.values(row / factor, col / factor);
      const float value = values(row, col);
      if (cell == render::kMaskedCell || std::abs(value) > std::abs(cell)) cell = value;
      if (std::isfinite(value)) result.extreme = std::max(result.extreme, std::abs(value));
    }
  }
  // A square is dead if every row in it sees nothing.
  for (Index square = 0; square < result.values.rows(); ++square) {
    const Index first = square * factor, count = std::min<Index>(factor, values.rows() - first);
    const auto part = lse.row(head).segment(first, count).array();
    if ((part == render::kMaskedCell).all()) result.values.row(square).setConstant(render::kDeadCell);
  }
  return result;
}

/// Returns the sum of the additive terms in every cell of one head, [n, m].
Matrix biasOf(const attention::HeadTerms& terms) {
  Matrix sum = Matrix::Zero(terms.queries, terms.keys);
  for (Index row = 0; row < terms.queries; ++row)
    for (const float* values : {terms.biasOf(row), terms.addedOf(row)})
      if (values) sum.row(row) += Eigen::Map<const Eigen::RowVectorXf>(values, terms.keys);
  return sum;
}

/// Whether any term adds to the scores or caps them.
bool biased(const attention::AttentionConfig& config, const attention::MaskInput& mask) {
  const auto terms = attention::scoreTerms();
  return std::any_of(terms.begin(), terms.end(), [&](const attention::ScoreTerm& term) {
    return term.applies(config, mask) && (term.adds() || term.kind == attention::TermKind::cap);
  });
}

/// Returns the head's weights without additions and soft-cap: from q·k times `factor` alone.
Matrix plainWeights(const attention::AttentionConfig& config, const attention::AttentionResult& result,
                    Index head, float factor, std::stop_token stop) {
  const MatrixView scores = result.scores[head];
  Matrix weights(scores.rows(), scores.cols());
  const MatrixView q = result.q[head], k = result.k[config.kvHeadOf(head)];
  Eigen::RowVectorXf line(scores.cols());
  for (Index row = 0; row < scores.rows() && !stop.stop_requested(); ++row) {
    line.noalias() = q.row(row) * k.transpose();
    line *= factor;
    for (Index col = 0; col < scores.cols(); ++col)
      if (scores(row, col) == render::kMaskedCell) line[col] = render::kMaskedCell;
    attention::softmaxRow(line.data(), line.size(), weights.row(row).data(), config.sinkOf(head));
  }
  return weights;
}

}  // namespace

HeadStudy studyHead(const HeadQuestion& question, std::stop_token stop) {
  HeadStudy study;
  study.question = question;
  const Snapshot& snapshot = *question.snapshot;
  if (snapshot.sequences.empty()) return study;
  // A line or head that was just added and selected is not in the snapshot yet.
  const auto lines = static_cast<Index>(snapshot.sequences.size());
  const SequenceSnapshot& sequence =
      snapshot.sequences[static_cast<std::size_t>(std::clamp<Index>(question.sequence, 0, lines - 1))];
  const attention::AttentionConfig& config = snapshot.config;
  const attention::AttentionResult& result = sequence.attention;
  const Index head = std::clamp<Index>(question.head, 0, config.heads - 1);
  const MatrixView scores = result.scores[head];
  const attention::HeadTerms terms =
      attention::headTerms(config, sequence.mask, head, scores.rows(), scores.cols());
  study.biased = biased(config, sequence.mask);
  study.bias = picture(biasOf(terms), scores, result.lse, head);
  if (study.biased && !stop.stop_requested())
    study.effect =
        picture(sequence.probabilities()[head] - plainWeights(config, result, head, terms.factor, stop),
                scores, result.lse, head);
  if (sequence.other && !stop.stop_requested()) {
    const attention::AttentionResult& other = sequence.other->attention;
    // A cell is shown if either mask lets it be seen.
    const Matrix either = scores.cwiseMax(other.scores[head]);
    const Matrix lse = result.lse.cwiseMax(other.lse);
    study.difference = picture(sequence.other->probabilities()[head] - sequence.probabilities()[head],
                               MatrixView(either.data(), either.rows(), either.cols()), lse, head);
  }
  return study;
}

std::uint64_t bytesOf(const HeadStudy& study) {
  const Index floats = study.bias.values.size() + study.effect.values.size() + study.difference.values.size();
  return static_cast<std::uint64_t>(floats) * sizeof(float);
}

}  // namespace headscope::app
