#include <fmt/core.h>

#include "attention/formats/masks/mask_file.h"
#include "attention/masks/runs.h"
#include "attention/models/layers/layer_reader.h"

namespace headscope::attention {
namespace {

/// The sizes that masks apply to.
struct MaskSizes {
  Index batch = 1, heads = 1, queries = 0, keys = 0;
  bool batched = false;  ///< whether x has a batch axis

  Index operator[](char axis) const {
    return axis == 'b'   ? batch
           : axis == 'h' ? heads
           : axis == 'B' ? batch * heads
           : axis == 'n' ? queries
           : axis == 'm' ? keys
                         : 1;
  }
};

/// A shape that a mask may have, one letter per axis: b batch, h heads, B batch · heads, n queries, m keys, 1
/// for size one. The mask is the same along any axis that is missing or 1.
struct MaskShape {
  std::string_view axes;
  MaskConvention truths;  ///< the meaning of true in this shape
  std::string_view who;   ///< the program that reads it this way; empty for Headscope

  /// Shapes with a single axis are for inputs without a batch.
  bool fits(const MaskSizes& sizes) const { return axes.size() > 1 || !sizes.batched; }
  Shape shape(const MaskSizes& sizes) const {
    Shape shape;
    for (const char axis : axes) shape.push_back(asSize(sizes[axis]));
    return shape;
  }
};

/// A mask tensor's name in a program, and how that program interprets it.
struct MaskName {
  const char* name;
  std::vector<MaskShape> shapes;
  bool integers;  ///< whether integers 0 and 1 are allowed as booleans
};

/// The mask tensors that attend reads: Headscope's `mask`, and those of PyTorch and Hugging Face. Two PyTorch
/// functions take an attn_mask and interpret booleans in opposite ways. Shapes with two or three axes are
/// MultiheadAttention's; only scaled_dot_product_attention takes four.
const std::vector<MaskName>& maskNames() {
  using enum MaskConvention;
  constexpr std::string_view kMultiheadAttention = "torch.nn.MultiheadAttention",
                             kDotProductAttention = "scaled_dot_product_attention",
                             kHuggingFace = "Hugging Face";
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

/// Lists the possible shapes: "[3, 3] or [4, 3, 3]".
std::string expectedShapes(const MaskName& mask, const MaskSizes& sizes) {
  std::vector<std::string> texts;
  for (const MaskShape& form : mask.shapes) {
    std::string text = shapeText(form.shape(sizes));
    // List the same shape for a batch of one and for no batch only once.
    const bool spoken = form.fits(sizes) && (sizes.batched || form.axes.size() < 4) && form.axes != "1nm";
    if (spoken && std::find(texts.begin(), texts.end(), text) == texts.end())
      texts.push_back(std::move(text));
  }
  std::string all;
  for (std::size_t i = 0; i < texts.size(); ++i)
    all += (i == 0 ? "" : i + 1 == texts.size() ? " or " : ", ") + texts[i];
  return all;
}

/// The values of one mask tensor, row by row, whatever its axes.
class MaskRows {
 public:
  /// Takes the shape and the type, a readable one; put() the bytes before reading.
  MaskRows(const TensorEntry& tensor, const MaskShape& form, const MaskSizes& sizes) : shape_(tensor.shape) {
    values_.keys = sizes.keys;
    values_.type = tensor.dtype;
    values_.strides = {0, 0, 1};
    auto& [head, query, key] = values_.strides;
    std::size_t stride = 1;
    for (std::size_t axis = form.axes.size(); axis-- > 0;) {
      const char letter = form.axes[axis];
      if (letter == 'b') batch_ = stride;
      if (letter == 'h') head = stride;
      if (letter == 'n') query = stride;
      if (letter == 'B') head = stride, batch_ = stride * static_cast<std::size_t>(sizes.heads);
      stride *= asSize(sizes[letter]);
    }
    values_.heads = head > 0 ? sizes.heads : 1;
  }

  /// Heads per sequence; 1 if all heads share a mask.
  Index heads() const { return values_.heads; }
  bool differsInBatch() const { return batch_ > 0; }
  bool differsInQueries() const { return values_.strides[1] > 0; }
  void put(std::vector<std::uint8_t> bytes) { values_.bytes = std::move(bytes); }
  Status read(std::size_t sequence, Index head, Index query, std::vector<float>& row) {
    values_.begin = sequence * batch_ * byteSize(values_.type);
    return MaskRowReader(values_).read(head, query, row);
  }
  /// Formats a position as an index into the tensor: "[0, 1, 2]".
  std::string place(std::size_t sequence, Index head, Index query, std::size_t key) const {
    return positionText(sequence * batch_ + static_cast<std::size_t>(head) * values_.strides[0] +
                            static_cast<std::size_t>(query) * values_.strides[1] + key,
                        shape_);
  }
  float masksFrom() const { return values_.masksFrom(); }

 private:
  Shape shape_;
  MaskValues values_;
  std::size_t batch_ = 0;  ///< values from one sequence's mask to the next; 0 if all share it
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
    const auto form = std::ranges::find_if(mask_.shapes, [&](const MaskShape& one) {
      return one.fits(sizes_) && one.shape(sizes_) == tensor->shape;
    });
    if (form == mask_.shapes.end())
      return reader_.wrongShape(mask_.name, tensor->shape, expectedShapes(mask_, sizes_));
    const auto convention = conventionOf(*tensor, *form);
    if (!convention) return convention.error();
    MaskRows rows(*tensor, *form, sizes_);
    if (const auto status = checkBytes(rows, *convention); !status) return status;
    auto bytes = reader_.bytes(mask_.name, *tensor);
    if (!bytes) return bytes.error();
    rows.put(*std::move(bytes));
    for (std::size_t i = 0; i < (rows.differsInBatch() ? parts.size() : 1); ++i) {
      const auto of = rows.differsInBatch() ? std::span(parts).subspan(i, 1) : std::span(parts);
      const auto status = *convention == MaskConvention::additive ? readAdditive(rows, i, of)
                                                                  : readTruths(rows, *convention, i, of);
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
        if (mask_.integers && isReadable(tensor.dtype)) return form.truths;
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
  Status readTruths(MaskRows& rows, MaskConvention convention, std::size_t sequence,
                    std::span<MaskParts> which) {
    auto cells = std::make_shared<CellTable>(CellTable{rows.heads(), sizes_.queries, sizes_.keys, {}});
    const float hides = convention == MaskConvention::masked ? 1.0F : 0.0F;
    for (Index head = 0; head < rows.heads(); ++head)
      for (Index query = 0; query < sizes_.queries; ++query) {
        if (query > 0 && !rows.differsInQueries()) {
          cells->rows.push_back(cells->rows.back());
          continue;
        }
        if (const auto status = rows.read(sequence, head, query, numbers_); !status) return status;
        CellRow row;
        for (std::size_t key = 0; key < numbers_.size(); ++key) {
          const float value = numbers_[key];
          if (value != 0 && value != 1)
            return Error{fmt::format("{} is {} at {}, expected {} of 0 or 1", at(), value,
                                     rows.place(sequence, head, query, key),
                                     mask_.integers ? "values" : "a BOOL")};
          if (value == hides) appendRun(row.masked, static_cast<Index>(key), static_cast<Index>(key) + 1);
        }
        cells->rows.push_back(row.masked.empty() ? nullptr : std::make_shared<const CellRow>(std::move(row)));
      }
    for (MaskParts& one : which) one.cells.push_back(cells);
    return success();
  }

  Status readAdditive(MaskRows& rows, std::size_t sequence, std::span<MaskParts> which) {
    Stack added = Stack::uninitialized(rows.heads(), sizes_.queries, sizes_.keys);
    for (Index head = 0; head < rows.heads(); ++head)
      for (Index query = 0; query < sizes_.queries; ++query) {
        if (const auto status = rows.read(sequence, head, query, numbers_); !status) return status;
        for (std::size_t key = 0; key < numbers_.size(); ++key) {
          float& value = numbers_[key];
          if (std::isnan(value) || value == -kMinusInfinity)
            return Error{fmt::format("{} is {} at {}, expected finite values or -infinity", at(),
                                     std::isnan(value) ? "NaN" : "infinite",
                                     rows.place(sequence, head, query, key))};
          if (value > rows.masksFrom()) continue;
          if (value != kMinusInfinity) ++large_;
          value = kMinusInfinity;
        }
        std::copy(numbers_.begin(), numbers_.end(), added[head].row(query).data());
      }
    for (MaskParts& one : which) addTo(one.additive, added);
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
  auto lengths = readIndices(reader, "key_lengths", sizes.keys);
  if (!lengths) return lengths.error();
  keyLengths = *std::move(lengths);
  return success();
}

/// Texts packed into one sequence, as transformers finds them (find_packed_sequence_indices): without a mask,
/// a new one begins where positions don't go up by 1, and tokens see only their own text.
void separateTexts(const MaskSizes& sizes, std::vector<MaskParts>& parts, AttentionProblem& problem) {
  bool several = false;
  for (std::size_t i = 0; i < problem.extras.positions.size(); ++i) {
    const std::vector<Index>& positions = problem.extras.positions[i];
    auto cells = std::make_shared<CellTable>(CellTable{1, sizes.queries, sizes.keys, {}});
    for (Index from = 0; from < sizes.queries;) {
      Index to = from + 1;
      while (to < sizes.queries && positions[asSize(to)] == positions[asSize(to - 1)] + 1) ++to;
      CellRow row;
      appendRun(row.masked, 0, from);
      appendRun(row.masked, to, sizes.keys);
      cells->rows.resize(asSize(to), std::make_shared<const CellRow>(std::move(row)));
      several = several || to - from < sizes.queries;
      from = to;
    }
    parts[i].cells.push_back(std::move(cells));
  }
  if (several)
    problem.notes.push_back(
        "position_ids starts anew and there is no mask, so the sequence holds several texts, and tokens see "
        "only "
        "their own");
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

Result<std::vector<Index>> readIndices(TensorReader& reader, const std::string& tensor, Index most) {
  const TensorEntry* const found = reader.find(tensor);
  if (found->dtype != DType::I64 && found->dtype != DType::I32)
    return Error{reader.at(tensor) + " is " + std::string(name(found->dtype)) + ", expected I64"};
  const auto bytes = reader.bytes(tensor, *found);
  if (!bytes) return bytes.error();
  std::vector<Index> indices(bytes->size() / byteSize(found->dtype));
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::uint8_t* const at = bytes->data() + i * byteSize(found->dtype);
    const std::int64_t value = found->dtype == DType::I64 ? load<std::int64_t>(at) : load<std::int32_t>(at);
    if (value < 0 || value > most)
      return Error{fmt::format("{} is {} at {}, expected 0 to {}", reader.at(tensor), value,
                               positionText(i, found->shape), most)};
    indices[i] = value;
  }
  return indices;
}

Status readMasks(TensorReader& reader, Index queries, Index keys, AttentionProblem& problem) {
  const MaskSizes sizes{static_cast<Index>(problem.x.size()), problem.config.heads, queries, keys,
                        problem.batched};
  std::vector<MaskParts> parts(problem.x.size());
  for (const MaskName& mask : maskNames())
    if (const auto status = MaskTensorReader(reader, mask, sizes).read(parts, problem.notes); !status)
      return status;
  const auto given = [&](const char* name) { return reader.all().contains(name); };
  if (std::ranges::none_of(maskNames(), [&](const MaskName& mask) { return given(mask.name); }) &&
      !given("key_lengths"))
    separateTexts(sizes, parts, problem);
  std::vector<Index> keyLengths;
  if (const auto lengths = readKeyLengths(reader, sizes, keyLengths); !lengths) return lengths;
  compileMasks(std::move(parts), keyLengths, sizes, problem);
  return success();
}

}  // namespace headscope::attention
