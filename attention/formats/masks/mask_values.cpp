#include <fmt/core.h>

#include <bit>

#include "attention/formats/masks/mask_file.h"
#include "attention/formats/tables.h"
#include "attention/text/ascii.h"

namespace headscope::attention {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are read as they lie in the file");

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
    {DType::U16, MaskValueType::u16},      {DType::I32, MaskValueType::i32},
    {DType::U32, MaskValueType::u32},      {DType::I64, MaskValueType::i64},
    {DType::U64, MaskValueType::u64},      {DType::F16, MaskValueType::f16},
    {DType::BF16, MaskValueType::bf16},    {DType::F32, MaskValueType::f32},
    {DType::F64, MaskValueType::f64}};

/// Maps the file's axes to heads, queries and keys. The caller has checked that their product fits the file.
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
    return Error{fmt::format("{}, expected at most {} rows over all heads", found, kMaxTableRows)};
  const auto heads = static_cast<std::size_t>(values.heads),
             queries = static_cast<std::size_t>(values.queries), keys = static_cast<std::size_t>(values.keys);
  values.strides = fortranOrder ? std::array<std::size_t, 3>{1, heads, heads * queries}
                                : std::array<std::size_t, 3>{queries * keys, keys, 1};
  return success();
}

/// Parses the start of a file of `fileSize` bytes.
Result<MaskValues> parseNpyMask(std::span<const std::uint8_t> start, std::uint64_t fileSize) {
  const auto header = parseNpyHeader(start, fileSize);
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
  values.begin = header->dataBegin;
  return values;
}

/// Finds the mask among the tensors, whose bytes begin at `dataBegin`.
Result<MaskValues> findTensorMask(const SafetensorsHeader& header, std::uint64_t dataBegin) {
  const auto& tensors = header.tensors;
  auto chosen = tensors.end();
  for (const char* name : {"attn_mask", "mask", "bias"})
    if (chosen == tensors.end()) chosen = tensors.find(name);
  if (chosen == tensors.end() && tensors.size() == 1) chosen = tensors.begin();
  if (chosen == tensors.end())
    return Error{fmt::format("holds {} tensors, expected one called attn_mask, mask or bias, or only one",
                             tensors.size())};
  const auto type = maskValueType(chosen->second.dtype);
  if (!type)
    return Error{fmt::format("tensor {} is {}, expected BOOL, whole numbers, F32, F16, BF16 or F64",
                             quotedText(chosen->first), name(chosen->second.dtype))};
  MaskValues values;
  values.type = *type;
  if (const auto status = setShape(values, chosen->second.shape, false); !status)
    return Error{"tensor " + quotedText(chosen->first) + " " + status.error().message};
  values.begin = dataBegin + chosen->second.begin;
  return values;
}

/// Removes the empty name and the colon from a safetensors message; the caller adds the file name to all
/// messages.
Error withoutName(const Error& error) {
  return Error{error.message.substr(2)};
}

Result<MaskValues> parseTensorMask(std::span<const std::uint8_t> bytes) {
  const auto size = safetensorsHeaderSize(bytes, bytes.size(), "");
  if (!size) return withoutName(size.error());
  const std::uint64_t dataBegin = kHeaderLengthBytes + *size;
  const auto header = parseSafetensorsHeader(
      {reinterpret_cast<const char*>(bytes.data()) + kHeaderLengthBytes, static_cast<std::size_t>(*size)},
      bytes.size() - dataBegin, "");
  if (!header) return withoutName(header.error());
  return findTensorMask(*header, dataBegin);
}

