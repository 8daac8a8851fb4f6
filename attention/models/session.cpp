#include "attention/models/session.h"

#include <fmt/core.h>

#include <algorithm>

#include "attention/core/saturating.h"
#include "attention/core/stopped.h"
#include "attention/models/block.h"

namespace headscope::attention {
namespace {

bool contains(const std::optional<std::vector<Index>>& list, Index value) {
  return !list || std::find(list->begin(), list->end(), value) != list->end();
}

/// The weights of the heads asked for; those of all without a copy.
Stack chosenHeads(Stack weights, const std::optional<std::vector<Index>>& heads) {
  if (!heads || weights.empty()) return weights;
  Stack some = Stack::uninitialized(static_cast<Index>(heads->size()), weights.rows(), weights.cols());
  for (Index i = 0; i < some.count(); ++i) some[i] = weights[(*heads)[static_cast<std::size_t>(i)]];
  return some;
}

std::shared_ptr<const LayerResult> keep(Index layer, bool asked, const PassRequest& request,
                                        LayerAttention&& attention, AttentionResult&& computed,
                                        Matrix&& between, const Matrix& stream) {
  auto result = std::make_shared<LayerResult>();
  result->layer = layer;
  result->config = attention.config;
  if (!asked) return result;
  result->mask = std::move(attention.mask);
  if (request.projections) {
    result->q = std::move(computed.q);
    result->k = std::move(computed.k);
    result->v = std::move(computed.v);
    result->headOutput = std::move(computed.headOutput);
  }
  if (request.weights) result->weights = chosenHeads(std::move(computed.weights), request.heads);
  result->between = std::move(between);
  if (request.hidden) result->hidden = stream;
  return result;
}

/// One table for each of the model's rotations.
std::vector<Matrix> rotationTables(const ModelConfig& config, PassRows rows, Index textTokens) {
  std::vector<Matrix> tables;
  for (const Rotation& rotation : config.rotations)
    tables.push_back(rotationTable(rotation, rows.first, rows.count, textTokens));
  return tables;
}

}  // namespace

std::uint64_t passBytes(const ModelConfig& config, Index tokens, const PassRequest& request) {
  const Index n = tokens, bytes = sizeof(float), keys = config.kvHeads * config.headDim;
  const Index queries = config.heads * config.headDim;
  const auto layers = request.layers ? std::ssize(*request.layers) : config.layerCount();
  const auto heads = request.heads ? std::ssize(*request.heads) : config.heads;
  const Index rows = request.logits == LogitRows::all ? n : request.logits == LogitRows::last ? 1 : 0;
  const auto product = [&](Index a, Index b, Index c) { return saturatingProduct({a, b, c, bytes}); };
  std::uint64_t sum = saturatingSum({product(2 * config.layerCount(), keys, n),  // cached keys and values
                                     product(2, rows, config.vocabulary)});
  // One layer at work: the stream and its norms, projections, the MLP's inner rows, all heads' weights.
  sum = saturatingSum({sum, product(4, config.modelDim, n), product(2, queries + keys, n),
                       product(2, config.innerDim, n),
                       request.weights && layers > 0 ? product(config.heads, n, n) : 0});
  if (request.weights) sum = saturatingSum({sum, product(layers * heads, n, n)});
  if (request.projections) sum = saturatingSum({sum, product(layers, 2 * (queries + keys), n)});
  if (request.hidden) sum = saturatingSum({sum, product(layers + 1, config.modelDim, n)});
  if (request.between) sum = saturatingSum({sum, product(layers, config.modelDim, n)});
  return sum;
}

ModelSession::ModelSession(std::shared_ptr<const Model> model) : model_(std::move(model)) {
  for (Index layer = 0; layer < model_->config().layerCount(); ++layer)
    caches_.emplace_back(model_->config().attention(layer), 0);
}

void ModelSession::truncate(Index length) {
  require(length >= 0 && length <= this->length(),
          fmt::format("a text of {} tokens can't be cut to {}", this->length(), length));
  tokens_.resize(static_cast<std::size_t>(length));
  for (KvCache& cache : caches_) cache.truncate(std::min(length, cache.length()));
}

void ModelSession::reserve(Index tokens) {
  for (KvCache& cache : caches_) cache.reserve(tokens);
}

Status ModelSession::checkRequest(const PassRequest& request) const {
  const auto check = [](const std::optional<std::vector<Index>>& asked, Index count, const char* what) {
    for (const Index i : asked.value_or(std::vector<Index>()))
      if (i < 0 || i >= count)
        return Status(Error{fmt::format("{} {} is asked for, this model has 0 to {}", what, i, count - 1)});
    return success();
  };
  const ModelConfig& config = model_->config();
  if (request.depth && (*request.depth < 1 || *request.depth > config.layerCount()))
    return Error{
        fmt::format("{} layers are asked for, this model has {}", *request.depth, config.layerCount())};
  if (const Status status = check(request.layers, config.layerCount(), "layer"); !status) return status;
  return check(request.heads, config.heads, "head");
}

Result<PassResult> ModelSession::append(std::span<const Index> ids, const PassRequest& request,
                                        std::stop_token stop) {
  require(!ids.empty(), "a pass over no tokens");
  if (const Status status = checkRequest(request); !status) return status.error();
  if (const Status status = model_->checkTokens(ids, length()); !status) return status.error();
  const Index before = length(), count = static_cast<Index>(ids.size()), after = before + count;
  // Twice the room where a text grows token by token, so that keys are copied once in a while.
  if (after > caches_.front().capacity()) reserve(before == 0 ? after : std::max(after, 2 * before));
  if (const Status status = fillCaches(after, request, stop); !status) return status.error();
  tokens_.insert(tokens_.end(), ids.begin(), ids.end());
  try {
    auto result = run({before, count}, after, request, stop);
    const bool partial = request.depth && *request.depth < model_->config().layerCount();
    if (!result || partial) truncate(before);
    return result;
  } catch (...) {
    truncate(before);
    throw;
  }
}

Index ModelSession::cachedRows() const {
  Index rows = length();
  for (const KvCache& cache : caches_) rows = std::min(rows, cache.length());
  return rows;
}

Status ModelSession::fillCaches(Index textTokens, const PassRequest& request, const std::stop_token& stop) {
  const auto& rotations = model_->config().rotations;
  const bool anew = std::any_of(rotations.begin(), rotations.end(), [&](const Rotation& rotation) {
    return rotation.changes(rotatedFor_, textTokens);
  });
  const Index cached = anew ? 0 : cachedRows();
  for (KvCache& cache : caches_) cache.truncate(cached);
  rotatedFor_ = textTokens;
  if (cached == length()) return success();
  const PassRequest unseen{.layers = std::vector<Index>(),
                           .heads = {},
                           .logits = LogitRows::none,
                           .depth = {},
                           .edits = request.edits,
                           .structure = {},
                           .unpadded = {},
                           .sequence = request.sequence,
                           .sources = request.sources,
                           .onLayer = {}};
  const auto filled = run({cached, length() - cached}, textTokens, unseen, stop);
  return filled ? success() : Status(filled.error());
}

Result<PassResult> ModelSession::run(PassRows rows, Index textTokens, const PassRequest& request,
                                     const std::stop_token& stop) {
  const ModelConfig& config = model_->config();
  const auto text = std::span<const Index>(tokens_).first(static_cast<std::size_t>(rows.tokens()));
  PassResult result;
  Matrix x = model_->embed(text, rows.first);
  if (request.hidden) result.embedded = x;
  const std::vector<Matrix> tables = rotationTables(config, rows, textTokens);
  const TextStructure structure =
      request.structure ? *request.structure : structureOf(rows.tokens(), rows.tokens(), {});
  LayerAttentions attentions(config, request.edits, rows,
                             {structure, request.unpadded.value_or(rows.tokens()), request.sequence},
                             request.sources);
  const Index depth = request.depth.value_or(config.layerCount());
  for (Index layer = 0; layer < depth; ++layer) {
    const auto i = static_cast<std::size_t>(layer);
    auto attention = attentions.of(layer);
    if (!attention) return attention.error();
    const bool asked = contains(request.layers, layer);
    const auto& rotation = config.layers[i].rotation;
    Matrix between;
    const Block block{config,
                      model_->weights().layers[i],
                      *attention,
                      rotation ? &tables[static_cast<std::size_t>(*rotation)] : nullptr,
                      asked && request.weights ? Keep::weights : Keep::output,
                      stop,
                      asked && request.between ? &between : nullptr};
    AttentionResult computed = block.run(x, caches_[i]);
    if (stop.stop_requested()) return stopped();
    if (const Status status = model_->checkpoint().intact(); !status)
      return Error{fmt::format("{} (stopped at layer {})", status.error().message, layer)};
    auto kept =
        keep(layer, asked, request, std::move(*attention), std::move(computed), std::move(between), x);
    if (asked) result.layers.push_back(kept);
    if (request.onLayer) request.onLayer(kept);
  }
  if (request.logits != LogitRows::none && depth == config.layerCount())
    result.logits = model_->logits(request.logits == LogitRows::all ? x : x.bottomRows(1), stop);
  if (stop.stop_requested()) return stopped();
  if (const Status status = model_->checkpoint().intact(); !status) return status.error();
  result.stream = std::move(x);
  return result;
}

}  // namespace headscope::attention
