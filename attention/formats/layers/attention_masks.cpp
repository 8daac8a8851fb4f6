#include <fmt/core.h>

#include "attention/formats/layers/layer_reader.h"
#include "attention/formats/masks/mask_file.h"
#include "attention/masks/runs.h"

namespace headscope::attention {
namespace {

/// The values of one mask tensor, row by row, whatever its axes.
class MaskRows {
 public:
  /// Takes the shape and the type, one of a mask's; put() the bytes before reading.
  MaskRows(const TensorEntry& tensor, const MaskShape& form, const MaskSizes& sizes) : shape_(tensor.shape) {
    values_.keys = sizes.keys;
    values_.type = *maskValueType(tensor.dtype);
    std::size_t stride = 1;
    for (std::size_t axis = form.axes.size(); axis-- > 0;) {
      const char letter = form.axes[axis];
      if (letter == 'b') batch_ = stride;
      if (letter == 'h') head_ = stride;
      if (letter == 'n') query_ = stride;
      if (letter == 'B') head_ = stride, batch_ = stride * static_cast<std::size_t>(sizes.heads);
      stride *= static_cast<std::size_t>(sizeOf(letter, sizes));
    }
    values_.strides = {1, 1, 1};
    heads_ = head_ > 0 ? sizes.heads : 1;
  }

  /// Heads per sequence; 1 if all heads share a mask.
  Index heads() const { return heads_; }
  bool differsInBatch() const { return batch_ > 0; }
  bool differsInQueries() const { return query_ > 0; }
  void put(std::vector<std::uint8_t> bytes) { values_.bytes = std::move(bytes); }
  Status read(Index sequence, Index head, Index query, std::vector<float>& row) const {
    return MaskRowReader(values_).read(static_cast<Index>(firstOf(sequence, head, query)), 0, row);
  }
  /// Formats a position as an index into the tensor: "[0, 1, 2]".
  std::string place(Index sequence, Index head, Index query, std::size_t key) const {
    return positionText(firstOf(sequence, head, query) + key, shape_);
  }
  float masksFrom() const { return values_.masksFrom(); }

 private:
  std::size_t firstOf(Index sequence, Index head, Index query) const {
    return static_cast<std::size_t>(sequence) * batch_ + static_cast<std::size_t>(head) * head_ +
           static_cast<std::size_t>(query) * query_;
  }

  Shape shape_;
  MaskValues values_;
  std::size_t batch_ = 0, head_ = 0, query_ = 0;  ///< step of each axis, in values; 0 if missing
  Index heads_ = 1;
};

/// What hides keys of one sequence, and what is added to its scores.
struct MaskParts {
  std::vector<std::shared_ptr<const CellTable>> cells;
  Stack additive;
};

/// Adds `more` to `sum`; either may have one matrix for all heads.
void addTo(Stack& sum, const Stack& more) {
  if (sum.empty()) {
    sum = more;
    return;
  }
  const Index heads = std::max(sum.count(), more.count());
  Stack total = Stack::uninitialized(heads, sum.rows(), sum.cols());
  for (Index head = 0; head < heads; ++head)
    total[head] = sum[sliceOf(sum, head)] + more[sliceOf(more, head)];
  sum = std::move(total);
}

/// Reads one mask tensor into the parts of every sequence.
class MaskTensorReader {
 public:
  MaskTensorReader(TensorReader& reader, const MaskName& mask, const MaskSizes& sizes)
      : reader_(reader), mask_(mask), sizes_(sizes) {}

  Status read(std::vector<MaskParts>& parts, std::vector<std::string>& notes) {
    const TensorEntry* tensor = reader_.find(mask_.name);
    if (!tensor) return success();
    const MaskShape* form = formOf(mask_, tensor->shape, sizes_);
    if (!form) return reader_.wrongShape(mask_.name, tensor->shape, expectedShapes(mask_, sizes_));
    const auto convention = conventionOf(*tensor, *form);
    if (!convention) return convention.error();
    MaskRows rows(*tensor, *form, sizes_);
    if (const auto status = checkBytes(rows, *convention); !status) return status;
    auto bytes = reader_.bytes(mask_.name, *tensor);
    if (!bytes) return bytes.error();
    rows.put(*std::move(bytes));
    const std::size_t different = rows.differsInBatch() ? parts.size() : 1;
    for (std::size_t i = 0; i < different; ++i) {
      const auto status = *convention == MaskConvention::additive
                              ? readAdditive(rows, i, parts, different)
                              : readTruths(rows, *convention, i, parts, different);
      if (!status) return status;
    }
    tell(*tensor, *form, *convention, notes);
    return success();
  }

