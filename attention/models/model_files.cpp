#include <fmt/core.h>

#include <ranges>

#include "attention/formats/files/file_io.h"
#include "attention/formats/quote.h"
#include "attention/formats/tensor_source.h"
#include "attention/models/config/model_catalogue.h"
#include "attention/models/config/shape_parts.h"
#include "attention/models/gguf/gguf_source.h"
#include "attention/models/model.h"
#include "attention/text/ascii.h"

namespace headscope::attention {
namespace {

/// Whisper's encoder makes 1,500 rows from 30 seconds of audio.
constexpr std::uint64_t kMostRows = std::uint64_t{1} << 16;

/// The name of the tensor to read; nothing if it is ambiguous.
std::optional<std::string> featuresOf(const SafetensorsHeader& header) {
  for (const char* name :
       {"encoder_last_hidden_state", "last_hidden_state", "encoder_hidden_states", "features", "array"})
    if (header.tensors.contains(name)) return name;
  if (header.tensors.size() != 1) return std::nullopt;
  return header.tensors.begin()->first;
}

}  // namespace

Result<std::shared_ptr<const Matrix>> readFeatures(const std::filesystem::path& path, Index width) {
  const auto source = TensorSource::open(path);
  if (!source) return source.error();
  const auto name = featuresOf(source->header());
  const std::string at = shownPath(path);
  if (!name)
    return Error{fmt::format("{} has {} tensors, expected one called encoder_last_hidden_state or features",
                             at, source->header().tensors.size())};
  std::vector<std::uint64_t> shape = source->header().tensors.at(*name).shape;
  if (shape.size() == 3 && shape[0] == 1) shape.erase(shape.begin());
  if (shape.size() != 2 || shape[0] < 1 || shape[0] > kMostRows ||
      shape[1] != static_cast<std::uint64_t>(width))
    return Error{fmt::format(
        "{}: tensor {} is {}, expected [1 to {}, {}], a row of the model's width for each frame", at,
        quotedText(*name), shapeText(source->header().tensors.at(*name).shape), kMostRows, width)};
  auto features = std::make_shared<Matrix>(static_cast<Index>(shape[0]), width);
  const std::span<float> numbers(features->data(), static_cast<std::size_t>(features->size()));
  if (const Status read = source->readFloats(*name, 0, numbers, at); !read) return read.error();
  if (!features->allFinite())
    return Error{fmt::format("{}: tensor {} has numbers that aren't finite", at, quotedText(*name))};
  return std::shared_ptr<const Matrix>(std::move(features));
}

ModelShape shapeOf(const ModelConfig& config) {
  ModelShape shape;
  shape.layers = config.layerCount();
  shape.modelDim = config.modelDim;
  shape.heads = config.heads;
  shape.kvHeads = config.kvHeads;
  shape.headDim = config.headDim;
  if (const Latent& latent = config.latent; latent.rank > 0) {
    shape.latentDim = latent.rank;
    shape.ropeDim = latent.ropeDim;
    shape.queryLatent = latent.queryRank;
    shape.headDim = config.headDim - latent.ropeDim;
    shape.valueDim = latent.valueDim;
  }
  shape.context = config.maxPositions;
  shape.decodes = config.causal;
  shape.innerDim = config.innerDim;
  shape.gated = config.gated;
  shape.vocabulary = config.vocabulary;
  shape.positions = config.positionRows;
  if (const Mixture& mixture = config.mixture; mixture.experts > 0) {
    shape.experts = mixture.experts;
    shape.activeExperts = mixture.used;
    shape.expertDim = mixture.innerDim;
    shape.sharedExperts = mixture.sharedDim / mixture.innerDim;
    shape.denseLayers =
        std::ranges::count_if(config.layers, [](const LayerKind& layer) { return !layer.mixture; });
  }
  for (const auto& layer : config.layers) {
    // A chunk holds at most as many tokens as a window of its size.
    shape.globalLayers += !layer.window && !layer.chunk;
    shape.order.push_back(layer.window || layer.chunk ? 1 : 0);
    if (layer.chunk) shape.window = *layer.chunk;
    if (layer.window) shape.window = config.causal ? *layer.window : 2 * *layer.window - 1;
  }
  if (shape.window == 0) {
    shape.globalLayers = 0;
    shape.order.clear();
  }
  return shape;
}

namespace {

/// The bits of each weight on average, of those in the files.
double bitsEach(const ModelShape& shape) {
  return 8 * static_cast<double>(shape.countedBytes) /
         static_cast<double>(std::max<std::uint64_t>(1, parametersOf(shape).total));
}

/// The format with that name in files, such as "Q4_K", or one with that name and `bits`.
WeightStorage formatOf(std::string_view kind, double bits) {
  if (kind == "F32") return storageOf(WeightFormat::fp32);
  if (kind == "F16") return storageOf(WeightFormat::fp16);
  const std::string name = lowerCase(kind);
  for (std::size_t i = 0; i < kWeightFormats.size(); ++i)
    if (kWeightFormats[i].name == name) return storageOf(static_cast<WeightFormat>(i));
  return {.name = name, .bits = bits};
}

/// Counts a file's weights and finds the format of most of them.
void takeWeights(ModelShape& shape, const std::map<std::string, TensorView>& tensors) {
  std::map<std::string_view, std::uint64_t> numbersOf;
  for (const auto& [name, tensor] : tensors) {
    if (isCausalMask(name, tensor.shape)) continue;
    shape.countedParameters += tensor.numbers();
    shape.countedBytes += tensor.bytes;
    numbersOf[tensor.kind] += tensor.numbers();
  }
  const auto most = std::max_element(numbersOf.begin(), numbersOf.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == numbersOf.end()) return;
  shape.weights = formatOf(most->first, bitsEach(shape));
}

/// Takes what a folder's files hold, and the format of most numbers if config.json names no other.
void takeCount(ModelShape& shape, const WeightCount& count) {
  const bool indexAlone = count.numbers.empty(), packed = shape.weights.packedBits > 0;
  shape.countedBytes = count.bytes;
  shape.countedParameters = !shape.weights.known || (indexAlone && packed) ? 0 : count.parameters;
  if (!shape.weights.known) {
    shape.weights = {.name = "quantised", .bits = bitsEach(shape)};
    for (std::string& note : shape.notes)
      if (const auto at = note.find(kCountedInstead); at != note.npos)
        note.replace(at, note.npos, ": bytes are those of its files, parameters are estimated");
  } else if (!indexAlone && shape.weights.covers == WeightFormatRow::Covers::all) {
    const auto most =
        std::ranges::max_element(count.numbers, {}, [](const auto& each) { return each.second; });
    shape.weights = formatOf(most->first, bitsEach(shape));
  }
}

}  // namespace

ModelShape shapeOf(const Model& model) {
  ModelShape shape = shapeOf(model.config());
  takeWeights(shape, model.checkpoint().tensors());
  return shape;
}

namespace {

constexpr const char *kConfig = "config.json", *kParams = "params.json";

Result<ModelShape> readGgufShape(const std::filesystem::path& path) {
  const auto source = GgufSource::open(path);
  if (!source) return source.error();
  const auto text = ggufConfig(*source);
  if (!text) return text.error();
  auto shape = readModelShape(*text, shownPath(path.stem()));
  if (!shape) return shape;
  takeWeights(*shape, source->tensors);
  shape->source = "GGUF file; weights as stored";
  return shape;
}

}  // namespace

bool describesModel(const std::filesystem::path& folder) {
  return fileExists(folder / kConfig) || fileExists(folder / kParams);
}

Result<ModelShape> readModelShape(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    return readModelShape(path /
                          (fileExists(path / kConfig) || !fileExists(path / kParams) ? kConfig : kParams));
  if (isGguf(path)) return readGgufShape(path);
  constexpr std::uint64_t kMaxBytes = std::uint64_t{16} << 20;
  const auto bytes = readFile(path, kMaxBytes);
  if (!bytes) return bytes.error();
  const std::string file = shownPath(path.filename());
  auto shape = readModelShape({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, file);
  if (!shape) return shape;
  const std::filesystem::path folder = std::filesystem::absolute(path, ignored).parent_path();
  if ((file != kConfig && file != kParams) || folder.filename().empty()) return shape;
  shape->name = shownPath(folder.filename());
  shape->source = shape->name + "/" + file;
  const auto counted = countWeights(folder, {shape->weights.packedBits, shape->weights.group});
  if (!counted) {
    shape->notes.push_back("weights are estimated: " + counted.error().message);
  } else if (*counted) {
    takeCount(*shape, **counted);
    shape->source += "; weights from its safetensors files";
  }
  return shape;
}

}  // namespace headscope::attention
