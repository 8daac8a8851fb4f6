#include <fmt/core.h>

#include "attention/models/checkpoint/model_weights.h"

namespace headscope::attention {
namespace {

LinearMap mapOf(const MappedLinear& linear, std::size_t piece, const kernels::Columns<float>& y) {
  const Index out = linear.out / static_cast<Index>(linear.pieces.size());
  const float* const bias =
      linear.bias.size() > 0 ? linear.bias.data() + static_cast<Index>(piece) * out : nullptr;
  return {linear.pieces[piece].data,
          bias,
          asSize(out),
          y,
          linear.pieces[piece].type,
          linear.transposed,
          asSize(linear.row),
          asSize(linear.paired),
          linear.pieces[piece].scales};
}

}  // namespace

MappedLinear MappedLinear::of(const Linear& linear) {
  MappedLinear map{.out = linear.weight.rows(), .in = linear.weight.cols(), .row = linear.weight.cols()};
  map.pieces.push_back({reinterpret_cast<const std::uint8_t*>(linear.weight.data()), WeightType::f32});
  map.bias = linear.bias;
  return map;
}

MappedRows MappedRows::of(const Matrix& rows) {
  return {reinterpret_cast<const std::uint8_t*>(rows.data()), WeightType::f32, rows.rows(), rows.cols()};
}

void MappedLinear::mapsInto(Stack& y, std::vector<LinearMap>& maps) const {
  const Index headsOfPiece = y.count() / static_cast<Index>(pieces.size());
  for (std::size_t p = 0; p < pieces.size(); ++p)
    maps.push_back(mapOf(*this, p, intoHeads(y, static_cast<Index>(p) * headsOfPiece)));
}

void MappedLinear::mapsInto(Matrix& y, std::vector<LinearMap>& maps) const {
  kernels::Columns<float> columns = intoRows(y);
  for (std::size_t p = 0; p < pieces.size(); ++p, columns.data += out / std::ssize(pieces))
    maps.push_back(mapOf(*this, p, columns));
}

Matrix MappedLinear::apply(const Eigen::Ref<const Matrix>& x, const std::stop_token& stop) const {
  Matrix y(x.rows(), out);
  std::vector<LinearMap> maps;
  mapsInto(y, maps);
  applyMaps(x, maps, stop);
  return y;
}

Eigen::RowVectorXf MappedRows::row(Index i) const {
  require(i >= 0 && i < rows, fmt::format("row {} of a table of {}", i, rows));
  Eigen::RowVectorXf values(cols);
  const TensorView table{"", type, {}, data, 0, scales};
  const Status status = table.read(asSize(i * cols), {values.data(), asSize(cols)}, "an embedding");
  // A double beyond float's range becomes NaN.
  if (!status) values.setConstant(std::numeric_limits<float>::quiet_NaN());
  return values;
}

MappedLinear MappedRows::asLinear() const {
  MappedLinear map{.out = rows, .in = cols, .row = cols};
  map.pieces.push_back({data, type, scales});
  return map;
}

std::vector<const MappedLinear*> mapsOfToken(const LayerWeights& layer, Index used) {
  std::vector<const MappedLinear*> maps{&layer.q, &layer.k, &layer.v, &layer.o};
  if (layer.other)
    for (const MappedLinear* map : {&layer.other->q, &layer.other->k, &layer.other->v, &layer.other->o})
      maps.push_back(map);
  if (layer.latent)
    for (const MappedLinear* map : {&layer.latent->queryDown, &layer.latent->down, &layer.latent->up,
                                    &layer.latent->keyUp, &layer.latent->valueUp})
      maps.push_back(map);
  const auto add = [&](const MlpWeights& mlp) {
    for (const MappedLinear* map : {&mlp.up, &mlp.down, &mlp.gate, &mlp.gateUp}) maps.push_back(map);
  };
  add(layer.mlp);
  if (!layer.mixture) return maps;
  maps.push_back(&layer.mixture->router);
  maps.push_back(&layer.mixture->sharedRouter);
  add(layer.mixture->shared);
  for (Index e = 0; e < used; ++e) add(layer.mixture->experts[asSize(e)]);
  return maps;
}

namespace {

void requireWithin(const char* what, Index first, Index count, Index total) {
  if (first < 0 || count < 0 || first > total - count)
    throw std::invalid_argument(std::string(what) + " " + std::to_string(first) + " to " +
                                std::to_string(first + count) + " of " + std::to_string(total));
}

/// `count` consecutive numbers, from `at` numbers into a piece.
Eigen::RowVectorXf numbers(const MappedLinear& map, Index piece, Index at, Index count) {
  const MappedLinear::Piece& from = map.pieces[static_cast<std::size_t>(piece)];
  // Blocks are unpacked as a whole.
  const auto block = static_cast<Index>(kernels::weightBlock(from.type).numbers);
  const Index first = at / block, blocks = (at + count + block - 1) / block - first;
  const auto bytes = kernels::weightBytes(from.type, asSize(first * block));
  const std::uint8_t* const scales = from.scales ? from.scales + first : nullptr;
  return MappedRows{from.data + bytes, from.type, 1, blocks * block, scales}.row(0).segment(
      at - first * block, count);
}

Index rowLength(const MappedLinear& map, Index own) {
  return map.row > 0 ? map.row : own;
}

/// The offset, in numbers, of the weights of output `o` within a piece; not for transposed maps.
Index outputAt(const MappedLinear& map, Index o) {
  return static_cast<Index>(kernels::rowOfOutput(asSize(o), asSize(map.paired))) * rowLength(map, map.in);
}

/// The weights of some outputs and inputs, [outputs, inputs].
Matrix weightsOf(const MappedLinear& map, Index firstOut, Index outs, Index firstIn, Index ins) {
  const Index ofPiece = map.out / static_cast<Index>(map.pieces.size());
  Matrix weights(outs, ins);
  for (Index begin = 0; begin < outs;) {  // each piece provides the outputs it has
    const Index piece = (firstOut + begin) / ofPiece, at = (firstOut + begin) % ofPiece;
    const Index length = std::min(outs - begin, ofPiece - at);
    for (Index i = 0; i < length && !map.transposed; ++i)
      weights.row(begin + i) = numbers(map, piece, outputAt(map, at + i) + firstIn, ins);
    for (Index i = 0; i < ins && map.transposed; ++i)
      weights.col(i).segment(begin, length) =
          numbers(map, piece, (firstIn + i) * rowLength(map, ofPiece) + at, length).transpose();
    begin += length;
  }
  return weights;
}

}  // namespace

Matrix weightRows(const MappedLinear& map, Index first, Index count) {
  requireWithin("outputs", first, count, map.out);
  return weightsOf(map, first, count, 0, map.in);
}

Vector biasRows(const MappedLinear& map, Index first, Index count) {
  requireWithin("outputs", first, count, map.out);
  return map.bias.size() ? Vector(map.bias.segment(first, count)) : Vector(Vector::Zero(count));
}

Matrix weightColumns(const MappedLinear& map, Index first, Index count) {
  requireWithin("inputs", first, count, map.in);
  return weightsOf(map, 0, map.out, first, count);
}

}  // namespace headscope::attention
