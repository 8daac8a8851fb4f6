#include "app/compute/heads/word_aim.h"

#include <fmt/core.h>

#include <cmath>
#include <limits>

#include "attention/core/positions.h"
#include "attention/heads/vector_geometry.h"

namespace headscope::app {

namespace {

using attention::Error;
using attention::Matrix;
using attention::Result;
using attention::Vector;

/// A head's map of one token to its query or key: rotated(weight·x + bias), scaled.
struct TokenMap {
  Matrix weight;  ///< [headDim, modelDim]
  Vector bias;    ///< [headDim]

  Vector of(const Vector& x) const { return weight * x + bias; }
};

TokenMap tokenMap(const attention::Linear& map, Index first, const attention::AttentionConfig& config,
                  Index position) {
  const Index dim = config.headDim;
  TokenMap all{map.weight.middleRows(first, dim), Vector::Zero(dim)};
  if (map.bias.size()) all.bias = map.bias.segment(first, dim);
  if (!config.ropeTheta) return all;
  // A rotation is linear, so it turns the columns of the weight and the bias.
  Matrix rows(all.weight.cols() + 1, dim);
  rows.topRows(all.weight.cols()) = all.weight.transpose();
  rows.bottomRows(1) = all.bias.transpose();
  const Matrix table = attention::ropeTable(position, 1, dim, *config.ropeTheta);
  attention::applyRope(attention::MutableMatrixView(rows.data(), rows.rows(), rows.cols()),
                       table.replicate(rows.rows(), 1));
  return {rows.topRows(all.weight.cols()).transpose(), rows.bottomRows(1).transpose()};
}

/// One row of a head while its query's word is moved.
class AimedRow {
 public:
  AimedRow(const AimQuestion& question, const LayerParts& layer)
      : question_(question),
        config_(layer.config()),
        sequence_(layer.sequence()),
        x_(layer.x.row(question.query)),
        q_(tokenMap(layer.projections->q, question.head * config_.headDim, config_, question.query)),
        k_(tokenMap(layer.projections->k, config_.kvHeadOf(question.head) * config_.headDim, config_,
                    question.query)),
        keys_(sequence_.attention.k[config_.kvHeadOf(question.head)]) {
    const auto word = [&](Index key) {
      return layer.x.row(key).segment(question.wordAt, question.wordCount);
    };
    for (Index key = 0; key < sequence_.keyLength; ++key) {
      if (!visible(sequence_.mask, question.head, question.query, key)) continue;
      seen_.push_back(key);
      // The same word elsewhere may be read as much.
      if (word(key) != word(question.key)) rivals_.push_back(key);
    }
  }

  bool sees(Index key) const { return std::ranges::find(seen_, key) != seen_.end(); }
  Index others() const { return std::ssize(rivals_); }

  /// The slopes of the key's score above each other key's, by the word's numbers: [others, wordCount].
  Matrix slopes() const {
    const Matrix word = q_.weight.middleCols(question_.wordAt, question_.wordCount);
    Matrix all(others(), question_.wordCount);
    for (Index row = 0; row < others(); ++row)
      all.row(row) =
          attention::scoreFactor(config_) * (keys_.row(question_.key) - keys_.row(rival(row))) * word;
    return all;
  }

  /// Moves the query's own key as `change` [wordCount] does.
  void moveKey(const Vector& change) { keys_.row(question_.query) = k_.of(moved(change)).transpose(); }

  /// The scores of all keys before softmax, −∞ where the mask hides them: [keys].
  Vector scores(const Vector& change) const {
    const Vector query = q_.of(moved(change));
    Vector all = Vector::Constant(sequence_.keyLength, -std::numeric_limits<float>::infinity());
    for (const Index key : seen_)
      all[key] = attention::scoreSteps(config_, sequence_.mask, question_.head, question_.query, key,
                                       keys_.row(key).dot(query))
                     .back()
                     .score;
    return all;
  }

