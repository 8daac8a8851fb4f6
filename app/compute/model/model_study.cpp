#include "app/compute/model/model_study.h"

#include <fmt/core.h>

#include "app/compute/layer/layer_stack.h"
#include "app/compute/model/passes.h"
#include "app/scene/text/number_text.h"
#include "attention/core/extremes.h"
#include "attention/heads/head_views.h"

namespace headscope::app {

using attention::Error;
using attention::LayerResult;
using attention::Matrix;
using attention::PassRequest;
using attention::Result;
using attention::Stack;
using attention::Vector;

namespace {

constexpr Index kBands = 16;

/// Draws each head's keys and values per token. Each band shows the value farthest from 0 of its dimensions.
Stack drawCache(const attention::ModelSession& session, Index bands) {
  const attention::ModelConfig& config = session.model().config();
  const Index n = session.length();
  Stack picture(2, config.layerCount() * config.kvHeads, n * bands);
  picture[0].setZero();
  picture[1].setZero();
  for (Index layer = 0; layer < config.layerCount(); ++layer)
    for (Index g = 0; g < config.kvHeads; ++g)
      for (Index part = 0; part < 2; ++part) {
        const attention::KvCache& cache = session.cache(layer);
        const Matrix values = part == 0 ? cache.keys(g) : cache.values(g);
        auto row = picture[part].row(layer * config.kvHeads + g);
        for (Index token = 0; token < n; ++token)
          for (Index d = 0; d < values.cols(); ++d) {
            float& cell = row(token * bands + d * bands / values.cols());
            cell = attention::stronger(cell, values(token, d));
          }
        if (const float most = attention::largestFinite(row); most > 0) row /= most;
      }
  return picture;
}

std::uint64_t bytesOf(const ModelStudy& study) {
  Index floats = study.embedded.size() + study.lastLogits.size() + study.cache.size();
  for (const auto& layer : study.layers)
    floats += layer->weights.size() + 2 * layer->thumbnails.size() + layer->hidden.size() +
              layer->headOutput.size();
  return static_cast<std::uint64_t>(floats) * sizeof(float);
}

}  // namespace

ModelQuestion modelQuestion(const Setup& setup, Index sequence) {
  ModelQuestion question{setup};
  if (isStack(setup)) {
    question.sequence = sequence;
    question.setup.subject.layer = 0;
    question.setup.prefill = 1;
    question.setup.mask.compare = false;
    question.setup.mask.other = {};
    return question;
  }
  Setup& asked = question.setup;
  asked.prefill = 1;
  asked.mask.compare = false;
  asked.mask.other = {};
  asked.weights = {};
  asked.weights.seed = setup.weights.seed;  // dropout uses it
  if (!setup.subject.opened || !setup.subject.opened->sources) asked.input.contextText = {};
  asked.input.table = {};
  if (asked.subject.scope == EditScope::all || !changesModel(setup)) asked.subject.layer = 0;
  return question;
}

ModelQuestion unchangedQuestion(const Setup& setup) {
  Setup plain;
  plain.subject = setup.subject;
  plain.subject.layer = 0;
  plain.subject.switchedOff.clear();
  plain.input.text = setup.input.text;
  if (setup.subject.opened && setup.subject.opened->sources)
    plain.input.contextText = setup.input.contextText;
  plain.mask = {};
  plain.model.position = PositionKind::none;
  return {std::move(plain)};
}

Index ModelRunner::keptTokens(const ModelQuestion& question, const ModelText& text) const {
  if (!question_ || !session_) return 0;
  const Setup& setup = question.setup;
  const bool local = !isStack(setup) && setup.model.dropout == 0 && !readsLaterTokens(setup);
  ModelQuestion before = *question_;
  if (!setup.subject.opened || !setup.subject.opened->sources)  // else the encoder reads another text
    before.setup.input.text = setup.input.text;
  before.setup.subject.written = setup.subject.written;
  if (!local || !(before == question)) return 0;
  const std::vector<Index>& old = session_->tokens();
  const auto same = std::mismatch(old.begin(), old.end(), text.ids.begin(), text.ids.end()).first;
  // The last token is recomputed for its logits.
  return std::min<Index>(same - old.begin(), std::ssize(text.ids) - 1);
}

namespace {

/// Reserves memory for all heads of all layers. Returns an Error if it isn't free.
attention::Status reserve(ModelStudy& study, const PassRequest& request, Resources& resources,
                          const std::stop_token& stop) {
  const attention::ModelConfig& config = study.opened->config();
  const Index n = study.tokens();
  if (n > kMaxTokens)
    return Error{
        fmt::format("The text has {} tokens; all layers at once are shown for at most {}. View one head on "
                    "Map, or shorten it.",
                    n, kMaxTokens)};
  const std::uint64_t needed = passBytes(config, n, request);
  study.memory = resources.memory.reserve(needed, stop);
  if (stop.stop_requested()) return Error{"stopped"};
  if (study.memory) return attention::success();
  return overBudget(
      fmt::format("All {} heads of {} layers on {} tokens would need", config.heads, config.layerCount(), n),
      needed, resources.memory, "Use a shorter text.");
}

/// The masks of a pass's layers over the whole text, recomputed only if a layer's differs from the previous
/// layer's.
class WholeMasks {
 public:
  WholeMasks(const attention::ModelConfig& config, Index tokens, Index keys, Index kept)
      : config_(config), tokens_(tokens), keys_(keys), kept_(kept) {}

