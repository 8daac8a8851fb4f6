#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attention/core/tensor.h"

namespace headscope::attention {

// A pattern's visibility as a small expression tree over the positions i and j, its parameters and its lists.
// A pattern builds the tree once, as a C++ expression: (j <= i) & (i - j < parameter("window")). The tree is
// printed as a formula (expression_formula.cpp) and as Python (code_rules.cpp).

/// The precedence of a written expression, tightest first.
enum class Precedence { atom, product, sum, compare, all, any, then };

struct Written {
  std::string text;
  Precedence precedence = Precedence::atom;
};
/// Returns the text of an operand, in brackets if it binds more loosely than `loosest`.
std::string inside(const Written& part, Precedence loosest);

/// The spelling of an operation in one language.
struct Notation {
  std::string_view text;  ///< $a, $b and $c stand for the operands
  Precedence precedence = Precedence::atom;
  Precedence loosest =
      Precedence::atom;  ///< looser operands get brackets, except "and" in "and" and "or" in "or"
};
Written written(const Notation& notation, const std::vector<Written>& operands);

struct Operation {
  Notation symbols, python;
  Index (*value)(Index a, Index b, Index c) = nullptr;  ///< truths are 0 and 1
};

namespace operations {
extern const Operation minus, plus, times, quotient, remainder, magnitude, greater, clipped;
extern const Operation less, atMost, equal, unequal, atLeast, fewerBack, atMostBack;
extern const Operation both, either, negation;
}  // namespace operations

struct LookupTable;  // lookup.h

/// One node of the tree.
struct Symbolic {
  enum class Kind {
    query,      ///< i
    key,        ///< j
    row,        ///< the query's row, from 0 regardless of the cache
    cached,     ///< C, the number of tokens in the cache
    positions,  ///< the number of positions
    always,     ///< true
    literal,    ///< `number`
    parameter,  ///< the count `name`
    operation,  ///< `operation` on the operands
    lookup,     ///< the value in `table` at the operands
    words,      ///< the single operand; formulas write `name` instead
  };
  Kind kind = Kind::always;
  Index number = 0;
  std::string_view name = {};
  const Operation* operation = nullptr;
  const LookupTable* table = nullptr;
  std::vector<Symbolic> operands = {};
};

Symbolic applied(const Operation& operation, std::vector<Symbolic> operands);

struct Truth {
  Symbolic node;  ///< true by default
  Truth() = default;
  explicit Truth(Symbolic symbolic) : node(std::move(symbolic)) {}
  Truth(const Operation& operation, std::vector<Symbolic> operands)
      : node(applied(operation, std::move(operands))) {}

  friend Truth operator&(const Truth& a, const Truth& b) { return {operations::both, {a.node, b.node}}; }
  friend Truth operator|(const Truth& a, const Truth& b) { return {operations::either, {a.node, b.node}}; }
};

struct Number {
  Symbolic node;
  Number(Index literal) : node{Symbolic::Kind::literal, literal} {}
  explicit Number(Symbolic symbolic) : node(std::move(symbolic)) {}
  Number(const Operation& operation, std::vector<Symbolic> operands)
      : node(applied(operation, std::move(operands))) {}

  friend Number operator-(const Number& a, const Number& b) { return {operations::minus, {a.node, b.node}}; }
  friend Number operator+(const Number& a, const Number& b) { return {operations::plus, {a.node, b.node}}; }
  friend Number operator*(const Number& a, const Number& b) { return {operations::times, {a.node, b.node}}; }
  /// Rounded down.
  friend Number operator/(const Number& a, const Number& b) {
    return {operations::quotient, {a.node, b.node}};
  }
  friend Number operator%(const Number& a, const Number& b) {
    return {operations::remainder, {a.node, b.node}};
  }
  friend Number abs(const Number& a) { return {operations::magnitude, {a.node}}; }
  friend Number max(const Number& a, const Number& b) { return {operations::greater, {a.node, b.node}}; }
  friend Number clip(const Number& a, const Number& low, const Number& high) {
    return {operations::clipped, {a.node, low.node, high.node}};
  }

  friend Truth operator<(const Number& a, const Number& b) { return {operations::less, {a.node, b.node}}; }
  friend Truth operator<=(const Number& a, const Number& b) { return {operations::atMost, {a.node, b.node}}; }
  friend Truth operator==(const Number& a, const Number& b) { return {operations::equal, {a.node, b.node}}; }
  friend Truth operator!=(const Number& a, const Number& b) {
    return {operations::unequal, {a.node, b.node}};
  }
  friend Truth operator>=(const Number& a, const Number& b) {
    return {operations::atLeast, {a.node, b.node}};
  }
  /// 0 ≤ i − j < count
  friend Truth fewerBack(const Number& i, const Number& j, const Number& count) {
    return {operations::fewerBack, {i.node, j.node, count.node}};
  }
  /// 0 ≤ i − j ≤ count
  friend Truth atMostBack(const Number& i, const Number& j, const Number& count) {
    return {operations::atMostBack, {i.node, j.node, count.node}};
  }
};

inline Number query() {
  return Number(Symbolic{Symbolic::Kind::query});
}
inline Number key() {
  return Number(Symbolic{Symbolic::Kind::key});
}
inline Number row() {
  return Number(Symbolic{Symbolic::Kind::row});
}
inline Number cached() {
  return Number(Symbolic{Symbolic::Kind::cached});
}
inline Number positions() {
  return Number(Symbolic{Symbolic::Kind::positions});
}
inline Truth always() {
  return {};
}
/// The value of the pattern's count of that name.
inline Number parameter(std::string_view name) {
  return Number(Symbolic{Symbolic::Kind::parameter, 0, name});
}

Number at(const LookupTable& table, const Number& a);
Number at(const LookupTable& table, const Number& a, const Number& b);
/// The same for tables of truths.
Truth holds(const LookupTable& table, const Number& a);
Truth holds(const LookupTable& table, const Number& a, const Number& b);

/// Returns `meaning`, which formulas write in words. In `words`, {i} and {j} are the positions and {name} is
/// a parameter; a part in square brackets is omitted if its parameter's value comes from the text.
Truth called(std::string_view words, const Truth& meaning);

}  // namespace headscope::attention
