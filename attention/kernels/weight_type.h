#pragma once

#include <cstddef>

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
  q8_0,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q2_k,
  q3_k,
  q4_k,
  q5_k,
  q6_k,
  iq4_nl,
  iq4_xs,
  mxfp4,
  mxfp4_apart,
};

/// The numbers of a single input row per precomputed sum, used for weights that add an offset.
inline constexpr std::size_t kSummed = 16;

/// The smallest unit that is stored: `numbers` numbers in `bytes` bytes.
struct WeightBlock {
  std::size_t numbers = 1, bytes = 4;
};
WeightBlock weightBlock(WeightType type);
/// Returns the bytes of `numbers` numbers, a whole number of blocks, without separately stored scales.
std::size_t weightBytes(WeightType type, std::size_t numbers);
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
