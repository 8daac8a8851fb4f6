#include "attention/formats/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "attention/formats/quote.h"

namespace headscope::attention {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kHeaderAlignment = 64;

struct ReadHeader {
  std::optional<std::string> descr;
  std::optional<bool> fortranOrder;
  std::optional<Shape> shape;
};

/// Parses the header's Python dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }.
class DictReader {
 public:
  explicit DictReader(std::string_view text) : text_(text) {}

  Result<ReadHeader> read() {
    ReadHeader header;
    if (!take("{")) return expected("a dictionary");
    while (!take("}")) {
      const auto key = readText();
      if (!key || !take(":")) return expected("a quoted key and a colon");
      if (const auto status = readValue(*key, header); !status) return status.error();
      if (take(",")) continue;
      if (!take("}")) return expected("a comma or the end of the dictionary");
      break;
    }
    skipSpaces();
    if (at_ != text_.size()) return expected("nothing after the dictionary");
    return header;
  }

 private:
  Status readValue(const std::string& key, ReadHeader& header) {
    if (key == "descr" && !header.descr) {
      header.descr = readText();
      if (!header.descr) return expected("a simple type such as '<f4'");
    } else if (key == "fortran_order" && !header.fortranOrder) {
      if (take("True")) {
        header.fortranOrder = true;
      } else if (take("False")) {
        header.fortranOrder = false;
      } else {
        return expected("True or False");
      }
    } else if (key == "shape" && !header.shape) {
      header.shape = readShape();
      if (!header.shape) return expected("a tuple of whole numbers");
    } else {
      return Error{"its header has " + quotedText(key) +
                   ", expected descr, fortran_order and shape, each once"};
    }
    return success();
  }

  Error expected(const std::string& what) const {
    return Error{"its header has " + quotedText(text_.substr(at_)) + ", expected " + what};
  }

  void skipSpaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }

  bool take(std::string_view word) {
    skipSpaces();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::optional<std::string> readText() {
    skipSpaces();
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return std::nullopt;
    const auto end = text_.find(text_[at_], at_ + 1);
    if (end == std::string_view::npos) return std::nullopt;
    const auto begin = std::exchange(at_, end + 1) + 1;
    return std::string(text_.substr(begin, end - begin));
  }

  std::optional<Shape> readShape() {
    Shape shape;
    if (!take("(")) return std::nullopt;
    while (!take(")")) {
      skipSpaces();
      std::uint64_t size = 0;
      const auto* begin = text_.data() + at_;
      const auto [end, code] = std::from_chars(begin, text_.data() + text_.size(), size);
      if (code != std::errc()) return std::nullopt;
      at_ += static_cast<std::size_t>(end - begin);
      shape.push_back(size);
      if (take(",")) continue;
      if (!take(")")) return std::nullopt;
      break;
    }
    return shape;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::string tupleText(const Shape& shape) {
  return fmt::format("({}{})", fmt::join(shape, ", "), shape.size() == 1 ? "," : "");
}

/// Returns the header's text.
Result<std::string_view> findHeader(std::span<const std::uint8_t> start, std::uint64_t fileSize) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  if (text.substr(0, kMagic.size()) != kMagic) return Error{"does not begin as a .npy file does"};
  if (start.size() < kMagic.size() + 2) return Error{"ends before its version number"};
  const int major = start[6], minor = start[7];
  if (major < 1 || major > 3 || minor != 0) {
    return Error{fmt::format("has version {}.{} of the .npy format, expected 1.0, 2.0 or 3.0", major, minor)};
  }
  const std::size_t prefix = kMagic.size() + 2 + (major == 1 ? 2 : 4);
  if (start.size() < prefix) return Error{"ends before its header"};
  const std::size_t length = major == 1 ? load<std::uint16_t>(&start[8]) : load<std::uint32_t>(&start[8]);
  if (length > fileSize - prefix) {
    return Error{fmt::format("declares a header of {} bytes, but the file has {}", length, fileSize)};
  }
  if (length > start.size() - prefix) {
    return Error{
        fmt::format("declares a header of {} bytes, expected at most {}", length, start.size() - prefix)};
  }
  return text.substr(prefix, length);
}

}  // namespace

Result<NpyHeader> parseNpyHeader(std::span<const std::uint8_t> start, std::uint64_t fileSize) {
  const auto text = findHeader(start, fileSize);
  if (!text) return text.error();
  auto header = DictReader(*text).read();
  if (!header) return header.error();
  if (!header->descr || !header->fortranOrder || !header->shape) {
    return Error{"its header lacks descr, fortran_order or shape"};
  }
  const auto begin =
      static_cast<std::uint64_t>(text->data() + text->size() - reinterpret_cast<const char*>(start.data()));
  return NpyHeader{std::move(*header->descr), *header->fortranOrder, std::move(*header->shape), begin,
                   fileSize - begin};
}

Result<DType> npyType(const NpyHeader& header, std::span<const DType> types, std::string_view expected) {
  const auto type = dtypeFromNumpy(header.descr);
  if (type && std::find(types.begin(), types.end(), *type) != types.end()) return *type;
  return Error{fmt::format("has values of type {}, expected {}", quotedText(header.descr), expected)};
}

Status checkNpyExtent(const NpyHeader& header, std::size_t valueSize) {
  const auto& shape = header.shape;
  std::uint64_t extent = valueSize;
  for (const auto size : shape) {
    if (size == 0) return Error{"has shape " + tupleText(shape) + ", expected at least one value"};
    if (extent > std::numeric_limits<std::uint64_t>::max() / size) {
      return Error{"has shape " + tupleText(shape) + ", more than can be addressed"};
    }
    extent *= size;
  }
  if (extent != header.dataSize) {
    return Error{fmt::format("holds {} bytes of data, expected {} for {} {}", header.dataSize, extent,
                             header.descr, tupleText(shape))};
  }
  return success();
}

std::string npyPreamble(const std::string& descr, const Shape& shape) {
  std::string header =
      "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + tupleText(shape) + ", }";
  const std::size_t prefix = kMagic.size() + 4;
  // Pad with spaces and a line break up to the alignment of the data.
  const std::size_t total =
      (prefix + header.size() + 1 + kHeaderAlignment - 1) / kHeaderAlignment * kHeaderAlignment;
  header.resize(total - prefix - 1, ' ');
  header += '\n';
  const std::string length{static_cast<char>(header.size() & 0xFF), static_cast<char>(header.size() >> 8)};
  return std::string(kMagic) + '\1' + '\0' + length + header;
}

}  // namespace headscope::attention
