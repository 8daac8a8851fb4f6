#include "attention/expressions/parser.h"

#include <algorithm>
#include <limits>

#include "attention/expressions/functions.h"
#include "attention/expressions/limits.h"
#include "attention/formats/quote.h"

namespace headscope::attention {

using Kind = ExpressionNode::Kind;

/// Adds one level of brackets, signs or powers for its lifetime.
class ExpressionParser::Level {
 public:
  explicit Level(ExpressionParser& parser) : parser_(parser) {
    if (++parser_.depth_ > kMaxExpressionDepth)
      throw ExpressionFault{
          "the expression is nested deeper than " + std::to_string(kMaxExpressionDepth) + " levels",
          parser_.lexer_.peek().begin};
  }
  ~Level() { --parser_.depth_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  ExpressionParser& parser_;
};

bool ExpressionParser::takeSymbol(std::string_view symbol) {
  if (!lexer_.sees(symbol)) return false;
  lexer_.take();
  return true;
}

void ExpressionParser::failAtNext(const std::string& expected) const {
  const ExpressionToken& next = lexer_.peek();
  if (next.kind == ExpressionTokenKind::end)
    throw ExpressionFault{"the expression ends where " + expected + " is expected", next.begin};
  throw ExpressionFault{quotedText(next.word) + " found where " + expected + " is expected", next.begin};
}

void ExpressionParser::expectSymbol(std::string_view symbol, const char* what) {
  if (!takeSymbol(symbol)) failAtNext(what);
}

ExpressionNode ExpressionParser::read() {
  ExpressionNode node = readValue();
  if (lexer_.peek().kind != ExpressionTokenKind::end) failAtNext("the end or an operator");
  return node;
}

namespace {

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

}  // namespace

ExpressionNode ExpressionParser::readValue() {
  const Level level(*this);
  return readChain(0);
}

/// Operators of equal rank are left-associative.
ExpressionNode ExpressionParser::readChain(std::size_t rank) {
  if (rank == kRanks) return readSign();
  ExpressionNode node = readChain(rank + 1);
  for (bool begun = false;;) {
    const auto* const found = std::ranges::find_if(
        kOperators, [&](const Operator& each) { return each.rank == rank && lexer_.sees(each.symbol); });
    if (found == std::end(kOperators)) return node;
    if (begun && rank == kComparisons)
      throw ExpressionFault{"found two comparisons in a row; join them with &&", lexer_.peek().begin};
    lexer_.take();
    join(node, begun, found->join, readChain(rank + 1));
  }
}

ExpressionNode ExpressionParser::readSign() {
  if (!lexer_.sees("-")) return readPower();
  const Level level(*this);
  ExpressionNode node;
  node.kind = Kind::negative;
  node.begin = lexer_.take().begin;
  node.parts.push_back(readSign());
  node.end = node.parts.front().end;
  return node;
}

ExpressionNode ExpressionParser::readPower() {
  ExpressionNode node = readPicked();
  if (!takeSymbol("^")) return node;
  const Level level(*this);
  bool begun = false;
  join(node, begun, BinaryOperator::power, readSign());
  return node;
}

ExpressionNode ExpressionParser::readPicked() {
  ExpressionNode node = readPrimary();
  // Each further pair of brackets indexes the previous result and adds a level.
  for (std::size_t deep = 0; lexer_.sees("["); ++deep) {
    if (depth_ + deep >= kMaxExpressionDepth)
      throw ExpressionFault{
          "the expression is nested deeper than " + std::to_string(kMaxExpressionDepth) + " levels",
          lexer_.peek().begin};
    ExpressionNode picked;
    picked.kind = Kind::pick;
    picked.begin = node.begin;
    picked.parts.push_back(std::move(node));
    readPicks(picked);
    node = std::move(picked);
  }
  return node;
}

void ExpressionParser::readPicks(ExpressionNode& node) {
  lexer_.take();
  do node.picks.push_back(readPick(node));
  while (takeSymbol(","));
  node.end = lexer_.peek().end;
  expectSymbol("]", "] or ,");
}

AxisPick ExpressionParser::readPick(ExpressionNode& node) {
  AxisPick pick;
  if (lexer_.peek().kind == ExpressionTokenKind::name && lexer_.peek().word == "None") {
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
  if (!takeSymbol(":")) {
    if (pick.first < 0) failAtNext("an index");
    return pick;
  }
  pick.kind = AxisPick::Kind::slice;
  part(pick.end);
  if (lexer_.sees(":"))
    throw ExpressionFault{"a slice can't have a step; list the indices instead, [[0, 2, 4]]",
                          lexer_.peek().begin};
  return pick;
}

ExpressionNode ExpressionParser::readPrimary() {
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
  if (lexer_.peek().kind == ExpressionTokenKind::text)
    throw ExpressionFault{"text in quotes is allowed only as an argument of a function", lexer_.peek().begin};
  const bool value =
      lexer_.peek().kind == ExpressionTokenKind::number || lexer_.peek().kind == ExpressionTokenKind::name;
  if (!value) failAtNext("a value");
  const ExpressionToken token = lexer_.take();
  if (token.kind == ExpressionTokenKind::name && lexer_.sees("(")) return readCall(token);
  ExpressionNode node;
  node.begin = token.begin;
  node.end = token.end;
  node.number = token.number;
  if (token.kind == ExpressionTokenKind::number) return node;
  if (token.word == "inf") {
    node.number = std::numeric_limits<double>::infinity();
    return node;
  }
  if (token.word == "None")
    throw ExpressionFault{"None is allowed only in square brackets, for a new axis", token.begin};
  node.kind = Kind::name;
  node.word = token.word;
  return node;
}

ExpressionNode ExpressionParser::readCall(const ExpressionToken& name) {
  ExpressionNode node;
  node.word = name.word;
  node.begin = name.begin;
  node.function = findFunction(name.word);
  node.kind = node.function ? Kind::call : Kind::foreignCall;
  lexer_.take();
  if (!lexer_.sees(")")) do {
      if (lexer_.peek().kind != ExpressionTokenKind::text) {
        node.parts.push_back(readValue());
        continue;
      }
      const ExpressionToken text = lexer_.take();
      if (node.function) throw ExpressionFault{name.word + " takes no text in quotes", text.begin};
      ExpressionNode& part = node.parts.emplace_back();
      part.kind = Kind::text;
      part.word = text.word;
      part.begin = text.begin;
      part.end = text.end;
    } while (takeSymbol(","));
  node.end = lexer_.peek().end;
  expectSymbol(")", ") or ,");
  if (node.function) checkCall(node);
  return node;
}

ExpressionNode ExpressionParser::readList() {
  ExpressionNode node;
  node.kind = Kind::list;
  node.begin = lexer_.take().begin;
  if (!lexer_.sees("]")) do
      node.parts.push_back(readValue());
    while (takeSymbol(","));
  node.end = lexer_.peek().end;
  expectSymbol("]", "] or ,");
  return node;
}

}  // namespace headscope::attention
