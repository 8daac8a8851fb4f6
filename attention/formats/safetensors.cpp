#include "attention/formats/safetensors.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <new>
#include <nlohmann/json.hpp>
#include <set>

#include "attention/formats/json_cursor.h"
#include "attention/formats/quote.h"

namespace headscope::attention {
namespace {

/// The reference implementation's limit.
constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr std::size_t kMaxRank = 32;
constexpr std::string_view kMetadata = "__metadata__";

/// Data starts at a multiple of this, so every dtype is aligned in a mapped file.
constexpr std::size_t kTensorAlignment = 8;

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
  if (!metadata.empty()) json[std::string(kMetadata)] = metadata;
  std::uint64_t end = 0;
  for (const TensorPieces& tensor : tensors) {
    if (tensor.name == kMetadata) return Error{"a tensor is named \"__metadata__\""};
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

NamedTensor fromFloats(std::span<const float> values, std::vector<std::uint64_t> shape) {
  require(byteExtent(DType::F32, shape) == values.size_bytes(),
          fmt::format("{} values don't fit the shape {}", values.size(), shapeText(shape)));
  NamedTensor tensor{DType::F32, std::move(shape), std::vector<std::uint8_t>(values.size_bytes())};
  if (!values.empty()) std::memcpy(tensor.bytes.data(), values.data(), values.size_bytes());
  return tensor;
}

namespace {

/// Parses the only document accepted:
/// {"__metadata__": {text: text}, tensor: {"dtype": text, "shape": [n…], "data_offsets": [begin, end]}}.
/// Throws an Error that names no file.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view json) : cursor_(json) {}

  SafetensorsHeader read() {
    check(cursor_.enter('{'));
    while (next()) readEntry();
    check(cursor_.finish());
    return std::move(header_);
  }

 private:
  void readEntry() {
    tensor_ = readKey();
    const bool metadata = tensor_ == kMetadata;
    if (metadata ? std::exchange(hasMetadata_, true) : header_.tensors.contains(tensor_))
      throw Error{"names " + quotedText(tensor_) + " twice"};
    if (cursor_.peek() != '{') unexpected("has ", " for " + quotedText(tensor_) + ", expected an object");
    cursor_.enter('{');
    if (metadata)
      readMetadata();
    else
      readTensor();
  }

  void readMetadata() {
    while (next()) {
      const std::string key = readKey();
      if (header_.metadata.contains(key)) throw Error{"the metadata names " + quotedText(key) + " twice"};
      header_.metadata[key] = readText("has ", " for the metadata " + quotedText(key));
    }
  }

  void readTensor() {
    TensorEntry entry;
    std::set<std::string> seen;
    const std::string has = where() + " has ";
    while (next()) {
      const std::string key = readKey();
      if (!seen.insert(key).second) throw Error{has + quotedText(key) + " twice"};
      if (key == "dtype") {
        const auto type = dtypeFromName(readText(has, " for dtype"));
        if (!type) throw Error{where() + " " + type.error().message};
        entry.dtype = *type;
      } else if (key == "shape") {
        entry.shape = readNumbers(key, kMaxRank, "its shape, expected whole numbers");
      } else if (key == "data_offsets") {
        const auto offsets = readNumbers(key, 2, "its data_offsets, expected two whole numbers");
        if (offsets.size() != 2)
          throw Error{fmt::format("{} has {} data_offsets, expected 2", where(), offsets.size())};
        entry.begin = offsets[0];
        entry.end = offsets[1];
      } else {
        throw Error{has + quotedText(key) + ", expected only dtype, shape and data_offsets"};
      }
    }
    for (const char* name : {"dtype", "shape", "data_offsets"})
      if (!seen.contains(name)) throw Error{where() + " has no " + name};
    header_.tensors.emplace(tensor_, std::move(entry));
  }

  /// Reads the list under `key`: a shape or two offsets.
  std::vector<std::uint64_t> readNumbers(const std::string& key, std::size_t most,
                                         const std::string& expected) {
    const std::string has = where() + " has ";
    if (cursor_.peek() != '[')
      unexpected(has, fmt::format(" for {}, expected an array of whole numbers", key));
    cursor_.enter('[');
    std::vector<std::uint64_t> numbers;
    while (next()) {
      const char first = cursor_.peek();
      if (first == '[' || first == '{' || first == '"') unexpected(has, " in " + expected);
      std::string_view word;
      check(cursor_.word(word));
      std::uint64_t value = 0;
      const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
      const bool whole = code == std::errc{} && end == word.data() + word.size();
      const bool full = numbers.size() == most;
      if (!whole || (full && most != kMaxRank)) throw Error{has + std::string(word) + " in " + expected};
      if (full) throw Error{fmt::format("{} has more than {} dimensions", where(), kMaxRank)};
      numbers.push_back(value);
    }
    return numbers;
  }

  std::string readKey() {
    std::string_view key;
    check(cursor_.key(key, buffer_));
    return std::string(key);
  }

  std::string readText(const std::string& before, const std::string& behind) {
    if (cursor_.peek() != '"') unexpected(before, behind + ", expected a text");
    std::string_view text;
    check(cursor_.string(text, buffer_));
    return std::string(text);
  }

  std::string where() const { return "tensor " + quotedText(tensor_); }

  bool next() {
    const bool more = cursor_.next();
    check(!cursor_.failed());
    return more;
  }

  void check(bool valid) const {
    if (!valid) throw Error{"is not valid JSON at " + cursor_.fault()};
  }

  /// Throws what was found instead.
  [[noreturn]] void unexpected(const std::string& before, const std::string& behind) {
    const char first = cursor_.peek();
    std::string_view value;
    if (first == '"')
      check(cursor_.string(value, buffer_));
    else if (first != '{' && first != '[')
      check(cursor_.word(value));
    throw Error{before +
                (first == '{'   ? "an object"
                 : first == '[' ? "an array"
                 : first == '"' ? quotedText(value)
                                : std::string(value)) +
                behind};
  }

  JsonCursor cursor_;
  SafetensorsHeader header_;
  std::string tensor_, buffer_;
  bool hasMetadata_ = false;
};

/// Checks one tensor: its extent matches its shape and lies within the data.
Status checkEntry(const std::string& tensor, const TensorEntry& entry, std::uint64_t dataSize,
                  const std::string& name) {
  const auto at = name + ": tensor " + quotedText(tensor);
  const auto range = fmt::format("[{}, {}]", entry.begin, entry.end);
  if (entry.begin > entry.end || entry.end > dataSize) {
    return Error{fmt::format("{} has data_offsets {}, expected a range within the {} bytes of data", at,
                             range, dataSize)};
  }
  const auto extent = byteExtent(entry.dtype, entry.shape);
  if (!extent) return Error{at + " has shape " + shapeText(entry.shape) + ", more than can be addressed"};
  if (*extent != entry.end - entry.begin) {
    return Error{fmt::format("{} has data_offsets {}, expected an extent of {} bytes for {} {}", at, range,
                             *extent, attention::name(entry.dtype), shapeText(entry.shape))};
  }
  return success();
}

/// Checks all tensors together: they cover the data without overlap or gaps.
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
      return Error{fmt::format("{}: tensor {} begins at byte {} of the data, {}, expected {}", name,
                               quotedText(named->first), begin,
                               begin < covered ? "inside another tensor" : "after a hole", covered)};
    }
    covered = named->second.end;
  }
  if (covered != dataSize) {
    return Error{
        fmt::format("{}: holds {} bytes of data, expected {} as the tensors say", name, dataSize, covered)};
  }
  return success();
}

}  // namespace

