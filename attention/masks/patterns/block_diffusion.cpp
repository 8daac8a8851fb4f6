#include "attention/masks/patterns/definition.h"

namespace headscope::attention {
namespace {

constexpr std::array kBlockDiffusionNumbers{
    wholeNumber("block", 1, 4, "tokens per block"),
    readFrom(text_parts::half, "half", ParameterKind::count, "H", "tokens in the noised half", 1)};

}  // namespace

/// Arriola et al. 2025, "Block Diffusion: Interpolating Between Autoregressive and Diffusion Language
/// Models".
constinit const Pattern patterns::blockDiffusion{
    .info = {.kind = PatternKind::blockDiffusion,
             .name = "block_diffusion",
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

}  // namespace headscope::attention
