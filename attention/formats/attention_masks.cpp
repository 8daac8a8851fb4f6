#include "attention/formats/attention_masks.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "attention/core/saturating.h"
#include "attention/masks/runs.h"

namespace headscope::attention {
namespace {

/// An additive mask is kept once per sequence, so a small file could ask for many copies.
constexpr std::uint64_t kMaxMaskBytes = std::uint64_t{4} << 30;

/// What hides keys and is added to scores, as the file has it.
struct MaskParts {
  std::shared_ptr<const CellTable> cells;  ///< of a boolean mask; null for none
  Stack additive;
  std::vector<Index> keyLengths;  ///< per sequence; empty for none
};

/// BOOL [heads, n, m]: true cells as masked, the others left alone, so that nothing else they are joined to
/// is touched.
Result<std::shared_ptr<const CellTable>> readCells(TensorReader& reader, const TensorEntry& tensor,
                                                   Index heads, Index queries, Index keys) {
  auto cells = std::make_shared<CellTable>(CellTable{heads, queries, keys, {}});
  const auto bytes = reader.bytes("mask", tensor);
  if (!bytes) return bytes.error();
  const std::uint8_t* flag = bytes->data();
  for (Index i = 0; i < heads * queries; ++i) {
    CellRow row;
    for (Index j = 0; j < keys; ++j, ++flag) {
      if (*flag > 1) {
        const auto place = static_cast<std::size_t>(flag - bytes->data());
        return Error{fmt::format("{} is {} at {}, expected a BOOL of 0 or 1", reader.at("mask"), *flag,
                                 positionText(place, tensor.shape))};
      }
      if (*flag == 1) appendRun(row.masked, j, j + 1);
    }
    cells->rows.push_back(row.masked.empty() ? nullptr : std::make_shared<const CellRow>(std::move(row)));
  }
  return std::shared_ptr<const CellTable>(std::move(cells));
}

/// [n, m] or [heads, n, m], boolean or additive.
Status readMask(TensorReader& reader, const AttentionConfig& config, Index queries, Index keys,
                std::size_t copies, MaskParts& parts) {
  const auto* tensor = reader.find("mask");
  if (!tensor) return success();
  const Shape one{asSize(queries), asSize(keys)};
  const Shape each{asSize(config.heads), one[0], one[1]}, shared{1, one[0], one[1]};
  if (tensor->shape != one && tensor->shape != each && tensor->shape != shared) {
    return reader.wrongShape("mask", tensor->shape, shapeText(one) + " or " + shapeText(each));
  }
  const Index count = tensor->shape.size() == 3 ? asIndex(tensor->shape[0]) : 1;
  // Sequences share the runs of a boolean mask, of which every other cell can begin one.
  const bool boolean = tensor->dtype == DType::Bool;
  const auto bytes = boolean
                         ? saturatingProduct({count, queries, keys, Index{sizeof(KeyRun)} / 2})
                         : saturatingProduct({asIndex(copies), count, queries, keys, Index{sizeof(float)}});
  if (bytes > kMaxMaskBytes) {
    return Error{fmt::format("{} needs {} bytes for a batch of {}, expected at most {}", reader.at("mask"),
                             bytes, copies, kMaxMaskBytes)};
  }
  if (boolean) {
    auto cells = readCells(reader, *tensor, count, queries, keys);
    if (!cells) return cells.error();
    parts.cells = *std::move(cells);
    return success();
  }
  if (tensor->dtype == DType::U8 || tensor->dtype == DType::I32 || tensor->dtype == DType::I64) {
    return Error{reader.at("mask") + " is " + std::string(name(tensor->dtype)) +
                 ", expected BOOL or floating point"};
  }
  const auto values = reader.floats("mask", *tensor, true);
  if (!values) return values.error();
  parts.additive = Stack::uninitialized(count, queries, keys);
  std::copy(values->begin(), values->end(), parts.additive.data());
  return success();
}

Status readKeyLengths(TensorReader& reader, Index keys, std::size_t sequences, MaskParts& parts) {
  const auto* tensor = reader.find("key_lengths");
  if (!tensor) return success();
  const Shape expected{sequences};
  if (tensor->shape != expected) return reader.wrongShape("key_lengths", tensor->shape, shapeText(expected));
  if (tensor->dtype != DType::I64 && tensor->dtype != DType::I32) {
    return Error{reader.at("key_lengths") + " is " + std::string(name(tensor->dtype)) + ", expected I64"};
  }
  const auto size = byteSize(tensor->dtype);
  const auto bytes = reader.bytes("key_lengths", *tensor);
  if (!bytes) return bytes.error();
  for (std::size_t i = 0; i < sequences; ++i) {
    std::int64_t length = 0;
    std::memcpy(&length, bytes->data() + i * size, size);
    if (tensor->dtype == DType::I32) length = static_cast<std::int32_t>(length);
    if (length < 0 || length > keys) {
      return Error{
          fmt::format("{} is {} at [{}], expected 0 to {}", reader.at("key_lengths"), length, i, keys)};
    }
    parts.keyLengths.push_back(length);
  }
  return success();
}

/// Every sequence's mask: rules, key length and cells in one formula.
void compileMasks(const MaskParts& parts, Index queries, Index keys, AttentionProblem& problem) {
  MaskGeometry geometry;
  geometry.queries = queries;
  geometry.keys = keys;
  geometry.cacheLength = problem.config.cacheLength;
  geometry.heads = problem.config.heads;
  geometry.kvHeads = problem.config.kvHeads;
  PlainRules rules = problem.rules;
  rules.padding = !parts.keyLengths.empty();
  for (std::size_t i = 0; i < problem.x.size(); ++i) {
    geometry.keyLength = rules.padding ? parts.keyLengths[i] : keys;
    problem.masks.push_back({compileRules(rules, geometry, parts.cells), parts.additive});
  }
}

}  // namespace

Status readMasks(TensorReader& reader, Index queries, Index keys, AttentionProblem& problem) {
  const std::size_t sequences = problem.x.size();
  MaskParts parts;
  if (const auto mask = readMask(reader, problem.config, queries, keys, sequences, parts); !mask) return mask;
  if (const auto lengths = readKeyLengths(reader, keys, sequences, parts); !lengths) return lengths;
  compileMasks(parts, queries, keys, problem);
  return success();
}

}  // namespace headscope::attention
