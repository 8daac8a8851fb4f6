#include "attention/expressions/expression.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "test_paths.h"
#include "tests/support/matchers.h"

namespace headscope::attention {
namespace {

/// W [2, 3, 3], x [4], nan, and floats of 64 heads over 512 tokens as `big`.
class Names : public ExpressionNames {
 public:
  Result<Array> value(const std::string& name) const override {
    asked.insert(name);
    if (name == "W" || name == "open.W") {
      std::vector<double> values(18);
      for (std::size_t i = 0; i < 18; ++i) values[i] = static_cast<double>(i) + (name == "W" ? 0 : 100);
      return Array({2, 3, 3}, values);
    }
    if (name == "x") return Array({4}, {1, -2, 3, 0.5});
    if (name == "nan") return Array({2}, {1, std::numeric_limits<double>::quiet_NaN()});
    if (name == "big") return Array({64, 512, 512}, big->data(), big);
    return Error{name + " is unknown here"};
  }
  Result<Array> call(const std::string& function,
                     std::span<const ExpressionArgument> arguments) const override {
    asked.insert(function + "()");
    if (function != "half" || arguments.empty()) return Error{function + " is not a function here"};
    if (arguments[0].text) return Array(static_cast<double>(arguments[0].text->size()) / 2);
    return Array(arguments[0].array.at(0) / 2);
  }

