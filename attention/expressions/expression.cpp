#include "attention/expressions/expression.h"

#include <cmath>

#include "attention/expressions/functions.h"
#include "attention/text/lexer.h"

namespace headscope::attention {

using Kind = ExpressionNode::Kind;

namespace {

std::string columnText(std::size_t offset) {
  return "column " + std::to_string(offset + 1) + ": ";
}

/// Evaluates a tree by walking it once.
class Walker {
 public:
  Walker(const ExpressionNames& names, Evaluation& run) : names_(names), run_(run) {}

  /// The offset of the current node, for messages. Errors in values computed later name the last node
  /// visited.
  std::size_t offset() const { return offset_; }

  Array value(const ExpressionNode& node) {
    std::vector<Array> parts;
    if (node.kind != Kind::foreignCall)
      for (const ExpressionNode& part : node.parts) parts.push_back(value(part));
    offset_ = node.begin;
    run_.checkStop();
    switch (node.kind) {
      case Kind::number:
        return node.number;
      case Kind::name:
        return accepted(names_.value(node.word));
      case Kind::list:
        return list(parts);
      case Kind::chain:
        return joined(run_, std::move(parts), node.joins);
      case Kind::negative:
        return negated(run_, parts.front());
      case Kind::call:
        return node.function->apply(run_, parts);
      case Kind::foreignCall:
        return foreign(node);
      case Kind::pick:
        return picked(run_, node.picks, parts);
      case Kind::text:
        break;
    }
    throw EvaluationFault{"found text, expected a value"};
  }

 private:
  static Array accepted(Result<Array> result) {
    if (!result) throw EvaluationFault{result.error().message};
    return *std::move(result);
  }

  Array foreign(const ExpressionNode& node) {
    std::vector<ExpressionArgument> arguments;
    for (const ExpressionNode& part : node.parts) {
      ExpressionArgument& argument = arguments.emplace_back();
      if (part.kind == Kind::text)
        argument.text = part.word;
      else
        argument.array = run_.kept(value(part));
    }
    offset_ = node.begin;
    return accepted(names_.call(node.word, arguments));
  }

  /// Stacks values of equal shape along a new first axis.
  Array list(const std::vector<Array>& parts) {
    if (parts.empty()) return {{0}, std::vector<double>{}};
    ArrayShape shape = parts.front().shape();
    if (shape.size() == Array::kMaxRank)
      throw EvaluationFault{"an array has at most " + std::to_string(Array::kMaxRank) + " axes"};
    std::vector<double> values;
    for (const Array& part : parts) {
      if (part.shape() != shape)
        throw EvaluationFault{"a list has entries of the shapes " + shapeText(shape) + " and " +
                              shapeText(part.shape())};
      const std::vector<double> entry = run_.values(part);
      values.insert(values.end(), entry.begin(), entry.end());
    }
    shape.insert(shape.begin(), static_cast<Index>(parts.size()));
    return {std::move(shape), std::move(values)};
  }

  const ExpressionNames& names_;
  Evaluation& run_;
  std::size_t offset_ = 0;
};

void collect(const ExpressionNode& node, std::vector<UsedName>& names) {
  if (node.kind == Kind::name || node.kind == Kind::foreignCall) {
    const bool function = node.kind == Kind::foreignCall;
    const bool known = std::any_of(names.begin(), names.end(), [&](const UsedName& each) {
      return each.name == node.word && each.function == function;
    });
    if (!known) names.push_back({node.word, node.begin + 1, function});
  }
  for (const ExpressionNode& part : node.parts) collect(part, names);
}

}  // namespace

Expression::Expression() : text_("0"), root_(std::make_shared<const ExpressionNode>()) {}

Result<Expression> Expression::parse(std::string_view text) {
  if (text.size() > kMaxBytes)
    return Error{"the expression has " + std::to_string(text.size()) + " bytes, expected at most " +
                 std::to_string(kMaxBytes)};
  try {
    Expression expression;
    expression.root_ = std::make_shared<const ExpressionNode>(parseExpression(text));
    expression.text_ = text;
    return expression;
  } catch (const SyntaxError& fault) {
    return Error{columnText(fault.offset) + fault.message};
  }
}

namespace {

/// Evaluates a tree and passes its value to `use`; returns what that returns, or the fault with its column.
template <typename Use>
auto evaluated(const ExpressionNode& root, const ExpressionNames& names, const ExpressionLimits& limits,
               std::stop_token stop, Use use) -> Result<decltype(use(std::declval<Evaluation&>(), Array()))> {
  Evaluation run(limits, std::move(stop));
  Walker walker(names, run);
  try {
    return use(run, walker.value(root));
  } catch (const EvaluationFault& fault) {
    if (fault.message == stopped().message) return stopped();
    return Error{columnText(walker.offset()) + fault.message};
  }
}

}  // namespace

Result<Array> Expression::evaluate(const ExpressionNames& names, const ExpressionLimits& limits,
                                   std::stop_token stop) const {
  return evaluated(*root_, names, limits, std::move(stop),
                   [](Evaluation& run, const Array& value) { return run.kept(value); });
}

Result<bool> Expression::holds(const ExpressionNames& names, const ExpressionLimits& limits,
                               std::stop_token stop) const {
  return evaluated(*root_, names, limits, std::move(stop), [](Evaluation& run, const Array& value) {
    return folded(run, value, std::nullopt, Fold::all).at(0) != 0;
  });
}

std::vector<UsedName> Expression::names() const {
  std::vector<UsedName> names;
  collect(*root_, names);
  return names;
}

std::vector<ExpressionFunctionInfo> expressionFunctions() {
  std::vector<ExpressionFunctionInfo> all;
  for (const ExpressionFunction& function : functionTable())
    all.push_back({function.name, function.arguments, function.help});
  return all;
}

}  // namespace headscope::attention
