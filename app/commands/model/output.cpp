#include "app/commands/model/output.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/scene/text/number_text.h"
#include "attention/core/extremes.h"
#include "attention/models/config/families.h"

namespace headscope::app {
namespace {

using attention::DType;
using attention::Index;
using attention::LayerResult;
using attention::Matrix;
using attention::Stack;
using attention::TensorPieces;

using Bytes = std::span<const std::uint8_t>;

template <typename Number>
Bytes bytesOf(const Number* numbers, Index count) {
  return {reinterpret_cast<const std::uint8_t*>(numbers), static_cast<std::size_t>(count) * sizeof(Number)};
}

std::uint64_t size(Index i) {
  return static_cast<std::uint64_t>(i);
}

TensorPieces ofIds(const char* name, const std::vector<Index>& ids) {
  static_assert(sizeof(Index) == 8);
  return {name, DType::I64, {ids.size()}, {bytesOf(ids.data(), std::ssize(ids))}};
}

/// Adds one stack of every layer kept; nothing if there are none.
void addStacks(const char* name, const attention::LayerResults& layers, Stack LayerResult::*stack,
               std::vector<TensorPieces>& tensors) {
  if (layers.empty()) return;
  const Stack& first = (*layers[0]).*stack;
  TensorPieces tensor{
      name, DType::F32, {layers.size(), size(first.count()), size(first.rows()), size(first.cols())}, {}};
  for (const auto& layer : layers)
    tensor.pieces.push_back(bytesOf(((*layer).*stack).data(), ((*layer).*stack).size()));
  tensors.push_back(std::move(tensor));
}

void addHidden(const attention::PassResult& pass, bool chosenLayers, std::vector<TensorPieces>& tensors) {
  TensorPieces tensor{"hidden", DType::F32, {}, {}};
  if (!chosenLayers) tensor.pieces.push_back(bytesOf(pass.embedded.data(), pass.embedded.size()));
  for (const auto& layer : pass.layers)
    tensor.pieces.push_back(bytesOf(layer->hidden.data(), layer->hidden.size()));
  tensor.shape = {tensor.pieces.size(), size(pass.embedded.rows()), size(pass.embedded.cols())};
  tensors.push_back(std::move(tensor));
}

struct Prediction {
  Index id = 0;
  double probability = 0;
};

/// The five most likely predictions of one row.
std::vector<Prediction> guessesOf(const Eigen::Ref<const Eigen::RowVectorXf>& logits) {
  std::vector<Prediction> guesses;
  const Eigen::RowVectorXd wide = logits.cast<double>();
  const double most = wide.maxCoeff(), sum = (wide.array() - most).exp().sum();
  std::vector<Index> ids(size(logits.size()));
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<Index>(i);
  const auto count = std::min<std::ptrdiff_t>(5, std::ssize(ids));
  std::partial_sort(ids.begin(), ids.begin() + count, ids.end(), [&](Index a, Index b) {
    return attention::descends(logits[a], logits[b]) || (!attention::descends(logits[b], logits[a]) && a < b);
  });
  for (const Index id : std::span(ids).first(static_cast<std::size_t>(count)))
    guesses.push_back({id, std::exp(wide[id] - most) / sum});
  return guesses;
}

/// The most likely classes of a picture.
std::vector<Prediction> classesOf(const attention::Model& model, const ModelReport& run) {
  return guessesOf(model.classLogits(run.pass.stream).row(0));
}

const std::string& className(const attention::ModelConfig& config, Index id) {
  return config.picture->classes[size(id)];
}

/// The first row whose predictions are printed: the last one, or 0 for an encoder.
Index firstGuess(const attention::Model& model, const Matrix& logits) {
  return model.config().causal ? std::max<Index>(logits.rows() - 1, 0) : 0;
}

std::vector<std::string> notesOf(const attention::ModelConfig& config, const ModelReport& run) {
  std::vector<std::string> notes = config.notes;
  if (!run.note.empty()) notes.push_back(run.note);
  return notes;
}

/// A token's readable text; "" if unknown.
std::string readable(const ModelReport& run, Index id) {
  if (run.picture) return run.picture->names()[static_cast<std::size_t>(id)];
  if (!run.tokenizer) return "";
  return run.tokenizer->readable(static_cast<attention::TokenId>(id)).value_or("");
}

/// "464"; with a tokenizer "464 The".
std::string named(const ModelReport& run, Index id) {
  const std::string text = readable(run, id);
  return text.empty() ? fmt::format("{}", id) : fmt::format("{} {}", id, text);
}

/// The tokens in the form RecordedAttention reads from the file: a JSON list of texts.
std::string tokenList(const ModelReport& run, const std::vector<Index>& ids) {
  auto texts = nlohmann::json::array();
  if (run.picture) return nlohmann::json(run.picture->names()).dump();
  for (const attention::Token& token : modelTokens(*run.tokenizer, ids)) texts.push_back(token.text);
  return texts.dump();
}

/// The generated text; nothing if there is none or no tokenizer.
std::optional<std::string> writtenText(const ModelReport& run) {
  if (!run.tokenizer || !run.generatedIds) return std::nullopt;
  std::vector<attention::TokenId> ids;
  for (const Index id : *run.generatedIds) ids.push_back(static_cast<attention::TokenId>(id));
  auto text = run.tokenizer->decode(ids);
  return text ? std::optional(*std::move(text)) : std::nullopt;
}

Index positionOf(const ModelReport& run, Index row) {
  return std::ssize(run.inputIds) - run.pass.logits.rows() + row;
}

/// Describes the tokens of a picture in one line.
std::string pictureLine(const attention::VisionModel& picture) {
  const auto names = picture.names();
  return fmt::format("{}: {}, then {} × {} patches of a picture of {} × {} pixels\n",
                     tokenCountText(picture.tokens()),
                     fmt::join(std::span(names).first(static_cast<std::size_t>(picture.before)), ", "),
                     picture.rows, picture.cols, picture.seen.width, picture.seen.height);
}

std::string tokenLine(const ModelReport& run) {
  if (run.picture) return pictureLine(*run.picture);
  std::string text = tokenCountText(std::ssize(run.inputIds)) + ":";
  for (const Index id : run.inputIds) text += (run.tokenizer ? "  " : " ") + named(run, id);
  return text + "\n";
}

/// Leaves out undefined values.
nlohmann::json pairJson(const ComposedPair& pair) {
  nlohmann::json json{{"from", {pair.fromLayer, pair.fromHead}}, {"to", {pair.toLayer, pair.toHead}}};
  if (pair.toGroup != attention::HeadGroup::only) {
    json["from_group"] = groupName(pair.fromGroup);
    json["to_group"] = groupName(pair.toGroup);
  }
  for (const auto& [name, value] : {std::pair("q", pair.with.q), {"k", pair.with.k}, {"v", pair.with.v}})
    if (!std::isnan(value)) json[name] = std::round(value * 1e6) / 1e6;
  return json;
}

/// What attention::composition() subtracts: with it added, scores are TransformerLens's.
double compositionBaseline(const attention::ModelConfig& config) {
  return 1 / std::sqrt(static_cast<double>(config.modelDim));
}

/// One line for each of the ten strongest.
std::string strongestCompositions(const std::vector<ComposedPair>& pairs, double baseline) {
  struct One {
    const ComposedPair* pair;
    const char* kind;
    double amount;
  };
  std::vector<One> all;
  for (const ComposedPair& pair : pairs)
    for (const auto& [kind, amount] :
         {std::pair("Q", pair.with.q), std::pair("K", pair.with.k), std::pair("V", pair.with.v)})
      if (!std::isnan(amount)) all.push_back({&pair, kind, amount});
  const std::size_t shown = std::min<std::size_t>(10, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shown), all.end(),
                    [](const One& a, const One& b) { return a.amount > b.amount; });
  const auto prefix = [](attention::HeadGroup group) {
    const std::string_view name = groupName(group);
    return name.empty() ? std::string() : std::string(name) + " ";
  };
  std::string text =
      fmt::format("composition above {:.3f}, that of random heads, the strongest:\n", baseline);
  for (const One& one : std::span(all).first(shown))
    text += fmt::format("  {}head {}.{} into {} of {}head {}.{}: {:+.3f}\n", prefix(one.pair->fromGroup),
                        one.pair->fromLayer, one.pair->fromHead, one.kind, prefix(one.pair->toGroup),
                        one.pair->toLayer, one.pair->toHead, one.amount);
  return text;
}

}  // namespace

