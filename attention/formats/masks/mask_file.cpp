#include "attention/formats/masks/mask_file.h"

#include <fmt/core.h>

#include <new>

#include "attention/masks/runs.h"

namespace headscope::attention {
namespace {

/// A gibibyte of runs. A mask with more, mostly single cells, would be unreadable anyway.
constexpr std::uint64_t kMaxRuns = std::uint64_t{1} << 26;

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
    if (convention_ == MaskConvention::additive && values_.type == MaskValueType::boolean)
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

/// Collects the finite values. Allocates at the first one that isn't 0.
class AdditiveValues {
 public:
  AdditiveValues(const MaskValues& values, std::uint64_t budget) : values_(values), budget_(budget) {}

  Status add(const std::vector<float>& row, Index head, Index query, const Interpreter& interpreter) {
    for (std::size_t key = 0; key < row.size(); ++key) {
      if (row[key] == 0 || !interpreter.sees(row[key])) continue;
      if (stack_.empty()) {
        const auto bytes = saturatingProduct({values_.heads, values_.queries, values_.keys, 4});
        if (bytes > budget_)
          return Error{
              fmt::format("holds values to add that take {} bytes, expected at most {}", bytes, budget_)};
        stack_ = Stack(values_.heads, values_.queries, values_.keys);
      }
      stack_[head](query, static_cast<Index>(key)) = row[key];
    }
    return success();
  }
  Stack take() { return std::move(stack_); }

 private:
  const MaskValues& values_;
  const std::uint64_t budget_;
  Stack stack_;
};

/// Prefixes an error with the file name, unless the message has it already.
Error named(const std::filesystem::path& path, const Error& error) {
  const std::string start = shownPath(path) + ": ";
  return error.message.starts_with(start) ? error : Error{start + error.message};
}

Result<MaskValues> openMask(const std::filesystem::path& path, std::uint64_t budget) {
  const auto format = maskFormat(path);
  if (!format) return format.error();
  Result<MaskValues> values = Error{};
  if (*format == MaskFormat::csv) {
    // A value of two characters takes at least four bytes when parsed.
    auto bytes = readFile(path, std::min(kMaxMaskBytes, budget) >> 4);
    if (!bytes) return bytes.error();
    values = parseMaskValues(*format, *std::move(bytes));
  } else {
    auto file = RegularFile::open(path);
    if (!file) return file.error();
    values = openMaskValues(*format, *std::move(file), budget);
  }
  if (!values) return named(path, values.error());
  return values;
}

}  // namespace

Result<MaskConvention> parseConvention(const std::string& word) {
  for (const auto convention : {MaskConvention::visible, MaskConvention::masked, MaskConvention::additive})
    if (word == conventionName(convention)) return convention;
  return Error{"the convention is " + quotedText(word) + ", expected visible, masked or additive"};
}

std::string conventionName(MaskConvention convention) {
  switch (convention) {
    case MaskConvention::visible:
      return "visible";
    case MaskConvention::masked:
      return "masked";
    case MaskConvention::additive:
      return "additive";
  }
  return "";
}

Result<MaskFile> interpretMask(const MaskValues& values, MaskConvention convention, std::uint64_t budget) {
  const Interpreter interpreter(values, convention);
  if (const auto status = interpreter.checkType(); !status) return status.error();
  auto cells = std::make_shared<CellTable>(CellTable{values.heads, values.queries, values.keys, {}});
  cells->rows.reserve(static_cast<std::size_t>(values.heads * values.queries));
  AdditiveValues additive(values, budget);
  const std::uint64_t mostRuns = std::min(kMaxRuns, budget / sizeof(KeyRun));
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
    return additive.add(numbers, head, query, interpreter);
  });
  if (!status) return status.error();
  return MaskFile{std::move(cells), additive.take(), largeNumbers};
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
    for (const auto convention :
         {MaskConvention::visible, MaskConvention::masked, MaskConvention::additive}) {
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

namespace {

constexpr std::string_view kMultiheadAttention = "torch.nn.MultiheadAttention",
                           kDotProductAttention = "scaled_dot_product_attention",
                           kHuggingFace = "Hugging Face";

Shape shapeOf(const MaskShape& form, const MaskSizes& sizes) {
  Shape shape;
  for (const char axis : form.axes) shape.push_back(asSize(sizeOf(axis, sizes)));
  return shape;
}

/// Shapes with a single axis are for inputs without a batch.
bool fits(const MaskShape& form, const MaskSizes& sizes) {
  return form.axes.size() > 1 || !sizes.batched;
}

}  // namespace

/// Two PyTorch functions take an attn_mask and interpret booleans in opposite ways. Shapes with two or three
/// axes are MultiheadAttention's; only scaled_dot_product_attention takes four.
const std::vector<MaskName>& maskNames() {
  using enum MaskConvention;
  static const std::vector<MaskName> kNames{
      {"mask",
       {{"nm", masked, ""},
        {"hnm", masked, ""},
        {"1nm", masked, ""},
        {"bhnm", masked, ""},
        {"b1nm", masked, ""}},
       false},
      {"attn_mask",
       {{"nm", masked, kMultiheadAttention},
        {"Bnm", masked, kMultiheadAttention},
        {"bhnm", visible, kDotProductAttention},
        {"b1nm", visible, kDotProductAttention},
        {"1hnm", visible, kDotProductAttention},
        {"11nm", visible, kDotProductAttention}},
       true},
      {"key_padding_mask", {{"bm", masked, kMultiheadAttention}, {"m", masked, kMultiheadAttention}}, true},
      {"attention_mask",
       {{"bm", visible, kHuggingFace},
        {"m", visible, kHuggingFace},
        {"bhnm", visible, kHuggingFace},
        {"b1nm", visible, kHuggingFace},
        {"1hnm", visible, kHuggingFace},
        {"11nm", visible, kHuggingFace}},
       true},
  };
  return kNames;
}

Index sizeOf(char axis, const MaskSizes& sizes) {
  switch (axis) {
    case 'b':
      return sizes.batch;
    case 'h':
      return sizes.heads;
    case 'B':
      return sizes.batch * sizes.heads;
    case 'n':
      return sizes.queries;
    case 'm':
      return sizes.keys;
    default:
      return 1;
  }
}

const MaskShape* formOf(const MaskName& mask, const Shape& shape, const MaskSizes& sizes) {
  for (const MaskShape& form : mask.shapes)
    if (fits(form, sizes) && shapeOf(form, sizes) == shape) return &form;
  return nullptr;
}

std::string expectedShapes(const MaskName& mask, const MaskSizes& sizes) {
  std::vector<std::string> texts;
  for (const MaskShape& form : mask.shapes) {
    std::string text = shapeText(shapeOf(form, sizes));
    // List the same shape for a batch of one and for no batch only once.
    const bool spoken = fits(form, sizes) && (sizes.batched || form.axes.size() < 4) && form.axes != "1nm";
    if (spoken && std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(std::move(text));
  }
  std::string all;
  for (std::size_t i = 0; i < texts.size(); ++i)
    all += (i == 0 ? "" : i + 1 == texts.size() ? " or " : ", ") + texts[i];
  return all;
}

}  // namespace headscope::attention
