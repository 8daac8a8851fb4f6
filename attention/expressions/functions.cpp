#include "attention/expressions/functions.h"

#include <charconv>
#include <cmath>
#include <numeric>

#include "attention/core/result.h"
#include "attention/text/lexer.h"

namespace headscope::attention {

void Evaluation::checkStop() const {
  if (stop_.stop_requested()) throw EvaluationFault{"stopped"};
}

void Evaluation::visit(Index values) {
  checkStop();
  visits_ += static_cast<std::uint64_t>(values);
  if (visits_ > limits_.visits)
    throw EvaluationFault{"this would read more than " + std::to_string(limits_.visits) + " values"};
}

void Evaluation::allocate(Index values) {
  checkStop();
  constexpr std::uint64_t kMax = std::uint64_t{1} << 56;
  bytes_ += std::min(static_cast<std::uint64_t>(values), kMax) * sizeof(double);
  if (bytes_ > limits_.bytes)
    throw EvaluationFault{"this would take more than " + std::to_string(limits_.bytes >> 20) + " MiB"};
}

void Evaluation::forEachBlock(const Array& array,
                              const std::function<void(const double*, Index begin, Index count)>& take) {
  visit(array.size());
  std::vector<double> block(static_cast<std::size_t>(std::min(kBlock, array.size())));
  for (Index begin = 0; begin < array.size(); begin += kBlock) {
    checkStop();
    const Index count = std::min(kBlock, array.size() - begin);
    array.read(begin, count, block.data());
    take(block.data(), begin, count);
  }
}

std::vector<double> Evaluation::values(const Array& array) {
  allocate(array.size());
  std::vector<double> all(static_cast<std::size_t>(array.size()));
  visit(array.size());
  for (Index begin = 0; begin < array.size(); begin += kBlock) {
    checkStop();
    array.read(begin, std::min(kBlock, array.size() - begin), all.data() + begin);
  }
  return all;
}

Array Evaluation::kept(const Array& array) {
  return array.isComputed() ? Array(array.shape(), values(array)) : array;
}

std::string numberWords(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, value, std::chars_format::general, 6).ptr};
}

Index wholeNumber(double value, const std::string& what) {
  constexpr double kNear = 1e-6, kMax = 1e15;
  if (!(std::abs(value) <= kMax) || std::abs(value - std::round(value)) > kNear)
    throw EvaluationFault{what + " is " + numberWords(value) + ", expected a whole number"};
  return static_cast<Index>(std::llround(value));
}

double numberOf(const Array& array, const std::string& what) {
  if (array.size() != 1)
    throw EvaluationFault{what + " has the shape " + shapeText(array.shape()) + ", expected a number"};
  return array.at(0);
}

