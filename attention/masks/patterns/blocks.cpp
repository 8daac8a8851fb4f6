#include "attention/masks/patterns/definition.h"

// Patterns that depend on the blocks that query and key lie in.

namespace headscope::attention {
namespace {

constexpr std::array kChunk{wholeNumber("chunk", 1, 8, "tokens a chunk")};
constexpr std::array kBlock{wholeNumber("block", 1, 4, "tokens per block")};
constexpr std::array kFixed{
    wholeNumber("block", 1, 8, "tokens per block"),
    noMoreThan("block",
               wholeNumber("summary", 1, 2, "last keys of each block, visible to all later queries"))};

Truth sameBlock(const Number& i, const Number& j, const Number& size) {
  return i / size == j / size;
}

}  // namespace

constinit const Pattern patterns::chunked{
    .info = {.kind = PatternKind::chunked,
             .name = "chunked",
             .title = "Chunked causal",
             .help = "The text is cut into chunks; each is causal within and sees no other.",
             .formula = "⌊i/c⌋ = ⌊j/c⌋ and j ≤ i",
             .users = "Llama 4's local layers",
             .example = "chunked(6)",
             .parameters = kChunk},
    .visible = [](const Number& i,
                  const Number& j) { return sameBlock(i, j, parameter("chunk")) & (j <= i); },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          const Index chunk = rule.counts[0];
          appendRun(out, at.position / chunk * chunk, std::min(at.position + 1, at.keys));
        },
};

constinit const Pattern patterns::blockDiagonal{
    .info = {.kind = PatternKind::blockDiagonal,
             .name = "block_diagonal",
             .title = "Block diagonal",
             .help = "The text is cut into blocks; the tokens of each see each other and no others.",
             .formula = "⌊i/b⌋ = ⌊j/b⌋",
             .users = "block-local attention, windows of Swin",
             .example = "block_diagonal(6)",
             .parameters = kBlock},
    .visible = [](const Number& i, const Number& j) { return sameBlock(i, j, parameter("block")); },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          const Index block = rule.counts[0], begin = at.position / block * block;
          appendRun(out, begin, std::min(begin + block, at.keys));
        },
};

constinit const Pattern patterns::blockCausal{
    .info = {.kind = PatternKind::blockCausal,
             .name = "block_causal",
             .title = "Block causal",
             .help = "Each block sees itself, both ways, and all blocks before it.",
             .formula = "⌊j/b⌋ ≤ ⌊i/b⌋",
             .users = "semi-autoregressive and video models",
             .example = "block_causal(6)",
             .parameters = kBlock},
    .visible = [](const Number& i,
                  const Number& j) { return j / parameter("block") <= i / parameter("block"); },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          const Index block = rule.counts[0];
          appendRun(out, 0, std::min(at.position / block * block + block, at.keys));
        },
};

/// Child et al. 2019, "Generating Long Sequences with Sparse Transformers".
constinit const Pattern patterns::fixed{
    .info = {.kind = PatternKind::fixed,
             .name = "fixed",
             .title = "Fixed",
             .help = "Each query sees its own block so far, and the last c keys of every block before it.",
             .formula = "j ≤ i and (⌊i/b⌋ = ⌊j/b⌋ or j mod b ≥ b − c)",
             .users = "Sparse Transformer, GPT-3's sparse layers",
             .example = "fixed(block=6, summary=1)",
             .parameters = kFixed},
    .visible =
        [](const Number& i, const Number& j) {
          const Number block = parameter("block");
          return (j <= i) & (sameBlock(i, j, block) | (j % block >= block - parameter("summary")));
        },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          const Index block = rule.counts[0], summary = rule.counts[1];
          const Index end = std::min(at.position + 1, at.keys), own = at.position / block * block;
          if (summary == block) return appendRun(out, 0, end);
          for (Index last = block; last <= own && last - summary < end; last += block)
            appendRun(out, last - summary, std::min(last, end));
          appendRun(out, own, end);
        },
};

}  // namespace headscope::attention
