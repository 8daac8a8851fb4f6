#include "attention/expressions/parser.h"

#include <array>
#include <charconv>
#include <cmath>

#include "attention/expressions/array.h"
#include "attention/expressions/functions.h"
#include "attention/formats/quote.h"
#include "attention/text/ascii.h"
#include "attention/text/unicode.h"

namespace headscope::attention {

namespace {

bool startsName(char c) {
  return isLetter(c) || c == '_';
}

}  // namespace

void ExpressionLexer::read() {
  while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n')) ++at_;
  next_ = {};
  next_.begin = next_.end = at_;
  if (at_ == text_.size()) return;
  const char c = text_[at_];
  const bool point = c == '.' && at_ + 1 < text_.size() && isDigit(text_[at_ + 1]);
  if (isDigit(c) || point) return readNumber();
  if (startsName(c)) return readName();
  if (c == '"' || c == '\'') return readText();
  static constexpr std::array<std::string_view, 19> kSymbols{
      "==", "!=", "<=", ">=", "&&", "||", "<", ">", "+", "-", "*", "/", "^", "(", ")", "[", "]", ",", ":"};
  const auto found = std::find_if(kSymbols.begin(), kSymbols.end(), [&](std::string_view symbol) {
    return text_.substr(at_).starts_with(symbol);
  });
  if (found != kSymbols.end()) {
    next_.kind = ExpressionTokenKind::symbol;
    next_.word = *found;
    at_ += found->size();
    next_.end = at_;
    return;
  }
  if (c == '=') throw ExpressionFault{"= is not an operator; compare values with ==", at_};
  if (c == '!') throw ExpressionFault{"! is not an operator; compare with == 0", at_};
  if (c == '&' || c == '|')
    throw ExpressionFault{std::string(1, c) + " is not an operator; join conditions with && or ||", at_};
  const std::size_t length = std::max<std::size_t>(decodeUtf8(text_, at_).length, 1);
  throw ExpressionFault{quotedText(text_.substr(at_, length)) + " is not allowed in an expression", at_};
}

void ExpressionLexer::readNumber() {
  const char* const begin = text_.data() + at_;
  const char* const end = text_.data() + text_.size();
  const auto [stop, code] = std::from_chars(begin, end, next_.number);
  const std::size_t length = static_cast<std::size_t>(stop - begin);
  std::size_t all = length;
  while (at_ + all < text_.size() &&
         (startsName(text_[at_ + all]) || isDigit(text_[at_ + all]) || text_[at_ + all] == '.'))
    ++all;
  next_.word = text_.substr(at_, all);
  if (code == std::errc::result_out_of_range) {
    // Numbers too small for a double become 0.
    const bool small =
        next_.word.find("e-") != std::string::npos || next_.word.find("E-") != std::string::npos;
    if (!small) throw ExpressionFault{quotedText(next_.word) + " is too large for a number", at_};
    next_.number = 0;
  }
  if (all != length || code == std::errc::invalid_argument)
    throw ExpressionFault{quotedText(next_.word) + " is not a number", at_};
  next_.kind = ExpressionTokenKind::number;
  at_ += length;
  next_.end = at_;
}

void ExpressionLexer::readName() {
  const std::size_t begin = at_;
  while (true) {
    while (at_ < text_.size() && (startsName(text_[at_]) || isDigit(text_[at_]))) ++at_;
    const bool more = at_ + 1 < text_.size() && text_[at_] == '.' && startsName(text_[at_ + 1]);
    if (!more) break;
    ++at_;
  }
  if (at_ < text_.size() && text_[at_] == '.')
    throw ExpressionFault{"expected a name after the point", at_ + 1};
  next_.kind = ExpressionTokenKind::name;
  next_.word = text_.substr(begin, at_ - begin);
  next_.end = at_;
}

void ExpressionLexer::readText() {
  const std::size_t begin = at_;
  const std::size_t end = text_.find(text_[at_], at_ + 1);
  if (end == std::string_view::npos) throw ExpressionFault{"a closing quote is missing", begin};
  next_.kind = ExpressionTokenKind::text;
  next_.word = text_.substr(begin + 1, end - begin - 1);
  at_ = end + 1;
  next_.end = at_;
}

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
