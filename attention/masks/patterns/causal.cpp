#include "attention/masks/patterns/definition.h"

// Patterns that show the keys up to the query's own, and possibly more.

namespace headscope::attention {
namespace {

constexpr std::array kPrefix{readFrom(text_parts::prefix, "prefix", ParameterKind::count, "P",
                                      "first tokens, which see each other", 0, true)};

}  // namespace

constinit const Pattern patterns::causal{
    .info = {.kind = PatternKind::causal,
             .name = "causal",
             .title = "Causal",
             .help = "Each query sees its own key and all earlier ones, including cached keys.",
             .formula = "j ≤ i",
             .users = "GPT, Llama, every decoder",
             .example = "causal"},
    .visible = [](const Number& i, const Number& j) { return j <= i; },
    .row = [](const Rule&, const RowPlace& at,
              KeyRuns& out) { appendRun(out, 0, std::min(at.position + 1, at.keys)); },
    .byDistance = true,
};

constinit const Pattern patterns::causalTopLeft{
    .info = {.kind = PatternKind::causalTopLeft,
             .name = "causal_top_left",
             .title = "Causal, top-left",
             .help = "The k-th query sees the first k keys, whatever the cache holds.",
             .formula = "j ≤ i − C, C tokens cached",
             .users = "PyTorch's is_causal, FlashAttention before 2.1",
             .example = "causal_top_left"},
    .visible = [](const Number& i, const Number& j) { return j <= i - cached(); },
    .row = [](const Rule&, const RowPlace& at,
              KeyRuns& out) { appendWithin(out, 0, at.position - at.cacheLength + 1, at.keys); },
};

constinit const Pattern patterns::prefixLm{
    .info = {.kind = PatternKind::prefixLm,
             .name = "prefix_lm",
             .title = "Prefix LM",
             .help = "All queries see the prefix, whose tokens see each other; the rest is causal.",
             .formula = "j < P or j ≤ i",
             .users = "T5's prefix LM, UniLM, PaliGemma",
             .example = "prefix_lm(9)",
             .parameters = kPrefix},
    .visible = [](const Number& i, const Number& j) { return (j < parameter("prefix")) | (j <= i); },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          appendRun(out, 0, std::min(std::max(rule.counts[0], at.position + 1), at.keys));
        },
};

}  // namespace headscope::attention