Result<std::uint64_t> safetensorsHeaderSize(std::span<const std::uint8_t> start, std::uint64_t fileSize,
                                            const std::string& name) {
  const auto found = fmt::format("{} bytes", fileSize);
  if (fileSize < kHeaderLengthBytes) {
    return Error{name + ": is " + found + ", expected a safetensors file of at least 8"};
  }
  require(start.size() >= kHeaderLengthBytes, "the length of the header takes 8 bytes");
  const auto size = load<std::uint64_t>(start.data());
  if (size > kMaxHeader) {
    return Error{fmt::format("{}: declares a header of {} bytes, expected at most {} in a safetensors file",
                             name, size, kMaxHeader)};
  }
  if (size > fileSize - kHeaderLengthBytes) {
    return Error{fmt::format("{}: declares a header of {} bytes, but the file has {}", name, size, found)};
  }
  return size;
}

Result<SafetensorsHeader> parseSafetensorsHeader(std::string_view json, std::uint64_t dataSize,
                                                 const std::string& name) {
  if (json.empty() || json.front() != '{') return Error{name + ": its header is not a JSON object"};
  if (json.find('\0') != std::string_view::npos) return Error{name + ": its header holds a null byte"};
  SafetensorsHeader header;
  try {
    header = HeaderReader(json).read();
  } catch (const Error& error) {
    return Error{name + ": its header: " + error.message};
  }
  for (const auto& [tensor, entry] : header.tensors)
    if (const auto status = checkEntry(tensor, entry, dataSize, name); !status) return status.error();
  if (const auto status = checkCoverage(header, dataSize, name); !status) return status.error();
  return header;
}

Result<SafetensorsLayout> readSafetensorsHeader(const RegularFile& file, const std::string& name) {
  std::array<std::uint8_t, kHeaderLengthBytes> start{};
  const auto present = std::span(start).first(std::min<std::uint64_t>(start.size(), file.size()));
  if (const auto status = file.read(0, present); !status) return status.error();
  const auto length = safetensorsHeaderSize(present, file.size(), name);
  if (!length) return length.error();
  try {
    std::string json(*length, '\0');
    const auto bytes = std::span(reinterpret_cast<std::uint8_t*>(json.data()), json.size());
    if (const auto status = file.read(kHeaderLengthBytes, bytes); !status) return status.error();
    const std::uint64_t dataBegin = kHeaderLengthBytes + *length;
    auto header = parseSafetensorsHeader(json, file.size() - dataBegin, name);
    if (!header) return header.error();
    return SafetensorsLayout{*std::move(header), dataBegin};
  } catch (const std::bad_alloc&) {
    return Error{name + ": not enough memory for its header"};
  }
}

}  // namespace headscope::attention