  const MarkedMask& of(const LayerResult& layer) {
    if (kept_ == 0) {
      if (!mask_ || mask_->formula != layer.mask.formula) mask_.emplace(layer.mask.formula);
    } else if (const std::string text = config_.maskText(layer.layer); !mask_ || text != text_) {
      // A pass over the last rows has masks for those rows only. With kept tokens, the only mask is the
      // model's own.
      attention::MaskGeometry geometry;
      geometry.queries = tokens_;
      geometry.keys = geometry.keyLength = keys_;
      geometry.cross = config_.cross();
      geometry.heads = config_.heads;
      geometry.kvHeads = config_.kvHeads;
      mask_.emplace(*attention::compileMask(attention::parseMask(text).layers, geometry));
      text_ = text;
    }
    return *mask_;
  }

 private:
  const attention::ModelConfig& config_;
  const Index tokens_, keys_, kept_;
  std::optional<MarkedMask> mask_;
  std::string text_;
};

}  // namespace

attention::HeadText headTextOf(const ModelStudy& study, Index firstPosition) {
  attention::HeadText text(study.queryTokens(), study.keyTokens(), false, firstPosition,
                           study.opened->isCrossAttention);
  // Without a tokenizer, ids only number the tokens.
  if (study.opened->tokenizer && !study.opened->recorded)
    text.compareIds(study.text.ids, study.otherKeys.empty() ? study.text.ids : study.text.sourceIds);
  return text;
}

attention::Status ModelRunner::pass(ModelStudy& study, PassRequest request, Index kept,
                                    const OnLayer& onLayer, const std::stop_token& stop) {
  const attention::Model& model = *study.opened->model;
  const auto ids = std::span<const Index>(study.text.ids).subspan(static_cast<std::size_t>(kept));
  const attention::HeadText headText = headTextOf(study, 0);
  WholeMasks masks(model.config(), study.tokens(), study.keys(), kept);
  Matrix in = model.embed(study.text.ids, kept);
  study.embedded = joined(&embedded_, kept, in);
  request.onLayer = [&](const std::shared_ptr<const LayerResult>& layer) {
    if (stop.stop_requested()) return;
    const LayerSummary* before = kept > 0 ? layers_[static_cast<std::size_t>(layer->layer)].get() : nullptr;
    study.layers.push_back(summarise({*layer, before, kept, in}, masks.of(*layer), headText, stop));
    in = layer->hidden;
    if (onLayer) onLayer(layer->layer, study.layers.back());
  };
  auto result = session_->append(ids, request, stop);
  if (stop.stop_requested()) return Error{"stopped"};
  if (!result) return result.error();
  study.lastLogits = std::move(result->logits);
  study.bands = std::min(model.config().headDim, kBands);
  study.cache = drawCache(*session_, study.bands);
  study.bytes = bytesOf(study);
  const bool finite = std::ranges::all_of(study.layers, [](const auto& layer) {
    return layer->hidden.allFinite() && attention::allFinite(layer->weights);
  });
  if (isStack(study.question.setup) || (finite && study.lastLogits.allFinite())) return attention::success();
  study.notFinite = modelFault(*study.opened, study.text.ids,
                               {.layers = model.config().layerCount(), .head = finite}, stop);
  return attention::success();
}

namespace {

/// Removes the padding after the text of a shorter line.
void leavePaddingOut(ModelText& text) {
  const auto own = static_cast<std::size_t>(text.typed);
  text.ids.resize(own);
  text.tokens.resize(own);
  text.spans.resize(own);
}

}  // namespace

void addRollout(ModelStudy& study, const std::stop_token& stop) {
  if (!study.opened->picture || study.opened->picture->tokenCount() != study.tokens()) return;
  attention::Rollout rollout;
  for (const auto& layer : study.layers) {
    if (stop.stop_requested()) return;
    rollout.add(layer->weights);
    study.rollout.push_back(rollout.matrix());
    study.bytes += static_cast<std::uint64_t>(study.rollout.back().size()) * sizeof(float);
  }
}

Result<ModelStudy> ModelRunner::run(const ModelQuestion& question, Resources& resources,
                                    const OnLayer& onLayer, std::stop_token stop) {
  const auto start = std::chrono::steady_clock::now();
  const Setup& setup = question.setup;
  if (setup.subject.opened && setup.subject.opened->recorded)
    return studyRecorded(question, resources, onLayer, stop);
  Result<ModelRun> run = prepareRun(setup, question.sequence, resources, stop);
  if (!run) return run.error();
  ModelStudy study;
  study.question = question;
  study.opened = run->opened;
  study.text = std::move(run->text);
  if (study.opened && study.opened->config().cross()) study.otherKeys = study.text.source;
  if (isStack(setup)) leavePaddingOut(study.text);
  if (study.tokens() == 0) return study;
  PassRequest& request = run->request;
  request.projections = request.hidden = request.between = true;
  if (const auto room = reserve(study, request, resources, stop); !room) return room.error();

  const Index kept = keptTokens(question, study.text);
  if (kept == 0)
    session_ = std::make_unique<attention::ModelSession>(study.opened->model);
  else
    session_->truncate(kept);
  question_.reset();  // invalid until the pass is done
  if (const auto done = pass(study, std::move(request), kept, onLayer, stop); !done) return done.error();
  addRollout(study, stop);
  study.memory = resources.memory.count(study.bytes);
  if (isStack(setup)) std::ranges::fill(study.text.ids, Index{-1});
  layers_ = study.layers;
  embedded_ = study.embedded;
  question_ = question;
  study.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return study;
}

Result<StreamStudy> studyStreams(const ModelQuestion& question, Resources& resources, std::stop_token stop) {
  const Setup& setup = question.setup;
  Result<ModelRun> run = prepareRun(setup, question.sequence, resources, stop);
  if (!run) return run.error();
  StreamStudy study{question, {}};
  if (run->text.ids.empty()) return study;
  run->request.weights = false;
  run->request.hidden = true;
  run->request.logits = attention::LogitRows::none;
  attention::ModelSession session(run->opened->model);
  auto pass = session.append(run->text.ids, run->request, stop);
  if (!pass) return pass.error();
  study.streams.push_back(std::move(pass->embedded));
  for (const auto& layer : pass->layers) study.streams.push_back(layer->hidden);
  return study;
}

// Compares two studies of one text each, head by head.

namespace {

/// Numbers words so that equal words of both lists get equal numbers.
class Words {
 public:
  std::vector<Index> numbers(const std::vector<attention::Token>& tokens) {
    std::vector<Index> ids;
    for (const attention::Token& token : tokens)
      ids.push_back(known_.try_emplace(token.text, static_cast<Index>(known_.size())).first->second);
    return ids;
  }

