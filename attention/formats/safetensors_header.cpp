#include <fmt/core.h>

#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <new>
#include <set>

#include "attention/formats/json_cursor.h"
#include "attention/formats/quote.h"
#include "attention/formats/safetensors.h"

namespace headscope::attention {
namespace {

static_assert(std::endian::native == std::endian::little, "the header's length is little-endian");

/// The reference implementation's limit.
constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr std::size_t kMaxRank = 32;
constexpr std::string_view kMetadata = "__metadata__";

/// Parses the only document accepted:
/// {"__metadata__": {text: text}, tensor: {"dtype": text, "shape": [n…], "data_offsets": [begin, end]}}.
/// Every step returns false once there is an error.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view json) : cursor_(json) {}
  SafetensorsHeader header;

  /// Returns what is wrong, or "".
  std::string read() {
    if (cursor_.enter('{'))
      while (cursor_.next() && readEntry()) continue;
    if (problem_.empty() && !cursor_.finish()) problem_ = "is not valid JSON at " + cursor_.fault();
    return problem_;
  }

 private:
  bool readEntry() {
    if (!readKey(tensor_)) return false;
    const bool metadata = tensor_ == kMetadata;
    if (metadata ? std::exchange(hasMetadata_, true) : header.tensors.contains(tensor_))
      return fail("names " + quotedText(tensor_) + " twice");
    if (cursor_.peek() != '{')
      return unexpected("has ", " for " + quotedText(tensor_) + ", expected an object");
    return cursor_.enter('{') && (metadata ? readMetadata() : readTensor());
  }

  bool readMetadata() {
    std::string key;
    while (cursor_.next()) {
      if (!readKey(key)) return false;
      if (header.metadata.contains(key)) return fail("the metadata names " + quotedText(key) + " twice");
      if (!readText(header.metadata[key], "has ", " for the metadata " + quotedText(key))) return false;
    }
    return !cursor_.failed();
  }

  bool readTensor() {
    TensorEntry entry;
    std::vector<std::uint64_t> offsets;
    std::set<std::string> seen;
    const std::string has = where() + " has ";
    std::string key, dtype;
    while (cursor_.next()) {
      if (!readKey(key)) return false;
      if (key != "dtype" && key != "shape" && key != "data_offsets")
        return fail(has + quotedText(key) + ", expected only dtype, shape and data_offsets");
      if (!seen.insert(key).second) return fail(has + quotedText(key) + " twice");
      if (key == "shape" && !readNumbers(entry.shape, key, "its shape, expected whole numbers")) return false;
      if (key == "data_offsets" && !readNumbers(offsets, key, "its data_offsets, expected two whole numbers"))
        return false;
      if (key != "dtype") continue;
      if (!readText(dtype, has, " for dtype")) return false;
      const auto type = dtypeFromName(dtype);
      if (!type) return fail(where() + " " + type.error().message);
      entry.dtype = *type;
    }
    if (cursor_.failed()) return false;
    for (const char* name : {"dtype", "shape", "data_offsets"})
      if (!seen.contains(name)) return fail(where() + " has no " + name);
    entry.begin = offsets[0];
    entry.end = offsets[1];
    header.tensors.emplace(tensor_, std::move(entry));
    return true;
  }

  /// Reads the list under `key`: a shape or two offsets.
  bool readNumbers(std::vector<std::uint64_t>& numbers, std::string_view key, const std::string& expected) {
    const std::string has = where() + " has ";
    if (cursor_.peek() != '[')
      return unexpected(has, fmt::format(" for {}, expected an array of whole numbers", key));
    const bool offsets = key == "data_offsets";
    cursor_.enter('[');
    while (cursor_.next()) {
      const char first = cursor_.peek();
      std::string_view word;
      if (first == '[' || first == '{' || first == '"') return unexpected(has, " in " + expected);
      if (!cursor_.word(word)) return false;
      std::uint64_t value = 0;
      const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
      const bool whole = code == std::errc{} && end == word.data() + word.size();
      if (!whole || (offsets && numbers.size() == 2))
        return fail(has + std::string(word) + " in " + expected);
      if (numbers.size() == kMaxRank)
        return fail(fmt::format("{} has more than {} dimensions", where(), kMaxRank));
      numbers.push_back(value);
    }
    if (cursor_.failed()) return false;
    if (!offsets || numbers.size() == 2) return true;
    return fail(fmt::format("{} has {} data_offsets, expected 2", where(), numbers.size()));
  }

  bool readKey(std::string& name) {
    std::string_view key;
    if (!cursor_.key(key, buffer_)) return false;
    name = key;
    return true;
  }

  bool readText(std::string& text, const std::string& before, const std::string& behind) {
    if (cursor_.peek() != '"') return unexpected(before, behind + ", expected a text");
    std::string_view value;
    if (!cursor_.string(value, buffer_)) return false;
    text = value;
    return true;
  }

  std::string where() const { return "tensor " + quotedText(tensor_); }

  bool fail(std::string message) {
    problem_ = std::move(message);
    return false;
  }

  /// Reports the value found instead; returns false without a message if what follows isn't a value.
  bool unexpected(const std::string& before, const std::string& behind) {
    const char first = cursor_.peek();
    std::string_view value;
    if (first == '"' ? !cursor_.string(value, buffer_) : first != '{' && first != '[' && !cursor_.word(value))
      return false;
    const std::string found = first == '{'   ? "an object"
                              : first == '[' ? "an array"
                              : first == '"' ? quotedText(value)
                                             : std::string(value);
    return fail(before + found + behind);
  }

  JsonCursor cursor_;
  std::string tensor_, buffer_, problem_;
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
  std::uint64_t size = 0;
  std::memcpy(&size, start.data(), kHeaderLengthBytes);
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
  HeaderReader reader(json);
  if (const std::string problem = reader.read(); !problem.empty())
    return Error{name + ": its header: " + problem};
  for (const auto& [tensor, entry] : reader.header.tensors) {
    if (const auto status = checkEntry(tensor, entry, dataSize, name); !status) return status.error();
  }
  if (const auto status = checkCoverage(reader.header, dataSize, name); !status) return status.error();
  return std::move(reader.header);
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
