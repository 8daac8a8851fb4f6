#include <zlib.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "render/image.h"

// Implements Portable Network Graphics, sections 5, 10 and 11. libpng compresses on one thread, which takes
// longer than drawing the picture.

namespace headscope::render {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// Rows compressed independently. Strips don't depend on the machine, so neither do the bytes.
struct Strip {
  int from = 0, to = 0;  ///< rows
  Bytes deflated = {};   ///< part of one DEFLATE stream
  uLong adler = 1;       ///< Adler-32 checksum of the uncompressed bytes
  std::size_t size = 0;
};

class Deflater {
 public:
  explicit Deflater(Bytes& out) : out_(out) {
    // Drawn pictures need no filters and barely shrink at higher levels.
    constexpr int kLevel = 3;
    if (deflateInit2(&stream_, kLevel, Z_DEFLATED, -MAX_WBITS, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  ~Deflater() { deflateEnd(&stream_); }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;

  void add(Bytes& row, int flush) {
    stream_.next_in = row.data();
    stream_.avail_in = static_cast<uInt>(row.size());
    do {
      std::array<std::uint8_t, 16384> part;
      stream_.next_out = part.data();
      stream_.avail_out = part.size();
      deflate(&stream_, flush);
      out_.insert(out_.end(), part.data(), stream_.next_out);
    } while (stream_.avail_out == 0);
  }

 private:
  z_stream stream_{};
  Bytes& out_;
};

void compress(const Image& image, bool opaque, Strip& strip) {
  const auto width = static_cast<std::size_t>(image.width);
  const std::size_t channels = opaque ? 3 : 4;
  Bytes row(1 + channels * width);  // the first byte selects no filter
  Deflater deflater(strip.deflated);
  for (int y = strip.from; y < strip.to; ++y) {
    const std::uint8_t* from = image.rgba.data() + 4 * width * static_cast<std::size_t>(y);
    for (std::size_t x = 0; x < width; ++x)
      std::copy_n(from + 4 * x, channels, row.data() + 1 + channels * x);
    strip.adler = adler32(strip.adler, row.data(), static_cast<uInt>(row.size()));
    strip.size += row.size();
    deflater.add(row, y + 1 < strip.to ? Z_NO_FLUSH : strip.to < image.height ? Z_SYNC_FLUSH : Z_FINISH);
  }
}

std::vector<Strip> compressed(const Image& image, bool opaque) {
  constexpr int kPixels = 1 << 18;
  const int rows = std::max(1, kPixels / image.width);
  std::vector<Strip> strips;
  for (int y = 0; y < image.height; y += rows) strips.push_back({y, std::min(y + rows, image.height)});
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < strips.size(); i = next++) compress(image, opaque, strips[i]);
  };
  std::vector<std::future<void>> others;
#ifndef __EMSCRIPTEN__  // a page may have no spare thread
  const std::size_t threads = std::min<std::size_t>(std::thread::hardware_concurrency(), strips.size());
  while (others.size() + 1 < threads) others.push_back(std::async(std::launch::async, work));
#endif
  work();
  for (std::future<void>& other : others) other.get();
  return strips;
}

void append(Bytes& to, std::uint32_t word) {
  for (const int shift : {24, 16, 8, 0}) to.push_back(static_cast<std::uint8_t>(word >> shift));
}

void appendChunk(Bytes& to, std::string_view name, const Bytes& data) {
  append(to, static_cast<std::uint32_t>(data.size()));
  const auto from = to.size();
  to.insert(to.end(), name.begin(), name.end());
  to.insert(to.end(), data.begin(), data.end());
  append(to, static_cast<std::uint32_t>(crc32(0, to.data() + from, static_cast<uInt>(to.size() - from))));
}

Bytes headerOf(const Image& image, bool opaque) {
  Bytes header;
  append(header, static_cast<std::uint32_t>(image.width));
  append(header, static_cast<std::uint32_t>(image.height));
  constexpr std::uint8_t kBits = 8, kRgb = 2, kRgba = 6;
  for (const std::uint8_t each :
       {kBits, opaque ? kRgb : kRgba, std::uint8_t{0}, std::uint8_t{0}, std::uint8_t{0}})
    header.push_back(each);
  return header;
}

/// Returns one zlib stream: header, DEFLATE data, and the checksum of the uncompressed bytes.
Bytes streamOf(const std::vector<Strip>& strips) {
  Bytes stream{0x78, 0x5e};
  uLong adler = 1;
  for (const Strip& strip : strips) {
    stream.insert(stream.end(), strip.deflated.begin(), strip.deflated.end());
    adler = adler32_combine(adler, strip.adler, static_cast<z_off_t>(strip.size));
  }
  append(stream, static_cast<std::uint32_t>(adler));
  return stream;
}

}  // namespace

std::vector<std::uint8_t> encodePng(const Image& image) {
  if (image.width <= 0 || image.height <= 0 ||
      image.rgba.size() != std::size_t{4} * static_cast<std::size_t>(image.width) * image.height) {
    throw std::invalid_argument("image of " + std::to_string(image.width) + " × " +
                                std::to_string(image.height) + " pixels has " +
                                std::to_string(image.rgba.size()) + " bytes");
  }
  bool opaque = true;
  for (std::size_t i = 3; i < image.rgba.size(); i += 4) opaque = opaque && image.rgba[i] == 255;
  Bytes bytes{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
  appendChunk(bytes, "IHDR", headerOf(image, opaque));
  appendChunk(bytes, "IDAT", streamOf(compressed(image, opaque)));
  appendChunk(bytes, "IEND", {});
  return bytes;
}

}  // namespace headscope::render
