#include "app/compute/map/map_source.h"

#include "app/compute/layer/layer_parts.h"
#include "app/compute/layer/layer_stack.h"
#include "app/compute/layer/mask_inputs.h"
#include "app/scene/text/number_text.h"
#include "attention/core/positions.h"

namespace headscope::app {

using attention::AttentionConfig;
using attention::Error;
using attention::Linear;
using attention::Matrix;
using attention::Result;

MapQuestion mapQuestion(const Scene& scene, Index head) {
  MapQuestion question;
  question.setup = scene.setup;
  question.source = scene.map.source;
  question.head = head;
  InputSetup& input = question.setup.input;
  question.setup.prefill = 1;
  question.setup.mask.compare = false;
  question.setup.mask.other = {};
  question.setup.model.dropout = 0;
  if (scene.map.source == MapSource::scene) {
    question.sequence = scene.cursor.sequence;
    return question;
  }
  if (scene.map.source == MapSource::file) {
    const SharedLayers layers = std::move(question.setup.mask.layers);
    question.setup = {};
    question.setup.mask.layers = layers;
    question.setup.mask.paintings = scene.setup.mask.paintings;
    question.file = scene.map.file;
    question.layer = scene.map.layer;
    return question;
  }
  input.text = input.contextText = {};
  input.table = {};
  input.source = EmbeddingSource::text;
  input.cross = false;
  question.tokens = scene.map.tokens;
  question.seed = scene.map.seed;
  return question;
}

namespace {

/// Returns the rows of a projection that belong to one head.
Linear headOf(const Linear& linear, Index head, Index headDim) {
  Linear rows;
  rows.weight = linear.weight.middleRows(head * headDim, headDim);
  if (linear.bias.size() > 0) rows.bias = linear.bias.segment(head * headDim, headDim);
  return rows;
}

/// A destination of embeddings, q or k, and its projection.
struct Projected {
  const Linear& linear;
  Matrix& to;  ///< [n, headDim]
};

/// Embeds the tokens part by part and projects each part.
attention::Status project(const Setup& setup, const std::vector<attention::Token>& tokens,
                          std::initializer_list<Projected> outputs, std::stop_token stop) {
  constexpr Index kPart = 2048;  // 32 MiB at the widest model
  const auto n = static_cast<Index>(tokens.size());
  const std::optional<double> theta = configOf(setup).ropeTheta;
  for (Index first = 0; first < n && !stop.stop_requested(); first += kPart) {
    const Index count = std::min(kPart, n - first);
    const Result<Matrix> x = embedTokens(setup, tokens, first, count);
    if (!x) return x.error();
    for (const Projected& output : outputs) {
      Matrix part = output.linear.apply(*x, stop);
      if (theta) attention::applyRope({part.data(), part.rows(), part.cols()}, first, *theta);
      output.to.middleRows(first, count) = part;
    }
  }
  return attention::success();
}

Result<MemoryShare> reserveMemory(Index n, Index m, Index headDim, const MemoryBudget& memory,
                                  std::stop_token stop) {
  const std::uint64_t needed = attention::headMapBytes(n, m, headDim);
  if (MemoryShare share = memory.reserve(needed, stop)) return share;
  return Error{"A map of " + countText(static_cast<std::uint64_t>(n)) + " × " +
               countText(static_cast<std::uint64_t>(m)) + " tokens with a head size of " +
               std::to_string(headDim) + " would need " + bytesText(static_cast<double>(needed)) +
               "; the budget is " + bytesText(static_cast<double>(memory.total())) + ", and " +
               bytesText(static_cast<double>(memory.used())) +
               " of it is in use. Use fewer tokens or a smaller head size."};
}

/// Returns the generated text as the scene's model tokenizes it.
Result<std::optional<TokenLine>> generatedForModel(const MapQuestion& question) {
  Setup setup = question.setup;
  std::string text;
  for (const attention::Token& word :
       generatedText(question.tokens, question.seed, attention::Tokenization::words))
    text += (text.empty() ? "" : " ") + word.text;
  setup.input.text = std::move(text);
  setup.subject.written.clear();
  if (!setup.subject.opened) return Error{setup.subject.problem};
  if (setup.subject.opened->config().reads())
    return Error{"A decoder answers the text you typed: its map can't use a generated text."};
  // A word may be several tokens, so cut to the requested number.
  Result<ModelText> read = readModelText(setup);
  if (!read) return read.error();
  const auto tokens = static_cast<std::size_t>(question.tokens);
  if (read->ids.size() > tokens) {
    read->ids.resize(tokens);
    read->tokens.resize(tokens);
  }
  TokenLine made;
  made.line = LineTokens{read->tokens, read->tokens, std::ssize(read->ids), std::ssize(read->ids), read->ids};
  return std::optional(std::move(made));
}

/// Returns the question's tokens, or nothing if no text was typed.
Result<std::optional<TokenLine>> tokensOf(const MapQuestion& question) {
  if (question.source == MapSource::generated && !question.setup.subject.model.empty())
    return generatedForModel(question);
  if (question.source == MapSource::generated) {
    TokenLine made;
    made.line = LineTokens{};
    made.line->queries = generatedText(question.tokens, question.seed, question.setup.input.tokenization);
    made.line->keys = made.line->queries;
    made.line->queryLength = made.line->keyLength = question.tokens;
    return std::optional(std::move(made));
  }
  TokenLine typed = tokenizeLine(question.setup, question.sequence, kMaxMapTokens);
  if (typed.error) return Error{typed.error->message};
  if (!typed.line) return std::optional<TokenLine>();
  return std::optional(std::move(typed));
}

/// Compiles the mask layers. T5's buckets depend on whether they let a query see later keys.
attention::Status addMask(const Setup& setup, const attention::MaskLayers& layers,
                          const attention::MaskGeometry& geometry, InputCache& cache, MapHead& head) {
  attention::HeadField& field = head.field;
  const Result<attention::MaskSources> sources = maskSources(setup, cache);
  if (!sources) return sources.error();
  auto mask = attention::compileMask(layers, geometry, *sources);
  if (!mask) return mask.error();
  field.mask.formula = *std::move(mask);
  head.causal = !isCross(setup) && !seesFuture(*field.mask.formula, geometry.cacheLength);
  if (field.config.t5 && !field.config.t5->table) field.config.t5->bidirectional = !head.causal;
  return attention::success();
}

/// Reads a head from a file. The file defines its attention; the scene's masks are applied on top.
Result<MapHead> headOfFile(const MapQuestion& question, Resources& resources, std::stop_token stop) {
  if (question.file.empty()) return Error{"No file chosen. Open a safetensors file with queries and keys."};
  const Result<attention::QkFile> file = attention::QkFile::open(question.file);
  if (!file) return file.error();
  const auto layers = static_cast<Index>(file->layers().size());
  if (question.layer >= layers)
    return Error{attention::shownPath(file->path().filename()) + " has " + countedText(layers, "layer") +
                 ", but no layer " + std::to_string(question.layer) + "; layers are counted from 0."};
  const attention::QkLayer& layer = file->layers()[static_cast<std::size_t>(question.layer)];
  MapHead head;
  attention::HeadField& field = head.field;
  field.config = layer.config;
  field.config.dropout = {};
  field.head = std::clamp<Index>(question.head, 0, field.config.heads - 1);
  Result<MemoryShare> share =
      reserveMemory(layer.queries(), layer.keys(), field.config.headDim, resources.memory, stop);
  if (!share) return share.error();
  head.memory = *std::move(share);
  Result<Matrix> q = file->readQueries(question.layer, field.head);
  if (!q) return q.error();
  Result<Matrix> k = file->readKeys(question.layer, field.config.kvHeadOf(field.head));
  if (!k) return k.error();
  if (const auto& theta = field.config.ropeTheta) {
    attention::applyRope({q->data(), q->rows(), q->cols()}, field.config.cacheLength, *theta);
    attention::applyRope({k->data(), k->rows(), k->cols()}, 0, *theta);
  }
  field.q = *std::move(q);
  field.k = *std::move(k);
  attention::MaskGeometry geometry;
  geometry.queries = field.q.rows();
  geometry.keys = geometry.keyLength = field.k.rows();
  geometry.cacheLength = field.config.cacheLength;
  geometry.heads = field.config.heads;
  geometry.kvHeads = field.config.kvHeads;
  geometry.structure = attention::structureOf(geometry.queries, geometry.keys, {});
  attention::MaskLayers masks = attention::layersOf(layer.rules);
  if (!question.setup.mask.layers.empty()) masks.emplace_back().group = *question.setup.mask.layers;
  if (const auto masked = addMask(question.setup, masks, geometry, resources.inputs, head); !masked)
    return masked.error();
  head.text = std::make_shared<const MapText>(MapText{{}, {}, field.q.rows() == field.k.rows()});
  head.heads = field.config.heads;
  head.kvHeads = field.config.kvHeads;
  head.layers = layers;
  head.layerName = layer.name;
  return head;
}

/// Projects the head's q and k from its layer's input in a stack, which requires computing all layers below.
attention::Status projectStream(const Setup& setup, const LineTokens& line, Index sequence, const Linear& q,
                                const Linear& k, Resources& resources, attention::HeadField& field,
                                std::stop_token stop) {
  Result<Matrix> x = embedTokens(setup, line.queries, 0, std::ssize(line.queries));
  if (x) x = shownInput(setup, line, sequence, *std::move(x), resources, stop);
  if (!x) return x.error();
  field.q = q.apply(*x, stop);
  field.k = k.apply(*x, stop);
  if (const std::optional<double> theta = configOf(setup).ropeTheta)
    for (Matrix* part : {&field.q, &field.k})
      attention::applyRope({part->data(), part->rows(), part->cols()}, 0, *theta);
  return attention::success();
}

/// Projects the tokens' embeddings to the head's q and k.
attention::Status projectHead(const Setup& setup, const LineTokens& line, Index sequence,
                              Resources& resources, attention::HeadField& field, std::stop_token stop) {
  const auto n = static_cast<Index>(line.queries.size()), m = static_cast<Index>(line.keys.size());
  const auto projections = resources.inputs.projections(setup, std::max(n, m));
  if (!projections) return projections.error();
  const Linear q = headOf((*projections)->q, field.head, field.config.headDim);
  const Linear k = headOf((*projections)->k, field.config.kvHeadOf(field.head), field.config.headDim);
  if (isStack(setup)) return projectStream(setup, line, sequence, q, k, resources, field, stop);
  field.q.resize(n, field.config.headDim);
  field.k.resize(m, field.config.headDim);
  if (!isCross(setup)) return project(setup, line.queries, {{q, field.q}, {k, field.k}}, stop);
  if (const attention::Status queries = project(setup, line.queries, {{q, field.q}}, stop); !queries)
    return queries;
  return project(setup, line.keys, {{k, field.k}}, stop);
}

/// Reads the head's q and k from the model run on these tokens.
attention::Status readModelHead(const Setup& setup, const LineTokens& line, InputCache& cache, MapHead& head,
                                std::stop_token stop) {
  attention::HeadField& field = head.field;
  const auto layer = runLayer(setup, {line.ids, line.queries, {}, 0}, cache, stop);
  if (!layer) return layer.error();
  field.q = (*layer)->q[field.head];
  field.k = (*layer)->k[field.config.kvHeadOf(field.head)];
  if (!field.q.allFinite() || !field.k.allFinite())
    head.notFinite = modelFault(*setup.subject.opened, line.ids, {.layers = setup.subject.layer + 1}, stop);
  return attention::success();
}

}  // namespace

Result<std::optional<MapHead>> buildMapHead(const MapQuestion& question, Resources& resources,
                                            std::stop_token stop) {
  const Setup& setup = question.setup;
  if (question.source == MapSource::file) {
    Result<MapHead> read = headOfFile(question, resources, stop);
    if (!read) return read.error();
    return std::optional(*std::move(read));
  }
  MapHead head;
  attention::HeadField& field = head.field;
  field.config = configOf(setup);
  field.config.dropout = {};
  if (const auto valid = attention::validate(field.config); !valid) return valid.error();
  Result<std::optional<TokenLine>> tokens = tokensOf(question);
  if (!tokens) return tokens.error();
  if (!*tokens) return std::optional<MapHead>();
  LineTokens& line = *(*tokens)->line;
  const auto n = static_cast<Index>(line.queries.size()), m = static_cast<Index>(line.keys.size());
  Result<MemoryShare> share = reserveMemory(n, m, field.config.headDim, resources.memory, stop);
  if (!share) return share.error();
  head.memory = *std::move(share);
  const attention::MaskGeometry geometry = geometryOf(setup, line, (*tokens)->sequence);
  if (const auto masked =
          addMask(setup, layersInForce(setup, setup.mask.layers), geometry, resources.inputs, head);
      !masked)
    return masked.error();
  field.head = std::clamp<Index>(question.head, 0, field.config.heads - 1);
  head.heads = field.config.heads;
  head.kvHeads = field.config.kvHeads;
  const bool cross = isCross(setup);
  if (const attention::Status read =
          setup.subject.opened ? readModelHead(setup, line, resources.inputs, head, stop)
                               : projectHead(setup, line, (*tokens)->sequence, resources, field, stop);
      !read)
    return read.error();
  head.text = std::make_shared<const MapText>(MapText{std::move(line.queries), std::move(line.keys), !cross});
  // Free biases hold one number per cell, too many for the map of a long text.
  if (std::max(n, m) <= kMaxTokens) {
    attention::Result<attention::Stack> additive = additiveOf(setup, n, m);
    if (!additive) return additive.error();
    field.mask.additive = *std::move(additive);
  } else if (!setup.mask.additive->values.isZero(0)) {
    head.omitted.push_back("Free biases from the mask studio aren't applied to maps of more than " +
                           countText(kMaxTokens) + " tokens.");
  }
  return std::optional(std::move(head));
}

MapScore mapScore(const attention::HeadField& field, Index query, Index key) {
  MapScore score{field.q.row(query).dot(field.k.row(key)), {}};
  score.steps = attention::scoreSteps(field.config, field.mask, field.head, query, key, score.dot);
  return score;
}

std::string mapScoreText(const attention::HeadField& field, Index query, Index key) {
  const MapScore score = mapScore(field, query, key);
  std::string text = "score " + numberText(score.score()) + "\nq · k  " + numberText(score.dot);
  for (const attention::ScoreStep& step : score.steps)
    text += "\n" + step.term->label(field.config) + "  " + stepText(step);
  return text;
}

}  // namespace headscope::app
