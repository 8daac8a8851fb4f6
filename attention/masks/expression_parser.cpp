#include <fmt/core.h>

#include <array>
#include <charconv>

#include "attention/masks/expression.h"
#include "attention/text/ascii.h"
#include "attention/text/lexer.h"

namespace headscope::attention {
namespace {

constexpr std::array<std::string_view, 11> kSymbols{"(", ")", "[", "]", ",", "=", ":", "&", "|", "!", "-"};
constexpr LexicalRules kRules{.language = "a mask", .quotes = "\"", .escapes = true, .symbols = kSymbols};

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

/// A list of one layer.
MaskLayers alone(Layer layer) {
  MaskLayers layers;
  layers.push_back(std::move(layer));
  return layers;
}

/// What each kind of parameter expects, in the order of ParameterKind.
constexpr const char* kExpected[] = {"a whole number or a list of them",
                                     "a list of positions such as [0, 11]",
                                     "a list of spans such as [0-3, 8-11]",
                                     "a list of parents such as [-1, 0, 0]",
                                     "a name in quotes",
                                     "a path in quotes",
                                     "visible, masked or additive"};

const char* valueText(ParameterKind kind) {
  return kExpected[static_cast<std::size_t>(kind)];
}

bool isText(ParameterKind kind) {
  return kind == ParameterKind::name || kind == ParameterKind::path || kind == ParameterKind::convention;
}

template <typename Rows>
std::vector<std::string_view> namesOf(const Rows& rows) {
  std::vector<std::string_view> names;
  for (const auto& row : rows) names.push_back(row.name);
  return names;
}

/// A recursive-descent parser for masks; the limit on nested brackets bounds its depth. Throws SyntaxError.
class MaskParser {
 public:
  explicit MaskParser(std::string_view text) : lexer_(text, kRules) {}

  /// Reads the whole text.
  MaskLayers read() {
    if (lexer_.atEnd()) return {};
    MaskLayers layers = readMask();
    if (lexer_.sees(")")) throw SyntaxError{"a closing bracket has no opening one", lexer_.peek().begin};
    if (!lexer_.atEnd()) failAtNext("\"&\", \"|\", \"then\" or the end");
    return layers;
  }

 private:
  /// Reads one level of precedence. The left operand of the level's first join stays part of the same list.
  MaskLayers readMask(Combine join = Combine::replace) {
    const Combine tighter = join == Combine::replace ? Combine::any : Combine::all;
    const auto readSide = [&] { return join == Combine::all ? readUnary() : readMask(tighter); };
    MaskLayers layers = readSide();
    while (join == Combine::replace ? lexer_.peek().isWord("then")
                                    : lexer_.sees(join == Combine::all ? "&" : "|")) {
      lexer_.take();
      layers.push_back(asOperand(readSide(), join));
    }
    return layers;
  }

  /// Reads a layer. Brackets without prefixes are returned as their list, since only the caller knows whether
  /// they matter.
  MaskLayers readUnary() {
    const std::size_t offset = lexer_.peek().begin;
    Layer layer = readPrefix();
    if (++layers_ > kMaxLayers)
      throw SyntaxError{fmt::format("the mask has more than {} layers", kMaxLayers), offset};
    if (lexer_.sees("(")) return readBracket(std::move(layer));
    layer.pattern = readPattern();
    return alone(std::move(layer));
  }

  Layer readPrefix() {
    Layer layer;
    for (;;) {
      const Lexeme& next = lexer_.peek();
      if (next.kind == LexemeKind::text) {
        Lexeme name = lexer_.take();
        if (!layer.name.empty()) throw SyntaxError{"a layer has two names", name.begin};
        layer.name = std::move(name.word);
      } else if (next.isWord("off")) {
        if (!layer.on) throw SyntaxError{"\"off\" appears twice before one layer", next.begin};
        layer.on = false;
        lexer_.take();
      } else if (next.isWord("heads") || next.isWord("sequences")) {
        readHeadSet(layer);
      } else {
        break;
      }
      expectSymbol(":");
    }
    if (!lexer_.takeSymbol("!")) return layer;
    layer.negated = true;
    const Lexeme& next = lexer_.peek();
    if (next.isSymbol("!")) throw SyntaxError{"\"!\" appears twice before one layer", next.begin};
    if (next.kind == LexemeKind::text || next.isWord("off") || next.isWord("heads") ||
        next.isWord("sequences"))
      throw SyntaxError{quotedWord(lexer_.written(next)) + " must come before the \"!\"", next.begin};
    return layer;
  }

  void readHeadSet(Layer& layer) {
    const Lexeme word = lexer_.take();
    const bool ofHeads = word.word == "heads";
    auto& target = ofHeads ? layer.heads : layer.sequences;
    if (target) throw SyntaxError{quotedWord(word.word) + " appears twice before one layer", word.begin};
    target.emplace();
    expectSymbol("(");
    do target->items.push_back(readHeadItem(ofHeads));
    while (lexer_.takeSymbol(","));
    expectSymbol(")", "\",\" or \")\"");
  }

