#include "attention/kernels/digits.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "attention/kernels/digit_row.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernels/digits.cpp"
#include "hwy/foreach_target.h"
// After foreach_target.h, which sets the target that this is compiled for.
#include "attention/kernels/digit_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

#if HEADSCOPE_DIGITS

bool hasDigits(WeightType type) {
#if HWY_TARGET == HWY_AVX3
  static const bool vnni = __builtin_cpu_supports("avx512vnni");
  return vnni && digitForm(type);
#else
  // Two products of 8-bit codes don't fit the 16 bits that this target adds them up in.
  const auto form = digitForm(type);
  return form && form->taken < 128;
#endif
}

size_t digitLanes() {
  return kWide;
}

/// 32 numbers as whole ones.
struct WholeGroup {
  std::int32_t numbers[kGroup];
  float scale, rest, lost;  ///< s, Σ|x| without the greatest, Σ|x − s·D|
};

HWY_INLINE void splitGroup(const float* x, float bits, WholeGroup& group) {
  const Lane d;
  Lanes most = hn::Zero(d), sum = most, lost = most;
  for (size_t i = 0; i < kGroup; i += kLanes) {
    const Lanes size = hn::Abs(hn::LoadU(d, x + i));
    most = hn::Max(most, size);
    sum = hn::Add(sum, size);
  }
  // The power of two of a little more than the greatest, so that the highest digit of its rounded number
  // fits.
  const float greatest = hn::GetLane(hn::MaxOfLanes(d, most));
  const auto exponent = std::bit_cast<std::uint32_t>(1.004f * greatest) & 0x7f800000u;
  const bool usable = exponent >= 0x20000000u && exponent < 0x7f800000u;
  group.scale = usable ? std::bit_cast<float>(exponent) / bits : 0;
  const Lanes scale = hn::Set(d, group.scale), inverse = hn::Set(d, usable ? 1 / group.scale : 0);
  for (size_t i = 0; i < kGroup; i += kLanes) {
    const Lanes from = hn::LoadU(d, x + i);
    const Wholes whole = hn::NearestInt(hn::Mul(from, inverse));
    hn::StoreU(whole, WholeLane(), group.numbers + i);
    lost = hn::Add(lost, hn::Abs(hn::NegMulAdd(hn::ConvertTo(d, whole), scale, from)));
  }
  group.rest = hn::GetLane(hn::SumOfLanes(d, sum)) - greatest;
  group.lost = hn::GetLane(hn::SumOfLanes(d, lost));
}

/// Group `index` of a row to its place.
void storeGroup(const DigitForm& form, const WholeGroup& group, size_t index, const DigitRow& to) {
  constexpr size_t kParts = kWide / kGroup;
  size_t vector = index / kParts, half = index % kParts;
  if (form.paired && kParts == 2)
    vector = index / 8 * 4 + index % 8 / 4 * 2 + index % 2, half = index % 4 / 2;
  std::int8_t* const digits = to.digits + 3 * kWide * vector + kGroup * half;
  std::int32_t* const taken = to.taken + kLanes * vector + 8 * half;
  std::int32_t all[2] = {0, 0};
  for (size_t i = 0; i < kGroup; ++i) {
    // Each digit is the signed lowest byte of what is left.
    const std::int32_t whole = group.numbers[i];
    const auto last = static_cast<std::int8_t>(whole);
    const std::int32_t rest = (whole - last) >> 8;
    const auto middle = static_cast<std::int8_t>(rest);
    digits[i] = static_cast<std::int8_t>((rest - middle) >> 8);
    digits[i + kWide] = middle;
    digits[i + 2 * kWide] = last;
    all[i / 16] += whole;
  }
  for (size_t i = 0; i < 8; ++i) {
    const std::int32_t* const four = group.numbers + 4 * i;
    taken[i] = -form.taken * (four[0] + four[1] + four[2] + four[3]);
  }
  const auto storeSum = [&](size_t at, std::int32_t sum) {
    float* const scales = to.scales + at / 4 * 8 + at % 4;
    scales[0] = group.scale;
    scales[4] = -group.scale * static_cast<float>(sum);
  };
  switch (form.scales) {
    case DigitForm::Scales::ofLanes:
      return std::fill_n(to.scales + kLanes * vector + 8 * half, 8, group.scale), void();
    case DigitForm::Scales::of16:
      return std::fill_n(to.scales + 2 * index, 2, group.scale), void();
    case DigitForm::Scales::withSums16:
      for (size_t i = 0; i < 2; ++i) storeSum(2 * index + i, all[i]);
      return;
    case DigitForm::Scales::withSums32:
      storeSum(index, all[0] + all[1]);
  }
}

bool splitNumbers(WeightType type, const float* x, const DigitRow& to) {
  const DigitForm form = *digitForm(type);
  WholeGroup group;
  float rest = 0, lost = 0;
  for (size_t i = 0; i < to.in / kGroup; ++i) {
    splitGroup(x + i * kGroup, form.bits, group);
    rest += group.rest;
    lost += group.lost;
    if (!(rest <= std::numeric_limits<float>::max())) return false;
    storeGroup(form, group, i, to);
  }
  return lost <= 0x1p-18f * rest;
}

/// Rows are taken by four at a time, so that codes are unpacked once for them and sums stay in registers.
void productsOfDigits(const WeightColumns& weight, size_t count, const DigitRow* x, size_t rows, float* y,
                      size_t yRow) {
  withDigits(weight.type, [&](auto type) HWY_ATTR {
    using Type = decltype(type);
    size_t row = 0;
    for (; row + 4 <= rows; row += 4) outputsOfRows<Type, 4>(weight, count, x + row, y + row * yRow, yRow);
    if (row + 2 <= rows) {
      outputsOfRows<Type, 2>(weight, count, x + row, y + row * yRow, yRow);
      row += 2;
    }
    if (row < rows) outputsOfRows<Type, 1>(weight, count, x + row, y + row * yRow, yRow);
  });
}

#else

bool hasDigits(WeightType) {
  return false;
}
size_t digitLanes() {
  return 64;
}
bool splitNumbers(WeightType, const float*, const DigitRow&) {
  return false;
}
void productsOfDigits(const WeightColumns&, size_t, const DigitRow*, size_t, float*, size_t) {}

#endif

}  // namespace headscope::attention::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headscope::attention::kernels {
namespace {

HWY_EXPORT(hasDigits);
HWY_EXPORT(digitLanes);
HWY_EXPORT(splitNumbers);
HWY_EXPORT(productsOfDigits);

}  // namespace

bool multipliesDigits(WeightType type) {
  return HWY_DYNAMIC_DISPATCH(hasDigits)(type);
}

bool splitRow(WeightType type, const float* x, std::size_t in, DigitRow& to) {
  const std::size_t wide = HWY_DYNAMIC_DISPATCH(digitLanes)();
  const std::size_t room = (in + wide - 1) / wide * wide;
  to.in = in;
  to.scales = to.buffer.atLeast(5 * room / 4);
  std::fill_n(to.scales, 5 * room / 4, 0.0f);
  to.taken = reinterpret_cast<std::int32_t*>(to.scales + room / 4);
  to.digits = reinterpret_cast<std::int8_t*>(to.scales + room / 2);
  return HWY_DYNAMIC_DISPATCH(splitNumbers)(type, x, to);
}

void multiplyDigits(const WeightColumns& weight, std::size_t count, std::span<const DigitRow> x, float* y,
                    std::size_t yRow) {
  HWY_DYNAMIC_DISPATCH(productsOfDigits)(weight, count, x.data(), x.size(), y, yRow);
}

}  // namespace headscope::attention::kernels
#endif
