#include "app/compute/figures/pdf_fonts.h"

#include <fmt/core.h>

#include <iterator>
#include <numbers>

#include "app/platform/assets.h"

namespace headscope::app {

namespace {

/// Positions are in thousandths of an em, as in PDF fonts.
constexpr float kEm = 1000;

bool showsAll(const Typeface* typeface, std::span<const std::uint32_t> codes) {
  return typeface && std::ranges::all_of(codes, [&](std::uint32_t code) {
           return drawsNothing(code) || typeface->has(code);
         });
}

/// Glyphs of one font on one baseline, with the gaps between them.
class GlyphRow {
 public:
  /// Adds a glyph at `x`, in thousandths of an em; the row starts at the first one's.
  void add(int code, double x, int width) {
    if (const auto gap = std::lround(x - pen_); gap != 0 && !codes_.empty()) {
      codes_ += fmt::format("> {} <", -gap);
      pen_ += static_cast<double>(gap);
    } else if (codes_.empty()) {
      pen_ = x;
    }
    codes_ += fmt::format("{:02X}", code);
    pen_ += width;
  }
  std::string take() {
    const std::string row = codes_.empty() ? "" : "[<" + codes_ + ">] TJ\n";
    codes_.clear();
    return row;
  }

 private:
  std::string codes_;
  double pen_ = 0;
};

/// Whether the typeface has all letters and their scripts need no shaping. As in the window, such text has no
/// ligatures.
bool isSimple(const Typeface& typeface, std::string_view text) {
  hb_unicode_funcs_t* const unicode = hb_unicode_funcs_get_default();
  constexpr hb_script_t kSimple[] = {HB_SCRIPT_LATIN, HB_SCRIPT_GREEK, HB_SCRIPT_CYRILLIC, HB_SCRIPT_COMMON};
  bool simple = true;
  eachCodepoint(text, [&](std::uint32_t code, std::string_view) {
    simple = simple && typeface.has(code) &&
             std::ranges::find(kSimple, hb_unicode_script(unicode, code)) != std::end(kSimple);
  });
  return simple;
}

}  // namespace

PdfFonts::PdfFonts(PdfFile& file) : file_(file) {
  lookup_.addFolder((assetFolder() / "fonts").string());
  const auto font = [this](const char* family, const char* fallback, FontWeight weight) {
    return open({lookup_.face(family, fallback, weight).file, 0});
  };
  words_ = font("Inter", "DejaVu Sans", FontWeight::regular);
  bold_ = font("Inter", "DejaVu Sans", FontWeight::semibold);
  tokens_ = font("JetBrains Mono", "DejaVu Sans Mono", FontWeight::regular);
}

const Typeface* PdfFonts::open(const FontPlace& place) {
  if (place.path.empty()) return nullptr;
  const auto [found, added] = typefaces_.try_emplace({place.path, place.index});
  if (added)
    if (auto bytes = attention::readFile(place.path); bytes.ok())
      found->second = Typeface::open(
          std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes).value()), place.index);
  return found->second.get();
}

FontChoice PdfFonts::choose(const Typeface* own, std::span<const std::uint32_t> codes) {
  const FontChoice plain{TextPiece::Kind::glyphs, own};
  if (showsAll(own, codes)) return plain;
  const std::uint32_t code = *std::ranges::find_if_not(codes, drawsNothing);
  const hb_script_t script = hb_unicode_script(hb_unicode_funcs_get_default(), code);
  for (const FontRequest& request : {FontRequest{script}, FontRequest{script, code}}) {
    if (request.code == 0 && (script == HB_SCRIPT_COMMON || script == HB_SCRIPT_INHERITED)) continue;
    const auto [found, added] = answers_.try_emplace(request);
    if (added) found->second = open(lookup_.find(request));
    if (showsAll(found->second, codes)) return {TextPiece::Kind::glyphs, found->second};
  }
  return plain;
}

