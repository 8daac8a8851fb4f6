#pragma once

#include <cstddef>

/// All types stored in blocks that hold their own scales: name, name in the kernels, numbers and bytes of a
/// block.
#define HEADSCOPE_BLOCK_TYPES(ROW) \
  ROW(q8_0, Q8_0, 32, 34)          \
  ROW(q4_0, Q4_0, 32, 18)          \
  ROW(q4_1, Q4_1, 32, 20)          \
  ROW(q5_0, Q5_0, 32, 22)          \
  ROW(q5_1, Q5_1, 32, 24)          \
  ROW(q2_k, Q2_K, 256, 84)         \
  ROW(q3_k, Q3_K, 256, 110)        \
  ROW(q4_k, Q4_K, 256, 144)        \
  ROW(q5_k, Q5_K, 256, 176)        \
  ROW(q6_k, Q6_K, 256, 210)        \
  ROW(iq4_nl, IQ4_NL, 32, 18)      \
  ROW(iq4_xs, IQ4_XS, 256, 136)    \
  ROW(mxfp4, MXFP4, 32, 17)

namespace headscope::attention::kernels {

/// How weights are stored: individually, as IEEE single, IEEE half, the upper half of a single, or IEEE
/// double, which is rounded when read; or in blocks with a scale each, as in GGUF files
/// (weight_blocks-inl.h). mxfp4_apart, from safetensors, stores its scales separately and contiguously, one
/// byte per block.
enum class WeightType {
  f32,
  f16,
  bf16,
  f64,
#define HEADSCOPE_BLOCK_NAME(type, Name, numbers, bytes) type,
  HEADSCOPE_BLOCK_TYPES(HEADSCOPE_BLOCK_NAME)
#undef HEADSCOPE_BLOCK_NAME
      mxfp4_apart,
};

/// The numbers of a single input row per precomputed sum, used for weights that add an offset.
inline constexpr std::size_t kSummed = 16;

/// The smallest unit that is stored: `numbers` numbers in `bytes` bytes.
struct WeightBlock {
  std::size_t numbers = 1, bytes = 4;
};
constexpr WeightBlock weightBlock(WeightType type) {
#define HEADSCOPE_BLOCK_SIZE(type, Name, numbers, bytes) {numbers, bytes},
  constexpr WeightBlock kBlocks[] = {
      {1, 4}, {1, 2}, {1, 2}, {1, 8}, HEADSCOPE_BLOCK_TYPES(HEADSCOPE_BLOCK_SIZE){32, 16}};
#undef HEADSCOPE_BLOCK_SIZE
  return kBlocks[static_cast<std::size_t>(type)];
}
/// Returns the bytes of `numbers` numbers, a whole number of blocks, without separately stored scales.
constexpr std::size_t weightBytes(WeightType type, std::size_t numbers) {
  return numbers / weightBlock(type).numbers * weightBlock(type).bytes;
}
/// Whether each number can be read individually.
inline bool isPlain(WeightType type) {
  return type <= WeightType::f64;
}

/// Converts `count` numbers, a whole number of blocks, to floats; `from` may be unaligned. `scales` points to
/// the first block's scale, for mxfp4_apart only.
void unpackWeights(WeightType type, const void* from, std::size_t count, float* to,
                   const void* scales = nullptr);

/// Returns which row of the weight an output has, with outputs in groups of `paired`; 0 = the row of its own
/// index.
inline std::size_t rowOfOutput(std::size_t output, std::size_t paired) {
  if (paired == 0) return output;
  const std::size_t place = output % paired, half = paired / 2;
  return output - place + (place < half ? 2 * place : 2 * (place - half) + 1);
}

}  // namespace headscope::attention::kernels
