#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/layer_stack.h"
#include "app/compute/layer/mask_inputs.h"
#include "app/compute/layer/snapshot.h"
#include "app/scene/scene_json.h"

namespace headscope::app {

using attention::AttentionConfig;
using attention::AttentionResult;
using attention::Matrix;
using attention::NamedTensor;
using attention::Projections;
using attention::Result;
using attention::SafetensorsFile;
using attention::Stack;

namespace {

using Shape = std::vector<std::uint64_t>;
using Json = nlohmann::ordered_json;

/// Writes the tensors of one line after another, with a leading axis if there are several lines.
class TensorWriter {
 public:
  TensorWriter(SafetensorsFile& file, std::size_t lines) : file_(file), lines_(lines) {}

  void add(const std::string& name, const Matrix& values) {
    addBytes(name, attention::DType::F32, sizesOf(values), values);
  }
  void add(const std::string& name, const Stack& values) {
    addBytes(name, attention::DType::F32, sizesOf(values), values);
  }
  /// Writes a tensor shared by all lines, without a line axis.
  void addShared(const std::string& name, const float* values, const std::vector<Index>& sizes) {
    Shape shape(sizes.begin(), sizes.end());
    std::size_t count = 1;
    for (const Index size : sizes) count *= static_cast<std::size_t>(size);
    file_.tensors[name] = attention::fromFloats({values, count}, std::move(shape));
  }
  /// Writes BOOL [heads, n, m], true = masked.
  void addMask(const std::string& name, const attention::MaskFormula& mask) {
    std::vector<std::uint8_t> cells(static_cast<std::size_t>(mask.heads() * mask.queries() * mask.keys()), 1);
    attention::KeyRuns runs;
    auto row = cells.begin();
    for (Index head = 0; head < mask.heads(); ++head)
      for (Index query = 0; query < mask.queries(); ++query, row += mask.keys()) {
        mask.visibleRuns(mask.variantOf(head), query, runs);
        for (const attention::KeyRun& run : runs) std::fill(row + run.begin, row + run.end, std::uint8_t{0});
      }
    append(name, attention::DType::Bool, {mask.heads(), mask.queries(), mask.keys()}, cells.data(),
           cells.size());
  }

 private:
  static std::vector<Index> sizesOf(const Matrix& values) { return {values.rows(), values.cols()}; }
  static std::vector<Index> sizesOf(const Stack& values) {
    return {values.count(), values.rows(), values.cols()};
  }

  template <class Values>
  void addBytes(const std::string& name, attention::DType type, const std::vector<Index>& sizes,
                const Values& values) {
    append(name, type, sizes, values.data(), static_cast<std::size_t>(values.size()) * sizeof(float));
  }

  void append(const std::string& name, attention::DType type, const std::vector<Index>& sizes,
              const void* data, std::size_t bytes) {
    NamedTensor& tensor = file_.tensors[name];
    if (tensor.bytes.empty()) {
      tensor.dtype = type;
      tensor.shape.assign(sizes.begin(), sizes.end());
      if (lines_ > 1) tensor.shape.insert(tensor.shape.begin(), lines_);
      tensor.bytes.reserve(lines_ * bytes);
    }
    const auto* first = static_cast<const std::uint8_t*>(data);
    tensor.bytes.insert(tensor.bytes.end(), first, first + bytes);
  }

  SafetensorsFile& file_;
  std::size_t lines_;
};

void addProjections(TensorWriter& writer, const Projections& projections) {
  const std::pair<const char*, const attention::Linear*> parts[] = {{"q_proj", &projections.q},
                                                                    {"k_proj", &projections.k},
                                                                    {"v_proj", &projections.v},
                                                                    {"o_proj", &projections.o}};
  for (const auto& [name, linear] : parts) {
    writer.addShared(std::string(name) + ".weight", linear->weight.data(),
                     {linear->weight.rows(), linear->weight.cols()});
    if (linear->bias.size() > 0)
      writer.addShared(std::string(name) + ".bias", linear->bias.data(), {linear->bias.size()});
  }
}

/// Returns what ALiBi, T5 and the scene's own matrix add to the scores, [heads, n, m]; empty if nothing is
/// added.
Stack biasesOf(const AttentionConfig& config, const SequenceSnapshot& sequence) {
  const auto terms = attention::scoreTerms();
  const bool any = std::any_of(terms.begin(), terms.end(), [&](const attention::ScoreTerm& term) {
    return term.adds() && term.applies(config, sequence.mask);
  });
  const Index queries = sequence.attention.scores.rows(), keys = sequence.attention.scores.cols();
  if (!any) return {};
  Stack biases(config.heads, queries, keys);
  for (Index head = 0; head < config.heads; ++head) {
    const attention::HeadTerms added = attention::headTerms(config, sequence.mask, head, queries, keys);
    for (Index row = 0; row < queries; ++row)
      for (const float* values : {added.biasOf(row), added.addedOf(row)})
        if (values) biases[head].row(row) += Eigen::Map<const Eigen::RowVectorXf>(values, keys);
  }
  return biases;
}

/// Computes the layer's output from its heads' outputs.
struct ToOutput {
  attention::HeadSwitch off;  ///< heads that are switched off
  std::function<Matrix(const Stack& headOutput)> apply;

