#pragma once

#include <cmath>
#include <cstring>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "attention/formats/dtype.h"
#include "attention/models/checkpoint/tensor_view.h"

// Weights as libraries pack them, from codes, scales and zeros that are exact in half precision.

namespace headscope::attention::test::packing {

inline constexpr std::uint64_t kOut = 16, kIn = 64, kGroups = 2, kGroup = kIn / kGroups;

/// Tensors in memory.
class Tensors {
 public:
  template <typename Number>
  void add(const std::string& name, const char* kind, const Shape& shape,
           const std::vector<Number>& numbers) {
    std::vector<std::uint8_t>& bytes = bytes_.emplace_back(numbers.size() * sizeof(Number));
    std::memcpy(bytes.data(), numbers.data(), bytes.size());
    const auto type = kind == std::string("F32")    ? std::optional(WeightType::f32)
                      : kind == std::string("F16")  ? std::optional(WeightType::f16)
                      : kind == std::string("BF16") ? std::optional(WeightType::bf16)
                                                    : std::nullopt;
    views[name] = {kind, type, shape, bytes.data(), bytes.size()};
  }
  void halves(const std::string& name, const Shape& shape, const std::vector<float>& numbers) {
    std::vector<std::uint16_t> halves;
    for (const float number : numbers) halves.push_back(Eigen::half(number).x);
    add(name, "F16", shape, halves);
  }
  std::map<std::string, TensorView> views;

 private:
  std::deque<std::vector<std::uint8_t>> bytes_;
};

/// Packs numbers [rows, columns] into words of 32 bits along the second axis, the lowest bits first.
inline std::vector<std::uint32_t> packed(const std::vector<std::uint32_t>& numbers, std::uint64_t rows,
                                         std::uint64_t bits) {
  const std::uint64_t columns = numbers.size() / rows, words = (columns * bits + 31) / 32;
  std::vector<std::uint32_t> to(rows * words);
  for (std::uint64_t r = 0; r < rows; ++r)
    for (std::uint64_t c = 0; c < columns; ++c)
      for (std::uint64_t b = 0, at = c * bits; b < bits; ++b, ++at)
        to[r * words + at / 32] |= (numbers[r * columns + c] >> b & 1) << at % 32;
  return to;
}

template <typename Number>
std::vector<Number> transposed(const std::vector<Number>& numbers, std::uint64_t rows) {
  const std::uint64_t columns = numbers.size() / rows;
  std::vector<Number> to(numbers.size());
  for (std::uint64_t r = 0; r < rows; ++r)
    for (std::uint64_t c = 0; c < columns; ++c) to[c * rows + r] = numbers[r * columns + c];
  return to;
}

/// AWQ stores eight outputs in the order 0, 2, 4, 6, 1, 3, 5, 7.
inline std::vector<std::uint32_t> shuffled(std::vector<std::uint32_t> numbers) {
  const std::vector<std::uint32_t> from = numbers;
  for (std::size_t i = 0; i < from.size(); ++i)
    numbers[i] = from[i / 8 * 8 + std::size_t("02461357"[i % 8] - '0')];
  return numbers;
}

/// Codes [out, in], and scales and zeros [out, groups], exact in half precision.
struct Numbers {
  std::vector<std::uint32_t> q, zeros;
  std::vector<float> scales;
  explicit Numbers(std::uint64_t bits) {
    const auto most = (1U << bits) - 1;
    for (std::uint32_t i = 0; i < kOut * kIn; ++i) q.push_back(i * 7 % 31 * (i + 3) & most);
    for (std::uint32_t i = 0; i < kOut * kGroups; ++i) {
      zeros.push_back(1 + i * 5 % most);
      scales.push_back(static_cast<float>(1 + i) / 64);
    }
  }
};

inline void packGptq(const Numbers& n, std::uint64_t bits, std::uint32_t less, Tensors& to) {
  std::vector<std::uint32_t> zeros = transposed(n.zeros, kOut);
  for (std::uint32_t& zero : zeros) zero -= less;
  const std::uint64_t words = kIn * bits / 32;
  to.add("a.qweight", "I32", {words, kOut}, transposed(packed(n.q, kOut, bits), kOut));
  to.add("a.qzeros", "I32", {kGroups, (kOut * bits + 31) / 32}, packed(zeros, kGroups, bits));
  to.halves("a.scales", {kGroups, kOut}, transposed(n.scales, kOut));
}

inline std::vector<std::uint8_t> bytesOf(const std::vector<std::uint32_t>& numbers) {
  return {numbers.begin(), numbers.end()};
}

/// Two codes of 4 bits in a byte, the first in the lower half.
inline std::vector<std::uint8_t> pairsOf(const std::vector<std::uint32_t>& numbers) {
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < numbers.size(); i += 2)
    bytes.push_back(static_cast<std::uint8_t>(numbers[i] | numbers[i + 1] << 4));
  return bytes;
}

inline float fp4(const Numbers& n, std::uint64_t at) {
  constexpr float kSizes[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
  return (n.q[at] & 8) != 0 ? -kSizes[n.q[at] & 7] : kSizes[n.q[at] & 7];
}

/// E4M3 of 2^(group mod 4 − 1) for each group.
inline std::vector<std::uint8_t> scaleBytes() {
  std::vector<std::uint8_t> bytes;
  for (std::uint64_t g = 0; g < kOut * kGroups; ++g)
    bytes.push_back(static_cast<std::uint8_t>((g % 4 + 6) << 3));
  return bytes;
}

/// HQQ's tensors for groups of 32 numbers of the flattened weight along `axis`.
inline void packHqq(const Numbers& n, std::uint64_t bits, std::int32_t axis, Tensors& to) {
  const std::uint64_t all = kOut * kIn, group = 32, groups = all / group;
  const std::uint64_t lines = axis == 1 ? groups : group, columns = all / lines,
                      each = bits == 3 ? 10 : 8 / bits;
  const std::uint64_t rows = (lines + each - 1) / each;
  std::vector<std::uint32_t> words(rows * columns);
  for (std::uint64_t line = 0; line < lines; ++line)
    for (std::uint64_t c = 0; c < columns; ++c)
      words[line % rows * columns + c] |= n.q[line * columns + c]
                                          << ((bits == 3 ? 30 : 8) - bits * (line / rows + 1));
  if (bits == 3)
    to.add("a.W_q", "I32", {rows, columns}, words);
  else
    to.add("a.W_q", "U8", {rows, columns}, bytesOf(words));
  const Shape shape = axis == 1 ? Shape{groups, 1} : Shape{1, groups};
  std::vector<float> zeros(n.zeros.begin(), n.zeros.end());
  to.halves("a.scale", shape, n.scales);
  to.halves("a.zero", shape, zeros);
  to.add("a.nbits", "I32", {}, std::vector<std::int32_t>{static_cast<std::int32_t>(bits)});
  to.add("a.group_size", "I32", {}, std::vector<std::int32_t>{32});
  to.add("a.axis", "I32", {}, std::vector<std::int32_t>{axis});
  to.add("a.shape", "I64", {2}, std::vector<std::int64_t>{kOut, kIn});
}

}  // namespace headscope::attention::test::packing
