#include <fmt/core.h>

#include "attention/models/layers/layer_extras.h"
#include "attention/models/layers/layer_reader.h"

namespace headscope::attention {
namespace {

constexpr std::string_view kDown = "kv_a_proj_with_mqa", kUp = "kv_b_proj";

/// Reads maps and norms of one layer whose sizes come from their own shapes.
class LatentReader {
 public:
  LatentReader(TensorReader& reader, const LayerPlace& place) : reader_(reader), prefix_(place.prefix) {}

  bool has(std::string_view map) const { return reader_.all().contains(weightOf(map)); }

  /// Reads [rows, cols]; 0 stands for any number.
  Status read(std::string_view map, Index rows, Index cols, Linear& to) {
    const std::string weight = weightOf(map), expected = fmt::format("[{}, {}]", text(rows), text(cols));
    const auto found = reader_.get(weight, 2, 2, expected);
    if (!found) return found.error();
    const Shape& shape = (*found)->shape;
    if ((rows > 0 && shape[0] != asSize(rows)) || (cols > 0 && shape[1] != asSize(cols)))
      return reader_.wrongShape(weight, shape, expected);
    const auto values = reader_.floats(weight, **found);
    if (!values) return values.error();
    to.weight = MatrixView(values->data(), asIndex(shape[0]), asIndex(shape[1]));
    return vector(map, ".bias", to.weight.rows(), to.bias);
  }

  /// Reads a vector if there is one.
  Status vector(std::string_view map, std::string_view ending, Index size, Vector& to) {
    const std::string name = prefix_ + std::string(map) + std::string(ending);
    if (!reader_.all().contains(name)) return success();
    const TensorEntry* const found = reader_.find(name);
    if (found->shape != Shape{asSize(size)})
      return reader_.wrongShape(name, found->shape, shapeText(Shape{asSize(size)}));
    const auto values = reader_.floats(name, *found);
    if (!values) return values.error();
    to = Eigen::Map<const Vector>(values->data(), size);
    return success();
  }

  Status norm(std::string_view map, Index size, NormWeights& to) {
    return vector(map, ".weight", size, to.weight);
  }

  std::string weightOf(std::string_view map) const { return prefix_ + std::string(map) + ".weight"; }
  std::string at(std::string_view map) const { return reader_.at(weightOf(map)); }

 private:
  static std::string text(Index size) { return size > 0 ? std::to_string(size) : "any"; }

  TensorReader& reader_;
  const std::string& prefix_;
};

/// Reads the maps whose sizes don't depend on the number of heads.
Status readDown(LatentReader& layer, Index& width, LatentLayer& latent) {
  Status status = layer.read(kDown, 0, 0, latent.down);
  if (status) status = layer.read(kUp, 0, 0, latent.up);
  if (!status) return status;
  width = latent.down.weight.cols();
  latent.rank = latent.up.weight.cols();
  latent.ropeDim = latent.down.weight.rows() - latent.rank;
  if (latent.ropeDim < 0)
    return Error{fmt::format("{} has {} rows, expected at least the {} that {} reads", layer.at(kDown),
                             latent.down.weight.rows(), latent.rank, layer.at(kUp))};
  return layer.norm("kv_a_layernorm", latent.rank, latent.norm);
}

Status readQueries(LatentReader& layer, Index width, LatentLayer& latent) {
  if (!layer.has("q_a_proj")) return layer.read("q_proj", 0, width, latent.query);
  Status status = layer.read("q_a_proj", 0, width, latent.queryDown);
  const Index rank = latent.queryDown.weight.rows();
  if (status) status = layer.norm("q_a_layernorm", rank, latent.queryNorm);
  return status ? layer.read("q_b_proj", 0, rank, latent.query) : status;
}

}  // namespace

bool isLatent(const TensorReader& reader, const LayerPlace& place) {
  return reader.all().contains(fmt::format("{}{}.weight", place.prefix, kDown));
}

Result<LatentLayer> readLatentLayer(TensorReader& reader, const LayerPlace& place, ParsedOptions& options) {
  LatentReader layer(reader, place);
  LatentLayer latent;
  Index width = 0;
  Status status = readDown(layer, width, latent);
  if (status) status = readQueries(layer, width, latent);
  if (!status) return status.error();
  if (!options.heads && !options.headDim)
    return Error{layer.at(kDown) +
                 " belongs to multi-head latent attention, expected heads or head_dim as an option"};
  const Index rows = latent.query.weight.rows(),
              heads = options.heads.value_or(rows / options.headDim.value_or(1));
  const auto output = reader.get(layer.weightOf("o_proj"), 2, 2, "[model_dim, heads * value_dim]");
  if (!output) return output.error();
  const Index values = asIndex((*output)->shape[1]), up = latent.up.weight.rows();
  if (heads < 1 || rows % heads != 0 || values % heads != 0 || up % heads != 0)
    return Error{fmt::format("{} has {} rows, {} has {}, {} reads {}, expected multiples of heads ({})",
                             layer.at("q_b_proj"), rows, layer.at(kUp), up, layer.at("o_proj"), values,
                             heads)};
  AttentionConfig& config = options.config;
  config.modelDim = width;
  config.heads = config.kvHeads = heads;
  config.headDim = rows / heads;
  config.valueDim = values / heads;
  if (up / heads - config.valueDim != config.headDim - latent.ropeDim)
    return Error{fmt::format(
        "{} gives each head {} key numbers, and its queries have {} beside the {} rotated ones",
        layer.at(kUp), up / heads - config.valueDim, config.headDim - latent.ropeDim, latent.ropeDim)};
  if (options.kvHeads.value_or(heads) != heads || options.headDim.value_or(config.headDim) != config.headDim)
    return Error{
        fmt::format("{} belongs to multi-head latent attention, whose {} heads of {} have a key each",
                    layer.at(kUp), heads, config.headDim)};
  return latent;
}

}  // namespace headscope::attention
