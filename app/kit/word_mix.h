#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/result.h"
#include "attention/heads/vector_geometry.h"

namespace headscope::app {

using attention::Index;

// A word's vector as a sum of multiples of words' vectors, and as a point of a map that is dragged.

struct MixTerm {
  double factor = 1;
  Index word = 0;
  bool operator==(const MixTerm&) const = default;
};

/// Parses "0.3·it + 0.7·animal": terms of a number and a word, with "·", "*" or a space between; a word alone
/// counts once. Of several words with this name it takes `self`, else the first. Returns an Error, a
/// sentence, if there is something else.
attention::Result<std::vector<MixTerm>> parseMix(std::string_view text, std::span<const std::string> names,
                                                 Index self);
/// "0.30·it + 0.70·animal".
std::string mixText(std::span<const MixTerm> terms, std::span<const std::string> names);

/// The vectors of a text, one of which is edited.
struct EditedWord {
  const attention::Matrix& values;   ///< [words, dim]
  const Eigen::RowVectorXf& before;  ///< [dim] what `word` stands for in a mixture: its vector before
  Index word = 0;
};

/// The sum of the terms. Throws std::invalid_argument if a word doesn't exist.
Eigen::RowVectorXf mixOf(std::span<const MixTerm> terms, const EditedWord& edited);
/// The terms a·self + b·other that make up the word's vector, with two decimals each; empty if there are
/// none.
std::vector<MixTerm> findMix(const EditedWord& edited);

/// Where a drag takes a word's vector.
struct MapMove {
  Eigen::RowVectorXf vector;
  Index caught = -1;  ///< the word on the line to which the point is; −1 = open ground
  float share = 0;    ///< of that word in the vector
};

/// The point of a word is dragged to `to` on the plane. Near the line from where the word was before to
/// another word, within `reach`, it catches: the vector is then a mixture of the two. Elsewhere only the
/// plane's two directions of `start`, the vector when the drag began, change. `points` [words, 2]; lengths
/// are in the plane's units.
MapMove moveOnMap(const attention::Plane& plane, const attention::Matrix& points, const EditedWord& edited,
                  const Eigen::RowVectorXf& start, Eigen::RowVector2f to, float reach);

/// The words nearest to a vector by cosine, the nearest first, at most `most`, without `word` itself and
/// without a second word of the same vector.
struct NearWord {
  Index word = 0;
  float cosine = 0;
};
std::vector<NearWord> nearestWords(const attention::Matrix& values, Index word, std::size_t most);

}  // namespace headscope::app
