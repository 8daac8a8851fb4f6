#include "attention/formats/attention_file.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <set>

#include "attention/core/saturating.h"
#include "attention/formats/attention_options.h"
#include "attention/formats/quote.h"
#include "attention/masks/runs.h"

namespace headscope::attention {
namespace {

using Shape = std::vector<std::uint64_t>;

/// A mask is kept once per sequence, so a small file could ask for many copies.
constexpr std::uint64_t kMaxMaskBytes = std::uint64_t{4} << 30;

std::uint64_t asSize(Index value) {
  return static_cast<std::uint64_t>(value);
}
Index asIndex(std::uint64_t value) {
  return static_cast<Index>(value);
}

/// "[2, 5]": the position of the value `flat` of a tensor of this shape.
std::string positionText(std::size_t flat, const Shape& shape) {
  Shape position(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    position[axis] = flat % shape[axis];
    flat /= shape[axis];
  }
  return shapeText(position);
}

/// Takes tensors out of a file, each with its checks, and remembers which ones were taken.
class TensorReader {
 public:
  TensorReader(const SafetensorsFile& file, const std::string& name) : file_(file), name_(name) {}

  const NamedTensor* find(const std::string& tensor) {
    const auto at = file_.tensors.find(tensor);
    if (at == file_.tensors.end()) return nullptr;
    used_.insert(tensor);
    return &at->second;
  }

  /// A tensor with `expected` axes (as words, for the message), none of them empty.
  Result<const NamedTensor*> get(const std::string& tensor, std::size_t least, std::size_t most,
                                 const std::string& expected) {
    const auto* found = find(tensor);
    if (!found) return Error{name_ + ": has no tensor " + quotedText(tensor) + ", expected " + expected};
    const auto& shape = found->shape;
    const bool empty = std::find(shape.begin(), shape.end(), 0) != shape.end();
    if (shape.size() < least || shape.size() > most || empty) return wrongShape(tensor, shape, expected);
    return found;
  }

  Result<std::vector<float>> floats(const std::string& tensor, const NamedTensor& found,
                                    bool allowMinusInfinity = false) const {
    auto values = toFloats(found, at(tensor));
    if (!values) return values.error();
    const auto bad = std::find_if(values->begin(), values->end(), [&](float value) {
      return !std::isfinite(value) &&
             !(allowMinusInfinity && value == -std::numeric_limits<float>::infinity());
    });
    if (bad != values->end()) {
      const auto flat = static_cast<std::size_t>(bad - values->begin());
      return Error{at(tensor) + " is " +
                   (std::isnan(*bad) ? "NaN"
                    : *bad > 0       ? "infinite"
                                     : "-infinite") +
                   " at " + positionText(flat, found.shape) + ", expected " +
                   (allowMinusInfinity ? "finite values or -infinity" : "finite values")};
    }
    return values;
  }

  Error wrongShape(const std::string& tensor, const Shape& shape, const std::string& expected) const {
    return Error{at(tensor) + " is " + shapeText(shape) + ", expected " + expected};
  }

  std::string at(const std::string& tensor) const { return name_ + ": tensor " + quotedText(tensor); }

  std::vector<std::string> unused() const {
    std::vector<std::string> names;
    for (const auto& [tensor, value] : file_.tensors) {
      if (tensor.compare(0, 7, "expect.") != 0 && used_.count(tensor) == 0) names.push_back(tensor);
    }
    return names;
  }

