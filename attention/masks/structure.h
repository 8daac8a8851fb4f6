#pragma once

#include <optional>
#include <span>
#include <vector>

#include "attention/core/mask.h"
#include "attention/text/tokenizer.h"

namespace headscope::attention {

/// A user's marks on one text. Empty ones are derived from the text.
struct TextMarks {
  std::optional<std::vector<Index>> documentStarts;  ///< ascending; 0 is implied
  std::optional<Index> prefixLength;
  std::optional<KeyRuns> images;
  std::optional<std::vector<Index>> globals;  ///< ascending
  std::optional<Index> treePrefix;
  std::optional<std::vector<Index>> parents;  ///< −1 = the prefix
  std::optional<Index> gridHeight, gridWidth;
  bool operator==(const TextMarks&) const = default;
};

/// The structure of a text of m keys that patterns use, in absolute positions.
struct TextStructure {
  std::vector<Index> documentStarts{0};
  Index prefixLength = 0;
  KeyRuns images;
  std::vector<Index> globals;
  Index treePrefix = 0;
  std::vector<Index> parents;  ///< [m − treePrefix]
  Index gridHeight = 1, gridWidth = 1;
  std::vector<Index> querySegments;  ///< cross-attention: the first query of each part
  KeyRuns keySegments;               ///< cross-attention: the keys each part sees
  bool operator==(const TextStructure&) const = default;
};

/// Returns the structure of a text. Marks take precedence and are cut at the text's end. Without marks:
/// - each sentence (ended by one or more of . ! ? …, but not by a decimal point) is a document and a branch
///   of the draft tree;
/// - the prefix of a prefix LM and of a tree is the first sentence, or the first half if there is only one;
/// - images are runs of three or more tokens between brackets ([ ] ( ) < >);
/// - the first token is global;
/// - the grid is the smallest nearly square one that holds all tokens, never higher than wide;
/// - the k-th sentence of the queries sees the k-th of the keys, or the last if there are fewer.
/// In self-attention, pass `keys` twice.
TextStructure structureOf(std::span<const Token> queries, std::span<const Token> keys,
                          const TextMarks& marks);

/// The same for `keys` positions without a text: one document, half of it prefix, first token global, …
TextStructure structureOf(Index queries, Index keys, const TextMarks& marks);

/// Returns those of the positions that are from 0 to end−1, ascending, each once.
std::vector<Index> positionsBelow(Index end, std::vector<Index> positions);

}  // namespace headscope::attention
