#include "attention/masks/patterns/documents.h"

#include "attention/masks/patterns/definition.h"

namespace headscope::attention {

constinit const LookupTable kDocument{
    .name = "document",
    .define =
        [](const TableSource& source) {
          const auto& starts = source.rule.lists->positions;
          limitCode(static_cast<Index>(starts.size()), kMaxSpelledOut, "the number of documents is");
          const std::vector<Index> later(starts.begin() + 1, starts.end());
          return "@ = " + source.dialect.zeros(std::to_string(source.sizes.positions()), "int64") + "\n" +
                 (later.empty() ? "" : "@[" + codeList(later) + "] = 1\n") + "@ = @.cumsum(0)\n";
        },
    .value = [](const Rule& rule, const RowPlace&, Index position,
                Index) { return static_cast<Index>(documentOf(rule.lists->positions, position)); },
};

constinit const LookupTable kDocumentStart{
    .name = "start",
    .define =
        [](const TableSource& source) {
          return "@ = " + source.dialect.integers(codeList(source.rule.lists->positions)) + "\n";
        },
    .value = [](const Rule& rule, const RowPlace&, Index document,
                Index) { return rule.lists->positions[static_cast<std::size_t>(document)]; },
};

std::size_t documentOf(const std::vector<Index>& starts, Index position) {
  return static_cast<std::size_t>(std::upper_bound(starts.begin(), starts.end(), position) - starts.begin()) -
         1;
}

namespace {

constexpr std::array kStarts{readFrom(text_parts::documents, "starts", ParameterKind::positions, "",
                                      "where each document begins; 0 is implied")};

Truth sameDocument(const Number& i, const Number& j) {
  return called("doc({i}) = doc({j})[ from {starts}]", at(kDocument, i) == at(kDocument, j));
}

Result<RuleLists> startLists(const Given& given) {
  auto starts = given.positions(0, given.geometry.keys, "keys");
  if (!starts) return starts.error();
  if (starts->empty() || starts->front() != 0) starts->insert(starts->begin(), 0);
  return RuleLists{.positions = std::move(starts).value()};
}

}  // namespace

constinit const Pattern patterns::documents{
    .info = {.kind = PatternKind::documents,
             .name = "documents",
             .title = "Documents",
             .help = "Each document sees only itself, under its own mask that counts from its start.",
             .formula = "doc(i) = doc(j) and inner(i − start, j − start)",
             .users = "packed training of encoders, ModernBERT",
             .example = "documents(full, starts=[7, 16])",
             .parameters = kStarts,
             .takesInner = true},
    .visible = sameDocument,
    .lists = startLists,
};

constinit const Pattern patterns::packed{
    .info = {.kind = PatternKind::packed,
             .name = "packed",
             .title = "Packed causal documents",
             .help = "Documents packed into one sequence, each causal and hidden from the others.",
             .formula = "start(doc(i)) ≤ j ≤ i",
             .users = "Llama 3's pre-training",
             .example = "packed([7, 16])",
             .parameters = kStarts},
    .visible = [](const Number& i, const Number& j) { return (j <= i) & sameDocument(i, j); },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          const auto& starts = rule.lists->positions;
          appendRun(out, starts[documentOf(starts, at.position)], std::min(at.position + 1, at.keys));
        },
    .lists = startLists,
};

constinit const Pattern patterns::sharedPrefix{
    .info = {.kind = PatternKind::sharedPrefix,
             .name = "shared_prefix",
             .title = "Shared prefix",
             .help = "Several continuations of one prefix: each is causal and sees the first document too.",
             .formula = "j ≤ i and (doc(i) = doc(j) or doc(j) = 0)",
             .users = "Hydragen, vLLM's cascade",
             .example = "shared_prefix([8, 13, 19])",
             .parameters = kStarts},
    .visible =
        [](const Number& i, const Number& j) {
          return (j <= i) & (sameDocument(i, j) | called("doc({j}) = 0", at(kDocument, j) == 0));
        },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          const auto& starts = rule.lists->positions;
          const Index end = std::min(at.position + 1, at.keys);
          appendRun(out, 0, std::min(starts.size() > 1 ? starts[1] : at.keys, end));
          appendRun(out, starts[documentOf(starts, at.position)], end);
        },
    .lists = startLists,
};

}  // namespace headscope::attention
