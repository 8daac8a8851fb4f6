#include "attention/models/features.h"

#include <fmt/core.h>

#include "attention/formats/quote.h"
#include "attention/formats/tensor_source.h"

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
      shape[1] != static_cast<std::uint64_t>(width)) {
    std::string found;
    for (const std::uint64_t side : source->header().tensors.at(*name).shape)
      found += (found.empty() ? "" : ", ") + std::to_string(side);
    return Error{
        fmt::format("{}: tensor {} is [{}], expected [1 to {}, {}], a row of the model's width for "
                    "each frame",
                    at, quotedText(*name), found, kMostRows, width)};
  }
  auto features = std::make_shared<Matrix>(static_cast<Index>(shape[0]), width);
  const std::span<float> numbers(features->data(), static_cast<std::size_t>(features->size()));
  if (const Status read = source->readFloats(*name, 0, numbers, at); !read) return read.error();
  if (!features->allFinite())
    return Error{fmt::format("{}: tensor {} has numbers that aren't finite", at, quotedText(*name))};
  return std::shared_ptr<const Matrix>(std::move(features));
}

}  // namespace headscope::attention
