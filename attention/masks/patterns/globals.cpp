#include "attention/masks/patterns/definition.h"

// Tokens that see all tokens and are seen by all.

namespace headscope::attention {
namespace {

constexpr ParameterInfo kPositions = readFrom(text_parts::globals, "positions", ParameterKind::positions, "G",
                                              "positions of the global tokens");
constexpr std::array kGlobals{kPositions};
constexpr std::array kLongformer{
    wholeNumber("window", 1, 4, "keys seen on each side, including the query's own"), kPositions};

constexpr LookupTable kIsGlobal{
    .name = "is_global",
    .define =
        [](const TableSource& source) {
          const auto& positions = source.rule.lists->positions;
          limitCode(static_cast<Index>(positions.size()), kMaxSpelledOut, "the number of global tokens is");
          const std::string length = std::to_string(source.sizes.positions());
          return "@ = " + source.dialect.zeros(length, "bool") + "\n" +
                 (positions.empty() ? "" : "@[" + codeList(positions) + "] = True\n");
        },
    .value =
        [](const Rule& rule, const RowPlace&, Index token, Index) {
          const auto& positions = rule.lists->positions;
          return Index{std::binary_search(positions.begin(), positions.end(), token)};
        },
};

Truth global(const Number& i, const Number& j) {
  return called("{i} ∈ {positions}", holds(kIsGlobal, i)) | called("{j} ∈ {positions}", holds(kIsGlobal, j));
}

template <std::size_t kParameter>
Result<RuleLists> globalLists(const Given& given) {
  auto positions = given.positions(kParameter, given.geometry.keys, "keys");
  if (!positions) return positions.error();
  return RuleLists{.positions = std::move(positions).value()};
}

/// Appends all keys for a global token; for other tokens the global keys and keys begin … end−1.
void globalsRow(const Rule& rule, const RowPlace& at, Index begin, Index end, KeyRuns& out) {
  const auto& globals = rule.lists->positions;
  if (std::binary_search(globals.begin(), globals.end(), at.position)) return appendRun(out, 0, at.keys);
  // Inside documents(…), global tokens may lie beyond the document's keys.
  const auto last = std::lower_bound(globals.begin(), globals.end(), at.keys);
  const auto within = std::lower_bound(globals.begin(), last, begin);
  for (auto global = globals.begin(); global != within; ++global) appendRun(out, *global, *global + 1);
  appendRun(out, begin, end);
  for (auto global = within; global != last; ++global) appendRun(out, *global, *global + 1);
}

}  // namespace

constinit const Pattern patterns::globals{
    .info = {.kind = PatternKind::globals,
             .name = "globals",
             .title = "Global tokens",
             .help = "A few tokens see all others and are seen by all.",
             .formula = "i ∈ G or j ∈ G",
             .users = "Longformer, ETC",
             .example = "globals([0, 11])",
             .parameters = kGlobals},
    .visible = global,
    .row = [](const Rule& rule, const RowPlace& at,
              KeyRuns& out) { globalsRow(rule, at, at.keys, at.keys, out); },
    .lists = globalLists<0>,
};

/// Beltagy et al. 2020, "Longformer: The Long-Document Transformer".
constinit const Pattern patterns::longformer{
    .info = {.kind = PatternKind::longformer,
             .name = "longformer",
             .title = "Global tokens + window",
             .help = "Each query sees the keys nearer than W and the global ones, which see all.",
             .formula = "|i − j| < W or i ∈ G or j ∈ G",
             .users = "Longformer",
             .example = "longformer(window=3, positions=[0, 11])",
             .parameters = kLongformer},
    .visible = [](const Number& i,
                  const Number& j) { return (abs(i - j) < parameter("window")) | global(i, j); },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          const Index i = at.position, window = rule.counts[0];
          globalsRow(rule, at, std::clamp<Index>(i - window + 1, 0, at.keys), std::min(i + window, at.keys),
                     out);
        },
    .lists = globalLists<1>,
};

}  // namespace headscope::attention
