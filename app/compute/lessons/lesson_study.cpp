#include "app/compute/lessons/lesson_study.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "app/compute/jobs/caught_error.h"
#include "app/compute/lessons/lesson_values.h"
#include "attention/formats/quote.h"
#include "render/heatmap.h"

namespace headscope::app {

using attention::Array;
using attention::Error;
using attention::Expression;
using attention::Matrix;
using attention::Result;

struct LessonRunner::State {
  const Lesson& lesson;
  Resources& resources;
  const std::stop_token stop;
  std::vector<std::unique_ptr<StepValues>> steps = {};

  StepValues& of(std::size_t step) {
    steps.resize(lesson.steps.size());
    if (!steps[step]) steps[step] = std::make_unique<StepValues>(lesson.steps[step].scene, resources, stop);
    return *steps[step];
  }
};

namespace {

/// The names of one step; those with a step's id before the point are that step's.
template <typename State>
class StepNames : public attention::ExpressionNames {
 public:
  StepNames(State& state, std::size_t step) : state_(state), step_(step) {}

  Result<Array> value(const std::string& written) const override {
    const SplitName split = splitLessonName(written, false);
    const auto at = stepOf(split, written, false);
    return at ? state_.of(*at).value(*split.name) : at.error();
  }
  Result<Array> call(const std::string& written,
                     std::span<const attention::ExpressionArgument> arguments) const override {
    const SplitName split = splitLessonName(written, true);
    const auto at = stepOf(split, written, true);
    return at ? state_.of(*at).call(*split.name, arguments) : at.error();
  }

 private:
  Result<std::size_t> stepOf(const SplitName& split, const std::string& written, bool function) const {
    if (!split.name) return Error{unknownLessonName(written, function)};
    if (split.step.empty()) return step_;
    const int at = state_.lesson.stepAt(split.step);
    if (at < 0) return Error{attention::quotedText(std::string(split.step)) + " is not a step's id"};
    return static_cast<std::size_t>(at);
  }

