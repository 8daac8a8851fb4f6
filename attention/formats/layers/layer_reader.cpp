#include "attention/formats/layers/layer_reader.h"

#include <fmt/core.h>

#include <tuple>

#include "attention/formats/layers/layer_names.h"

namespace headscope::attention {
namespace {

/// The number of rows of q and k, and the tensors they come from, for messages.
struct LayerRows {
  Index q = 0, k = 0, modelDim = 0;
  std::string qTensor, kTensor;
};

/// Reads one layer's tensors by its spelling.
class LayerReader {
 public:
  LayerReader(TensorReader& reader, const LayerPlace& place) : reader_(reader), place_(place) {}

  Status checkExtras();
  Result<LayerRows> rows();
  Result<Projections> projections(const AttentionConfig& config);

 private:
  const LayerSpelling& names() const { return *place_.spelling; }
  std::string weightOf(std::string_view map) const { return place_.prefix + names().weight(map); }
  std::string biasOf(std::string_view map) const { return place_.prefix + names().bias(map); }

  Result<LayerRows> fusedRows();
  Status readFused(const AttentionConfig& config, Projections& projections);
  Result<Linear> readLinear(std::string_view map, Index rows, Index cols);

  TensorReader& reader_;
  const LayerPlace& place_;
  bool inFirst_ = false;  ///< whether weights are [in, out], as in Conv1D
};

/// Rejects tensors that change the layer's computation and aren't supported.
Status LayerReader::checkExtras() {
  for (const char* extra : {"bias_k", "bias_v"})
    if (reader_.find(place_.prefix + extra))
      return Error{reader_.at(place_.prefix + extra) +
                   " is an extra key or value (add_bias_kv), which isn't supported"};
  return success();
}

Result<LayerRows> LayerReader::rows() {
  if (!names().qkv.empty()) return fusedRows();
  LayerRows rows{.qTensor = weightOf(names().q), .kTensor = weightOf(names().k)};
  const auto q = reader_.get(rows.qTensor, 2, 2, "[heads * head_dim, model_dim]");
  if (!q) return q.error();
  const auto k = reader_.get(rows.kTensor, 2, 2, "[kv_heads * head_dim, model_dim]");
  if (!k) return k.error();
  rows.q = asIndex((*q)->shape[0]);
  rows.k = asIndex((*k)->shape[0]);
  rows.modelDim = asIndex((*q)->shape[1]);
  return rows;
}

/// Reads the sizes of a fused projection. The output projection has as many inputs as there are query rows.
Result<LayerRows> LayerReader::fusedRows() {
  const std::string tensor = weightOf(names().qkv);
  const auto whole = reader_.get(tensor, 2, 2, "[(heads + 2 * kv_heads) * head_dim, model_dim]");
  if (!whole) return whole.error();
  const auto o = reader_.get(weightOf(names().o), 2, 2, "[model_dim, heads * head_dim]");
  if (!o) return o.error();
  const Shape& shape = (*whole)->shape;
  // A fused projection has more outputs than inputs, so a shorter first axis means [in, out].
  inFirst_ = names().mayBeConv1D && shape[0] < shape[1];
  const Index outputs = asIndex(shape[inFirst_ ? 1 : 0]);
  LayerRows rows{.q = asIndex((*o)->shape[inFirst_ ? 0 : 1]),
                 .modelDim = asIndex(shape[inFirst_ ? 0 : 1]),
                 .qTensor = tensor,
                 .kTensor = tensor};
  rows.k = (outputs - rows.q) / 2;
  const bool even = outputs > rows.q && (outputs - rows.q) % 2 == 0;
  if (!even || (names().fused == FusedRows::heads && rows.k != rows.q))
    return Error{fmt::format("{} has {} outputs, expected {}, as {} reads {}", reader_.at(tensor), outputs,
                             names().fused == FusedRows::heads
                                 ? std::to_string(3 * rows.q)
                                 : fmt::format("{} and two equal parts", rows.q),
                             weightOf(names().o), rows.q)};
  return rows;
}

Result<Linear> LayerReader::readLinear(std::string_view map, Index rows, Index cols) {
  const std::string weight = weightOf(map), bias = biasOf(map);
  const Shape expected = inFirst_ ? Shape{asSize(cols), asSize(rows)} : Shape{asSize(rows), asSize(cols)};
  const auto found = reader_.get(weight, 2, 2, shapeText(expected));
  if (!found) return found.error();
  if ((*found)->shape != expected) return reader_.wrongShape(weight, (*found)->shape, shapeText(expected));
  const auto values = reader_.floats(weight, **found);
  if (!values) return values.error();
  Linear linear;
  if (inFirst_)
    linear.weight = MatrixView(values->data(), cols, rows).transpose();
  else
    linear.weight = MatrixView(values->data(), rows, cols);
  if (const auto* offsets = reader_.find(bias)) {
    if (offsets->shape != Shape{asSize(rows)})
      return reader_.wrongShape(bias, offsets->shape, shapeText(Shape{asSize(rows)}));
    const auto numbers = reader_.floats(bias, *offsets);
    if (!numbers) return numbers.error();
    linear.bias = Eigen::Map<const Vector>(numbers->data(), rows);
  }
  return linear;
}

/// Concatenates ranges of a projection's rows.
Linear partOf(const Linear& whole, const std::vector<RowRange>& rows) {
  const Index size = rows[0].count, count = static_cast<Index>(rows.size()) * size;
  Linear part{Matrix(count, whole.weight.cols()), {}};
  if (whole.bias.size() > 0) part.bias.resize(count);
  for (Index i = 0; i < static_cast<Index>(rows.size()); ++i) {
    const Index from = rows[static_cast<std::size_t>(i)].first;
    part.weight.middleRows(i * size, size) = whole.weight.middleRows(from, size);
    if (whole.bias.size() > 0) part.bias.segment(i * size, size) = whole.bias.segment(from, size);
  }
  return part;
}

Status LayerReader::readFused(const AttentionConfig& config, Projections& projections) {
  const auto whole =
      readLinear(names().qkv, (config.heads + 2 * config.kvHeads) * config.headDim, config.modelDim);
  if (!whole) return whole.error();
  const auto part = [&](FusedPart which) {
    return partOf(*whole, rowsOf(which, names().fused, config.heads, config.kvHeads, config.headDim));
  };
  projections.q = part(FusedPart::q);
  projections.k = part(FusedPart::k);
  projections.v = part(FusedPart::v);
  return success();
}

Result<Projections> LayerReader::projections(const AttentionConfig& config) {
  Projections projections;
  const Index qRows = config.heads * config.headDim, kvRows = config.kvHeads * config.headDim;
  std::vector<std::tuple<std::string_view, Linear*, Index, Index>> parts;
  if (names().qkv.empty())
    parts = {{names().q, &projections.q, qRows, config.modelDim},
             {names().k, &projections.k, kvRows, config.modelDim},
             {names().v, &projections.v, kvRows, config.modelDim}};
  else if (const auto fused = readFused(config, projections); !fused)
    return fused.error();
  parts.push_back({names().o, &projections.o, config.modelDim, qRows});
  for (const auto& [map, target, rows, cols] : parts) {
    auto linear = readLinear(map, rows, cols);
    if (!linear) return linear.error();
    *target = *std::move(linear);
  }
  return projections;
}

/// Returns rows / parts, or an Error if it isn't whole.
Result<Index> divide(const TensorReader& reader, const std::string& tensor, Index rows, const char* option,
                     Index parts) {
  if (rows % parts == 0) return rows / parts;
  return Error{
      fmt::format("{} has {} rows, expected a multiple of {} ({})", reader.at(tensor), rows, option, parts)};
}

/// Infers sizes missing from the options from the rows of q and k.
Status inferSizes(const TensorReader& reader, const std::string& name, const LayerRows& rows,
                  ParsedOptions& options) {
  if (!options.headDim) {
    if (!options.heads && !options.kvHeads) {
      return Error{name + ": gives neither heads nor head_dim, expected one in its metadata or as an option"};
    }
    const auto headDim = options.heads ? divide(reader, rows.qTensor, rows.q, "heads", *options.heads)
                                       : divide(reader, rows.kTensor, rows.k, "kv_heads", *options.kvHeads);
    if (!headDim) return headDim.error();
    options.headDim = *headDim;
  }
  if (!options.heads) {
    const auto heads = divide(reader, rows.qTensor, rows.q, "head_dim", *options.headDim);
    if (!heads) return heads.error();
    options.heads = *heads;
  }
  if (!options.kvHeads) {
    const auto kvHeads = divide(reader, rows.kTensor, rows.k, "head_dim", *options.headDim);
    if (!kvHeads) return kvHeads.error();
    options.kvHeads = *kvHeads;
  }
  options.config.heads = *options.heads;
  options.config.kvHeads = *options.kvHeads;
  options.config.headDim = *options.headDim;
  options.config.modelDim = rows.modelDim;
  return success();
}

}  // namespace

Result<AttentionProblem> readLayerTensors(TensorReader& reader, const SafetensorsHeader& header,
                                          ParsedOptions options, const std::string& name) {
  const auto place = chooseLayer(header, options.layer, name);
  if (!place) return place.error();
  if (!place->prefix.empty()) reader.passOverOtherParts();
  LayerReader layer(reader, *place);
  if (const auto status = layer.checkExtras(); !status) return status.error();
  const auto rows = layer.rows();
  if (!rows) return rows.error();
  if (const auto status = inferSizes(reader, name, *rows, options); !status) return status.error();
  AttentionProblem problem;
  problem.config = options.config;
  problem.rules = options.rules;
  if (const auto status = validate(problem.config); !status)
    return Error{name + ": " + status.error().message};
  auto projections = layer.projections(problem.config);
  if (!projections) return projections.error();
  problem.projections = *std::move(projections);
  return problem;
}

}  // namespace headscope::attention
