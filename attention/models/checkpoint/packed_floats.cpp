#include <fmt/core.h>

#include <Eigen/Core>
#include <array>
#include <cmath>

#include "attention/formats/quote.h"
#include "attention/models/checkpoint/packed_parts.h"

namespace headscope::attention {
namespace {

/// OCP's 8-bit floats (Micikevicius et al. 2022, table 1): E4M3 has no infinity, E5M2 is a half's upper byte.
float floatOf(std::uint8_t bits, bool e5m2) {
  if (e5m2)
    return static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(static_cast<std::uint16_t>(bits << 8)));
  const int exponent = bits >> 3 & 15, mantissa = bits & 7;
  const float value = exponent == 15 && mantissa == 7 ? std::numeric_limits<float>::quiet_NaN()
                      : exponent == 0                 ? std::ldexp(static_cast<float>(mantissa), -9)
                                      : std::ldexp(static_cast<float>(8 + mantissa), exponent - 10);
  return bits >> 7 ? -value : value;
}

/// OCP's 4-bit float E2M1 (Rouhani et al. 2023, section 5.3.3).
float fourBits(std::uint32_t bits) {
  constexpr float kSizes[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
  return (bits & 8) != 0 ? -kSizes[bits & 7] : kSizes[bits & 7];
}

/// The scales: floats of 16 or 32 bits, E4M3, or powers of two (E8M0, also as whole numbers).
std::vector<float> scalesOf(Parts& parts, const std::string& end, const Shape& shape) {
  const TensorView* const found = parts.find(end);
  if (!found || (found->kind != "U8" && !found->kind.starts_with("F8_"))) return parts.floats(end, shape);
  const TensorView& view = parts.get(end, found->kind, shape);
  std::vector<float> scales;
  for (std::uint64_t i = 0; !parts.error() && i < view.bytes; ++i)
    scales.push_back(view.kind == "F8_E4M3" ? floatOf(view.data[i], false)
                                            : std::ldexp(1.0F, view.data[i] - 127));
  return scales;
}

/// What all scales are multiplied by: compressed-tensors divides by its global scale, Model Optimizer
/// multiplies by its second one.
float globalScale(Parts& parts) {
  const TensorView* const divisor = parts.find(".weight_global_scale");
  const TensorView* const factor = parts.find(".weight_scale_2");
  if (!divisor && !factor) return 1;
  const std::string end = divisor ? ".weight_global_scale" : ".weight_scale_2";
  const std::vector<float> number = parts.floats(end, (divisor ? divisor : factor)->shape);
  if (number.size() != 1 || !(number[0] > 0)) {
    parts.fail(fmt::format("tensor {} has {} numbers, expected one above 0", quotedText(parts.stem() + end),
                           number.size()));
    return 1;
  }
  return divisor ? 1 / number[0] : number[0];
}

/// A block's sides are powers of two: 128 of 1,000 rows is the side of 8 blocks, and 128, not 96, of 192 that
/// of 2.
std::uint64_t sideOf(std::uint64_t size, std::uint64_t blocks) {
  if (blocks <= 1) return size;
  std::uint64_t each = 1;
  while (each * blocks < size) each *= 2;
  return each;
}

/// Of 16 bits, as the library computes: those of half-precision scales, else bfloat16.
WeightType typeOf(const TensorView& scales) {
  return scales.kind == "F16" ? WeightType::f16 : WeightType::bf16;
}

float rounded(float value, WeightType type) {
  return type == WeightType::f16 ? static_cast<float>(Eigen::half(value))
                                 : static_cast<float>(Eigen::bfloat16(value));
}

}  // namespace

Plan scaledFloats(Parts& parts, const std::string& numbers, const std::string& scale) {
  const auto [out, columns] = sides(parts, numbers);
  const TensorView& weight = *parts.find(numbers);
  const bool whole = weight.kind == "I8", e5m2 = weight.kind == "F8_E5M2", pairs = weight.kind == "U8";
  if (parts.error() || (!whole && !e5m2 && !pairs && weight.kind != "F8_E4M3"))
    return parts.fail(fmt::format("tensor {} is {}, expected I8, U8, F8_E4M3 or F8_E5M2",
                                  quotedText(parts.stem() + numbers), weight.kind)),
           Plan();
  if (const TensorView* const zeros = parts.find(".weight_zero_point"))
    if (std::any_of(zeros->data, zeros->data + zeros->bytes, [](std::uint8_t byte) { return byte != 0; }))
      return parts.fail("has zero points of floats or of 8 bits, which aren't read"), Plan();
  const std::uint64_t in = pairs ? 2 * columns : columns;
  Shape shape = parts.find(scale)->shape;
  auto scales = scalesOf(parts, scale, shape);
  const float global = globalScale(parts);
  for (float& each : scales) each *= global;
  while (shape.size() < 2) shape.push_back(1);
  const std::uint64_t high = sideOf(out, shape[0]), wide = sideOf(in, shape[1]);
  if (shape.size() != 2 || dividedUp(out, high) != shape[0] || dividedUp(in, wide) != shape[1])
    return parts.fail(fmt::format("tensor {} is {}, expected a scale for each row or block of [{}, {}]",
                                  quotedText(parts.stem() + scale), shapeText(shape), out, in)),
           Plan();
  std::array<float, 256> values{};
  for (std::size_t bits = 0; bits < values.size(); ++bits)
    values[bits] = whole ? static_cast<float>(static_cast<std::int8_t>(bits))
                         : floatOf(static_cast<std::uint8_t>(bits), e5m2);
  return {out, in, typeOf(*parts.find(scale)),
          [=, data = weight.data, across = shape[1]](std::uint64_t o, std::span<float> row) {
            for (std::uint64_t i = 0; i < row.size(); ++i) {
              const std::uint64_t at = o * row.size() + i;
              // The lower half holds the first number.
              const float value =
                  pairs ? fourBits(data[at / 2] >> (at % 2 == 0 ? 0 : 4) & 15U) : values[data[at]];
              row[i] = value * scales[o / high * across + i / wide];
            }
          }};
}

Plan torchao(Parts& parts) {
  const std::string numbers = "._weight_qdata", scale = "._weight_scale", zero = "._weight_zero_point";
  const auto [out, in] = sides(parts, numbers);
  const TensorView& weight = *parts.find(numbers);
  const Shape shape = parts.find(scale)->shape;
  if (weight.kind.starts_with("F8_")) return scaledFloats(parts, numbers, scale);
  const TensorView* const zeros = parts.find(zero);
  if (zeros) (void)parts.get(zero, "I8", shape);
  if (parts.error()) return {};
  if (weight.kind != "I8" || shape.size() != 2 || shape[0] != out)
    return parts.fail(fmt::format("tensor {} is {} of {}: of torchao's tensors, Float8Tensor, Int8Tensor and "
                                  "IntxUnpackedToInt8Tensor are read",
                                  quotedText(parts.stem() + numbers), shapeText(weight.shape), weight.kind)),
           Plan();
  const std::uint64_t groups = shape[1];
  const auto scales = parts.floats(scale, shape);
  if (groups == 0 || in % groups != 0)
    return parts.fail(fmt::format("has {} groups per row of {} numbers", groups, in)), Plan();
  const std::uint8_t* const shift = zeros ? zeros->data : nullptr;
  const auto whole = [](std::uint8_t byte) { return static_cast<float>(static_cast<std::int8_t>(byte)); };
  return {out, in, typeOf(*parts.find(scale)),
          [=, data = weight.data, in = in](std::uint64_t o, std::span<float> row) {
            for (std::uint64_t i = 0; i < in; ++i) {
              const std::uint64_t g = o * groups + i / (in / groups);
              row[i] = (whole(data[o * in + i]) - (shift ? whole(shift[g]) : 0)) * scales[g];
            }
          }};
}

Plan hqq(Parts& parts) {
  const auto number = [&](const char* end) -> std::uint64_t {
    const TensorView& found = parts.get(end, "I32", {});
    return found.data ? load<std::uint32_t>(found.data) : 0;
  };
  for (const char* end : {".quant_scale", ".quant_zero", ".view_as_float"})
    if (const TensorView* const said = parts.find(end); said && said->bytes > 0 && said->data[0] != 0)
      return parts.fail(fmt::format("has {}, which isn't read", quotedText(std::string(end).substr(1)))),
             Plan();
  const std::uint64_t bits = number(".nbits"), group = number(".group_size"), axis = number(".axis");
  const TensorView& sizes = parts.get(".shape", "I64", {2});
  if (parts.error()) return {};
  const std::uint64_t out = load<std::uint64_t>(sizes.data), in = load<std::uint64_t>(sizes.data + 8);
  const std::uint64_t each = bits == 3 ? 10 : bits > 0 && bits <= 8 ? 8 / bits : 0;  // numbers in a word
  const auto [rows, columns] = sides(parts, ".W_q");
  const auto all = byteExtent(DType::U8, {out, in});
  const bool fits =
      all && each > 0 && (bits == 3 || 8 % bits == 0) && group > 0 && axis <= 1 && *all % group == 0;
  const std::uint64_t groups = fits ? *all / group : 0, lines = axis == 1 ? groups : group;
  if (!fits || columns != (axis == 1 ? group : groups) || rows != dividedUp(lines, each))
    return parts.fail(fmt::format("tensor {} is [{}, {}], expected [{}, {}] in {} bits and groups of {}",
                                  quotedText(parts.stem() + ".W_q"), rows, columns, out, in, bits, group)),
           Plan();
  const std::uint8_t* const data = parts.get(".W_q", bits == 3 ? "I32" : "U8", {rows, columns}).data;
  const Shape shape = axis == 1 ? Shape{groups, 1} : Shape{1, groups};
  const auto scales = parts.floats(".scale", shape), zeros = parts.floats(".zero", shape);
  const WeightType type = typeBy(parts.find(".scale"));
  return {out, in, type, [=, rows = rows, columns = columns](std::uint64_t o, std::span<float> row) {
            for (std::uint64_t i = 0; i < row.size(); ++i) {
              // Parts of the lines lie in the same words, the first ones in the highest bits.
              const std::uint64_t at = o * row.size() + i, line = at / columns, column = at % columns;
              const std::uint64_t word = line % rows * columns + column, part = line / rows;
              const std::uint32_t held = bits == 3 ? load<std::uint32_t>(data + 4 * word) : data[word];
              const std::uint64_t shift = (bits == 3 ? 30 : 8) - bits * (part + 1);
              const auto q = static_cast<float>(held >> shift & ((1U << bits) - 1));
              const std::uint64_t g = axis == 1 ? line : column;
              row[i] = rounded(q - zeros[g], type) * scales[g];
            }
          }};
}

}  // namespace headscope::attention
