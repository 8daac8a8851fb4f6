#include <algorithm>
#include <map>
#include <string>
#include <string_view>

#include "attention/formats/files/file_io.h"
#include "attention/formats/files/regular_file.h"
#include "attention/models/checkpoint/weight_count.h"
#include "attention/models/config/model_shape_reader.h"
#include "attention/models/gguf/gguf_config.h"
#include "attention/models/model.h"
#include "attention/text/ascii.h"

namespace headscope::attention {

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
    shape.globalLayers += !layer.window;
    shape.order.push_back(layer.window ? 1 : 0);
    if (layer.window) shape.window = config.causal ? *layer.window : 2 * *layer.window - 1;
  }
  if (shape.window == 0) {
    shape.globalLayers = 0;
    shape.order.clear();
  }
  return shape;
}

namespace {

/// The format with that name in files, such as "Q4_K"; `published` if the table has none.
WeightFormat formatOf(std::string_view kind) {
  if (kind == "F32") return WeightFormat::fp32;
  if (kind == "F16") return WeightFormat::fp16;
  const std::string name = lowerCase(kind);
  for (std::size_t i = 0; i < kWeightFormats.size(); ++i)
    if (kWeightFormats[i].name == name) return static_cast<WeightFormat>(i);
  return WeightFormat::published;
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
  shape.weightFormat = formatOf(most->first);
  if (shape.weightFormat == WeightFormat::published)
    shape.weightBits =
        8 * static_cast<double>(shape.countedBytes) / static_cast<double>(shape.countedParameters);
}

}  // namespace

ModelShape shapeOf(const Model& model) {
  ModelShape shape = shapeOf(model.config());
  takeWeights(shape, model.checkpoint().tensors());
  return shape;
}

Result<ModelShape> readModelShape(const std::filesystem::path& path) {
  if (isGguf(path)) {
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
  constexpr std::uint64_t kMaxBytes = std::uint64_t{16} << 20;
  const auto bytes = readFile(path, kMaxBytes);
  if (!bytes) return bytes.error();
  auto shape = readModelShape({reinterpret_cast<const char*>(bytes->data()), bytes->size()},
                              shownPath(path.filename()));
  if (!shape) return shape;
  std::error_code ignored;
  const std::filesystem::path folder = std::filesystem::absolute(path, ignored).parent_path().filename();
  if (path.filename() != "config.json" || folder.empty()) return shape;
  shape->name = shownPath(folder);
  const double bits = shape->weightBits > 0 ? shape->weightBits : rowOf(shape->weightFormat).bits;
  const auto counted = countWeights(std::filesystem::absolute(path, ignored).parent_path(), bits);
  if (!counted) {
    shape->notes.push_back("weights are estimated: " + counted.error().message);
  } else if (*counted) {
    shape->countedBytes = (*counted)->bytes;
    shape->countedParameters = (*counted)->parameters;
    shape->source = "config.json; weights from its safetensors files";
  }
  return shape;
}

}  // namespace headscope::attention
