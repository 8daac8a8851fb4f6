#pragma once

#include <string>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::app {

using attention::Index;

/// How a text becomes numbers: its tokens' ids, the rows that they select in a model's embedding table, and a
/// query that turns with its position.
struct TokenFigure {
  struct Entry {
    std::string word;
    Index id = 0;
  };
  /// Two numbers of a query that a rotary position embedding turns as one hand (Su et al. 2021).
  struct Pair {
    Index first = 0, second = 0;  ///< dimensions of the head
    double step = 0;              ///< radians per position
    std::vector<double> angles;   ///< of the compared tokens' queries, in radians
  };

  std::vector<Entry> text;
  std::vector<Index> compared;  ///< positions in the text; those with the first one's id come first
  Index vocabulary = 0;         ///< number of tokens, and of the table's rows
  Index example = -1;           ///< the position of a token that isn't compared; −1 = none
  std::vector<Entry> entries;   ///< of the vocabulary: the compared tokens and their neighbours, by id
  std::vector<Entry> examples;  ///< the same for the example
  attention::Matrix rows;       ///< [entries, modelDim]
  attention::Matrix table;      ///< [≤ 64, modelDim] rows at equal distances, for an overview
  std::vector<Pair> pairs;      ///< of the query of one head; empty unless asked for

  const Entry& at(Index position) const { return text[static_cast<std::size_t>(position)]; }
  /// The row of the table that a token of the text selects: [modelDim].
  attention::Vector rowOf(Index position) const;
};

}  // namespace headscope::app
