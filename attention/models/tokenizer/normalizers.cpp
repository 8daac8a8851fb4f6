#include <fmt/core.h>

#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/pattern.h"
#include "attention/models/tokenizer/tokenizer_parts.h"

namespace headscope::attention {
namespace {

/// Rewrites each character separately: rewrite(character, its text, output).
template <class Rewrite>
Result<AlignedText> eachRewritten(const AlignedText& text, const std::stop_token& stop, Rewrite rewrite) {
  AlignedText result = AlignedText::rewriting(text);
  std::string written;
  std::size_t count = 0;
  bool halted = false;
  eachCharacter(text.text(), [&](char32_t c, std::size_t begin, std::size_t end) {
    halted = halted || (++count % 4096 == 0 && stop.stop_requested());
    if (halted) return;
    written.clear();
    rewrite(c, text.part({begin, end}), written);
    result.append(written, text, {begin, end});
  });
  if (halted) return stopped();
  return result;
}

class Form final : public Normalizer {
 public:
  explicit Form(NormalForm form) : form_(form) {}
  Result<AlignedText> apply(const AlignedText& text, const std::stop_token& stop) const override {
    return normalForm(text, form_, stop);
  }

 private:
  NormalForm form_;
};

class Lowercase final : public Normalizer {
 public:
  Result<AlignedText> apply(const AlignedText& text, const std::stop_token& stop) const override {
    return eachRewritten(text, stop,
                         [](char32_t c, std::string_view, std::string& to) { appendLowerCase(c, to); });
  }
};

/// Drops unwanted characters.
class Without final : public Normalizer {
 public:
  explicit Without(bool (*unwanted)(char32_t)) : unwanted_(unwanted) {}
  Result<AlignedText> apply(const AlignedText& text, const std::stop_token& stop) const override {
    return eachRewritten(text, stop, [this](char32_t c, std::string_view same, std::string& to) {
      if (!unwanted_(c)) to = same;
    });
  }

 private:
  bool (*unwanted_)(char32_t);
};

/// BERT's: drops control characters and the like, and turns all white space into spaces.
class CleanText final : public Normalizer {
 public:
  Result<AlignedText> apply(const AlignedText& text, const std::stop_token& stop) const override {
    return eachRewritten(text, stop, [](char32_t c, std::string_view same, std::string& to) {
      constexpr char32_t kReplacement = 0xFFFD;
      const bool spacing = c == '\t' || c == '\n' || c == '\r';
      if (c == 0 || c == kReplacement || (isOther(c) && !spacing)) return;
      if (spacing || isSpace(c))
        to = ' ';
      else
        to = same;
    });
  }
};

/// BERT's: surrounds Han ideographs with spaces, so that each is a word.
class SpacedIdeographs final : public Normalizer {
 public:
  Result<AlignedText> apply(const AlignedText& text, const std::stop_token& stop) const override {
    AlignedText result = AlignedText::rewriting(text);
    std::size_t count = 0;
    bool halted = false;
    eachCharacter(text.text(), [&](char32_t c, std::size_t begin, std::size_t end) {
      halted = halted || (++count % 4096 == 0 && stop.stop_requested());
      if (halted) return;
      const bool apart = isBertIdeograph(c);
      if (apart) result.append(" ", text, {begin, begin});
      result.append(text, {begin, end});
      if (apart) result.append(" ", text, {end, end});
    });
    if (halted) return stopped();
    return result;
  }
};

/// Prepends a text such as SentencePiece's mark for a space. If typed spaces or marks follow, all of them
/// look alike in the end: the typed ones then count as the first, and the one that wasn't typed as the last.
class Prepend final : public Normalizer {
 public:
  explicit Prepend(std::string what) : what_(std::move(what)) {}
  Result<AlignedText> apply(const AlignedText& text, const std::stop_token&) const override {
    if (text.size() == 0 || what_.empty()) return text;
    AlignedText result = AlignedText::rewriting(text);
    ByteRange last{0, 0};
    std::string_view written = what_;
    for (std::size_t next = alike(text, 0); next > last.end; next = alike(text, last.end)) {
      result.append(written, text, {last.end, next});
      written = text.part({last.end, next});
      last = {last.end, next};
    }
    result.append(written, text, {last.end, last.end});
    result.append(text, {last.end, text.size()});
    return result;
  }

 private:
  /// The end of the space or mark at `at`; `at` if there is none.
  std::size_t alike(const AlignedText& text, std::size_t at) const {
    const std::string_view rest = std::string_view(text.text()).substr(at);
    if (rest.starts_with(what_)) return at + what_.size();
    return at + (what_ == "▁" && rest.starts_with(' ') ? 1 : 0);
  }

  std::string what_;
};

class Replace final : public Normalizer {
 public:
  Replace(TextPattern pattern, std::string by) : pattern_(std::move(pattern)), by_(std::move(by)) {}
  Result<AlignedText> apply(const AlignedText& text, const std::stop_token& stop) const override {
    AlignedText result = AlignedText::rewriting(text);
    std::size_t at = 0;
    const auto replace = [&](ByteRange match) {
      result.append(text, {at, match.begin});
      result.append(by_, text, match);
      at = match.end;
      return result.checkLength();
    };
    if (const auto status = PatternFinder(pattern_).find(text.text(), replace, stop); !status)
      return status.error();
    result.append(text, {at, text.size()});
    return result;
  }

