#include <fmt/core.h>

#include "attention/formats/quote.h"
#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/pattern.h"
#include "attention/models/tokenizer/tokenizer_parts.h"

namespace headscope::attention {
namespace {

/// Splits each piece at the matches that find(piece, matches) finds in it.
template <class Find>
Status splitPieces(Pieces& pieces, SplitBehaviour behaviour, bool invert, const std::stop_token& stop,
                   Find find) {
  std::vector<ByteRange> matches, split;
  for (const ByteRange& range : pieces.ranges) {
    if (stop.stop_requested()) return stopped();
    matches.clear();
    if (const Status status = find(pieces.text.part(range), matches); !status) return status;
    splitRange(range, matches, behaviour, invert, split);
  }
  pieces.ranges = std::move(split);
  return success();
}

PreTokenizer splitAt(TextPattern pattern, SplitBehaviour behaviour, bool invert = false) {
  return [pattern = std::move(pattern), behaviour, invert](Pieces& pieces, const std::stop_token& stop) {
    PatternFinder finder(pattern);
    const auto find = [&](std::string_view piece, std::vector<ByteRange>& matches) {
      return finder.find(piece, matches, stop);
    };
    return splitPieces(pieces, behaviour, invert, stop, find);
  };
}

/// Each character of a class is a separate match.
PreTokenizer splitAt(bool (*isOne)(char32_t), SplitBehaviour behaviour) {
  return [isOne, behaviour](Pieces& pieces, const std::stop_token& stop) {
    const auto find = [&](std::string_view piece, std::vector<ByteRange>& matches) {
      eachCharacter(piece, [&](char32_t c, std::size_t begin, std::size_t end) {
        if (isOne(c)) matches.push_back({begin, end});
      });
      return success();
    };
    return splitPieces(pieces, behaviour, false, stop, find);
  };
}

/// Runs of word characters and runs of other visible characters: \w+|[^\w\s]+.
Status toWords(Pieces& pieces, const std::stop_token& stop) {
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

/// Rewrites the pieces one after another and drops the text between them. Calls `write` with the new text,
/// the old one, and each piece.
template <class Write>
Status rewritePieces(Pieces& pieces, const std::stop_token& stop, Write write) {
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
Status addLeadingSpaces(Pieces& pieces, const std::stop_token& stop) {
  return rewritePieces(pieces, stop, [](AlignedText& to, const AlignedText& from, ByteRange range) {
    if (!from.part(range).starts_with(' ')) to.append(" ", from, {range.begin, range.begin});
    to.append(from, range);
  });
}

/// Spells bytes as printable characters.
Status spellBytes(Pieces& pieces, const std::stop_token& stop) {
  std::string character;
  return rewritePieces(pieces, stop, [&](AlignedText& to, const AlignedText& from, ByteRange range) {
    for (std::size_t at = range.begin; at < range.end; ++at) {
      if (at % 65536 == 0 && stop.stop_requested()) return;
      character.clear();
      appendByteCharacter(static_cast<unsigned char>(from.text()[at]), character);
      to.append(character, from, {at, at + 1});
    }
  });
}

/// SentencePiece's spelling of spaces, with one in front of every piece ("always"), of the text ("first") or
/// of none.
PreTokenizer markSpaces(const std::string& mark, const std::string& scheme) {
  return [mark, always = scheme == "always", first = scheme == "first"](Pieces& pieces,
                                                                        const std::stop_token& stop) {
    return rewritePieces(pieces, stop, [&](AlignedText& to, const AlignedText& from, ByteRange range) {
      const std::string_view piece = from.part(range);
      const bool marked = piece.starts_with(' ') || piece.starts_with(mark);
      const bool here = always || (first && from.origin(range.begin) == 0);
      if (here && !marked) to.append(mark, from, {range.begin, range.begin});
      for (std::size_t at = range.begin; at < range.end;) {
        const std::size_t space = std::min(from.text().find(' ', at), range.end);
        to.append(from, {at, space});
        if (space < range.end) to.append(mark, from, {space, space + 1});
        at = space + 1;
      }
    });
  };
}

SplitBehaviour readBehaviour(FieldReader& fields, const std::optional<std::string>& otherwise = {}) {
  constexpr std::pair<std::string_view, SplitBehaviour> kBehaviours[] = {
      {"Removed", SplitBehaviour::removed},
      {"Isolated", SplitBehaviour::isolated},
      {"MergedWithPrevious", SplitBehaviour::mergedWithPrevious},
      {"MergedWithNext", SplitBehaviour::mergedWithNext},
      {"Contiguous", SplitBehaviour::contiguous}};
  const std::string found = fields.text("behavior", otherwise);
  for (const auto& [name, behaviour] : kBehaviours)
    if (name == found) return behaviour;
  fields.fail(
      fmt::format("\"behavior\" is {}, expected Removed, Isolated, MergedWithPrevious, MergedWithNext "
                  "or Contiguous",
                  quotedText(found)));
  return SplitBehaviour::isolated;
}

void readByteLevel(FieldReader& fields, PreTokenizers& rules) {
  // GPT-2's expression (Radford et al. 2019, encoder.py).
  constexpr std::string_view kGpt2 =
      R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
  if (fields.flag("add_prefix_space", true)) rules.emplace_back(addLeadingSpaces);
  if (fields.flag("use_regex", true))
    rules.push_back(splitAt(TextPattern::expression(kGpt2).value(), SplitBehaviour::isolated));
  rules.emplace_back(spellBytes);
}

void readSplit(FieldReader& fields, PreTokenizers& rules) {
  const auto pattern = TextPattern::read(fields);
  const SplitBehaviour behaviour = readBehaviour(fields);
  if (pattern) rules.push_back(splitAt(*pattern, behaviour, fields.flag("invert", false)));
}

void readDigits(FieldReader& fields, PreTokenizers& rules) {
  const bool each = fields.flag("individual_digits", false);
  rules.push_back(splitAt(&isNumeric, each ? SplitBehaviour::isolated : SplitBehaviour::contiguous));
}

void readMetaspace(FieldReader& fields, PreTokenizers& rules) {
  const std::string mark = fields.text("replacement");
  if (mark.empty()) fields.fail("\"replacement\" is empty");
  // Older files only say whether there is one in front.
  const bool prefix = fields.flag("add_prefix_space", true);
  const std::string scheme = fields.text("prepend_scheme", prefix ? "always" : "never");
  if (scheme != "always" && scheme != "first" && scheme != "never")
    fields.fail(fmt::format("\"prepend_scheme\" is {}, expected always, first or never", quotedText(scheme)));
  if (!fields.status()) return;
  rules.push_back(markSpaces(mark, scheme));
  if (fields.flag("split", true))
    rules.push_back(splitAt(TextPattern::exactly(mark), SplitBehaviour::mergedWithNext));
}

void readDelimiter(FieldReader& fields, PreTokenizers& rules) {
  const std::string delimiter = fields.text("delimiter");
  if (delimiter.empty()) return fields.fail("\"delimiter\" is empty");
  rules.push_back(splitAt(TextPattern::exactly(delimiter), SplitBehaviour::removed));
}

/// Pieces of that many characters; the last may be shorter.
void readFixedLength(FieldReader& fields, PreTokenizers& rules) {
  const std::int64_t length = fields.integer("length", 5);
  if (length < 1) return fields.fail(fmt::format("\"length\" is {}, expected at least 1", length));
  rules.push_back([length](Pieces& pieces, const std::stop_token& stop) {
    const auto find = [&](std::string_view piece, std::vector<ByteRange>& matches) {
      std::int64_t count = 0;
      eachCharacter(piece, [&](char32_t, std::size_t begin, std::size_t end) {
        if (count++ % length == 0) matches.push_back({begin, end});
        matches.back().end = end;
      });
      return success();
    };
    return splitPieces(pieces, SplitBehaviour::isolated, false, stop, find);
  });
}

constexpr ComponentKind<PreTokenizers> kPreTokenizers[] = {
    {"ByteLevel", readByteLevel},
    {"Split", readSplit},
    {"Digits", readDigits},
    {"CharDelimiterSplit", readDelimiter},
    {"FixedLength", readFixedLength},
    {"Whitespace", [](FieldReader&, PreTokenizers& rules) { rules.emplace_back(toWords); }},
    {"WhitespaceSplit",
     [](FieldReader&, PreTokenizers& rules) { rules.push_back(splitAt(&isSpace, SplitBehaviour::removed)); }},
    {"Punctuation",
     [](FieldReader& fields, PreTokenizers& rules) {
       rules.push_back(splitAt(&isTokenizerPunctuation, readBehaviour(fields, "Isolated")));
     }},
    {"BertPreTokenizer",
     [](FieldReader&, PreTokenizers& rules) {
       rules.push_back(splitAt(&isSpace, SplitBehaviour::removed));
       rules.push_back(splitAt(&isTokenizerPunctuation, SplitBehaviour::isolated));
     }},
    {"Metaspace", readMetaspace},
    {"Sequence", [](FieldReader& fields,
                    PreTokenizers& rules) { readEach(fields, "pretokenizers", readPreTokenizers, rules); }},
};

}  // namespace

Status readPreTokenizers(const JsonValue& value, const std::string& where, PreTokenizers& rules) {
  return readRules(kPreTokenizers, value, where, rules);
}

Result<Pieces> preTokenize(const PreTokenizers& rules, AlignedText text, const std::stop_token& stop) {
  Pieces pieces;
  if (text.size() > 0) pieces.ranges.push_back({0, text.size()});
  pieces.text = std::move(text);
  for (const PreTokenizer& rule : rules) {
    if (const auto status = rule(pieces, stop); !status) return status.error();
    if (stop.stop_requested()) return stopped();
  }
  return pieces;
}

}  // namespace headscope::attention
