#include <fmt/core.h>

#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/pattern.h"
#include "attention/models/tokenizer/tokenizer_parts.h"

namespace headscope::attention {
namespace {

/// Rewrites each character separately: rewrite(character, its bytes, the text, output).
template <class Rewrite>
Normalizer byCharacter(Rewrite rewrite) {
  return [rewrite](const AlignedText& text, const std::stop_token& stop) -> Result<AlignedText> {
    AlignedText result = AlignedText::rewriting(text);
    const auto each = [&](char32_t c, std::size_t begin, std::size_t end) {
      rewrite(c, ByteRange{begin, end}, text, result);
    };
    if (!eachCharacter(text.text(), stop, each)) return stopped();
    return result;
  };
}

Normalizer toForm(NormalForm form) {
  return
      [form](const AlignedText& text, const std::stop_token& stop) { return normalForm(text, form, stop); };
}

Normalizer toLowerCase() {
  return byCharacter([](char32_t c, ByteRange range, const AlignedText& text, AlignedText& to) {
    std::string lower;
    appendLowerCase(c, lower);
    to.append(lower, text, range);
  });
}

Normalizer without(bool (*unwanted)(char32_t)) {
  return byCharacter([unwanted](char32_t c, ByteRange range, const AlignedText& text, AlignedText& to) {
    to.append(unwanted(c) ? "" : text.part(range), text, range);
  });
}

/// BERT's: drops control characters and the like, and turns all white space into spaces.
Normalizer cleaned() {
  return byCharacter([](char32_t c, ByteRange range, const AlignedText& text, AlignedText& to) {
    constexpr char32_t kReplacement = 0xFFFD;
    const bool spacing = c == '\t' || c == '\n' || c == '\r';
    const bool dropped = c == 0 || c == kReplacement || (isOther(c) && !spacing);
    to.append(dropped ? "" : spacing || isSpace(c) ? " " : text.part(range), text, range);
  });
}

/// SentencePiece's of the same name: drops control characters, and turns odd spaces into plain ones.
Normalizer forTranslation() {
  return byCharacter([](char32_t c, ByteRange range, const AlignedText& text, AlignedText& to) {
    const bool dropped =
        (c >= 1 && c <= 8) || c == 0xB || (c >= 0xE && c <= 0x1F) || c == 0x7F || c == 0x8F || c == 0x9F;
    const bool spacing = c == 9 || c == 0xA || c == 0xC || c == 0xD || c == 0x1680 ||
                         (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                         c == 0xFEFF || c == 0xFFFD;
    to.append(dropped ? "" : spacing ? " " : text.part(range), text, range);
  });
}

/// Spells bytes as printable characters.
Normalizer spelledBytes() {
  return [](const AlignedText& text, const std::stop_token&) -> Result<AlignedText> {
    AlignedText result = AlignedText::rewriting(text);
    std::string character;
    for (std::size_t at = 0; at < text.size(); ++at) {
      character.clear();
      appendByteCharacter(static_cast<unsigned char>(text.text()[at]), character);
      result.append(character, text, {at, at + 1});
    }
    return result;
  };
}

/// BERT's: surrounds Han ideographs with spaces, so that each is a word.
Normalizer spacedIdeographs() {
  return byCharacter([](char32_t c, ByteRange range, const AlignedText& text, AlignedText& to) {
    const std::string_view space = isBertIdeograph(c) ? " " : "";
    to.append(space, text, {range.begin, range.begin});
    to.append(text, range);
    to.append(space, text, {range.end, range.end});
  });
}

/// Prepends a text such as SentencePiece's mark for a space. If typed spaces or marks follow, all of them
/// look alike in the end: the typed ones then count as the first, and the one that wasn't typed as the last.
Normalizer prepended(std::string what) {
  return [what = std::move(what)](const AlignedText& text, const std::stop_token&) -> Result<AlignedText> {
    if (text.size() == 0 || what.empty()) return text;
    // The end of the space or mark at `at`; `at` if there is none.
    const auto alike = [&](std::size_t at) {
      const std::string_view rest = std::string_view(text.text()).substr(at);
      if (rest.starts_with(what)) return at + what.size();
      return at + (what == "▁" && rest.starts_with(' ') ? 1 : 0);
    };
    AlignedText result = AlignedText::rewriting(text);
    ByteRange last{0, 0};
    std::string_view written = what;
    for (std::size_t next = alike(0); next > last.end; next = alike(last.end)) {
      result.append(written, text, {last.end, next});
      written = text.part({last.end, next});
      last = {last.end, next};
    }
    result.append(written, text, {last.end, last.end});
    result.append(text, {last.end, text.size()});
    return result;
  };
}

Normalizer replaced(TextPattern pattern, std::string by) {
  return [pattern = std::move(pattern), by = std::move(by)](
             const AlignedText& text, const std::stop_token& stop) -> Result<AlignedText> {
    AlignedText result = AlignedText::rewriting(text);
    std::size_t at = 0;
    const auto replace = [&](ByteRange match) {
      result.append(text, {at, match.begin});
      result.append(by, text, match);
      at = match.end;
      return result.checkLength();
    };
    if (const auto status = PatternFinder(pattern).find(text.text(), replace, stop); !status)
      return status.error();
    result.append(text, {at, text.size()});
    return result;
  };
}

/// Strips white space from the ends.
Normalizer stripped(bool left, bool right) {
  return [left, right](const AlignedText& text, const std::stop_token&) -> Result<AlignedText> {
    std::size_t first = text.size(), last = 0;
    eachCharacter(text.text(), [&](char32_t c, std::size_t begin, std::size_t end) {
      if (isSpace(c)) return;
      first = std::min(first, begin);
      last = end;
    });
    AlignedText result = AlignedText::rewriting(text);
    const std::size_t begin = left ? first : 0, end = right ? last : text.size();
    if (begin < end) result.append(text, {begin, end});
    return result;
  };
}

void readBertNormalizer(FieldReader& fields, Normalizers& rules) {
  const bool lowercase = fields.flag("lowercase", true);
  if (fields.flag("clean_text", true)) rules.push_back(cleaned());
  if (fields.flag("handle_chinese_chars", true)) rules.push_back(spacedIdeographs());
  if (fields.flag("strip_accents", lowercase)) {
    rules.push_back(toForm(NormalForm::nfd));
    rules.push_back(without(&isNonspacingMark));
  }
  if (lowercase) rules.push_back(toLowerCase());
}

void readPrecompiled(FieldReader& fields, Normalizers& rules) {
  const std::string table = fields.text("precompiled_charsmap");
  if (!fields.status()) return;
  const auto map = CharacterMap::read(table);
  if (!map) return fields.take(Error{fields.where() + ".precompiled_charsmap: " + map.error().message});
  rules.push_back(
      [map = *map](const AlignedText& text, const std::stop_token& stop) { return map.apply(text, stop); });
}

template <NormalForm form>
void readForm(FieldReader&, Normalizers& rules) {
  rules.push_back(toForm(form));
}

constexpr ComponentKind<Normalizers> kNormalizers[] = {
    {"NFC", readForm<NormalForm::nfc>},
    {"NFD", readForm<NormalForm::nfd>},
    {"NFKC", readForm<NormalForm::nfkc>},
    {"NFKD", readForm<NormalForm::nfkd>},
    {"Lowercase", [](FieldReader&, Normalizers& rules) { rules.push_back(toLowerCase()); }},
    {"StripAccents", [](FieldReader&, Normalizers& rules) { rules.push_back(without(&isMark)); }},
    {"Strip",
     [](FieldReader& fields, Normalizers& rules) {
       rules.push_back(stripped(fields.flag("strip_left", true), fields.flag("strip_right", true)));
     }},
    {"Prepend",
     [](FieldReader& fields, Normalizers& rules) { rules.push_back(prepended(fields.text("prepend"))); }},
    {"Replace",
     [](FieldReader& fields, Normalizers& rules) {
       if (const auto pattern = TextPattern::read(fields))
         rules.push_back(replaced(*pattern, fields.text("content")));
     }},
    {"BertNormalizer", readBertNormalizer},
    {"Nmt", [](FieldReader&, Normalizers& rules) { rules.push_back(forTranslation()); }},
    {"ByteLevel", [](FieldReader&, Normalizers& rules) { rules.push_back(spelledBytes()); }},
    {"Precompiled", readPrecompiled},
    {"Sequence", [](FieldReader& fields,
                    Normalizers& rules) { readEach(fields, "normalizers", readNormalizers, rules); }},
};

}  // namespace

Status readNormalizers(const JsonValue& value, const std::string& where, Normalizers& rules) {
  return readRules(kNormalizers, value, where, rules);
}

Result<AlignedText> normalize(const Normalizers& rules, AlignedText text, const std::stop_token& stop) {
  // Enough for as many rules as there may be, if they don't make the text longer.
  constexpr std::size_t kFreeBytes = std::size_t{64} << 10;
  const std::size_t most = kFreeBytes + kMaxRules * text.size();
  std::size_t written = 0;
  for (const Normalizer& rule : rules) {
    if (stop.stop_requested()) return stopped();
    auto next = rule(text, stop);
    if (!next) return next;
    if (const auto status = next->checkLength(); !status) return status.error();
    if ((written += next->size()) > most)
      return Error{
          fmt::format("the tokenizer's {} rules rewrite more than {} bytes in total", rules.size(), most)};
    text = std::move(*next);
  }
  return text;
}

}  // namespace headscope::attention
