#include <fmt/core.h>

#include "attention/formats/quote.h"
#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/pattern.h"
#include "attention/models/tokenizer/tokenizer_parts.h"

namespace headscope::attention {
namespace {

/// GPT-2's expression, which "ByteLevel" applies if "use_regex" is set (Radford et al. 2019, encoder.py).
constexpr std::string_view kGpt2Expression =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

class SplitAtPattern final : public PreTokenizer {
 public:
  SplitAtPattern(TextPattern pattern, SplitBehaviour behaviour, bool invert)
      : pattern_(std::move(pattern)), behaviour_(behaviour), invert_(invert) {}
  Status apply(Pieces& pieces, const std::stop_token& stop) const override {
    PatternFinder finder(pattern_);
    std::vector<ByteRange> matches, split;
    for (const ByteRange& range : pieces.ranges) {
      if (const auto status = finder.find(pieces.text.part(range), matches, stop); !status) return status;
      splitRange(range, matches, behaviour_, invert_, split);
    }
    pieces.ranges = std::move(split);
    return success();
  }

 private:
  TextPattern pattern_;
  SplitBehaviour behaviour_;
  bool invert_;
};

/// Each character of a class is a separate match.
class SplitAtCharacters final : public PreTokenizer {
 public:
  SplitAtCharacters(bool (*isOne)(char32_t), SplitBehaviour behaviour)
      : isOne_(isOne), behaviour_(behaviour) {}
  Status apply(Pieces& pieces, const std::stop_token& stop) const override {
    std::vector<ByteRange> matches, split;
    for (const ByteRange& range : pieces.ranges) {
      if (stop.stop_requested()) return stopped();
      matches.clear();
      eachCharacter(pieces.text.part(range), [&](char32_t c, std::size_t begin, std::size_t end) {
        if (isOne_(c)) matches.push_back({begin, end});
      });
      splitRange(range, matches, behaviour_, false, split);
    }
    pieces.ranges = std::move(split);
    return success();
  }

