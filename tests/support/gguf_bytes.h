#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

namespace headscope::test {

/// Builds the bytes of a GGUF file entry by entry, whether valid or not.
class GgufBytes {
 public:
  template <typename Number>
  GgufBytes& number(Number value) {
    const auto* const first = reinterpret_cast<const std::uint8_t*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof value);
    return *this;
  }
  GgufBytes& text(std::string_view text) {
    number<std::uint64_t>(text.size());
    bytes_.insert(bytes_.end(), text.begin(), text.end());
    return *this;
  }
  GgufBytes& start(std::uint64_t tensors, std::uint64_t metadata, std::uint32_t version = 3) {
    bytes_ = {'G', 'G', 'U', 'F'};
    return number(version).number(tensors).number(metadata);
  }
  /// Each entry has its type by number: 4 is U32, 8 a string.
  GgufBytes& entry(std::string_view key, std::uint32_t value) {
    return text(key).number<std::uint32_t>(4).number(value);
  }
  GgufBytes& entry(std::string_view key, std::string_view value) {
    return text(key).number<std::uint32_t>(8).text(value);
  }
  GgufBytes& tensor(std::string_view name, const std::vector<std::uint64_t>& widestLast, std::uint32_t type,
                    std::uint64_t offset) {
    text(name).number(static_cast<std::uint32_t>(widestLast.size()));
    for (const std::uint64_t side : widestLast) number(side);
    return number(type).number(offset);
  }
  /// Pads with zeros to a multiple of 32, then appends `count` more.
  GgufBytes& data(std::size_t count) {
    bytes_.resize((bytes_.size() + 31) / 32 * 32 + count);
    return *this;
  }
  const std::vector<std::uint8_t>& bytes() const { return bytes_; }

 private:
  std::vector<std::uint8_t> bytes_;
};

}  // namespace headscope::test
