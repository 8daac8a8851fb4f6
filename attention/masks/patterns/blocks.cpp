#include "attention/masks/patterns/definition.h"

namespace headscope::attention {

// Patterns that depend on the blocks that query and key lie in.

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
    .info = {.name = "chunked",
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
    .info = {.name = "block_diagonal",
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
    .info = {.name = "block_causal",
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
    .info = {.name = "fixed",
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

namespace {

constexpr std::array kBlockDiffusionNumbers{
    wholeNumber("block", 1, 4, "tokens per block"),
    readFrom(text_parts::half, "half", ParameterKind::count, "H", "tokens in the noised half", 1)};

}  // namespace

/// Arriola et al. 2025, "Block Diffusion: Interpolating Between Autoregressive and Diffusion Language
/// Models".
constinit const Pattern patterns::blockDiffusion{
    .info = {.name = "block_diffusion",
             .title = "Block diffusion",
             .help =
                 "A noised half, then a clean one. Each block sees itself and the clean blocks before it.",
             .formula = "noised | clean: own block; clean blocks before; clean block-causal",
             .users = "BD3-LM",
             .example = "block_diffusion(block=4, half=12)",
             .parameters = kBlockDiffusionNumbers},
    .visible =
        [](const Number& i, const Number& j) {
          const Number block = parameter("block"), half = parameter("half");
          const Truth noised = (i < half) & (j < half), across = (i < half) & (j >= half),
                      clean = (i >= half) & (j >= half);
          return (noised & (i / block == j / block)) | (across & ((j - half) / block < i / block)) |
                 (clean & ((j - half) / block <= (i - half) / block));
        },
    .row =
        [](const Rule& rule, const RowPlace& at, KeyRuns& out) {
          const Index block = rule.counts[0], half = rule.counts[1], i = at.position;
          if (i < half) {
            const Index own = i / block * block;
            appendRun(out, own, std::min({own + block, half, at.keys}));
            appendRun(out, half, std::min(half + own, at.keys));
          } else {
            const Index own = (i - half) / block * block;
            appendRun(out, half, std::min(half + own + block, at.keys));
          }
        },
};

// Patterns that show every s-th key.

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
    .info = {.name = "dilated",
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
    .info = {.name = "strided",
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
