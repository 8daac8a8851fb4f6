#include "app/platform/shaped_text.h"

#include <fmt/core.h>
#include <fribidi.h>
#include <utf8proc.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace headscope::app {

void appendUtf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | (code >> 6));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | (code >> 12));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | (code >> 18));
    out += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    out += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

std::unique_ptr<Typeface> Typeface::open(FontBytes bytes, int index) {
  if (!bytes || bytes->empty()) return nullptr;
  std::unique_ptr<Typeface> opened(new Typeface(std::move(bytes)));
  const std::vector<std::uint8_t>& data = *opened->bytes_;
  if (FT_Init_FreeType(&opened->library_) ||
      FT_New_Memory_Face(opened->library_, data.data(), static_cast<FT_Long>(data.size()), index,
                         &opened->face_))
    return nullptr;
  hb_blob_t* const blob =
      hb_blob_create(reinterpret_cast<const char*>(data.data()), static_cast<unsigned>(data.size()),
                     HB_MEMORY_MODE_READONLY, nullptr, nullptr);
  hb_face_t* const face = hb_face_create(blob, static_cast<unsigned>(index));
  opened->font_ = hb_font_create(face);
  hb_face_destroy(face);
  hb_blob_destroy(blob);
  return opened;
}

Typeface::~Typeface() {
  hb_font_destroy(font_);
  if (face_) FT_Done_Face(face_);
  if (library_) FT_Done_FreeType(library_);
}

bool Typeface::has(std::uint32_t code) const {
  hb_codepoint_t glyph = 0;
  return hb_font_get_nominal_glyph(font_, code, &glyph) != 0;
}

float Typeface::emOfLine(float line) const {
  const auto high = static_cast<float>(face_->ascender - face_->descender);
  return high > 0 ? line * static_cast<float>(face_->units_per_EM) / high : line;
}

hb_font_t* Typeface::shapingFont(float em) const {
  const auto scale = static_cast<int>(std::lround(em * 64));
  hb_font_set_scale(font_, scale, scale);
  return font_;
}

namespace {

struct Grapheme {
  std::size_t from = 0, to = 0;            ///< bytes
  std::size_t firstCode = 0, endCode = 0;  ///< code points
  FriBidiLevel level = 0;
  hb_script_t script = HB_SCRIPT_COMMON;
  FontChoice choice;
};

struct Decoded {
  std::vector<std::uint32_t> codes;
  std::vector<Grapheme> graphemes;
};

bool isScript(hb_script_t script) {
  return script != HB_SCRIPT_COMMON && script != HB_SCRIPT_INHERITED && script != HB_SCRIPT_UNKNOWN;
}

Decoded decoded(std::string_view text) {
  Decoded out;
  hb_unicode_funcs_t* const unicode = hb_unicode_funcs_get_default();
  utf8proc_int32_t state = 0;
  std::size_t at = 0;
  eachCodepoint(text, [&](std::uint32_t code, std::string_view bytes) {
    if (code > 0x10FFFF) code = 0xFFFD;
    const bool begins =
        out.codes.empty() || utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(out.codes.back()),
                                                              static_cast<utf8proc_int32_t>(code), &state);
    if (begins)
      out.graphemes.push_back({at, at, out.codes.size(), out.codes.size(), 0, HB_SCRIPT_COMMON, {}});
    out.codes.push_back(code);
    at += bytes.size();
    Grapheme& grapheme = out.graphemes.back();
    grapheme.to = at;
    grapheme.endCode = out.codes.size();
    if (const hb_script_t script = hb_unicode_script(unicode, code); !isScript(grapheme.script))
      if (isScript(script)) grapheme.script = script;
  });
  return out;
}