  HeadSet::Item readHeadItem(bool ofHeads) {
    const Lexeme& next = lexer_.peek();
    HeadSet::Item item;
    if (ofHeads && (next.isWord("even") || next.isWord("odd"))) {
      item.kind = lexer_.take().word == "even" ? HeadSet::Kind::even : HeadSet::Kind::odd;
    } else if (ofHeads && next.isWord("kv")) {
      lexer_.take();
      item.kind = HeadSet::Kind::kvHead;
      item.first = readInteger("a kv head", 0, kMaxMaskCount);
    } else {
      if (next.kind != LexemeKind::number)
        failAtNext(ofHeads ? "a head's number, even, odd or kv" : "a sequence's number");
      std::tie(item.first, item.last) = readSpan(ofHeads ? "a head" : "a sequence", 0, kMaxMaskCount);
    }
    return item;
  }

  void enter() {
    if (depth_ == kMaxDepth)
      throw SyntaxError{fmt::format("more than {} brackets are nested", kMaxDepth), lexer_.peek().begin};
    ++depth_;
  }

  MaskLayers readBracket(Layer layer) {
    enter();
    const std::size_t offset = lexer_.take().begin;
    MaskLayers inside = readMask();
    closeBracket(")", offset, "\"&\", \"|\", \"then\" or \")\"");
    --depth_;
    if (isBare(layer)) {
      // Brackets without prefixes don't count as a layer.
      --layers_;
      return inside;
    }
    if (inside.size() == 1 && isBare(inside.front())) {
      layer.pattern = std::move(inside.front().pattern);
      layer.group = std::move(inside.front().group);
    } else {
      layer.group = std::move(inside);
    }
    return alone(std::move(layer));
  }

  PatternUse readPattern() {
    const Lexeme& next = lexer_.peek();
    if (next.kind != LexemeKind::word || next.isWord("then")) failAtNext("a pattern");
    const PatternInfo* info = findPattern(next.word);
    if (!info) {
      refuseForeignOperator();
      throw SyntaxError{
          quotedWord(next.word) + " is not a pattern" + suggestion(next.word, namesOf(patternTable())),
          next.begin};
    }
    const std::size_t offset = lexer_.take().begin;
    PatternUse use{info->kind, {}, {}};
    use.arguments.resize(info->parameters.size());
    if (lexer_.sees("(")) readArguments(*info, use);
    const PatternUse defaults = defaultUse(info->kind);
    for (std::size_t i = 0; i < use.arguments.size(); ++i) {
      const ParameterInfo& parameter = info->parameters[i];
      if (use.arguments[i]) continue;
      if (isText(parameter.kind))
        throw SyntaxError{
            fmt::format("{} needs a {}: {}", info->name, parameter.name, valueText(parameter.kind)), offset};
      use.arguments[i] = defaults.arguments[i];
    }
    return use;
  }

  void readArguments(const PatternInfo& info, PatternUse& use) {
    const std::size_t offset = lexer_.peek().begin;
    if (info.takesInner) enter();
    lexer_.take();
    std::size_t position = 0;
    bool named = false, first = true;
    while (first ? !lexer_.sees(")") : lexer_.takeSymbol(",")) {
      const Lexeme& next = lexer_.peek();
      const bool parameter = next.isSymbol("[") || next.kind == LexemeKind::number || namesParameter();
      if (info.takesInner && first && !parameter)
        use.inner = readMask();
      else
        readArgument(info, use, position, named);
      first = false;
    }
    closeBracket(")", offset, "\",\" or \")\"");
    if (info.takesInner) --depth_;
  }

  bool namesParameter() const { return lexer_.peek().kind == LexemeKind::word && lexer_.after() == '='; }

  void readArgument(const PatternInfo& info, PatternUse& use, std::size_t& position, bool& named) {
    const auto& parameters = info.parameters;
    const Lexeme next = lexer_.peek();
    std::size_t index = position;
    if (namesParameter()) {
      index = info.indexOf(next.word);
      if (index == parameters.size())
        throw SyntaxError{fmt::format("{} has no parameter {}{}", info.name, quotedWord(next.word),
                                      suggestion(next.word, namesOf(parameters))),
                          next.begin};
      lexer_.take();
      lexer_.take();
      named = true;
    } else if (named) {
      throw SyntaxError{"a value without a name can't follow one with a name", next.begin};
    } else if (index == parameters.size()) {
      if (lexer_.atEnd()) failAtNext("\")\"");
      throw SyntaxError{
          fmt::format("{} takes {}", info.name, index == 0 ? "no argument" : counted(index, "argument")),
          next.begin};
    }
    auto& target = use.arguments[index];
    if (target)
      throw SyntaxError{fmt::format("{} is given {} twice", info.name, parameters[index].name), next.begin};
    ++position;
    target = readValue(parameters[index]);
  }