  State& state_;
  const std::size_t step_;
};

attention::ExpressionLimits limitsOf(const Resources& resources) {
  attention::ExpressionLimits limits;
  limits.bytes = std::min(limits.bytes, resources.memory.total() / 4);
  return limits;
}

/// "0.25", "[2, 3]", "[8, 12, 12] between 0 and 1": what an expression came to, for a message.
std::string shownArray(const Array& array) {
  constexpr Index kListed = 12;
  if (array.rank() == 0) return formatNumber(array.at(0), {});
  if (array.size() == 0) return "nothing";
  const std::vector<double> values = array.values();
  if (array.rank() == 1 && array.size() <= kListed) {
    std::string text = "[";
    for (const double value : values) text += (text.size() > 1 ? ", " : "") + formatNumber(value, {});
    return text + "]";
  }
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return fmt::format("{} between {} and {}", attention::shapeText(array.shape()), formatNumber(*least, {}),
                     formatNumber(*most, {}));
}

/// Zeros of a map over the tokens that the head which is looked at can't see become masked cells.
void markHidden(const Scene& scene, const Snapshot& snapshot, Matrix& picture) {
  const SequenceSnapshot* line = shownSequence(scene, &snapshot);
  if (!line || line->attention.scores.count() == 0) return;
  const Index last = line->attention.scores.count() - 1;
  const attention::MatrixView scores =
      line->attention.scores[std::clamp<Index>(scene.cursor.cell.head, 0, last)];
  if (scores.rows() != picture.rows() || scores.cols() != picture.cols()) return;
  for (Index row = 0; row < picture.rows(); ++row)
    for (Index col = 0; col < picture.cols(); ++col)
      if (picture(row, col) == 0 && scores(row, col) == -INFINITY) picture(row, col) = render::kMaskedCell;
}

/// The left side of a claim that is one comparison: what was found, where it doesn't hold.
std::optional<Expression> leftSide(const std::string& claim) {
  int depth = 0;
  for (std::size_t at = 0; at < claim.size(); ++at) {
    const char c = claim[at];
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (depth != 0 || (c != '<' && c != '>' && c != '=' && c != '!')) continue;
    if (c == '!' && (at + 1 == claim.size() || claim[at + 1] != '=')) return std::nullopt;
    if (claim.find("&&") != std::string::npos || claim.find("||") != std::string::npos) return std::nullopt;
    auto left = Expression::parse(std::string_view(claim).substr(0, at));
    return left ? std::optional(*std::move(left)) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

namespace {

/// One step being studied. Errors carry the step's id and the key.
template <typename State>
class StepStudent {
 public:
  StepStudent(State& state, std::size_t at)
      : state_(state),
        at_(at),
        step_(state.lesson.steps[at]),
        names_(state, at),
        limits_(limitsOf(state.resources)) {}

  Result<std::shared_ptr<const StepStudy>> study() {
    auto study = std::make_shared<StepStudy>();
    if (!snapshots(*study) || !sentences(*study) || !options(*study) || !claims(*study)) return error_;
    return std::shared_ptr<const StepStudy>(std::move(study));
  }

 private:
  bool fail(const std::string& key, const std::string& message) {
    error_ = state_.stop.stop_requested() || message == "stopped"
                 ? Error{"stopped"}
                 : Error{fmt::format("{}: step {}: {}: {}", state_.lesson.name, step_.id, key, message)};
    return false;
  }

  bool snapshots(StepStudy& study) {
    const auto snapshot = state_.of(at_).snapshot();
    if (!snapshot) return fail("patch", snapshot.error().message);
    study.snapshot = *snapshot;
    if (step_.compare.empty()) return true;
    const auto before = state_.of(static_cast<std::size_t>(state_.lesson.stepAt(step_.compare))).snapshot();
    if (!before) return fail("compare", before.error().message);
    study.before = *before;
    return true;
  }

  bool fill(const std::string& key, const LessonText& text, std::string& to) {
    auto filled = text.filled(
        [&](const Expression& expression) { return expression.evaluate(names_, limits_, state_.stop); });
    if (!filled) return fail(key, filled.error().message);
    to = *std::move(filled);
    return true;
  }

  bool sentences(StepStudy& study) {
    return fill("text", step_.text, study.text) &&
           (!step_.question || fill("question.ask", step_.question->ask, study.ask));
  }

  bool options(StepStudy& study) {
    if (!step_.question) return true;
    std::string right;
    int count = 0;
    for (std::size_t i = 0; i < step_.question->options.size(); ++i) {
      const LessonOption& option = step_.question->options[i];
      const std::string key = fmt::format("question.options[{}]", i);
      OptionStudy& found = study.options.emplace_back();
      if (!fill(key + ".text", option.text, found.text) || !fill(key + ".why", option.why, found.why))
        return false;
      const auto holds = option.trueIf.holds(names_, limits_, state_.stop);
      if (!holds) return fail(key + ".true_if", holds.error().message);
      found.holds = *holds;
      if (*holds)
        right += (count++ > 0 ? ", " : "") + std::to_string(i) + " " + attention::quotedText(found.text);
      if (option.row && !draw(key + ".row", *option.row, found.picture)) return false;
    }
    if (count == 0) return fail("question.options", "none holds, expected exactly one");
    if (count > 1)
      return fail("question.options", fmt::format("{} hold: {}; expected exactly one", count, right));
    return true;
  }

  /// The scores of the head that is looked at, in the line that is shown.
  attention::MatrixView lookedAt() {
    const SequenceSnapshot& line = *shownSequence(step_.scene, (*state_.of(at_).snapshot()).get());
    const Index last = line.attention.scores.count() - 1;
    return line.attention.scores[std::clamp<Index>(step_.scene.cursor.cell.head, 0, last)];
  }

  bool draw(const std::string& key, const Expression& expression, Matrix& picture) {
    const auto value = expression.evaluate(names_, limits_, state_.stop);
    if (!value) return fail(key, value.error().message);
    const attention::MatrixView scores = lookedAt();
    const Index query = std::clamp<Index>(step_.scene.cursor.cell.query, 0, scores.rows() - 1);
    const Index keys = scores.cols();
    const bool map = value->rank() == 2 && value->shape()[0] > 1;
    constexpr Index kMostCells = Index{1} << 22;
    if (value->rank() > 2 || value->size() > kMostCells || value->size() == 0)
      return fail(key, "this has the shape " + attention::shapeText(value->shape()) +
                           ", expected a number, a row or a map");
    const std::vector<double> values = value->values();
    const bool number = value->rank() == 0;
    const Index cols = number ? keys : value->shape().back(), rows = map ? value->shape()[0] : 1;
    picture.resize(rows, cols);
    for (Index row = 0; row < rows; ++row)
      for (Index col = 0; col < cols; ++col) {
        const auto cell = static_cast<float>(values[number ? 0 : static_cast<std::size_t>(row * cols + col)]);
        const bool fits = cols == keys && (!map || rows == scores.rows());
        const bool hidden = fits && scores(map ? row : query, col) == -INFINITY;
        picture(row, col) = hidden && (number || cell == 0) ? render::kMaskedCell : cell;
      }
    return true;
  }

  bool claims(StepStudy& study) {
    for (std::size_t i = 0; i < step_.claims.size(); ++i) {
      const Expression& claim = step_.claims[i];
      const auto holds = claim.holds(names_, limits_, state_.stop);
      if (!holds) return fail(fmt::format("claims[{}]", i), holds.error().message);
      if (*holds) continue;
      std::string found;
      if (const auto left = leftSide(claim.text()))
        if (const auto value = left->evaluate(names_, limits_, state_.stop); value.ok())
          found = "; found " + shownArray(*value);
      study.failedClaims.push_back(claim.text() + " does not hold" + found);
    }
    return true;
  }

  State& state_;
  const std::size_t at_;
  const LessonStep& step_;
  const StepNames<State> names_;
  const attention::ExpressionLimits limits_;
  Error error_;
};

}  // namespace

LessonRunner::LessonRunner(const Lesson& lesson, Resources& resources, std::stop_token stop)
    : state_(new State{lesson, resources, std::move(stop)}) {}
LessonRunner::~LessonRunner() = default;

Result<std::shared_ptr<const StepStudy>> LessonRunner::study(std::size_t step) {
  attention::require(step < state_->lesson.steps.size(), "a step that the lesson doesn't have");
  try {
    return StepStudent<State>(*state_, step).study();
  } catch (...) {
    return caughtError(state_->lesson.name + ": step " + state_->lesson.steps[step].id);
  }
}

Result<Matrix> LessonRunner::cover() {
  const Lesson& lesson = state_->lesson;
  const int step = lesson.stepAt(lesson.coverStep);
  const StepNames<State> names(*state_, static_cast<std::size_t>(std::max(step, 0)));
  try {
    const auto value = lesson.cover.evaluate(names, limitsOf(state_->resources), state_->stop);
    if (!value) return Error{lesson.name + ": cover: " + value.error().message};
    constexpr Index kMostCells = Index{1} << 22;
    if (value->rank() != 2 || value->size() > kMostCells || value->size() == 0)
      return Error{lesson.name + ": cover: this has the shape " + attention::shapeText(value->shape()) +
                   ", expected a map"};
    Matrix picture(value->shape()[0], value->shape()[1]);
    const std::vector<double> values = value->values();
    std::transform(values.begin(), values.end(), picture.data(),
                   [](double cell) { return static_cast<float>(cell); });
    const auto at = static_cast<std::size_t>(std::max(step, 0));
    const auto snapshot = state_->of(at).snapshot();
    if (snapshot) markHidden(lesson.steps[at].scene, **snapshot, picture);
    return picture;
  } catch (...) {
    return caughtError(lesson.name + ": cover");
  }
}

Result<std::string> LessonRunner::shown(std::size_t step, const Expression& expression) {
  const StepNames<State> names(*state_, step);
  try {
    const auto value = expression.evaluate(names, limitsOf(state_->resources), state_->stop);
    if (!value) return value.error();
    return shownArray(*value);
  } catch (...) {
    return caughtError(expression.text());
  }
}

Result<std::shared_ptr<const StepStudy>> studyStep(const Lesson& lesson, std::size_t step,
                                                   Resources& resources, std::stop_token stop) {
  return LessonRunner(lesson, resources, std::move(stop)).study(step);
}

}  // namespace headscope::app