 private:
  std::map<std::string, Index> known_;
};

}  // namespace

PartnersInB partnersInB(const ModelStudy& a, const ModelStudy& b, std::span<const attention::TokenTie> ties) {
  if (!a.opened->recorded) {
    auto with = attention::alignTokens(a.text.ids, b.text.ids, ties).otherOfText;
    if (!a.opened->config().cross()) return {with, with};
    return {with, attention::alignTokens(a.text.sourceIds, b.text.sourceIds, {}).otherOfText};
  }
  Words words;
  const auto align = [&](const auto& of, const auto& with) {
    const auto ids = words.numbers(of), others = words.numbers(with);
    return attention::alignTokens(ids, others, ties).otherOfText;
  };
  return {align(a.queryTokens(), b.queryTokens()), align(a.text.tokens, b.text.tokens)};
}

Result<std::vector<std::shared_ptr<const LayerSummary>>> comparedLayers(
    const ModelStudy& a, const ModelStudy& b, std::span<const attention::TokenTie> ties, bool difference,
    std::stop_token stop) {
  const attention::ModelConfig &own = a.opened->config(), &other = b.opened->config();
  if (own.layerCount() != other.layerCount() || own.heads != other.heads)
    return Error{fmt::format("B has {} of {}, A has {} of {}; both need the same numbers",
                             countedText(other.layerCount(), "layer"), countedText(other.heads, "head"),
                             countedText(own.layerCount(), "layer"), countedText(own.heads, "head"))};
  const PartnersInB with = partnersInB(a, b, ties);
  const Index before = a.opened->isCrossAttention ? 0 : a.tokens() - a.queries();
  const attention::HeadText text = headTextOf(a, before);
  std::vector<std::shared_ptr<const LayerSummary>> layers;
  for (std::size_t i = 0; i < a.layers.size(); ++i) {
    layers.push_back(comparedLayer(*a.layers[i], *b.layers[i], with, difference, text, stop));
    if (stop.stop_requested()) return Error{"stopped"};
  }
  return layers;
}

}  // namespace headscope::app
