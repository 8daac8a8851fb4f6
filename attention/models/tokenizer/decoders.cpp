#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "attention/formats/quote.h"
#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/pattern.h"
#include "attention/models/tokenizer/tokenizer_parts.h"
#include "attention/text/tokenizer.h"

namespace headscope::attention {
namespace {

void replaceAll(std::string& text, std::string_view what, std::string_view by) {
  std::string replaced;
  std::size_t done = 0;
  for (std::size_t at = 0; (at = text.find(what, done)) != std::string::npos; done = at + what.size())
    replaced.append(text, done, at - done).append(by);
  if (done > 0) text = replaced.append(text, done, std::string::npos);
}

std::string joined(const std::vector<std::string>& tokens) {
  std::string text;
  for (const std::string& token : tokens) text += token;
  return text;
}

class FromByteCharacters final : public Decoder {
 public:
  Status decode(std::vector<std::string>& tokens, std::size_t) const override {
    std::string bytes;
    for (const std::string& token : tokens) appendSpelledBytes(token, bytes);
    tokens.assign(1, repairedUtf8(bytes));
    return success();
  }
  void toBytes(std::string& token, std::size_t) const override {
    std::string bytes;
    appendSpelledBytes(token, bytes);
    token = std::move(bytes);
  }
};

class Replace final : public Decoder {
 public:
  Replace(TextPattern pattern, std::string by) : pattern_(std::move(pattern)), by_(std::move(by)) {}
  Status decode(std::vector<std::string>& tokens, std::size_t most) const override {
    PatternFinder finder(pattern_);
    std::size_t left = most;
    for (std::string& token : tokens) {
      std::string replaced;
      std::size_t at = 0;
      const auto replace = [&](ByteRange match) -> Status {
        if (match.begin - at + by_.size() > left - replaced.size()) return tooLongRewritten(most);
        replaced.append(token, at, match.begin - at).append(by_);
        at = match.end;
        return success();
      };
      if (const auto status = finder.find(token, replace, {}); !status) return status;
      replaced.append(token, at, std::string::npos);
      if (replaced.size() > left) return tooLongRewritten(most);
      left -= replaced.size();
      token = std::move(replaced);
    }
    return success();
  }
  void toBytes(std::string& token, std::size_t most) const override {
    std::vector<std::string> one{token};
    if (decode(one, most)) token = std::move(one[0]);
  }

 private:
  TextPattern pattern_;
  std::string by_;
};

/// The byte that a token such as "<0xE2>" names.
std::optional<char> byteOf(std::string_view token) {
  unsigned value = 0;
  if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') return std::nullopt;
  const auto [end, code] = std::from_chars(token.data() + 3, token.data() + 5, value, 16);
  if (code != std::errc{} || end != token.data() + 5) return std::nullopt;
  return static_cast<char>(value);
}

/// Joins consecutive byte tokens into one text or, if they aren't UTF-8, into one replacement character each.
class ByteFallback final : public Decoder {
 public:
  Status decode(std::vector<std::string>& tokens, std::size_t) const override {
    std::vector<std::string> decoded;
    std::string bytes;
    const auto flush = [&] {
      if (validateUtf8(bytes))
        decoded.push_back(bytes);
      else
        for (std::size_t i = 0; i < bytes.size(); ++i) decoded.emplace_back("\xEF\xBF\xBD");
      bytes.clear();
    };
    for (std::string& token : tokens) {
      if (const auto byte = byteOf(token)) {
        bytes += *byte;
        continue;
      }
      if (!bytes.empty()) flush();
      decoded.push_back(std::move(token));
    }
    if (!bytes.empty()) flush();
    tokens = std::move(decoded);
    return success();
  }
  void toBytes(std::string& token, std::size_t) const override {
    if (const auto byte = byteOf(token)) token.assign(1, *byte);
  }
};

class Fuse final : public Decoder {
 public:
  Status decode(std::vector<std::string>& tokens, std::size_t) const override {
    tokens.assign(1, joined(tokens));
    return success();
  }
};

/// Strips up to `start` and `stop` copies of a string from the two ends of every token.
class Strip final : public Decoder {
 public:
  Strip(std::string what, std::size_t start, std::size_t stop)
      : what_(std::move(what)), start_(start), stop_(stop) {}
  Status decode(std::vector<std::string>& tokens, std::size_t) const override {
    for (std::string& token : tokens) {
      std::size_t begin = 0, end = token.size();
      for (std::size_t i = 0; i < start_ && std::string_view(token).substr(begin).starts_with(what_); ++i)
        begin += what_.size();
      for (std::size_t i = 0;
           i < stop_ && std::string_view(token).substr(begin, end - begin).ends_with(what_); ++i)
        end -= what_.size();
      token = token.substr(begin, end - begin);
    }
    return success();
  }

 private:
  std::string what_;
  std::size_t start_, stop_;
};

class WordPieces final : public Decoder {
 public:
  WordPieces(std::string prefix, bool cleanup) : prefix_(std::move(prefix)), cleanup_(cleanup) {}
  Status decode(std::vector<std::string>& tokens, std::size_t) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      std::string& token = tokens[i];
      if (i > 0 && !token.starts_with(prefix_))
        token.insert(0, " ");
      else if (i > 0)
        token.erase(0, prefix_.size());
      if (cleanup_) clean(token);
    }
    return success();
  }

