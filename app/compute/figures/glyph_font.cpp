#include <fmt/core.h>

#include "app/compute/figures/pdf_fonts.h"

#include FT_OUTLINE_H

namespace headscope::app {

namespace {

/// Appends an integer of a charstring or a dictionary (note 5176, table 3).
void putInteger(int value, std::string& out) {
  const auto put = [&out](int byte) { out += static_cast<char>(byte); };
  if (value >= -107 && value <= 107) {
    put(value + 139);
  } else if (value >= 108 && value <= 1131) {
    put((value - 108) / 256 + 247);
    put((value - 108) % 256);
  } else if (value >= -1131 && value <= -108) {
    put((-value - 108) / 256 + 251);
    put((-value - 108) % 256);
  } else {
    const int held = std::clamp(value, -32768, 32767);
    put(28);
    put(held >> 8 & 0xFF);
    put(held & 0xFF);
  }
}

/// Writes an outline as a Type 2 charstring (note 5177): lines and curves in relative coordinates.
class CharstringWriter {
 public:
  CharstringWriter(int width, double scale) : scale_(scale) { putInteger(width, out_); }

  std::string take(FT_Outline& outline) {
    FT_Outline_Funcs steps{};
    steps.move_to = [](const FT_Vector* to, void* self) { return writer(self).step(21, {to}); };
    steps.line_to = [](const FT_Vector* to, void* self) { return writer(self).step(5, {to}); };
    // Converts a quadratic curve to the equivalent cubic one.
    steps.conic_to = [](const FT_Vector* by, const FT_Vector* to, void* self) {
      const FT_Vector& from = writer(self).last_;
      const FT_Vector first{from.x + 2 * (by->x - from.x) / 3, from.y + 2 * (by->y - from.y) / 3},
          second{to->x + 2 * (by->x - to->x) / 3, to->y + 2 * (by->y - to->y) / 3};
      return writer(self).step(8, {&first, &second, to});
    };
    steps.cubic_to = [](const FT_Vector* first, const FT_Vector* second, const FT_Vector* to, void* self) {
      return writer(self).step(8, {first, second, to});
    };
    FT_Outline_Decompose(&outline, &steps, this);
    constexpr char kEndchar = 14;
    return out_ + kEndchar;
  }

 private:
  static CharstringWriter& writer(void* self) { return *static_cast<CharstringWriter*>(self); }
  int step(char operation, std::initializer_list<const FT_Vector*> points) {
    for (const FT_Vector* point : points) {
      const auto x = static_cast<int>(std::lround(static_cast<double>(point->x) * scale_)),
                 y = static_cast<int>(std::lround(static_cast<double>(point->y) * scale_));
      putInteger(x - x_, out_);
      putInteger(y - y_, out_);
      x_ = x;
      y_ = y;
      last_ = *point;
    }
    out_ += operation;
    return 0;
  }

  const double scale_;
  std::string out_;
  int x_ = 0, y_ = 0;  ///< position of the pen
  FT_Vector last_{};   ///< the same in the typeface's units
};

/// Returns an INDEX, numbered data (note 5176, section 5).
std::string indexOf(const std::vector<std::string>& items) {
  const auto bigEndian = [](std::size_t value, int bytes) {
    std::string out;
    for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xFF);
    return out;
  };
  std::string out = bigEndian(items.size(), 2);
  if (items.empty()) return out;
  out += 4;  // bytes of an offset; offsets count from 1
  std::size_t at = 1;
  for (const std::string& item : items) {
    out += bigEndian(at, 4);
    at += item.size();
  }
  out += bigEndian(at, 4);
  for (const std::string& item : items) out += item;
  return out;
}

/// Returns a name prefix from a hash of the outlines, so that only equal fonts share it.
std::string fontPrefix(std::uint64_t print) {
  std::string prefix;
  for (int i = 0; i < 6; ++i, print /= 26) prefix += static_cast<char>('A' + print % 26);
  return prefix;
}

}  // namespace

int GlyphFont::code(std::uint32_t index, const std::string& text) {
  const auto found = std::ranges::find_if(
      glyphs_, [&](const Glyph& each) { return each.index == index && each.text == text; });
  if (found != glyphs_.end()) return static_cast<int>(found - glyphs_.begin()) + 1;
  if (glyphs_.size() == kMax) return 0;
  glyphs_.push_back(glyph(index));
  glyphs_.back().text = text;
  return static_cast<int>(glyphs_.size());
}

