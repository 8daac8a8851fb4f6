#include "attention/formats/gguf/gguf_header.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "attention/formats/dtype.h"
#include "attention/formats/quote.h"

namespace headscope::attention {
namespace {

using Kind = GgufValue::Kind;
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

/// Returns nullopt for flags, texts and lists.
std::optional<DType> numberType(Kind kind) {
  constexpr std::optional<DType> kTypes[] = {DType::U8,  DType::I8,  DType::U16, DType::I16, DType::U32,
                                             DType::I32, DType::F32, {},         {},         {},
                                             DType::U64, DType::I64, DType::F64};
  return kTypes[static_cast<std::size_t>(kind)];
}

std::optional<std::vector<std::int64_t>> integersIn(std::span<const std::uint8_t> bytes, Kind kind) {
  const auto type = numberType(kind);
  bool fits = type && kind != Kind::f32 && kind != Kind::f64;
  std::vector<std::int64_t> all;
  if (!fits) return std::nullopt;
  const std::size_t size = byteSize(*type);
  all.reserve(bytes.size() / size);
  withReaderOf(*type, [&](auto read) {
    for (std::size_t at = 0; at < bytes.size(); at += size) {
      const auto number = read(bytes.data() + at);
      // Of all types, only 64 bits without a sign hold larger numbers.
      if constexpr (std::is_same_v<decltype(number), const std::uint64_t>)
        fits = fits && number <= std::uint64_t{std::numeric_limits<std::int64_t>::max()};
      all.push_back(static_cast<std::int64_t>(number));
    }
  });
  return fits ? std::optional(std::move(all)) : std::nullopt;
}

std::optional<std::vector<double>> numbersIn(std::span<const std::uint8_t> bytes, Kind kind) {
  const auto type = numberType(kind);
  if (!type) return std::nullopt;
  std::vector<double> all;
  const std::size_t size = byteSize(*type);
  all.reserve(bytes.size() / size);
  withReaderOf(*type, [&](auto read) {
    for (std::size_t at = 0; at < bytes.size(); at += size)
      all.push_back(static_cast<double>(read(bytes.data() + at)));
  });
  return all;
}

}  // namespace

std::size_t byteSize(GgufValue::Kind kind) {
  const auto type = numberType(kind);
  return type ? byteSize(*type) : kind == Kind::flag ? 1 : 0;
}

std::optional<std::int64_t> GgufValue::integer() const {
  const auto one = integersIn(bytes, kind);
  return one ? std::optional(one->front()) : std::nullopt;
}

std::optional<double> GgufValue::number() const {
  const auto one = numbersIn(bytes, kind);
  return one ? std::optional(one->front()) : std::nullopt;
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
    const auto length = load<std::uint64_t>(at);
    all.emplace_back(reinterpret_cast<const char*>(at) + sizeof length, length);
    at += sizeof length + length;
  }
  return all;
}

std::optional<std::vector<std::int64_t>> GgufValue::integers() const {
  return kind == Kind::list ? integersIn(bytes, items) : std::nullopt;
}

std::optional<std::vector<double>> GgufValue::numbers() const {
  return kind == Kind::list ? numbersIn(bytes, items) : std::nullopt;
}