attention::Status writeModelRun(const std::string& path, const ModelReport& run, bool chosenLayers,
                                bool cross, const std::vector<std::string>& arrays) {
  const auto wanted = [&](const char* name) {
    return std::find(arrays.begin(), arrays.end(), name) != arrays.end();
  };
  std::vector<TensorPieces> tensors{ofIds("input_ids", run.inputIds)};
  if (run.generatedIds) tensors.push_back(ofIds("generated_ids", *run.generatedIds));
  const auto& layers = run.pass.layers;
  if (wanted("attention")) addStacks("attention", layers, &LayerResult::weights, tensors);
  if (wanted("q")) addStacks("q", layers, &LayerResult::q, tensors);
  if (wanted("k")) addStacks("k", layers, &LayerResult::k, tensors);
  if (wanted("v")) addStacks("v", layers, &LayerResult::v, tensors);
  if (wanted("hidden")) addHidden(run.pass, chosenLayers, tensors);
  const Matrix& logits = run.pass.logits;
  if (wanted("logits") && logits.size() > 0)
    tensors.push_back({"logits",
                       DType::F32,
                       {size(logits.rows()), size(logits.cols())},
                       {bytesOf(logits.data(), logits.size())}});
  std::map<std::string, std::string> metadata;
  if (run.tokenizer || run.picture) metadata["tokens"] = tokenList(run, run.inputIds);
  if (!run.sourceIds.empty()) {
    tensors.push_back(ofIds("source_ids", run.sourceIds));
    if (run.tokenizer && cross) {
      metadata["query_tokens"] = metadata["tokens"];
      metadata["tokens"] = tokenList(run, run.sourceIds);
    }
  }
  if (chosenLayers) {
    std::vector<Index> numbers;
    for (const auto& layer : layers) numbers.push_back(layer->layer);
    metadata["layers"] = fmt::format("{}", fmt::join(numbers, ","));
  }
  return attention::writeSafetensors(path, std::move(tensors), metadata);
}

