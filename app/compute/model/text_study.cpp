#include "app/compute/model/text_study.h"

#include <fmt/core.h>

#include "app/compute/heads/head_studies.h"
#include "app/compute/model/layer_summary.h"
#include "app/compute/model/passes.h"
#include "app/compute/model/text_answers.h"

namespace headscope::app {

using attention::asSize;
using attention::Matrix;
using attention::Status;

namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
using Places = Eigen::Matrix<Index, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Fills in the detectors and strongest weights of all heads.
void observe(const PairStudy& pair, const MapScores& ofMaps, StudiedHeads& out, const std::stop_token& stop) {
  const attention::ModelConfig& config = pair.opened->config();
  const Index layers = config.layerCount(), heads = config.heads;
  attention::HeadText text(pair.a.text.tokens, pair.keyTokens(pair.a), false, 0,
                           pair.opened->isCrossAttention);
  text.compareIds(pair.a.text.ids, pair.keyIds(pair.a));
  const auto all = attention::allDetectors();
  out.detectors.assign(all.size(), Matrix::Constant(layers, heads, kMissing));
  out.overAllRows.assign(all.size(), {});
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (isOfDetectHead(*all[i])) out.overAllRows[i] = out.detectors[i];
    if (i < ofMaps.size() && ofMaps[i].size() > 0) out.detectors[i] = ofMaps[i];
  }
  out.strongest = Matrix::Constant(layers, heads, kMissing);
  out.query = out.key = Places::Constant(layers, heads, -1);
  for (Index layer = 0; layer < layers && !stop.stop_requested(); ++layer) {
    const attention::LayerResult& made = *pair.a.run->layers[asSize(layer)];
    const MarkedMask mask(made.mask.formula);
    for (Index head = 0; head < heads; ++head) {
      const attention::MatrixView weights = made.weights[head];
      const Matrix& marks = mask.of(head);
      const auto profile =
          attention::profileHead({weights, {marks.data(), marks.rows(), marks.cols()}, text});
      for (std::size_t i = 0; i < all.size(); ++i)
        if (const attention::DetectorScore& score = profile.scores[i]; score.rows > 0) {
          out.detectors[i](layer, head) = score.raw;
          if (isOfDetectHead(*all[i])) out.overAllRows[i](layer, head) = overAllRows(score, weights.rows());
        }
      // Key 0 is left out: heads with nothing to attend to look there.
      for (Index query = 0; query < weights.rows(); ++query)
        for (Index key = 1; key < std::min(query, weights.cols()); ++key)
          if (!(weights(query, key) <= out.strongest(layer, head))) {
            out.strongest(layer, head) = weights(query, key);
            out.query(layer, head) = query, out.key(layer, head) = key;
          }
    }
  }
}

/// A run whose heads write only their values' biases, if these count with the attention's; null if none has
/// one. Switched off, a head writes what it writes there.
std::shared_ptr<const attention::PassResult> onlyBiases(const PairStudy& pair,
                                                        attention::ValueBiases biases) {
  const attention::Model& model = pair.model();
  const attention::ModelConfig& config = model.config();
  const auto biased = [&](const attention::LayerWeights& weights) {
    return attention::wholeValueBias(config, weights, weights, 0).size() > 0;
  };
  if (biases == attention::ValueBiases::withHeads || std::ranges::none_of(model.weights().layers, biased))
    return nullptr;
  auto run = std::make_shared<attention::PassResult>();
  for (Index layer = 0; layer < config.layerCount(); ++layer) {
    const attention::LayerWeights& weights = model.weights().layers[asSize(layer)];
    auto made = std::make_shared<attention::LayerResult>();
    made->layer = layer;
    made->headOutput = attention::Stack(config.heads, pair.a.tokens(), config.valueDim());
    for (Index head = 0; head < config.heads; ++head) {
      const attention::Vector bias = attention::wholeValueBias(config, weights, weights, head);
      made->headOutput[head].setZero();
      if (bias.size() > 0) made->headOutput[head].rowwise() = bias.transpose();
    }
    run->layers.push_back(std::move(made));
  }
  return run;
}

