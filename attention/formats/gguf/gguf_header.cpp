#include "attention/formats/gguf/gguf_header.h"

#include <fmt/core.h>

#include <bit>
#include <cstring>

#include "attention/formats/quote.h"
#include "attention/formats/safetensors.h"

namespace headscope::attention {
namespace {

using Kind = GgufValue::Kind;

constexpr std::uint32_t kGgufMagic = 0x46554747;  // "GGUF"
constexpr std::uint64_t kLongestKey = 65535, kMaxDimensions = 4;
/// The fewest bytes of a metadata entry and a tensor: a length, a name of one letter, and what follows.
constexpr std::uint64_t kMinEntry = 8 + 1 + 4 + 1, kMinTensor = 8 + 1 + 4 + 8 + 4 + 8;

/// Parses the header. Keeps the first error; all later reads return 0.
class GgufParser {
 public:
  GgufParser(std::span<const std::uint8_t> file, const std::string& name) : file_(file), name_(name) {}

  Result<GgufHeader> parse() {
    readStart();
    for (std::uint64_t i = 0; i < entries_ && !error_; ++i) readEntry();
    readAlignment();
    for (std::uint64_t i = 0; i < tensors_ && !error_; ++i) readTensor();
    placeTensors();
    if (error_) return *error_;
    return std::move(header_);
  }

 private:
  void fail(const std::string& what) {
    if (!error_) error_ = Error{name_ + ": " + what};
  }

  std::uint64_t left() const { return file_.size() - at_; }

  /// Returns the next `count` bytes; empty, with an error, if the file ends before.
  std::span<const std::uint8_t> take(std::uint64_t count, const std::string& what) {
    if (error_) return {};
    if (count > left()) {
      fail(fmt::format("is truncated: {} takes {} bytes from byte {}, but only {} are left", what, count, at_,
                       left()));
      return {};
    }
    const auto bytes = file_.subspan(at_, count);
    at_ += count;
    return bytes;
  }

  template <typename Number>
  Number take(const std::string& what) {
    Number number{};
    const auto bytes = take(sizeof number, what);
    if (!bytes.empty()) std::memcpy(&number, bytes.data(), sizeof number);
    return number;
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
      return fail("is not a GGUF file: it doesn't start with GGUF");
    const auto version = take<std::uint32_t>("its version");
    const std::uint32_t swapped =
        version << 24 | (version & 0xff00u) << 8 | (version >> 8 & 0xff00u) | version >> 24;
    if (swapped == 2 || swapped == 3)
      return fail("is a GGUF file with its bytes in big-endian order, expected little-endian");
    if (version != 2 && version != 3)
      return fail(fmt::format("has GGUF version {}, expected 2 or 3", version));
    tensors_ = take<std::uint64_t>("the number of tensors");
    entries_ = take<std::uint64_t>("the number of metadata entries");
    if (entries_ > left() / kMinEntry)
      fail(fmt::format("declares {} metadata entries, more than its {} bytes can hold", entries_,
                       file_.size()));
    if (tensors_ > left() / kMinTensor)
      fail(fmt::format("declares {} tensors, more than its {} bytes can hold", tensors_, file_.size()));
  }

  std::optional<Kind> takeKind(const std::string& what) {
    const auto number = take<std::uint32_t>(what);
    if (!error_ && number > static_cast<std::uint32_t>(Kind::f64))
      fail(fmt::format("{} has kind {}, expected 0 to {}", what, number, static_cast<int>(Kind::f64)));
    if (error_) return std::nullopt;
    return static_cast<Kind>(number);
  }

  std::span<const std::uint8_t> takeScalar(Kind kind, const std::string& what) {
    const auto bytes = take(byteSize(kind), what);
    if (kind == Kind::flag && !bytes.empty() && bytes[0] > 1)
      fail(fmt::format("{} is a flag with the value {}, expected 0 or 1", what, bytes[0]));
    return bytes;
  }

  void takeList(GgufValue& value, const std::string& what) {
    const auto kind = takeKind("an item of " + what);
    value.count = take<std::uint64_t>("the length of " + what);
    if (error_) return;
    value.items = *kind;
    if (*kind == Kind::list) return fail(what + " is a list of lists, expected one of numbers or texts");
    const std::uint64_t least = *kind == Kind::text ? 8 : byteSize(*kind);
    if (value.count > left() / least)
      return fail(fmt::format("{} declares {} items, more than the {} bytes left can hold", what, value.count,
                              left()));
    const std::uint64_t begin = at_;
    if (*kind == Kind::text)
      for (std::uint64_t i = 0; i < value.count && !error_; ++i) takeText("a text of " + what);
    else if (*kind == Kind::flag)
      for (std::uint64_t i = 0; i < value.count && !error_; ++i) takeScalar(*kind, "an item of " + what);
    else
      take(value.count * least, what);
    if (!error_) value.bytes = file_.subspan(begin, at_ - begin);
  }

