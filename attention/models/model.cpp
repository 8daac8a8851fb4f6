#include "attention/models/model.h"

#include <fmt/core.h>

#include <cmath>

#include "attention/formats/files/file_io.h"
#include "attention/formats/tensor_source.h"
#include "attention/models/block.h"
#include "attention/models/gguf/gguf_source.h"

namespace headscope::attention {
namespace {

constexpr std::uint64_t kMaxConfigBytes = std::uint64_t{4} << 20;

std::string_view textOf(const std::vector<std::uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Reads the end tokens, if any, and the generation rules from generation_config.json; from config.json only
/// if there is no generation_config.json, as transformers does.
Status readGeneration(const std::filesystem::path& folder, std::string_view configText, ModelConfig& config) {
  const std::string name =
      fileExists(folder / "generation_config.json") ? "generation_config.json" : "config.json";
  std::string text(configText);
  if (name != "config.json") {
    const auto bytes = readFile(folder / name, kMaxConfigBytes);
    if (!bytes) return bytes.error();
    text = textOf(*bytes);
  }
  const auto json = ConfigReader::parse(text, shownPath(folder / name));
  if (!json) return json.error();
  const std::vector<Index> tokens = json->tokens("eos_token_id");
  if (!tokens.empty()) config.endTokens = tokens;
  // An encoder predicts tokens in place; it generates none.
  if (config.causal) config.generation = readRules(*json, name, config.notes);
  return json->status();
}

}  // namespace

GroupedPath groupedPath(const std::filesystem::path& name) {
  std::error_code ignored;
  const std::string text = name.string();
  const std::size_t mark = text.rfind('#');
  if (mark == std::string::npos || std::filesystem::exists(name, ignored)) return {name, ""};
  return {text.substr(0, mark), text.substr(mark + 1)};
}

Result<Model> Model::open(const std::filesystem::path& path, const std::filesystem::path& adapter) {
  if (isGguf(path)) return openGguf(path);
  const GroupedPath named = groupedPath(path);
  return openFolder(named.path, named.group, adapter);
}

Result<Model> Model::openFolder(const std::filesystem::path& folder, std::string_view group,
                                const std::filesystem::path& adapter) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    const bool file = fileExists(folder);
    if (const auto opened = RegularFile::open(folder); file && !opened) return opened.error();
    return fileError(folder,
                     std::string(file ? "is a file" : "is missing") +
                         ", expected a folder with config.json and model.safetensors, or a GGUF file");
  }
  if (!fileExists(folder / "config.json")) return withoutConfig(folder);
  const auto text = readFile(folder / "config.json", kMaxConfigBytes);
  if (!text) return text.error();
  auto config = readModelConfig(textOf(*text), shownPath(folder / "config.json"), group);
  if (!config) return config.error();
  if (const Status status = readGeneration(folder, textOf(*text), *config); !status) return status.error();

  const Family& family = *config->family;
  TensorNaming naming = namingOf(family);
  naming.multimodal = config->wrapper;
  auto checkpoint = Checkpoint::open(folder, naming, config->quantisation, adapter);
  if (!checkpoint) return checkpoint.error();
  auto model = of(std::move(*checkpoint), std::move(*config), naming);
  if (!model || !family.source) return model;
  auto source = openFolder(folder, groupName(HeadGroup::encoder), adapter);
  if (!source) return source.error();
  for (const std::string& note : source->config_.notes)
    if (std::ranges::find(model->config_.notes, note) == model->config_.notes.end())
      model->config_.notes.push_back(note);
  model->source_ = std::make_shared<const Model>(*std::move(source));
  return model;
}

Result<Model> Model::openGguf(const std::filesystem::path& path) {
  auto source = GgufSource::open(path);
  if (!source) return source.error();
  const auto text = ggufConfig(*source);
  if (!text) return text.error();
  auto config = readModelConfig(*text, source->name + ", its metadata read as a config.json");
  if (!config) return config.error();
  fitToTensors(*source, *config);
  const TensorNaming naming =
      ggufNaming(*config->family, *source,
                 ggufFamily(GgufMetadata(*source).architecture(), config->mixture.experts > 0)->paired);
  return of(Checkpoint(path, std::move(source->files), std::move(source->tensors)), std::move(*config),
            naming);
}

Result<Model> Model::of(Checkpoint checkpoint, ModelConfig config, const TensorNaming& naming) {
  auto weights = ModelWeights::find(checkpoint, config, naming);
  // The norms have been read: if the file was truncated meanwhile, report that rather than its consequences.
  if (const Status status = checkpoint.intact(); !status) return status.error();
  if (!weights) return weights.error();
  config.notes.insert(config.notes.end(), checkpoint.notes().begin(), checkpoint.notes().end());
  std::move(weights->notes.begin(), weights->notes.end(), std::back_inserter(config.notes));
  for (const MappedRows& rows : weights->bucketBias) {
    auto table = std::make_shared<Matrix>(rows.rows, rows.cols);
    for (Index i = 0; i < table->rows(); ++i) table->row(i) = rows.row(i);
    config.bucketTables.push_back(std::move(table));
  }
  return Model(std::move(checkpoint), std::move(config), std::move(*weights),
               std::make_shared<const TensorNaming>(naming));
}

