#include "attention/core/score_terms.h"

#include <fmt/core.h>

#include <cmath>

#include "attention/core/positions.h"

namespace headscope::attention {
namespace {

std::string scaleLabel(const AttentionConfig& config) {
  const float scale = config.effectiveScale(), root = std::sqrt(static_cast<float>(config.headDim));
  // The scale may differ from our rounding of 1/√headDim by a unit in the last place.
  if (std::abs(scale * root - 1) < 1e-6f) return fmt::format("÷ √{}", config.headDim);
  return scale == 1 ? "not scaled" : fmt::format("× {:.4g}", scale);
}

void visibilityOf(const ScoreRow& row, std::span<float> to) {
  for (std::size_t t = 0; t < to.size(); ++t)
    to[t] = visible(row.mask, row.head, row.query, row.key + static_cast<Index>(t)) ? 0 : kMinusInfinity;
}

void additiveOf(const ScoreRow& row, std::span<float> to) {
  const MatrixView added = row.mask.additive[sliceOf(row.mask.additive, row.head)];
  std::copy_n(added.row(row.query).data() + row.key, to.size(), to.data());
}

// For terms that consist of a single number.
template <float ScoreNumbers::*Number>
bool isSet(const AttentionConfig& config, const MaskInput&) {
  return config.*Number != ScoreNumbers{}.*Number;
}
template <float ScoreNumbers::*Number>
void numberOf(const ScoreRow& row, std::span<float> to) {
  std::fill(to.begin(), to.end(), row.config.*Number);
}

constexpr ScoreTerm kTerms[] = {
    {"scale", TermKind::factor, [](const AttentionConfig&, const MaskInput&) { return true; }, scaleLabel,
     [](const ScoreRow& row, std::span<float> to) {
       std::fill(to.begin(), to.end(), row.config.effectiveScale());
     }},
    {"sharpness",
     TermKind::factor,
     isSet<&ScoreNumbers::sharpness>,
     [](const AttentionConfig& config) { return fmt::format("× {:.4g} sharpness", config.sharpness); },
     numberOf<&ScoreNumbers::sharpness>,
     {"sharpness", &ScoreNumbers::sharpness}},
    {"ALiBi", TermKind::distance,
     [](const AttentionConfig& config, const MaskInput&) { return config.alibi; },
     [](const AttentionConfig&) -> std::string { return "+ ALiBi"; },
     [](const ScoreRow& row, std::span<float> to) {
       alibiBiases(row.config, row.head, row.config.cacheLength + row.query - row.key, to);
     }},
    {"T5", TermKind::distance,
     [](const AttentionConfig& config, const MaskInput&) { return config.t5.has_value(); },
     [](const AttentionConfig&) -> std::string { return "+ T5"; },
     [](const ScoreRow& row, std::span<float> to) {
       t5Biases(*row.config.t5, row.head, row.config.cacheLength + row.query - row.key, to);
     }},
    {"soft-cap",
     TermKind::cap,
     isSet<&ScoreNumbers::softcap>,
     [](const AttentionConfig& config) { return fmt::format("soft-cap {:.4g}", config.softcap); },
     numberOf<&ScoreNumbers::softcap>,
     {"softcap", &ScoreNumbers::softcap, true}},
    {"additive", TermKind::cell,
     [](const AttentionConfig&, const MaskInput& mask) { return !mask.additive.empty(); },
     [](const AttentionConfig&) -> std::string { return "+ additive"; }, additiveOf},
    {"mask", TermKind::visibility, [](const AttentionConfig&, const MaskInput&) { return true; },
     [](const AttentionConfig&) -> std::string { return "mask"; }, visibilityOf},
};

/// Applies one term to a score. Masked scores are overwritten, because NaN + (−inf) would stay NaN.
float after(TermKind kind, float score, float value) {
  switch (kind) {
    case TermKind::factor:
      return score * value;
    case TermKind::cap:
      return value * std::tanh(score / value);
    case TermKind::distance:
    case TermKind::cell:
      return value == kMinusInfinity ? value : score + value;
    case TermKind::visibility:
      break;
  }
  return value == kMinusInfinity ? value : score;
}

float valueAt(const ScoreTerm& term, const ScoreRow& row) {
  float value = 0;
  term.values(row, {&value, 1});
  return value;
}

/// Adds a term's values by distance, computed for the last row with all its distances; every other row's
/// values are a part of these.
void addByDistance(const ScoreTerm& term, const ScoreRow& lastRow, std::vector<float>& bias) {
  std::vector<float> values(bias.size());
  term.values(lastRow, values);
  for (std::size_t t = 0; t < bias.size(); ++t) bias[t] += values[t];
}

}  // namespace

std::span<const ScoreTerm> scoreTerms() {
  return kTerms;
}

Status TermNumber::check(float value) const {
  if (std::isfinite(value) && (!positive || value > 0)) return success();
  return Error{fmt::format("{} is {}, expected {}", name, std::to_string(value), expected())};
}

float scoreFactor(const AttentionConfig& config) {
  const MaskInput none;
  float factor = 1;
  for (const ScoreTerm& term : kTerms)
    if (term.kind == TermKind::factor) factor *= valueAt(term, {config, none});
  return factor;
}

void joinNumbers(const ScoreNumbers& changes, ScoreNumbers& numbers) {
  for (const ScoreTerm& term : kTerms) {
    if (!term.number.isSet(changes)) continue;
    const float change = changes.*term.number.member;
    float& number = numbers.*term.number.member;
    number = term.kind == TermKind::factor ? number * change : change;
  }
}

void joinSettings(const ScoreSettings& changes, ScoreSettings& settings) {
  joinNumbers(changes, settings);
  settings.alibi |= changes.alibi;
  if (changes.t5) settings.t5 = changes.t5;
  if (changes.dropout.probability > 0) settings.dropout = changes.dropout;
}

std::vector<ScoreStep> scoreSteps(const AttentionConfig& config, const MaskInput& mask, Index head,
                                  Index query, Index key, float dot) {
  std::vector<ScoreStep> steps;
  float score = dot;
  for (const ScoreTerm& term : kTerms) {
    if (!term.applies(config, mask)) continue;
    const float value = valueAt(term, {config, mask, head, query, key});
    score = after(term.kind, score, value);
    steps.push_back({&term, value, score});
  }
  return steps;
}

HeadTerms headTerms(const AttentionConfig& config, const MaskInput& mask, Index head, Index queries,
                    Index keys) {
  HeadTerms terms;
  terms.queries = queries;
  terms.keys = keys;
  const ScoreRow first{config, mask, head, 0, 0}, last{config, mask, head, queries - 1, 0};
  for (const ScoreTerm& term : kTerms) {
    if (!term.applies(config, mask)) continue;
    switch (term.kind) {
      case TermKind::factor:
        terms.factor *= valueAt(term, first);
        break;
      case TermKind::distance:
        terms.bias.resize(static_cast<std::size_t>(std::max<Index>(queries + keys - 1, 0)));
        addByDistance(term, last, terms.bias);
        break;
      case TermKind::cap:
        terms.cap = valueAt(term, first);
        break;
      case TermKind::cell:
        terms.added = mask.additive[sliceOf(mask.additive, head)].data();
        break;
      case TermKind::visibility:
        break;  // handled as runs, score_terms.h
    }
  }
  return terms;
}

namespace {

void append(Index begin, Index end, std::vector<kernels::Run>& out) {
  if (begin < end) out.push_back({static_cast<std::size_t>(begin), static_cast<std::size_t>(end)});
}

/// Appends `run` without the keys where the additive row is −inf.
void appendCut(const KeyRun& run, const float* added, std::vector<kernels::Run>& out) {
  Index begin = run.begin;
  for (Index j = run.begin; j < run.end; ++j) {
    if (added[j] != -std::numeric_limits<float>::infinity()) continue;
    append(begin, j, out);
    begin = j + 1;
  }
  append(begin, run.end, out);
}

}  // namespace

void collectRuns(const MaskInput& mask, Index head, Index row, Index rows, Index keys, RowRuns& out,
                 Index step) {
  out.runs.clear();
  out.first.assign(1, 0);
  const Index variant = mask.formula ? mask.formula->variantOf(head) : 0;
  KeyRuns& seen = out.row;
  seen.assign(1, {0, keys});
  for (Index r = row; r < row + rows * step; r += step) {
    if (mask.formula) mask.formula->visibleRuns(variant, r, seen);
    const float* const added =
        mask.additive.empty() ? nullptr : mask.additive[sliceOf(mask.additive, head)].row(r).data();
    for (const KeyRun& run : seen)
      if (added)
        appendCut(run, added, out.runs);
      else
        append(run.begin, run.end, out.runs);
    out.first.push_back(out.runs.size());
  }
}

kernels::ScoreRules rulesOf(const HeadTerms& terms, Index row, const RowRuns& runs, Index step) {
  kernels::ScoreRules rules;
  rules.scale = terms.factor;
  rules.softcap = terms.cap;
  rules.bias = terms.biasOf(row);
  rules.rowStep = static_cast<std::size_t>(step);
  rules.added = terms.addedOf(row);
  rules.addedRow = static_cast<std::size_t>(terms.keys * step);
  rules.runs = runs.runs.data();
  rules.firstRun = runs.first.data();
  return rules;
}

std::vector<Index> maskClasses(const AttentionConfig& config, const MaskInput& mask) {
  std::vector<Index> classes;
  for (Index head = 0; head < config.heads; ++head)
    classes.push_back(mask.additive.count() > 1 ? head : mask.formula ? mask.formula->variantOf(head) : 0);
  return classes;
}

}  // namespace headscope::attention