std::size_t axisOf(const Array& number, const Array& of) {
  const Index axis = wholeNumber(numberOf(number, "the axis"), "the axis");
  const auto rank = static_cast<Index>(of.rank());
  if (axis < -rank || axis >= rank)
    throw EvaluationFault{"axis " + std::to_string(axis) + " is not among the " + std::to_string(rank) +
                          " of " + shapeText(of.shape())};
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

namespace {

/// Returns the axis given as the last argument, after `before` others; nullopt if omitted.
std::optional<std::size_t> axisIn(Arguments arguments, std::size_t before = 1) {
  if (arguments.size() <= before) return std::nullopt;
  return axisOf(arguments[before], arguments.front());
}

template <Fold F>
Array fold(Evaluation& run, Arguments arguments) {
  return folded(run, arguments[0], axisIn(arguments), F);
}

template <double (*F)(double)>
Array map(Evaluation& run, Arguments arguments) {
  return mapped(run, arguments[0], F);
}

std::size_t lastAxis(const Array& of) {
  if (of.rank() == 0) throw EvaluationFault{"found a number, expected an array"};
  return of.rank() - 1;
}

Array entropy(Evaluation& run, Arguments arguments) {
  const auto axis = axisIn(arguments);
  return folded(run, arguments[0], axis ? *axis : lastAxis(arguments[0]), Fold::entropy);
}
Array softmax(Evaluation& run, Arguments arguments) {
  const auto axis = axisIn(arguments);
  return softmaxOf(run, arguments[0], axis ? *axis : lastAxis(arguments[0]));
}
Array shape(Evaluation&, Arguments arguments) {
  const ArrayShape& sizes = arguments[0].shape();
  return {{static_cast<Index>(sizes.size())}, std::vector<double>(sizes.begin(), sizes.end())};
}
Array size(Evaluation&, Arguments arguments) {
  return static_cast<double>(arguments[0].size());
}

Array transpose(Evaluation& run, Arguments arguments) {
  const Array array = run.kept(arguments[0]);
  std::vector<std::size_t> order(array.rank());
  std::iota(order.rbegin(), order.rend(), std::size_t{0});
  return array.transposed(order);
}

Array range(Evaluation& run, Arguments arguments) {
  const bool both = arguments.size() == 2;
  const Index begin = both ? wholeNumber(numberOf(arguments[0], "range's begin"), "range's begin") : 0;
  const Index end = wholeNumber(numberOf(arguments[both ? 1 : 0], "range's end"), "range's end");
  const Index count = std::max<Index>(end - begin, 0);
  run.allocate(count);
  run.visit(count);
  std::vector<double> values(static_cast<std::size_t>(count));
  for (Index i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = static_cast<double>(begin + i);
  return {{count}, std::move(values)};
}

constexpr ExpressionFunction kFunctions[] = {
    {"sum", "x[, axis]", 1, 2, fold<Fold::sum>, "The sum."},
    {"mean", "x[, axis]", 1, 2, fold<Fold::mean>, "The mean."},
    {"std", "x[, axis]", 1, 2, fold<Fold::deviation>, "The standard deviation, with ÷ N."},
    {"min", "x[, axis]", 1, 2, fold<Fold::least>, "The smallest."},
    {"max", "x[, axis]", 1, 2, fold<Fold::most>, "The largest."},
    {"argmax", "x[, axis]", 1, 2, fold<Fold::argmax>, "The index of the largest, the first of several."},
    {"norm", "x[, axis]", 1, 2, fold<Fold::norm>, "√Σx²."},
    {"count", "x[, axis]", 1, 2, fold<Fold::count>, "Number of nonzero values: how often a condition holds."},
    {"any", "x[, axis]", 1, 2, fold<Fold::any>, "1 if any value is nonzero."},
    {"all", "x[, axis]", 1, 2, fold<Fold::all>, "1 if every value is nonzero."},
    {"entropy", "p[, axis]", 1, 2, entropy, "−Σ p·ln p, along the last axis if none is given."},
    {"softmax", "x[, axis]", 1, 2, softmax,
     "e^x ÷ Σe^x, along the last axis if none is given; 0 if all are −inf, NaN if any is NaN or +inf."},
    {"abs", "x", 1, 1, map<[](double x) { return std::abs(x); }>, "The absolute value."},
    {"sqrt", "x", 1, 1, map<[](double x) { return std::sqrt(x); }>, "The square root."},
    {"exp", "x", 1, 1, map<[](double x) { return std::exp(x); }>, "e^x."},
    {"log", "x", 1, 1, map<[](double x) { return std::log(x); }>, "The natural logarithm."},
    {"floor", "x", 1, 1, map<[](double x) { return std::floor(x); }>, "Rounds down to a whole number."},
    {"isnan", "x", 1, 1, map<[](double x) { return double(std::isnan(x)); }>, "1 where the value is NaN."},
    {"where", "condition, x, y", 3, 3, chosen, "x where the condition holds, y elsewhere."},
    {"range", "[begin, ]end", 1, 2, range,
     "The whole numbers from begin (default 0) up to but not including "
     "end."},
    {"shape", "x", 1, 1, shape, "The sizes of the axes."},
    {"size", "x", 1, 1, size, "The number of values."},
    {"transpose", "x", 1, 1, transpose, "The axes in reverse order."},
    {"unique", "x", 1, 1, uniqueValues, "The values that occur, each once, ascending."},
    {"rank", "x", 1, 1, ranks,
     "The rank of the matrices in the last two axes: singular values above largest · side · 1.2e-7."},
    {"matmul", "x, y", 2, 2, matrixProduct, "The products of the matrices in the last two axes."}};

}  // namespace

std::span<const ExpressionFunction> functionTable() {
  return kFunctions;
}

const ExpressionFunction* findFunction(std::string_view name) {
  const auto found = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                  [&](const ExpressionFunction& function) { return function.name == name; });
  return found == std::end(kFunctions) ? nullptr : &*found;
}

void checkCall(const ExpressionNode& call) {
  const ExpressionFunction& function = *call.function;
  const auto given = static_cast<int>(call.parts.size());
  if (given < function.least || given > function.most)
    throw SyntaxError{call.word + " has " + counted(given, "argument") + ", expected " + call.word + "(" +
                          std::string(function.arguments) + ")",
                      call.begin};
  // The unique values may include 0, which count would skip.
  if (function.name == "count" && call.parts.front().function &&
      call.parts.front().function->name == "unique")
    throw SyntaxError{"count(unique(…)) leaves out 0; size(unique(…)) counts all values", call.begin};
}

}  // namespace headscope::attention