PdfFonts::ShownLine PdfFonts::shaped(const TextRun& text) {
  ShownLine out;
  const Typeface* const own = text.mono ? tokens_ : text.bold ? bold_ : words_;
  if (!own) return out;
  if (isSimple(*own, text.text)) {
    constexpr hb_feature_t kAsWritten[] = {{HB_TAG('l', 'i', 'g', 'a'), 0, 0, HB_FEATURE_GLOBAL_END},
                                           {HB_TAG('c', 'a', 'l', 't'), 0, 0, HB_FEATURE_GLOBAL_END}};
    const std::unique_ptr<hb_buffer_t, decltype(&hb_buffer_destroy)> buffer(hb_buffer_create(),
                                                                            hb_buffer_destroy);
    hb_buffer_add_utf8(buffer.get(), text.text.data(), static_cast<int>(text.text.size()), 0, -1);
    hb_buffer_guess_segment_properties(buffer.get());
    hb_shape(own->shapingFont(kEm), buffer.get(), kAsWritten, std::size(kAsWritten));
    unsigned count = 0;
    const hb_glyph_info_t* const glyphs = hb_buffer_get_glyph_infos(buffer.get(), &count);
    const hb_glyph_position_t* const places = hb_buffer_get_glyph_positions(buffer.get(), nullptr);
    for (unsigned i = 0; i < count; ++i) {
      const std::size_t from = glyphs[i].cluster,
                        to = i + 1 < count ? glyphs[i + 1].cluster : text.text.size();
      const auto units = [](hb_position_t position) { return static_cast<float>(position) / 64; };
      out.glyphs.push_back({own, glyphs[i].codepoint, out.width + units(places[i].x_offset),
                            -units(places[i].y_offset), text.text.substr(from, to - from)});
      out.lefts.push_back(out.width);
      out.width += units(places[i].x_advance);
    }
    return out;
  }
  const ShapedLine line =
      shapeLine(text.text, Direction::label, {kEm, [&](auto codes, bool) { return choose(own, codes); }, {}});
  out.width = line.width;
  out.simple = false;
  std::vector<bool> said(line.clusters.size());
  for (const TextCluster& cluster : line.clusters) out.lefts.push_back(cluster.left);
  std::ranges::sort(out.lefts);
  for (const TextPiece& piece : line.pieces)
    for (const ShapedGlyph& glyph : piece.glyphs) {
      // Only the first glyph of a letter represents its text.
      const auto letter = std::ranges::find_if(line.clusters, [&](const TextCluster& cluster) {
        return glyph.x + 0.5f >= cluster.left && glyph.x + 0.5f < cluster.right;
      });
      std::string says;
      if (letter != line.clusters.end() && !said[static_cast<std::size_t>(letter - line.clusters.begin())]) {
        says = line.text.substr(letter->from, letter->to - letter->from);
        said[static_cast<std::size_t>(letter - line.clusters.begin())] = true;
      }
      out.glyphs.push_back({piece.typeface, glyph.glyph, glyph.x, glyph.y, std::move(says)});
    }
  return out;
}

PdfFonts::Place PdfFonts::placeOf(const Typeface& typeface, std::uint32_t glyph, const std::string& text) {
  std::vector<std::size_t>& parts = parts_[&typeface];
  for (const std::size_t part : parts)
    if (const int code = fonts_[part].code(glyph, text)) return {static_cast<int>(part), code};
  parts.push_back(fonts_.size());
  fonts_.emplace_back(typeface, file_.reserve());
  return {static_cast<int>(parts.back()), fonts_.back().code(glyph, text)};
}

std::string PdfFonts::show(const TextRun& text) {
  const ShownLine line = shaped(text);
  if (line.glyphs.empty()) return "";
  const std::vector<float>& lefts = line.lefts;  // of letters, which `spacing` moves apart
  const double spacing = text.spacing / text.size * kEm,
               width = line.width + spacing * static_cast<double>(lefts.size()),
               begin = text.anchor == Anchor::start    ? 0
                       : text.anchor == Anchor::middle ? -width / 2
                                                       : -width;
  constexpr double kHalfCapital = 0.36;  // in ems, from a line's middle to its baseline
  const double turn = text.degrees * std::numbers::pi / 180, sine = std::sin(turn), cosine = std::cos(turn);
  // Viewers can't recover the text from reordered glyphs, so it is added as ActualText.
  std::string out = line.simple ? "BT\n" : "/Span << /ActualText " + pdfText(text.text) + " >> BDC\nBT\n";
  GlyphRow row;
  int font = -1;
  float height = 0;
  for (const Shown& glyph : line.glyphs) {
    const Place place = placeOf(*glyph.typeface, glyph.glyph, glyph.text);
    const auto letter = std::ranges::upper_bound(lefts, glyph.x + 0.5f) - lefts.begin() - 1;
    const double x = begin + glyph.x + spacing * static_cast<double>(std::max<std::ptrdiff_t>(letter, 0));
    if (place.font != font || glyph.y != height) {
      out += row.take();
      if (std::exchange(font, place.font) != place.font)
        out += fmt::format("/F{} {} Tf\n", font, pdfNumber(text.size));
      height = glyph.y;
      const double along = x * text.size / kEm, down = (kHalfCapital + height / kEm) * text.size;
      out += fmt::format("{} {} {} {} {} {} Tm\n", pdfNumber(cosine), pdfNumber(sine), pdfNumber(sine),
                         pdfNumber(-cosine), pdfNumber(text.x + cosine * along - sine * down),
                         pdfNumber(text.y + sine * along + cosine * down));
    }
    row.add(place.code, x, fonts_[static_cast<std::size_t>(font)].width(place.code));
  }
  return out + row.take() + (line.simple ? "ET\n" : "ET\nEMC\n");
}

std::string PdfFonts::resources() const {
  std::string out;
  for (std::size_t i = 0; i < fonts_.size(); ++i) out += fmt::format("/F{} {} 0 R ", i, fonts_[i].number());
  return out;
}

void PdfFonts::write() const {
  for (const GlyphFont& font : fonts_) font.write(file_);
}

}  // namespace headscope::app
