#pragma once

#include <cstddef>

namespace headscope::attention::kernels {

/// How weights are kept: one by one as IEEE single, IEEE half, the upper half of a single or IEEE double,
/// which is rounded; or in blocks, as GGUF files have them, each with a scale (weight_blocks-inl.h). The
/// scales of mxfp4_apart, as safetensors have it, lie behind each other elsewhere, a byte for each block.
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

/// Numbers of a single row of input whose sum is ready for weights that add an offset.
inline constexpr std::size_t kSummed = 16;

/// So many numbers lie in so many bytes, and aren't taken apart.
struct WeightBlock {
  std::size_t numbers = 1, bytes = 4;
};
WeightBlock weightBlock(WeightType type);
/// Bytes of `numbers` numbers, a whole number of blocks, without scales that lie elsewhere.
std::size_t weightBytes(WeightType type, std::size_t numbers);
/// Whether each number can be read alone.
inline bool isPlain(WeightType type) {
  return type <= WeightType::f64;
}

/// `count` numbers as floats, a whole number of blocks from `from` on, which may be at any byte. `scales`: of
/// mxfp4_apart, that of the first block.
void unpackWeights(WeightType type, const void* from, std::size_t count, float* to,
                   const void* scales = nullptr);

/// Which row of its weight an output is, with outputs in groups of `paired`; 0: that of its own number.
inline std::size_t rowOfOutput(std::size_t output, std::size_t paired) {
  if (paired == 0) return output;
  const std::size_t place = output % paired, half = paired / 2;
  return output - place + (place < half ? 2 * place : 2 * (place - half) + 1);
}

}  // namespace headscope::attention::kernels