  /// Replaces switched-off heads. Means are over the first `rows` rows and fill all rows.
  Stack switched(Stack heads, Index rows) const {
    attention::switchHeads(heads, off, rows);
    return heads;
  }
};

void addOther(TensorWriter& writer, const OtherMask& other, Index rows, const ToOutput& outputOf) {
  const AttentionResult& result = other.attention;
  writer.addMask("snapshot.other.mask", *other.formula);
  writer.add("snapshot.other.scores", result.scores);
  writer.add("snapshot.other.weights", result.weights);
  writer.add("snapshot.other.lse", result.lse);
  writer.add("snapshot.other.head_output", result.headOutput);
  writer.add("snapshot.other.output", outputOf.apply(outputOf.switched(result.headOutput, rows)));
}

/// Runs the cursor's step through a cache as the window decodes: the prefill at once, then one token at a
/// time. The rows written are those of the last append.
void addDecode(const Scene& scene, const Snapshot& snapshot, const ToOutput& outputOf,
               SafetensorsFile& file) {
  const auto last = static_cast<Index>(snapshot.sequences.size()) - 1;
  const auto at = static_cast<std::size_t>(std::clamp<Index>(scene.cursor.sequence, 0, last));
  const SequenceSnapshot& sequence = snapshot.sequences[at];
  const Index step = std::clamp<Index>(scene.cursor.step, 1, sequence.queryLength);
  AttentionConfig config = snapshot.config;
  config.dropout.sequence = at;
  attention::KvCache cache(config, step);
  AttentionResult result;
  // A mean that replaces a head is over all tokens, as in the full pass.
  const AttentionResult& full = sequence.attention;
  const Stack switched = outputOf.switched(full.headOutput, sequence.queryLength);
  const auto append = [&](Index from, Index count) {
    result = cache.appendHeads(config, rowsOf(full.q, from, count), rowsOf(full.k, from, count),
                               rowsOf(full.v, from, count), maskPartOf(sequence.mask, from, count));
    Stack heads = result.headOutput;
    for (Index head = 0; head < heads.count() && !outputOf.off.empty(); ++head)
      if (switched[head] != full.headOutput[head]) heads[head] = switched[head].middleRows(from, count);
    result.output = outputOf.apply(heads);
  };
  append(0, std::min(snapshot.setup.prefill, step));
  while (cache.length() < step) append(cache.length(), 1);
  TensorWriter writer(file, 1);
  Stack keys(config.kvHeads, step, config.headDim), values(config.kvHeads, step, config.headDim);
  for (Index head = 0; head < config.kvHeads; ++head) {
    keys[head] = cache.keys(head);
    values[head] = cache.values(head);
  }
  writer.add("snapshot.cache.k", keys);
  writer.add("snapshot.cache.v", values);
  writer.add("snapshot.decode.q", result.q);
  writer.add("snapshot.decode.scores", result.scores);
  writer.add("snapshot.decode.weights", result.weights);
  writer.add("snapshot.decode.lse", result.lse);
  writer.add("snapshot.decode.head_output", result.headOutput);
  writer.add("snapshot.decode.output", result.output);
  file.metadata["snapshot.decode.sequence"] = std::to_string(at);
  file.metadata["snapshot.decode.step"] = std::to_string(step);
  file.metadata["snapshot.decode.prefill"] = std::to_string(std::min(snapshot.setup.prefill, step));
}

/// Returns the tokens without padding: [["The", "animal"], ["It"]].
std::string tokensText(const Snapshot& snapshot, std::vector<attention::Token> SequenceSnapshot::*tokens,
                       Index SequenceSnapshot::*length) {
  Json lines = Json::array();
  for (const SequenceSnapshot& sequence : snapshot.sequences) {
    Json line = Json::array();
    for (Index i = 0; i < sequence.*length; ++i)
      line.push_back((sequence.*tokens)[static_cast<std::size_t>(i)].text);
    lines.push_back(std::move(line));
  }
  return lines.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Adds attend's options, and others' slopes and T5's, which attend doesn't have and therefore rejects.
void addOptions(const AttentionConfig& config, std::map<std::string, std::string>& options) {
  options["heads"] = std::to_string(config.heads);
  options["kv_heads"] = std::to_string(config.kvHeads);
  options["head_dim"] = std::to_string(config.headDim);
  options["scale"] = fmt::format("{}", attention::scoreFactor(config));
  if (config.ropeTheta) options["rope_theta"] = fmt::format("{}", *config.ropeTheta);
  if (config.alibi) options["alibi"] = "True";
  if (!config.slopes.empty()) options["slopes"] = fmt::format("{}", fmt::join(config.slopes, " "));
  for (const attention::ScoreTerm& term : attention::scoreTerms())
    if (term.isOption() && term.number.isSet(config))
      options[term.number.name] = fmt::format("{}", config.*term.number.member);
  if (config.dropout.probability > 0) {
    options["dropout"] = fmt::format("{}", config.dropout.probability);
    options["dropout_seed"] = std::to_string(config.dropout.seed);
  }
  if (!config.t5) return;
  options["t5_buckets"] = std::to_string(config.t5->buckets);
  options["t5_distance"] = std::to_string(config.t5->maxDistance);
  options["t5_bidirectional"] = config.t5->bidirectional ? "True" : "False";
}

void describe(const Scene& scene, const Snapshot& snapshot, std::map<std::string, std::string>& metadata) {
  addOptions(snapshot.config, metadata);
  metadata["snapshot.scene"] = formatScene(scene);
  metadata["snapshot.tokens"] =
      tokensText(snapshot, &SequenceSnapshot::queries, &SequenceSnapshot::queryLength);
  if (isCross(scene.setup))
    metadata["snapshot.context_tokens"] =
        tokensText(snapshot, &SequenceSnapshot::keys, &SequenceSnapshot::keyLength);
  metadata["snapshot.mask"] = attention::maskText(scene.setup.mask.layers);
  if (scene.setup.mask.compare) metadata["snapshot.other.mask"] = attention::maskText(scene.setup.mask.other);
  Json omitted = Json::array();
  for (const auto& [layer, reason] : omittedLayers(scene.setup))
    omitted.push_back(layer + " (" + reason + ")");
  if (!omitted.empty())
    metadata["snapshot.left_out"] = omitted.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// Returns the available parts of recorded attention, as a file that opens again as such.
SafetensorsFile recordedParts(const Scene& scene, const Snapshot& snapshot) {
  SafetensorsFile file;
  TensorWriter writer(file, 1);
  const AttentionResult& result = snapshot.sequences.front().attention;
  const std::pair<const char*, const Stack*> parts[] = {{"weights", &result.weights},
                                                        {"q", &result.q},
                                                        {"k", &result.k},
                                                        {"v", &result.v},
                                                        {"head_output", &result.headOutput}};
  for (const auto& [name, stack] : parts)
    if (!stack->empty()) writer.add(name, *stack);
  const auto listed = [](const std::vector<std::string>& tokens) {
    return Json(tokens).dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  const attention::RecordedAttention& recorded = *snapshot.setup.subject.opened->recorded;
  file.metadata["tokens"] = listed(recorded.keyTokens());
  file.metadata["query_tokens"] = listed(recorded.queryTokens());
  file.metadata["snapshot.scene"] = formatScene(scene);
  return file;
}

}  // namespace

Result<SafetensorsFile> snapshotFile(const Scene& scene, const Snapshot& snapshot, Resources& resources) {
  const Setup& setup = snapshot.setup;
  if (setup.subject.opened && setup.subject.opened->recorded) return recordedParts(scene, snapshot);
  const SequenceSnapshot& first = snapshot.sequences.front();
  // A model's projections and streams stay in its checkpoint.
  std::shared_ptr<const Projections> projections;
  std::shared_ptr<const std::vector<LineInput>> inputs;
  ToOutput outputOf{headSwitch(setup.subject, shownLayer(setup), snapshot.config.heads), {}};
  if (setup.subject.opened) {
    outputOf.apply = [&](const Stack& heads) {
      const auto& layers = setup.subject.opened->model->weights().layers;
      return layers[static_cast<std::size_t>(setup.subject.layer)].o.apply(attention::mergeHeads(heads), {});
    };
  } else {
    const auto kept = resources.inputs.projections(
        setup, static_cast<Index>(std::max(first.queries.size(), first.keys.size())));
    if (!kept) return kept.error();
    projections = *kept;
    const auto embedded = shownInputs(setup, tokenizeBatch(setup).lines, resources);
    if (!embedded) return embedded.error();
    inputs = *embedded;
    outputOf.apply = [&](const Stack& heads) { return projections->o.apply(attention::mergeHeads(heads)); };
  }

  std::vector<const AttentionResult*> results;
  for (const SequenceSnapshot& sequence : snapshot.sequences) results.push_back(&sequence.attention);
  SafetensorsFile file = attention::resultFile(results, results.size() > 1);
  TensorWriter writer(file, results.size());
  if (projections) addProjections(writer, *projections);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const SequenceSnapshot& sequence = snapshot.sequences[i];
    if (inputs) writer.add("x", (*inputs)[i].x);
    if (inputs && setup.input.cross) writer.add("context", (*inputs)[i].context);
    writer.addMask("mask", *sequence.mask.formula);
    if (const Stack biases = biasesOf(snapshot.config, sequence); !biases.empty())
      writer.add("snapshot.bias", biases);
    if (sequence.other) addOther(writer, *sequence.other, sequence.queryLength, outputOf);
  }
  if (const Stack& added = first.mask.additive; !added.empty())
    writer.addShared("attn_mask", added.data(), {added.rows(), added.cols()});
  if (scene.cursor.decoding && snapshot.causal) addDecode(scene, snapshot, outputOf, file);
  describe(scene, snapshot, file.metadata);
  return file;
}

}  // namespace headscope::app
