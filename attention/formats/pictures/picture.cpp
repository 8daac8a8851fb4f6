#include "attention/formats/pictures/picture.h"

#include <fmt/core.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdio>  // jpeglib.h needs it
#include <cstring>
#include <optional>

// After <cstdio>.
#include <jerror.h>
#include <jpeglib.h>

namespace headscope::attention {
namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::array<std::uint8_t, 8> kPngMagic{0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'};
constexpr std::array<std::uint8_t, 3> kJpegMagic{0xff, 0xd8, 0xff};

bool beginsWith(Bytes bytes, Bytes magic) {
  return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

/// What a decoder's functions share. The libraries report errors by functions that don't return: these note
/// the fault and jump back. A jump runs no destructors, so what it leaves may own nothing; all that owns
/// memory is in here.
struct Decoding {
  Bytes bytes;
  const std::stop_token& stop;
  std::size_t read = 0;  ///< bytes
  int orientation = 1;
  RgbImage picture = {};
  std::vector<std::uint8_t> row = {};  ///< before it becomes RGB
  std::string fault = {};              ///< of the file, as the end of a sentence
  std::jmp_buf back = {};

  /// Notes the fault. Call it before fail(): the jump frees nothing that the text owns.
  template <typename... Args>
  void note(fmt::format_string<Args...> text, Args&&... args) {
    fault = fmt::format(text, std::forward<Args>(args)...);
  }
  [[noreturn]] void fail() { std::longjmp(back, 1); }
  [[noreturn]] void fail(const char* why) {
    fault = why;
    fail();
  }
  void checkStop() {
    if (stop.stop_requested()) fail("was not read to the end: stopped");
  }
  /// Makes room for the picture; fails if it has too many pixels.
  void begin(std::uint32_t width, std::uint32_t height) {
    if (width < 1 || height < 1 || std::uint64_t{width} * height > kMaxImagePixels) {
      note("has {} × {} pixels, expected at most {}", width, height, kMaxImagePixels);
      fail();
    }
    picture = {width, height, {}};
    picture.rgb.resize(3 * static_cast<std::size_t>(width) * height);
  }
  std::uint8_t* rgbRow(std::size_t y) {
    return picture.rgb.data() + 3 * static_cast<std::size_t>(picture.width) * y;
  }
};

/// Runs the function; returns whether it came to its end.
template <typename Decode>
bool ran(Decoding& decoding, const Decode& decode) {
  if (setjmp(decoding.back) != 0) return false;
  decode();
  return true;
}

/// A PNG being read with libpng.
class PngReader {
 public:
  explicit PngReader(Decoding& decoding)
      : decoding_(decoding),
        png_(png_create_read_struct(PNG_LIBPNG_VER_STRING, &decoding, onError, [](png_structp, auto) {})),
        info_(png_ ? png_create_info_struct(png_) : nullptr) {
    if (!info_) throw std::bad_alloc();
  }
  ~PngReader() { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  void read() {
    png_set_read_fn(png_, &decoding_, onRead);
    png_set_crc_action(png_, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // the number of pixels is limited below
    png_read_info(png_, info_);
    decoding_.begin(png_get_image_width(png_, info_), png_get_image_height(png_, info_));
    const bool indexed = png_get_color_type(png_, info_) == PNG_COLOR_TYPE_PALETTE;
    if (indexed) {
      png_set_packing(png_);
    } else {
      png_set_strip_16(png_);
      png_set_strip_alpha(png_);
      png_set_expand_gray_1_2_4_to_8(png_);
      png_set_gray_to_rgb(png_);
    }
    readRows(indexed);
    png_read_end(png_, info_);
    png_uint_32 size = 0;
    png_bytep exif = nullptr;
    if (png_get_eXIf_1(png_, info_, &size, &exif) != 0) decoding_.orientation = exifOrientation({exif, size});
  }

 private:
  /// Reads indices into the start of each row, and then makes them colours.
  void readRows(bool indexed) {
    const int passes = png_set_interlace_handling(png_);
    png_read_update_info(png_, info_);
    const auto height = static_cast<std::size_t>(decoding_.picture.height);
    for (int pass = 0; pass < passes; ++pass)
      for (std::size_t y = 0; y < height; ++y) {
        decoding_.checkStop();
        png_read_row(png_, decoding_.rgbRow(y), nullptr);
      }
    for (std::size_t y = 0; indexed && y < height; ++y) colourRow(decoding_.rgbRow(y));
  }

  void colourRow(std::uint8_t* row) {
    png_colorp palette = nullptr;
    int colours = 0;
    png_get_PLTE(png_, info_, &palette, &colours);
    for (auto x = static_cast<std::size_t>(decoding_.picture.width); x-- > 0;) {  // a colour takes more room
      const int index = row[x];
      if (index >= colours) {
        decoding_.note("is a damaged PNG: a pixel has colour {} of a palette of {}", index, colours);
        decoding_.fail();
      }
      const png_color& colour = palette[index];
      row[3 * x] = colour.red;
      row[3 * x + 1] = colour.green;
      row[3 * x + 2] = colour.blue;
    }
  }

  static void onRead(png_structp png, png_bytep to, std::size_t size) {
    Decoding& decoding = *static_cast<Decoding*>(png_get_io_ptr(png));
    if (size > decoding.bytes.size() - decoding.read) decoding.fail("is truncated: it ends within a chunk");
    std::memcpy(to, decoding.bytes.data() + decoding.read, size);
    decoding.read += size;
  }
  static void onError(png_structp png, png_const_charp why) {
    Decoding& decoding = *static_cast<Decoding*>(png_get_error_ptr(png));
    decoding.note("is a damaged PNG: {}", why);
    decoding.fail();
  }

  Decoding& decoding_;
  png_structp png_;
  png_infop info_;
};

/// A JPEG being read with libjpeg.
class JpegReader {
 public:
  explicit JpegReader(Decoding& decoding) {
    jpeg_.err = jpeg_std_error(&errors_);
    jpeg_.client_data = &decoding;
    errors_.error_exit = onError;
    errors_.emit_message = onMessage;
    progress_.progress_monitor = onProgress;
    if (!ran(decoding, [this] { jpeg_create_decompress(&jpeg_); })) throw std::bad_alloc();
    jpeg_.progress = &progress_;
  }
  ~JpegReader() { jpeg_destroy_decompress(&jpeg_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  void read() {
    Decoding& decoding = decodingOf(reinterpret_cast<j_common_ptr>(&jpeg_));
    constexpr int kExifMarker = JPEG_APP0 + 1;
    jpeg_mem_src(&jpeg_, decoding.bytes.data(), decoding.bytes.size());
    jpeg_save_markers(&jpeg_, kExifMarker, 0xffff);
    jpeg_read_header(&jpeg_, TRUE);
    decoding.begin(jpeg_.image_width, jpeg_.image_height);
    readOrientation(decoding);
    const bool inks = jpeg_.num_components == 4;
    jpeg_.out_color_space = inks ? JCS_CMYK : JCS_RGB;
    jpeg_start_decompress(&jpeg_);
    if (inks) decoding.row.resize(4 * std::size_t{jpeg_.output_width});
    while (jpeg_.output_scanline < jpeg_.output_height) {
      std::uint8_t* const rgb = decoding.rgbRow(jpeg_.output_scanline);
      JSAMPROW row = inks ? decoding.row.data() : rgb;
      jpeg_read_scanlines(&jpeg_, &row, 1);
      if (inks) mixInks(decoding.row, rgb);
    }
    jpeg_finish_decompress(&jpeg_);
  }

 private:
  static Decoding& decodingOf(j_common_ptr jpeg) { return *static_cast<Decoding*>(jpeg->client_data); }

  void readOrientation(Decoding& decoding) {
    constexpr std::string_view kExif("Exif\0\0", 6);
    for (jpeg_saved_marker_ptr marker = jpeg_.marker_list; marker; marker = marker->next) {
      const Bytes data(marker->data, marker->data_length);
      if (data.size() < kExif.size() || std::memcmp(data.data(), kExif.data(), kExif.size()) != 0) continue;
      decoding.orientation = exifOrientation(data.subspan(kExif.size()));
      return;
    }
  }

  /// Converts a row of CMYK, which files hold inverted, as Photoshop writes it.
  static void mixInks(const std::vector<std::uint8_t>& row, std::uint8_t* rgb) {
    for (std::size_t at = 0; at < row.size(); at += 4)
      for (std::size_t c = 0; c < 3; ++c) *rgb++ = static_cast<std::uint8_t>(row[at + c] * row[at + 3] / 255);
  }

  /// The library fills in what is missing and goes on after these.
  static bool isDamage(int code) {
    constexpr int kDamage[] = {JWRN_HIT_MARKER, JWRN_HUFF_BAD_CODE, JWRN_MUST_RESYNC, JWRN_NOT_SEQUENTIAL};
    return std::ranges::find(kDamage, code) != std::end(kDamage);
  }
  static void onMessage(j_common_ptr jpeg, int level) {
    if (level >= 0) return;
    if (jpeg->err->msg_code == JWRN_JPEG_EOF)
      decodingOf(jpeg).fail("is truncated: it has no end-of-image marker");
    if (isDamage(jpeg->err->msg_code)) onError(jpeg);
  }
  static void onError(j_common_ptr jpeg) {
    char why[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, why);
    decodingOf(jpeg).note("is a damaged JPEG: {}", +why);
    decodingOf(jpeg).fail();
  }
  /// Each scan of a progressive file takes time for all pixels, and an empty one takes few bytes.
  static void onProgress(j_common_ptr jpeg) {
    constexpr int kMaxScans = 100;
    Decoding& decoding = decodingOf(jpeg);
    decoding.checkStop();
    if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number <= kMaxScans) return;
    decoding.note("has more than {0} scans, expected at most {0}", kMaxScans);
    decoding.fail();
  }

  jpeg_decompress_struct jpeg_{};
  jpeg_error_mgr errors_{};
  jpeg_progress_mgr progress_{};
};

/// Reads integers of a TIFF structure in its byte order; returns nullopt beyond its end.
struct TiffReader {
  std::span<const std::uint8_t> bytes;
  bool littleEndian;

  std::optional<std::uint32_t> number(std::size_t at, std::size_t size) const {
    if (at > bytes.size() || bytes.size() - at < size) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | bytes[at + (littleEndian ? size - 1 - i : i)];
    return value;
  }
};

/// Rotates or mirrors a picture according to its EXIF orientation.
RgbImage turned(const RgbImage& from, int orientation) {
  if (orientation < 2) return from;
  const bool swapped = orientation >= 5;
  RgbImage to{swapped ? from.height : from.width, swapped ? from.width : from.height, {}};
  to.rgb.resize(from.rgb.size());
  const bool fromRight = orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  const bool fromBottom = orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  for (Index y = 0; y < to.height; ++y)
    for (Index x = 0; x < to.width; ++x) {
      Index column = swapped ? y : x, row = swapped ? x : y;
      if (fromRight) column = from.width - 1 - column;
      if (fromBottom) row = from.height - 1 - row;
      std::copy_n(from.rgb.begin() + 3 * (row * from.width + column), 3,
                  to.rgb.begin() + 3 * (y * to.width + x));
    }
  return to;
}

}  // namespace

int exifOrientation(std::span<const std::uint8_t> tiff) {
  constexpr std::uint32_t kOrientation = 0x0112;
  if (tiff.size() < 8) return 1;
  const TiffReader reader{tiff, tiff[0] == 'I'};
  const std::size_t directory = reader.number(4, 4).value_or(0);
  const std::uint32_t entries = reader.number(directory, 2).value_or(0);
  for (std::uint32_t i = 0; i < entries; ++i) {
    const std::size_t at = directory + 2 + 12 * std::size_t{i};
    const auto tag = reader.number(at, 2);
    if (!tag) return 1;
    if (*tag != kOrientation) continue;
    const std::uint32_t value = reader.number(at + 8, 2).value_or(1);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

bool isPicture(Bytes bytes) {
  return beginsWith(bytes, kPngMagic) || beginsWith(bytes, kJpegMagic);
}

Result<RgbImage> decodeImage(Bytes bytes, const std::string& name, const std::stop_token& stop) {
  if (!isPicture(bytes)) return Error{name + ": is not a PNG or JPEG picture"};
  if (bytes.size() > kMaxImageBytes)
    return Error{fmt::format("{}: has {} bytes, expected at most {}", name, bytes.size(), kMaxImageBytes)};
  Decoding decoding{bytes, stop};
  const auto decoded = [&](auto&& reader) { return ran(decoding, [&] { reader.read(); }); };
  if (!(beginsWith(bytes, kPngMagic) ? decoded(PngReader(decoding)) : decoded(JpegReader(decoding))))
    return Error{name + ": " + decoding.fault};
  return turned(decoding.picture, decoding.orientation);
}

}  // namespace headscope::attention
