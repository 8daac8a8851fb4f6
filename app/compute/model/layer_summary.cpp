#include "app/compute/model/layer_summary.h"

#include "attention/core/extremes.h"
#include "attention/core/parallel.h"
#include "render/heatmap.h"

namespace headscope::app {

using attention::Matrix;
using attention::Stack;
using attention::Vector;

namespace {

constexpr Index kThumbnailSide = 64;

/// Returns the visible cells in the form that detectors and pictures use: 0, or −inf if the key is masked.
Matrix marksOf(const attention::MaskFormula& mask, Index variant) {
  Matrix cells = Matrix::Constant(mask.queries(), mask.keys(), render::kMaskedCell);
  attention::KeyRuns runs;
  for (Index row = 0; row < cells.rows(); ++row) {
    mask.visibleRuns(variant, row, runs);
    for (const attention::KeyRun& run : runs)
      cells.row(row).segment(run.begin, run.end - run.begin).setZero();
  }
  return cells;
}

/// Copies the weights of visible keys; all other cells become masked or dead. Recorded weights above 1 become
/// NaN, which has its own colour, unless the scale is around 0.
void markCells(const LayerSummary& layer, Index head, const Matrix& marks, Matrix& out) {
  out = layer.weights[head];
  if (layer.recorded && layer.aroundZero == 0) out = attention::markedWeights(out);
  for (Index row = 0; row < out.rows(); ++row) {
    const auto cells = marks.row(row).array();
    if ((cells != 0).all())
      out.row(row).setConstant(render::kDeadCell);
    else
      out.row(row) = (cells != 0).select(render::kMaskedCell, out.row(row).array());
  }
}

/// Masks the first column and rescales the rest of each row to sum to 1, unless nothing is left.
void leaveFirstOut(Matrix& marked) {
  for (Index row = 0; row < marked.rows(); ++row) {
    float& first = marked(row, 0);
    if (first == render::kDeadCell) continue;
    if (const float rest = 1 - first; first >= 0 && rest > 1e-6f)
      for (Index col = 1; col < marked.cols(); ++col)
        if (marked(row, col) > 0) marked(row, col) /= rest;
    first = render::kMaskedCell;
  }
}

/// Pools marked weights so that the most striking cell of a block stays visible.
Matrix pooledWeights(const LayerSummary& layer, const Matrix& marked, int factor) {
  return layer.aroundZero > 0 ? pooledByMagnitude(marked, factor) : attention::maxPooled(marked, factor);
}

float entropyOf(const attention::MatrixView& weights, const Matrix& marks) {
  double sum = 0;
  Index rows = 0;
  bool left = false;
  for (Index row = 0; row < weights.rows(); ++row) {
    if (weights.row(row).hasNaN()) {
      left = true;
      continue;
    }
    const auto visible = (marks.row(row).array() == 0).count();
    if (visible < 2) continue;
    double entropy = 0;
    for (Index col = 0; col < weights.cols(); ++col)
      if (const double p = weights(row, col); p > 0) entropy -= p * std::log(p);
    sum += entropy / std::log(static_cast<double>(visible));
    ++rows;
  }
  if (rows == 0) return left ? std::numeric_limits<float>::quiet_NaN() : 0;
  return static_cast<float>(sum / static_cast<double>(rows));
}

/// Returns ‖after − before‖ / ‖before‖ of every row.
Vector addedShare(const Matrix& before, const Matrix& after) {
  const Vector added = (after - before).rowwise().norm(), was = before.rowwise().norm();
  return added.cwiseQuotient(was.cwiseMax(1e-20f));
}
/// Returns the first `kept` old rows followed by the new ones.
template <class Rows>
Rows appended(const Rows* old, Index kept, const Rows& rows) {
  if (kept == 0) return rows;
  Rows all(kept + rows.rows(), rows.cols());
  all << old->topRows(kept), rows;
  return all;
}
/// Keys that the old rows don't have get 0.
Stack appended(const Stack* old, Index kept, const Stack& rows) {
  if (kept == 0) return rows;
  const Index seen = std::min(old->cols(), rows.cols());
  Stack all(rows.count(), kept + rows.rows(), rows.cols());
  for (Index head = 0; head < rows.count(); ++head) {
    all[head].topLeftCorner(kept, seen) = (*old)[head].topLeftCorner(kept, seen);
    all[head].bottomRows(rows.rows()) = rows[head];
  }
  return all;
}
attention::Routing appended(const attention::Routing* old, Index kept, const attention::Routing& rows) {
  if (kept == 0 || rows.shares.size() == 0) return rows;
  return {appended(&old->experts, kept, rows.experts), appended(&old->shares, kept, rows.shares)};
}

void summariseHeads(LayerSummary& summary, const MarkedMask& mask, const attention::HeadText& text,
                    const std::stop_token& stop) {
  const Index heads = summary.weights.count(), n = summary.weights.rows(), m = summary.weights.cols();
  const int factor = thumbnailFactor(longestSide(summary));
  const Index rows = attention::pooledSize(n, factor), cols = attention::pooledSize(m, factor);
  summary.heads.resize(static_cast<std::size_t>(heads));
  summary.thumbnails = Stack(heads, rows, cols);
  summary.thumbnailsFirstOut = Stack(heads, rows, cols);
  attention::forEach(heads, stop, [&](Index head) {
    const Matrix& cells = mask.of(head);
    HeadSummary& one = summary.heads[static_cast<std::size_t>(head)];
    const attention::MatrixView weights = std::as_const(summary.weights)[head];
    one.profile = attention::profileHead({weights, {cells.data(), n, m}, text});
    one.entropy = entropyOf(weights, cells);
    Matrix marked;
    markCells(summary, head, cells, marked);
    summary.thumbnails[head] = pooledWeights(summary, marked, factor);
    leaveFirstOut(marked);
    summary.thumbnailsFirstOut[head] = pooledWeights(summary, marked, factor);
  });
  float sum = 0;
  for (const HeadSummary& one : summary.heads) sum += one.entropy;
  summary.entropy = sum / static_cast<float>(heads);
}

}  // namespace

MarkedMask::MarkedMask(std::shared_ptr<const attention::MaskFormula> mask, Index keysFrom)
    : formula(std::move(mask)) {
  for (Index variant = 0; variant < formula->variants(); ++variant) {
    marks.push_back(marksOf(*formula, variant));
    marks.back().leftCols(keysFrom).setConstant(render::kMaskedCell);
  }
}

Matrix joined(const Matrix* old, Index kept, const Matrix& rows) {
  return appended(old, kept, rows);
}

namespace {

/// Returns 1 minus the rows' sums, at least 0.
Matrix sinkShares(const attention::Stack& weights) {
  Matrix shares(weights.count(), weights.rows());
  for (Index head = 0; head < weights.count(); ++head)
    shares.row(head) = (1 - weights[head].rowwise().sum().array()).max(0.0f).transpose();
  return shares;
}

}  // namespace

std::shared_ptr<LayerSummary> summarise(const LayerRows& rows, const MarkedMask& mask,
                                        const attention::HeadText& text, const std::stop_token& stop) {
  auto summary = std::make_shared<LayerSummary>();
  summary->mask = mask.formula;
  const auto with = [&](auto LayerSummary::*part, const auto& now) {
    summary.get()->*part = appended(rows.before ? &(rows.before->*part) : nullptr, rows.kept, now);
  };
  with(&LayerSummary::weights, rows.now.weights);
  with(&LayerSummary::hidden, rows.now.hidden);
  with(&LayerSummary::headOutput, rows.now.headOutput);
  with(&LayerSummary::routing, rows.now.routing);
  if (!rows.now.config.sinks.empty()) summary->sinkShares = sinkShares(summary->weights);
  summariseHeads(*summary, mask, text, stop);
  const bool hybrid = rows.now.entered.size() > 0;
  const Matrix in = hybrid ? rows.now.entered : Matrix(rows.in.bottomRows(rows.now.hidden.rows()));
  with(&LayerSummary::attentionAdded, addedShare(in, rows.now.between));
  with(&LayerSummary::mlpAdded, addedShare(rows.now.between, hybrid ? rows.now.left : rows.now.hidden));
  summary->attentionAdds = summary->attentionAdded.mean();
  summary->mlpAdds = summary->mlpAdded.mean();
  return summary;
}

void summariseHeads(LayerSummary& summary, const attention::HeadText& text, std::stop_token stop) {
  summariseHeads(summary, MarkedMask(summary.mask, summary.keysFrom), text, stop);
}

Matrix pooledByMagnitude(const Matrix& cells, int factor) {
  if (factor == 1) return cells;
  const Index rows = attention::pooledSize(cells.rows(), factor),
              cols = attention::pooledSize(cells.cols(), factor);
  Matrix out = Matrix::Constant(rows, cols, render::kMaskedCell);
  for (Index row = 0; row < cells.rows(); ++row)
    for (Index col = 0; col < cells.cols(); ++col) {
      float& cell = out(row / factor, col / factor);
      const float value = cells(row, col);
      if (std::isnan(value)) cell = value;
      if (!std::isfinite(value) || std::isnan(cell)) continue;
      cell = std::isfinite(cell) ? attention::stronger(cell, value) : value;
    }
  return out;
}

std::shared_ptr<const LayerSummary> comparedLayer(const LayerSummary& a, const LayerSummary& b,
                                                  const PartnersInB& with, bool difference,
                                                  const attention::HeadText& text, std::stop_token stop) {
  const Index heads = a.weights.count(), n = a.weights.rows(), m = a.weights.cols();
  auto summary = std::make_shared<LayerSummary>(a);
  const auto query = [&](Index at) { return with.queries[static_cast<std::size_t>(at)]; };
  const auto key = [&](Index at) { return with.keys[static_cast<std::size_t>(at)]; };
  for (Index head = 0; head < heads; ++head)
    for (Index row = 0; row < n; ++row)
      for (Index col = 0; col < m; ++col) {
        float& weight = summary->weights[head](row, col);
        const bool there = query(row) >= 0 && key(col) >= 0;
        const float now = there ? b.weights.at(head, query(row), key(col)) : 0;
        weight = difference ? there ? now - weight : 0 : now;
      }
  summary->aroundZero = difference ? 0 : std::max(a.aroundZero, b.aroundZero);
  summary->recorded = a.recorded && !difference;
  if (difference) summary->sinkShares.resize(0, 0);
  for (Index row = 0; row < summary->sinkShares.cols(); ++row)
    summary->sinkShares.col(row) = query(row) < 0 ? attention::Vector(attention::Vector::Zero(heads))
                                                  : attention::Vector(b.sinkShares.col(query(row)));
  if (!difference) {
    summariseHeads(*summary, MarkedMask(a.mask, a.keysFrom), text, stop);
  }
  const MarkedMask mask(a.mask, a.keysFrom);
  const int factor = thumbnailFactor(longestSide(*summary));
  for (Index head = 0; head < heads && !stop.stop_requested(); ++head) {
    Matrix marked;
    markCells(*summary, head, mask.of(head), marked);
    double differs = 0;
    for (Index row = 0; row < n; ++row) {
      for (Index col = 0; col < m; ++col)
        if (query(row) < 0 || key(col) < 0) marked(row, col) = render::kMaskedCell;
      if (difference && query(row) >= 0)
        differs += double{summary->weights[head].row(row).cwiseAbs().sum()} / 2;
    }
    if (difference)
      summary->heads[static_cast<std::size_t>(head)].differs =
          static_cast<float>(differs / static_cast<double>(n));
    summary->thumbnails[head] = summary->thumbnailsFirstOut[head] =
        difference ? pooledByMagnitude(marked, factor) : pooledWeights(*summary, marked, factor);
  }
  return summary;
}

int thumbnailFactor(Index tokens) {
  int factor = 1;
  while (attention::pooledSize(tokens, factor) > kThumbnailSide) factor *= 2;
  return factor;
}

Index longestSide(const LayerSummary& layer) {
  return std::max(layer.weights.rows(), layer.weights.cols());
}

Matrix drawModelHead(const LayerSummary& layer, Index head, int factor, bool firstOut) {
  Matrix marks = marksOf(*layer.mask, layer.mask->variantOf(head)), marked;
  marks.leftCols(layer.keysFrom).setConstant(render::kMaskedCell);
  markCells(layer, head, marks, marked);
  if (layer.heads[static_cast<std::size_t>(head)].differs >= 0) return pooledByMagnitude(marked, factor);
  if (firstOut) leaveFirstOut(marked);
  return pooledWeights(layer, marked, factor);
}

using attention::RgbImage;

attention::Vector pictureMap(const LayerSummary& layer, Index head, const attention::Matrix* below,
                             const PictureMapChoice& choice) {
  const Index query = choice.map == PictureMap::first ? 0 : choice.query;
  Vector row = layer.weights[head].row(query).transpose();
  if (choice.map != PictureMap::rollout) return row;
  const bool seesNone = row.isZero(0);
  row *= 0.5f;
  row[query] += seesNone ? 1.0f : 0.5f;
  if (!below) return row;
  return (row.transpose() * *below).transpose();
}

float pictureMapTop(const OpenPicture& picture, const Vector& map) {
  return std::max(attention::largestFinite(map.segment(picture.before, picture.rows * picture.cols)), 0.0f);
}

attention::RgbImage overlaidPicture(const OpenPicture& picture, const Vector& map, float top,
                                    render::Colormap colormap, Index side) {
  const RgbImage& seen = picture.seen;
  const Index longest = std::max(seen.width, seen.height);
  RgbImage over = attention::resized(seen, std::max<Index>(seen.width * side / longest, 1),
                                     std::max<Index>(seen.height * side / longest, 1),
                                     attention::ResampleFilter::bilinear);
  const auto colours = render::table(colormap);
  for (Index y = 0; y < over.height; ++y)
    for (Index x = 0; x < over.width; ++x) {
      const Index patch = y * picture.rows / over.height * picture.cols + x * picture.cols / over.width;
      const float value = map[picture.before + patch];
      const float t = top > 0 && std::isfinite(value) ? std::clamp(value / top, 0.0f, 1.0f) : 0;
      std::uint8_t* const pixel = over.rgb.data() + 3 * (y * over.width + x);
      // Rec. 601 luma, darkened, so that all colours come from the map.
      const float grey = 0.6f * (0.299f * pixel[0] + 0.587f * pixel[1] + 0.114f * pixel[2]);
      const float share = 0.8f * std::sqrt(t);
      const std::size_t entry = 4 * static_cast<std::size_t>(std::lround(255 * t));
      for (std::size_t c = 0; c < 3; ++c)
        pixel[c] = static_cast<std::uint8_t>(std::lround((1 - share) * grey + share * colours[entry + c]));
    }
  return over;
}

}  // namespace headscope::app
