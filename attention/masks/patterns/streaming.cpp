#include "attention/masks/patterns/definition.h"

namespace headscope::attention {
namespace {

constexpr std::array kStreamingNumbers{wholeNumber("sinks", 0, 1, "first keys that stay visible"),
                                       wholeNumber("window", 1, 4, "keys seen, including the query's own")};

}  // namespace

/// Xiao et al. 2023, "Efficient Streaming Language Models with Attention Sinks".
constinit const Pattern patterns::streaming{
    .info = {.kind = PatternKind::streaming,
             .name = "streaming",
             .title = "Sinks + window",
             .help = "Each query sees the last W keys and, however far away, the first S.",
             .formula = "j ≤ i and (j < S or i − j < W)",
             .users = "StreamingLLM",
             .example = "streaming(sinks=2, window=6)",
             .parameters = kStreamingNumbers},
    .visible =
        [](const Number& i, const Number& j) {
          return (j <= i) & ((j < parameter("sinks")) | (i - j < parameter("window")));
        },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          const Index end = std::min(at.position + 1, at.keys);
          appendRun(out, 0, std::min(rule.counts[0], end));
          appendWithin(out, at.position - rule.counts[1] + 1, end, at.keys);
        },
};

}  // namespace headscope::attention