/// Sets the levels of the graphemes. Returns whether the paragraph runs from right to left.
bool setLevels(Decoded& line, Direction direction) {
  const auto count = static_cast<FriBidiStrIndex>(line.codes.size());
  std::vector<FriBidiCharType> types(line.codes.size());
  std::vector<FriBidiBracketType> brackets(line.codes.size());
  std::vector<FriBidiLevel> levels(line.codes.size());
  fribidi_get_bidi_types(line.codes.data(), count, types.data());
  fribidi_get_bracket_types(line.codes.data(), count, types.data(), brackets.data());
  const bool leftToRight = direction == Direction::leftToRight ||
                           (direction == Direction::label && std::ranges::count(types, FRIBIDI_TYPE_LTR) > 0);
  FriBidiParType base = leftToRight                           ? FRIBIDI_PAR_LTR
                        : direction == Direction::rightToLeft ? FRIBIDI_PAR_RTL
                                                              : FRIBIDI_PAR_ON;
  if (!fribidi_get_par_embedding_levels_ex(types.data(), brackets.data(), count, &base, levels.data()))
    return false;
  const bool rightToLeft = FRIBIDI_IS_RTL(base) != 0;
  for (Grapheme& grapheme : line.graphemes) grapheme.level = levels[grapheme.firstCode];
  // Rule L1: spaces at the end have the paragraph's level.
  for (std::size_t at = line.graphemes.size(); at-- > 0;) {
    if (!FRIBIDI_IS_EXPLICIT_OR_BN_OR_WS(types[line.graphemes[at].firstCode])) break;
    line.graphemes[at].level = rightToLeft ? 1 : 0;
  }
  return rightToLeft;
}

/// A run of graphemes [first, end) drawn alike.
struct Run {
  std::size_t first = 0, end = 0;
};

std::vector<Run> runsOf(std::vector<Grapheme>& graphemes) {
  std::vector<Run> runs;
  for (std::size_t at = 0; at < graphemes.size(); ++at) {
    Grapheme& now = graphemes[at];
    if (at > 0) {
      const Grapheme& last = graphemes[at - 1];
      if (!isScript(now.script) && now.choice == last.choice) now.script = last.script;  // a comma, a joiner
      if (now.choice == last.choice && now.level == last.level && now.script == last.script) {
        runs.back().end = at + 1;
        continue;
      }
    }
    runs.push_back({at, at + 1});
  }
  return runs;
}

/// Rule L2: orders the runs from left to right.
void reorder(std::vector<Run>& runs, const std::vector<Grapheme>& graphemes) {
  FriBidiLevel highest = 0;
  for (const Grapheme& grapheme : graphemes) highest = std::max(highest, grapheme.level);
  const auto levelOf = [&](const Run& run) { return graphemes[run.first].level; };
  for (FriBidiLevel level = highest; level > 0; --level)
    for (auto from = runs.begin(); from != runs.end();) {
      from = std::find_if(from, runs.end(), [&](const Run& run) { return levelOf(run) >= level; });
      const auto to = std::find_if(from, runs.end(), [&](const Run& run) { return levelOf(run) < level; });
      std::reverse(from, to);
      from = to;
    }
}

/// Lays out the runs of a line one after another.
class LineBuilder {
 public:
  LineBuilder(std::string_view text, const Decoded& decoded, const ShapingFont& font, ShapedLine& line)
      : text_(text), decoded_(decoded), font_(font), line_(line) {
    line_.em = font.em;
  }

  void add(const Run& run) {
    const std::size_t first = run.first, end = run.end;
    const Grapheme& grapheme = decoded_.graphemes[first];
    TextPiece piece{
        grapheme.choice.kind,          line_.width, 0, {}, grapheme.choice.typeface, {}, grapheme.from,
        decoded_.graphemes[end - 1].to};
    if (piece.kind == TextPiece::Kind::glyphs) {
      shape(piece, run);
    } else if (piece.kind == TextPiece::Kind::plain) {
      // Plain characters always run from left to right.
      for (std::size_t at = first; at < end; ++at) {
        const std::string letters = drawnLetters(at);
        piece.text += letters;
        extend(piece, at, font_.measure(letters));
      }
    } else {
      // One by one, in the run's direction.
      for (std::size_t i = 0; i < end - first; ++i) {
        const std::size_t at = backwards(grapheme) ? end - 1 - i : first + i;
        const std::string number = piece.kind == TextPiece::Kind::number ? numberOf(at) : std::string();
        piece.text += number;
        extend(piece, at, piece.kind == TextPiece::Kind::number ? font_.measure(number) : font_.em * 0.6f);
      }
    }
    line_.width += piece.width;
    line_.pieces.push_back(std::move(piece));
  }

