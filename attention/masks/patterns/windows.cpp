#include "attention/masks/patterns/definition.h"

// Patterns that depend only on the distance between query and key.

namespace headscope::attention {
namespace {

constexpr std::array kWindow{wholeNumber("window", 1, 4, "keys seen, including the query's own")};
constexpr std::array kBack{wholeNumber("back", 0, 4, "keys seen before the query's own")};
constexpr std::array kReach{wholeNumber("window", 1, 4, "keys seen on each side, including the query's own")};

}  // namespace

constinit const Pattern patterns::window{
    .info = {.kind = PatternKind::window,
             .name = "window",
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
    .info = {.kind = PatternKind::windowBack,
             .name = "window_back",
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
    .info = {.kind = PatternKind::windowBoth,
             .name = "window_both",
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
