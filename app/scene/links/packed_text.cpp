#include "app/scene/links/packed_text.h"

#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <new>
#include <optional>
#include <vector>

#include "attention/formats/base64.h"
#include "attention/formats/quote.h"

namespace headscope::app {

using attention::Error;
using attention::Result;

namespace {

/// A zlib stream that is read to its end.
class Inflater {
 public:
  explicit Inflater(std::string_view stream) {
    if (inflateInit(&stream_) != Z_OK) throw std::bad_alloc();
    // zlib's pointer isn't const, but zlib doesn't write here.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(stream.data()));
    stream_.avail_in = static_cast<uInt>(stream.size());
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  Result<std::string> readAll(std::size_t maxBytes) {
    std::string text;
    std::vector<char> part(std::size_t{1} << 16);
    for (;;) {
      stream_.next_out = reinterpret_cast<Bytef*>(part.data());
      stream_.avail_out = static_cast<uInt>(part.size());
      const int code = inflate(&stream_, Z_NO_FLUSH);
      if (code == Z_MEM_ERROR) throw std::bad_alloc();
      if (code == Z_BUF_ERROR) return Error{"is cut off"};
      if (code != Z_OK && code != Z_STREAM_END) return Error{"is damaged"};
      const std::size_t read = part.size() - stream_.avail_out;
      if (read > maxBytes - text.size())
        return Error{fmt::format("unpacks to more than {} MiB, expected no more", maxBytes >> 20)};
      text.append(part.data(), read);
      if (code != Z_STREAM_END) continue;
      if (stream_.avail_in > 0) return Error{"is damaged: something follows its end"};
      return text;
    }
  }

 private:
  z_stream stream_{};
};

}  // namespace

std::string packText(std::string_view text, int version) {
  uLongf size = compressBound(static_cast<uLong>(text.size()));
  std::string bytes(size + 1, static_cast<char>(version));
  const int code = compress2(reinterpret_cast<Bytef*>(bytes.data() + 1), &size,
                             reinterpret_cast<const Bytef*>(text.data()), static_cast<uLong>(text.size()),
                             Z_BEST_COMPRESSION);
  if (code != Z_OK) throw std::bad_alloc();  // the only possible failure with a buffer of that size
  bytes.resize(size + 1);
  return attention::toBase64({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
                             attention::Base64::url);
}

Result<std::string> unpackText(std::string_view packed, int version, std::size_t maxBytes) {
  if (packed.size() > maxBytes)
    return Error{fmt::format("has {} characters, expected no more than {}", packed.size(), maxBytes)};
  const std::optional<std::string> bytes = attention::fromBase64(packed, attention::Base64::url);
  if (!bytes) {
    const auto other = std::find_if_not(packed.begin(), packed.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '-' || c == '_';
    });
    return Error{fmt::format("has the character {}, expected letters, digits, - and _",
                             attention::quotedText(packed.substr(other - packed.begin(), 1)))};
  }
  if (bytes->empty()) return Error{"is cut off"};
  const int found = static_cast<std::uint8_t>(bytes->front());
  if (found > version)
    return Error{fmt::format("has version {}, this program reads version {}: a newer Headscope opens it",
                             found, version)};
  if (found != version) return Error{fmt::format("has version {}, expected {}", found, version)};
  return Inflater(std::string_view(*bytes).substr(1)).readAll(maxBytes);
}

}  // namespace headscope::app
