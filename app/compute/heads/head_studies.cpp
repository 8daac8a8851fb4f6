#include "app/compute/heads/head_studies.h"

#include "attention/core/activations.h"
#include "attention/core/extremes.h"
#include "attention/models/copying.h"
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

using attention::asSize;
using attention::Error;
using attention::HeadCircuits;
using attention::HeadGroup;
using attention::HeadPlace;
using attention::Result;

namespace {

/// Returns all heads that can read or be read by another, layer by layer.
std::vector<HeadPlace> placesOf(const attention::Model& model) {
  const attention::ModelConfig& config = model.config();
  std::vector<HeadPlace> places;
  const auto add = [&](HeadGroup group, Index layer, Index heads) {
    for (Index head = 0; head < heads; ++head) places.push_back({group, layer, head});
  };
  if (config.reads() && model.source()) {
    const attention::ModelConfig& encoder = model.source()->config();
    for (Index layer = 0; layer < encoder.layerCount(); ++layer)
      add(HeadGroup::encoder, layer, encoder.heads);
  }
  for (Index layer = 0; layer < config.layerCount(); ++layer) {
    add(config.reads() ? HeadGroup::decoder : config.group, layer, config.heads);
    if (config.reads()) add(HeadGroup::cross, layer, config.heads);
  }
  return places;
}

}  // namespace

std::pair<const char*, double> ComposedHead::strongest() const {
  std::pair<const char*, double> best{"Q", with.q};
  for (const auto& kind : {std::pair("K", with.k), std::pair("V", with.v)})
    if (std::isnan(best.second) || kind.second > best.second) best = kind;
  return best;
}

Result<HeadCompositions> headCompositions(const CompositionQuestion& question, std::stop_token stop) {
  const attention::Model& model = *question.opened->model;
  if (const attention::Status status = model.config().checkHeadMaps(); !status) return status.error();
  const HeadPlace asked{model.config().group, question.layer, question.head};
  const HeadCircuits own = headCircuits(model, asked);
  HeadCompositions all;
  for (const HeadPlace& place : placesOf(model)) {
    if (stop.stop_requested()) return Error{"stopped"};
    const attention::Reads isRead = readsOf(place, asked), reads = readsOf(asked, place);
    if (!isRead.any() && !reads.any()) continue;
    const HeadCircuits other = headCircuits(model, place);
    if (isRead.any())
      all.earlier.push_back({place.layer, place.head, composition(other, own, isRead), place.group});
    else
      all.later.push_back({place.layer, place.head, composition(own, other, reads), place.group});
  }
  if (const attention::Status status = model.checkpoint().intact(); !status) return status.error();
  for (auto* const heads : {&all.earlier, &all.later})
    std::ranges::stable_sort(*heads, std::greater(),
                             [](const ComposedHead& one) { return one.strongest().second; });
  return all;
}

Result<std::vector<ComposedPair>> allCompositions(const attention::Model& model) {
  if (const attention::Status status = model.config().checkHeadMaps(); !status) return status.error();
  const std::vector<HeadPlace> places = placesOf(model);
  std::vector<HeadCircuits> maps;
  for (const HeadPlace& place : places) maps.push_back(headCircuits(model, place));
  std::vector<ComposedPair> pairs;
  for (std::size_t from = 0; from < places.size(); ++from)
    for (std::size_t to = 0; to < places.size(); ++to) {
      const attention::Reads reads = readsOf(places[from], places[to]);
      if (reads.any())
        pairs.push_back({places[from].layer, places[from].head, places[to].layer, places[to].head,
                         composition(maps[from], maps[to], reads), places[from].group, places[to].group});
    }
  if (const attention::Status status = model.checkpoint().intact(); !status) return status.error();
  return pairs;
}

attention::Result<double> headCopying(const CopyingQuestion& question, std::stop_token stop) {
  const attention::Model& model = *question.opened->model;
  const HeadPlace place{model.config().group, question.layer, question.head};
  const auto scores = attention::copyingScores(model, std::span(&place, 1), stop);
  return scores ? Result<double>(scores->front()) : scores.error();
}

namespace {

constexpr Index kSquare = 160;
constexpr float kTowering = 8;

/// Returns the colour range: `most`, or the 90th percentile of the nonzero |values| if `most` is far above
/// it.
float colourReach(const Matrix& values, float most) {
  std::vector<float> sizes;
  for (Index i = 0; i < values.size(); ++i)
    if (values.data()[i] != 0 && std::isfinite(values.data()[i])) sizes.push_back(std::abs(values.data()[i]));
  if (sizes.size() < 8) return most;
  const auto at = sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() * 9 / 10);
  std::nth_element(sizes.begin(), at, sizes.end());
  return most > kTowering * *at ? *at : most;
}

WeightPicture pictureOf(Matrix pooled) {
  WeightPicture picture{std::move(pooled), 1, 1};
  const float most = attention::largestFinite(picture.values);
  if (most > 0) {
    picture.most = most;
    picture.colours = colourReach(picture.values, most);
  }
  return picture;
}

}  // namespace

WeightStudy studyWeights(const std::shared_ptr<const HeadParts>& head, std::stop_token stop) {
  WeightStudy study;
  study.question = head;
  const auto small = [](const Matrix& map) {
    return pictureOf(attention::poolByMagnitude(map, 64, kSquare));
  };
  study.q = small(head->q.weight);
  study.k = small(head->k.weight);
  study.v = small(head->v.weight);
  study.o = small(head->wo.transpose());
  const Matrix q = head->q.weight.transpose(), k = head->k.weight.transpose(), v = head->v.weight.transpose();
  study.match = pictureOf(attention::productPicture(q, k, kSquare, stop));
  if (!stop.stop_requested()) study.write = pictureOf(attention::productPicture(v, head->wo, kSquare, stop));
  if (!stop.stop_requested()) study.matchSpectrum = attention::productSpectrum(q, k);
  if (!stop.stop_requested()) study.writeSpectrum = attention::productSpectrum(v, head->wo);
  if (!stop.stop_requested()) study.copying = attention::copyingScore(v, head->wo);
  return study;
}

}  // namespace headscope::app
