#include "attention/formats/layers/qk_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <span>
#include <string>

#include "attention/formats/quote.h"

namespace headscope::attention {
namespace {

/// The bytes read and converted at a time: enough to make system calls negligible, and few enough for the CPU
/// cache.
constexpr std::uint64_t kBufferBytes = std::uint64_t{256} << 10;

/// `first` is the index of values[0] in the head.
Status checkFinite(std::span<const float> values, Index first, const QkTensor& tensor, Index head,
                   const std::string& at) {
  const auto bad =
      std::find_if(values.begin(), values.end(), [](float value) { return !std::isfinite(value); });
  if (bad == values.end()) return success();
  const Index place = first + (bad - values.begin());
  return Error{fmt::format("{} is {} at head {}, token {}, expected finite values", at,
                           std::isnan(*bad) ? "NaN"
                           : *bad > 0       ? "infinite"
                                            : "-infinite",
                           head, place / tensor.headDim)};
}

}  // namespace

Result<QkFile> QkFile::open(const std::filesystem::path& path) {
  auto tensors = TensorSource::open(path);
  if (!tensors) return tensors.error();
  auto layers = findQkLayers(tensors->header(), shownPath(path));
  if (!layers) return layers.error();
  return QkFile(path, *std::move(tensors), *std::move(layers));
}

const QkLayer& QkFile::layerAt(Index layer) const {
  require(layer >= 0 && layer < std::ssize(layers_),
          fmt::format("layer {} of {} in a Q/K file", layer, layers_.size()));
  return layers_[static_cast<std::size_t>(layer)];
}

Result<Matrix> QkFile::readQueries(Index layer, Index head) const {
  return readHead(layerAt(layer).q, head);
}

Result<Matrix> QkFile::readKeys(Index layer, Index kvHead) const {
  return readHead(layerAt(layer).k, kvHead);
}

Result<Matrix> QkFile::readHead(const QkTensor& tensor, Index head) const {
  require(head >= 0 && head < tensor.heads,
          fmt::format("head {} of a tensor {}", head, shapeText(tensor.shape)));
  const auto at = shownPath(path_) + ": tensor " + quotedText(tensor.name);
  const auto bytes = tensor.headBytes();
  const auto begin = static_cast<std::uint64_t>(head) * bytes;
  try {
    Matrix values(tensor.tokens, tensor.headDim);
    std::vector<std::uint8_t> buffer(std::min(bytes, kBufferBytes));
    const auto size = byteSize(tensor.dtype);
    for (std::uint64_t done = 0; done < bytes; done += buffer.size()) {
      const auto part = std::span(buffer).first(std::min<std::uint64_t>(buffer.size(), bytes - done));
      if (const auto status = tensors_.read(tensor.name, begin + done, part); !status) return status.error();
      const auto floats = std::span(values.data() + done / size, part.size() / size);
      if (const auto status = convertToFloats(tensor.dtype, part, floats, at); !status) return status.error();
      if (const auto status = checkFinite(floats, static_cast<Index>(done / size), tensor, head, at); !status)
        return status.error();
    }
    return values;
  } catch (const std::bad_alloc&) {
    return Error{fmt::format("{} has heads of {} × {} numbers, more than there is memory for", at,
                             tensor.tokens, tensor.headDim)};
  }
}

}  // namespace headscope::attention
