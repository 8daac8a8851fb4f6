#include "attention/models/session.h"

#include <fmt/core.h>

namespace headscope::attention {
namespace {

bool contains(const std::optional<std::vector<Index>>& list, Index value) {
  return !list || std::find(list->begin(), list->end(), value) != list->end();
}

/// The patches of each run, at least one: the shared ones, then its own.
std::vector<std::vector<Patch>> patchesOf(const PassRequest& request) {
  std::vector<std::vector<Patch>> runs(std::max<std::size_t>(1, request.runs.size()), request.patches);
  for (std::size_t run = 0; run < request.runs.size(); ++run)
    runs[run].insert(runs[run].end(), request.runs[run].begin(), request.runs[run].end());
  return runs;
}

/// The first layer that any run patches; `layers` if none does.
Index firstChanged(const PassRequest& request, Index layers) {
  Index first = layers;
  for (const std::vector<Patch>& run : request.runs)
    for (const Patch& patch : run) first = std::min(first, patch.layer);
  return first;
}

/// Row `row` of each run of n rows.
Matrix rowOfEach(const Matrix& x, Index row, Index n) {
  Matrix rows(x.rows() / n, x.cols());
  for (Index run = 0; run < rows.rows(); ++run) rows.row(run) = x.row(run * n + row);
  return rows;
}

std::vector<RecurrentState> newStates(const LayerKind& kind) {
  return std::vector<RecurrentState>(kind.before.size() + kind.after.size() + (kind.recurs ? 1 : 0));
}

/// One table per rotation of the model.
std::vector<Matrix> rotationTables(const ModelConfig& config, PassRows rows, Index textTokens) {
  std::vector<Matrix> tables;
  for (const Rotation& rotation : config.rotations)
    tables.push_back(rotationTable(rotation, rows.first, rows.count, textTokens));
  return tables;
}

/// The decoder attention that isn't inspected, as in the checkpoint: no edit applies to it.
class OtherAttentions {
 public:
  OtherAttentions(const ModelConfig& config, PassRows rows, const TextStructure& structure)
      : config_(config.reads() ? config.withOtherHeads() : ModelConfig()),
        attentions_(config_, none_, rows, {structure, rows.tokens(), 0}, sources_) {}

  Result<LayerAttention> of(Index layer) {
    return config_.reads() ? attentions_.of(layer) : Result<LayerAttention>(LayerAttention());
  }

