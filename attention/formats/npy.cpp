#include <fmt/core.h>

#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "attention/formats/float_formats.h"
#include "attention/formats/layers/load.h"
#include "attention/formats/npy_header.h"
#include "attention/formats/quote.h"
#include "attention/formats/tables.h"

namespace headscope::attention {
namespace {

static_assert(std::endian::native == std::endian::little, "array bytes are copied as they lie in the file");

struct ValueType {
  std::string_view descr;
  std::size_t size;
  /// Returns infinity for a finite value beyond float's range.
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

/// Returns the array's type, or an Error saying what in the header isn't supported.
Result<const ValueType*> checkHeader(const NpyHeader& header) {
  const auto* type = findType(header.descr);
  if (!type) {
    return Error{"has values of type " + quotedText(header.descr) +
                 ", expected little-endian floats or integers (<f2, <f4, <f8, <i4 or <i8)"};
  }
  const auto& shape = header.shape;
  if (shape.empty() || shape.size() > 2) {
    return Error{fmt::format("has {} dimensions, expected 1 or 2", shape.size())};
  }
  if (const auto status = checkNpyExtent(header, type->size); !status) return status.error();
  return type;
}

Result<Table> readNpy(std::span<const std::uint8_t> bytes) {
  const auto header = parseNpyHeader(bytes, bytes.size());
  if (!header) return header.error();
  const auto type = checkHeader(*header);
  if (!type) return type.error();
  const auto& shape = header->shape;
  if (shape.size() == 2 && shape[0] > kMaxTableRows) {
    return Error{fmt::format("has {} rows, expected at most {}", shape[0], kMaxTableRows)};
  }
  const auto rows = static_cast<Index>(shape.size() == 2 ? shape[0] : 1);
  const auto cols = static_cast<Index>(shape.back());
  Table table;
  table.names.resize(static_cast<std::size_t>(rows));
  table.values.resize(rows, cols);
  for (Index row = 0; row < rows; ++row) {
    for (Index col = 0; col < cols; ++col) {
      const Index at = header->fortranOrder ? col * rows + row : row * cols + col;
      const float value =
          (*type)->read(bytes.data() + header->dataBegin + static_cast<std::size_t>(at) * (*type)->size);
      if (!std::isfinite(value)) {
        return Error{fmt::format("row {}, column {} is {}, expected a finite number", row + 1, col + 1,
                                 std::isnan(value) ? "NaN" : "infinite or beyond 3.4e38")};
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

}  // namespace headscope::attention