/// Fills in the rise of the answer's loss without each head.
Status ablate(const PairStudy& pair, attention::ValueBiases biases, StudiedHeads& out,
              const std::stop_token& stop) {
  const attention::ModelConfig& config = pair.opened->config();
  const double own = surprise(pair.a.run->logits.row(0), pair.answers.id);
  out.loss = Matrix::Constant(config.layerCount(), config.heads, kMissing);
  const Index together = runsPerPass(pair.a);
  const auto without = onlyBiases(pair, biases);
  for (Index layer = 0; layer < config.layerCount(); ++layer)
    for (Index first = 0; first < config.heads; first += together) {
      std::vector<std::vector<attention::Patch>> runs;
      for (Index head = first; head < std::min(first + together, config.heads); ++head)
        runs.push_back(
            {without ? attention::Patch{.layer = layer, .head = head, .by = attention::TakenFrom{without}}
                     : attention::Patch{.layer = layer, .head = head}});
      const auto logits = patchedLogits(*pair.opened, pair.a, std::move(runs), stop);
      if (!logits) return logits.error();
      for (Index i = 0; i < logits->rows(); ++i)
        out.loss(layer, first + i) = static_cast<float>(surprise(logits->row(i), pair.answers.id) - own);
    }
  return attention::success();
}

Status attribute(const PairStudy& pair, attention::ValueBiases biases, StudiedHeads& out,
                 const std::stop_token& stop) {
  const auto found =
      attention::attributeLogit(pair.model(), *pair.a.run, pair.a.tokens() - 1, pair.answers, biases, stop);
  if (!found) return found.error();
  out.attribution = Matrix::Zero(pair.opened->config().layerCount(), pair.opened->config().heads);
  for (const attention::Contribution& part : found->parts)
    if (part.by == attention::Writer::head)
      out.attribution(part.layer, part.head) = static_cast<float>(part.value);
  return attention::success();
}

Status measure(const Setup& setup, const TextMeasures& measures, const MapScores& ofMaps,
               Resources& resources, const std::stop_token& stop, StudiedHeads& out) {
  PairQuestion question;
  if (const Status status = readAnswers(*setup.subject.opened, out, question); !status) return status;
  Setup own = setup;
  comparedText(own) = out.asked.text + out.shared;
  question.text = modelQuestion(own);
  if (!out.asked.other.empty()) question.other = out.asked.other + out.shared;
  auto studied = studyPair(question, resources, stop);
  if (!studied) return studied.error();
  const auto pair = std::make_shared<const PairStudy>(*std::move(studied));
  if (const Status status = describeAnswers(*pair, out, stop); !status) return status;
  out.difference = pair->a.difference;
  out.otherDifference = pair->b ? pair->b->difference : std::numeric_limits<double>::quiet_NaN();
  for (const attention::Token& token : pair->a.text.tokens) out.tokens.push_back(token.text);
  out.ids = pair->a.text.ids;
  if (measures.detectors) observe(*pair, ofMaps, out, stop);
  if (measures.loss)
    if (const Status status = ablate(*pair, measures.biases, out, stop); !status) return status;
  if (measures.attribution)
    if (const Status status = attribute(*pair, measures.biases, out, stop); !status) return status;
  if (!measures.patch || !pair->b) return attention::success();
  const PatchGridQuestion patches{{pair, false}, measures.piece};
  const auto grid = computePatchGrid(
      patches, [] { return Index{0}; }, [](const PatchGrid&) {}, stop);
  if (!grid) return grid.error();
  out.patchPerHead = !patches.columnsAreTokens() && patches.columns() == pair->opened->config().heads;
  out.patch = grid->recovered;
  return attention::success();
}

}  // namespace

