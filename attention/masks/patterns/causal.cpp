#include "attention/masks/patterns/definition.h"

namespace headscope::attention {

constinit const Pattern patterns::full{
    .info = {.name = "full",
             .title = "Full",
             .help = "Every query sees every key.",
             .formula = "true",
             .users = "BERT, ViT, every encoder",
             .example = "full",
             .comparesPositions = false},
    .visible = [](const Number&, const Number&) { return always(); },
    .row = [](const Rule&, const RowPlace& at, KeyRuns& out) { appendRun(out, 0, at.keys); },
    .byDistance = true,
};

// Patterns that show the keys up to the query's own, and possibly more.

namespace {

constexpr std::array kPrefix{readFrom(text_parts::prefix, "prefix", ParameterKind::count, "P",
                                      "first tokens, which see each other", 0, true)};

}  // namespace

constinit const Pattern patterns::causal{
    .info = {.name = "causal",
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
    .info = {.name = "causal_top_left",
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
    .info = {.name = "prefix_lm",
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

// Patterns that show the first keys to every query.

namespace {

constexpr std::array kLength{
    readFrom(text_parts::keyLength, "length", ParameterKind::count, "L", "keys before the padding")};
constexpr std::array kSinkNumbers{wholeNumber("sinks", 0, 1, "first keys, visible to every query")};

void firstKeysRow(const Rule& rule, const RowPlace& at, KeyRuns& out) {
  appendRun(out, 0, std::min(rule.counts[0], at.keys));
}

}  // namespace

constinit const Pattern patterns::padding{
    .info = {.name = "padding",
             .title = "Padding",
             .help = "Hides the keys after the end of each sequence.",
             .formula = "j < L",
             .users = "every batch of unequal lengths",
             .example = "padding(length=17)",
             .parameters = kLength,
             .comparesPositions = false},
    .visible = [](const Number&, const Number& j) { return j < parameter("length"); },
    .row = firstKeysRow,
};

constinit const Pattern patterns::sinks{
    .info = {.name = "sinks",
             .title = "Sink tokens",
             .help = "Every query sees the first few keys, where heads put surplus weight.",
             .formula = "j < S",
             .users = "part of StreamingLLM",
             .example = "sinks(3)",
             .parameters = kSinkNumbers},
    .visible = [](const Number&, const Number& j) { return j < parameter("sinks"); },
    .row = firstKeysRow,
};

namespace {

constexpr std::array kStreamingNumbers{wholeNumber("sinks", 0, 1, "first keys that stay visible"),
                                       wholeNumber("window", 1, 4, "keys seen, including the query's own")};

}  // namespace

/// Xiao et al. 2023, "Efficient Streaming Language Models with Attention Sinks".
constinit const Pattern patterns::streaming{
    .info = {.name = "streaming",
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

// Patterns that depend only on the distance between query and key.

namespace {

constexpr std::array kWindow{wholeNumber("window", 1, 4, "keys seen, including the query's own")};
constexpr std::array kBack{wholeNumber("back", 0, 4, "keys seen before the query's own")};
constexpr std::array kReach{wholeNumber("window", 1, 4, "keys seen on each side, including the query's own")};

}  // namespace

constinit const Pattern patterns::window{
    .info = {.name = "window",
             .title = "Sliding window, W keys",
             .help = "Each query sees the last W keys, including its own.",
             .formula = "0 ≤ i − j < W",
             .users = "Mistral 7B, Gemma 2 and 3; Hugging Face's convention",
             .example = "window(6)",
             .parameters = kWindow},
    .visible = [](const Number& i, const Number& j) { return fewerBack(i, j, parameter("window")); },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          appendWithin(out, at.position - rule.counts[0] + 1, at.position + 1, at.keys);
        },
    .byDistance = true,
};

constinit const Pattern patterns::windowBack{
    .info = {.name = "window_back",
             .title = "Sliding window, W back",
             .help = "Each query sees its own key and the W before it.",
             .formula = "0 ≤ i − j ≤ W",
             .users = "attention-gym's and FlashAttention's convention",
             .example = "window_back(6)",
             .parameters = kBack},
    .visible = [](const Number& i, const Number& j) { return atMostBack(i, j, parameter("back")); },
    .row = [](const Rule& rule, const RowPlace& at,
              KeyRuns& out) { appendWithin(out, at.position - rule.counts[0], at.position + 1, at.keys); },
    .byDistance = true,
};

constinit const Pattern patterns::windowBoth{
    .info = {.name = "window_both",
             .title = "Window, both ways",
             .help = "Each query sees the keys nearer than W, before and after it.",
             .formula = "|i − j| < W",
             .users = "ModernBERT's local layers",
             .example = "window_both(5)",
             .parameters = kReach},
    .visible = [](const Number& i, const Number& j) { return abs(i - j) < parameter("window"); },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          appendWithin(out, at.position - rule.counts[0] + 1, at.position + rule.counts[0], at.keys);
        },
    .byDistance = true,
};

}  // namespace headscope::attention
