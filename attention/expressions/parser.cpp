#include <array>
#include <cmath>

#include "attention/expressions/array.h"
#include "attention/expressions/functions.h"
#include "attention/formats/quote.h"
#include "attention/text/lexer.h"

namespace headscope::attention {

namespace {

constexpr std::array<std::string_view, 19> kSymbols{"==", "!=", "<=", ">=", "&&", "||", "<", ">", "+", "-",
                                                    "*",  "/",  "^",  "(",  ")",  "[",  "]", ",", ":"};

std::string hintFor(char c) {
  if (c == '=') return "= is not an operator; compare values with ==";
  if (c == '!') return "! is not an operator; compare with == 0";
  if (c == '&' || c == '|') return std::string(1, c) + " is not an operator; join conditions with && or ||";
  return "";
}

constexpr LexicalRules kRules{.language = "an expression",
                              .quotes = "\"'",
                              .fractions = true,
                              .dottedWords = true,
                              .symbols = kSymbols,
                              .quoted = quotedText,
                              .hint = hintFor};

using Kind = ExpressionNode::Kind;

/// Appends a part to a chain. The first call turns what was read so far into the chain's first part.
void join(ExpressionNode& chain, bool& begun, BinaryOperator how, ExpressionNode part) {
  if (!begun) {
    ExpressionNode first = std::move(chain);
    chain = {};
    chain.kind = Kind::chain;
    chain.begin = first.begin;
    chain.parts.push_back(std::move(first));
    begun = true;
  }
  chain.end = part.end;
  chain.joins.push_back(how);
  chain.parts.push_back(std::move(part));
}

struct Operator {
  std::string_view symbol;
  BinaryOperator join;
  std::size_t rank;  ///< lower ranks bind less tightly
};
constexpr Operator kOperators[] = {{"||", BinaryOperator::either, 0},    {"&&", BinaryOperator::both, 1},
                                   {"==", BinaryOperator::equal, 2},     {"!=", BinaryOperator::unequal, 2},
                                   {"<=", BinaryOperator::lessEqual, 2}, {">=", BinaryOperator::moreEqual, 2},
                                   {"<", BinaryOperator::less, 2},       {">", BinaryOperator::more, 2},
                                   {"+", BinaryOperator::add, 3},        {"-", BinaryOperator::subtract, 3},
                                   {"*", BinaryOperator::multiply, 4},   {"/", BinaryOperator::divide, 4}};
constexpr std::size_t kComparisons = 2, kRanks = 5;

/// A recursive-descent parser for expressions.
class ExpressionParser {
 public:
  explicit ExpressionParser(std::string_view text) : lexer_(text, kRules) {}

  ExpressionNode read() {
    ExpressionNode node = readValue();
    if (!lexer_.atEnd()) failAtNext("the end or an operator");
    return node;
  }

 private:
  /// Adds one level of brackets, signs or powers for its lifetime.
  struct Level {
    explicit Level(ExpressionParser& parser) : depth(parser.depth_) {
      ++depth;
      parser.checkDepth(depth);
    }
    ~Level() { --depth; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    std::size_t& depth;
  };

  void checkDepth(std::size_t depth) const {
    if (depth > kMaxExpressionDepth)
      throw SyntaxError{
          "the expression is nested deeper than " + std::to_string(kMaxExpressionDepth) + " levels",
          lexer_.peek().begin};
  }

  [[noreturn]] void failAtNext(const std::string& expected) const {
    const Lexeme& next = lexer_.peek();
    if (next.kind == LexemeKind::end)
      throw SyntaxError{"the expression ends where " + expected + " is expected", next.begin};
    throw SyntaxError{quotedText(next.word) + " found where " + expected + " is expected", next.begin};
  }

  void expectSymbol(std::string_view symbol, const char* what) {
    if (!lexer_.takeSymbol(symbol)) failAtNext(what);
  }

  ExpressionNode readValue() {
    const Level level(*this);
    return readChain(0);
  }

  /// Operators of equal rank are left-associative.
  ExpressionNode readChain(std::size_t rank) {
    if (rank == kRanks) return readSign();
    ExpressionNode node = readChain(rank + 1);
    for (bool begun = false;;) {
      const auto* const found = std::ranges::find_if(
          kOperators, [&](const Operator& each) { return each.rank == rank && lexer_.sees(each.symbol); });
      if (found == std::end(kOperators)) return node;
      if (begun && rank == kComparisons)
        throw SyntaxError{"found two comparisons in a row; join them with &&", lexer_.peek().begin};
      lexer_.take();
      join(node, begun, found->join, readChain(rank + 1));
    }
  }

  ExpressionNode readSign() {
    if (!lexer_.sees("-")) return readPower();
    const Level level(*this);
    ExpressionNode node;
    node.kind = Kind::negative;
    node.begin = lexer_.take().begin;
    node.parts.push_back(readSign());
    node.end = node.parts.front().end;
    return node;
  }

