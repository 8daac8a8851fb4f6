#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/core/config.h"
#include "attention/core/mask.h"
#include "attention/core/result.h"

namespace headscope::attention {

// What happens to q·k on its way to a score: one row for each term, in order. The kernels' rules, the
// textbook's, the receipt's lines, the map's tooltip and the picture of the biases are made from this list.

/// How a term's numbers change a score. The list is in the order of the kinds, which is the kernels' order.
enum class TermKind {
  factor,      ///< score · value; one value for the whole head
  distance,    ///< score + value; a value for each distance from the query's position to the key's
  cap,         ///< value · tanh(score / value); one value for the whole head, one such term at the most
  cell,        ///< score + value; a value for each cell, −inf masks; the mask's additive matrix alone
  visibility,  ///< value −inf masks, 0 doesn't
};

/// Keys key, key + 1 … of one query row of one head: where a term's values are asked for.
struct ScoreRow {
  const AttentionConfig& config;
  const MaskInput& mask;
  Index head = 0, query = 0, key = 0;
};

/// The number that people set of a term. Scenes have it as the field model.NAME, and what is legal there is
/// the field's.
struct TermNumber {
  const char* name = "";
  float ScoreNumbers::*member = nullptr;  ///< null: the term has no such number
  bool positive = false;

  /// Whether it differs from what it is until somebody sets it, where the term doesn't apply.
  bool isSet(const ScoreNumbers& numbers) const {
    return member && numbers.*member != ScoreNumbers{}.*member;
  }
  /// "softcap is -1.000000, expected a finite number above 0" where somebody sets what cannot be.
  Status check(float value) const;
  const char* expected() const { return positive ? "a finite number above 0" : "a finite number"; }
};

struct ScoreTerm {
  std::string_view name;
  TermKind kind;
  /// Whether a computation has this term at all.
  bool (*applies)(const AttentionConfig& config, const MaskInput& mask);
  /// As people write it: "÷ √32", "+ ALiBi", "soft-cap 30".
  std::string (*label)(const AttentionConfig& config);
  /// The term's values for as many keys of the row as `to` has room for.
  void (*values)(const ScoreRow& row, std::span<float> to);
  TermNumber number = {};

  /// Whether it adds its value; what the others make of a score is told by the score itself.
  bool adds() const { return kind == TermKind::distance || kind == TermKind::cell; }
  /// Whether files of a layer have its number as an option of its name. Factors are in their scale.
  bool isOption() const { return number.member && kind != TermKind::factor; }
};

/// All terms, in the order in which they are applied. The last is the mask, which always applies.
std::span<const ScoreTerm> scoreTerms();

/// What q·k is multiplied by: the product of all factors.
float scoreFactor(const AttentionConfig& config);

/// What is set in `changes` joins `numbers`: factors multiply those that are there, other numbers take their
/// place.
void joinNumbers(const ScoreNumbers& changes, ScoreNumbers& numbers);
/// The same of all settings.
void joinSettings(const ScoreSettings& changes, ScoreSettings& settings);

/// What one term did to one score.
struct ScoreStep {
  const ScoreTerm* term = nullptr;
  float value = 0;  ///< the term's own
  float score = 0;  ///< after it
};

/// Every term that applies, with its value at one cell and the score after it, starting from `dot` = q·k. The
/// last step's score is the cell's; −inf where it is masked.
std::vector<ScoreStep> scoreSteps(const AttentionConfig& config, const MaskInput& mask, Index head,
                                  Index query, Index key, float dot);

/// All terms of one head put together by their kinds, the mask's visibility apart: score of row r and key j =
/// cap(q·k · factor + bias[queries − 1 − r + j]) + added[r · keys + j].
struct HeadTerms {
  Index queries = 0, keys = 0;
  float factor = 1;
  std::vector<float> bias;       ///< [queries + keys − 1], by growing key − query; empty for none
  float cap = 0;                 ///< 0 for none
  const float* added = nullptr;  ///< [queries, keys], the mask's own; null for none

  /// Key 0's bias in row `row`, the following keys' behind it; null for none.
  const float* biasOf(Index row) const { return bias.empty() ? nullptr : bias.data() + (queries - 1 - row); }
  const float* addedOf(Index row) const { return added ? added + row * keys : nullptr; }
};
HeadTerms headTerms(const AttentionConfig& config, const MaskInput& mask, Index head, Index queries,
                    Index keys);

}  // namespace headscope::attention