 private:
  std::string at() const { return reader_.at(mask_.name); }

  Result<MaskConvention> conventionOf(const TensorEntry& tensor, const MaskShape& form) const {
    switch (tensor.dtype) {
      case DType::F32:
      case DType::F16:
      case DType::BF16:
      case DType::F64:
        // A tokenizer's mask keeps its 1 and 0 when cast to float; only masks expanded over the queries are
        // additive.
        return form.axes.find('n') == std::string_view::npos && form.truths == MaskConvention::visible
                   ? form.truths
                   : MaskConvention::additive;
      case DType::Bool:
        return form.truths;
      default:
        if (mask_.integers && maskValueType(tensor.dtype)) return form.truths;
        return Error{at() + " is " + std::string(name(tensor.dtype)) + ", expected BOOL or floating point"};
    }
  }

  Status checkBytes(const MaskRows& rows, MaskConvention convention) const {
    const Index queries = rows.differsInQueries() ? sizes_.queries : 1;
    // In a boolean mask, at most every other cell begins a run. An additive mask is stored for each sequence,
    // so a small file could demand many copies.
    const auto bytes = convention == MaskConvention::additive
                           ? saturatingProduct({sizes_.batch, rows.heads(), sizes_.queries, sizes_.keys,
                                                Index{sizeof(float)}})
                           : saturatingProduct({rows.differsInBatch() ? sizes_.batch : 1, rows.heads(),
                                                queries, sizes_.keys, Index{sizeof(KeyRun)} / 2});
    if (bytes <= kMaxMaskBytes) return success();
    return Error{fmt::format("{} needs {} bytes for a batch of {}, expected at most {}", at(), bytes,
                             sizes_.batch, kMaxMaskBytes)};
  }

  /// Marks masked cells and leaves the others unset, so that they don't affect other masks.
  Status readTruths(const MaskRows& rows, MaskConvention convention, std::size_t sequence,
                    std::vector<MaskParts>& parts, std::size_t different) {
    auto cells = std::make_shared<CellTable>(CellTable{rows.heads(), sizes_.queries, sizes_.keys, {}});
    const float hides = convention == MaskConvention::masked ? 1.0F : 0.0F;
    for (Index head = 0; head < rows.heads(); ++head)
      for (Index query = 0; query < sizes_.queries; ++query) {
        if (query > 0 && !rows.differsInQueries()) {
          cells->rows.push_back(cells->rows.back());
          continue;
        }
        if (const auto status = rows.read(static_cast<Index>(sequence), head, query, numbers_); !status)
          return status;
        CellRow row;
        for (std::size_t key = 0; key < numbers_.size(); ++key) {
          const float value = numbers_[key];
          if (value != 0 && value != 1)
            return Error{fmt::format("{} is {} at {}, expected {} of 0 or 1", at(), value,
                                     rows.place(static_cast<Index>(sequence), head, query, key),
                                     mask_.integers ? "values" : "a BOOL")};
          if (value == hides) appendRun(row.masked, static_cast<Index>(key), static_cast<Index>(key) + 1);
        }
        cells->rows.push_back(row.masked.empty() ? nullptr : std::make_shared<const CellRow>(std::move(row)));
      }
    for (std::size_t i = different == 1 ? 0 : sequence; i < (different == 1 ? parts.size() : sequence + 1);
         ++i)
      parts[i].cells.push_back(cells);
    return success();
  }

  Status readAdditive(const MaskRows& rows, std::size_t sequence, std::vector<MaskParts>& parts,
                      std::size_t different) {
    Stack added = Stack::uninitialized(rows.heads(), sizes_.queries, sizes_.keys);
    for (Index head = 0; head < rows.heads(); ++head)
      for (Index query = 0; query < sizes_.queries; ++query) {
        if (const auto status = rows.read(static_cast<Index>(sequence), head, query, numbers_); !status)
          return status;
        for (std::size_t key = 0; key < numbers_.size(); ++key) {
          float& value = numbers_[key];
          if (std::isnan(value) || value == -kMinusInfinity)
            return Error{fmt::format("{} is {} at {}, expected finite values or -infinity", at(),
                                     std::isnan(value) ? "NaN" : "infinite",
                                     rows.place(static_cast<Index>(sequence), head, query, key))};
          if (value > rows.masksFrom()) continue;
          if (value != kMinusInfinity) ++large_;
          value = kMinusInfinity;
        }
        std::copy(numbers_.begin(), numbers_.end(), added[head].row(query).data());
      }
    for (std::size_t i = different == 1 ? 0 : sequence; i < (different == 1 ? parts.size() : sequence + 1);
         ++i)
      addTo(parts[i].additive, added);
    return success();
  }

