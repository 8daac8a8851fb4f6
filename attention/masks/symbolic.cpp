#include "attention/masks/symbolic.h"

namespace headscope::attention {
namespace operations {
namespace {

constexpr Notation comparing(std::string_view text) {
  return {text, Precedence::compare, Precedence::sum};
}

}  // namespace

// Division and remainder round down, as Python's do; divisors are positive.
constinit const Operation minus{{"$a − $b", Precedence::sum, Precedence::product},
                                {"$a - $b", Precedence::sum, Precedence::product},
                                [](Index a, Index b, Index) { return a - b; }};
constinit const Operation plus{{"$a + $b", Precedence::sum, Precedence::product},
                               {"$a + $b", Precedence::sum, Precedence::product},
                               [](Index a, Index b, Index) { return a + b; }};
constinit const Operation times{{"$a · $b", Precedence::product, Precedence::atom},
                                {"$a * $b", Precedence::product, Precedence::atom},
                                [](Index a, Index b, Index) { return a * b; }};
constinit const Operation quotient{{"⌊$a/$b⌋", Precedence::atom, Precedence::atom},
                                   {"$a // $b", Precedence::product, Precedence::atom},
                                   [](Index a, Index b, Index) { return a / b - (a % b < 0 ? 1 : 0); }};
constinit const Operation remainder{{"$a mod $b", Precedence::product, Precedence::atom},
                                    {"$a % $b", Precedence::product, Precedence::atom},
                                    [](Index a, Index b, Index) { return a % b + (a % b < 0 ? b : 0); }};
constinit const Operation magnitude{{"|$a|", Precedence::atom, Precedence::sum},
                                    {"abs($a)", Precedence::atom, Precedence::sum},
                                    [](Index a, Index, Index) { return a < 0 ? -a : a; }};
constinit const Operation greater{{"max($a, $b)", Precedence::atom, Precedence::sum},
                                  {"max($a, $b)", Precedence::atom, Precedence::sum},
                                  [](Index a, Index b, Index) { return std::max(a, b); }};
constinit const Operation clipped{{"clip($a, $b, $c)", Precedence::atom, Precedence::sum},
                                  {"$a.clip($b, $c)", Precedence::atom, Precedence::atom},
                                  [](Index a, Index b, Index c) { return std::min(std::max(a, b), c); }};

constinit const Operation less{comparing("$a < $b"), comparing("$a < $b"),
                               [](Index a, Index b, Index) { return Index{a < b}; }};
constinit const Operation atMost{comparing("$a ≤ $b"), comparing("$a <= $b"),
                                 [](Index a, Index b, Index) { return Index{a <= b}; }};
constinit const Operation equal{comparing("$a = $b"), comparing("$a == $b"),
                                [](Index a, Index b, Index) { return Index{a == b}; }};
constinit const Operation unequal{comparing("$a ≠ $b"), comparing("$a != $b"),
                                  [](Index a, Index b, Index) { return Index{a != b}; }};
constinit const Operation atLeast{comparing("$a ≥ $b"), comparing("$a >= $b"),
                                  [](Index a, Index b, Index) { return Index{a >= b}; }};
constinit const Operation fewerBack{{"0 ≤ $a − $b < $c", Precedence::compare, Precedence::product},
                                    {"($b <= $a) & ($a - $b < $c)", Precedence::all, Precedence::product},
                                    [](Index a, Index b, Index c) { return Index{0 <= a - b && a - b < c}; }};
constinit const Operation atMostBack{
    {"0 ≤ $a − $b ≤ $c", Precedence::compare, Precedence::product},
    {"($b <= $a) & ($a - $b <= $c)", Precedence::all, Precedence::product},
    [](Index a, Index b, Index c) { return Index{0 <= a - b && a - b <= c}; }};

// In Python, & and | bind tighter than comparisons; mixed & and | get brackets for readability.
constinit const Operation both{{"$a ∧ $b", Precedence::all, Precedence::compare},
                               {"$a & $b", Precedence::all, Precedence::atom},
                               [](Index a, Index b, Index) { return Index{a != 0 && b != 0}; }};
constinit const Operation either{{"$a ∨ $b", Precedence::any, Precedence::all},
                                 {"$a | $b", Precedence::any, Precedence::atom},
                                 [](Index a, Index b, Index) { return Index{a != 0 || b != 0}; }};
constinit const Operation negation{{"¬($a)", Precedence::atom, Precedence::then},
                                   {"~$a", Precedence::atom, Precedence::atom},
                                   [](Index a, Index, Index) { return Index{a == 0}; }};

}  // namespace operations

namespace {

Symbolic lookedUp(const LookupTable& table, std::vector<Symbolic> operands) {
  return {Symbolic::Kind::lookup, 0, {}, nullptr, &table, std::move(operands)};
}

}  // namespace

Symbolic applied(const Operation& operation, std::vector<Symbolic> operands) {
  return {Symbolic::Kind::operation, 0, {}, &operation, nullptr, std::move(operands)};
}

std::string inside(const Written& part, Precedence loosest) {
  return part.precedence > loosest ? "(" + part.text + ")" : part.text;
}

Written written(const Notation& notation, const std::vector<Written>& operands) {
  const bool gathers = notation.precedence == Precedence::all || notation.precedence == Precedence::any;
  Written out{"", notation.precedence};
  for (std::size_t at = 0; at < notation.text.size(); ++at) {
    if (notation.text[at] != '$') {
      out.text += notation.text[at];
      continue;
    }
    const Written& operand = operands[static_cast<std::size_t>(notation.text[++at] - 'a')];
    const bool alike = gathers && operand.precedence == notation.precedence;
    out.text += alike ? operand.text : inside(operand, notation.loosest);
  }
  return out;
}

Number at(const LookupTable& table, const Number& a) {
  return Number(lookedUp(table, {a.node}));
}
Number at(const LookupTable& table, const Number& a, const Number& b) {
  return Number(lookedUp(table, {a.node, b.node}));
}
Truth holds(const LookupTable& table, const Number& a) {
  return Truth(lookedUp(table, {a.node}));
}
Truth holds(const LookupTable& table, const Number& a, const Number& b) {
  return Truth(lookedUp(table, {a.node, b.node}));
}

Truth called(std::string_view words, const Truth& meaning) {
  return Truth({Symbolic::Kind::words, 0, words, nullptr, nullptr, {meaning.node}});
}

}  // namespace headscope::attention