std::string modelTable(const attention::Model& model, const ModelReport& run) {
  const attention::ModelConfig& config = model.config();
  std::string text =
      fmt::format("{}: {}, {} over {} of size {}, width {}, {}, {:.1f} MB of weights\n", config.family->name,
                  countedText(config.layerCount(), "layer"), countedText(config.heads, "head"),
                  config.kvHeads, config.headDim, config.modelDim,
                  config.picture ? fmt::format("patches of {0} × {0} pixels", config.picture->patch)
                                 : fmt::format("vocabulary {}", config.vocabulary),
                  static_cast<double>(model.checkpoint().bytes()) / 1e6);
  for (const std::string& note : notesOf(config, run)) text += note + "\n";
  if (!run.sourceIds.empty()) {
    text += "the encoder reads " + tokenCountText(std::ssize(run.sourceIds)) + ":";
    for (const Index id : run.sourceIds) text += (run.tokenizer ? "  " : " ") + named(run, id);
    text += "\nthe decoder's ";
  }
  text += tokenLine(run);
  const Matrix& logits = run.pass.logits;
  if (const std::string why = model.whyNoPredictions(); !why.empty()) text += why + "\n";
  if (model.classifies()) {
    text += "classes:";
    for (const Prediction& guess : classesOf(model, run))
      text += fmt::format("  {} {:.3f}", className(config, guess.id), guess.probability);
    text += "\n";
  }
  for (Index row = firstGuess(model, logits); row < logits.rows(); ++row) {
    text += fmt::format("{} {}:", config.causal ? "after token" : "token", positionOf(run, row));
    for (const Prediction& guess : guessesOf(logits.row(row)))
      text += fmt::format("  {} {:.3f}", named(run, guess.id), guess.probability);
    text += "\n";
  }
  if (const auto written = writtenText(run)) text += "text: " + *written + "\n";
  if (run.generatedIds)
    text += fmt::format("generated: {} ({:.1f} tokens/s)\n", fmt::join(*run.generatedIds, " "),
                        run.tokensPerSecond);
  if (run.compositions) text += strongestCompositions(*run.compositions, compositionBaseline(config));
  return text;
}

