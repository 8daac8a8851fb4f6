#include "attention/formats/safetensors.h"

#include <fmt/format.h>

#include <bit>
#include <nlohmann/json.hpp>

#include "attention/formats/npy.h"
#include "attention/formats/quote.h"

namespace headscope::attention {
namespace {

static_assert(std::endian::native == std::endian::little, "tensor bytes are copied as they lie in the file");

/// Data starts at a multiple of this, so every dtype is aligned in a mapped file.
constexpr std::size_t kTensorAlignment = 8;

struct DTypeInfo {
  DType dtype;
  std::string_view name;
  std::size_t bits;
};
constexpr DTypeInfo kDTypes[] = {{DType::F32, "F32", 32},
                                 {DType::F16, "F16", 16},
                                 {DType::BF16, "BF16", 16},
                                 {DType::F64, "F64", 64},
                                 {DType::I64, "I64", 64},
                                 {DType::I32, "I32", 32},
                                 {DType::U8, "U8", 8},
                                 {DType::Bool, "BOOL", 8},
                                 {DType::I16, "I16", 16},
                                 {DType::I8, "I8", 8},
                                 {DType::U16, "U16", 16},
                                 {DType::U32, "U32", 32},
                                 {DType::U64, "U64", 64},
                                 {DType::C64, "C64", 64},
                                 {DType::F8_E4M3, "F8_E4M3", 8},
                                 {DType::F8_E5M2, "F8_E5M2", 8},
                                 {DType::F8_E8M0, "F8_E8M0", 8},
                                 {DType::F8_E4M3FNUZ, "F8_E4M3FNUZ", 8},
                                 {DType::F8_E5M2FNUZ, "F8_E5M2FNUZ", 8},
                                 {DType::F6_E2M3, "F6_E2M3", 6},
                                 {DType::F6_E3M2, "F6_E3M2", 6},
                                 {DType::F4, "F4", 4}};

const DTypeInfo& infoOf(DType dtype) {
  return *std::ranges::find(kDTypes, dtype, &DTypeInfo::dtype);
}

}  // namespace

std::string_view name(DType dtype) {
  return infoOf(dtype).name;
}
std::size_t byteSize(DType dtype) {
  return (infoOf(dtype).bits + 7) / 8;
}

Result<DType> dtypeFromName(std::string_view text) {
  std::string known;
  for (const auto& info : kDTypes) {
    if (info.name == text) return info.dtype;
    known += (known.empty() ? "" : ", ") + std::string(info.name);
  }
  return Error{"has dtype " + quotedText(text) + ", expected one of " + known};
}

std::optional<std::uint64_t> byteExtent(DType dtype, const std::vector<std::uint64_t>& shape) {
  // An empty dimension makes the tensor empty, even if the others would overflow.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::uint64_t numbers = 1;
  const std::uint64_t bits = infoOf(dtype).bits, most = std::numeric_limits<std::uint64_t>::max();
  for (const auto size : shape) {
    if (numbers > most / size) return std::nullopt;
    numbers *= size;
  }
  if (numbers / 8 > most / bits) return std::nullopt;
  const std::uint64_t whole = numbers / 8 * bits, rest = (numbers % 8 * bits + 7) / 8;
  return whole > most - rest ? std::nullopt : std::optional(whole + rest);
}

std::string shapeText(const std::vector<std::uint64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

namespace {

std::uint64_t bytesOf(const TensorPieces& tensor) {
  std::uint64_t bytes = 0;
  for (const auto& piece : tensor.pieces) bytes += piece.size();
  return bytes;
}

/// Returns everything before the tensors' bytes and sorts `tensors` into file order.
Result<std::vector<std::uint8_t>> startOfFile(std::vector<TensorPieces>& tensors,
                                              const std::map<std::string, std::string>& metadata) {
  // Widest values first, so that every tensor starts at a multiple of its value size.
  std::stable_sort(tensors.begin(), tensors.end(), [](const TensorPieces& a, const TensorPieces& b) {
    return byteSize(a.dtype) > byteSize(b.dtype);
  });
  auto json = nlohmann::json::object();
  if (!metadata.empty()) json["__metadata__"] = metadata;
  std::uint64_t end = 0;
  for (const TensorPieces& tensor : tensors) {
    if (tensor.name == "__metadata__") return Error{"a tensor is named \"__metadata__\""};
    const std::uint64_t bytes = bytesOf(tensor);
    require(byteExtent(tensor.dtype, tensor.shape) == bytes,
            fmt::format("tensor {} holds {} bytes, which is not {} {}", quotedText(tensor.name), bytes,
                        name(tensor.dtype), shapeText(tensor.shape)));
    const auto begin = std::exchange(end, end + bytes);
    json[tensor.name] = {
        {"dtype", name(tensor.dtype)}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
  }
  std::string header;
  try {
    header = json.dump();
  } catch (const nlohmann::json::exception&) {
    return Error{"a tensor's name or a metadata text is not UTF-8"};
  }
  header.resize((header.size() + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment, ' ');
  const std::uint64_t headerSize = header.size();
  std::vector<std::uint8_t> bytes(kHeaderLengthBytes);
  std::memcpy(bytes.data(), &headerSize, kHeaderLengthBytes);
  bytes.insert(bytes.end(), header.begin(), header.end());
  return bytes;
}

}  // namespace

Result<std::vector<std::uint8_t>> formatSafetensors(const SafetensorsFile& file) {
  std::vector<TensorPieces> tensors;
  std::size_t size = 0;
  for (const auto& [tensor, value] : file.tensors) {
    tensors.push_back({tensor, value.dtype, value.shape, {value.bytes}});
    size += value.bytes.size();
  }
  auto bytes = startOfFile(tensors, file.metadata);
  if (!bytes) return bytes.error();
  bytes->reserve(bytes->size() + size);
  for (const TensorPieces& tensor : tensors)
    bytes->insert(bytes->end(), tensor.pieces[0].begin(), tensor.pieces[0].end());
  return bytes;
}

Status writeSafetensors(const std::filesystem::path& path, std::vector<TensorPieces> tensors,
                        const std::map<std::string, std::string>& metadata) {
  const auto start = startOfFile(tensors, metadata);
  if (!start) return Error{shownPath(path) + ": " + start.error().message};
  return writeFileInParts(path, [&](const FileSink& sink) {
    bool more = sink(*start);
    for (const TensorPieces& tensor : tensors)
      for (const auto& piece : tensor.pieces) more = more && sink(piece);
    return success();
  });
}

Status writeSafetensors(const std::filesystem::path& path, const SafetensorsFile& file) {
  const auto bytes = formatSafetensors(file);
  if (!bytes) return fileError(path, bytes.error().message);
  return writeFile(path, *bytes);
}

Status convertToFloats(DType dtype, std::span<const std::uint8_t> bytes, std::span<float> values,
                       const std::string& name) {
  const auto size = byteSize(dtype);
  require(
      bytes.size() == values.size() * size,
      fmt::format("{} values don't fit {} bytes of {}", values.size(), bytes.size(), attention::name(dtype)));
  const auto at = [&](std::size_t i) { return bytes.data() + i * size; };
  switch (dtype) {
    case DType::F32:
      if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
      return success();
    case DType::F16:
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = halfToFloat(load<std::uint16_t>(at(i)));
      return success();
    case DType::BF16:
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = bfloat16ToFloat(load<std::uint16_t>(at(i)));
      return success();
    case DType::F64:
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto narrow = narrowed(load<double>(at(i)));
        if (!narrow) return Error{name + " holds a value beyond 3.4e38, the largest that 32 bits can hold"};
        values[i] = *narrow;
      }
      return success();
    default:
      return Error{name + " is " + std::string(attention::name(dtype)) + ", expected F32, F16, BF16 or F64"};
  }
}

NamedTensor fromFloats(std::span<const float> values, std::vector<std::uint64_t> shape) {
  require(byteExtent(DType::F32, shape) == values.size_bytes(),
          fmt::format("{} values don't fit the shape {}", values.size(), shapeText(shape)));
  NamedTensor tensor{DType::F32, std::move(shape), std::vector<std::uint8_t>(values.size_bytes())};
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), values.size_bytes());
  return tensor;
}

}  // namespace headscope::attention
