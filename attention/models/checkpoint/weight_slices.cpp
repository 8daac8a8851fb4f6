#include "attention/models/checkpoint/weight_slices.h"

#include <stdexcept>
#include <string>

namespace headscope::attention {

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

}  // namespace

Matrix weightRows(const MappedLinear& map, Index first, Index count) {
  requireWithin("outputs", first, count, map.out);
  const Index ofPiece = map.out / static_cast<Index>(map.pieces.size());
  Matrix rows(count, map.in);
  if (!map.transposed) {
    for (Index i = 0; i < count; ++i)
      rows.row(i) = numbers(map, (first + i) / ofPiece, outputAt(map, (first + i) % ofPiece), map.in);
    return rows;
  }
  for (Index begin = 0; begin < count;) {  // each piece provides the outputs it has
    const Index piece = (first + begin) / ofPiece, at = (first + begin) % ofPiece;
    const Index length = std::min(count - begin, ofPiece - at);
    for (Index input = 0; input < map.in; ++input)
      rows.col(input).segment(begin, length) =
          numbers(map, piece, input * rowLength(map, ofPiece) + at, length).transpose();
    begin += length;
  }
  return rows;
}

Vector biasRows(const MappedLinear& map, Index first, Index count) {
  requireWithin("outputs", first, count, map.out);
  return map.bias.size() ? Vector(map.bias.segment(first, count)) : Vector(Vector::Zero(count));
}

Matrix weightColumns(const MappedLinear& map, Index first, Index count) {
  requireWithin("inputs", first, count, map.in);
  const Index ofPiece = map.out / static_cast<Index>(map.pieces.size());
  Matrix columns(map.out, count);
  if (map.transposed) {
    for (Index input = 0; input < count; ++input)
      for (Index piece = 0; piece < static_cast<Index>(map.pieces.size()); ++piece)
        columns.col(input).segment(piece * ofPiece, ofPiece) =
            numbers(map, piece, (first + input) * rowLength(map, ofPiece), ofPiece).transpose();
    return columns;
  }
  for (Index i = 0; i < map.out; ++i)
    columns.row(i) = numbers(map, i / ofPiece, outputAt(map, i % ofPiece) + first, count);
  return columns;
}

}  // namespace headscope::attention
