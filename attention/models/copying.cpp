#include "attention/models/copying.h"

#include "attention/core/decompositions.h"
#include "attention/heads/head_steps.h"
#include "attention/models/block.h"
#include "attention/models/value_biases.h"

namespace headscope::attention {
namespace {

/// Rows of W_E as they enter the stream, [count, modelDim].
Matrix embeddingRows(const Model& model, Index first, Index count) {
  const ModelWeights& weights = model.weights();
  Matrix rows = weightRows(weights.embedding.asLinear(), first, count);
  const auto& map = weights.embeddingMap;
  if (map && weights.headMap) rows = map->apply(rows, {});
  if (const auto& norm = weights.embeddingNorm)
    rows = normRows(rows, *norm, model.config().norm, model.config().epsilon);
  return map && !weights.headMap ? map->apply(rows, {}) : rows;
}

/// Columns of W_U as rows that read the stream, through the final norm's gain, [count, modelDim].
Matrix unembeddingRows(const Model& model, Index first, Index count) {
  const ModelWeights& weights = model.weights();
  Matrix rows = weightRows(*weights.head, first, count);
  if (const auto& map = weights.headMap) rows = rows * weightRows(*map, 0, map->out);
  if (weights.finalNorm) readThrough(rows, *weights.finalNorm, model.config().norm);
  return rows;
}

/// Aᵀ·(W_U − mean)·W_E·B, [a, b], for A and B [modelDim, a] and [modelDim, b]; an empty one is the identity.
Matrix throughVocabulary(const Model& model, const Matrix& a, const Matrix& b, const std::stop_token& stop) {
  constexpr Index kTokens = 2048;  // held as floats at once
  const Index vocabulary = std::min(model.weights().head->out, model.weights().embedding.rows);
  Matrix sum;
  Eigen::VectorXd written, read;  // sums over the vocabulary
  for (Index first = 0; first < vocabulary && !stop.stop_requested(); first += kTokens) {
    const Index count = std::min(kTokens, vocabulary - first);
    const auto part = [&](const Matrix& rows, const Matrix& map) -> Matrix {
      return map.size() > 0 ? timesTransposed(map.transpose(), rows, stop) : Matrix(rows.transpose());
    };
    const Matrix out = part(unembeddingRows(model, first, count), a),
                 in = part(embeddingRows(model, first, count), b);
    const Matrix product = timesTransposed(out, in, stop);
    const Eigen::VectorXd outs = out.cast<double>().rowwise().sum(), ins = in.cast<double>().rowwise().sum();
    if (first == 0) {
      sum = product, written = outs, read = ins;
    } else {
      sum += product, written += outs, read += ins;
    }
  }
  if (sum.size() > 0) sum -= (written * read.transpose() / static_cast<double>(vocabulary)).cast<float>();
  return sum;
}

}  // namespace

Status checkCopying(const Model& model) {
  if (!model.predictsTokens()) return Error{model.whyNoPredictions()};
  if (model.weights().embedding.rows == 0) return Error{"This model has no table of tokens."};
  if (model.weights().headTransform)
    return Error{"This model has an extra layer before its vocabulary, which no product of maps passes."};
  if (model.config().cross())
    return Error{"Cross heads read the encoder's stream and write to the decoder's: nothing is copied."};
  return model.config().checkHeadMaps();
}

Result<std::vector<double>> copyingScores(const Model& model, std::span<const HeadPlace> heads,
                                          const std::stop_token& stop) {
  if (const Status status = checkCopying(model); !status) return status.error();
  const Index d = model.config().modelDim, size = model.config().headDim;
  const auto columns = size * std::ssize(heads);
  Matrix v(d, columns), o(d, columns);
  for (Index i = 0; i < std::ssize(heads); ++i) {
    const HeadCircuits maps = headCircuits(model, heads[asSize(i)]);
    v.middleCols(i * size, size) = maps.v.transpose();
    o.middleCols(i * size, size) = maps.o;
  }
  // One product of all tokens serves all heads, but a few heads are cheaper alone.
  const bool few = 2 * columns < d;
  const Matrix all = throughVocabulary(model, few ? o : Matrix(), few ? v : Matrix(), stop);
  std::vector<double> scores;
  for (Index at = 0; at < columns && !stop.stop_requested(); at += size) {
    const auto own = o.middleCols(at, size), reads = v.middleCols(at, size);
    const Matrix core =
        few ? Matrix(all.block(at, at, size, size))
            : timesTransposed(own.transpose(), timesTransposed(reads.transpose(), all, stop), stop);
    scores.push_back(copyingScore(core, Matrix::Identity(size, size)));
  }
  if (stop.stop_requested()) return stopped();
  if (const Status status = model.checkpoint().intact(); !status) return status.error();
  return scores;
}

}  // namespace headscope::attention
