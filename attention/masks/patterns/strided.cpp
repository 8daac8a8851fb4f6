#include "attention/masks/patterns/definition.h"

// Patterns that show every s-th key.

namespace headscope::attention {
namespace {

constexpr std::array kDilated{wholeNumber("window", 0, 8, "how far a query sees on each side"),
                              wholeNumber("step", 1, 2, "distance between visible keys")};
constexpr std::array kStride{wholeNumber("stride", 1, 4, "window, and distance between the keys beyond it")};

/// Appends the keys of begin … end−1 that are a multiple of `step` from key `through`. `out` must be empty.
void appendEvery(KeyRuns& out, Index begin, Index end, Index through, Index step) {
  if (step == 1) return appendRun(out, begin, end);
  const Index offset = (begin - through) % step;
  Index key = begin - offset + (offset > 0 ? step : 0);
  for (; key < end; key += step) out.push_back({key, key + 1});
}

}  // namespace

constinit const Pattern patterns::dilated{
    .info = {.kind = PatternKind::dilated,
             .name = "dilated",
             .title = "Dilated window",
             .help = "Each query sees every d-th key up to W away, before and after it.",
             .formula = "|i − j| ≤ W and (i − j) mod d = 0",
             .users = "Longformer, LongNet",
             .example = "dilated(window=9, step=3)",
             .parameters = kDilated},
    .visible =
        [](const Number& i, const Number& j) {
          return (abs(i - j) <= parameter("window")) & ((i - j) % parameter("step") == 0);
        },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          const Index i = at.position, window = rule.counts[0];
          appendEvery(out, std::max<Index>(0, i - window), std::min(i + window + 1, at.keys), i,
                      rule.counts[1]);
        },
    .byDistance = true,
};

/// Child et al. 2019, "Generating Long Sequences with Sparse Transformers".
constinit const Pattern patterns::strided{
    .info = {.kind = PatternKind::strided,
             .name = "strided",
             .title = "Strided",
             .help = "Each query sees the last s keys and every s-th one before them.",
             .formula = "j ≤ i and (i − j < s or (i − j) mod s = 0)",
             .users = "Sparse Transformer",
             .example = "strided(5)",
             .parameters = kStride},
    .visible =
        [](const Number& i, const Number& j) {
          return (j <= i) & ((i - j < parameter("stride")) | ((i - j) % parameter("stride") == 0));
        },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          const Index i = at.position, stride = rule.counts[0];
          appendEvery(out, 0, std::min(i - stride + 1, at.keys), i, stride);
          appendWithin(out, i - stride + 1, i + 1, at.keys);
        },
    .byDistance = true,
};

}  // namespace headscope::attention
