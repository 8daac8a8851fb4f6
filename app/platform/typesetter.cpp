#include <algorithm>

#include "app/platform/assets.h"
#include "app/platform/fonts.h"
#include "app/platform/shaped_text.h"
#include "app/platform/ui_state.h"
#include "attention/core/threads.h"
#include "attention/formats/files/file_io.h"

namespace headscope::app {

FontFinder::~FontFinder() = default;

FoundFont FontFinder::answer(const FontLookup& fonts, const FontRequest& request) {
  const FontPlace place = fonts.find(request);
  FoundFont found{request, place.path, place.index, nullptr};
  if (place.path.empty()) return found;
  FontBytes& bytes = read_[place.path];
  if (!bytes)
    if (auto file = attention::readFile(place.path); file.ok())
      bytes = std::make_shared<const std::vector<std::uint8_t>>(std::move(file).value());
  found.bytes = bytes;
  return found;
}

void FontFinder::ask(const FontRequest& request) {
  if (!attention::kHasThreads) {
    FontLookup fonts;
    fonts.addFolder((assetFolder() / "fonts").string());
    answers_.push_back(answer(fonts, request));
    return wake_();
  }
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(request);
  }
  changed_.notify_all();
  if (!thread_.joinable()) thread_ = std::jthread([this](std::stop_token quit) { serve(quit); });
}

std::vector<FoundFont> FontFinder::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(answers_, {});
}

void FontFinder::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() && !busy_; });
}

bool FontFinder::busy() {
  const std::lock_guard lock(mutex_);
  return busy_ || !waiting_.empty() || !answers_.empty();
}

void FontFinder::serve(std::stop_token quit) {
  const FontLookup fonts;  // the first font lookup has already registered the program's own folder
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, quit, [this] { return !waiting_.empty(); })) {
    const FontRequest request = waiting_.front();
    waiting_.pop_front();
    busy_ = true;
    lock.unlock();
    FoundFont found = answer(fonts, request);
    lock.lock();
    answers_.push_back(std::move(found));
    busy_ = false;
    changed_.notify_all();
    lock.unlock();
    wake_();
    lock.lock();
  }
}

namespace {

/// The most bytes of text whose lines are kept. Their glyphs take about ten times as much.
constexpr std::size_t kMaxBytesKept = 1 << 20;

struct ScriptName {
  hb_script_t script;
  std::string_view name;
};

constexpr ScriptName kScriptNames[] = {{HB_SCRIPT_ARABIC, "Arabic"},
                                       {HB_SCRIPT_ARMENIAN, "Armenian"},
                                       {HB_SCRIPT_BENGALI, "Bengali"},
                                       {HB_SCRIPT_BOPOMOFO, "Bopomofo"},
                                       {HB_SCRIPT_CANADIAN_SYLLABICS, "Canadian syllabics"},
                                       {HB_SCRIPT_CHEROKEE, "Cherokee"},
                                       {HB_SCRIPT_COPTIC, "Coptic"},
                                       {HB_SCRIPT_CYRILLIC, "Cyrillic"},
                                       {HB_SCRIPT_DEVANAGARI, "Devanagari"},
                                       {HB_SCRIPT_EGYPTIAN_HIEROGLYPHS, "Egyptian hieroglyphs"},
                                       {HB_SCRIPT_ETHIOPIC, "Ethiopic"},
                                       {HB_SCRIPT_GEORGIAN, "Georgian"},
                                       {HB_SCRIPT_GOTHIC, "Gothic"},
                                       {HB_SCRIPT_GREEK, "Greek"},
                                       {HB_SCRIPT_GUJARATI, "Gujarati"},
                                       {HB_SCRIPT_GURMUKHI, "Gurmukhi"},
                                       {HB_SCRIPT_HAN, "Chinese characters"},
                                       {HB_SCRIPT_HANGUL, "Korean"},
                                       {HB_SCRIPT_HEBREW, "Hebrew"},
                                       {HB_SCRIPT_HIRAGANA, "Hiragana"},
                                       {HB_SCRIPT_KANNADA, "Kannada"},
                                       {HB_SCRIPT_KATAKANA, "Katakana"},
                                       {HB_SCRIPT_KHMER, "Khmer"},
                                       {HB_SCRIPT_LAO, "Lao"},
                                       {HB_SCRIPT_MALAYALAM, "Malayalam"},
                                       {HB_SCRIPT_MONGOLIAN, "Mongolian"},
                                       {HB_SCRIPT_MYANMAR, "Burmese"},
                                       {HB_SCRIPT_NKO, "N’Ko"},
                                       {HB_SCRIPT_OLD_PERSIAN, "Old Persian"},
                                       {HB_SCRIPT_ORIYA, "Odia"},
                                       {HB_SCRIPT_RUNIC, "Runic"},
                                       {HB_SCRIPT_SINHALA, "Sinhala"},
                                       {HB_SCRIPT_SYRIAC, "Syriac"},
                                       {HB_SCRIPT_TAMIL, "Tamil"},
                                       {HB_SCRIPT_TELUGU, "Telugu"},
                                       {HB_SCRIPT_THAANA, "Thaana"},
                                       {HB_SCRIPT_THAI, "Thai"},
                                       {HB_SCRIPT_TIBETAN, "Tibetan"},
                                       {HB_SCRIPT_TIFINAGH, "Tifinagh"},
                                       {HB_SCRIPT_YI, "Yi"}};

hb_script_t scriptOf(std::span<const std::uint32_t> codes) {
  hb_unicode_funcs_t* const unicode = hb_unicode_funcs_get_default();
  hb_script_t first = HB_SCRIPT_UNKNOWN;
  for (const std::uint32_t code : codes) {
    const hb_script_t script = hb_unicode_script(unicode, code);
    if (script != HB_SCRIPT_COMMON && script != HB_SCRIPT_INHERITED && script != HB_SCRIPT_UNKNOWN)
      return script;
    if (first == HB_SCRIPT_UNKNOWN) first = script;
  }
  return first;
}

/// Whether the character is in one of Unicode's blocks of pictures, which belong to no script.
bool isEmoji(std::uint32_t code) {
  return code >= 0x1F000 && code <= 0x1FAFF;
}

bool hasAll(const Typeface* typeface, std::span<const std::uint32_t> codes) {
  return typeface && std::ranges::all_of(codes, [&](std::uint32_t code) {
           return drawsNothing(code) || typeface->has(code);
         });
}

}  // namespace

