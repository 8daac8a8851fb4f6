#include "attention/formats/safetensors.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "attention/formats/file_io.h"
#include "attention/formats/float_formats.h"
#include "attention/formats/quote.h"
#include "attention/formats/safetensors_header.h"

namespace headscope::attention {
namespace {

static_assert(std::endian::native == std::endian::little, "tensor bytes are copied as they lie in the file");

constexpr std::uint64_t kLengthBytes = 8;
/// The limit of the reference implementation.
constexpr std::uint64_t kMaxHeader = 100'000'000;
/// Data starts at a multiple of this, so that a mapped file is aligned for every dtype.
constexpr std::size_t kAlignment = 8;

struct DTypeInfo {
  DType dtype;
  std::string_view name;
  std::size_t size;
};
constexpr std::array<DTypeInfo, 10> kDTypes{{{DType::F32, "F32", 4},
                                             {DType::F16, "F16", 2},
                                             {DType::BF16, "BF16", 2},
                                             {DType::F64, "F64", 8},
                                             {DType::I64, "I64", 8},
                                             {DType::I32, "I32", 4},
                                             {DType::U8, "U8", 1},
                                             {DType::Bool, "BOOL", 1},
                                             {DType::I16, "I16", 2},
                                             {DType::I8, "I8", 1}}};

const DTypeInfo& infoOf(DType dtype) {
  return *std::find_if(kDTypes.begin(), kDTypes.end(), [&](const DTypeInfo& i) { return i.dtype == dtype; });
}

template <typename T>
T load(const std::uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

/// Each tensor's own numbers: its extent fits its shape and lies within the data.
Status checkEntry(const std::string& tensor, const TensorEntry& entry, std::uint64_t dataSize,
                  const std::string& name) {
  const auto at = name + ": tensor " + quotedText(tensor);
  const auto range = "[" + std::to_string(entry.begin) + ", " + std::to_string(entry.end) + "]";
  if (entry.begin > entry.end || entry.end > dataSize) {
    return Error{at + " has data_offsets " + range + ", expected a range within the " +
                 std::to_string(dataSize) + " bytes of data"};
  }
  const auto extent = byteExtent(entry.dtype, entry.shape);
  if (!extent) return Error{at + " has shape " + shapeText(entry.shape) + ", more than can be addressed"};
  if (*extent != entry.end - entry.begin) {
    return Error{at + " has data_offsets " + range + ", expected an extent of " + std::to_string(*extent) +
                 " bytes for " + std::string(attention::name(entry.dtype)) + " " + shapeText(entry.shape)};
  }
  return success();
}

/// All tensors together: they cover the data without overlap or hole.
Status checkCoverage(const SafetensorsHeader& header, std::uint64_t dataSize, const std::string& name) {
  using Named = std::pair<const std::string, TensorEntry>;
  std::vector<const Named*> order;
  for (const auto& named : header.tensors) order.push_back(&named);
  std::sort(order.begin(), order.end(), [](const Named* a, const Named* b) {
    return std::pair(a->second.begin, a->second.end) < std::pair(b->second.begin, b->second.end);
  });
  std::uint64_t covered = 0;
  for (const Named* named : order) {
    const auto begin = named->second.begin;
    if (begin != covered) {
      return Error{name + ": tensor " + quotedText(named->first) + " begins at byte " +
                   std::to_string(begin) + " of the data, " +
                   (begin < covered ? "inside another tensor" : "after a hole") + ", expected " +
                   std::to_string(covered)};
    }
    covered = named->second.end;
  }
  if (covered != dataSize) {
    return Error{name + ": holds " + std::to_string(dataSize) + " bytes of data, expected " +
                 std::to_string(covered) + " as the tensors say"};
  }
  return success();
}

}  // namespace

std::string_view name(DType dtype) {
  return infoOf(dtype).name;
}
std::size_t byteSize(DType dtype) {
  return infoOf(dtype).size;
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
  // An empty dimension makes the whole tensor empty, whatever stands beside it.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::uint64_t bytes = byteSize(dtype);
  for (const auto size : shape) {
    if (bytes > std::numeric_limits<std::uint64_t>::max() / size) return std::nullopt;
    bytes *= size;
  }
  return bytes;
}

std::string shapeText(const std::vector<std::uint64_t>& shape) {
  std::string text = "[";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

Result<SafetensorsFile> parseSafetensors(std::span<const std::uint8_t> bytes, const std::string& name) {
  const auto found = std::to_string(bytes.size()) + " bytes";
  if (bytes.size() < kLengthBytes) {
    return Error{name + ": is " + found + ", expected a safetensors file of at least 8"};
  }
  const auto headerSize = load<std::uint64_t>(bytes.data());
  if (headerSize > kMaxHeader) {
    return Error{name + ": announces a header of " + std::to_string(headerSize) +
                 " bytes, expected at most " + std::to_string(kMaxHeader) + " in a safetensors file"};
  }
  if (headerSize > bytes.size() - kLengthBytes) {
    return Error{name + ": announces a header of " + std::to_string(headerSize) + " bytes in a file of " +
                 found};
  }
  const std::string_view json(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, headerSize);
  auto header = parseSafetensorsHeader(json, name);
  if (!header) return header.error();

  const auto data = bytes.subspan(kLengthBytes + headerSize);
  for (const auto& [tensor, entry] : header->tensors) {
    if (const auto status = checkEntry(tensor, entry, data.size(), name); !status) return status.error();
  }
  if (const auto status = checkCoverage(*header, data.size(), name); !status) return status.error();

  SafetensorsFile file;
  file.metadata = std::move(header->metadata);
  for (auto& [tensor, entry] : header->tensors) {
    const auto part = data.subspan(entry.begin, entry.end - entry.begin);
    file.tensors.emplace(tensor,
                         NamedTensor{entry.dtype, std::move(entry.shape), {part.begin(), part.end()}});
  }
  return file;
}

Result<SafetensorsFile> readSafetensors(const std::filesystem::path& path) {
  const auto bytes = readFile(path);
  if (!bytes) return bytes.error();
  return parseSafetensors(*bytes, path.string());
}

Result<std::vector<std::uint8_t>> formatSafetensors(const SafetensorsFile& file) {
  using Named = std::pair<const std::string, NamedTensor>;
  std::vector<const Named*> order;
  for (const auto& named : file.tensors) order.push_back(&named);
  // Wide values first: every tensor then starts at a multiple of its own value size.
  std::stable_sort(order.begin(), order.end(), [](const Named* a, const Named* b) {
    return byteSize(a->second.dtype) > byteSize(b->second.dtype);
  });
  auto json = nlohmann::json::object();
  if (file.tensors.count("__metadata__") != 0) return Error{"a tensor is named \"__metadata__\""};
  if (!file.metadata.empty()) json["__metadata__"] = file.metadata;
  std::uint64_t end = 0;
  for (const Named* named : order) {
    const auto& [tensor, value] = *named;
    require(byteExtent(value.dtype, value.shape) == value.bytes.size(),
            "tensor " + quotedText(tensor) + " holds " + std::to_string(value.bytes.size()) +
                " bytes, which is not " + std::string(name(value.dtype)) + " " + shapeText(value.shape));
    const auto begin = std::exchange(end, end + value.bytes.size());
    json[tensor] = {{"dtype", name(value.dtype)}, {"shape", value.shape}, {"data_offsets", {begin, end}}};
  }
  std::string header;
  try {
    header = json.dump();
  } catch (const nlohmann::json::exception&) {
    return Error{"a tensor's name or a metadata text is not UTF-8"};
  }
  header.resize((header.size() + kAlignment - 1) / kAlignment * kAlignment, ' ');

  const std::uint64_t headerSize = header.size();
  std::vector<std::uint8_t> bytes(kLengthBytes);
  bytes.reserve(kLengthBytes + headerSize + end);
  std::memcpy(bytes.data(), &headerSize, kLengthBytes);
  bytes.insert(bytes.end(), header.begin(), header.end());
  for (const Named* named : order) {
    bytes.insert(bytes.end(), named->second.bytes.begin(), named->second.bytes.end());
  }
  return bytes;
}

Status writeSafetensors(const std::filesystem::path& path, const SafetensorsFile& file) {
  const auto bytes = formatSafetensors(file);
  if (!bytes) return Error{path.string() + ": " + bytes.error().message};
  return writeFile(path, *bytes);
}

Result<std::vector<float>> toFloats(const NamedTensor& tensor, const std::string& name) {
  const auto size = byteSize(tensor.dtype);
  std::vector<float> values(tensor.bytes.size() / size);
  const auto* bytes = tensor.bytes.data();
  switch (tensor.dtype) {
    case DType::F32:
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = load<float>(bytes + i * size);
      return values;
    case DType::F16:
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = halfToFloat(load<std::uint16_t>(bytes + i * size));
      return values;
    case DType::BF16:
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = bfloat16ToFloat(load<std::uint16_t>(bytes + i * size));
      return values;
    case DType::F64:
      for (std::size_t i = 0; i < values.size(); ++i) {
        const auto narrow = narrowed(load<double>(bytes + i * size));
        if (!narrow) return Error{name + " holds a value beyond 3.4e38, the largest that 32 bits can hold"};
        values[i] = *narrow;
      }
      return values;
    default:
      return Error{name + " is " + std::string(attention::name(tensor.dtype)) +
                   ", expected F32, F16, BF16 or F64"};
  }
}

NamedTensor fromFloats(std::span<const float> values, std::vector<std::uint64_t> shape) {
  require(byteExtent(DType::F32, shape) == values.size_bytes(),
          std::to_string(values.size()) + " values don't fit the shape " + shapeText(shape));
  NamedTensor tensor{DType::F32, std::move(shape), std::vector<std::uint8_t>(values.size_bytes())};
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), values.size_bytes());
  return tensor;
}

}  // namespace headscope::attention