std::optional<std::vector<bool>> GgufValue::flags() const {
  if (kind != Kind::list || items != Kind::flag) return std::nullopt;
  std::vector<bool> all;
  for (const std::uint8_t byte : bytes) all.push_back(byte != 0);
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

namespace {

constexpr std::uint32_t kGgufMagic = 0x46554747;  // "GGUF"
constexpr std::uint64_t kLongestKey = 65535, kMaxDimensions = 4;
/// The fewest bytes of a metadata entry and a tensor: a length, a name of one letter, and what follows.
constexpr std::uint64_t kMinEntry = 8 + 1 + 4 + 1, kMinTensor = 8 + 1 + 4 + 8 + 4 + 8;

/// Parses the header. Throws an Error.
class GgufParser {
 public:
  GgufParser(std::span<const std::uint8_t> file, const std::string& name) : file_(file), name_(name) {}

  GgufHeader parse() {
    readStart();
    for (std::uint64_t i = 0; i < entries_; ++i) readEntry();
    readAlignment();
    for (std::uint64_t i = 0; i < tensors_; ++i) readTensor();
    placeTensors();
    return std::move(header_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { throw Error{name_ + ": " + what}; }

  std::uint64_t left() const { return file_.size() - at_; }

  std::span<const std::uint8_t> take(std::uint64_t count, const std::string& what) {
    if (count > left())
      fail(fmt::format("is truncated: {} takes {} bytes from byte {}, but only {} are left", what, count, at_,
                       left()));
    const auto bytes = file_.subspan(at_, count);
    at_ += count;
    return bytes;
  }

  template <typename Number>
  Number take(const std::string& what) {
    return load<Number>(take(sizeof(Number), what).data());
  }

  std::string_view takeText(const std::string& what) {
    const auto bytes = take(take<std::uint64_t>(what), what);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  /// Reads a name and checks its length.
  std::string takeName(const char* what) {
    const std::uint64_t begin = at_;
    const std::string name(takeText(fmt::format("the name of {}", what)).substr(0, kLongestKey + 1));
    if (name.empty() || name.size() > kLongestKey)
      fail(fmt::format("{} at byte {} has a name of {} bytes, expected 1 to {}", what, begin,
                       name.size() > kLongestKey ? "more" : "0", kLongestKey));
    return name;
  }

  void readStart() {
    if (take<std::uint32_t>("its magic number") != kGgufMagic)
      fail("is not a GGUF file: it doesn't start with GGUF");
    const auto version = take<std::uint32_t>("its version");
    const std::uint32_t swapped =
        version << 24 | (version & 0xff00u) << 8 | (version >> 8 & 0xff00u) | version >> 24;
    if (swapped == 2 || swapped == 3)
      fail("is a GGUF file with its bytes in big-endian order, expected little-endian");
    if (version != 2 && version != 3) fail(fmt::format("has GGUF version {}, expected 2 or 3", version));
    tensors_ = take<std::uint64_t>("the number of tensors");
    entries_ = take<std::uint64_t>("the number of metadata entries");
    if (entries_ > left() / kMinEntry)
      fail(fmt::format("declares {} metadata entries, more than its {} bytes can hold", entries_,
                       file_.size()));
    if (tensors_ > left() / kMinTensor)
      fail(fmt::format("declares {} tensors, more than its {} bytes can hold", tensors_, file_.size()));
  }

  Kind takeKind(const std::string& what) {
    const auto number = take<std::uint32_t>(what);
    if (number > static_cast<std::uint32_t>(Kind::f64))
      fail(fmt::format("{} has kind {}, expected 0 to {}", what, number, static_cast<int>(Kind::f64)));
    return static_cast<Kind>(number);
  }

  std::span<const std::uint8_t> takeScalar(Kind kind, const std::string& what) {
    const auto bytes = take(byteSize(kind), what);
    if (kind == Kind::flag && bytes[0] > 1)
      fail(fmt::format("{} is a flag with the value {}, expected 0 or 1", what, bytes[0]));
    return bytes;
  }

  void takeList(GgufValue& value, const std::string& what) {
    const Kind kind = takeKind("an item of " + what);
    value.count = take<std::uint64_t>("the length of " + what);
    value.items = kind;
    if (kind == Kind::list) fail(what + " is a list of lists, expected one of numbers or texts");
    const std::uint64_t least = kind == Kind::text ? 8 : byteSize(kind);
    if (value.count > left() / least)
      fail(fmt::format("{} declares {} items, more than the {} bytes left can hold", what, value.count,
                       left()));
    const std::uint64_t begin = at_;
    if (kind == Kind::text)
      for (std::uint64_t i = 0; i < value.count; ++i) takeText("a text of " + what);
    else if (kind == Kind::flag)
      for (std::uint64_t i = 0; i < value.count; ++i) takeScalar(kind, "an item of " + what);
    else
      take(value.count * least, what);
    value.bytes = file_.subspan(begin, at_ - begin);
  }

  void readEntry() {
    const std::string key = takeName("a metadata entry");
    const std::string what = quotedText(key);
    const Kind kind = takeKind(what);
    GgufValue value{.kind = kind, .bytes = {}};
    if (kind == Kind::list) {
      takeList(value, what);
    } else if (kind == Kind::text) {
      const std::string_view text = takeText(what);
      value.bytes = {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
    } else {
      value.bytes = takeScalar(kind, what);
    }
    if (!header_.metadata.emplace(key, value).second) fail("has " + what + " twice");
  }

  void readAlignment() {
    constexpr std::int64_t kMaxAligned = 1 << 20;
    const GgufValue* const said = header_.find("general.alignment");
    if (!said) return;
    const auto bytes = said->integer();
    if (!bytes || *bytes < 8 || *bytes > kMaxAligned || *bytes % 8 != 0)
      fail(fmt::format("\"general.alignment\" is {}, expected a multiple of 8 up to {}", said->described(),
                       kMaxAligned));
    alignment_ = static_cast<std::uint64_t>(*bytes);
  }

  /// Reads a tensor. Its `begin` is relative to the data until placeTensors().
  void readTensor() {
    const std::string name = takeName("a tensor"), what = "tensor " + quotedText(name);
    GgufTensor tensor;
    const auto dimensions = take<std::uint32_t>(what);
    if (dimensions < 1 || dimensions > kMaxDimensions)
      fail(fmt::format("{} has {} dimensions, expected 1 to {}", what, dimensions, kMaxDimensions));
    for (std::uint32_t i = 0; i < dimensions; ++i) tensor.shape.push_back(take<std::uint64_t>(what));
    const auto id = take<std::uint32_t>(what);
    tensor.begin = take<std::uint64_t>(what);
    tensor.type = ggufType(id);
    if (!tensor.type) fail(fmt::format("{} has the unknown type {}", what, id));
    setSize(tensor, what);
    std::reverse(tensor.shape.begin(), tensor.shape.end());
    if (!header_.tensors.emplace(name, std::move(tensor)).second) fail("has " + what + " twice");
  }

  void setSize(GgufTensor& tensor, const std::string& what) {
    const std::uint64_t row = tensor.shape[0], block = tensor.type->block.numbers;
    if (row % block != 0)
      fail(fmt::format("{} has rows of {} numbers, expected a multiple of {} in {}", what, row, block,
                       tensor.type->name));
    std::uint64_t bytes = row / block;
    bool fits = row > 0 && !__builtin_mul_overflow(bytes, tensor.type->block.bytes, &bytes);
    for (std::size_t i = 1; i < tensor.shape.size(); ++i)
      fits = fits && tensor.shape[i] > 0 && !__builtin_mul_overflow(bytes, tensor.shape[i], &bytes);
    if (!fits || bytes > file_.size())
      fail(fmt::format("{} is {}, expected a shape that fits the file's {} bytes", what,
                       shapeText(tensor.shape), file_.size()));
    tensor.bytes = bytes;
  }

  /// Computes where the data begins and checks that tensors are aligned, inside the file, and don't overlap.
  void placeTensors() {
    const std::uint64_t data = (at_ + alignment_ - 1) / alignment_ * alignment_;
    std::vector<std::pair<const std::string*, GgufTensor*>> inOrder;
    for (auto& [name, tensor] : header_.tensors) {
      const std::string what = "tensor " + quotedText(name);
      if (tensor.begin % alignment_ != 0)
        fail(fmt::format("{} begins at byte {} of the data, expected a multiple of {}", what, tensor.begin,
                         alignment_));
      if (data > file_.size() || tensor.begin > file_.size() - data ||
          tensor.bytes > file_.size() - data - tensor.begin)
        fail(fmt::format("{} has {} bytes from byte {} of the data on, beyond the end of the file", what,
                         tensor.bytes, tensor.begin));
      tensor.begin += data;
      inOrder.emplace_back(&name, &tensor);
    }
    std::sort(inOrder.begin(), inOrder.end(),
              [](const auto& a, const auto& b) { return a.second->begin < b.second->begin; });
    for (std::size_t i = 1; i < inOrder.size(); ++i)
      if (inOrder[i - 1].second->begin + inOrder[i - 1].second->bytes > inOrder[i].second->begin)
        fail(fmt::format("tensors {} and {} overlap", quotedText(*inOrder[i - 1].first),
                         quotedText(*inOrder[i].first)));
  }

  std::span<const std::uint8_t> file_;
  const std::string& name_;
  std::uint64_t at_ = 0, tensors_ = 0, entries_ = 0, alignment_ = 32;
  GgufHeader header_;
};

}  // namespace

const GgufValue* GgufHeader::find(std::string_view key) const {
  const auto found = metadata.find(key);
  return found == metadata.end() ? nullptr : &found->second;
}

bool hasGgufMagic(std::span<const std::uint8_t> file) {
  constexpr std::string_view kStart = "GGUF";
  return file.size() >= kStart.size() && std::equal(kStart.begin(), kStart.end(), file.begin());
}

Result<GgufHeader> parseGgufHeader(std::span<const std::uint8_t> file, const std::string& name) {
  try {
    return GgufParser(file, name).parse();
  } catch (const Error& error) {
    return error;
  }
}

}  // namespace headscope::attention
