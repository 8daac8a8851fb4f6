#include "attention/kernels/weight_type.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernels/weight_type.cpp"
#include "hwy/foreach_target.h"
// Must follow foreach_target.h, which sets the target to compile for.
#include "attention/kernels/numbers-inl.h"
#include "attention/kernels/weight_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

void unpack(WeightType type, const void* from, size_t count, float* to, const void* scales) {
  switch (type) {
    case WeightType::f32:
      return copyNumbers(static_cast<const float*>(from), count, to);
    case WeightType::f16:
      return copyNumbers(static_cast<const hwy::float16_t*>(from), count, to);
    case WeightType::bf16:
      return copyNumbers(static_cast<const hwy::bfloat16_t*>(from), count, to);
    case WeightType::f64:
      return copyNumbers(static_cast<const double*>(from), count, to);
    default:
      readBlocks<UnpackedNumbers>(type, static_cast<const Byte*>(from), static_cast<const Byte*>(scales),
                                  count / weightBlock(type).numbers, to);
  }
}

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headscope::attention::kernels {

HWY_EXPORT(unpack);

WeightBlock weightBlock(WeightType type) {
  switch (type) {
    case WeightType::f32:
      return {1, 4};
    case WeightType::f16:
    case WeightType::bf16:
      return {1, 2};
    case WeightType::f64:
      return {1, 8};
    case WeightType::q8_0:
      return {32, 34};
    case WeightType::q4_0:
    case WeightType::iq4_nl:
      return {32, 18};
    case WeightType::q4_1:
      return {32, 20};
    case WeightType::q5_0:
      return {32, 22};
    case WeightType::q5_1:
      return {32, 24};
    case WeightType::q2_k:
      return {256, 84};
    case WeightType::q3_k:
      return {256, 110};
    case WeightType::q4_k:
      return {256, 144};
    case WeightType::q5_k:
      return {256, 176};
    case WeightType::q6_k:
      return {256, 210};
    case WeightType::iq4_xs:
      return {256, 136};
    case WeightType::mxfp4:
      return {32, 17};
    case WeightType::mxfp4_apart:
      return {32, 16};
  }
  return {};
}

std::size_t weightBytes(WeightType type, std::size_t numbers) {
  const WeightBlock block = weightBlock(type);
  return numbers / block.numbers * block.bytes;
}

void unpackWeights(WeightType type, const void* from, std::size_t count, float* to, const void* scales) {
  HWY_DYNAMIC_DISPATCH(unpack)(type, from, count, to, scales);
}

}  // namespace headscope::attention::kernels
#endif