 private:
  TextPattern pattern_;
  std::string by_;
};

/// Strips white space from the ends.
class Strip final : public Normalizer {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}
  Result<AlignedText> apply(const AlignedText& text, const std::stop_token&) const override {
    std::size_t first = text.size(), last = 0;
    eachCharacter(text.text(), [&](char32_t c, std::size_t begin, std::size_t end) {
      if (isSpace(c)) return;
      first = std::min(first, begin);
      last = end;
    });
    AlignedText result = AlignedText::rewriting(text);
    const std::size_t begin = left_ ? first : 0, end = right_ ? last : text.size();
    if (begin < end) result.append(text, {begin, end});
    return result;
  }

 private:
  bool left_, right_;
};

class Mapped final : public Normalizer {
 public:
  explicit Mapped(CharacterMap map) : map_(std::move(map)) {}
  Result<AlignedText> apply(const AlignedText& text, const std::stop_token& stop) const override {
    return map_.apply(text, stop);
  }

 private:
  CharacterMap map_;
};

template <class Rule, class... Arguments>
void add(Normalizers& rules, Arguments&&... arguments) {
  rules.push_back(std::make_unique<const Rule>(std::forward<Arguments>(arguments)...));
}

Status readBert(const JsonValue&, FieldReader& fields, Normalizers& rules) {
  const bool lowercase = fields.flag("lowercase", true);
  if (fields.flag("clean_text", true)) add<CleanText>(rules);
  if (fields.flag("handle_chinese_chars", true)) add<SpacedIdeographs>(rules);
  if (fields.flag("strip_accents", lowercase)) {
    add<Form>(rules, NormalForm::nfd);
    add<Without>(rules, &isNonspacingMark);
  }
  if (lowercase) add<Lowercase>(rules);
  return success();
}

Status readReplace(const JsonValue& value, FieldReader& fields, Normalizers& rules) {
  auto pattern = TextPattern::read(value, fields.where());
  if (!pattern) return pattern.error();
  add<Replace>(rules, std::move(*pattern), fields.text("content"));
  return success();
}

template <NormalForm form>
Status readForm(const JsonValue&, FieldReader&, Normalizers& rules) {
  add<Form>(rules, form);
  return success();
}

Status readLowercase(const JsonValue&, FieldReader&, Normalizers& rules) {
  add<Lowercase>(rules);
  return success();
}

Status readStripAccents(const JsonValue&, FieldReader&, Normalizers& rules) {
  add<Without>(rules, &isMark);
  return success();
}

Status readStrip(const JsonValue&, FieldReader& fields, Normalizers& rules) {
  add<Strip>(rules, fields.flag("strip_left", true), fields.flag("strip_right", true));
  return success();
}

Status readPrepend(const JsonValue&, FieldReader& fields, Normalizers& rules) {
  add<Prepend>(rules, fields.text("prepend"));
  return success();
}

Status readPrecompiled(const JsonValue&, FieldReader& fields, Normalizers& rules) {
  const std::string table = fields.text("precompiled_charsmap");
  if (fields.error()) return *fields.error();
  auto map = CharacterMap::read(table);
  if (!map) return Error{fields.where() + ".precompiled_charsmap: " + map.error().message};
  add<Mapped>(rules, *std::move(map));
  return success();
}

Status readSequence(const JsonValue&, FieldReader& fields, Normalizers& rules) {
  return readEach(fields, "normalizers", readNormalizers, rules);
}

struct Kind {
  std::string_view name;
  Status (*read)(const JsonValue& component, FieldReader& fields, Normalizers& rules);
};
constexpr Kind kKinds[] = {{"NFC", readForm<NormalForm::nfc>},
                           {"NFD", readForm<NormalForm::nfd>},
                           {"NFKC", readForm<NormalForm::nfkc>},
                           {"NFKD", readForm<NormalForm::nfkd>},
                           {"Lowercase", readLowercase},
                           {"StripAccents", readStripAccents},
                           {"Strip", readStrip},
                           {"Prepend", readPrepend},
                           {"Replace", readReplace},
                           {"BertNormalizer", readBert},
                           {"Precompiled", readPrecompiled},
                           {"Sequence", readSequence}};

}  // namespace

Status readNormalizers(const JsonValue& value, const std::string& where, Normalizers& rules) {
  if (const auto status = readByType(kKinds, value, where, rules); !status) return status;
  if (rules.size() > kMaxRules) return Error{fmt::format("{}: more than {} rules", where, kMaxRules)};
  return success();
}

Result<AlignedText> normalize(const Normalizers& rules, AlignedText text, const std::stop_token& stop) {
  // Enough for as many rules as there may be, if they don't make the text longer.
  constexpr std::size_t kFreeBytes = std::size_t{64} << 10;
  const std::size_t most = kFreeBytes + kMaxRules * text.size();
  std::size_t written = 0;
  for (const auto& rule : rules) {
    if (stop.stop_requested()) return stopped();
    auto next = rule->apply(text, stop);
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