 private:
  const SafetensorsFile& file_;
  const std::string& name_;
  std::set<std::string> used_;
};

/// rows / parts, or an error where that leaves a rest.
Result<Index> divide(const TensorReader& reader, const std::string& tensor, Index rows, const char* option,
                     Index parts) {
  if (rows % parts == 0) return rows / parts;
  return Error{reader.at(tensor) + " has " + std::to_string(rows) + " rows, expected a multiple of " +
               option + " (" + std::to_string(parts) + ")"};
}

/// Fills in the sizes that the options left out, from the rows of q_proj and k_proj.
Status inferSizes(const TensorReader& reader, const std::string& name, Index qRows, Index kRows,
                  ParsedOptions& options) {
  const std::string q = "q_proj.weight", k = "k_proj.weight";
  if (!options.headDim) {
    if (!options.heads && !options.kvHeads) {
      return Error{name +
                   ": says neither heads nor head_dim, expected one of them in its metadata or as an option"};
    }
    const auto headDim = options.heads ? divide(reader, q, qRows, "heads", *options.heads)
                                       : divide(reader, k, kRows, "kv_heads", *options.kvHeads);
    if (!headDim) return headDim.error();
    options.headDim = *headDim;
  }
  if (!options.heads) {
    const auto heads = divide(reader, q, qRows, "head_dim", *options.headDim);
    if (!heads) return heads.error();
    options.heads = *heads;
  }
  if (!options.kvHeads) {
    const auto kvHeads = divide(reader, k, kRows, "head_dim", *options.headDim);
    if (!kvHeads) return kvHeads.error();
    options.kvHeads = *kvHeads;
  }
  options.config.heads = *options.heads;
  options.config.kvHeads = *options.kvHeads;
  options.config.headDim = *options.headDim;
  return success();
}

Result<Linear> readLinear(TensorReader& reader, const std::string& tensor, Index rows, Index cols) {
  const Shape expected{asSize(rows), asSize(cols)};
  const auto weight = reader.get(tensor + ".weight", 2, 2, shapeText(expected));
  if (!weight) return weight.error();
  if ((*weight)->shape != expected) {
    return reader.wrongShape(tensor + ".weight", (*weight)->shape, shapeText(expected));
  }
  const auto values = reader.floats(tensor + ".weight", **weight);
  if (!values) return values.error();
  Linear linear{MatrixView(values->data(), rows, cols), {}};
  if (const auto* bias = reader.find(tensor + ".bias")) {
    if (bias->shape != Shape{asSize(rows)}) {
      return reader.wrongShape(tensor + ".bias", bias->shape, shapeText(Shape{asSize(rows)}));
    }
    const auto offsets = reader.floats(tensor + ".bias", *bias);
    if (!offsets) return offsets.error();
    linear.bias = Eigen::Map<const Vector>(offsets->data(), rows);
  }
  return linear;
}

Result<AttentionProblem> readLayerParts(TensorReader& reader, const SafetensorsFile& file,
                                        const AttentionOptions& options, const std::string& name) {
  auto parsed = parseOptions(file.metadata, options, name);
  if (!parsed) return parsed.error();
  const auto q = reader.get("q_proj.weight", 2, 2, "[heads * head_dim, model_dim]");
  if (!q) return q.error();
  const auto k = reader.get("k_proj.weight", 2, 2, "[kv_heads * head_dim, model_dim]");
  if (!k) return k.error();
  const auto sizes = inferSizes(reader, name, asIndex((*q)->shape[0]), asIndex((*k)->shape[0]), *parsed);
  if (!sizes) return sizes.error();

  AttentionProblem problem;
  auto& config = problem.config;
  config = parsed->config;
  problem.rules = parsed->rules;
  config.modelDim = asIndex((*q)->shape[1]);
  if (const auto status = validate(config); !status) return Error{name + ": " + status.error().message};
  const Index qRows = config.heads * config.headDim, kvRows = config.kvHeads * config.headDim;
  const std::tuple<const char*, Linear*, Index, Index> parts[] = {
      {"q_proj", &problem.projections.q, qRows, config.modelDim},
      {"k_proj", &problem.projections.k, kvRows, config.modelDim},
      {"v_proj", &problem.projections.v, kvRows, config.modelDim},
      {"o_proj", &problem.projections.o, config.modelDim, qRows}};
  for (const auto& [tensor, target, rows, cols] : parts) {
    auto linear = readLinear(reader, tensor, rows, cols);
    if (!linear) return linear.error();
    *target = *std::move(linear);
  }
  return problem;
}

/// [tokens, modelDim], or [batch, tokens, modelDim]: one matrix per sequence.
Result<std::vector<Matrix>> readSequences(TensorReader& reader, const std::string& tensor, Index modelDim) {
  const auto dim = std::to_string(modelDim);
  const auto expected = "[tokens, " + dim + "] or [batch, tokens, " + dim + "] with at least one token";
  const auto found = reader.get(tensor, 2, 3, expected);
  if (!found) return found.error();
  const auto& shape = (*found)->shape;
  if (shape.back() != asSize(modelDim)) return reader.wrongShape(tensor, shape, expected);
  const auto values = reader.floats(tensor, **found);
  if (!values) return values.error();
  const Index batch = shape.size() == 3 ? asIndex(shape[0]) : 1;
  const Index tokens = asIndex(shape[shape.size() - 2]);
  std::vector<Matrix> sequences;
  for (Index b = 0; b < batch; ++b) {
    sequences.emplace_back(MatrixView(values->data() + b * tokens * modelDim, tokens, modelDim));
  }
  return sequences;
}

Status readContext(TensorReader& reader, AttentionProblem& problem) {
  const auto& config = problem.config;
  const Index tokens = problem.x[0].rows();
  const auto cached = "cache_length + x's tokens (" + std::to_string(config.cacheLength) + " + " +
                      std::to_string(tokens) + ")";
  const auto* tensor = reader.find("context");
  if (!tensor) {
    if (config.cacheLength == 0) return success();
    return Error{reader.at("context") + " is missing, expected one with the cached tokens and x's, " +
                 cached};
  }
  auto context = readSequences(reader, "context", config.modelDim);
  if (!context) return context.error();
  if ((tensor->shape.size() == 3) != problem.batched || context->size() != problem.x.size()) {
    return reader.wrongShape("context", tensor->shape,
                             problem.batched ? "the batch axis of x, " + std::to_string(problem.x.size())
                                             : "no batch axis, as x has none");
  }
  problem.context = *std::move(context);
  const Index keys = problem.context[0].rows();
  if (config.cacheLength > 0 && problem.rules.causal && keys - tokens != config.cacheLength) {
    return Error{reader.at("context") + " has " + std::to_string(keys) + " tokens, expected " + cached};
  }
  return success();
}

/// What hides keys and is added to scores, as the file has it.
struct MaskParts {
  std::shared_ptr<const CellTable> cells;  ///< of a boolean mask; null for none
  Stack additive;
  std::vector<Index> keyLengths;  ///< per sequence; empty for none
};

/// BOOL [heads, n, m]: true cells as masked, the others left alone, so that nothing else they are joined to
/// is touched.
Result<std::shared_ptr<const CellTable>> readCells(const TensorReader& reader, const NamedTensor& tensor,
                                                   Index heads, Index queries, Index keys) {
  auto cells = std::make_shared<CellTable>(CellTable{heads, queries, keys, {}});
  const std::uint8_t* flag = tensor.bytes.data();
  for (Index i = 0; i < heads * queries; ++i) {
    CellRow row;
    for (Index j = 0; j < keys; ++j, ++flag) {
      if (*flag > 1) {
        const auto place = static_cast<std::size_t>(flag - tensor.bytes.data());
        return Error{reader.at("mask") + " is " + std::to_string(*flag) + " at " +
                     positionText(place, tensor.shape) + ", expected a BOOL of 0 or 1"};
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
    return Error{reader.at("mask") + " needs " + std::to_string(bytes) + " bytes for a batch of " +
                 std::to_string(copies) + ", expected at most " + std::to_string(kMaxMaskBytes)};
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
  for (std::size_t i = 0; i < sequences; ++i) {
    std::int64_t length = 0;
    std::memcpy(&length, tensor->bytes.data() + i * size, size);
    if (tensor->dtype == DType::I32) length = static_cast<std::int32_t>(length);
    if (length < 0 || length > keys) {
      return Error{reader.at("key_lengths") + " is " + std::to_string(length) + " at [" + std::to_string(i) +
                   "], expected 0 to " + std::to_string(keys)};
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

Result<AttentionProblem> readLayer(const SafetensorsFile& file, const AttentionOptions& options,
                                   const std::string& name) {
  TensorReader reader(file, name);
  auto problem = readLayerParts(reader, file, options, name);
  if (problem) problem->unused = reader.unused();
  return problem;
}

Result<AttentionProblem> readProblem(const SafetensorsFile& file, const AttentionOptions& options,
                                     const std::string& name) {
  TensorReader reader(file, name);
  auto problem = readLayerParts(reader, file, options, name);
  if (!problem) return problem.error();
  auto x = readSequences(reader, "x", problem->config.modelDim);
  if (!x) return x.error();
  problem->x = *std::move(x);
  problem->batched = file.tensors.at("x").shape.size() == 3;
  if (const auto status = readContext(reader, *problem); !status) return status.error();

  const Index queries = problem->x[0].rows();
  const Index keys = problem->context.empty() ? queries : problem->context[0].rows();
  const std::size_t sequences = problem->x.size();
  MaskParts parts;
  const auto status = readMask(reader, problem->config, queries, keys, sequences, parts);
  if (!status) return status.error();
  if (const auto lengths = readKeyLengths(reader, keys, sequences, parts); !lengths) return lengths.error();
  compileMasks(parts, queries, keys, *problem);
  problem->unused = reader.unused();
  return problem;
}

}  // namespace headscope::attention
