#include "attention/masks/patterns/definition.h"

// Patterns that show the first keys to every query.

namespace headscope::attention {
namespace {

constexpr std::array kLength{
    readFrom(text_parts::keyLength, "length", ParameterKind::count, "L", "keys before the padding")};
constexpr std::array kSinkNumbers{wholeNumber("sinks", 0, 1, "first keys, visible to every query")};

void firstKeysRow(const Rule& rule, const RowPlace& at, KeyRuns& out) {
  appendRun(out, 0, std::min(rule.counts[0], at.keys));
}

}  // namespace

constinit const Pattern patterns::padding{
    .info = {.kind = PatternKind::padding,
             .name = "padding",
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
    .info = {.kind = PatternKind::sinks,
             .name = "sinks",
             .title = "Sink tokens",
             .help = "Every query sees the first few keys, where heads put surplus weight.",
             .formula = "j < S",
             .users = "part of StreamingLLM",
             .example = "sinks(3)",
             .parameters = kSinkNumbers},
    .visible = [](const Number&, const Number& j) { return j < parameter("sinks"); },
    .row = firstKeysRow,
};

}  // namespace headscope::attention
