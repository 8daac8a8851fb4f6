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
  std::int32_t all = 0;
  for (size_t i = 0; i < kGroup; ++i) {
    // Each digit is the signed lowest byte of what is left.
    const std::int32_t whole = group.numbers[i];
    const auto last = static_cast<std::int8_t>(whole);
    const std::int32_t rest = (whole - last) >> 8;
    const auto middle = static_cast<std::int8_t>(rest);
    digits[i] = static_cast<std::int8_t>((rest - middle) >> 8);
    digits[i + kWide] = middle;
    digits[i + 2 * kWide] = last;
    all += whole;
  }
  for (size_t i = 0; i < 8; ++i) {
    const std::int32_t* const four = group.numbers + 4 * i;
    taken[i] = -form.taken * (four[0] + four[1] + four[2] + four[3]);
  }
  switch (form.scales) {
    case DigitForm::Scales::ofLanes:
      return std::fill_n(to.scales + kLanes * vector + 8 * half, 8, group.scale), void();
    case DigitForm::Scales::of16:
      return std::fill_n(to.scales + 2 * index, 2, group.scale), void();
    case DigitForm::Scales::withSums32:
      float* const scales = to.scales + index / 4 * 8 + index % 4;
      scales[0] = group.scale;
      scales[4] = -group.scale * static_cast<float>(all);
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

float digitProduct(WeightType type, const unsigned char* weights, const DigitRow& x) {
  switch (type) {
    case WeightType::q4_k:
      return largeBlocks<DigitsOfQ4_K>(weights, x);
    case WeightType::q5_k:
      return largeBlocks<DigitsOfQ5_K>(weights, x);
    case WeightType::q6_k:
      return largeBlocks<DigitsOfQ6_K>(weights, x);
    case WeightType::q8_0:
      return smallBlocks<DigitsOfQ8_0>(weights, x);
    default:
      return smallBlocks<DigitsOfQ4_0>(weights, x);
  }
}

void productsOfDigits(const WeightColumns& weight, size_t count, const DigitRow& x, float* y) {
  for (size_t o = 0; o < count; ++o) y[o] = digitProduct(weight.type, weight.output(o), x);
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

bool DigitRows::split(std::span<const LinearMap> maps, const float* x, std::size_t numbers) {
  used_ = 0;
  bool all = true;
  for (const LinearMap& map : maps) {
    if (isPlain(map.type)) continue;
    const auto known = std::find_if(entries_.begin(), entries_.begin() + used_,
                                    [&](const Entry& entry) { return entry.type == map.type; });
    if (known != entries_.begin() + used_) continue;
    if (used_ == entries_.size()) entries_.emplace_back();
    Entry& entry = entries_[used_++];
    entry.type = map.type;
    entry.usable = multipliesDigits(map.type) && splitRow(map.type, x, numbers, entry.row);
    all = all && entry.usable;
  }
  return all;
}

const DigitRow* DigitRows::of(WeightType type) const {
  for (std::size_t i = 0; i < used_; ++i)
    if (entries_[i].type == type && entries_[i].usable) return &entries_[i].row;
  return nullptr;
}

void multiplyDigits(const WeightColumns& weight, std::size_t count, const DigitRow& x, float* y) {
  HWY_DYNAMIC_DISPATCH(productsOfDigits)(weight, count, x, y);
}

}  // namespace headscope::attention::kernels
#endif
