#include "app/platform/system_font.h"

#include <dwrite_2.h>

#include <filesystem>
#include <string>

namespace headscope::app {

namespace {

/// An interface of DirectWrite's, released with its owner.
template <typename Interface>
class Com {
 public:
  Com() = default;
  ~Com() {
    if (object_) object_->Release();
  }
  Com(const Com&) = delete;
  Com& operator=(const Com&) = delete;
  Interface* operator->() const { return object_; }
  Interface* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }
  /// Where a function puts the interface.
  Interface** put() { return &object_; }
  void** putAny() { return reinterpret_cast<void**>(&object_); }

 private:
  Interface* object_ = nullptr;
};

/// The text of one character whose font is looked for.
class OneCharacter final : public IDWriteTextAnalysisSource {
 public:
  explicit OneCharacter(std::uint32_t code) {
    constexpr std::uint32_t kLastOfOne = 0xFFFF;
    if (code <= kLastOfOne) {
      text_ = static_cast<wchar_t>(code);
    } else {
      text_ = static_cast<wchar_t>(0xD7C0 + (code >> 10));
      text_ += static_cast<wchar_t>(0xDC00 + (code & 0x3FF));
    }
  }
  UINT32 size() const { return static_cast<UINT32>(text_.size()); }

  HRESULT STDMETHODCALLTYPE GetTextAtPosition(UINT32 at, const WCHAR** text, UINT32* length) override {
    *text = at < size() ? text_.c_str() + at : nullptr;
    *length = at < size() ? size() - at : 0;
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetTextBeforePosition(UINT32 at, const WCHAR** text, UINT32* length) override {
    *text = at > 0 && at <= size() ? text_.c_str() : nullptr;
    *length = *text ? at : 0;
    return S_OK;
  }
  DWRITE_READING_DIRECTION STDMETHODCALLTYPE GetParagraphReadingDirection() override {
    return DWRITE_READING_DIRECTION_LEFT_TO_RIGHT;
  }
  HRESULT STDMETHODCALLTYPE GetLocaleName(UINT32, UINT32* length, const WCHAR** name) override {
    *length = size();
    *name = L"";
    return S_OK;
  }
  HRESULT STDMETHODCALLTYPE GetNumberSubstitution(UINT32, UINT32* length,
                                                  IDWriteNumberSubstitution** none) override {
    *length = size();
    *none = nullptr;
    return S_OK;
  }
  // It is on the stack while it is used.
  ULONG STDMETHODCALLTYPE AddRef() override { return 1; }
  ULONG STDMETHODCALLTYPE Release() override { return 1; }
  HRESULT STDMETHODCALLTYPE QueryInterface(const IID& which, void** to) override {
    const bool own = which == __uuidof(IUnknown) || which == __uuidof(IDWriteTextAnalysisSource);
    *to = own ? this : nullptr;
    return own ? S_OK : E_NOINTERFACE;
  }

 private:
  std::wstring text_;
};

/// The character asked for, or the first of the script.
std::uint32_t characterOf(const FontRequest& request) {
  if (request.code != 0) return request.code;
  constexpr std::uint32_t kLastAssigned = 0x3FFFF;
  hb_unicode_funcs_t* const unicode = hb_unicode_funcs_get_default();
  for (std::uint32_t code = 1; code <= kLastAssigned; ++code)
    if (hb_unicode_script(unicode, code) == request.script &&
        hb_unicode_general_category(unicode, code) == HB_UNICODE_GENERAL_CATEGORY_OTHER_LETTER)
      return code;
  return 0;
}

/// The file of a font, if it is one on a disk.
FontPlace placeOf(IDWriteFontFace* face) {
  Com<IDWriteFontFile> file;
  Com<IDWriteFontFileLoader> loader;
  Com<IDWriteLocalFontFileLoader> local;
  const void* key = nullptr;
  UINT32 files = 1, size = 0, length = 0;
  if (face->GetFiles(&files, file.put()) != S_OK || !file || file->GetLoader(loader.put()) != S_OK ||
      loader->QueryInterface(__uuidof(IDWriteLocalFontFileLoader), local.putAny()) != S_OK ||
      file->GetReferenceKey(&key, &size) != S_OK ||
      local->GetFilePathLengthFromKey(key, size, &length) != S_OK)
    return {};
  std::wstring path(length + 1, L'\0');
  if (local->GetFilePathFromKey(key, size, path.data(), length + 1) != S_OK) return {};
  path.resize(length);
  return {std::filesystem::path(path).string(), static_cast<int>(face->GetIndex())};
}

}  // namespace

FontPlace systemFont(const FontRequest& request) {
  const std::uint32_t code = characterOf(request);
  Com<IDWriteFactory2> factory;
  Com<IDWriteFontFallback> fallback;
  if (code == 0 ||
      DWriteCreateFactory(DWRITE_FACTORY_TYPE_SHARED, __uuidof(IDWriteFactory2),
                          reinterpret_cast<IUnknown**>(factory.put())) != S_OK ||
      factory->GetSystemFontFallback(fallback.put()) != S_OK)
    return {};
  OneCharacter text(code);
  Com<IDWriteFont> font;
  UINT32 mapped = 0;
  FLOAT scale = 1;
  if (fallback->MapCharacters(&text, 0, text.size(), nullptr, nullptr, DWRITE_FONT_WEIGHT_REGULAR,
                              DWRITE_FONT_STYLE_NORMAL, DWRITE_FONT_STRETCH_NORMAL, &mapped, font.put(),
                              &scale) != S_OK ||
      !font)
    return {};
  BOOL has = FALSE;
  Com<IDWriteFontFace> face;
  if (font->HasCharacter(code, &has) != S_OK || !has || font->CreateFontFace(face.put()) != S_OK) return {};
  return placeOf(face.get());
}

}  // namespace headscope::app