 private:
  const ModelConfig config_;
  const std::vector<AttentionEdit> none_;
  const MaskSources sources_;
  LayerAttentions attentions_;
};

}  // namespace

std::uint64_t passBytes(const ModelConfig& config, Index tokens, const PassRequest& request) {
  const Index runs = std::max<Index>(1, std::ssize(request.runs));
  const Index most = std::numeric_limits<Index>::max();
  const Index n = tokens > most / runs ? most : tokens * runs, bytes = sizeof(float),
              keys = config.kvHeads * config.headDim;
  const Index queries = config.heads * config.headDim;
  const auto layers = request.layers ? std::ssize(*request.layers) : config.layerCount();
  const auto heads = request.heads ? std::ssize(*request.heads) : config.heads;
  const Index read = config.reads() && request.memory ? request.memory->rows() : 0;
  const Index seen = config.cross() ? read : tokens;
  const Index rows = request.logits == LogitRows::all ? n : request.logits == LogitRows::last ? runs : 0;
  const auto product = [&](Index a, Index b, Index c) { return saturatingProduct({a, b, c, bytes}); };
  std::uint64_t sum =
      saturatingSum({product(2 * config.layerCount(), keys, n),  // cached keys and values
                     product(2 * config.layerCount(), keys, read), product(2, rows, config.vocabulary)});
  // One layer in progress: the stream and its norms, projections, the MLP's inner rows, all heads' weights.
  sum = saturatingSum(
      {sum, product(4, config.modelDim, n), product(2, queries + keys, n),
       product(2, std::max({config.innerDim, config.mixture.innerDim, config.mixture.sharedDim}), n),
       request.weights && layers > 0 ? product(config.heads, n, seen) : 0});
  if (request.weights) sum = saturatingSum({sum, product(layers * heads, n, seen)});
  if (request.projections) sum = saturatingSum({sum, product(layers, 2 * (queries + keys), n)});
  const Recurrence& recurrence = config.recurrence;
  const bool hybrid = recurrence.kind != Recurrence::Kind::none;
  if (hybrid)  // its widest rows, and the stream on both sides of each attention
    sum = saturatingSum(
        {sum, product(4, recurrence.heads * recurrence.headDim + 2 * recurrence.groups * recurrence.state, n),
         request.hidden ? product(2 * layers, config.modelDim, n) : 0,
         request.projections && config.gatedHeads ? product(layers, queries, n) : 0});
  if (request.hidden) sum = saturatingSum({sum, product(layers + 1, config.modelDim, n)});
  if (request.projections && config.reads()) sum = saturatingSum({sum, product(layers, queries, n)});
  if (request.input) sum = saturatingSum({sum, product(layers, config.modelDim, n)});
  if (request.between) sum = saturatingSum({sum, product(layers, config.modelDim, n)});
  if (request.mlp) sum = saturatingSum({sum, product(layers, config.modelDim, n)});
  return sum;
}

Result<std::shared_ptr<const Matrix>> encoded(const std::shared_ptr<const Model>& encoder,
                                              std::span<const Index> ids, std::stop_token stop) {
  PassRequest request;
  request.layers = std::vector<Index>();
  request.logits = LogitRows::none;
  ModelSession session(encoder);
  auto pass = session.append(ids, request, std::move(stop));
  if (!pass) return pass.error();
  return std::make_shared<const Matrix>(encoder->finalNorm(pass->stream));
}

ModelSession::ModelSession(std::shared_ptr<const Model> model) : model_(std::move(model)) {
  for (Index layer = 0; layer < model_->config().layerCount(); ++layer)
    caches_.emplace_back(model_->config().attention(layer), 0);
  if (model_->config().reads()) sources_.resize(caches_.size());
  for (const LayerKind& kind : model_->config().layers) states_.push_back(newStates(kind));
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

Result<std::shared_ptr<const Matrix>> ModelSession::memoryOf(const PassRequest& request) const {
  const ModelConfig& config = model_->config();
  const auto same = [](const Matrix& a, const Matrix& b) {
    return &a == &b || (a.rows() == b.rows() && a.cols() == b.cols() && a == b);
  };
  if (!config.reads() || (memory_ && (!request.memory || same(*request.memory, *memory_)))) return memory_;
  if (!request.memory) return Error{"this decoder needs an encoder's output, but none was given"};
  if (length() > 0)
    return Error{"the decoder's text continues with a different encoder output than it began with"};
  if (request.memory->cols() != config.modelDim || request.memory->rows() < 1)
    return Error{fmt::format("the encoder output is {}, expected rows of {} numbers",
                             shapeText(request.memory->rows(), request.memory->cols()), config.modelDim)};
  return request.memory;
}

Status ModelSession::checkRequest(const PassRequest& request, Index textTokens, Index memoryTokens) const {
  const auto check = [](const std::optional<std::vector<Index>>& asked, Index count, const char* what) {
    for (const Index i : asked.value_or(std::vector<Index>()))
      if (i < 0 || i >= count)
        return Status(Error{fmt::format("{} is {}, expected 0 to {}", what, i, count - 1)});
    return success();
  };
  const ModelConfig& config = model_->config();
  const Index rows = textTokens - length();
  if (request.logitRow && (*request.logitRow < 0 || *request.logitRow >= rows))
    return Error{
        fmt::format("logits of row {} were requested, but the pass has {} rows", *request.logitRow, rows)};
  if (request.depth && (*request.depth < 1 || *request.depth > config.layerCount()))
    return Error{
        fmt::format("{} layers were requested, but this model has {}", *request.depth, config.layerCount())};
  for (const std::vector<Patch>& run : patchesOf(request))
    for (const Patch& patch : run)
      if (const Status status = checkPatch(patch, config, textTokens, memoryTokens); !status) return status;
  if (const Status status = check(request.layers, config.layerCount(), "layer"); !status) return status;
  return check(request.heads, config.heads, "head");
}

Result<PassResult> ModelSession::append(std::span<const Index> ids, const PassRequest& request,
                                        std::stop_token stop) {
  require(!ids.empty(), "a pass needs at least one token");
  const Index before = length(), count = static_cast<Index>(ids.size()), after = before + count;
  const bool beside = !request.runs.empty();
  require(!beside || before == 0, "several runs need the whole text");
  auto memory = memoryOf(request);
  if (!memory) return memory.error();
  if (const Status status = checkRequest(request, after, *memory ? (*memory)->rows() : 0); !status)
    return status.error();
  if (const Status status = model_->checkTokens(ids, before); !status) return status.error();
  // Doubles the capacity when a text grows token by token, so that keys are rarely copied.
  if (!beside && after > caches_.front().capacity())
    reserve(before == 0 ? after : std::max(after, 2 * before));
  if (const Status status = fillCaches(after, request, stop); !status) return status.error();
  const bool otherMemory = *memory != memory_;
  decltype(sources_) sources;
  if (otherMemory) {
    sources = std::exchange(sources_, decltype(sources_)(sources_.size()));
    std::swap(memory_, *memory);
  }
  const auto takeBack = [&] {
    truncate(before);
    if (!otherMemory) return;
    std::swap(memory_, *memory);
    sources_ = std::move(sources);
  };
  tokens_.insert(tokens_.end(), ids.begin(), ids.end());
  try {
    auto result = run({before, count}, after, request, stop);
    const bool partial = request.depth && *request.depth < model_->config().layerCount();
    if (!result) takeBack();
    if (partial || beside) truncate(before);
    return result;
  } catch (...) {
    takeBack();
    throw;
  }
}

Index ModelSession::cachedRows() const {
  Index rows = length();
  for (const KvCache& cache : caches_) rows = std::min(rows, cache.length());
  for (const auto& layer : states_)
    for (const RecurrentState& state : layer)
      if (state.tokens != rows) return 0;
  return rows;
}

Status ModelSession::fillCaches(Index textTokens, const PassRequest& request, const std::stop_token& stop) {
  const auto& rotations = model_->config().rotations;
  const bool anew = std::any_of(rotations.begin(), rotations.end(), [&](const Rotation& rotation) {
    return rotation.changes(rotatedFor_, textTokens);
  });
  const Index cached = anew ? 0 : cachedRows();
  for (KvCache& cache : caches_) cache.truncate(cached);
  for (auto& layer : states_)
    if (cached == 0) layer.assign(layer.size(), {});
  rotatedFor_ = textTokens;
  if (cached == length()) return success();
  PassRequest unseen;
  unseen.layers = std::vector<Index>();
  unseen.logits = LogitRows::none;
  unseen.edits = request.edits;
  unseen.patches = request.patches;
  unseen.sequence = request.sequence;
  unseen.sources = request.sources;
  const auto filled = run({cached, length() - cached}, textTokens, unseen, stop);
  return filled ? success() : Status(filled.error());
}

Result<Matrix> ModelSession::beginning(std::span<const Index> text, PassRows rows, const PassRequest& request,
                                       Index first) const {
  if (!request.own) return model_->embed(text, rows.first);
  const Matrix* const stream = recordedStream(*request.own, first);
  if (stream && stream->rows() == rows.count) return *stream;
  return Error{fmt::format("the base run didn't keep this text's stream before layer {}", first)};
}

Result<PassResult> ModelSession::run(PassRows rows, Index textTokens, const PassRequest& request,
                                     const std::stop_token& stop) {
  const ModelConfig& config = model_->config();
  const auto text = std::span<const Index>(tokens_).first(static_cast<std::size_t>(rows.tokens()));
  const auto runs = patchesOf(request);
  const Index depth = request.depth.value_or(config.layerCount());
  const Index first = request.own ? firstChanged(request, depth) : 0;
  PassResult result;
  auto begun = beginning(text, rows, request, first);
  if (!begun) return begun.error();
  if (request.hidden && first == 0) result.embedded = *begun;
  Matrix x = runs.size() == 1 ? *std::move(begun) : begun->replicate(std::ssize(runs), 1);
  const std::vector<Matrix> tables = rotationTables(config, rows, textTokens);
  if (memory_) rows.source = memory_->rows();
  const TextStructure structure =
      request.structure ? *request.structure
                        : structureOf(rows.tokens(), config.cross() ? rows.source : rows.tokens(), {});
  const Index unpadded = std::min(request.unpadded.value_or(rows.tokens()), rows.tokens());
  const PatchRows patched{rows.first, rows.count, std::min(rows.count, unpadded)};
  LayerAttentions attentions(config, request.edits, rows, {structure, unpadded, request.sequence},
                             request.sources);
  OtherAttentions others(config, rows, structure);
  for (Index layer = first; layer < depth; ++layer) {
    const auto i = static_cast<std::size_t>(layer);
    auto attention = attentions.of(layer);
    if (!attention) return attention.error();
    attention->config.sinks = model_->weights().layers[i].sinks;
    const bool asked = contains(request.layers, layer);
    const auto& rotation = config.layers[i].rotation;
    std::vector<KvCache> beside;
    for (std::size_t run = 0; run < request.runs.size(); ++run)
      beside.emplace_back(attention->config, rows.count);
    std::vector<std::vector<RecurrentState>> statesBeside(request.runs.size(), newStates(config.layers[i]));
    auto other = others.of(layer);
    if (!other) return other.error();
    if (memory_ && !sources_[i])
      sources_[i] = attention::sourceHeads(config, model_->weights().layers[i], *memory_, stop);
    if (stop.stop_requested()) {
      if (memory_) sources_[i].reset();
      return stopped();
    }
    auto kept = std::make_shared<LayerResult>();
    kept->layer = layer;
    kept->config = attention->config;
    const Block block{.config = config,
                      .layer = layer,
                      .weights = model_->weights().layers[i],
                      .attention = *attention,
                      .rotation = rotation ? &tables[asSize(*rotation)] : nullptr,
                      .rotated = rotation ? &config.rotations[asSize(*rotation)] : nullptr,
                      .wanted = asked ? &request : nullptr,
                      .kept = *kept,
                      .stop = stop,
                      .runs = runs,
                      .rows = patched,
                      .other = config.reads() ? &*other : nullptr,
                      .source = memory_ ? &*sources_[i] : nullptr,
                      .states = beside.empty() ? std::span(&states_[i], 1) : std::span(statesBeside)};
    block.run(x, beside.empty() ? std::span(&caches_[i], 1) : std::span(beside));
    if (stop.stop_requested()) return stopped();
    if (const Status status = model_->checkpoint().intact(); !status)
      return Error{fmt::format("{} (stopped at layer {})", status.error().message, layer)};
    if (asked) {
      kept->mask = std::move(attention->mask);
      result.layers.push_back(kept);
    }
    if (request.onLayer) request.onLayer(kept);
  }
  if (depth == config.layerCount()) {
    applyPatches(runs, depth, Piece::stream, patched, x);
    if (request.logits == LogitRows::all) result.logits = model_->logits(x, stop);
    if (request.logits == LogitRows::last)
      result.logits =
          model_->logits(rowOfEach(x, request.logitRow.value_or(rows.count - 1), rows.count), stop);
  }
  if (stop.stop_requested()) return stopped();
  if (const Status status = model_->checkpoint().intact(); !status) return status.error();
  result.stream = std::move(x);
  return result;
}

}  // namespace headscope::attention
