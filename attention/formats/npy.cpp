#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "attention/formats/float_formats.h"
#include "attention/formats/quote.h"
#include "attention/formats/tables.h"

namespace headscope::attention {
namespace {

// The format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html

static_assert(std::endian::native == std::endian::little, "array bytes are copied as they lie in the file");

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kAlignment = 64;

struct NpyHeader {
  std::optional<std::string> descr;
  std::optional<bool> fortranOrder;
  std::optional<std::vector<std::uint64_t>> shape;
};

/// Reads the header's Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class DictReader {
 public:
  explicit DictReader(std::string_view text) : text_(text) {}

  Result<NpyHeader> read() {
    NpyHeader header;
    if (!take("{")) return expected("a dictionary");
    while (!take("}")) {
      const auto key = readText();
      if (!key || !take(":")) return expected("a quoted key and a colon");
      if (const auto status = readValue(*key, header); !status) return status.error();
      if (take(",")) continue;
      if (!take("}")) return expected("a comma or the end of the dictionary");
      break;
    }
    skipSpaces();
    if (at_ != text_.size()) return expected("nothing after the dictionary");
    return header;
  }

 private:
  Status readValue(const std::string& key, NpyHeader& header) {
    if (key == "descr" && !header.descr) {
      header.descr = readText();
      if (!header.descr) return expected("a simple type such as '<f4'");
    } else if (key == "fortran_order" && !header.fortranOrder) {
      if (take("True")) {
        header.fortranOrder = true;
      } else if (take("False")) {
        header.fortranOrder = false;
      } else {
        return expected("True or False");
      }
    } else if (key == "shape" && !header.shape) {
      header.shape = readShape();
      if (!header.shape) return expected("a tuple of whole numbers");
    } else {
      return Error{"its header has " + quotedText(key) +
                   ", expected descr, fortran_order and shape, each once"};
    }
    return success();
  }

  Error expected(const std::string& what) const {
    return Error{"its header has " + quotedText(text_.substr(at_)) + ", expected " + what};
  }

  void skipSpaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }

