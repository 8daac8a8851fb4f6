#pragma once

#include <optional>

#include "attention/kernels/buffer.h"
#include "attention/kernels/weight_type.h"

namespace headscope::attention::kernels {

/// The layout of an input row for a weight type.
struct DigitForm {
  enum class Scales {
    ofLanes,     ///< one s per four numbers
    of16,        ///< one s per 16 numbers
    withSums16,  ///< for every four groups of 16 numbers: their s, then −s·(the sum of their D)
    withSums32   ///< the same for groups of 32
  };
  int taken = 0;        ///< codes are q + this; −1: codes are q, and blocks of 32 add m
  float bits = 0x1p22;  ///< s is the power of two of the largest number, divided by this
  /// Vectors of 64 hold, for each 256 numbers, the first halves of groups 0, 2, 4 and 6, then their second
  /// halves, then the same of groups 1, 3, 5 and 7.
  bool quartered = false;
  Scales scales = Scales::ofLanes;
  bool evenFirst = false;  ///< within each 32 numbers, those with even indices come first
  /// The largest allowed Σ|x − s·D|, relative to Σ|x| without the largest of each 32. Less for types whose
  /// blocks may differ by powers of two, because the group with the losses may have the largest weights.
  float lost = 0x1p-18f;
};

constexpr std::optional<DigitForm> digitForm(WeightType type) {
  using Scales = DigitForm::Scales;
  switch (type) {
    case WeightType::q4_k:
    case WeightType::q5_k:
      return DigitForm{0, 0x1p22, true, Scales::withSums32};
    case WeightType::q6_k:
      return DigitForm{32, 0x1p22, false, Scales::of16};
    case WeightType::q2_k:
      return DigitForm{0, 0x1p22, false, Scales::withSums16};
    case WeightType::q3_k:
      return DigitForm{4, 0x1p22, false, Scales::of16};
    case WeightType::iq4_xs:
      return DigitForm{128, 0x1p21, false, Scales::of16};
    case WeightType::q8_0:
    case WeightType::iq4_nl:
      return DigitForm{128, 0x1p21, false, Scales::ofLanes};
    case WeightType::q4_1:
    case WeightType::q5_1:
      return DigitForm{-1, 0x1p22, false, Scales::ofLanes};
    case WeightType::q5_0:
      return DigitForm{16, 0x1p22, false, Scales::ofLanes};
    case WeightType::mxfp4:
      return DigitForm{12, 0x1p22, false, Scales::ofLanes, false, 0x1p-20f};
    case WeightType::mxfp4_apart:
      return DigitForm{12, 0x1p22, false, Scales::ofLanes, true, 0x1p-20f};
    case WeightType::q4_0:
      return DigitForm{8, 0x1p22, false, Scales::ofLanes};
    default:
      return {};
  }
}

/// An input row in whole numbers, in the order in which products with one weight type read it. W is the bytes
/// of a vector.
struct DigitRow {
  std::size_t in = 0;
  std::int8_t* digits = nullptr;  ///< [in / W, 3, W]: D₀, D₁, D₂
  std::int32_t* taken = nullptr;  ///< [in / 4]: −DigitForm::taken·(the sum of four D)
  float* scales = nullptr;        ///< as DigitForm::Scales says
  Buffer buffer;
};

}  // namespace headscope::attention::kernels
