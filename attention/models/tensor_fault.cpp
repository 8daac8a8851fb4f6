#include "attention/models/tensor_fault.h"

#include <algorithm>
#include <cmath>

#include "attention/formats/tensor_reader.h"
#include "attention/models/config/families.h"

namespace headscope::attention {
namespace {

bool isOfEmbedding(const std::string& name, const TensorNames& names) {
  const auto holds = [&](std::string_view part) {
    return !part.empty() && name.find(part) != std::string::npos;
  };
  return holds(names.embedding) || holds(names.positions) || holds(names.tokenTypes) ||
         holds(names.embeddingNorm);
}

/// A tensor's place in the order of a pass: 0 is the embedding, then the layers, then the head.
Index placeOf(const std::string& name, const Model& model) {
  if (const auto layer = layerOf(name, *model.naming())) return *layer + 1;
  return isOfEmbedding(name, model.naming()->names) ? 0 : model.config().layerCount() + 1;
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
