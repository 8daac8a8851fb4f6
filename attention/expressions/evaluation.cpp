#include "attention/expressions/evaluation.h"

#include <algorithm>
#include <charconv>
#include <cmath>

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

}  // namespace headscope::attention