std::string_view scriptName(hb_script_t script) {
  const auto found = std::ranges::find(kScriptNames, script, &ScriptName::script);
  return found == std::end(kScriptNames) ? std::string_view() : found->name;
}

void Typesetter::setAtlas(const std::map<const ImFont*, AtlasSource>& sources) {
  atlas_.clear();
  for (const auto& [font, source] : sources) atlas_[font] = typefaceOf(source.path, 0, source.bytes);
  forgetLines();
  sheet_.clear();
}

void Typesetter::forgetLines() {
  lines_.clear();
  bytesKept_ = 0;
  ++generation_;
}

const Typeface* Typesetter::typefaceOf(const std::string& path, int index, const FontBytes& bytes) {
  if (path.empty()) return nullptr;
  const auto [found, added] = typefaces_.try_emplace({path, index});
  if (added) found->second = Typeface::open(bytes, index);
  return found->second.get();
}

bool Typesetter::take() {
  const std::vector<FoundFont> found = finder_.take();
  for (const FoundFont& font : found) {
    const Typeface* typeface = typefaceOf(font.path, font.index, font.bytes);
    answers_[font.request] = typeface;
    const std::string name(isEmoji(font.request.code) ? "these emoji" : scriptName(font.request.script));
    if (!typeface && !name.empty() && said_.insert(name).second) missing_.insert(name);
  }
  if (found.empty()) return false;
  forgetLines();
  return true;
}

std::vector<std::string> Typesetter::takeMissing() {
  std::vector<std::string> names(missing_.begin(), missing_.end());
  missing_.clear();
  return names;
}

std::optional<const Typeface*> Typesetter::answer(const FontRequest& request) {
  const auto [found, added] = answers_.try_emplace(request);
  if (added) finder_.ask(request);
  return found->second;
}

FontChoice Typesetter::choose(const ImFont* font, const Typeface* own, std::span<const std::uint32_t> codes,
                              bool upright) {
  using Kind = TextPiece::Kind;
  const auto shown = std::ranges::find_if_not(codes, drawsNothing);
  if (shown == codes.end()) return {Kind::number};  // the number is empty
  const auto inAtlas = [&](std::uint32_t code) { return drawsNothing(code) || compat::hasGlyph(font, code); };
  if (upright && std::ranges::all_of(codes, inAtlas)) return {};
  const hb_script_t script = scriptOf(codes);
  const bool common = script == HB_SCRIPT_COMMON || script == HB_SCRIPT_INHERITED;
  const bool colored = common && (*shown > 0xFFFF || std::ranges::count(codes, 0xFE0Fu) > 0);
  if (script == HB_SCRIPT_UNKNOWN)
    return {Kind::number};  // also for private use, whose meaning differs from font to font
  if (!colored && hasAll(own, codes)) return {Kind::glyphs, own};
  std::vector<FontRequest> wishes;
  if (!common) wishes.push_back({script});
  for (const std::uint32_t code : codes)
    if (!drawsNothing(code)) wishes.push_back({common ? HB_SCRIPT_COMMON : script, code, colored});
  for (const FontRequest& request : wishes) {
    const std::optional<const Typeface*> typeface = answer(request);
    if (!typeface) return {Kind::awaited};
    if (hasAll(*typeface, codes)) return {Kind::glyphs, *typeface};
  }
  if (hasAll(own, codes)) return {Kind::glyphs, own};
  return {Kind::number};
}