  bool take(std::string_view word) {
    skipSpaces();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::optional<std::string> readText() {
    skipSpaces();
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return std::nullopt;
    const auto end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    const auto begin = std::exchange(at_, end + 1) + 1;
    return std::string(text_.substr(begin, end - begin));
  }

  std::optional<std::vector<std::uint64_t>> readShape() {
    std::vector<std::uint64_t> shape;
    if (!take("(")) return std::nullopt;
    while (!take(")")) {
      skipSpaces();
      std::uint64_t size = 0;
      const auto* begin = text_.data() + at_;
      const auto [end, code] = std::from_chars(begin, text_.data() + text_.size(), size);
      if (code != std::errc()) return std::nullopt;
      at_ += static_cast<std::size_t>(end - begin);
      shape.push_back(size);
      if (take(",")) continue;
      if (!take(")")) return std::nullopt;
      break;
    }
    return shape;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

template <typename T>
T load(const std::uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

struct ValueType {
  std::string_view descr;
  std::size_t size;
  /// Infinite for a finite value beyond float's range.
  float (*read)(const std::uint8_t*);
};

float readF2(const std::uint8_t* b) {
  return halfToFloat(load<std::uint16_t>(b));
}
float readF4(const std::uint8_t* b) {
  return load<float>(b);
}
float readF8(const std::uint8_t* b) {
  return narrowed(load<double>(b)).value_or(std::numeric_limits<float>::infinity());
}
float readI4(const std::uint8_t* b) {
  return static_cast<float>(load<std::int32_t>(b));
}
float readI8(const std::uint8_t* b) {
  return static_cast<float>(load<std::int64_t>(b));
}

constexpr std::array<ValueType, 5> kTypes{
    {{"<f2", 2, readF2}, {"<f4", 4, readF4}, {"<f8", 8, readF8}, {"<i4", 4, readI4}, {"<i8", 8, readI8}}};

const ValueType* findType(const std::string& descr) {
  for (const auto& type : kTypes) {
    if (type.descr == descr) return &type;
  }
  return nullptr;
}

std::string tupleText(const std::vector<std::uint64_t>& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

struct Parts {
  std::string_view header;
  std::span<const std::uint8_t> data;
};

Result<Parts> splitNpy(std::span<const std::uint8_t> bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.substr(0, kMagic.size()) != kMagic) return Error{"does not begin as a .npy file does"};
  if (bytes.size() < kMagic.size() + 2) return Error{"ends before its version"};
  const int major = bytes[6], minor = bytes[7];
  if (major < 1 || major > 3 || minor != 0) {
    return Error{"has version " + std::to_string(major) + "." + std::to_string(minor) +
                 " of the .npy format, expected 1.0, 2.0 or 3.0"};
  }
  const std::size_t prefix = kMagic.size() + 2 + (major == 1 ? 2 : 4);
  if (bytes.size() < prefix) return Error{"ends before its header"};
  const std::size_t length = major == 1 ? load<std::uint16_t>(&bytes[8]) : load<std::uint32_t>(&bytes[8]);
  if (length > bytes.size() - prefix) {
    return Error{"announces a header of " + std::to_string(length) + " bytes in a file of " +
                 std::to_string(bytes.size())};
  }
  return Parts{text.substr(prefix, length), bytes.subspan(prefix + length)};
}

/// The array's type, or what about the header does not do; `dataSize` bytes follow it.
Result<const ValueType*> checkHeader(const NpyHeader& header, std::size_t dataSize) {
  if (!header.descr || !header.fortranOrder || !header.shape) {
    return Error{"its header lacks descr, fortran_order or shape"};
  }
  const auto* type = findType(*header.descr);
  if (!type) {
    return Error{"has values of type " + quotedText(*header.descr) +
                 ", expected little-endian floats or integers (<f2, <f4, <f8, <i4 or <i8)"};
  }
  const auto& shape = *header.shape;
  if (shape.empty() || shape.size() > 2) {
    return Error{"has " + std::to_string(shape.size()) + " dimensions, expected 1 or 2"};
  }
  std::uint64_t extent = type->size;
  for (const auto size : shape) {
    if (size == 0) return Error{"has shape " + tupleText(shape) + ", expected at least one value"};
    if (extent > std::numeric_limits<std::uint64_t>::max() / size) {
      return Error{"has shape " + tupleText(shape) + ", more than can be addressed"};
    }
    extent *= size;
  }
  if (extent != dataSize) {
    return Error{"holds " + std::to_string(dataSize) + " bytes of data, expected " + std::to_string(extent) +
                 " for " + *header.descr + " " + tupleText(shape)};
  }
  return type;
}

Result<Table> readNpy(std::span<const std::uint8_t> bytes) {
  const auto parts = splitNpy(bytes);
  if (!parts) return parts.error();
  const auto header = DictReader(parts->header).read();
  if (!header) return header.error();
  const auto type = checkHeader(*header, parts->data.size());
  if (!type) return type.error();
  const auto& shape = *header->shape;
  if (shape.size() == 2 && shape[0] > kMaxTableRows) {
    return Error{"has " + std::to_string(shape[0]) + " rows, expected at most " +
                 std::to_string(kMaxTableRows)};
  }
  const auto rows = static_cast<Index>(shape.size() == 2 ? shape[0] : 1);
  const auto cols = static_cast<Index>(shape.back());
  Table table;
  table.names.resize(static_cast<std::size_t>(rows));
  table.values.resize(rows, cols);
  for (Index row = 0; row < rows; ++row) {
    for (Index col = 0; col < cols; ++col) {
      const Index at = *header->fortranOrder ? col * rows + row : row * cols + col;
      const float value = (*type)->read(parts->data.data() + static_cast<std::size_t>(at) * (*type)->size);
      if (!std::isfinite(value)) {
        return Error{"row " + std::to_string(row + 1) + ", column " + std::to_string(col + 1) + " is " +
                     (std::isnan(value) ? "NaN" : "infinite or beyond 3.4e38") +
                     ", expected a finite number"};
      }
      table.values(row, col) = value;
    }
  }
  return table;
}

}  // namespace

Result<Table> parseNpy(std::span<const std::uint8_t> bytes, const std::string& name) {
  auto table = readNpy(bytes);
  if (!table) return Error{name + ": " + table.error().message};
  return table;
}

std::vector<std::uint8_t> formatNpy(const Matrix& values) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(values.rows()) +
                       ", " + std::to_string(values.cols()) + "), }";
  const std::size_t prefix = kMagic.size() + 4;
  // Spaces and a line break end the header where the data is aligned.
  const std::size_t total = (prefix + header.size() + 1 + kAlignment - 1) / kAlignment * kAlignment;
  header.resize(total - prefix - 1, ' ');
  header += '\n';
  const std::string length{static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  const std::string front = std::string(kMagic) + '\1' + '\0' + length + header;
  const auto dataSize = static_cast<std::size_t>(values.size()) * sizeof(float);
  std::vector<std::uint8_t> bytes(front.size() + dataSize);
  std::copy(front.begin(), front.end(), bytes.begin());
  if (dataSize > 0) std::memcpy(bytes.data() + front.size(), values.data(), dataSize);
  return bytes;
}

}  // namespace headscope::attention
