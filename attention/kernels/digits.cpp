#include "attention/kernels/digits.h"

#include <algorithm>
#include <bit>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/kernels/digits.cpp"
#include "hwy/foreach_target.h"
// Must follow foreach_target.h, which sets the target to compile for.
#include "attention/kernels/digit_blocks-inl.h"

HWY_BEFORE_NAMESPACE();
namespace headscope::attention::kernels::HWY_NAMESPACE {

#if HEADSCOPE_DIGITS

bool hasDigits(WeightType type) {
#if HWY_TARGET == HWY_AVX3
  static const bool vnni = __builtin_cpu_supports("avx512vnni");
  return vnni && digitForm(type);
#else
  // Two products of 8-bit codes don't fit the 16 bits in which this target adds them up.
  const auto form = digitForm(type);
  return form && form->taken < 128;
#endif
}

size_t digitLanes() {
  return kWide;
}

/// 32 numbers as integers.
struct WholeGroup {
  std::int32_t numbers[kGroup];
  float scale, rest, lost;  ///< s, Σ|x| without the largest, Σ|x − s·D|
};

HWY_INLINE void splitGroup(const float* x, float bits, WholeGroup& group) {
  const Lane d;
  Lanes most = hn::Zero(d), sum = most, lost = most;
  for (size_t i = 0; i < kGroup; i += kLanes) {
    const Lanes size = hn::Abs(hn::LoadU(d, x + i));
    most = hn::Max(most, size);
    sum = hn::Add(sum, size);
  }
  // The power of two of slightly more than the largest number, so that the highest digit of its rounded value
  // fits.
  const float greatest = hn::GetLane(hn::MaxOfLanes(d, most));
  const auto exponent = std::bit_cast<std::uint32_t>(1.004f * greatest) & 0x7f800000u;
  const bool usable = exponent >= 0x20000000u && exponent < 0x7f800000u;
  group.scale = usable ? std::bit_cast<float>(exponent) / bits : 0;
  const Lanes scale = hn::Set(d, group.scale), inverse = hn::Set(d, usable ? 1 / group.scale : 0);
  for (size_t i = 0; i < kGroup; i += kLanes) {
    const Lanes from = hn::LoadU(d, x + i);
    const IntLanes whole = hn::NearestInt(hn::Mul(from, inverse));
    hn::StoreU(whole, IntLane(), group.numbers + i);
    lost = hn::Add(lost, hn::Abs(hn::NegMulAdd(hn::ConvertTo(d, whole), scale, from)));
  }
  group.rest = hn::GetLane(hn::SumOfLanes(d, sum)) - greatest;
  group.lost = hn::GetLane(hn::SumOfLanes(d, lost));
}

/// Writes 16 numbers as digits, [3, kWide], starting at `digits`.
HWY_INLINE void storeDigits(const std::int32_t* numbers, std::int8_t* digits) {
  const IntLane d;
  const hn::Rebind<std::int8_t, IntLane> narrow;
  for (size_t i = 0; i < 16; i += kLanes) {
    // Each digit is the signed lowest byte of the rest.
    const IntLanes whole = hn::LoadU(d, numbers + i);
    const IntLanes last = hn::ShiftRight<24>(hn::ShiftLeft<24>(whole));
    const IntLanes rest = hn::ShiftRight<8>(hn::Sub(whole, last));
    const IntLanes middle = hn::ShiftRight<24>(hn::ShiftLeft<24>(rest));
    const IntLanes first = hn::ShiftRight<8>(hn::Sub(rest, middle));
    hn::StoreU(hn::DemoteTo(narrow, first), narrow, digits + i);
    hn::StoreU(hn::DemoteTo(narrow, middle), narrow, digits + kWide + i);
    hn::StoreU(hn::DemoteTo(narrow, last), narrow, digits + 2 * kWide + i);
  }
}

/// Returns the index of a piece's first number among a row's codes.
HWY_INLINE size_t placeOfPiece(const DigitForm& form, size_t piece) {
  if (!form.quartered || kWide == kGroup) return 16 * piece;
  const size_t group = piece % 16 / 2, vector = piece / 16 * 4 + group % 2 * 2 + piece % 2;
  return kWide * vector + group / 2 * 16;
}

/// Stores group `index` of a row.
HWY_INLINE void storeGroup(const DigitForm& form, const WholeGroup& group, size_t index, const DigitRow& to) {
  std::int32_t all[2] = {0, 0};
  for (size_t half = 0; half < 2; ++half) {
    const std::int32_t* const numbers = group.numbers + 16 * half;
    const size_t place = placeOfPiece(form, 2 * index + half);
    storeDigits(numbers, to.digits + place / kWide * 3 * kWide + place % kWide);
    for (size_t i = 0; i < 4; ++i) {
      const std::int32_t* const four = numbers + 4 * i;
      const std::int32_t sum = four[0] + four[1] + four[2] + four[3];
      to.taken[place / 4 + i] = -form.taken * sum;
      all[half] += sum;
    }
    if (form.scales == DigitForm::Scales::ofLanes) std::fill_n(to.scales + place / 4, 4, group.scale);
  }
  const auto storeSum = [&](size_t at, std::int32_t sum) {
    float* const scales = to.scales + at / 4 * 8 + at % 4;
    scales[0] = group.scale;
    scales[4] = -group.scale * static_cast<float>(sum);
  };
  switch (form.scales) {
    case DigitForm::Scales::ofLanes:
      return;
    case DigitForm::Scales::of16:
      return std::fill_n(to.scales + 2 * index, 2, group.scale), void();
    case DigitForm::Scales::withSums16:
      for (size_t i = 0; i < 2; ++i) storeSum(2 * index + i, all[i]);
      return;
    case DigitForm::Scales::withSums32:
      storeSum(index, all[0] + all[1]);
  }
}

/// Moves numbers with even indices before the others.
void putEvenFirst(WholeGroup& group) {
  std::int32_t numbers[kGroup];
  for (size_t i = 0; i < kGroup; ++i) numbers[i % 2 * 16 + i / 2] = group.numbers[i];
  std::copy_n(numbers, kGroup, group.numbers);
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
    if (form.evenFirst) putEvenFirst(group);
    storeGroup(form, group, i, to);
  }
  return lost <= form.lost * rest;
}

void productsOfDigits(const WeightColumns& weight, size_t count, const DigitRow& x, float* y) {
  withDigits(weight.type, [&](auto type) HWY_ATTR { outputsOf<decltype(type)>(weight, count, x, y); });
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
void productsOfDigits(const WeightColumns&, size_t, const DigitRow&, float*) {}

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

void multiplyDigits(const WeightColumns& weight, std::size_t count, const DigitRow& x, float* y) {
  HWY_DYNAMIC_DISPATCH(productsOfDigits)(weight, count, x, y);
}

}  // namespace headscope::attention::kernels
#endif