 private:
  bool (*isOne_)(char32_t);
  SplitBehaviour behaviour_;
};

/// Runs of word characters and runs of other visible characters: \w+|[^\w\s]+.
class Words final : public PreTokenizer {
 public:
  Status apply(Pieces& pieces, const std::stop_token& stop) const override {
    enum class Kind { space, word, sign };
    std::vector<ByteRange> words;
    for (const ByteRange& range : pieces.ranges) {
      if (stop.stop_requested()) return stopped();
      Kind last = Kind::space;
      eachCharacter(pieces.text.part(range), [&](char32_t c, std::size_t begin, std::size_t end) {
        const Kind kind = isRegexWord(c) ? Kind::word : isSpace(c) ? Kind::space : Kind::sign;
        if (kind != Kind::space && kind != last) words.push_back({range.begin + begin, range.begin + end});
        if (kind != Kind::space) words.back().end = range.begin + end;
        last = kind;
      });
    }
    pieces.ranges = std::move(words);
    return success();
  }
};

/// Rewrites the pieces one after another and drops the text between them. Calls `write` with the new text,
/// the old one, and each piece.
template <class Write>
Status rewrite(Pieces& pieces, const std::stop_token& stop, Write write) {
  Pieces written;
  written.text = AlignedText::rewriting(pieces.text);
  written.ranges.reserve(pieces.ranges.size());
  std::size_t count = 0;
  for (const ByteRange& range : pieces.ranges) {
    if (++count % 4096 == 0 && stop.stop_requested()) return stopped();
    const std::size_t begin = written.text.size();
    write(written.text, pieces.text, range);
    written.ranges.push_back({begin, written.text.size()});
  }
  // Keep the end of the typed text, so that what was typed after the last piece isn't lost.
  written.text.append(pieces.text, {pieces.text.size(), pieces.text.size()});
  pieces = std::move(written);
  return pieces.text.checkLength();
}

/// Adds a space before pieces that don't begin with one.
class LeadingSpace final : public PreTokenizer {
 public:
  Status apply(Pieces& pieces, const std::stop_token& stop) const override {
    return rewrite(pieces, stop, [](AlignedText& to, const AlignedText& from, ByteRange range) {
      if (!from.part(range).starts_with(' ')) to.append(" ", from, {range.begin, range.begin});
      to.append(from, range);
    });
  }
};

/// Spells bytes as printable characters.
class ByteCharacters final : public PreTokenizer {
 public:
  Status apply(Pieces& pieces, const std::stop_token& stop) const override {
    std::string character;
    return rewrite(pieces, stop, [&](AlignedText& to, const AlignedText& from, ByteRange range) {
      for (std::size_t at = range.begin; at < range.end; ++at) {
        if (at % 65536 == 0 && stop.stop_requested()) return;
        character.clear();
        appendByteCharacter(static_cast<unsigned char>(from.text()[at]), character);
        to.append(character, from, {at, at + 1});
      }
    });
  }
};

/// SentencePiece's spelling of spaces, with one in front if `front` says so.
class MarkedSpaces final : public PreTokenizer {
 public:
  enum class Front { never, first, always };
  MarkedSpaces(std::string mark, Front front) : mark_(std::move(mark)), front_(front) {}
  Status apply(Pieces& pieces, const std::stop_token& stop) const override {
    return rewrite(pieces, stop, [this](AlignedText& to, const AlignedText& from, ByteRange range) {
      const std::string_view piece = from.part(range);
      const bool marked = piece.starts_with(' ') || piece.starts_with(mark_);
      const bool here = front_ == Front::always || (front_ == Front::first && from.origin(range.begin) == 0);
      if (here && !marked) to.append(mark_, from, {range.begin, range.begin});
      for (std::size_t at = range.begin; at < range.end;) {
        const std::size_t space = std::min(from.text().find(' ', at), range.end);
        to.append(from, {at, space});
        if (space < range.end) to.append(mark_, from, {space, space + 1});
        at = space + 1;
      }
    });
  }

