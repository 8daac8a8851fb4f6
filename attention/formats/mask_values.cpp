#include "attention/formats/mask_values.h"

#include <fmt/core.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "attention/formats/csv_reader.h"
#include "attention/formats/float_formats.h"
#include "attention/formats/npy_header.h"
#include "attention/formats/quote.h"
#include "attention/formats/safetensors.h"
#include "attention/formats/tables.h"
#include "attention/masks/pattern.h"

namespace headscope::attention {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are read as they lie in the file");

template <typename T>
T load(const std::uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

float fromHalf(std::uint16_t bits) {
  return halfToFloat(bits);
}
float fromBrain(std::uint16_t bits) {
  return bfloat16ToFloat(bits);
}
float fromDouble(double value) {
  return narrowed(value).value_or(std::copysign(std::numeric_limits<float>::infinity(), value));
}
template <typename T>
float fromNumber(T value) {
  return static_cast<float>(value);
}

template <typename T>
void readValues(const std::uint8_t* first, std::size_t stride, float (*convert)(T), std::vector<float>& row) {
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = convert(load<T>(first + i * stride * sizeof(T)));
}

std::size_t sizeOf(MaskValueType type) {
  switch (type) {
    case MaskValueType::boolean:
    case MaskValueType::u8:
    case MaskValueType::i8:
      return 1;
    case MaskValueType::i16:
    case MaskValueType::u16:
    case MaskValueType::f16:
    case MaskValueType::bf16:
      return 2;
    case MaskValueType::i32:
    case MaskValueType::u32:
    case MaskValueType::f32:
      return 4;
    default:
      return 8;
  }
}

const std::map<std::string, MaskValueType, std::less<>> kNpyTypes = {
    {"|b1", MaskValueType::boolean}, {"|u1", MaskValueType::u8},  {"|i1", MaskValueType::i8},
    {"<i2", MaskValueType::i16},     {"<u2", MaskValueType::u16}, {"<i4", MaskValueType::i32},
    {"<u4", MaskValueType::u32},     {"<i8", MaskValueType::i64}, {"<u8", MaskValueType::u64},
    {"<f2", MaskValueType::f16},     {"<f4", MaskValueType::f32}, {"<f8", MaskValueType::f64}};

const std::map<DType, MaskValueType> kTensorTypes = {
    {DType::Bool, MaskValueType::boolean}, {DType::U8, MaskValueType::u8},
    {DType::I8, MaskValueType::i8},        {DType::I16, MaskValueType::i16},
    {DType::I32, MaskValueType::i32},      {DType::I64, MaskValueType::i64},
    {DType::F16, MaskValueType::f16},      {DType::BF16, MaskValueType::bf16},
    {DType::F32, MaskValueType::f32},      {DType::F64, MaskValueType::f64}};

/// Takes the file's axes for heads, queries and keys. Their product is known to fit the file.
Status setShape(MaskValues& values, const std::vector<std::uint64_t>& shape, bool fortranOrder) {
  const std::string found = "has shape " + shapeText(shape);
  if (shape.size() < 2 || shape.size() > 4)
    return Error{found + ", expected [queries, keys], [heads, queries, keys] or a batch of 1 before them"};
  if (shape.size() == 4 && shape[0] != 1)
    return Error{fmt::format("{}, a batch of {}, expected a batch of 1", found, shape[0])};
  for (const auto size : shape)
    if (size < 1 || size > static_cast<std::uint64_t>(kMaxMaskCount))
      return Error{fmt::format("{}, expected sizes of 1 to {}", found, kMaxMaskCount)};
  const std::size_t rank = shape.size();
  values.hasHeads = rank > 2;
  values.heads = rank > 2 ? static_cast<Index>(shape[rank - 3]) : 1;
  values.queries = static_cast<Index>(shape[rank - 2]);
  values.keys = static_cast<Index>(shape[rank - 1]);
  if (values.heads > kMaxTableRows / values.queries)
    return Error{fmt::format("{}, expected at most {} rows in all heads", found, kMaxTableRows)};
  const auto heads = static_cast<std::size_t>(values.heads),
             queries = static_cast<std::size_t>(values.queries), keys = static_cast<std::size_t>(values.keys);
  values.strides = fortranOrder ? std::array<std::size_t, 3>{1, heads, heads * queries}
                                : std::array<std::size_t, 3>{queries * keys, keys, 1};
  return success();
}

Result<MaskValues> parseNpyMask(std::vector<std::uint8_t> bytes) {
  const auto header = parseNpyHeader(bytes);
  if (!header) return header.error();
  const auto type = kNpyTypes.find(header->descr);
  if (type == kNpyTypes.end())
    return Error{"has values of type " + quotedText(header->descr) +
                 ", expected booleans, whole numbers or little-endian floats (|b1, |u1, <i8, <f4, …)"};
  if (const auto status = checkNpyExtent(*header, sizeOf(type->second)); !status) return status.error();
  MaskValues values;
  values.type = type->second;
  if (const auto status = setShape(values, header->shape, header->fortranOrder); !status)
    return status.error();
  values.begin = bytes.size() - header->data.size();
  values.bytes = std::move(bytes);
  return values;
}

Result<MaskValues> parseTensorMask(const std::vector<std::uint8_t>& bytes) {
  // The name that messages of a safetensors file begin with is put before all of them by the caller.
  auto file = parseSafetensors(bytes, "");
  if (!file) return Error{file.error().message.substr(2)};
  auto chosen = file->tensors.end();
  for (const char* name : {"attn_mask", "mask", "bias"})
    if (chosen == file->tensors.end()) chosen = file->tensors.find(name);
  if (chosen == file->tensors.end() && file->tensors.size() == 1) chosen = file->tensors.begin();
  if (chosen == file->tensors.end())
    return Error{fmt::format("holds {} tensors, expected one called attn_mask, mask or bias, or only one",
                             file->tensors.size())};
  NamedTensor& tensor = chosen->second;
  MaskValues values;
  values.type = maskValueType(tensor.dtype);
  if (const auto status = setShape(values, tensor.shape, false); !status)
    return Error{"tensor " + quotedText(chosen->first) + " " + status.error().message};
  values.bytes = std::move(tensor.bytes);
  return values;
}

std::string lowerCase(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

/// Every cell is a value: a mask has neither a header nor names.
Result<MaskValues> parseCsvMask(const std::vector<std::uint8_t>& bytes) {
  const auto text = csvText({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  if (!text) return text.error();
  CsvReader reader(*text, findCsvSeparator(*text));
  std::vector<CsvField> fields;
  std::vector<float> cells;
  std::size_t width = 0;
  std::uint64_t rows = 0;
  bool words = true;
  for (;;) {
    const auto more = reader.next(fields);
    if (!more) return more.error();
    if (!*more) break;
    const std::string line = fmt::format("line {}", reader.line());
    if (rows == 0) width = fields.size();
    if (fields.size() != width)
      return Error{fmt::format("{} has {} fields, expected {} as in the first", line, fields.size(), width)};
    for (std::size_t column = 0; column < width; ++column) {
      const std::string word = lowerCase(fields[column].text);
      const auto number = word == "true" ? 1.0F : word == "false" ? 0.0F : readCsvNumber(word);
      if (!number)
        return Error{fmt::format("{}, column {}: found {}, expected a number, true or false", line,
                                 column + 1,
                                 word.empty() ? "an empty field" : quotedText(fields[column].text))};
      words = words && (word == "true" || word == "false");
      cells.push_back(*number);
    }
    ++rows;
  }
  if (rows == 0) return Error{"holds no row of numbers"};
  MaskValues values;
  if (const auto status = setShape(values, {rows, width}, false); !status) return status.error();
  values.bytes.resize(cells.size() * (words ? 1 : sizeof(float)));
  values.type = words ? MaskValueType::boolean : MaskValueType::f32;
  if (!words) std::memcpy(values.bytes.data(), cells.data(), values.bytes.size());
  for (std::size_t i = 0; words && i < cells.size(); ++i) values.bytes[i] = cells[i] != 0;
  return values;
}

}  // namespace

std::string largeNumbersText(std::uint64_t count) {
  return fmt::format("{} of -1e4 or less {} read as masked",
                     count == 1 ? "a finite number" : fmt::format("{} finite numbers", count),
                     count == 1 ? "is" : "are");
}

MaskValueType maskValueType(DType dtype) {
  return kTensorTypes.at(dtype);
}

void MaskValues::readRow(Index head, Index query, std::vector<float>& row) const {
  row.resize(static_cast<std::size_t>(keys));
  const std::size_t at =
      static_cast<std::size_t>(head) * strides[0] + static_cast<std::size_t>(query) * strides[1];
  const std::uint8_t* first = bytes.data() + begin + at * sizeOf(type);
  const std::size_t step = strides[2];
  switch (type) {
    case MaskValueType::boolean:
    case MaskValueType::u8:
      return readValues<std::uint8_t>(first, step, fromNumber, row);
    case MaskValueType::i8:
      return readValues<std::int8_t>(first, step, fromNumber, row);
    case MaskValueType::i16:
      return readValues<std::int16_t>(first, step, fromNumber, row);
    case MaskValueType::u16:
      return readValues<std::uint16_t>(first, step, fromNumber, row);
    case MaskValueType::i32:
      return readValues<std::int32_t>(first, step, fromNumber, row);
    case MaskValueType::u32:
      return readValues<std::uint32_t>(first, step, fromNumber, row);
    case MaskValueType::i64:
      return readValues<std::int64_t>(first, step, fromNumber, row);
    case MaskValueType::u64:
      return readValues<std::uint64_t>(first, step, fromNumber, row);
    case MaskValueType::f16:
      return readValues<std::uint16_t>(first, step, fromHalf, row);
    case MaskValueType::bf16:
      return readValues<std::uint16_t>(first, step, fromBrain, row);
    case MaskValueType::f32:
      return readValues<float>(first, step, fromNumber, row);
    case MaskValueType::f64:
      return readValues<double>(first, step, fromDouble, row);
  }
}

float MaskValues::masksFrom() const {
  // The other types' lowest numbers lie below −1e4.
  return type == MaskValueType::i8 ? std::numeric_limits<std::int8_t>::min() : kMaskingNumber;
}

std::string MaskValues::place(Index head, Index query, Index key) const {
  return hasHeads ? fmt::format("[{}, {}, {}]", head, query, key) : fmt::format("[{}, {}]", query, key);
}

Result<MaskFormat> maskFormat(const std::filesystem::path& path) {
  const std::string ending = lowerCase(path.extension().string());
  if (ending == ".npy") return MaskFormat::npy;
  if (ending == ".csv") return MaskFormat::csv;
  if (ending == ".safetensors") return MaskFormat::safetensors;
  return Error{path.string() + ": ends in " + quotedText(ending) + ", expected .npy, .csv or .safetensors"};
}

Result<MaskValues> parseMaskValues(MaskFormat format, std::vector<std::uint8_t> bytes) {
  if (format == MaskFormat::npy) return parseNpyMask(std::move(bytes));
  return format == MaskFormat::csv ? parseCsvMask(bytes) : parseTensorMask(bytes);
}

}  // namespace headscope::attention