  mutable std::set<std::string> asked;
  std::shared_ptr<std::vector<float>> big = std::make_shared<std::vector<float>>(1, 0.5f);
};

Array evaluated(const std::string& text, const Names& names = {}) {
  const auto expression = Expression::parse(text);
  EXPECT_TRUE(expression.ok()) << text << ": " << expression.error().message;
  if (!expression) return {};
  const auto value = expression->evaluate(names);
  EXPECT_TRUE(value.ok()) << text << ": " << value.error().message;
  return value.ok() ? *value : Array();
}
double number(const std::string& text) {
  return evaluated(text).at(0);
}
/// The message of an expression that is refused, either when parsed or when evaluated.
std::string expressionRefusal(const std::string& text, const ExpressionLimits& limits = {}) {
  const auto expression = Expression::parse(text);
  if (!expression) return expression.error().message;
  const auto value = expression->evaluate(Names(), limits);
  EXPECT_FALSE(value.ok()) << text;
  return value.ok() ? "" : value.error().message;
}

TEST(Expression, OperatorsBindAsInPython) {
  EXPECT_EQ(number("2+3*4"), 14);
  EXPECT_EQ(number("2-3-4"), -5);
  EXPECT_EQ(number("-2^2"), -4);
  EXPECT_EQ(number("2^-1"), 0.5);
  EXPECT_EQ(number("2^3^2"), 512);
  EXPECT_EQ(number("12/3/2"), 2);
  EXPECT_EQ(number("1 < 2 && 2 < 3 || 0"), 1);
  EXPECT_EQ(number("0 && 0 || 1"), 1);
  EXPECT_EQ(number("- -3"), 3);
  EXPECT_EQ(number(".5 + 1e-2"), 0.51);
}

TEST(Expression, ComparisonsTolerateAMillionth) {
  EXPECT_EQ(number("1 == 1.0000009"), 1);
  EXPECT_EQ(number("1 == 1.000002"), 0);
  EXPECT_EQ(number("1 != 1.0000009"), 0);
  EXPECT_EQ(number("-inf == -inf"), 1);
  EXPECT_EQ(number("inf == -inf"), 0);
  EXPECT_EQ(number("1e-7 < 1e-6"), 1);
  EXPECT_EQ(number("1e-9 > 0"), 1);
  EXPECT_EQ(number("1050625 == 1050624"), 0);
  // Exactly one holds, and the others follow from it.
  for (const std::string pair :
       {"1 1.0000009", "1.0000009 1", "1 2", "2 1", "0 1e-9", "1e-9 0", "0 0", "-1 -1.0000009",
        "1e9 1000000900", "inf 1", "1 inf", "-inf inf", "inf inf"}) {
    const std::string a = pair.substr(0, pair.find(' ')), b = pair.substr(pair.find(' ') + 1);
    const auto is = [&](const std::string& sign) { return number(a + " " + sign + " " + b); };
    EXPECT_EQ(is("<") + is("==") + is(">"), 1) << pair;
    EXPECT_EQ(is("<="), is("<") + is("==")) << pair;
    EXPECT_EQ(is(">="), is(">") + is("==")) << pair;
    EXPECT_EQ(is("!="), 1 - is("==")) << pair;
  }
}

TEST(Expression, IndexesLikePython) {
  EXPECT_EQ(number("W[1][2][0]"), 15);
  EXPECT_EQ(number("W[1, 2, 0]"), 15);
  EXPECT_EQ(number("W[-1][-1, -1]"), 17);
  EXPECT_THAT(evaluated("W[1][2][1:]").values(), ElementsAre(16, 17));
  EXPECT_THAT(evaluated("x[-3:3]").values(), ElementsAre(-2, 3));
  EXPECT_EQ(evaluated("x[3:1]").size(), 0);
  EXPECT_EQ(evaluated("x[9:]").size(), 0);
  EXPECT_THAT(evaluated("x[[2, 0, -1]]").values(), ElementsAre(3, 1, 0.5));
  EXPECT_EQ(evaluated("W[[1]]").shape(), (ArrayShape{1, 3, 3}));
  EXPECT_THAT(evaluated("W[0, 1:, [0, 2]]").values(), ElementsAre(3, 5, 6, 8));
  EXPECT_EQ(evaluated("x[:, None]").shape(), (ArrayShape{4, 1}));
  EXPECT_THAT(evaluated("(x*2)[1:3]").values(), ElementsAre(-4, 6));
  EXPECT_EQ(number("x[W[0][0][2]]"), 3);
}

TEST(Expression, BroadcastsShapes) {
  EXPECT_EQ(evaluated("range(3)[:, None] + range(4)").shape(), (ArrayShape{3, 4}));
  EXPECT_EQ(number("count(range(12)[:, None] >= range(12))"), 78);
  EXPECT_THAT(evaluated("[1, 2] == [1, 3]").values(), ElementsAre(1, 0));
  EXPECT_EQ(evaluated("[[1, 2], [3, 4]]").shape(), (ArrayShape{2, 2}));
  EXPECT_EQ(number("max(where(range(3) > range(3)[:, None], W[0], -1))"), 5);
}

TEST(Expression, RequestsOnlyUsedNames) {
  const Names names;
  evaluated("sum(open.W[1]) + half(3)", names);
  EXPECT_THAT(names.asked, ElementsAre("half()", "open.W"));
  const auto used =
      Expression::parse("max(abs(open.W-W)) + W[0][0][0] + half(\"a b\") + probability(x)")->names();
  ASSERT_EQ(used.size(), 5u);
  EXPECT_EQ(used[0], (UsedName{"open.W", 9, false}));
  EXPECT_EQ(used[1], (UsedName{"W", 16, false}));
  EXPECT_EQ(used[2].name, "half");
  EXPECT_TRUE(used[2].function);
  EXPECT_EQ(number("half('abcd')"), 2);
}

TEST(Expression, ConditionHoldsIfAllElementsDo) {
  const auto holds = [](const char* text) { return *Expression::parse(text)->holds(Names()); };
  EXPECT_TRUE(holds("[1, 2, 3] == [1, 2, 3]"));
  EXPECT_FALSE(holds("[1, 2, 3] == [1, 2, 4]"));
  EXPECT_TRUE(holds("x[9:] > 0"));
  EXPECT_FALSE(holds("0"));
}

TEST(Expression, ReductionsHandleEmptyAndNaN) {
  EXPECT_EQ(number("sum(x[9:])"), 0);
  EXPECT_TRUE(std::isnan(number("max(nan)")));
  EXPECT_TRUE(std::isnan(number("max(nan[[1, 0]])")));
  EXPECT_EQ(number("argmax(nan)"), 1);
  EXPECT_EQ(number("count(isnan(nan))"), 1);
  EXPECT_THAT(evaluated("softmax([-inf, -inf])").values(), ElementsAre(0, 0));
  for (const char* row : {"softmax([1, inf])", "softmax([inf, inf])", "softmax(nan)", "softmax(nan[[1, 0]])",
                          "softmax(nan[1:] + [-inf, -inf])"})
    for (const double value : evaluated(row).values()) EXPECT_TRUE(std::isnan(value)) << row;
  EXPECT_EQ(number("entropy([1, 0])"), 0);
  EXPECT_EQ(number("size(unique([0, 2, 0]))"), 2);
}

TEST(Expression, ReportsSyntaxErrorsWithColumn) {
  EXPECT_EQ(expressionRefusal(""), "column 1: the expression ends where a value is expected");
  EXPECT_EQ(expressionRefusal("1 +"), "column 4: the expression ends where a value is expected");
  EXPECT_EQ(expressionRefusal("(1"), "column 3: the expression ends where ) is expected");
  EXPECT_EQ(expressionRefusal("W[1"), "column 4: the expression ends where ] or , is expected");
  EXPECT_EQ(expressionRefusal("1 2"), "column 3: \"2\" found where the end or an operator is expected");
  EXPECT_EQ(expressionRefusal("W[]"), "column 3: \"]\" found where an index is expected");
  EXPECT_THAT(expressionRefusal("a = 1"), HasSubstr("column 3: = is not an operator"));
  EXPECT_THAT(expressionRefusal("a & b"), HasSubstr("join conditions with && or ||"));
  EXPECT_THAT(expressionRefusal("1 < 2 < 3"), HasSubstr("column 7: found two comparisons in a row"));
  EXPECT_THAT(expressionRefusal("!a"), HasSubstr("column 1: ! is not an operator; compare with == 0"));
  EXPECT_THAT(expressionRefusal("x[::2]"),
              HasSubstr("column 4: a slice can't have a step; list the indices"));
  EXPECT_THAT(expressionRefusal("transpose(W, [0, 1])"), HasSubstr("expected transpose(x)"));
  EXPECT_THAT(expressionRefusal("1.2.3"), HasSubstr("\"1.2.3\" is not a number"));
  EXPECT_THAT(expressionRefusal("2x"), HasSubstr("is not a number"));
  EXPECT_THAT(expressionRefusal("1e999"), HasSubstr("too large"));
  EXPECT_EQ(number("1e-999"), 0);
  EXPECT_THAT(expressionRefusal("open."), HasSubstr("column 6: expected a name after the point"));
  EXPECT_THAT(expressionRefusal("\"a"), HasSubstr("a closing quote is missing"));
  EXPECT_THAT(expressionRefusal("\"a\" == 1"), HasSubstr("text in quotes is allowed only as an argument"));
  EXPECT_THAT(expressionRefusal("max(\"a\")"), HasSubstr("max takes no text"));
  EXPECT_THAT(expressionRefusal("max()"), HasSubstr("max has 0 arguments, expected max(x[, axis])"));
  EXPECT_THAT(expressionRefusal("where(1, 2)"), HasSubstr("where has 2 arguments"));
  EXPECT_THAT(expressionRefusal("None"), HasSubstr("only in square brackets"));
  EXPECT_THAT(expressionRefusal("a ° b"), HasSubstr("\"°\" is not allowed in an expression"));
  EXPECT_THAT(expressionRefusal("count(unique(x))"), HasSubstr("size(unique(…))"));
  EXPECT_THAT(expressionRefusal(std::string("\0", 1)), HasSubstr("\\x00"));
}

TEST(Expression, ReportsEvaluationErrorsWithColumn) {
  EXPECT_EQ(expressionRefusal("1 + nobody"), "column 5: nobody is unknown here");
  EXPECT_EQ(expressionRefusal("1 + nobody(2)"), "column 5: nobody is not a function here");
  EXPECT_EQ(expressionRefusal("W[1][3]"), "column 1: index 3 is out of range: axis 0 of [3, 3] has -3 to 2");
  EXPECT_THAT(expressionRefusal("W[0, 0, 0, 0]"),
              HasSubstr("4 indices pick from [2, 3, 3], which has 3 axes"));
  EXPECT_THAT(expressionRefusal("x[0.5]"), HasSubstr("an index is 0.5, expected a whole number"));
  EXPECT_THAT(expressionRefusal("x[1e300]"), HasSubstr("expected a whole number"));
  EXPECT_THAT(expressionRefusal("x[inf:]"), HasSubstr("whole number"));
  EXPECT_EQ(expressionRefusal("2 * (x + [1, 2, 3])"),
            "column 5: the shapes [4] and [3] don't fit each other");
  EXPECT_THAT(expressionRefusal("sum(x, 1)"), HasSubstr("axis 1 is not among the 1 of [4]"));
  EXPECT_THAT(expressionRefusal("max(x[9:])"), HasSubstr("is empty, expected at least one value"));
  EXPECT_THAT(expressionRefusal("[1, [2]]"), HasSubstr("entries of the shapes a number and [1]"));
  EXPECT_THAT(expressionRefusal("nan > 0"), HasSubstr("NaN, which is neither true nor false"));
  EXPECT_THAT(expressionRefusal("any(nan)"), HasSubstr("NaN"));
  EXPECT_THAT(expressionRefusal("where(nan, 1, 2)"), HasSubstr("NaN"));
  EXPECT_THAT(expressionRefusal("unique(nan)"), HasSubstr("NaN"));
  EXPECT_THAT(expressionRefusal("rank(nan[None])"), HasSubstr("rank needs finite numbers"));
  EXPECT_THAT(expressionRefusal("rank(3)"), HasSubstr("needs matrices"));
  EXPECT_THAT(expressionRefusal("matmul(x, x)"), HasSubstr("needs matrices"));
  EXPECT_THAT(expressionRefusal("matmul(W, W[:, :2])"), HasSubstr("can't multiply [2, 3, 3] by [2, 2, 3]"));
  EXPECT_THAT(expressionRefusal("entropy([-1])"), HasSubstr("entropy meets -1"));
  EXPECT_THAT(expressionRefusal("W[None][None][None][None]"), HasSubstr("at most 6 axes"));
  EXPECT_THAT(expressionRefusal("[[[[[[[1]]]]]]]"), HasSubstr("at most 6 axes"));
}

TEST(Expression, RefusesDeepAndLongTexts) {
  for (const std::size_t depth : {65u, 1000u, 2000u}) {
    EXPECT_THAT(expressionRefusal(std::string(depth, '(') + "1" + std::string(depth, ')')),
                HasSubstr("nested deeper than 64"));
    EXPECT_THAT(expressionRefusal(std::string(depth, '[')), HasSubstr("nested deeper"));
    EXPECT_THAT(expressionRefusal(std::string(depth, '-') + "1"), HasSubstr("nested deeper"));
    std::string picks = "x", powers = "2", ands = "1";
    for (std::size_t i = 0; i < depth && picks.size() < 4000; ++i) picks += "[:]";
    for (std::size_t i = 0; i < depth && powers.size() < 4000; ++i) powers += "^1";
    EXPECT_THAT(expressionRefusal(picks), HasSubstr("nested deeper"));
    EXPECT_THAT(expressionRefusal(powers), HasSubstr("nested deeper"));
  }
  EXPECT_EQ(number(std::string(60, '(') + "7" + std::string(60, ')')), 7);
  std::string sum = "1";
  for (int i = 0; i < 2000; ++i) sum += "+1";
  EXPECT_EQ(number(sum), 2001);
  EXPECT_THAT(expressionRefusal(std::string(5000, '1')), HasSubstr("5000 bytes, expected at most 4096"));
}

TEST(Expression, LimitsWorkAndMemory) {
  EXPECT_THAT(expressionRefusal("range(1e12)"), HasSubstr("more than 1024 MiB"));
  EXPECT_THAT(expressionRefusal("range(9e14)[:, None] * range(9e14)"), HasSubstr("more than"));
  EXPECT_THAT(expressionRefusal("sum(range(100000)[:, None] * range(100000))"),
              HasSubstr("would read more than"));
  const char* huge = "x[:, None, None, None, None, None] * 1";
  EXPECT_EQ(evaluated(huge).size(), 4);
  ExpressionLimits few;
  few.visits = 100;
  EXPECT_THAT(expressionRefusal("sum(range(90))", few), HasSubstr("would read more than 100 values"));
  few = {};
  few.bytes = 1 << 20;
  EXPECT_THAT(expressionRefusal("range(200000)", few), HasSubstr("more than 1 MiB"));
  // Six axes of 10⁵ are 10³⁰ values.
  std::string wide = "range(1e5)";
  for (const char* axes :
       {"[:, None]", "[:, None, None]", "[:, None, None, None]", "[:, None, None, None, None]"})
    wide += std::string(" * range(1e5)") + axes;
  EXPECT_THAT(expressionRefusal("sum(" + wide + ")"), HasSubstr("more than"));
}

TEST(Expression, IndexesLargeFloatsWithoutCopying) {
  Names names;
  names.big->assign(std::size_t{64} * 512 * 512, 0.25f);
  (*names.big)[(std::size_t{1} * 512 + 11) * 512 + 9] = 2;
  ExpressionLimits tight;
  tight.bytes = 1 << 16;
  tight.visits = 1 << 16;
  const auto row = checked(Expression::parse("max(big[1][11][8:])")->evaluate(names, tight));
  EXPECT_EQ(row->at(0), 2);
  const auto view = checked(Expression::parse("big[1]")->evaluate(names, tight));
  EXPECT_EQ(view->shape(), (ArrayShape{512, 512}));
  // Whole stacks are processed in pieces: two operands of 128 MiB as doubles fit into 1 MiB.
  tight = {};
  tight.bytes = 1 << 20;
  const auto all = checked(Expression::parse("max(abs(sum(big, -1)/128 - 1)) < 0.02")->holds(names, tight));
  EXPECT_TRUE(*all);
  EXPECT_TRUE(*Expression::parse("max(abs(big-big))==0")->holds(names, tight));
}

TEST(Expression, StopsOnRequest) {
  Names names;
  names.big->assign(std::size_t{64} * 512 * 512, 0.25f);
  std::stop_source stop;
  std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    stop.request_stop();
  });
  ExpressionLimits all;
  all.visits = std::numeric_limits<std::uint64_t>::max();
  std::string text = "sum(exp(log(big+1)))";
  for (int i = 0; i < 40; ++i) text += " + sum(exp(log(big+1)))";
  auto value = Expression::parse(text)->evaluate(names, all, stop.get_token());
  while (value.ok()) value = Expression::parse(text)->evaluate(names, all, stop.get_token());
  EXPECT_EQ(value.error().message, "stopped");
}

