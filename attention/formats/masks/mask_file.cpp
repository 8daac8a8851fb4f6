#include "attention/formats/masks/mask_file.h"

#include <fmt/core.h>

#include <new>

#include "attention/formats/npy.h"
#include "attention/formats/quote.h"
#include "attention/formats/safetensors.h"
#include "attention/formats/tables.h"
#include "attention/masks/runs.h"
#include "attention/text/ascii.h"

namespace headscope::attention {
namespace {

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

Result<MaskValues> openNpyMask(const RegularFile& file) {
  constexpr DType kTypes[] = {DType::Bool, DType::U8,  DType::I8,  DType::I16, DType::U16, DType::I32,
                              DType::U32,  DType::I64, DType::U64, DType::F16, DType::F32, DType::F64};
  std::vector<std::uint8_t> start(std::min(file.size(), kMaxNpyHeader));
  if (const auto status = file.read(0, start); !status) return status.error();
  const auto header = parseNpyHeader(start, file.size());
  if (!header) return header.error();
  const auto type =
      npyType(*header, kTypes, "booleans, whole numbers or little-endian floats (|b1, |u1, <i8, <f4, …)");
  if (!type) return type.error();
  if (const auto status = checkNpyExtent(*header, byteSize(*type)); !status) return status.error();
  MaskValues values;
  values.type = *type;
  if (const auto status = setShape(values, header->shape, header->fortranOrder); !status)
    return status.error();
  values.begin = header->dataBegin;
  return values;
}

/// Finds the mask among the tensors.
Result<MaskValues> openTensorMask(const RegularFile& file) {
  const auto layout = readSafetensorsHeader(file, shownPath(file.path()));
  if (!layout) return layout.error();
  const auto& tensors = layout->header.tensors;
  auto chosen = tensors.end();
  for (const char* name : {"attn_mask", "mask", "bias"})
    if (chosen == tensors.end()) chosen = tensors.find(name);
  if (chosen == tensors.end() && tensors.size() == 1) chosen = tensors.begin();
  if (chosen == tensors.end())
    return Error{fmt::format("holds {} tensors, expected one called attn_mask, mask or bias, or only one",
                             tensors.size())};
  const DType type = chosen->second.dtype;
  if (!isReadable(type))
    return Error{fmt::format("tensor {} is {}, expected BOOL, whole numbers, F32, F16, BF16 or F64",
                             quotedText(chosen->first), name(type))};
  MaskValues values;
  values.type = type;
  if (const auto status = setShape(values, chosen->second.shape, false); !status)
    return Error{"tensor " + quotedText(chosen->first) + " " + status.error().message};
  values.begin = layout->dataBegin + chosen->second.begin;
  return values;
}

/// Parses every cell as a value: mask files have neither header nor names.
Result<MaskValues> readCsvMask(const RegularFile& file, std::uint64_t budget) {
  // A value of two characters takes at least four bytes when parsed.
  const auto bytes = readFile(file, std::min(kMaxMaskBytes, budget) >> 4);
  if (!bytes) return bytes.error();
  std::vector<float> cells;
  std::size_t width = 0;
  std::uint64_t rows = 0;
  bool words = true;
  const auto takeRow = [&](std::vector<std::string>& fields, std::size_t line) -> Status {
    if (rows++ == 0) width = fields.size();
    if (fields.size() != width)
      return Error{
          fmt::format("line {} has {} fields, expected {} as in the first", line, fields.size(), width)};
    for (std::size_t column = 0; column < width; ++column) {
      const std::string word = lowerCase(fields[column]);
      const auto number = word == "true" ? 1.0F : word == "false" ? 0.0F : readCsvNumber(word);
      if (!number)
        return Error{fmt::format("line {}, column {}: found {}, expected a number, true or false", line,
                                 column + 1, word.empty() ? "an empty field" : quotedText(fields[column]))};
      words = words && (word == "true" || word == "false");
      cells.push_back(*number);
    }
    return success();
  };
  const Status read = readCsv({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, takeRow);
  if (!read) return read.error();
  if (rows == 0) return Error{"has no row of numbers"};
  MaskValues values;
  if (const auto status = setShape(values, {rows, width}, false); !status) return status.error();
  values.bytes.resize(cells.size() * (words ? 1 : sizeof(float)));
  values.type = words ? DType::Bool : DType::F32;
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
  const std::size_t step = strides[2], size = byteSize(values_.type);
  const auto bytes = bytesAt(at * size, ((row.size() - 1) * step + 1) * size);
  if (!bytes) return bytes.error();
  readNumbers(values_.type, *bytes, step, row);
  return success();
}

float MaskValues::masksFrom() const {
  // The lowest numbers of all other signed types are below −1e4.
  return type == DType::I8 ? std::numeric_limits<std::int8_t>::min() : kMaskingNumber;
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

Result<MaskValues> openMaskValues(MaskFormat format, RegularFile file, std::uint64_t budget) {
  if (format == MaskFormat::csv) return readCsvMask(file, budget);
  auto values = format == MaskFormat::npy ? openNpyMask(file) : openTensorMask(file);
  if (!values) return values;
  const std::uint64_t size = saturatingProduct(
      {values->heads, values->queries, values->keys, static_cast<Index>(byteSize(values->type))});
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

namespace {

/// A gibibyte of runs. A mask with more, mostly single cells, would be unreadable anyway.
constexpr std::uint64_t kMaxRuns = std::uint64_t{1} << 26;

constexpr MaskConvention kConventions[] = {MaskConvention::visible, MaskConvention::masked,
                                           MaskConvention::additive};

std::string valueText(float value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "infinite or beyond 3.4e38" : "-inf or below -3.4e38";
  return fmt::format("{:.6g}", value);
}

/// Interprets numbers under a convention.
class Interpreter {
 public:
  Interpreter(const MaskValues& values, MaskConvention convention)
      : values_(values), convention_(convention), masksFrom_(values.masksFrom()) {}

  bool accepts(float value) const {
    if (convention_ == MaskConvention::additive)
      return !std::isnan(value) && value != std::numeric_limits<float>::infinity();
    return value == 0 || value == 1;
  }
  bool sees(float value) const {
    if (convention_ == MaskConvention::additive) return value > masksFrom_;
    return (value == 1) == (convention_ == MaskConvention::visible);
  }
  /// Counts finite numbers of a row that mask.
  std::uint64_t largeNumbers(const std::vector<float>& row) const {
    if (convention_ != MaskConvention::additive) return 0;
    return static_cast<std::uint64_t>(std::count_if(
        row.begin(), row.end(), [&](float value) { return std::isfinite(value) && !sees(value); }));
  }
  /// Returns an Error for the first value of a row that isn't allowed.
  Status check(const std::vector<float>& row, Index head, Index query) const {
    for (std::size_t key = 0; key < row.size(); ++key)
      if (!accepts(row[key]))
        return Error{values_.place(head, query, static_cast<Index>(key)) + " is " + valueText(row[key]) +
                     ", expected " +
                     (convention_ == MaskConvention::additive ? "a number or -inf" : "0 or 1")};
    return success();
  }
  Status checkType() const {
    if (convention_ == MaskConvention::additive && values_.type == DType::Bool)
      return Error{"holds true and false, expected numbers for the additive convention"};
    return success();
  }

 private:
  const MaskValues& values_;
  MaskConvention convention_;
  float masksFrom_;
};

/// Calls `take(head, query, row)` for every row until it returns an error.
template <typename Take>
Status forEachRow(const MaskValues& values, Take take) {
  std::vector<float> row;
  MaskRowReader reader(values);
  for (Index head = 0; head < values.heads; ++head) {
    for (Index query = 0; query < values.queries; ++query) {
      if (const Status status = reader.read(head, query, row); !status) return status;
      if (const Status status = take(head, query, row); !status) return status;
    }
  }
  return success();
}

/// Prefixes an error with the file name, unless the message has it already.
Error named(const std::filesystem::path& path, const Error& error) {
  const std::string start = shownPath(path) + ": ";
  return error.message.starts_with(start) ? error : Error{start + error.message};
}

Result<MaskValues> openMask(const std::filesystem::path& path, std::uint64_t budget) {
  const auto format = maskFormat(path);
  if (!format) return format.error();
  auto file = RegularFile::open(path);
  if (!file) return file.error();
  auto values = openMaskValues(*format, *std::move(file), budget);
  if (!values) return named(path, values.error());
  return values;
}

}  // namespace

Result<MaskConvention> parseConvention(const std::string& word) {
  for (const auto convention : kConventions)
    if (word == conventionName(convention)) return convention;
  return Error{"the convention is " + quotedText(word) + ", expected visible, masked or additive"};
}

std::string conventionName(MaskConvention convention) {
  constexpr const char* kNames[] = {"visible", "masked", "additive"};
  return kNames[static_cast<std::size_t>(convention)];
}

Result<MaskFile> interpretMask(const MaskValues& values, MaskConvention convention, std::uint64_t budget) {
  const Interpreter interpreter(values, convention);
  if (const auto status = interpreter.checkType(); !status) return status.error();
  auto cells = std::make_shared<CellTable>(CellTable{values.heads, values.queries, values.keys, {}});
  cells->rows.reserve(static_cast<std::size_t>(values.heads * values.queries));
  Stack additive;
  const std::uint64_t mostRuns = std::min(kMaxRuns, budget / sizeof(KeyRun));
  const std::uint64_t additiveBytes =
      saturatingProduct({values.heads, values.queries, values.keys, Index{sizeof(float)}});
  std::uint64_t runs = 0, largeNumbers = 0;
  CellRow row;
  const auto status = forEachRow(values, [&](Index head, Index query, const std::vector<float>& numbers) {
    if (auto bad = interpreter.check(numbers, head, query); !bad) return bad;
    largeNumbers += interpreter.largeNumbers(numbers);
    row.visible.clear();
    for (std::size_t key = 0; key < numbers.size();) {
      const std::size_t begin = key;
      const bool sees = interpreter.sees(numbers[begin]);
      while (key < numbers.size() && interpreter.sees(numbers[key]) == sees) ++key;
      if (sees) appendRun(row.visible, static_cast<Index>(begin), static_cast<Index>(key));
    }
    complement(row.visible, values.keys, row.masked);
    if (!cells->rows.empty() && *cells->rows.back() == row) {
      // Equal consecutive rows are stored once.
      cells->rows.push_back(cells->rows.back());
    } else {
      runs += row.visible.size() + row.masked.size();
      if (runs > mostRuns)
        return Status(Error{fmt::format("holds more than {} runs of equal cells", mostRuns)});
      cells->rows.push_back(std::make_shared<const CellRow>(row));
    }
    if (convention != MaskConvention::additive) return success();
    for (std::size_t key = 0; key < numbers.size(); ++key) {
      if (numbers[key] == 0 || !interpreter.sees(numbers[key])) continue;
      if (additive.empty() && additiveBytes > budget)
        return Status(Error{fmt::format("holds values to add that take {} bytes, expected at most {}",
                                        additiveBytes, budget)});
      if (additive.empty()) additive = Stack(values.heads, values.queries, values.keys);
      additive[head](query, static_cast<Index>(key)) = numbers[key];
    }
    return success();
  });
  if (!status) return status.error();
  return MaskFile{std::move(cells), std::move(additive), largeNumbers};
}

Result<MaskFile> readMaskFile(const std::filesystem::path& path, MaskConvention convention,
                              std::uint64_t budget) {
  try {
    const auto values = openMask(path, budget);
    if (!values) return values.error();
    auto file = interpretMask(*values, convention, budget);
    if (!file) return named(path, file.error());
    return file;
  } catch (const std::bad_alloc&) {
    return fileError(path, "needs more memory than there is");
  }
}

Result<std::vector<MaskConvention>> possibleConventions(const std::filesystem::path& path) {
  try {
    const auto values = openMask(path, kMaxMaskBytes);
    if (!values) return values.error();
    std::vector<MaskConvention> possible;
    Status last = success();
    for (const auto convention : kConventions) {
      const Interpreter interpreter(*values, convention);
      last = interpreter.checkType();
      if (last)
        last = forEachRow(*values, [&](Index head, Index query, const std::vector<float>& row) {
          return interpreter.check(row, head, query);
        });
      if (last) possible.push_back(convention);
    }
    if (possible.empty()) return named(path, last.error());
    return possible;
  } catch (const std::bad_alloc&) {
    return fileError(path, "needs more memory than there is");
  }
}

}  // namespace headscope::attention