  ExpressionNode readPower() {
    ExpressionNode node = readPicked();
    if (!lexer_.takeSymbol("^")) return node;
    const Level level(*this);
    bool begun = false;
    join(node, begun, BinaryOperator::power, readSign());
    return node;
  }

  ExpressionNode readPicked() {
    ExpressionNode node = readPrimary();
    // Each further pair of brackets indexes the previous result and adds a level.
    for (std::size_t deep = 0; lexer_.sees("["); ++deep) {
      checkDepth(depth_ + deep + 1);
      ExpressionNode picked;
      picked.kind = Kind::pick;
      picked.begin = node.begin;
      picked.parts.push_back(std::move(node));
      readPicks(picked);
      node = std::move(picked);
    }
    return node;
  }

  void readPicks(ExpressionNode& node) {
    lexer_.take();
    do node.picks.push_back(readPick(node));
    while (lexer_.takeSymbol(","));
    node.end = lexer_.peek().end;
    expectSymbol("]", "] or ,");
  }

  AxisPick readPick(ExpressionNode& node) {
    AxisPick pick;
    if (lexer_.peek().isWord("None")) {
      lexer_.take();
      pick.kind = AxisPick::Kind::newAxis;
      return pick;
    }
    const auto part = [&](int& place) {
      if (lexer_.sees(":") || lexer_.sees(",") || lexer_.sees("]")) return;
      place = static_cast<int>(node.parts.size());
      node.parts.push_back(readValue());
    };
    part(pick.first);
    if (!lexer_.takeSymbol(":")) {
      if (pick.first < 0) failAtNext("an index");
      return pick;
    }
    pick.kind = AxisPick::Kind::slice;
    part(pick.end);
    if (lexer_.sees(":"))
      throw SyntaxError{"a slice can't have a step; list the indices instead, [[0, 2, 4]]",
                        lexer_.peek().begin};
    return pick;
  }

  ExpressionNode readPrimary() {
    if (lexer_.sees("[")) return readList();
    if (lexer_.sees("(")) {
      const std::size_t begin = lexer_.take().begin;
      ExpressionNode node = readValue();
      // A name in parentheses keeps its own offset, so errors and names() point at the name.
      if (node.kind != Kind::name && node.kind != Kind::foreignCall) node.begin = begin;
      node.end = lexer_.peek().end;
      expectSymbol(")", ")");
      return node;
    }
    if (lexer_.peek().kind == LexemeKind::text)
      throw SyntaxError{"text in quotes is allowed only as an argument of a function", lexer_.peek().begin};
    const bool value = lexer_.peek().kind == LexemeKind::number || lexer_.peek().kind == LexemeKind::word;
    if (!value) failAtNext("a value");
    const Lexeme token = lexer_.take();
    if (token.kind == LexemeKind::word && lexer_.sees("(")) return readCall(token);
    ExpressionNode node;
    node.begin = token.begin;
    node.end = token.end;
    node.number = token.number;
    if (token.kind == LexemeKind::number) return node;
    if (token.word == "inf") {
      node.number = std::numeric_limits<double>::infinity();
      return node;
    }
    if (token.word == "None")
      throw SyntaxError{"None is allowed only in square brackets, for a new axis", token.begin};
    node.kind = Kind::name;
    node.word = token.word;
    return node;
  }

  ExpressionNode readCall(const Lexeme& name) {
    ExpressionNode node;
    node.word = name.word;
    node.begin = name.begin;
    node.function = findFunction(name.word);
    node.kind = node.function ? Kind::call : Kind::foreignCall;
    lexer_.take();
    if (!lexer_.sees(")")) do {
        if (lexer_.peek().kind != LexemeKind::text) {
          node.parts.push_back(readValue());
          continue;
        }
        const Lexeme text = lexer_.take();
        if (node.function) throw SyntaxError{name.word + " takes no text in quotes", text.begin};
        ExpressionNode& part = node.parts.emplace_back();
        part.kind = Kind::text;
        part.word = text.word;
        part.begin = text.begin;
        part.end = text.end;
      } while (lexer_.takeSymbol(","));
    node.end = lexer_.peek().end;
    expectSymbol(")", ") or ,");
    if (node.function) checkCall(node);
    return node;
  }

  ExpressionNode readList() {
    ExpressionNode node;
    node.kind = Kind::list;
    node.begin = lexer_.take().begin;
    if (!lexer_.sees("]")) do
        node.parts.push_back(readValue());
      while (lexer_.takeSymbol(","));
    node.end = lexer_.peek().end;
    expectSymbol("]", "] or ,");
    return node;
  }

  Lexer lexer_;
  std::size_t depth_ = 0;
};

}  // namespace

ExpressionNode parseExpression(std::string_view text) {
  return ExpressionParser(text).read();
}

}  // namespace headscope::attention