  void readEntry() {
    const std::string key = takeName("a metadata entry");
    const std::string what = quotedText(key);
    const auto kind = takeKind(what);
    if (error_) return;
    GgufValue value{.kind = *kind, .bytes = {}};
    if (*kind == Kind::list) {
      takeList(value, what);
    } else if (*kind == Kind::text) {
      const std::string_view text = takeText(what);
      value.bytes = {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
    } else {
      value.bytes = takeScalar(*kind, what);
    }
    if (!error_ && !header_.metadata.emplace(key, value).second) fail("has " + what + " twice");
  }

  void readAlignment() {
    constexpr std::int64_t kMaxAligned = 1 << 20;
    const GgufValue* const said = header_.find("general.alignment");
    if (!said || error_) return;
    const auto bytes = said->integer();
    if (!bytes || *bytes < 8 || *bytes > kMaxAligned || *bytes % 8 != 0)
      return fail(fmt::format("\"general.alignment\" is {}, expected a multiple of 8 up to {}",
                              said->described(), kMaxAligned));
    alignment_ = static_cast<std::uint64_t>(*bytes);
  }

  /// Reads a tensor. Its `begin` is relative to the data until placeTensors().
  void readTensor() {
    const std::string name = takeName("a tensor"), what = "tensor " + quotedText(name);
    GgufTensor tensor;
    const auto dimensions = take<std::uint32_t>(what);
    if (error_) return;
    if (dimensions < 1 || dimensions > kMaxDimensions)
      return fail(fmt::format("{} has {} dimensions, expected 1 to {}", what, dimensions, kMaxDimensions));
    for (std::uint32_t i = 0; i < dimensions; ++i) tensor.shape.push_back(take<std::uint64_t>(what));
    const auto id = take<std::uint32_t>(what);
    tensor.begin = take<std::uint64_t>(what);
    tensor.type = ggufType(id);
    if (error_) return;
    if (!tensor.type) return fail(fmt::format("{} has the unknown type {}", what, id));
    setSize(tensor, what);
    std::reverse(tensor.shape.begin(), tensor.shape.end());
    if (!error_ && !header_.tensors.emplace(name, std::move(tensor)).second) fail("has " + what + " twice");
  }

  void setSize(GgufTensor& tensor, const std::string& what) {
    const std::uint64_t row = tensor.shape[0], block = tensor.type->block.numbers;
    if (row % block != 0)
      return fail(fmt::format("{} has rows of {} numbers, expected a multiple of {} in {}", what, row, block,
                              tensor.type->name));
    std::uint64_t bytes = row / block;
    bool fits = row > 0 && !__builtin_mul_overflow(bytes, tensor.type->block.bytes, &bytes);
    for (std::size_t i = 1; i < tensor.shape.size(); ++i)
      fits = fits && tensor.shape[i] > 0 && !__builtin_mul_overflow(bytes, tensor.shape[i], &bytes);
    if (!fits || bytes > file_.size())
      return fail(fmt::format("{} is {}, expected a shape that fits the file's {} bytes", what,
                              shapeText(tensor.shape), file_.size()));
    tensor.bytes = bytes;
  }

  /// Computes where the data begins and checks that tensors are aligned, inside the file, and don't overlap.
  void placeTensors() {
    if (error_) return;
    const std::uint64_t data = (at_ + alignment_ - 1) / alignment_ * alignment_;
    std::vector<std::pair<const std::string*, GgufTensor*>> inOrder;
    for (auto& [name, tensor] : header_.tensors) {
      const std::string what = "tensor " + quotedText(name);
      if (tensor.begin % alignment_ != 0)
        return fail(fmt::format("{} begins at byte {} of the data, expected a multiple of {}", what,
                                tensor.begin, alignment_));
      if (data > file_.size() || tensor.begin > file_.size() - data ||
          tensor.bytes > file_.size() - data - tensor.begin)
        return fail(fmt::format("{} has {} bytes from byte {} of the data on, beyond the end of the file",
                                what, tensor.bytes, tensor.begin));
      tensor.begin += data;
      inOrder.emplace_back(&name, &tensor);
    }
    std::sort(inOrder.begin(), inOrder.end(),
              [](const auto& a, const auto& b) { return a.second->begin < b.second->begin; });
    for (std::size_t i = 1; i < inOrder.size(); ++i)
      if (inOrder[i - 1].second->begin + inOrder[i - 1].second->bytes > inOrder[i].second->begin)
        return fail(fmt::format("tensors {} and {} overlap", quotedText(*inOrder[i - 1].first),
                                quotedText(*inOrder[i].first)));
  }

  std::span<const std::uint8_t> file_;
  const std::string& name_;
  std::uint64_t at_ = 0, tensors_ = 0, entries_ = 0, alignment_ = 32;
  GgufHeader header_;
  std::optional<Error> error_;
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
  return GgufParser(file, name).parse();
}

}  // namespace headscope::attention
