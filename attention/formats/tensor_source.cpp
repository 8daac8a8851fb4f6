#include "attention/formats/tensor_source.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "attention/formats/quote.h"

namespace headscope::attention {

namespace {

bool beginsWith(std::span<const std::uint8_t> bytes, std::string_view text) {
  return bytes.size() >= text.size() &&
         std::equal(text.begin(), text.end(), bytes.begin(),
                    [](char c, std::uint8_t byte) { return static_cast<std::uint8_t>(c) == byte; });
}

/// Returns an Error for formats that are easily mistaken for safetensors.
Status checkOtherFormats(std::span<const std::uint8_t> begin, const std::filesystem::path& path) {
  // A protocol 2 pickle that starts with PyTorch's magic number, as written before version 1.6.
  if (beginsWith(begin, "\x80\x02\x8a\x0a\x6c\xfc\x9c\x46"))
    return fileError(path, "is a PyTorch pickle, " + savePickleInstead(path));
  if (beginsWith(begin, "GGUF"))
    return fileError(path, "is a GGUF file, expected safetensors or NumPy's .npz");
  return success();
}

}  // namespace

Result<TensorSource> TensorSource::open(const std::filesystem::path& path) {
  auto file = RegularFile::open(path);
  if (!file) return file.error();
  std::array<std::uint8_t, 8> start{};
  const auto begin = std::span(start).first(std::min<std::uint64_t>(start.size(), file->size()));
  if (const auto status = file->read(0, begin); !status) return status.error();
  if (hasZipSignature(begin)) {
    auto archive = NpzFile::open(path);
    if (!archive) return archive.error();
    return TensorSource(*std::move(archive));
  }
  if (const auto status = checkOtherFormats(begin, path); !status) return status.error();
  auto layout = beginsWith(begin, "\x93NUMPY") ? readNpyLayout(*file, shownPath(path))
                                               : readSafetensorsHeader(*file, shownPath(path));
  if (!layout) return layout.error();
  return TensorSource(*std::move(layout), *std::move(file));
}

Status TensorSource::read(const std::string& tensor, std::uint64_t offset, std::span<std::uint8_t> to) const {
  const TensorEntry& entry = header().tensors.at(tensor);
  const std::uint64_t size = entry.end - entry.begin;
  require(
      offset <= size && to.size() <= size - offset,
      fmt::format("bytes [{}, +{}] of tensor {}, which has {}", offset, to.size(), quotedText(tensor), size));
  if (archive_) return archive_->read(tensor, offset, to);
  return file_->read(layout_.dataBegin + entry.begin + offset, to);
}

Status TensorSource::readFloats(const std::string& tensor, std::uint64_t first, std::span<float> to,
                                const std::string& at) const {
  /// Values read and converted at a time.
  constexpr std::size_t kValues = std::size_t{1} << 16;
  const DType dtype = header().tensors.at(tensor).dtype;
  const std::size_t size = byteSize(dtype);
  std::vector<std::uint8_t> buffer(std::min(to.size(), kValues) * size);
  for (std::size_t done = 0; done < to.size(); done += kValues) {
    const std::span<float> part = to.subspan(done, std::min(kValues, to.size() - done));
    const auto bytes = std::span(buffer).first(part.size() * size);
    if (const auto status = read(tensor, (first + done) * size, bytes); !status) return status;
    if (const auto status = convertToFloats(dtype, bytes, part, at); !status) return status;
  }
  return success();
}

}  // namespace headscope::attention
