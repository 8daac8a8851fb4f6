#include "attention/formats/tensor_source.h"

#include <fmt/core.h>

#include <algorithm>

#include "attention/formats/quote.h"

namespace headscope::attention {

Result<TensorSource> TensorSource::open(const std::filesystem::path& path) {
  auto file = RegularFile::open(path);
  if (!file) return file.error();
  auto layout = readSafetensorsHeader(*file, shownPath(path));
  if (!layout) return layout.error();
  return TensorSource(*std::move(layout), *std::move(file));
}

TensorSource::TensorSource(const SafetensorsFile& file) : memory_(&file) {
  layout_.header.metadata = file.metadata;
  for (const auto& [name, tensor] : file.tensors)
    layout_.header.tensors[name] = {tensor.dtype, tensor.shape, 0, tensor.bytes.size()};
}

Status TensorSource::read(const std::string& tensor, std::uint64_t offset, std::span<std::uint8_t> to) const {
  const TensorEntry& entry = header().tensors.at(tensor);
  const std::uint64_t size = entry.end - entry.begin;
  require(
      offset <= size && to.size() <= size - offset,
      fmt::format("bytes [{}, +{}] of tensor {}, which has {}", offset, to.size(), quotedText(tensor), size));
  if (file_) return file_->read(layout_.dataBegin + entry.begin + offset, to);
  const auto from = memory_->tensors.at(tensor).bytes.begin() + static_cast<std::ptrdiff_t>(offset);
  std::copy_n(from, to.size(), to.begin());
  return success();
}

}  // namespace headscope::attention
