#include "app/compute/figures/picture_fonts.h"

#include <cairo-ft.h>

#include <utility>

#include "app/platform/assets.h"

namespace headscope::app {

void PictureFonts::load() {
  if (std::exchange(loaded_, true)) return;
  lookup_.addFolder((assetFolder() / "fonts").string());
  const auto font = [this](const char* family, const char* fallback, FontWeight weight) {
    return open({lookup_.face(family, fallback, weight).file, 0});
  };
  words_ = font("Inter", "DejaVu Sans", FontWeight::regular);
  bold_ = font("Inter", "DejaVu Sans", FontWeight::semibold);
  tokens_ = font("JetBrains Mono", "DejaVu Sans Mono", FontWeight::regular);
}

ShapedLine PictureFonts::shaped(const TextRun& text) {
  load();
  const Typeface* const own = text.mono ? tokens_ : text.bold ? bold_ : words_;
  if (!own) return {};
  return shapeLine(legibleText(text.text), Direction::label,
                   {kEm, [&](auto codes, bool) { return choose(own, codes); }, {}, own});
}

cairo_font_face_t* PictureFonts::face(const Typeface* typeface) {
  return faces_.at(typeface).get();
}

const Typeface* PictureFonts::open(const FontPlace& place) {
  if (place.path.empty()) return nullptr;
  const auto [found, added] = opened_.try_emplace({place.path, place.index});
  if (!added) return found->second;
  auto bytes = attention::readFile(place.path);
  if (!bytes.ok()) return nullptr;
  auto typeface = Typeface::open(std::make_shared<const std::vector<std::uint8_t>>(std::move(bytes).value()),
                                 place.index);
  if (!typeface) return nullptr;
  CairoOwned<cairo_font_face_t> face(cairo_ft_font_face_create_for_ft_face(typeface->face(), 0));
  // Cairo may use the typeface longer than anything here.
  static const cairo_user_data_key_t kTypeface{};
  if (cairo_font_face_set_user_data(face.get(), &kTypeface, typeface.get(), [](void* held) {
        std::unique_ptr<Typeface>(static_cast<Typeface*>(held)).reset();
      }) != CAIRO_STATUS_SUCCESS)
    return nullptr;
  found->second = typeface.release();
  faces_.emplace(found->second, std::move(face));
  return found->second;
}

FontChoice PictureFonts::choose(const Typeface* own, std::span<const std::uint32_t> codes) {
  const auto showsAll = [&](const Typeface* typeface) {
    return typeface && std::ranges::all_of(codes, [&](std::uint32_t code) {
             return drawsNothing(code) || typeface->has(code);
           });
  };
  const FontChoice plain{TextPiece::Kind::glyphs, own};
  if (showsAll(own)) return plain;
  const std::uint32_t code = *std::ranges::find_if_not(codes, drawsNothing);
  const hb_script_t script = hb_unicode_script(hb_unicode_funcs_get_default(), code);
  for (const FontRequest& request : {FontRequest{script}, FontRequest{script, code}}) {
    if (request.code == 0 && (script == HB_SCRIPT_COMMON || script == HB_SCRIPT_INHERITED)) continue;
    const auto [found, added] = answers_.try_emplace(request);
    if (added) found->second = open(lookup_.find(request));
    if (showsAll(found->second)) return {TextPiece::Kind::glyphs, found->second};
  }
  return plain;
}

std::shared_ptr<PictureFonts> pictureFonts() {
  return std::make_shared<PictureFonts>();
}

}  // namespace headscope::app
