#include "attention/formats/safetensors_header.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "attention/formats/quote.h"

namespace headscope::attention {
namespace {

using Json = nlohmann::json;

static_assert(std::endian::native == std::endian::little, "the header's length is little-endian");

/// The limit of the reference implementation.
constexpr std::uint64_t kMaxHeader = 100'000'000;
constexpr std::size_t kMaxRank = 32;
constexpr std::string_view kMetadata = "__metadata__";

/// Receives the parser's events and knows the only document it accepts:
/// {"__metadata__": {text: text}, tensor: {"dtype": text, "shape": [n…], "data_offsets": [begin, end]}}.
class HeaderReader : public nlohmann::json_sax<Json> {
 public:
  SafetensorsHeader header;
  std::string problem;

  bool null() override { return unexpected("null"); }
  bool boolean(bool value) override { return unexpected(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return unexpected(std::to_string(value)); }
  bool number_float(number_float_t, const string_t& text) override { return unexpected(text); }
  bool binary(binary_t&) override { return unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ == Place::shape) {
      if (entry_.shape.size() == kMaxRank) {
        return fail(fmt::format("{} has more than {} dimensions", where(), kMaxRank));
      }
      entry_.shape.push_back(value);
      return true;
    }
    if (place_ == Place::offsets && offsetCount_ < offsets_.size()) {
      offsets_[offsetCount_++] = value;
      return true;
    }
    return unexpected(std::to_string(value));
  }

  bool string(string_t& value) override {
    if (place_ == Place::metadata) {
      header.metadata[key_] = std::move(value);
      return true;
    }
    if (place_ != Place::tensor || key_ != "dtype") return unexpected(quotedText(value));
    const auto dtype = dtypeFromName(value);
    if (!dtype) return fail(where() + " " + dtype.error().message);
    entry_.dtype = *dtype;
    return true;
  }

  bool start_object(std::size_t) override {
    if (place_ == Place::outside) {
      place_ = Place::root;
    } else if (place_ == Place::root) {
      place_ = tensor_ == kMetadata ? Place::metadata : Place::tensor;
      entry_ = {};
      hasDtype_ = hasShape_ = hasOffsets_ = false;
    } else {
      return unexpected("an object");
    }
    return true;
  }

  bool key(string_t& name) override {
    if (place_ == Place::root) return beginEntry(name);
    key_ = name;
    if (place_ == Place::metadata) {
      return header.metadata.count(name) == 0 || fail("the metadata names " + quotedText(name) + " twice");
    }
    bool* seen = name == "dtype"          ? &hasDtype_
                 : name == "shape"        ? &hasShape_
                 : name == "data_offsets" ? &hasOffsets_
                                          : nullptr;
    if (!seen)
      return fail(where() + " has " + quotedText(name) + ", expected only dtype, shape and data_offsets");
    if (*seen) return fail(where() + " has " + quotedText(name) + " twice");
    return *seen = true;
  }

  bool end_object() override {
    if (place_ == Place::tensor) {
      if (!hasDtype_) return fail(where() + " has no dtype");
      if (!hasShape_) return fail(where() + " has no shape");
      if (!hasOffsets_) return fail(where() + " has no data_offsets");
      entry_.begin = offsets_[0];
      entry_.end = offsets_[1];
      header.tensors.emplace(tensor_, std::move(entry_));
    }
    place_ = place_ == Place::root ? Place::outside : Place::root;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::tensor || key_ == "dtype") return unexpected("an array");
    place_ = key_ == "shape" ? Place::shape : Place::offsets;
    offsetCount_ = 0;
    return true;
  }

  bool end_array() override {
    if (place_ == Place::offsets && offsetCount_ != offsets_.size()) {
      return fail(fmt::format("{} has {} data_offsets, expected 2", where(), offsetCount_));
    }
    place_ = Place::tensor;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return fail(fmt::format("is not valid JSON at byte {}", position));
  }

 private:
  enum class Place { outside, root, metadata, tensor, shape, offsets };

  bool beginEntry(const std::string& name) {
    tensor_ = name;
    if (name == kMetadata ? std::exchange(hasMetadata_, true) : header.tensors.count(name) != 0) {
      return fail("names " + quotedText(name) + " twice");
    }
    key_.clear();
    return true;
  }

  std::string where() const { return "tensor " + quotedText(tensor_); }

  bool fail(std::string message) {
    problem = std::move(message);
    return false;
  }

  bool unexpected(const std::string& found) {
    switch (place_) {
      case Place::outside:
        return fail("is " + found + ", expected an object");
      case Place::root:
        return fail("has " + found + " for " + quotedText(tensor_) + ", expected an object");
      case Place::metadata:
        return fail("has " + found + " for the metadata " + quotedText(key_) + ", expected a text");
      case Place::tensor:
        return fail(where() + " has " + found + " for " + key_ + ", expected " +
                    (key_ == "dtype" ? "a text" : "an array of whole numbers"));
      case Place::shape:
        return fail(where() + " has " + found + " in its shape, expected whole numbers");
      case Place::offsets:
        return fail(where() + " has " + found + " in its data_offsets, expected two whole numbers");
    }
    return false;
  }

  Place place_ = Place::outside;
  std::string tensor_, key_;
  TensorEntry entry_;
  std::array<std::uint64_t, 2> offsets_{};
  std::size_t offsetCount_ = 0;
  bool hasDtype_ = false, hasShape_ = false, hasOffsets_ = false, hasMetadata_ = false;
};

/// Each tensor's own numbers: its extent fits its shape and lies within the data.
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
    return Error{fmt::format("{}: announces a header of {} bytes, expected at most {} in a safetensors file",
                             name, size, kMaxHeader)};
  }
  if (size > fileSize - kHeaderLengthBytes) {
    return Error{fmt::format("{}: announces a header of {} bytes in a file of {}", name, size, found)};
  }
  return size;
}

Result<SafetensorsHeader> parseSafetensorsHeader(std::string_view json, std::uint64_t dataSize,
                                                 const std::string& name) {
  // The parser takes a null byte for the end and skips a byte-order mark; here neither may stand.
  if (json.empty() || json.front() != '{') return Error{name + ": its header is not a JSON object"};
  if (json.find('\0') != std::string_view::npos) return Error{name + ": its header holds a null byte"};
  HeaderReader reader;
  if (!Json::sax_parse(json, &reader)) return Error{name + ": its header: " + reader.problem};
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
    return Error{name + ": has a header that there is not enough memory for"};
  }
}

}  // namespace headscope::attention