std::string modelJson(const attention::Model& model, const ModelReport& run) {
  const attention::ModelConfig& config = model.config();
  nlohmann::ordered_json json{{"family", config.family->name},
                              {"layers", config.layerCount()},
                              {"heads", config.heads},
                              {"kv_heads", config.kvHeads},
                              {"head_dim", config.headDim},
                              {"model_dim", config.modelDim},
                              {"vocabulary", config.picture ? 0 : config.vocabulary},
                              {"weight_bytes", model.checkpoint().bytes()},
                              {"notes", notesOf(config, run)},
                              {"input_ids", run.inputIds},
                              {"guesses", nlohmann::json::array()}};
  if (!run.sourceIds.empty()) json["source_ids"] = run.sourceIds;
  if (const std::string why = model.whyNoPredictions(); !why.empty()) json["no_guesses"] = why;
  if (model.classifies())
    for (const Prediction& guess : classesOf(model, run))
      json["classes"].push_back(
          {{"id", guess.id}, {"probability", guess.probability}, {"class", className(config, guess.id)}});
  const Matrix& logits = run.pass.logits;
  for (Index row = firstGuess(model, logits); row < logits.rows(); ++row) {
    auto likeliest = nlohmann::json::array();
    for (const Prediction& guess : guessesOf(logits.row(row))) {
      likeliest.push_back({{"id", guess.id}, {"probability", guess.probability}});
      if (run.tokenizer) likeliest.back()["token"] = readable(run, guess.id);
    }
    json["guesses"].push_back({{"position", positionOf(run, row)}, {"likeliest", likeliest}});
  }
  if (run.picture)
    json["patches"] = {
        {"rows", run.picture->rows}, {"columns", run.picture->cols}, {"tokens_before", run.picture->before}};
  if (run.tokenizer || run.picture) {
    json["tokens"] = nlohmann::json::array();
    for (const Index id : run.inputIds) json["tokens"].push_back(readable(run, id));
  }
  if (const auto written = writtenText(run)) json["generated_text"] = *written;
  if (run.generatedIds) {
    json["generated_ids"] = *run.generatedIds;
    json["tokens_per_second"] = run.tokensPerSecond;
  }
  if (run.compositions) {
    json["composition_baseline"] = compositionBaseline(config);
    json["composition"] = nlohmann::json::array();
    for (const ComposedPair& pair : *run.compositions) json["composition"].emplace_back(pairJson(pair));
  }
  return json.dump(2) + "\n";
}

std::string familiesTable() {
  std::string text;
  for (const auto& [name, computes, as] : attention::modelTypes())
    text += fmt::format("{:24} {}{}\n", name, computes, as.empty() ? "" : fmt::format(", as {}", as));
  return text;
}

std::string familiesJson() {
  auto list = nlohmann::ordered_json::array();
  for (const auto& [name, computes, as] : attention::modelTypes()) {
    auto& row = list.emplace_back(nlohmann::ordered_json{{"model_type", name}, {"computes", computes}});
    if (!as.empty()) row["as"] = as;
  }
  return list.dump(2) + "\n";
}

}  // namespace headscope::app
