#include "attention/masks/expression_parser.h"

#include <fmt/core.h>

#include "attention/text/ascii.h"
#include "attention/text/unicode.h"

namespace headscope::attention {
namespace {

bool isBlank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}
bool isWordPart(char c) {
  return isLetter(c) || c == '_' || isDigit(c);
}

std::string byteText(char c) {
  constexpr char kDigits[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
}

}  // namespace

std::string quotedWord(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  std::string out = "\"";
  std::size_t at = 0;
  while (at < text.size() && at < kLongest) {
    const DecodedCodePoint point = decodeUtf8(text, at);
    if (!point.fault && !isControl(point.value)) out += text.substr(at, point.length);
    at += point.length;
  }
  return out + (at < text.size() ? "…\"" : "\"");
}

char MaskLexer::after() const {
  std::size_t at = at_;
  while (at < text_.size() && isBlank(text_[at])) ++at;
  return at < text_.size() ? text_[at] : '\0';
}

void MaskLexer::fail(std::string message, std::size_t offset) {
  error_ = MaskTextError{std::move(message), offset};
  next_ = {};
  next_.offset = offset;
  at_ = text_.size();
}

void MaskLexer::read() {
  if (error_) return;
  while (at_ < text_.size() && isBlank(text_[at_])) ++at_;
  next_ = {};
  next_.offset = at_;
  if (at_ == text_.size()) return;
  const std::size_t begin = at_;
  const char c = text_[at_];
  if (c == '"') return readString();
  if (isWordPart(c)) {
    while (at_ < text_.size() && isWordPart(text_[at_])) ++at_;
    // Reads 1.5 as one token for a clear error message.
    if (isDigit(c) && at_ + 1 < text_.size() && text_[at_] == '.' && isDigit(text_[at_ + 1]))
      for (++at_; at_ < text_.size() && isWordPart(text_[at_]);) ++at_;
    next_.text = text_.substr(begin, at_ - begin);
    next_.kind = isDigit(c) ? MaskTokenKind::number : MaskTokenKind::word;
    if (isDigit(c) && next_.text.find_first_not_of("0123456789") != std::string_view::npos)
      fail(quotedWord(next_.text) + " is not a whole number", begin);
    return;
  }
  if (std::string_view("()[],=:&|!-").find(c) != std::string_view::npos) {
    next_.kind = MaskTokenKind::symbol;
    next_.text = text_.substr(at_++, 1);
    return;
  }
  const DecodedCodePoint point = decodeUtf8(text_, at_);
  const bool shown = !point.fault && !isControl(point.value);
  fail("\"" + (shown ? std::string(text_.substr(at_, point.length)) : byteText(c)) +
           "\" is not allowed in a mask",
       begin);
}

void MaskLexer::readString() {
  const std::size_t begin = at_;
  std::string value;
  for (++at_; at_ < text_.size() && text_[at_] != '"';) {
    if (text_[at_] == '\\') {
      const char escaped = at_ + 1 < text_.size() ? text_[at_ + 1] : '\0';
      if (escaped != '"' && escaped != '\\')
        return fail("a backslash in quotes must be doubled or precede a quote", at_);
      value += escaped;
      at_ += 2;
      continue;
    }
    const DecodedCodePoint point = decodeUtf8(text_, at_);
    if (point.fault)
      return fail("the text in quotes is not UTF-8: it has the byte " + byteText(text_[at_]), at_);
    if (isControl(point.value)) return fail("the text in quotes has a control character", at_);
    value += text_.substr(at_, point.length);
    at_ += point.length;
  }
  if (at_ == text_.size()) return fail("a closing quote is missing", begin);
  ++at_;
  next_.kind = MaskTokenKind::string;
  next_.text = text_.substr(begin, at_ - begin);
  next_.string = std::move(value);
}

namespace {

constexpr std::size_t kMaxDepth = 64, kMaxLayers = 4096, kMaxText = std::size_t{1} << 20;

/// Whether a layer has no prefixes.
bool isBare(const Layer& layer) {
  return layer.name.empty() && layer.on && !layer.heads && !layer.sequences && !layer.negated;
}

/// Converts a list to the right operand of a join: a single layer as it is, several as a group.
Layer asOperand(MaskLayers layers, Combine join) {
  Layer operand;
  if (layers.size() == 1) {
    operand = std::move(layers.front());
  } else {
    operand.group = std::move(layers);
  }
  operand.combine = join;
  return operand;
}

Combine tighter(Combine join) {
  return join == Combine::replace ? Combine::any : Combine::all;
}

/// Returns our operator for one from other languages; empty if the token isn't one.
std::string_view operatorFor(const MaskToken& token) {
  if (token.isWord("and") || token.isWord("AND")) return "&";
  if (token.isWord("or") || token.isWord("OR")) return "|";
  if (token.isWord("not") || token.isWord("NOT")) return "!";
  return {};
}

std::vector<std::string_view> patternNames() {
  std::vector<std::string_view> names;
  for (const PatternInfo& info : patternTable()) names.push_back(info.name);
  return names;
}

}  // namespace

ParsedMask parseMask(std::string_view text) {
  ParsedMask parsed;
  if (text.size() > kMaxText) {
    parsed.error = MaskTextError{
        fmt::format("the mask is {} bytes long, expected at most {}", text.size(), kMaxText), kMaxText};
    return parsed;
  }
  MaskParser parser(text);
  if (!parser.read(parsed.layers)) {
    parsed.layers.clear();
    parsed.error = parser.error();
  }
  return parsed;
}

bool MaskParser::read(MaskLayers& layers) {
  if (lexer_.peek().kind == MaskTokenKind::end && !lexer_.error()) return true;
  if (!readMask(layers)) return false;
  const MaskToken& rest = lexer_.peek();
  if (rest.isSymbol(')')) return fail("a closing bracket has no opening one", rest.offset);
  if (rest.kind != MaskTokenKind::end || lexer_.error())
    return failAt(rest, "\"&\", \"|\", \"then\" or the end");
  return true;
}

bool MaskParser::readMask(MaskLayers& layers) {
  return readJoined(Combine::replace, layers);
}

/// Reads one level of precedence. The left operand of the level's first join stays part of the same list.
bool MaskParser::readJoined(Combine join, MaskLayers& layers) {
  const auto readSide = [&](MaskLayers& side) {
    return join == Combine::all ? readUnary(side) : readJoined(tighter(join), side);
  };
  if (!readSide(layers)) return false;
  for (;;) {
    const MaskToken& next = lexer_.peek();
    const bool joined = join == Combine::all   ? next.isSymbol('&')
                        : join == Combine::any ? next.isSymbol('|')
                                               : next.isWord("then");
    if (!joined) return true;
    lexer_.take();
    MaskLayers side;
    if (!readSide(side)) return false;
    layers.push_back(asOperand(std::move(side), join));
  }
}

/// Reads a layer. Brackets without prefixes are returned as their list, since only the caller knows whether
/// they matter.
bool MaskParser::readUnary(MaskLayers& layers) {
  Layer layer;
  const std::size_t offset = lexer_.peek().offset;
  if (!readPrefix(layer)) return false;
  if (++layers_ > kMaxLayers)
    return fail(fmt::format("the mask has more than {} layers", kMaxLayers), offset);
  if (lexer_.peek().isSymbol('(')) return readBracket(layer, layers);
  if (!readPattern(layer.pattern)) return false;
  layers.push_back(std::move(layer));
  return true;
}

bool MaskParser::readPrefix(Layer& layer) {
  for (;;) {
    const MaskToken& next = lexer_.peek();
    if (next.kind == MaskTokenKind::string) {
      if (!readName(layer)) return false;
    } else if (next.isWord("off")) {
      if (!layer.on) return fail("\"off\" appears twice before one layer", next.offset);
      layer.on = false;
      lexer_.take();
      if (!expectSymbol(':')) return false;
    } else if (next.isWord("heads") || next.isWord("sequences")) {
      if (!readHeadSet(layer)) return false;
    } else {
      break;
    }
  }
  if (!takeSymbol('!')) return true;
  layer.negated = true;
  const MaskToken& next = lexer_.peek();
  if (next.isSymbol('!')) return fail("\"!\" appears twice before one layer", next.offset);
  if (next.kind == MaskTokenKind::string || next.isWord("off") || next.isWord("heads") ||
      next.isWord("sequences"))
    return fail(quotedWord(next.text) + " must come before the \"!\"", next.offset);
  return true;
}

bool MaskParser::readName(Layer& layer) {
  MaskToken name = lexer_.take();
  if (!layer.name.empty()) return fail("a layer has two names", name.offset);
  layer.name = std::move(name.string);
  return expectSymbol(':');
}

bool MaskParser::readHeadSet(Layer& layer) {
  const MaskToken word = lexer_.take();
  const bool ofHeads = word.text == "heads";
  auto& target = ofHeads ? layer.heads : layer.sequences;
  if (target) return fail(quotedWord(word.text) + " appears twice before one layer", word.offset);
  target.emplace();
  if (!expectSymbol('(')) return false;
  do {
    if (!readHeadItem(*target, ofHeads)) return false;
  } while (takeSymbol(','));
  return expectSymbol(')', "\",\" or \")\"") && expectSymbol(':');
}

bool MaskParser::readHeadItem(HeadSet& set, bool ofHeads) {
  const std::string subject = ofHeads ? "a head" : "a sequence";
  const MaskToken& next = lexer_.peek();
  HeadSet::Item item;
  if (ofHeads && (next.isWord("even") || next.isWord("odd"))) {
    item.kind = lexer_.take().text == "even" ? HeadSet::Kind::even : HeadSet::Kind::odd;
  } else if (ofHeads && next.isWord("kv")) {
    lexer_.take();
    item.kind = HeadSet::Kind::kvHead;
    if (!readInteger("a kv head", 0, kMaxMaskCount, item.first)) return false;
  } else {
    const std::size_t offset = next.offset;
    if (next.kind != MaskTokenKind::number)
      return failAt(next, ofHeads ? "a head's number, even, odd or kv" : "a sequence's number");
    if (!readInteger(subject, 0, kMaxMaskCount, item.first)) return false;
    item.last = item.first;
    if (takeSymbol('-') && !readInteger(subject, 0, kMaxMaskCount, item.last)) return false;
    if (item.last < item.first)
      return fail(fmt::format("the span {}-{} ends before it begins", item.first, item.last), offset);
  }
  set.items.push_back(item);
  return true;
}

bool MaskParser::enter() {
  if (depth_ == kMaxDepth)
    return fail(fmt::format("more than {} brackets are nested", kMaxDepth), lexer_.peek().offset);
  ++depth_;
  return true;
}

bool MaskParser::readBracket(Layer& layer, MaskLayers& layers) {
  if (!enter()) return false;
  const std::size_t offset = lexer_.take().offset;
  MaskLayers inside;
  if (!readMask(inside)) return false;
  if (lexer_.peek().kind == MaskTokenKind::end && !lexer_.error())
    return fail("a closing bracket is missing", offset);
  if (!expectSymbol(')', "\"&\", \"|\", \"then\" or \")\"")) return false;
  --depth_;
  if (isBare(layer)) {
    // Brackets without prefixes don't count as a layer.
    --layers_;
    layers = std::move(inside);
    return true;
  }
  if (inside.size() == 1 && isBare(inside.front())) {
    layer.pattern = std::move(inside.front().pattern);
    layer.group = std::move(inside.front().group);
  } else {
    layer.group = std::move(inside);
  }
  layers.push_back(std::move(layer));
  return true;
}

bool MaskParser::readPattern(PatternUse& use) {
  const MaskToken& next = lexer_.peek();
  if (next.kind != MaskTokenKind::word || next.isWord("then")) return failAt(next, "a pattern");
  const PatternInfo* info = findPattern(next.text);
  if (!info) {
    if (const auto symbol = operatorFor(next); !symbol.empty())
      return fail(quotedWord(next.text) + " is written \"" + std::string(symbol) + "\"", next.offset);
    return fail(quotedWord(next.text) + " is not a pattern" + suggestion(next.text, patternNames()),
                next.offset);
  }
  const std::size_t offset = lexer_.take().offset;
  use.kind = info->kind;
  use.arguments.resize(info->parameters.size());
  if (lexer_.peek().isSymbol('(') && !readArguments(*info, use)) return false;
  return fillDefaults(*info, use, offset);
}

bool MaskParser::takeSymbol(char c) {
  if (!lexer_.peek().isSymbol(c)) return false;
  lexer_.take();
  return true;
}

bool MaskParser::expectSymbol(char c, const char* otherwise) {
  if (takeSymbol(c)) return true;
  return failAt(lexer_.peek(), otherwise ? otherwise : "\"" + std::string(1, c) + "\"");
}

bool MaskParser::fail(std::string message, std::size_t offset) {
  error_ = lexer_.error() ? *lexer_.error() : MaskTextError{std::move(message), offset};
  return false;
}

bool MaskParser::failAt(const MaskToken& token, const std::string& expected) {
  if (token.kind == MaskTokenKind::end)
    return fail("the text ends where " + expected + " is expected", token.offset);
  if (const auto symbol = operatorFor(token); !symbol.empty())
    return fail(quotedWord(token.text) + " is written \"" + std::string(symbol) + "\"", token.offset);
  // A string token is already in quotes; use its contents.
  const bool string = token.kind == MaskTokenKind::string;
  return fail((string ? "the text " + quotedWord(token.string) : quotedWord(token.text)) + " found where " +
                  expected + " is expected",
              token.offset);
}

}  // namespace headscope::attention