 private:
  std::string mark_;
  Front front_;
};

template <class Rule, class... Arguments>
void add(PreTokenizers& rules, Arguments&&... arguments) {
  rules.push_back(std::make_unique<const Rule>(std::forward<Arguments>(arguments)...));
}

SplitBehaviour readBehaviour(FieldReader& fields, const std::string& otherwise) {
  constexpr std::pair<std::string_view, SplitBehaviour> kBehaviours[] = {
      {"Removed", SplitBehaviour::removed},
      {"Isolated", SplitBehaviour::isolated},
      {"MergedWithPrevious", SplitBehaviour::mergedWithPrevious},
      {"MergedWithNext", SplitBehaviour::mergedWithNext},
      {"Contiguous", SplitBehaviour::contiguous}};
  const std::string found = otherwise.empty() ? fields.text("behavior") : fields.text("behavior", otherwise);
  for (const auto& [name, behaviour] : kBehaviours)
    if (name == found) return behaviour;
  fields.fail(
      fmt::format("\"behavior\" is {}, expected Removed, Isolated, MergedWithPrevious, MergedWithNext "
                  "or Contiguous",
                  quotedText(found)));
  return SplitBehaviour::isolated;
}

Status readByteLevel(const JsonValue&, FieldReader& fields, PreTokenizers& rules) {
  if (fields.flag("add_prefix_space", true)) add<LeadingSpace>(rules);
  if (fields.flag("use_regex", true)) {
    auto pattern = TextPattern::expression(kGpt2Expression);
    if (!pattern) return pattern.error();
    add<SplitAtPattern>(rules, std::move(*pattern), SplitBehaviour::isolated, false);
  }
  add<ByteCharacters>(rules);
  return success();
}

Status readSplit(const JsonValue& value, FieldReader& fields, PreTokenizers& rules) {
  auto pattern = TextPattern::read(value, fields.where());
  if (!pattern) return pattern.error();
  const SplitBehaviour behaviour = readBehaviour(fields, "");
  add<SplitAtPattern>(rules, std::move(*pattern), behaviour, fields.flag("invert", false));
  return success();
}

Status readDigits(const JsonValue&, FieldReader& fields, PreTokenizers& rules) {
  const bool each = fields.flag("individual_digits", false);
  add<SplitAtCharacters>(rules, &isNumeric, each ? SplitBehaviour::isolated : SplitBehaviour::contiguous);
  return success();
}

Status readWhitespace(const JsonValue&, FieldReader&, PreTokenizers& rules) {
  add<Words>(rules);
  return success();
}

Status readWhitespaceSplit(const JsonValue&, FieldReader&, PreTokenizers& rules) {
  add<SplitAtCharacters>(rules, &isSpace, SplitBehaviour::removed);
  return success();
}

Status readPunctuation(const JsonValue&, FieldReader& fields, PreTokenizers& rules) {
  add<SplitAtCharacters>(rules, &isTokenizerPunctuation, readBehaviour(fields, "Isolated"));
  return success();
}

Status readBert(const JsonValue&, FieldReader&, PreTokenizers& rules) {
  add<SplitAtCharacters>(rules, &isSpace, SplitBehaviour::removed);
  add<SplitAtCharacters>(rules, &isTokenizerPunctuation, SplitBehaviour::isolated);
  return success();
}

Status readMetaspace(const JsonValue&, FieldReader& fields, PreTokenizers& rules) {
  using Front = MarkedSpaces::Front;
  const std::string mark = fields.text("replacement");
  if (mark.empty()) fields.fail("\"replacement\" is empty");
  // Older files only say whether there is one in front.
  const bool prefix = fields.flag("add_prefix_space", true);
  const std::string scheme = fields.text("prepend_scheme", prefix ? "always" : "never");
  if (scheme != "always" && scheme != "first" && scheme != "never")
    fields.fail(fmt::format("\"prepend_scheme\" is {}, expected always, first or never", quotedText(scheme)));
  if (fields.error()) return *fields.error();
  add<MarkedSpaces>(rules, mark,
                    scheme == "always"  ? Front::always
                    : scheme == "first" ? Front::first
                                        : Front::never);
  if (fields.flag("split", true))
    add<SplitAtPattern>(rules, TextPattern::exactly(mark), SplitBehaviour::mergedWithNext, false);
  return success();
}

Status readSequence(const JsonValue&, FieldReader& fields, PreTokenizers& rules) {
  return readEach(fields, "pretokenizers", readPreTokenizers, rules);
}

struct Kind {
  std::string_view name;
  Status (*read)(const JsonValue& component, FieldReader& fields, PreTokenizers& rules);
};
constexpr Kind kKinds[] = {{"ByteLevel", readByteLevel},
                           {"Split", readSplit},
                           {"Digits", readDigits},
                           {"Whitespace", readWhitespace},
                           {"WhitespaceSplit", readWhitespaceSplit},
                           {"Punctuation", readPunctuation},
                           {"BertPreTokenizer", readBert},
                           {"Metaspace", readMetaspace},
                           {"Sequence", readSequence}};

}  // namespace

Status readPreTokenizers(const JsonValue& value, const std::string& where, PreTokenizers& rules) {
  if (const auto status = readByType(kKinds, value, where, rules); !status) return status;
  if (rules.size() > kMaxRules) return Error{fmt::format("{}: more than {} rules", where, kMaxRules)};
  return success();
}

Result<Pieces> preTokenize(const PreTokenizers& rules, AlignedText text, const std::stop_token& stop) {
  Pieces pieces;
  if (text.size() > 0) pieces.ranges.push_back({0, text.size()});
  pieces.text = std::move(text);
  for (const auto& rule : rules) {
    if (const auto status = rule->apply(pieces, stop); !status) return status.error();
    if (stop.stop_requested()) return stopped();
  }
  return pieces;
}

}  // namespace headscope::attention
