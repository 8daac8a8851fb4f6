#include "attention/formats/gguf/gguf_value.h"

#include <fmt/core.h>

#include <cstring>
#include <limits>

#include "attention/formats/quote.h"

namespace headscope::attention {
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