GlyphFont::Glyph GlyphFont::glyph(std::uint32_t index) const {
  const FT_Face face = typeface_.face();
  Glyph out;
  out.index = index;
  const double scale = 1000.0 / (face->units_per_EM ? face->units_per_EM : 1000);
  FT_Outline none{};
  // An emoji that is a bitmap has no outline and stays blank.
  const bool drawn = FT_Load_Glyph(face, index, FT_LOAD_NO_SCALE) == 0;
  if (drawn) out.width = static_cast<int>(std::lround(static_cast<double>(face->glyph->advance.x) * scale));
  out.outline =
      CharstringWriter(out.width, scale)
          .take(drawn && face->glyph->format == FT_GLYPH_FORMAT_OUTLINE ? face->glyph->outline : none);
  return out;
}

std::string GlyphFont::program(const std::string& name) const {
  constexpr int kFirstOwn = 391;  // lower ids are the format's standard names
  std::vector<std::string> names, outlines{CharstringWriter(0, 1).take(*std::make_unique<FT_Outline>())};
  std::string charset(1, '\0');
  for (std::size_t i = 0; i < glyphs_.size(); ++i) {
    names.push_back(fmt::format("g{}", i + 1));
    outlines.push_back(glyphs_[i].outline);
    const auto id = kFirstOwn + static_cast<int>(i);
    charset += static_cast<char>(id >> 8);
    charset += static_cast<char>(id & 0xFF);
  }
  const std::string front = std::string("\1\0\4\4", 4) + indexOf({name}),
                    strings = indexOf(names) + indexOf({}), shapes = indexOf(outlines);
  // The dictionary gives the positions of the other parts as five-byte numbers.
  const auto dictionary = [](std::initializer_list<std::pair<std::vector<std::size_t>, char>> entries) {
    std::string out;
    for (const auto& [values, operation] : entries) {
      for (const std::size_t value : values) {
        out += 29;
        for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xFF);
      }
      out += operation;
    }
    return out;
  };
  constexpr std::size_t kDictionary = 4 * 5 + 3, kIndexHead = 2 + 1 + 2 * 4;
  const std::size_t at = front.size() + kIndexHead + kDictionary + strings.size();
  return front +
         indexOf({dictionary(
             {{{at}, 15}, {{at + charset.size()}, 17}, {{0, at + charset.size() + shapes.size()}, 18}})}) +
         strings + charset + shapes;
}

std::string GlyphFont::toUnicode() const {
  std::string map =
      "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Headscope def /CMapType 2 def "
      "1 begincodespacerange <00> <FF> endcodespacerange\n";
  for (std::size_t i = 0; i < glyphs_.size(); ++i)
    // Empty text means that another glyph represents it; map this one to a zero-width space.
    map += fmt::format("1 beginbfchar <{:02X}> {} endbfchar\n", i + 1,
                       glyphs_[i].text.empty() ? "<200B>" : pdfText(glyphs_[i].text, false));
  return map + "endcmap CMapName currentdict /CMap defineresource pop end end\n";
}

void GlyphFont::write(PdfFile& file) const {
  const FT_Face face = typeface_.face();
  std::uint64_t print = 14695981039346656037u;  // FNV-1a
  std::string widths, names;
  for (std::size_t i = 0; i < glyphs_.size(); ++i) {
    for (const char byte : glyphs_[i].outline)
      print = (print ^ static_cast<unsigned char>(byte)) * 1099511628211u;
    widths += fmt::format("{} ", glyphs_[i].width);
    names += fmt::format("/g{} ", i + 1);
  }
  const char* own = FT_Get_Postscript_Name(face);
  const std::string name = fontPrefix(print) + "+" + (own ? own : "Font");
  const auto units = [face](auto value) {
    return std::lround(static_cast<double>(value) * 1000 / (face->units_per_EM ? face->units_per_EM : 1000));
  };
  const int data = file.addStream("/Subtype /Type1C", program(name));
  constexpr int kSymbolic = 4;  // codes are specific to the font
  const int descriptor = file.add(fmt::format(
      "<< /Type /FontDescriptor /FontName /{} /Flags {} /FontBBox [{} {} {} {}] /ItalicAngle 0 /Ascent {} "
      "/Descent {} /CapHeight {} /StemV 80 /FontFile3 {} 0 R >>",
      name, kSymbolic, units(face->bbox.xMin), units(face->bbox.yMin), units(face->bbox.xMax),
      units(face->bbox.yMax), units(face->ascender), units(face->descender), units(face->ascender), data));
  const int unicode = file.addStream("", toUnicode());
  file.write(number_, fmt::format("<< /Type /Font /Subtype /Type1 /BaseFont /{} /FirstChar 1 /LastChar {} "
                                  "/Widths [{}] /Encoding << /Type /Encoding /Differences [1 {}] >> "
                                  "/FontDescriptor {} 0 R /ToUnicode {} 0 R >>",
                                  name, glyphs_.size(), widths, names, descriptor, unicode));
}

}  // namespace headscope::app