Model Model::made(ModelConfig config, ModelWeights weights, std::shared_ptr<const void> owner,
                  std::shared_ptr<const Model> of) {
  require(weights.embedding.cols == config.modelDim && std::ssize(weights.layers) == config.layerCount(),
          fmt::format("expected {} layers of width {}, found {} layers and embeddings of width {}",
                      config.layerCount(), config.modelDim, weights.layers.size(), weights.embedding.cols));
  config.vocabulary = weights.embedding.rows;
  Model model(Checkpoint::none(), std::move(config), std::move(weights), nullptr);
  model.owner_ = std::move(owner);
  if (of) model.naming_ = of->naming_;
  model.of_ = std::move(of);
  return model;
}

AttentionConfig Model::attention(Index layer) const {
  AttentionConfig attention = config_.attention(layer);
  attention.sinks = weights_.layers[asSize(layer)].sinks;
  return attention;
}

std::string Model::whyNoPredictions() const {
  if (predictsTokens() || classifies()) return "";
  return weights_.headless.empty() ? "It has no language-model head." : weights_.headless;
}

std::string Model::whyNoText() const {
  if (config_.group == HeadGroup::encoder)
    return "An encoder doesn't generate: look at the model's decoder or cross heads.";
  if (config_.picture) return "A model that reads pictures doesn't generate.";
  if (!config_.causal && !config_.isBidirectionalDecoder())
    return "An encoder fills gaps and doesn't generate.";
  return whyNoPredictions();
}

std::uint64_t Model::cacheBytesPerToken() const {
  return saturatingProduct({config_.layerCount(), config_.cachedNumbers(), sizeof(float)});
}

Status Model::checkTokens(std::span<const Index> ids, Index before) const {
  if (config_.picture && weights_.embedding.rows == 0)
    return Error{"this model's tokens are patches of a picture, expected a picture"};
  for (const Index id : ids)
    if (id < 0 || id >= config_.vocabulary)
      return Error{fmt::format("token id {} is not one of this model's 0 to {}", id, config_.vocabulary - 1)};
  const Index tokens = before + static_cast<Index>(ids.size());
  if (const auto limit = config_.positionLimit(); limit && tokens > *limit)
    return Error{fmt::format("found {} tokens, expected at most this model's {} positions", tokens, *limit)};
  return success();
}

namespace {

/// The vector of a position (ModelConfig::sinusoidSteps); an odd width ends in 0.
Eigen::RowVectorXf sinusoid(Index position, Index width, Index steps) {
  const Index half = width / 2;
  Eigen::RowVectorXf vector = Eigen::RowVectorXf::Zero(width);
  for (Index i = 0; i < half; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(steps);
    const double angle = static_cast<double>(position) * std::pow(10000.0, -share);
    vector[i] = static_cast<float>(std::sin(angle));
    vector[half + i] = static_cast<float>(std::cos(angle));
  }
  return vector;
}

}  // namespace

Matrix Model::embed(std::span<const Index> text, Index first) const {
  const auto ids = text.subspan(static_cast<std::size_t>(first));
  const auto isPad = [&](Index id) { return config_.padToken == id; };
  Index position = first - std::count_if(text.begin(), text.begin() + first, isPad);
  Matrix x(std::ssize(ids), config_.embeddingSize());
  for (Index i = 0; i < x.rows(); ++i)
    x.row(i) = config_.embeddingScale * weights_.embedding.row(ids[static_cast<std::size_t>(i)]);
  if (const auto& dropped = config_.droppedToken) {
    const auto count = static_cast<float>(std::ranges::count(text, *dropped));
    x *= 0.88F / (1 - count / static_cast<float>(text.size()));
    for (Index i = 0; i < x.rows(); ++i)
      if (ids[static_cast<std::size_t>(i)] == *dropped) x.row(i).setZero();
  }
  const auto& map = weights_.embeddingMap;
  if (weights_.headMap) x = map->apply(x, {});
  for (Index i = 0; i < x.rows(); ++i) {
    const Index id = ids[static_cast<std::size_t>(i)];
    if (weights_.tokenTypes.rows > 0)
      x.row(i) += weights_.tokenTypes.row(config_.secondText && first + i >= *config_.secondText ? 1 : 0);
    if (weights_.taskTypes.rows > 0) x.row(i) += weights_.taskTypes.row(0);
    if (weights_.positions.rows > 0)
      x.row(i) += weights_.positions.row(config_.firstPosition + (isPad(id) ? -1 : position));
    if (config_.sinusoidSteps > 0)
      x.row(i) += sinusoid(config_.firstPosition + position, x.cols(), config_.sinusoidSteps);
    position += !isPad(id);
  }
  if (weights_.embeddingNorm) x = normRows(x, *weights_.embeddingNorm, config_.norm, config_.epsilon);
  return map && !weights_.headMap ? map->apply(x, {}) : x;
}