StudiedHeads studyText(const Setup& setup, const StudiedText& text, const TextMeasures& measures,
                       Resources& resources, std::stop_token stop, const MapScores& ofMaps) {
  StudiedHeads out;
  out.asked = text;
  if (const Status status = measure(setup, measures, ofMaps, resources, stop, out); !status)
    out.problem = status.error().message;
  return out;
}

std::vector<std::pair<std::string, const Matrix*>> columnsOf(const StudiedHeads& text) {
  std::vector<std::pair<std::string, const Matrix*>> columns;
  const auto all = attention::allDetectors();
  for (std::size_t i = 0; i < text.detectors.size(); ++i)
    columns.emplace_back(std::string(all[i]->name), &text.detectors[i]);
  for (std::size_t i = 0; i < text.overAllRows.size(); ++i)
    if (text.overAllRows[i].size() > 0)
      columns.emplace_back(std::string(all[i]->name) + kOverAllRows, &text.overAllRows[i]);
  for (const auto& [name, matrix] :
       {std::pair("loss", &text.loss), {"attribution", &text.attribution}, {"patch", &text.patch}})
    if (matrix->size() > 0) columns.emplace_back(name, matrix);
  return columns;
}

TextSummary::Sums& TextSummary::sumsOf(const std::string& name) {
  const auto found = std::ranges::find_if(all_, [&](const Sums& sums) { return sums.column.name == name; });
  if (found != all_.end()) return *found;
  Sums& made = all_.emplace_back();
  HeadColumn& column = made.column;
  column.name = column.title = name;
  for (const attention::Detector* detector : attention::allDetectors())
    if (detector->name == name) column.title = detector->title;
  for (const auto& [other, title] : {std::pair("loss", "loss without it"), {"patch", "patching effect"}})
    if (name == other) column.title = title;
  column.mean = column.spread = Matrix::Zero(layers_, heads_);
  column.most = Places::Constant(layers_, heads_, -1);
  column.texts = Places::Zero(layers_, heads_);
  made.most = Matrix::Constant(layers_, heads_, kMissing);
  return made;
}

void TextSummary::add(Index at, const StudiedHeads& text) {
  for (const auto& [name, values] : columnsOf(text)) {
    if (values == &text.patch && !text.patchPerHead) continue;
    Sums& sums = sumsOf(name);
    HeadColumn& column = sums.column;
    for (Index cell = 0; cell < values->size(); ++cell) {
      const float value = values->data()[cell];
      if (!std::isfinite(value)) continue;
      // Welford 1962: updates the mean and the sum of squared deviations.
      const Index count = ++column.texts.data()[cell];
      float& mean = column.mean.data()[cell];
      const float before = value - mean;
      mean += before / static_cast<float>(count);
      column.spread.data()[cell] += before * (value - mean);
      if (float& most = sums.most.data()[cell]; !(value <= most)) {
        most = value;
        column.most.data()[cell] = at;
      }
    }
  }
}

std::vector<HeadColumn> TextSummary::columns() const {
  std::vector<HeadColumn> columns;
  for (const Sums& sums : all_) {
    HeadColumn& column = columns.emplace_back(sums.column);
    for (Index cell = 0; cell < column.mean.size(); ++cell) {
      const Index count = column.texts.data()[cell];
      column.spread.data()[cell] =
          count > 0 ? std::sqrt(column.spread.data()[cell] / static_cast<float>(count)) : kMissing;
      if (count == 0) column.mean.data()[cell] = kMissing;
    }
  }
  return columns;
}

std::vector<HeadColumn> summariseTexts(const std::vector<StudiedHeads>& texts, Index layers, Index heads) {
  TextSummary summary(layers, heads);
  for (Index i = 0; i < std::ssize(texts); ++i) summary.add(i, texts[asSize(i)]);
  return summary.columns();
}

}  // namespace headscope::app