bool Typesetter::isPlain(const ImFont* font, std::string_view text) {
  constexpr unsigned char kFirstBeyondLatin = 0xC6;  // the first byte of U+0180
  const auto beyond = [](char byte) { return static_cast<unsigned char>(byte) >= kFirstBeyondLatin; };
  if (std::ranges::none_of(text, beyond)) return true;
  bool plain = true;
  eachCodepoint(text,
                [&](std::uint32_t code, std::string_view) { plain = plain && compat::hasGlyph(font, code); });
  return plain;
}

std::shared_ptr<const ShapedLine> Typesetter::line(const ImFont* font, std::string_view text,
                                                   Direction direction) {
  const auto kept = lines_.find({font, direction});
  if (kept != lines_.end())
    if (const auto found = kept->second.find(text); found != kept->second.end()) return found->second;
  const auto source = atlas_.find(font);
  const Typeface* const own = source == atlas_.end() ? nullptr : source->second;
  const float size = compat::sizeOf(font);
  const ShapingFont with{
      own ? own->emOfLine(size) : size,
      [&](std::span<const std::uint32_t> codes, bool upright) { return choose(font, own, codes, upright); },
      [&](std::string_view plain) {
        return font->CalcTextSizeA(size, FLT_MAX, 0, plain.data(), plain.data() + plain.size()).x;
      }};
  auto shaped = std::make_shared<const ShapedLine>(shapeLine(text, direction, with));
  if (bytesKept_ > kMaxBytesKept) {
    lines_.clear();
    bytesKept_ = 0;
  }
  bytesKept_ += text.size();
  lines_[{font, direction}].emplace(text, shaped);
  return shaped;
}

std::size_t Typesetter::linesKept() const {
  std::size_t count = 0;
  for (const auto& [font, lines] : lines_) count += lines.size();
  return count;
}

void Typesetter::draw(ImDrawList& list, ImFont* font, ImVec2 at, std::uint32_t color,
                      const ShapedLine& line) {
  using Kind = TextPiece::Kind;
  if (!compat::isPlace(at)) return;
  const int first = list.VtxBuffer.Size;
  const float size = compat::sizeOf(font);
  const float baseline = at.y + std::round(compat::ascentOf(font));
  for (const TextPiece& piece : line.pieces) {
    const float x = at.x + piece.x;
    if (piece.kind == Kind::awaited) {
      list.AddRectFilled(ImVec2(x + 1, at.y + size * 0.25f), ImVec2(x + piece.width - 1, at.y + size * 0.85f),
                         (color & ~IM_COL32_A_MASK) | (0x30u << IM_COL32_A_SHIFT), size * 0.15f);
    } else if (piece.kind != Kind::glyphs) {
      list.AddText(font, size, ImVec2(std::round(x), at.y), color, piece.text.data(),
                   piece.text.data() + piece.text.size());
    }
    for (const ShapedGlyph& glyph : piece.glyphs) {
      const float quarters = std::round((at.x + glyph.x) * 4), whole = std::floor(quarters / 4);
      const GlyphImage& image =
          sheet_.find(*piece.typeface, glyph.glyph, line.em, static_cast<int>(quarters - whole * 4));
      if (image.texture == 0) continue;
      const ImVec2 from(whole + image.left, std::round(baseline + glyph.y) + image.top);
      const ImU32 tint = image.colored ? color | ~IM_COL32_A_MASK : color;
      list.AddImage(compat::textureId(image.texture), from,
                    ImVec2(from.x + image.width, from.y + image.height), image.from, image.to, tint);
    }
  }
  if (FrameRecorder* const recorder = uiState().recorder)
    recorder->add(list, first, FrameText{font, line.text, at, 0}, color);
}

float Typesetter::em(const ImFont* font) const {
  const auto source = atlas_.find(font);
  const Typeface* const own = source == atlas_.end() ? nullptr : source->second;
  return own ? own->emOfLine(compat::sizeOf(font)) : compat::sizeOf(font);
}

float Typesetter::unhintedWidth(const ImFont* font, std::string_view text) const {
  const auto source = atlas_.find(font);
  if (source == atlas_.end() || !source->second) return 0;
  hb_buffer_t* const buffer = hb_buffer_create();
  hb_buffer_add_utf8(buffer, text.data(), static_cast<int>(text.size()), 0, static_cast<int>(text.size()));
  hb_buffer_guess_segment_properties(buffer);
  hb_shape(source->second->shapingFont(em(font)), buffer, nullptr, 0);
  unsigned count = 0;
  const hb_glyph_position_t* const places = hb_buffer_get_glyph_positions(buffer, &count);
  const hb_glyph_info_t* const glyphs = hb_buffer_get_glyph_infos(buffer, nullptr);
  float width = 0;
  bool whole = true;
  for (unsigned i = 0; i < count; ++i) {
    width += static_cast<float>(places[i].x_advance) / 64;
    whole = whole && glyphs[i].codepoint != 0;  // otherwise another font has it
  }
  hb_buffer_destroy(buffer);
  if (!whole) return 0;
  return width;
}

}  // namespace headscope::app