 private:
  static bool backwards(const Grapheme& grapheme) { return grapheme.level % 2 != 0; }
  std::string drawnLetters(std::size_t at) const {
    std::string letters;
    for (std::size_t i = decoded_.graphemes[at].firstCode; i < decoded_.graphemes[at].endCode; ++i)
      if (!drawsNothing(decoded_.codes[i])) appendUtf8(letters, decoded_.codes[i]);
    return letters;
  }
  void extend(TextPiece& piece, std::size_t at, float width) {
    const Grapheme& grapheme = decoded_.graphemes[at];
    const float left = piece.x + piece.width;
    line_.clusters.push_back({grapheme.from, grapheme.to, left, left + width, backwards(grapheme)});
    piece.width += width;
  }
  std::string numberOf(std::size_t at) const {
    std::string number;
    for (std::size_t i = decoded_.graphemes[at].firstCode; i < decoded_.graphemes[at].endCode; ++i)
      if (!drawsNothing(decoded_.codes[i])) number += fmt::format("<{:X}>", decoded_.codes[i]);
    return number;
  }

  void shape(TextPiece& piece, const Run& run) {
    const Grapheme& grapheme = decoded_.graphemes[run.first];
    const std::unique_ptr<hb_buffer_t, decltype(&hb_buffer_destroy)> buffer(hb_buffer_create(),
                                                                            hb_buffer_destroy);
    hb_buffer_add_utf8(buffer.get(), text_.data(), static_cast<int>(text_.size()),
                       static_cast<unsigned>(piece.from), static_cast<int>(piece.to - piece.from));
    hb_buffer_set_direction(buffer.get(), backwards(grapheme) ? HB_DIRECTION_RTL : HB_DIRECTION_LTR);
    hb_buffer_set_script(buffer.get(), grapheme.script);
    hb_buffer_set_language(buffer.get(), hb_language_from_string("und", -1));
    constexpr hb_feature_t kLetters[] = {{HB_TAG('l', 'i', 'g', 'a'), 0, 0, HB_FEATURE_GLOBAL_END},
                                         {HB_TAG('c', 'a', 'l', 't'), 0, 0, HB_FEATURE_GLOBAL_END}};
    hb_shape(piece.typeface->shapingFont(font_.em), buffer.get(), kLetters,
             piece.typeface == font_.letterByLetter ? std::size(kLetters) : 0);
    unsigned count = 0;
    const hb_glyph_info_t* infos = hb_buffer_get_glyph_infos(buffer.get(), &count);
    const hb_glyph_position_t* positions = hb_buffer_get_glyph_positions(buffer.get(), &count);
    float pen = piece.x;
    std::vector<TextCluster> shaped;  // HarfBuzz's clusters, with `to` still unset
    for (unsigned i = 0; i < count; ++i) {
      const auto pixels = [](hb_position_t position) { return static_cast<float>(position) / 64; };
      piece.glyphs.push_back({infos[i].codepoint, pen + pixels(positions[i].x_offset),
                              -pixels(positions[i].y_offset), infos[i].cluster});
      const float next = pen + pixels(positions[i].x_advance);
      if (shaped.empty() || shaped.back().from != infos[i].cluster)
        shaped.push_back({infos[i].cluster, 0, pen, next, backwards(grapheme)});
      else
        shaped.back().right = next;
      pen = next;
    }
    piece.width = pen - piece.x;
    if (backwards(grapheme)) std::ranges::reverse(shaped);
    share(run, shaped);
  }

