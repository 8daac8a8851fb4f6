#pragma once

#include <optional>
#include <span>
#include <vector>

#include "attention/core/mask.h"
#include "attention/text/tokenizer.h"

namespace headscope::attention {

/// What a person marked on one text. Whatever is empty is found in the text itself.
struct TextMarks {
  std::optional<std::vector<Index>> documentStarts;  ///< ascending; 0 is implied
  std::optional<Index> prefixLength;
  std::optional<KeyRuns> images;
  std::optional<std::vector<Index>> globals;  ///< ascending
  std::optional<Index> treePrefix;
  std::optional<std::vector<Index>> parents;  ///< −1 = hangs from the prefix
  std::optional<Index> gridHeight, gridWidth;
  bool operator==(const TextMarks&) const = default;
};

/// What patterns read off a text of m keys, in absolute positions.
struct TextStructure {
  std::vector<Index> documentStarts{0};
  Index prefixLength = 0;
  KeyRuns images;
  std::vector<Index> globals;
  Index treePrefix = 0;
  std::vector<Index> parents;  ///< [m − treePrefix]
  Index gridHeight = 1, gridWidth = 1;
  std::vector<Index> querySegments;  ///< cross-attention: where the k-th part of the queries begins,
  KeyRuns keySegments;               ///< and the keys it sees
  bool operator==(const TextStructure&) const = default;
};

/// The structure of a text, marks first. Without marks: a document, and a branch of the draft tree, ends
/// with a sentence (after . ! ? … or a run of them, but not a number's point); the prefix, of a prefix LM and
/// of a tree, is the first sentence or, if there is but one, the first half; images are the runs of three or
/// more tokens between brackets ([ ] ( ) < >), else none; the global token is the first; the grid is the one
/// nearest to a square that holds all tokens, wider than high; the k-th sentence of the queries sees the k-th
/// of the keys, the last of them when there are fewer. Marks beyond the text are cut off at its end. In
/// self-attention give `keys` twice.
TextStructure structureOf(std::span<const Token> queries, std::span<const Token> keys,
                          const TextMarks& marks);

/// The same for `keys` positions without a text: one document, prefix = half, first token global, …
TextStructure structureOf(Index queries, Index keys, const TextMarks& marks);

}  // namespace headscope::attention
