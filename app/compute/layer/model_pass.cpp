#include <fmt/core.h>

#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/line_tokens.h"
#include "app/compute/layer/mask_inputs.h"

namespace headscope::app {

using attention::AttentionEdit;
using attention::Error;
using attention::PassRequest;
using attention::Result;
using attention::Token;

attention::MaskLayers layersInForce(const Setup& setup, const attention::MaskLayers& layers) {
  const SubjectSetup& subject = setup.subject;
  if (!subject.opened) return layers;
  const attention::ModelConfig& config = subject.opened->config();
  const Index layer = std::min(subject.layer, config.layerCount() - 1);
  attention::MaskLayers all = attention::parseMask(config.maskText(layer)).layers;
  if (!layers.empty()) all.emplace_back().group = layers;
  return all;
}

bool changesModel(const Setup& setup) {
  return !setup.mask.layers.empty() || scoreSettings(setup) != attention::ScoreSettings{} ||
         !setup.subject.switchedOff.empty() || !setup.mask.additive->values.isZero(0);
}

bool readsLaterTokens(const Setup& setup) {
  const auto& off = setup.subject.switchedOff;
  return !setup.subject.opened->config().causal || !setup.mask.layers.empty() ||
         !setup.mask.additive->values.isZero(0) ||
         std::any_of(off.begin(), off.end(),
                     [](const SwitchedHead& head) { return head.by == HeadOff::mean; });
}

namespace {

/// Returns the changes that the scene's masks, biases and settings make to a layer on n queries and m keys.
Result<AttentionEdit> editOf(const Setup& setup, Index n, Index m, bool bothDirections) {
  auto additive = additiveOf(setup, n, m);
  if (!additive) return additive.error();
  AttentionEdit edit;
  attention::joinSettings(scoreSettings(setup), edit);
  if (edit.t5) edit.t5->bidirectional = bothDirections;
  edit.mask = *setup.mask.layers;
  if (!additive->empty()) edit.additive = std::make_shared<const attention::Stack>(*std::move(additive));
  return edit;
}

/// Returns patches for the heads that the scene switches off. Heads that the model doesn't have are ignored.
std::vector<attention::Patch> switchedOffHeads(const SubjectSetup& subject, Index layers, Index heads) {
  std::vector<attention::Patch> patches;
  for (const SwitchedHead& off : subject.switchedOff) {
    if (off.layer < 0 || off.layer >= layers || off.head < 0 || off.head >= heads) continue;
    attention::Patch& patch = patches.emplace_back();
    patch.layer = off.layer;
    patch.head = off.head;
    if (off.by == HeadOff::mean) patch.by = attention::MeanOfRows{};
  }
  return patches;
}

}  // namespace

Result<PassRequest> passRequest(const Setup& setup, const std::vector<Token>& tokens, InputCache& cache) {
  const SubjectSetup& subject = setup.subject;
  const attention::ModelConfig& config = subject.opened->config();
  PassRequest request;
  std::vector<Token> source;
  if (subject.opened->sources) {
    const auto read = readSource(setup);
    if (!read) return read.error();
    request.memory = (*read)->memory;
    if (config.cross()) source = sourceTokens(*subject.opened, **read);
  }
  if (!changesModel(setup)) return request;
  const auto& marks = *setup.mask.marks;
  const std::vector<Token>& keys = config.cross() ? source : tokens;
  request.structure = attention::structureOf(tokens, keys, marks.empty() ? attention::TextMarks{} : marks[0]);
  auto sources = maskSources(setup, cache);
  if (!sources) return sources.error();
  request.sources = *std::move(sources);
  auto edit = editOf(setup, std::ssize(tokens), std::ssize(keys), !config.causalHeads());
  if (!edit) return edit.error();
  if (subject.scope == EditScope::one) edit->layer = subject.layer;
  request.edits.push_back(*std::move(edit));
  request.patches = switchedOffHeads(subject, config.layerCount(), config.heads);
  return request;
}

Result<PassRequest> layerRequest(const Setup& setup, const std::vector<attention::Token>& tokens,
                                 InputCache& cache) {
  Result<PassRequest> request = passRequest(setup, tokens, cache);
  if (!request) return request;
  request->layers = std::vector{setup.subject.layer};
  request->depth = setup.subject.layer + 1;
  request->weights = false;
  request->logits = attention::LogitRows::none;
  return request;
}

Result<PassRequest> stackRequest(const Setup& setup, const LineTokens& line, Index sequence,
                                 InputCache& cache) {
  PassRequest request;
  const attention::MaskGeometry geometry = geometryOf(setup, line, sequence);
  request.structure = geometry.structure;
  request.unpadded = line.queryLength;
  request.sequence = sequence;
  auto sources = maskSources(setup, cache);
  if (!sources) return sources.error();
  request.sources = *std::move(sources);
  const auto mask = attention::compileMask(setup.mask.layers, geometry, request.sources);
  if (!mask) return mask.error();
  auto edit = editOf(setup, geometry.queries, geometry.queries, seesFuture(**mask));
  if (!edit) return edit.error();
  edit->dropout.sequence = static_cast<std::uint64_t>(sequence);
  request.edits.push_back(*std::move(edit));
  request.patches = switchedOffHeads(setup.subject, setup.model.layers, setup.model.heads);
  return request;
}

Result<std::shared_ptr<const attention::LayerResult>> runLayer(const Setup& setup, const ModelText& text,
                                                               InputCache& cache, std::stop_token stop) {
  Result<PassRequest> request = layerRequest(setup, text.tokens, cache);
  if (!request) return request.error();
  request->projections = true;
  attention::ModelSession session(setup.subject.opened->model);
  auto pass = session.append(text.ids, *request, stop);
  if (!pass) return pass.error();
  return pass->layers.front();
}

std::string modelFault(const OpenModel& opened, std::span<const attention::Index> ids,
                       attention::PassParts parts, const std::stop_token& stop) {
  const attention::Model& model = *opened.model;
  // Table rows that this text doesn't use can't be the cause.
  parts.embedding = parts.embedding && !model.embed(ids, 0).allFinite();
  auto fault = attention::findTensorFault(model, parts, stop);
  // A head without its own tensor shares the embedding table.
  if (!fault && parts.head) fault = attention::findTensorFault(model, {.embedding = true}, stop);
  if (!fault)
    return opened.name + ": its values exceed 3.4·10³⁸, the fp32 maximum, though its weights are finite.";
  const std::string where = fault->layer >= 0 ? fmt::format("from layer {} on", fault->layer)
                            : parts.embedding ? "from the embedding on"
                                              : "in its predictions";
  return fmt::format("{}: tensor {} is {} at {}, so not all numbers {} are finite.", opened.name,
                     attention::quotedText(fault->tensor), fault->value, fault->at, where);
}

}  // namespace headscope::app
