#include "attention/expressions/parser.h"

#include <limits>
#include <numbers>

#include "attention/expressions/functions.h"
#include "attention/expressions/limits.h"
#include "attention/formats/quote.h"

namespace headscope::attention {

using Kind = ExpressionNode::Kind;

/// One bracket, sign or power deeper, for as long as it lives.
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
  ExpressionNode node = readEither();
  if (lexer_.peek().kind != ExpressionTokenKind::end) failAtNext("the end or an operator");
  return node;
}

namespace {

/// Puts one more part into a chain, which begins with what was read so far.
void join(ExpressionNode& chain, bool& begun, Join how, ExpressionNode part) {
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

}  // namespace

ExpressionNode ExpressionParser::readEither() {
  const Level level(*this);
  ExpressionNode node = readBoth();
  bool begun = false;
  while (takeSymbol("||")) join(node, begun, Join::either, readBoth());
  return node;
}

ExpressionNode ExpressionParser::readBoth() {
  ExpressionNode node = readComparison();
  bool begun = false;
  while (takeSymbol("&&")) join(node, begun, Join::both, readComparison());
  return node;
}

static const std::pair<std::string_view, Join> kComparisons[] = {
    {"==", Join::equal},     {"!=", Join::unequal}, {"<=", Join::lessEqual},
    {">=", Join::moreEqual}, {"<", Join::less},     {">", Join::more}};

ExpressionNode ExpressionParser::readComparison() {
  ExpressionNode node = readSum();
  bool begun = false;
  for (const auto& [symbol, how] : kComparisons)
    if (!begun && takeSymbol(symbol)) join(node, begun, how, readSum());
  for (const auto& [symbol, how] : kComparisons)
    if (begun && lexer_.sees(symbol))
      throw ExpressionFault{"found two comparisons in a row; join them with &&", lexer_.peek().begin};
  return node;
}

ExpressionNode ExpressionParser::readSum() {
  ExpressionNode node = readProduct();
  bool begun = false;
  while (true) {
    if (takeSymbol("+"))
      join(node, begun, Join::add, readProduct());
    else if (takeSymbol("-"))
      join(node, begun, Join::subtract, readProduct());
    else
      return node;
  }
}

ExpressionNode ExpressionParser::readProduct() {
  ExpressionNode node = readSign();
  bool begun = false;
  while (true) {
    if (takeSymbol("*"))
      join(node, begun, Join::multiply, readSign());
    else if (takeSymbol("/"))
      join(node, begun, Join::divide, readSign());
    else
      return node;
  }
}

ExpressionNode ExpressionParser::readSign() {
  const std::size_t begin = lexer_.peek().begin;
  const bool minus = lexer_.sees("-"), negation = lexer_.sees("!"), plus = lexer_.sees("+");
  if (!minus && !negation && !plus) return readPower();
  const Level level(*this);
  lexer_.take();
  ExpressionNode part = readSign();
  if (plus) return part;
  ExpressionNode node;
  node.kind = minus ? Kind::negative : Kind::negation;
  node.begin = begin;
  node.end = part.end;
  node.parts.push_back(std::move(part));
  return node;
}

ExpressionNode ExpressionParser::readPower() {
  ExpressionNode node = readPicked();
  if (!takeSymbol("^")) return node;
  const Level level(*this);
  bool begun = false;
  join(node, begun, Join::power, readSign());
  return node;
}

ExpressionNode ExpressionParser::readPicked() {
  ExpressionNode node = readPrimary();
  // Brackets behind brackets pick from what was picked: one level each.
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
    node.parts.push_back(readEither());
  };
  part(pick.first);
  if (!takeSymbol(":")) {
    if (pick.first < 0) failAtNext("an index");
    return pick;
  }
  pick.kind = AxisPick::Kind::slice;
  part(pick.end);
  if (takeSymbol(":")) part(pick.step);
  return pick;
}

ExpressionNode ExpressionParser::readPrimary() {
  if (lexer_.sees("[")) return readList();
  if (lexer_.sees("(")) {
    const std::size_t begin = lexer_.take().begin;
    ExpressionNode node = readEither();
    // Names keep the place where they stand.
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
  static const std::pair<std::string_view, double> kConstants[] = {
      {"inf", std::numeric_limits<double>::infinity()}, {"pi", std::numbers::pi}, {"true", 1}, {"false", 0}};
  for (const auto& [name, number] : kConstants)
    if (token.word == name) {
      node.number = number;
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
        node.parts.push_back(readEither());
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
      node.parts.push_back(readEither());
    while (takeSymbol(","));
  node.end = lexer_.peek().end;
  expectSymbol("]", "] or ,");
  return node;
}

}  // namespace headscope::attention
