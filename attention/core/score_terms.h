#pragma once

#include <span>

#include "attention/core/config.h"
#include "attention/core/mask.h"
#include "attention/core/result.h"
#include "attention/kernels/score_rows.h"
#include "attention/kernels/score_rules.h"

namespace headscope::attention {

// The kernels' statistics of a row of scores or weights.
using kernels::largestOf;
using kernels::markRow;
using kernels::RowExtremes;
using kernels::SeenKeys;
using kernels::seenKeys;

// The steps from q·k to a score: one row per term, in order. The rules of the kernels and the textbook path,
// the receipt's lines, the map's tooltip and the picture of the biases are all derived from this list.

/// How a term's values change a score. The list follows the order of these kinds, like the kernels.
enum class TermKind {
  factor,      ///< score · value; one value for the whole head
  distance,    ///< score + value; one value per distance between the query's and the key's position
  cap,         ///< value · tanh(score / value); one value for the whole head, at most one such term
  cell,        ///< score + value; one value per cell, −inf masks; only the mask's additive matrix
  visibility,  ///< −inf masks, 0 doesn't
};

/// The cells for which a term's values are computed: keys key, key + 1 … of one query row of one head.
struct ScoreRow {
  const AttentionConfig& config;
  const MaskInput& mask;
  Index head = 0, query = 0, key = 0;
};

/// A term's user-settable number. In scenes it is the field model.NAME, which defines its legal values.
struct TermNumber {
  const char* name = "";
  float ScoreNumbers::*member = nullptr;  ///< null = the term has no such number
  bool positive = false;

  /// Whether the number differs from its default, at which the term doesn't apply.
  bool isSet(const ScoreNumbers& numbers) const {
    return member && numbers.*member != ScoreNumbers{}.*member;
  }
  /// Returns an Error such as "softcap is -1.000000, expected a finite number above 0" if `value` is illegal.
  Status check(float value) const;
  const char* expected() const { return positive ? "a finite number above 0" : "a finite number"; }
};

struct ScoreTerm {
  std::string_view name;
  TermKind kind;
  /// Whether the term applies to a computation.
  bool (*applies)(const AttentionConfig& config, const MaskInput& mask);
  /// The term as shown: "÷ √32", "+ ALiBi", "soft-cap 30".
  std::string (*label)(const AttentionConfig& config);
  /// Writes the term's values for to.size() keys of the row.
  void (*values)(const ScoreRow& row, std::span<float> to);
  TermNumber number = {};

  /// Whether the term adds its value to the score. The effect of other terms shows only in the score.
  bool adds() const { return kind == TermKind::distance || kind == TermKind::cell; }
  /// Whether layer files store the number as an option of the same name. Factors are part of their scale.
  bool isOption() const { return number.member && kind != TermKind::factor; }
};

/// Returns all terms in the order they are applied. The last is the mask, which always applies.
std::span<const ScoreTerm> scoreTerms();

/// Returns the product of all factors on q·k.
float scoreFactor(const AttentionConfig& config);

/// Merges the numbers set in `changes` into `numbers`: factors are multiplied, other numbers are replaced.
void joinNumbers(const ScoreNumbers& changes, ScoreNumbers& numbers);
/// The same for all settings.
void joinSettings(const ScoreSettings& changes, ScoreSettings& settings);

/// The effect of one term on one score.
struct ScoreStep {
  const ScoreTerm* term = nullptr;
  float value = 0;  ///< of the term
  float score = 0;  ///< after the term
};

/// Returns every term that applies, with its value at one cell and the score after it, starting from
/// `dot` = q·k. The last step's score is the cell's; −inf if masked.
std::vector<ScoreStep> scoreSteps(const AttentionConfig& config, const MaskInput& mask, Index head,
                                  Index query, Index key, float dot);

/// All terms of one head combined by kind, except visibility: the score of row r and key j is
/// cap(q·k · factor + bias[queries − 1 − r + j]) + added[r · keys + j].
struct HeadTerms {
  Index queries = 0, keys = 0;
  float factor = 1;
  std::vector<float> bias;       ///< [queries + keys − 1], ascending by key − query; empty = none
  float cap = 0;                 ///< 0 = none
  const float* added = nullptr;  ///< [queries, keys], owned by the mask; null = none

  /// Returns a pointer to row `row`'s bias for key 0, followed by the other keys'; null = none.
  const float* biasOf(Index row) const { return bias.empty() ? nullptr : bias.data() + (queries - 1 - row); }
  const float* addedOf(Index row) const { return added ? added + row * keys : nullptr; }
};
HeadTerms headTerms(const AttentionConfig& config, const MaskInput& mask, Index head, Index queries,
                    Index keys);

/// The visible keys of several rows, in the kernels' format.
struct RowRuns {
  std::vector<kernels::Run> runs;
  std::vector<std::size_t> first;  ///< [rows + 1]
  KeyRuns row;                     ///< scratch: the formula's runs of the last row
};

/// Collects the visible keys of rows row, row + step … (`rows` of them) of a mask over `keys` keys: those
/// visible by the formula, minus those where the additive matrix is −inf.
void collectRuns(const MaskInput& mask, Index head, Index row, Index rows, Index keys, RowRuns& out,
                 Index step = 1);

/// Returns the kernels' rules for the rows of `runs`: row, row + step … They point into `terms` and `runs`.
kernels::ScoreRules rulesOf(const HeadTerms& terms, Index row, const RowRuns& runs, Index step = 1);

/// Returns a number for each head; heads with the same number see the same keys.
std::vector<Index> maskClasses(const AttentionConfig& config, const MaskInput& mask);

}  // namespace headscope::attention