  /// Notes how another program's mask was interpreted, so the user needn't guess.
  void tell(const TensorEntry& tensor, const MaskShape& form, MaskConvention convention,
            std::vector<std::string>& notes) const {
    if (!form.who.empty()) {
      const std::string meaning = convention == MaskConvention::additive
                                      ? "its numbers are added to the scores"
                                  : convention == MaskConvention::masked ? "true or 1 = masked"
                                                                         : "true or 1 = visible";
      notes.push_back(fmt::format("{} {} {} is read as {} reads it: {}", at(), name(tensor.dtype),
                                  shapeText(tensor.shape), form.who, meaning));
    }
    if (large_ > 0) notes.push_back(at() + ": " + largeNumbersText(large_));
  }

  TensorReader& reader_;
  const MaskName& mask_;
  const MaskSizes& sizes_;
  std::vector<float> numbers_;
  std::uint64_t large_ = 0;  ///< finite numbers read as masked
};

Status readKeyLengths(TensorReader& reader, const MaskSizes& sizes, std::vector<Index>& keyLengths) {
  const auto* tensor = reader.find("key_lengths");
  if (!tensor) return success();
  const Shape expected{asSize(sizes.batch)};
  if (tensor->shape != expected) return reader.wrongShape("key_lengths", tensor->shape, shapeText(expected));
  if (tensor->dtype != DType::I64 && tensor->dtype != DType::I32) {
    return Error{reader.at("key_lengths") + " is " + std::string(name(tensor->dtype)) + ", expected I64"};
  }
  const auto size = byteSize(tensor->dtype);
  const auto bytes = reader.bytes("key_lengths", *tensor);
  if (!bytes) return bytes.error();
  for (std::size_t i = 0; i < asSize(sizes.batch); ++i) {
    std::int64_t length = 0;
    std::memcpy(&length, bytes->data() + i * size, size);
    if (tensor->dtype == DType::I32) length = static_cast<std::int32_t>(length);
    if (length < 0 || length > sizes.keys) {
      return Error{
          fmt::format("{} is {} at [{}], expected 0 to {}", reader.at("key_lengths"), length, i, sizes.keys)};
    }
    keyLengths.push_back(length);
  }
  return success();
}

/// Compiles rules, key length and cells into one formula per sequence.
void compileMasks(std::vector<MaskParts> parts, const std::vector<Index>& keyLengths, const MaskSizes& sizes,
                  AttentionProblem& problem) {
  MaskGeometry geometry;
  geometry.queries = sizes.queries;
  geometry.keys = sizes.keys;
  geometry.cacheLength = problem.config.cacheLength;
  geometry.heads = problem.config.heads;
  geometry.kvHeads = problem.config.kvHeads;
  PlainRules rules = problem.rules;
  rules.padding = !keyLengths.empty();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    geometry.keyLength = rules.padding ? keyLengths[i] : sizes.keys;
    problem.masks.push_back({compileRules(rules, geometry, parts[i].cells), std::move(parts[i].additive)});
  }
}

}  // namespace

Status readMasks(TensorReader& reader, Index queries, Index keys, AttentionProblem& problem) {
  const MaskSizes sizes{static_cast<Index>(problem.x.size()), problem.config.heads, queries, keys,
                        problem.batched};
  std::vector<MaskParts> parts(problem.x.size());
  for (const MaskName& mask : maskNames())
    if (const auto status = MaskTensorReader(reader, mask, sizes).read(parts, problem.notes); !status)
      return status;
  std::vector<Index> keyLengths;
  if (const auto lengths = readKeyLengths(reader, sizes, keyLengths); !lengths) return lengths;
  compileMasks(std::move(parts), keyLengths, sizes, problem);
  return success();
}

}  // namespace headscope::attention
