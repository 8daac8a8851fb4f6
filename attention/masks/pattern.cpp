#include "attention/masks/pattern.h"

#include <algorithm>
#include <array>

namespace headscope::attention {
namespace {

using Kind = ParameterKind;

constexpr ParameterInfo count(std::string_view name, Index low, Index standard, std::string_view meaning,
                              Index high = kMaxMaskCount) {
  return {name, Kind::count, low, high, standard, false, meaning};
}
constexpr ParameterInfo marked(std::string_view name, Kind kind, std::string_view meaning, Index low = 0) {
  return {name, kind, low, kMaxMaskCount, 0, true, meaning};
}

constexpr std::array kLength{marked("length", Kind::count, "keys before the padding")};
constexpr std::array kWindow{count("window", 1, 4, "keys seen, the query's own among them")};
constexpr std::array kBack{count("back", 0, 4, "keys seen before the query's own")};
constexpr std::array kReach{count("window", 1, 4, "keys seen on each side, the query's own among them")};
constexpr std::array kDilated{count("window", 0, 8, "how far it reaches on each side"),
                              count("step", 1, 2, "every how many-th key")};
constexpr std::array kSinks{count("sinks", 0, 1, "first keys that everyone sees")};
constexpr std::array kStreaming{count("sinks", 0, 1, "first keys that stay visible"),
                                count("window", 1, 4, "keys seen, the query's own among them")};
constexpr std::array kChunk{count("chunk", 1, 8, "tokens a chunk")};
constexpr std::array kGlobals{marked("positions", Kind::positions, "the global tokens")};
constexpr std::array kLongformer{kReach[0], kGlobals[0]};
constexpr std::array kStride{count("stride", 1, 4, "window, and distance between the keys beyond it")};
constexpr std::array kFixed{count("block", 1, 8, "tokens a block"),
                            count("summary", 1, 2, "last tokens of a block that all later ones see")};
constexpr std::array kBigBird{count("block", 1, 4, "tokens a block"),
                              count("window", 0, 1, "blocks seen on each side"),
                              count("global", 0, 1, "first blocks that see and are seen by all"),
                              count("random", 0, 1, "further blocks a row of blocks sees", 4096),
                              count("seed", 0, 1, "which random blocks")};
constexpr std::array kPrefix{marked("prefix", Kind::count, "tokens that see each other")};
constexpr std::array kStarts{marked("starts", Kind::positions, "where documents begin; 0 is implied")};
constexpr std::array kBlock{count("block", 1, 4, "tokens a block")};
constexpr std::array kDiffusion{count("block", 1, 4, "tokens a block"),
                                marked("half", Kind::count, "tokens in the noised half", 1)};
constexpr std::array kTree{
    marked("prefix", Kind::count, "tokens before the draft"),
    marked("parents", Kind::parents, "each draft token's parent, counted in the draft")};
constexpr std::array kGrid{marked("height", Kind::count, "rows of the grid", 1),
                           marked("width", Kind::count, "columns of the grid", 1),
                           count("kernel", 1, 3, "side of the square a token sees")};
constexpr std::array kSpans{marked("spans", Kind::spans, "where the images are")};
constexpr std::array kIntervals{marked("queries", Kind::positions, "where each part of the queries begins"),
                                marked("keys", Kind::spans, "the keys each part sees")};
constexpr std::array kPainting{ParameterInfo{"name", Kind::name, 0, 0, 0, false, "a painting of the scene"}};
constexpr std::array kFile{
    ParameterInfo{"path", Kind::path, 0, 0, 0, false, "a .npy, .csv or .safetensors file"},
    ParameterInfo{"convention", Kind::convention, 0, 0, 0, false,
                  "visible: true or 1 lets see; masked: true or 1 hides; additive: −inf hides"}};

constexpr std::span<const ParameterInfo> kNone;

constexpr PatternInfo kTable[] = {
    {PatternKind::full, "full", "Full", "true", "BERT, ViT, every encoder", "full", kNone, false},
    {PatternKind::causal, "causal", "Causal", "j ≤ i", "GPT, Llama, every decoder", "causal", kNone},
    {PatternKind::causalTopLeft, "causal_top_left", "Causal, top-left", "j ≤ i − C, C tokens cached",
     "PyTorch's is_causal, FlashAttention before 2.1", "causal_top_left", kNone},
    {PatternKind::padding, "padding", "Padding", "j < L", "every batch of unequal lengths",
     "padding(length=17)", kLength, false},
    {PatternKind::window, "window", "Sliding window, W keys", "0 ≤ i − j < W",
     "Mistral 7B, Gemma 2 and 3; Hugging Face's convention", "window(6)", kWindow},
    {PatternKind::windowBack, "window_back", "Sliding window, W back", "0 ≤ i − j ≤ W",
     "attention-gym's and FlashAttention's convention", "window_back(6)", kBack},
    {PatternKind::windowBoth, "window_both", "Window, both ways", "|i − j| < W", "ModernBERT's local layers",
     "window_both(5)", kReach},
    {PatternKind::dilated, "dilated", "Dilated window", "|i − j| ≤ W and (i − j) mod d = 0",
     "Longformer, LongNet", "dilated(window=9, step=3)", kDilated},
    {PatternKind::sinks, "sinks", "Sink tokens", "j < S", "part of StreamingLLM", "sinks(3)", kSinks},
    {PatternKind::streaming, "streaming", "Sinks + window", "j ≤ i and (j < S or i − j < W)", "StreamingLLM",
     "streaming(sinks=2, window=6)", kStreaming},
    {PatternKind::chunked, "chunked", "Chunked causal", "⌊i/c⌋ = ⌊j/c⌋ and j ≤ i", "Llama 4's local layers",
     "chunked(6)", kChunk},
    {PatternKind::globals, "globals", "Global tokens", "i ∈ G or j ∈ G", "Longformer, ETC",
     "globals([0, 11])", kGlobals},
    {PatternKind::longformer, "longformer", "Global tokens + window", "|i − j| < W or i ∈ G or j ∈ G",
     "Longformer", "longformer(window=3, positions=[0, 11])", kLongformer},
    {PatternKind::strided, "strided", "Strided", "j ≤ i and (i − j < s or (i − j) mod s = 0)",
     "Sparse Transformer", "strided(5)", kStride},
    {PatternKind::fixed, "fixed", "Fixed", "j ≤ i and (⌊i/b⌋ = ⌊j/b⌋ or j mod b ≥ b − c)",
     "Sparse Transformer, GPT-3's sparse layers", "fixed(block=6, summary=1)", kFixed},
    {PatternKind::bigBird, "bigbird", "BigBird", "blocks I, J: |I − J| ≤ w or I < g or J < g or J ∈ R(I)",
     "BigBird", "bigbird(block=2, window=1, global=1, random=2, seed=3)", kBigBird},
    {PatternKind::prefixLm, "prefix_lm", "Prefix LM", "j < P or j ≤ i", "T5's prefix LM, UniLM, PaliGemma",
     "prefix_lm(9)", kPrefix},
    {PatternKind::documents, "documents", "Documents", "doc(i) = doc(j) and inner(i − start, j − start)",
     "packed training of encoders, ModernBERT", "documents(full, starts=[7, 16])", kStarts, true, true},
    {PatternKind::packed, "packed", "Packed causal documents", "start(doc(i)) ≤ j ≤ i",
     "Llama 3's pre-training", "packed([7, 16])", kStarts},
    {PatternKind::sharedPrefix, "shared_prefix", "Shared prefix", "j ≤ i and (doc(i) = doc(j) or doc(j) = 0)",
     "Hydragen, vLLM's cascade", "shared_prefix([8, 13, 19])", kStarts},
    {PatternKind::blockDiagonal, "block_diagonal", "Block diagonal", "⌊i/b⌋ = ⌊j/b⌋",
     "block-local attention, windows of Swin", "block_diagonal(6)", kBlock},
    {PatternKind::blockCausal, "block_causal", "Block causal", "⌊j/b⌋ ≤ ⌊i/b⌋",
     "semi-autoregressive and video models", "block_causal(6)", kBlock},
    {PatternKind::blockDiffusion, "block_diffusion", "Block diffusion",
     "noised | clean: own block; clean blocks before; clean block-causal", "BD3-LM",
     "block_diffusion(block=4, half=12)", kDiffusion},
    {PatternKind::tree, "tree", "Draft tree", "j < P, or j an ancestor of i, or i itself",
     "SpecInfer, Medusa, EAGLE",
     "tree(prefix=6, parents=[-1, 0, 0, -1, 1, 1, 2, 3, 3, 4, 5, 6, 7, 8, 8, 9, 11, 14])", kTree},
    {PatternKind::neighborhood, "neighborhood", "Neighbourhood 2D",
     "key in the query's k × k square, clamped", "NAT, NATTEN", "neighborhood(height=5, width=5, kernel=3)",
     kGrid},
    {PatternKind::neighborhoodZ, "neighborhood_z", "Neighbourhood 2D, Z-order",
     "the same, tokens along the Z-order curve", "attention-gym's Morton order",
     "neighborhood_z(height=5, width=5, kernel=3)", kGrid},
    {PatternKind::image, "image", "Image tokens bidirectional", "j ≤ i or i, j in the same image",
     "Gemma 3, Transfusion", "image([3-9, 14-20])", kSpans},
    {PatternKind::intervals, "intervals", "Cross-attention intervals", "j in the interval of i's part",
     "Flamingo", "intervals(queries=[0, 8, 16], keys=[0-6, 7-15, 16-23])", kIntervals, false},
    {PatternKind::painted, "painted", "Painted", "as painted by hand", "you", "", kPainting, false},
    {PatternKind::file, "file", "From a file", "as the file says", "masks exported from other programs", "",
     kFile, false},
};

}  // namespace

std::span<const PatternInfo> patternTable() {
  return kTable;
}

const PatternInfo& infoOf(PatternKind kind) {
  return kTable[static_cast<std::size_t>(kind)];
}

const PatternInfo* findPattern(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(kTable), std::end(kTable), [&](const auto& info) { return info.name == name; });
  return found == std::end(kTable) ? nullptr : found;
}

}  // namespace headscope::attention
