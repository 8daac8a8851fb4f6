#include "attention/models/weight_slices.h"

#include <stdexcept>
#include <string>

namespace headscope::attention {

namespace {

void requireWithin(const char* what, Index first, Index count, Index total) {
  if (first < 0 || count < 0 || first > total - count)
    throw std::invalid_argument(std::string(what) + " " + std::to_string(first) + " to " +
                                std::to_string(first + count) + " of " + std::to_string(total));
}

/// `count` numbers that lie behind each other, `at` numbers into a piece.
Eigen::RowVectorXf numbers(const MappedLinear& map, Index piece, Index at, Index count) {
  const MappedLinear::Piece& from = map.pieces[static_cast<std::size_t>(piece)];
  const auto bytes = static_cast<Index>(kernels::weightBytes(from.type));
  return MappedRows{from.data + at * bytes, from.type, 1, count}.row(0);
}

Index rowLength(const MappedLinear& map, Index own) {
  return map.row > 0 ? map.row : own;
}

}  // namespace

Matrix weightRows(const MappedLinear& map, Index first, Index count) {
  requireWithin("outputs", first, count, map.out);
  const Index ofPiece = map.out / static_cast<Index>(map.pieces.size());
  Matrix rows(count, map.in);
  if (!map.transposed) {
    for (Index i = 0; i < count; ++i)
      rows.row(i) =
          numbers(map, (first + i) / ofPiece, (first + i) % ofPiece * rowLength(map, map.in), map.in);
    return rows;
  }
  for (Index begin = 0; begin < count;) {  // each piece gives the outputs that it has
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
    columns.row(i) = numbers(map, i / ofPiece, i % ofPiece * rowLength(map, map.in) + first, count);
  return columns;
}

}  // namespace headscope::attention