  /// What the key's score lacks above each other word's: [others].
  Vector lacks(const Vector& scores, float margin) const {
    Vector all(others());
    for (Index row = 0; row < others(); ++row)
      all[row] = margin - (scores[question_.key] - scores[rival(row)]);
    return all;
  }

  /// The key's share of the row.
  float share(const Vector& scores) const { return 1 / (scores.array() - scores[question_.key]).exp().sum(); }

 private:
  Index rival(Index row) const { return rivals_[static_cast<std::size_t>(row)]; }
  Vector moved(const Vector& change) const {
    Vector x = x_;
    x.segment(question_.wordAt, question_.wordCount) += change;
    return x;
  }

  const AimQuestion& question_;
  const attention::AttentionConfig& config_;
  const SequenceSnapshot& sequence_;
  const Vector x_;
  const TokenMap q_, k_;
  Matrix keys_;
  std::vector<Index> seen_, rivals_;  // the keys it sees; those of other words
};

/// The change of the word, [wordCount].
std::optional<Vector> changeFor(AimedRow& row, Index dims, std::stop_token stop) {
  constexpr int kRounds = 40;
  const float margin =
      std::log(kAimedShare / (1 - kAimedShare) * static_cast<float>(std::max<Index>(row.others(), 1)));
  Vector change = Vector::Zero(dims);
  for (int round = 0; round < kRounds && !stop.stop_requested(); ++round) {
    const Matrix slopes = row.slopes();
    // Around the present change, which the limits therefore include.
    const Vector limits = row.lacks(row.scores(change), margin) + slopes * change;
    const auto next = attention::shortestStep(slopes, limits, stop);
    if (!next) return std::nullopt;
    change = *next;
    row.moveKey(change);
    if (row.lacks(row.scores(change), margin).maxCoeff() < 0.05f) return change;
  }
  return row.lacks(row.scores(change), 0).maxCoeff() < 0 ? std::optional(change) : std::nullopt;
}

/// Whether the word's numbers can move the head's scores at all.
bool followsWords(const AimQuestion& question, const LayerParts& layer, Index head) {
  AimQuestion other = question;
  other.head = head;
  const AimedRow row(other, layer);
  return row.others() > 0 && row.sees(question.key) &&
         row.slopes().rowwise().norm().maxCoeff() > 1e-4f * layer.x.row(question.query).norm();
}

std::string whyNot(const AimQuestion& question, const LayerParts& layer) {
  const std::string head = fmt::format("Head {}", question.head);
  if (followsWords(question, layer, question.head))
    return fmt::format("No vector was found with which head {} reads it more than all other words.",
                       question.head);
  for (Index other = 0; other < layer.config().heads; ++other)
    if (followsWords(question, layer, other))
      return fmt::format("{} doesn't look at the words but at their places. Try head {}.", head, other);
  return head + " doesn't look at the words but at their places.";
}

}  // namespace

Result<WordAim> aimWord(const AimQuestion& question, Resources& resources, std::stop_token stop) {
  const Setup& setup = question.snapshot->setup;
  if (shownLayer(setup) > 0 || (isStack(setup) && setup.model.norm))
    return Error{"What a word's vector does to a later layer isn't linear; select the first layer."};
  const auto layer = layerParts({question.snapshot, question.sequence}, resources, stop);
  if (!layer) return layer.error();
  if (!(*layer)->projections) return Error{"The model's embeddings are fixed."};
  AimedRow row(question, **layer);
  if (!row.sees(question.key)) return Error{"The mask hides this word."};
  if (row.others() == 0) return Error{"It sees no other word, so this one has all of its weight."};
  const std::optional<Vector> change = changeFor(row, question.wordCount, stop);
  if (!change) return Error{whyNot(question, **layer)};
  WordAim aim;
  aim.change = Eigen::RowVectorXf::Zero((*layer)->x.cols());
  aim.change.segment(question.wordAt, question.wordCount) = change->transpose();
  aim.share = row.share(row.scores(*change));
  return aim;
}

}  // namespace headscope::app
