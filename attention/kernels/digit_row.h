#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "attention/kernels/buffer.h"
#include "attention/kernels/weight_type.h"

namespace headscope::attention::kernels {

/// How a row of input is laid out for weights of a type.
struct DigitForm {
  enum class Scales {
    ofLanes,     ///< s for each four numbers
    of16,        ///< s for each 16 numbers
    withSums16,  ///< for each four groups of 16 numbers: their s, then −s·(the sum of their D)
    withSums32   ///< the same of groups of 32
  };
  int taken = 0;        ///< codes are q + this; −1: they are q, and blocks of 32 add m
  float bits = 0x1p22;  ///< s is the greatest number's power of two divided by this
  bool paired = false;  ///< vectors of 64 have groups 0 and 2, 1 and 3 of each 128 numbers
  Scales scales = Scales::ofLanes;
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
      return DigitForm{12, 0x1p22, false, Scales::ofLanes};
    case WeightType::q4_0:
      return DigitForm{8, 0x1p22, false, Scales::ofLanes};
    default:
      return {};
  }
}

/// A row of input in whole numbers, in the order that the product with weights of one type reads them; W is
/// the bytes of a vector.
struct DigitRow {
  std::size_t in = 0;
  std::int8_t* digits = nullptr;  ///< [in / W, 3, W]: D₀, D₁, D₂
  std::int32_t* taken = nullptr;  ///< [in / 4]: −DigitForm::taken·(the sum of four D)
  float* scales = nullptr;        ///< as DigitForm::Scales says
  Buffer buffer;
};

}  // namespace headscope::attention::kernels