TEST(Expression, EveryListedFunctionCanBeCalled) {
  const std::map<std::string, std::string> calls{
      {"where", "where(x > 0, x, 0)"}, {"range", "range(3)"},          {"rank", "rank(W)"},
      {"matmul", "matmul(W, W)"},      {"entropy", "entropy(abs(x))"}, {"sqrt", "sqrt(abs(x))"},
      {"log", "log(abs(x))"}};
  for (const ExpressionFunctionInfo& function : expressionFunctions()) {
    const std::string name(function.name);
    const auto found = calls.find(name);
    evaluated(found == calls.end() ? name + "(x)" : found->second);
    EXPECT_FALSE(function.help.empty());
  }
}

using Json = nlohmann::json;

Array arrayOf(const Json& json) {
  return {json.at("shape").get<ArrayShape>(), json.at("values").get<std::vector<double>>()};
}

class CaseNames : public ExpressionNames {
 public:
  explicit CaseNames(const Json& json) {
    for (const auto& [name, value] : json.items()) arrays_.emplace(name, arrayOf(value));
  }
  Result<Array> value(const std::string& name) const override {
    const auto found = arrays_.find(name);
    if (found == arrays_.end()) return Error{name + " is unknown"};
    return found->second;
  }
  Result<Array> call(const std::string& function, std::span<const ExpressionArgument>) const override {
    return Error{function + " is unknown"};
  }

 private:
  std::map<std::string, Array> arrays_;
};

TEST(ExpressionNumPy, RandomExpressionsMatchNumPy) {
  std::ifstream file(std::string(HEADSCOPE_TEST_DIR) + "/attention/expressions/cases.json");
  const Json all = Json::parse(file);
  const CaseNames names(all.at("names"));
  ASSERT_GE(all.at("cases").size(), 600u);
  for (const Json& each : all.at("cases")) {
    const auto text = each.at("expression").get<std::string>();
    const auto expression = Expression::parse(text);
    ASSERT_TRUE(expression.ok()) << text << "\n" << expression.error().message;
    const auto value = expression->evaluate(names);
    ASSERT_TRUE(value.ok()) << text << "\n" << value.error().message;
    const Array wanted = arrayOf(each);
    ASSERT_EQ(shapeText(value->shape()), shapeText(wanted.shape())) << text;
    for (Index i = 0; i < wanted.size(); ++i) {
      const double found = value->at(i), expected = wanted.at(i);
      ASSERT_NEAR(found, expected, 1e-9 * std::max(1.0, std::abs(expected))) << text << " at " << i;
    }
  }
}

}  // namespace
}  // namespace headscope::attention
