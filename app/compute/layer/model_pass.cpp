#include "app/compute/layer/model_pass.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/compute/layer/mask_inputs.h"

namespace headscope::app {

using attention::AttentionEdit;
using attention::Error;
using attention::PassRequest;
using attention::Result;
using attention::Token;

namespace {

constexpr std::string_view kSpace = "␣";

/// What one token is called, and whether it is punctuation or the end of a line.
Token tokenOf(std::string text) {
  if (text.size() > kSpace.size() && text.starts_with(kSpace)) text.erase(0, kSpace.size());
  const bool mark = text.size() == 1 && std::ispunct(static_cast<unsigned char>(text.front())) != 0;
  const bool line = text == "<0A>" || text == "<0D>";
  return {std::move(text), mark || line};
}

std::vector<attention::TokenId> tokenIds(std::span<const Index> ids) {
  return {ids.begin(), ids.end()};
}

}  // namespace

std::vector<Token> modelTokens(const attention::TextTokenizer& tokenizer, std::span<const Index> ids) {
  std::vector<Token> tokens;
  for (const attention::ReadableRun& run : tokenizer.readable(tokenIds(ids))) {
    tokens.push_back(tokenOf(run.text));
    while (tokens.size() < run.end) tokens.push_back({"⋯", false});  // the rest of the character before
  }
  // Ids that the vocabulary leaves out have no text.
  for (std::size_t i = tokens.size(); i < ids.size(); ++i)
    tokens.push_back({fmt::format("<{}>", ids[i]), false});
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i].text.empty()) tokens[i].text = fmt::format("<{}>", ids[i]);
  return tokens;
}

Result<ModelText> readModelText(const Setup& setup, const std::stop_token& stop) {
  const OpenModel& opened = *setup.subject.opened;
  if (!opened.model)
    return Error{opened.name +
                 " is attention that another program recorded, without a model that could compute it "
                 "again: its heads are on the Model page."};
  auto encoded = opened.tokenizer->encode(*setup.input.text, attention::SpecialTokens::keep, stop);
  if (!encoded) return encoded.error();
  ModelText text;
  text.ids.assign(encoded->ids.begin(), encoded->ids.end());
  text.spans = std::move(encoded->spans);
  text.typed = static_cast<Index>(text.ids.size());
  const auto& written = setup.subject.written;
  text.ids.insert(text.ids.end(), written.begin(), written.end());
  text.spans.resize(text.ids.size());
  if (const auto fits = opened.model->checkTokens(text.ids, 0); !fits) return fits.error();
  text.tokens = modelTokens(*opened.tokenizer, text.ids);
  return text;
}

Result<std::vector<Index>> idsInPlace(const attention::TextTokenizer& tokenizer, std::span<const Index> ids,
                                      Index at, const std::string& typed) {
  const auto kept = ids.first(static_cast<std::size_t>(at));
  const auto textOf = [&](std::vector<attention::TokenId> tokens) { return tokenizer.decode(tokens); };
  const auto before = textOf(tokenIds(kept)), until = textOf(tokenIds(ids.first(kept.size() + 1)));
  if (!before) return before.error();
  if (!until) return until.error();
  const bool space = until->starts_with(*before) && until->substr(before->size()).starts_with(" ");
  const std::string word = (space && !typed.starts_with(" ") ? " " : "") + typed;
  // As the whole text goes on where its ids are what the tokenizer makes of it, else the word by itself; some
  // tokenizers put a space before that on their own.
  std::vector<Index> first;
  for (const bool whole : {true, false, false}) {
    const bool bare = !whole && !first.empty();
    const auto encoded = whole ? tokenizer.encode(*before + word)
                               : tokenizer.encode(bare ? typed : word, attention::SpecialTokens::leaveOut);
    if (!encoded) return encoded.error();
    std::vector<Index> found(encoded->ids.begin(), encoded->ids.end());
    if (whole) {
      if (found.size() <= kept.size() || !std::equal(kept.begin(), kept.end(), found.begin())) continue;
      found.erase(found.begin(), found.begin() + at);
    }
    if (found.empty()) continue;
    if (first.empty()) first = found;
    std::vector<attention::TokenId> all = tokenIds(kept);
    all.insert(all.end(), found.begin(), found.end());
    if (const auto reads = textOf(std::move(all)); reads && *reads == *before + word) return found;
  }
  if (first.empty()) return Error{"Type a word: nothing is no token"};
  return first;
}

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
  const ModelSetup& model = setup.model;
  return !setup.mask.layers.empty() || model.sharpness != 1 || model.softcap > 0 || model.dropout > 0 ||
         model.position == PositionKind::alibi || model.position == PositionKind::t5 ||
         !setup.subject.switchedOff.empty() || !setup.mask.additive->values.isZero(0);
}

namespace {

/// What masks, biases and gains of the scene change of a layer on n tokens.
Result<AttentionEdit> editOf(const Setup& setup, Index n, bool bothDirections) {
  auto additive = additiveOf(setup, n, n);
  if (!additive) return additive.error();
  const ModelSetup& model = setup.model;
  AttentionEdit edit;
  edit.mask = setup.mask.layers;
  if (!additive->empty()) edit.additive = std::make_shared<const attention::Stack>(*std::move(additive));
  edit.gain = model.sharpness;
  edit.alibi = model.position == PositionKind::alibi;
  if (model.position == PositionKind::t5)
    edit.t5 = attention::BucketBias{model.t5Buckets, model.t5Distance, bothDirections, model.t5Strength,
                                    setup.weights.seed};
  if (model.softcap > 0) edit.softcap = model.softcap;
  edit.dropout = {model.dropout, setup.weights.seed, 0};
  return edit;
}

/// Heads that the scene switches off; those that the model doesn't have are passed over.
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
  if (!changesModel(setup)) return request;
  const auto& marks = *setup.mask.marks;
  request.structure =
      attention::structureOf(tokens, tokens, marks.empty() ? attention::TextMarks{} : marks[0]);
  auto sources = maskSources(setup, cache);
  if (!sources) return sources.error();
  request.sources = *std::move(sources);
  auto edit = editOf(setup, static_cast<Index>(tokens.size()), !config.causal);
  if (!edit) return edit.error();
  if (subject.scope == EditScope::one) edit->layer = subject.layer;
  request.edits.push_back(*std::move(edit));
  request.patches = switchedOffHeads(subject, config.layerCount(), config.heads);
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
  auto edit = editOf(setup, geometry.queries, seesFuture(**mask));
  if (!edit) return edit.error();
  edit->dropout.sequence = static_cast<std::uint64_t>(sequence);
  request.edits.push_back(*std::move(edit));
  request.patches = switchedOffHeads(setup.subject, setup.model.layers, setup.model.heads);
  return request;
}

Result<std::shared_ptr<const attention::LayerResult>> runLayer(const Setup& setup, const ModelText& text,
                                                               InputCache& cache, std::stop_token stop) {
  Result<PassRequest> request = passRequest(setup, text.tokens, cache);
  if (!request) return request.error();
  request->layers = std::vector{setup.subject.layer};
  request->depth = setup.subject.layer + 1;
  request->weights = false;
  request->projections = true;
  request->logits = attention::LogitRows::none;
  attention::ModelSession session(setup.subject.opened->model);
  auto pass = session.append(text.ids, *request, stop);
  if (!pass) return pass.error();
  return pass->layers.front();
}

}  // namespace headscope::app
