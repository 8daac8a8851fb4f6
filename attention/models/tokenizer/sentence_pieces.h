#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headscope::attention {

/// sentencepiece_model.proto of SentencePiece (Kudo & Richardson 2018).
struct PieceModel {
  enum Kind { normal = 1, unknown, control, userDefined, unused, byte };
  struct Piece {
    std::string text;
    float score = 0;
    std::uint64_t kind = normal;
  };
  std::vector<Piece> pieces;
  std::uint64_t type = 1;  ///< 1: Unigram, 2: BPE
  std::string_view map;    ///< of characters
  bool prefix = true, trims = true;

  /// Returns nothing for bytes that aren't such a file. `map` refers to them.
  static std::optional<PieceModel> read(std::string_view file);
};

/// The merges that SentencePiece derives from scores: any two pieces that together are a piece, highest score
/// first. They refer to the pieces' texts.
std::vector<std::pair<std::string_view, std::string_view>> mergesByScore(
    const std::vector<PieceModel::Piece>& pieces);

}  // namespace headscope::attention