  Argument readValue(const ParameterInfo& parameter) {
    Argument argument;
    if (isText(parameter.kind)) {
      const Lexeme& next = lexer_.peek();
      const bool fits = parameter.kind == ParameterKind::convention
                            ? next.isWord("visible") || next.isWord("masked") || next.isWord("additive")
                            : next.kind == LexemeKind::text;
      if (!fits) failAtNext(valueText(parameter.kind));
      argument.text = lexer_.take().word;
      return argument;
    }
    const std::size_t offset = lexer_.peek().begin;
    if (!lexer_.takeSymbol("[")) {
      readItem(parameter, argument.values);
      return argument;
    }
    // Counts are per head, so an empty list has no meaning.
    const bool mayBeEmpty = parameter.kind != ParameterKind::count;
    if (mayBeEmpty && lexer_.takeSymbol("]")) return argument;
    do readItem(parameter, argument.values);
    while (lexer_.takeSymbol(","));
    closeBracket("]", offset, "\",\" or \"]\"");
    return argument;
  }

  void readItem(const ParameterInfo& parameter, std::vector<Index>& values) {
    const std::string subject(parameter.name);
    const std::size_t offset = lexer_.peek().begin;
    if (lexer_.peek().kind != LexemeKind::number && !lexer_.sees("-")) failAtNext(valueText(parameter.kind));
    if (parameter.kind == ParameterKind::spans) {
      const auto [first, last] = readSpan(subject, parameter.low, parameter.high);
      values.insert(values.end(), {first, last});
      return;
    }
    const bool parents = parameter.kind == ParameterKind::parents;
    const Index value = readInteger(subject, parents ? -1 : parameter.low, parameter.high);
    if (parameter.kind == ParameterKind::positions && !values.empty() && value <= values.back())
      throw SyntaxError{
          fmt::format("{} has {} after {}, expected ascending positions", subject, value, values.back()),
          offset};
    values.push_back(value);
  }

  /// Reads 5 or 3-8.
  std::pair<Index, Index> readSpan(const std::string& subject, Index low, Index high) {
    const std::size_t offset = lexer_.peek().begin;
    const Index first = readInteger(subject, low, high);
    const Index last = lexer_.takeSymbol("-") ? readInteger(subject, low, high) : first;
    if (last < first)
      throw SyntaxError{fmt::format("the span {}-{} ends before it begins", first, last), offset};
    return {first, last};
  }

  Index readInteger(const std::string& subject, Index low, Index high) {
    const std::size_t offset = lexer_.peek().begin;
    const bool negative = lexer_.takeSymbol("-");
    if (lexer_.peek().kind != LexemeKind::number) failAtNext("a whole number");
    const std::string& digits = lexer_.peek().word;
    Index value = 0;
    const bool fits = std::from_chars(digits.data(), digits.data() + digits.size(), value).ec == std::errc();
    if (negative) value = -value;
    if (!fits || value < low || value > high) {
      constexpr std::size_t kLongest = 24;
      throw SyntaxError{
          fmt::format("{} is {}{}{}, expected {} to {}", subject, negative ? "-" : "",
                      digits.substr(0, kLongest), digits.size() > kLongest ? "…" : "", low, high),
          offset};
    }
    lexer_.take();
    return value;
  }

  void expectSymbol(const std::string& symbol, const char* otherwise = nullptr) {
    if (!lexer_.takeSymbol(symbol)) failAtNext(otherwise ? otherwise : "\"" + symbol + "\"");
  }

  /// Expects the symbol that closes the bracket at `offset`.
  void closeBracket(const char* symbol, std::size_t offset, const char* otherwise) {
    if (lexer_.atEnd()) throw SyntaxError{"a closing bracket is missing", offset};
    expectSymbol(symbol, otherwise);
  }

  /// Fails with our operator if the next word is one from other languages.
  void refuseForeignOperator() const {
    const Lexeme& next = lexer_.peek();
    const auto refuse = [&](const char* upper, const char* lower, const char* ours) {
      if (next.isWord(upper) || next.isWord(lower))
        throw SyntaxError{fmt::format("{} is written \"{}\"", quotedWord(next.word), ours), next.begin};
    };
    refuse("AND", "and", "&");
    refuse("OR", "or", "|");
    refuse("NOT", "not", "!");
  }

  /// Fails with "… found where … is expected", or "the text ends where … is expected".
  [[noreturn]] void failAtNext(const std::string& expected) const {
    const Lexeme& next = lexer_.peek();
    if (lexer_.atEnd()) throw SyntaxError{"the text ends where " + expected + " is expected", next.begin};
    refuseForeignOperator();
    throw SyntaxError{
        fmt::format("{}{} found where {} is expected", next.kind == LexemeKind::text ? "the text " : "",
                    quotedWord(next.word), expected),
        next.begin};
  }

  Lexer lexer_;
  std::size_t depth_ = 0, layers_ = 0;
};

}  // namespace

ParsedMask parseMask(std::string_view text) {
  ParsedMask parsed;
  try {
    if (text.size() > kMaxText)
      throw SyntaxError{fmt::format("the mask is {} bytes long, expected at most {}", text.size(), kMaxText),
                        kMaxText};
    parsed.layers = MaskParser(text).read();
  } catch (SyntaxError& error) {
    parsed.error = std::move(error);
  }
  return parsed;
}

}  // namespace headscope::attention