  /// Distributes the width of HarfBuzz's clusters to graphemes: splits a ligature evenly and joins several
  /// clusters.
  void share(const Run& run, const std::vector<TextCluster>& shaped) {
    std::size_t next = 0;
    float left = shaped.empty() ? 0 : shaped.front().left, right = left;
    for (std::size_t at = run.first; at < run.end;) {
      std::size_t end = at + 1;
      const auto beginsHere = [&](std::size_t grapheme) {
        return std::ranges::any_of(shaped, [&](const TextCluster& cluster) {
          return cluster.from == decoded_.graphemes[grapheme].from;
        });
      };
      while (end < run.end && !beginsHere(end)) ++end;
      const std::size_t bytes = decoded_.graphemes[end - 1].to;
      if (next < shaped.size()) left = shaped[next].left, right = shaped[next].right;
      for (; next < shaped.size() && shaped[next].from < bytes; ++next) {
        left = std::min(left, shaped[next].left);
        right = std::max(right, shaped[next].right);
      }
      const float each = (right - left) / static_cast<float>(end - at);
      const bool back = backwards(decoded_.graphemes[at]);
      for (std::size_t i = at; i < end; ++i) {
        const float begins = left + each * static_cast<float>(back ? end - 1 - i : i - at);
        line_.clusters.push_back(
            {decoded_.graphemes[i].from, decoded_.graphemes[i].to, begins, begins + each, back});
      }
      at = end;
    }
  }

  const std::string_view text_;
  const Decoded& decoded_;
  const ShapingFont& font_;
  ShapedLine& line_;
};

}  // namespace

bool drawsNothing(std::uint32_t code) {
  return code == 0x200C || code == 0x200D || code == 0x200E || code == 0x200F || code == 0x061C ||
         code == 0x2060 || code == 0xFEFF || (code >= 0x202A && code <= 0x202E) ||
         (code >= 0x2066 && code <= 0x2069) || (code >= 0xFE00 && code <= 0xFE0F) ||
         (code >= 0xE0000 && code <= 0xE0FFF);
}

bool runsRightToLeft(std::string_view paragraph) {
  const Decoded letters = decoded(paragraph);
  std::vector<FriBidiCharType> types(letters.codes.size());
  const auto count = static_cast<FriBidiStrIndex>(types.size());
  fribidi_get_bidi_types(letters.codes.data(), count, types.data());
  return FRIBIDI_IS_RTL(fribidi_get_par_direction(types.data(), count)) != 0;
}

ShapedLine shapeLine(std::string_view text, Direction direction, const ShapingFont& font) {
  ShapedLine line;
  line.text = text;
  line.em = font.em;
  line.rightToLeft = direction == Direction::rightToLeft;
  if (text.empty()) return line;
  Decoded letters = decoded(text);
  line.rightToLeft = setLevels(letters, direction);
  for (Grapheme& grapheme : letters.graphemes) {
    const std::span<const std::uint32_t> codes(letters.codes);
    grapheme.choice = font.choose(codes.subspan(grapheme.firstCode, grapheme.endCode - grapheme.firstCode),
                                  grapheme.level % 2 == 0);
  }
  std::vector<Run> runs = runsOf(letters.graphemes);
  reorder(runs, letters.graphemes);
  LineBuilder builder(text, letters, font, line);
  for (const Run& run : runs) builder.add(run);
  std::ranges::sort(line.clusters, {}, &TextCluster::from);
  return line;
}

float ShapedLine::caretAt(std::size_t byte) const {
  if (clusters.empty()) return 0;
  for (const TextCluster& cluster : clusters)
    if (byte < cluster.to) return cluster.rightToLeft ? cluster.right : cluster.left;
  const TextCluster& last = clusters.back();
  return last.rightToLeft ? last.left : last.right;
}

std::size_t ShapedLine::byteAt(float x) const {
  const auto distance = [&](const TextCluster& cluster) {
    return x < cluster.left ? cluster.left - x : x >= cluster.right ? x - cluster.right : -1.0f;
  };
  const auto nearest = std::ranges::min_element(clusters, {}, distance);
  if (nearest == clusters.end()) return 0;
  const bool leftHalf = x < (nearest->left + nearest->right) / 2;
  return leftHalf == nearest->rightToLeft ? nearest->to : nearest->from;
}

std::size_t nextCluster(std::string_view text, std::size_t at) {
  for (const Grapheme& grapheme : decoded(text).graphemes)
    if (grapheme.to > at) return grapheme.to;
  return text.size();
}

std::size_t previousCluster(std::string_view text, std::size_t at) {
  std::size_t before = 0;
  for (const Grapheme& grapheme : decoded(text).graphemes)
    if (grapheme.from < at) before = grapheme.from;
  return before;
}

}  // namespace headscope::app