/// Parses every cell as a value: mask files have neither header nor names.
Result<MaskValues> parseCsvMask(const std::vector<std::uint8_t>& bytes) {
  const auto text = utf8Text({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
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
  if (rows == 0) return Error{"has no row of numbers"};
  MaskValues values;
  if (const auto status = setShape(values, {rows, width}, false); !status) return status.error();
  values.bytes.resize(cells.size() * (words ? 1 : sizeof(float)));
  values.type = words ? MaskValueType::boolean : MaskValueType::f32;
  if (!words) std::memcpy(values.bytes.data(), cells.data(), values.bytes.size());
  for (std::size_t i = 0; words && i < cells.size(); ++i) values.bytes[i] = cells[i] != 0;
  return values;
}

Result<MaskValues> openNpyMask(const RegularFile& file) {
  std::vector<std::uint8_t> start(std::min(file.size(), kMaxNpyHeader));
  if (const auto status = file.read(0, start); !status) return status.error();
  return parseNpyMask(start, file.size());
}

Result<MaskValues> openTensorMask(const RegularFile& file) {
  const auto layout = readSafetensorsHeader(file, shownPath(file.path()));
  if (!layout) return layout.error();
  return findTensorMask(layout->header, layout->dataBegin);
}

}  // namespace

std::string largeNumbersText(std::uint64_t count) {
  return fmt::format("{} of -1e4 or less {} read as masked",
                     count == 1 ? "a finite number" : fmt::format("{} finite numbers", count),
                     count == 1 ? "is" : "are");
}

std::optional<MaskValueType> maskValueType(DType dtype) {
  const auto found = kTensorTypes.find(dtype);
  return found == kTensorTypes.end() ? std::nullopt : std::optional(found->second);
}

Result<const std::uint8_t*> MaskRowReader::bytesAt(std::uint64_t at, std::uint64_t size) {
  if (!values_.file) return values_.bytes.data() + values_.begin + at;
  if (at < partBegin_ || at + size > partBegin_ + part_.size()) {
    // Large enough to make system calls negligible.
    constexpr std::uint64_t kPart = std::uint64_t{1} << 20;
    part_.resize(std::max(size, std::min(kPart, values_.file->size() - values_.begin - at)));
    partBegin_ = at;
    if (const auto status = values_.file->read(values_.begin + at, part_); !status) return status.error();
  }
  return part_.data() + (at - partBegin_);
}

Status MaskRowReader::read(Index head, Index query, std::vector<float>& row) {
  const auto& strides = values_.strides;
  row.resize(static_cast<std::size_t>(values_.keys));
  const std::size_t at =
      static_cast<std::size_t>(head) * strides[0] + static_cast<std::size_t>(query) * strides[1];
  const std::size_t step = strides[2], size = sizeOf(values_.type);
  const auto bytes = bytesAt(at * size, ((row.size() - 1) * step + 1) * size);
  if (!bytes) return bytes.error();
  const std::uint8_t* const first = *bytes;
  switch (values_.type) {
    case MaskValueType::boolean:
    case MaskValueType::u8:
      readValues<std::uint8_t>(first, step, fromNumber, row);
      break;
    case MaskValueType::i8:
      readValues<std::int8_t>(first, step, fromNumber, row);
      break;
    case MaskValueType::i16:
      readValues<std::int16_t>(first, step, fromNumber, row);
      break;
    case MaskValueType::u16:
      readValues<std::uint16_t>(first, step, fromNumber, row);
      break;
    case MaskValueType::i32:
      readValues<std::int32_t>(first, step, fromNumber, row);
      break;
    case MaskValueType::u32:
      readValues<std::uint32_t>(first, step, fromNumber, row);
      break;
    case MaskValueType::i64:
      readValues<std::int64_t>(first, step, fromNumber, row);
      break;
    case MaskValueType::u64:
      readValues<std::uint64_t>(first, step, fromNumber, row);
      break;
    case MaskValueType::f16:
      readValues<std::uint16_t>(first, step, fromHalf, row);
      break;
    case MaskValueType::bf16:
      readValues<std::uint16_t>(first, step, fromBrain, row);
      break;
    case MaskValueType::f32:
      readValues<float>(first, step, fromNumber, row);
      break;
    case MaskValueType::f64:
      readValues<double>(first, step, fromDouble, row);
      break;
  }
  return success();
}

float MaskValues::masksFrom() const {
  // The lowest numbers of all other signed types are below −1e4.
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
  return Error{shownPath(path) + ": ends in " + quotedText(ending) + ", expected .npy, .csv or .safetensors"};
}

Result<MaskValues> parseMaskValues(MaskFormat format, std::vector<std::uint8_t> bytes) {
  if (format == MaskFormat::csv) return parseCsvMask(bytes);
  auto values = format == MaskFormat::npy ? parseNpyMask(bytes, bytes.size()) : parseTensorMask(bytes);
  if (values) values->bytes = std::move(bytes);
  return values;
}

Result<MaskValues> openMaskValues(MaskFormat format, RegularFile file, std::uint64_t budget) {
  require(format != MaskFormat::csv, "a table of text is read as a whole");
  auto values = format == MaskFormat::npy ? openNpyMask(file) : openTensorMask(file);
  if (!values) return values;
  const std::uint64_t size = saturatingProduct(
      {values->heads, values->queries, values->keys, static_cast<Index>(sizeOf(values->type))});
  if (size > kMaxMaskBytes)
    return Error{fmt::format("holds {} bytes of numbers, expected at most {}", size, kMaxMaskBytes)};
  if (values->strides[2] == 1) {
    values->file = std::make_shared<const RegularFile>(std::move(file));
    return values;
  }
  if (size > budget)
    return Error{fmt::format(
        "holds {} bytes in Fortran order, which take as much memory, expected at most {}", size, budget)};
  values->bytes.resize(size);
  if (const auto status = file.read(values->begin, values->bytes); !status) return status.error();
  values->begin = 0;
  return values;
}

}  // namespace headscope::attention