 private:
  /// Removes spaces that written English doesn't have.
  static void clean(std::string& token) {
    constexpr std::pair<std::string_view, std::string_view> kTypos[] = {
        {" .", "."},   {" ?", "?"},           {" !", "!"},   {" ,", ","},     {" ' ", "'"},   {" n't", "n't"},
        {" 'm", "'m"}, {" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}};
    for (const auto& [spaced, right] : kTypos) replaceAll(token, spaced, right);
  }

  std::string prefix_;
  bool cleanup_;
};

/// Turns the suffix of tokens that end a word into a space, except at the end of the text.
class WordEnds final : public Decoder {
 public:
  explicit WordEnds(std::string suffix) : suffix_(std::move(suffix)) {}
  Status decode(std::vector<std::string>& tokens, std::size_t) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i)
      replaceAll(tokens[i], suffix_, i + 1 == tokens.size() ? "" : " ");
    return success();
  }
  void toBytes(std::string& token, std::size_t) const override { replaceAll(token, suffix_, ""); }

 private:
  std::string suffix_;
};

class FromMarkedSpaces final : public Decoder {
 public:
  FromMarkedSpaces(std::string mark, bool front) : mark_(std::move(mark)), front_(front) {}
  Status decode(std::vector<std::string>& tokens, std::size_t) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) replaceAll(tokens[i], mark_, i == 0 && front_ ? "" : " ");
    return success();
  }
  void toBytes(std::string& token, std::size_t) const override { replaceAll(token, mark_, " "); }

 private:
  std::string mark_;
  bool front_;  // the first token's mark wasn't typed
};

template <class Rule, class... Arguments>
void add(Decoders& rules, Arguments&&... arguments) {
  rules.push_back(std::make_unique<const Rule>(std::forward<Arguments>(arguments)...));
}

Status readByteLevel(const JsonValue&, FieldReader&, Decoders& rules) {
  add<FromByteCharacters>(rules);
  return success();
}

Status readReplace(const JsonValue& value, FieldReader& fields, Decoders& rules) {
  auto pattern = TextPattern::read(value, fields.where());
  if (!pattern) return pattern.error();
  add<Replace>(rules, std::move(*pattern), fields.text("content"));
  return success();
}

Status readByteFallback(const JsonValue&, FieldReader&, Decoders& rules) {
  add<ByteFallback>(rules);
  return success();
}

Status readFuse(const JsonValue&, FieldReader&, Decoders& rules) {
  add<Fuse>(rules);
  return success();
}

Status readStrip(const JsonValue&, FieldReader& fields, Decoders& rules) {
  const std::string what = fields.text("content");
  const std::int64_t start = fields.integer("start"), stop = fields.integer("stop");
  if (what.empty()) fields.fail("\"content\" is empty");
  if (start < 0 || stop < 0) fields.fail("\"start\" or \"stop\" is negative");
  if (!fields.error())
    add<Strip>(rules, what, static_cast<std::size_t>(start), static_cast<std::size_t>(stop));
  return success();
}

Status readWordPiece(const JsonValue&, FieldReader& fields, Decoders& rules) {
  const std::string prefix = fields.text("prefix", "##");
  add<WordPieces>(rules, prefix, fields.flag("cleanup", true));
  return success();
}

Status readBytePairs(const JsonValue&, FieldReader& fields, Decoders& rules) {
  const std::string suffix = fields.text("suffix", "</w>");
  if (suffix.empty()) fields.fail("\"suffix\" is empty");
  if (!fields.error()) add<WordEnds>(rules, suffix);
  return success();
}

Status readMetaspace(const JsonValue&, FieldReader& fields, Decoders& rules) {
  const std::string mark = fields.text("replacement");
  if (mark.empty()) fields.fail("\"replacement\" is empty");
  const bool prefix = fields.flag("add_prefix_space", true);
  const std::string scheme = fields.text("prepend_scheme", prefix ? "always" : "never");
  if (!fields.error()) add<FromMarkedSpaces>(rules, mark, scheme != "never");
  return success();
}

Status readSequence(const JsonValue&, FieldReader& fields, Decoders& rules) {
  return readEach(fields, "decoders", readDecoders, rules);
}

struct Kind {
  std::string_view name;
  Status (*read)(const JsonValue& component, FieldReader& fields, Decoders& rules);
};
constexpr Kind kKinds[] = {
    {"ByteLevel", readByteLevel}, {"Replace", readReplace},      {"ByteFallback", readByteFallback},
    {"Fuse", readFuse},           {"Strip", readStrip},          {"WordPiece", readWordPiece},
    {"Metaspace", readMetaspace}, {"BPEDecoder", readBytePairs}, {"Sequence", readSequence}};

}  // namespace

Status readDecoders(const JsonValue& value, const std::string& where, Decoders& rules) {
  if (const auto status = readByType(kKinds, value, where, rules); !status) return status;
  if (rules.size() > kMaxRules) return Error{fmt::format("{}: more than {} rules", where, kMaxRules)};
  return success();
}

}  // namespace headscope::attention