Matrix Model::finalNorm(const Matrix& stream) const {
  return weights_.finalNorm ? normRows(stream, *weights_.finalNorm, config_.norm, config_.epsilon) : stream;
}

Matrix Model::logits(const Matrix& stream, const std::stop_token& stop) const {
  if (!weights_.head) return {};
  Matrix x = finalNorm(stream);
  if (const auto& transform = weights_.headTransform) {
    x = transform->dense.apply(x, stop);
    activate(x, config_.headActivation.value_or(config_.activation));
    x = normRows(x, transform->norm, config_.norm, config_.epsilon);
  }
  if (weights_.headMap) x = weights_.headMap->apply(x, stop);
  Matrix logits = weights_.head->apply(x, stop);
  if (config_.logitScale != 1) logits *= config_.logitScale;
  if (const auto& cap = config_.finalSoftcap) logits = *cap * (logits / *cap).array().tanh();
  return logits;
}

Matrix Model::classLogits(const Matrix& stream, const std::stop_token& stop) const {
  const VisionConfig& tokens = *config_.picture;
  const auto& classifiers = weights_.picture->classifiers;
  const auto patchesOf = [&](const Matrix& x) -> Matrix {
    return x.bottomRows(x.rows() - tokens.leading - tokens.registers).colwise().mean();
  };
  if (!config_.family->names.patchClassifier.empty()) return classifiers[0].apply(patchesOf(stream), stop);
  const Matrix x = finalNorm(stream);
  Matrix sum = Matrix::Zero(1, std::ssize(tokens.classes));
  for (std::size_t i = 0; i < classifiers.size(); ++i) {
    Matrix read = x.row(static_cast<Index>(i));
    if (tokens.classifiesMean) {
      read.conservativeResize(1, 2 * x.cols());
      read.rightCols(x.cols()) = patchesOf(x);
    }
    sum += classifiers[i].apply(read, stop);
  }
  return sum / static_cast<float>(classifiers.size());
}

namespace {

bool isOfEmbedding(const std::string& name, const TensorNames& names) {
  const auto holds = [&](std::string_view part) {
    return !part.empty() && name.find(part) != std::string::npos;
  };
  return holds(names.embedding) || holds(names.positions) || holds(names.tokenTypes) ||
         holds(names.taskTypes) || holds(names.embeddingNorm);
}

/// A tensor's place in the order of a pass: 0 is the embedding, then the layers, then the head.
Index placeOf(const std::string& name, const Model& model) {
  const ModelConfig& config = model.config();
  const auto number = layerOf(name, *model.naming());
  if (!number) return isOfEmbedding(name, model.naming()->names) ? 0 : config.layerCount() + 1;
  if (*number >= config.numberedLayers()) return config.layerCount() + 2;  // not read
  Index layer = 0;
  while (config.lastNumber(layer) < *number) ++layer;
  return layer + 1;
}

/// The first value that isn't finite; whole numbers always are.
std::optional<TensorFault> faultOf(const std::string& name, const TensorView& tensor,
                                   const std::stop_token& stop) {
  // A scalar is a setting that no pass reads, such as "masked_bias".
  if (tensor.shape.empty() || !tensor.type) return std::nullopt;
  const std::uint64_t count = tensor.numbers();
  constexpr std::uint64_t kPart = 1 << 16;
  std::vector<float> values;
  for (std::uint64_t first = 0; first < count && !stop.stop_requested(); first += kPart) {
    values.resize(std::min(kPart, count - first));
    // What exceeds float's range isn't finite in computations either.
    for (std::size_t i = 0; i < values.size() && !tensor.read(first, values, name); ++i)
      if (!tensor.read(first + i, {&values[i], 1}, name))
        return TensorFault{name, "beyond 3.4·10³⁸", positionText(first + i, tensor.shape)};
    const auto bad = std::ranges::find_if_not(values, [](float value) { return std::isfinite(value); });
    if (bad == values.end()) continue;
    return TensorFault{name,
                       std::isnan(*bad) ? "NaN"
                       : *bad > 0       ? "infinite"
                                        : "-infinite",
                       positionText(first + static_cast<std::size_t>(bad - values.begin()), tensor.shape)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<TensorFault> findTensorFault(const Model& model, const PassParts& parts,
                                           const std::stop_token& stop) {
  const ModelConfig& config = model.config();
  const Index behind = config.layerCount() + 1;
  for (Index place = parts.embedding ? 0 : 1; place <= behind; ++place) {
    if (place == behind ? !parts.head : place > parts.layers) continue;
    for (const auto& [name, tensor] : model.checkpoint().tensors())
      if (placeOf(name, model) == place)
        if (std::optional<TensorFault> fault = faultOf(name, tensor, stop)) {
          fault->layer = place > 0 && place < behind ? place - 1 : -1;
          return fault;
        }
  }
  return std::nullopt;
}

}  // namespace headscope::attention
