#include "app/compute/lessons/lesson_arrays.h"

#include <fmt/core.h>

namespace headscope::app {

using attention::Matrix;

attention::Result<std::vector<Matrix>> mapsOf(const attention::Array& value) {
  constexpr Index kMaxCells = Index{1} << 16;
  if (value.rank() < 1 || value.rank() > 3 || value.size() == 0 || value.size() > kMaxCells)
    return attention::Error{"this has the shape " + attention::shapeText(value.shape()) +
                            ", expected a list of numbers, a map or several maps"};
  const std::vector<double> numbers = value.values();
  const Index cols = value.shape().back(), rows = value.rank() == 1 ? 1 : value.shape()[value.rank() - 2];
  std::vector<Matrix> maps(static_cast<std::size_t>(value.size() / (rows * cols)), Matrix(rows, cols));
  for (std::size_t i = 0; i < numbers.size(); ++i)
    maps[i / static_cast<std::size_t>(rows * cols)].data()[i % static_cast<std::size_t>(rows * cols)] =
        static_cast<float>(numbers[i]);
  return maps;
}

attention::Result<PlaneFigure> planeFigure(const LessonStep& step, const Snapshot& snapshot,
                                           std::vector<std::string> words) {
  const attention::AttentionResult& result = shownSequence(step.scene, &snapshot)->attention;
  const Index head = step.scene.cursor.cell.head;
  if (head >= result.q.count() || snapshot.config.headDim != 2)
    return attention::Error{
        fmt::format("this picture needs a head of 2 dimensions; these have {}", snapshot.config.headDim)};
  return PlaneFigure{result.q[head], result.k[snapshot.config.kvHeadOf(head)], std::move(words),
                     step.scene.cursor.cell.query};
}

}  // namespace headscope::app
