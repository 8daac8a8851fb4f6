#include <fmt/core.h>

#include <cstring>
#include <iterator>

#include "attention/formats/gguf/gguf_header.h"
#include "attention/formats/quote.h"

namespace headscope::attention {
namespace {

using Type = WeightType;
constexpr std::optional<WeightType> kNotRead;

// Numbers, names and sizes from github.com/ggml-org/ggml, docs/gguf.md and include/ggml.h, including types
// that were withdrawn after files had used them.
constexpr GgufType kGgufTypes[] = {
    {0, "F32", Type::f32, {1, 4}},          {1, "F16", Type::f16, {1, 2}},
    {2, "Q4_0", Type::q4_0, {32, 18}},      {3, "Q4_1", Type::q4_1, {32, 20}},
    {6, "Q5_0", Type::q5_0, {32, 22}},      {7, "Q5_1", Type::q5_1, {32, 24}},
    {8, "Q8_0", Type::q8_0, {32, 34}},      {9, "Q8_1", kNotRead, {32, 36}},
    {10, "Q2_K", Type::q2_k, {256, 84}},    {11, "Q3_K", Type::q3_k, {256, 110}},
    {12, "Q4_K", Type::q4_k, {256, 144}},   {13, "Q5_K", Type::q5_k, {256, 176}},
    {14, "Q6_K", Type::q6_k, {256, 210}},   {15, "Q8_K", kNotRead, {256, 292}},
    {16, "IQ2_XXS", kNotRead, {256, 66}},   {17, "IQ2_XS", kNotRead, {256, 74}},
    {18, "IQ3_XXS", kNotRead, {256, 98}},   {19, "IQ1_S", kNotRead, {256, 50}},
    {20, "IQ4_NL", Type::iq4_nl, {32, 18}}, {21, "IQ3_S", kNotRead, {256, 110}},
    {22, "IQ2_S", kNotRead, {256, 82}},     {23, "IQ4_XS", Type::iq4_xs, {256, 136}},
    {24, "I8", kNotRead, {1, 1}},           {25, "I16", kNotRead, {1, 2}},
    {26, "I32", kNotRead, {1, 4}},          {27, "I64", kNotRead, {1, 8}},
    {28, "F64", Type::f64, {1, 8}},         {29, "IQ1_M", kNotRead, {256, 56}},
    {30, "BF16", Type::bf16, {1, 2}},       {31, "Q4_0_4_4", kNotRead, {32, 18}},
    {32, "Q4_0_4_8", kNotRead, {32, 18}},   {33, "Q4_0_8_8", kNotRead, {32, 18}},
    {34, "TQ1_0", kNotRead, {256, 54}},     {35, "TQ2_0", kNotRead, {256, 66}},
    {36, "IQ4_NL_4_4", kNotRead, {32, 18}}, {37, "IQ4_NL_4_8", kNotRead, {32, 18}},
    {38, "IQ4_NL_8_8", kNotRead, {32, 18}}, {39, "MXFP4", Type::mxfp4, {32, 17}},
    {40, "NVFP4", kNotRead, {64, 36}},
};

}  // namespace

const GgufType* ggufType(std::uint32_t id) {
  const auto* const found = std::find_if(std::begin(kGgufTypes), std::end(kGgufTypes),
                                         [&](const GgufType& type) { return type.id == id; });
  return found == std::end(kGgufTypes) ? nullptr : found;
}

namespace {

using Kind = GgufValue::Kind;

template <typename Number>
Number numberAt(const std::uint8_t* from) {
  Number number;
  std::memcpy(&number, from, sizeof number);
  return number;
}

/// Calls `use` with the number at `from`. Returns false if the kind isn't numeric.
template <typename Use>
bool withNumberOf(Kind kind, const std::uint8_t* from, const Use& use) {
  switch (kind) {
    case Kind::u8:
      return use(numberAt<std::uint8_t>(from)), true;
    case Kind::i8:
      return use(numberAt<std::int8_t>(from)), true;
    case Kind::u16:
      return use(numberAt<std::uint16_t>(from)), true;
    case Kind::i16:
      return use(numberAt<std::int16_t>(from)), true;
    case Kind::u32:
      return use(numberAt<std::uint32_t>(from)), true;
    case Kind::i32:
      return use(numberAt<std::int32_t>(from)), true;
    case Kind::u64:
      return use(numberAt<std::uint64_t>(from)), true;
    case Kind::i64:
      return use(numberAt<std::int64_t>(from)), true;
    case Kind::f32:
      return use(numberAt<float>(from)), true;
    case Kind::f64:
      return use(numberAt<double>(from)), true;
    case Kind::flag:
    case Kind::text:
    case Kind::list:
      break;
  }
  return false;
}

bool isWhole(Kind kind) {
  return byteSize(kind) > 0 && kind != Kind::flag && kind != Kind::f32 && kind != Kind::f64;
}

std::optional<std::int64_t> integerOf(Kind kind, const std::uint8_t* from) {
  std::optional<std::int64_t> whole;
  if (!isWhole(kind)) return whole;
  if (kind == Kind::u64 && numberAt<std::uint64_t>(from) > std::numeric_limits<std::int64_t>::max())
    return whole;
  withNumberOf(kind, from, [&](auto number) { whole = static_cast<std::int64_t>(number); });
  return whole;
}

}  // namespace

std::size_t byteSize(GgufValue::Kind kind) {
  constexpr std::size_t kSizes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
  return kSizes[static_cast<int>(kind)];
}

std::optional<std::int64_t> GgufValue::integer() const {
  return kind == Kind::list ? std::nullopt : integerOf(kind, bytes.data());
}

std::optional<double> GgufValue::number() const {
  std::optional<double> value;
  withNumberOf(kind, bytes.data(), [&](auto number) { value = static_cast<double>(number); });
  return value;
}

std::optional<bool> GgufValue::flag() const {
  return kind == Kind::flag ? std::optional(bytes[0] != 0) : std::nullopt;
}

std::optional<std::string_view> GgufValue::text() const {
  if (kind != Kind::text) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::optional<std::vector<std::string_view>> GgufValue::texts() const {
  if (kind != Kind::list || items != Kind::text) return std::nullopt;
  std::vector<std::string_view> all;
  all.reserve(count);
  const std::uint8_t* at = bytes.data();
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto length = numberAt<std::uint64_t>(at);
    all.emplace_back(reinterpret_cast<const char*>(at) + sizeof length, length);
    at += sizeof length + length;
  }
  return all;
}

std::optional<std::vector<std::int64_t>> GgufValue::integers() const {
  if (kind != Kind::list || !isWhole(items)) return std::nullopt;
  std::vector<std::int64_t> all;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto whole = integerOf(items, bytes.data() + i * byteSize(items));
    if (!whole) return std::nullopt;
    all.push_back(*whole);
  }
  return all;
}

std::optional<std::vector<bool>> GgufValue::flags() const {
  if (kind != Kind::list || items != Kind::flag) return std::nullopt;
  std::vector<bool> all;
  for (const std::uint8_t byte : bytes) all.push_back(byte != 0);
  return all;
}

std::optional<std::vector<double>> GgufValue::numbers() const {
  if (kind != Kind::list || byteSize(items) == 0 || items == Kind::flag) return std::nullopt;
  std::vector<double> all;
  for (std::uint64_t i = 0; i < count; ++i)
    withNumberOf(items, bytes.data() + i * byteSize(items),
                 [&](auto number) { all.push_back(static_cast<double>(number)); });
  return all;
}

std::string GgufValue::described() const {
  if (const auto words = text()) return quotedText(*words);
  if (const auto yes = flag()) return *yes ? "true" : "false";
  if (const auto whole = integer()) return std::to_string(*whole);
  if (const auto any = number()) return fmt::format("{}", *any);
  return fmt::format("a list of {} {}", count,
                     items == Kind::text   ? "texts"
                     : items == Kind::flag ? "flags"
                                           : "numbers");
}

}  // namespace headscope::attention
