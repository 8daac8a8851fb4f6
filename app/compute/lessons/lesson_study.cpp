#include "app/compute/lessons/lesson_study.h"

#include <fmt/core.h>

#include "app/compute/lessons/lesson_values.h"
#include "render/heatmap.h"

namespace headscope::app {

using attention::Array;
using attention::Error;
using attention::Expression;
using attention::Matrix;
using attention::Result;

/// The scenes of a lesson's steps, each computed on first use.
struct LessonScenes {
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

/// The names in one step's expressions. A step's id before the point selects that step instead.
class StepNames : public attention::ExpressionNames {
 public:
  StepNames(LessonScenes& state, std::size_t step) : state_(state), step_(step) {}

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

  LessonScenes& state_;
  const std::size_t step_;
};

attention::ExpressionLimits limitsOf(const Resources& resources) {
  attention::ExpressionLimits limits;
  limits.bytes = std::min(limits.bytes, resources.memory.total() / 4);
  return limits;
}

/// Formats an expression's value for a message: "0.25", "[2, 3]", "[8, 12, 12] between 0 and 1".
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

/// Returns an expression's value as a picture for the step's cursor: a map, a row, or a number for every key
/// that the query sees. Zeros that the head can't see become masked cells.
Result<Matrix> pictureOf(const Array& value, const Scene& scene, const Snapshot& snapshot) {
  constexpr Index kMaxCells = Index{1} << 22;
  if (value.rank() > 2 || value.size() > kMaxCells || value.size() == 0)
    return Error{"this has the shape " + attention::shapeText(value.shape()) +
                 ", expected a number, a row or a map"};
  const attention::Stack& heads = shownSequence(scene, &snapshot)->attention.scores;
  // Imported attention may have no scores; then no cell is known to be hidden.
  const Matrix scores = heads.count() == 0
                            ? Matrix()
                            : Matrix(heads[std::clamp<Index>(scene.cursor.cell.head, 0, heads.count() - 1)]);
  const Index query = std::clamp<Index>(scene.cursor.cell.query, 0, std::max<Index>(scores.rows() - 1, 0));
  const bool number = value.rank() == 0 && scores.cols() > 0, map = value.rank() == 2 && value.shape()[0] > 1;
  const std::vector<double> values = value.values();
  Matrix picture(map ? value.shape()[0] : 1, number ? scores.cols() : value.shape().back());
  const bool fits = picture.cols() == scores.cols() && (!map || picture.rows() == scores.rows());
  for (Index row = 0; row < picture.rows(); ++row)
    for (Index col = 0; col < picture.cols(); ++col) {
      const auto cell =
          static_cast<float>(values[number ? 0 : static_cast<std::size_t>(row * picture.cols() + col)]);
      const bool hidden = fits && scores(map ? row : query, col) == -INFINITY;
      picture(row, col) = hidden && (number || cell == 0) ? render::kMaskedCell : cell;
    }
  return picture;
}

/// The words that the shown line's queries read, by position.
std::vector<std::string> keyWords(const Scene& scene, const Snapshot& snapshot) {
  std::vector<std::string> words;
  for (const attention::Token& token : shownSequence(scene, &snapshot)->keys) words.push_back(token.text);
  return words;
}

/// Returns the left side of a claim that is a single comparison, to report its value if the claim fails.
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

/// Computes one step. Errors carry the step's id and the key.
class StepStudent {
 public:
  StepStudent(LessonScenes& state, std::size_t at)
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
    if (!picture(study)) return false;
    if (step_.compare.empty()) return true;
    const auto before = state_.of(static_cast<std::size_t>(state_.lesson.stepAt(step_.compare))).snapshot();
    if (!before) return fail("compare", before.error().message);
    study.before = *before;
    return true;
  }

  bool picture(StepStudy& study) {
    const LookPicture picture = step_.look.picture;
    if (picture == LookPicture::none) return true;
    if (picture == LookPicture::arrays) return arrays(study);
    if (picture == LookPicture::plane) {
      auto plane = planeFigure(step_, *study.snapshot, keyWords(step_.scene, *study.snapshot));
      if (!plane) return fail("look.picture", plane.error().message);
      study.plane = *std::move(plane);
      return true;
    }
    auto tokens = tokenFigure(step_, *study.snapshot, state_.stop);
    if (!tokens) return fail("look.picture", tokens.error().message);
    study.tokens = *std::move(tokens);
    return true;
  }

  bool arrays(StepStudy& study) {
    for (std::size_t i = 0; i < step_.look.arrays.size(); ++i) {
      const LookArray& array = step_.look.arrays[i];
      const std::string key = fmt::format("look.arrays[{}]", i);
      ArrayFigure& figure = study.arrays.emplace_back();
      figure.result = array.result;
      if (!fill(key + ".label", array.label, figure.label)) return false;
      const auto value = array.values.evaluate(names_, limits_, state_.stop);
      if (!value) return fail(key + ".values", value.error().message);
      auto values = mapsOf(*value);
      if (!values) return fail(key + ".values", values.error().message);
      figure.values = *std::move(values);
      if (array.words) figure.words = keyWords(step_.scene, *study.snapshot);
    }
    return true;
  }

  bool fill(const std::string& key, const LessonText& text, std::string& to) {
    const auto snapshot = state_.of(at_).snapshot();
    auto filled = text.filled(
        [&](const Expression& expression) { return expression.evaluate(names_, limits_, state_.stop); },
        snapshot ? keyWords(step_.scene, **snapshot) : std::vector<std::string>());
    if (!filled) return fail(key, filled.error().message);
    to = *std::move(filled);
    return true;
  }

  bool sentences(StepStudy& study) {
    const bool last = at_ + 1 == state_.lesson.steps.size();
    return fill("text", step_.text, study.text) &&
           (!last || fill("learned", state_.lesson.learned, study.learned)) &&
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
      if (option.row && !draw(key + ".row", *option.row, *study.snapshot, found.picture)) return false;
    }
    if (count == 0) return fail("question.options", "none holds, expected exactly one");
    if (count > 1)
      return fail("question.options", fmt::format("{} hold: {}; expected exactly one", count, right));
    return true;
  }

  bool draw(const std::string& key, const Expression& expression, const Snapshot& snapshot, Matrix& to) {
    const auto value = expression.evaluate(names_, limits_, state_.stop);
    if (!value) return fail(key, value.error().message);
    auto picture = pictureOf(*value, step_.scene, snapshot);
    if (!picture) return fail(key, picture.error().message);
    to = *std::move(picture);
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

  LessonScenes& state_;
  const std::size_t at_;
  const LessonStep& step_;
  const StepNames names_;
  const attention::ExpressionLimits limits_;
  Error error_;
};

}  // namespace

LessonRunner::LessonRunner(const Lesson& lesson, Resources& resources, std::stop_token stop)
    : scenes_(new LessonScenes{lesson, resources, std::move(stop)}) {}
LessonRunner::~LessonRunner() = default;

Result<std::shared_ptr<const StepStudy>> LessonRunner::study(std::size_t step) {
  attention::require(step < scenes_->lesson.steps.size(), "a step that the lesson doesn't have");
  try {
    return StepStudent(*scenes_, step).study();
  } catch (...) {
    return caughtError(scenes_->lesson.name + ": step " + scenes_->lesson.steps[step].id);
  }
}

Result<Array> LessonRunner::value(std::size_t step, const Expression& expression) {
  try {
    return expression.evaluate(StepNames(*scenes_, step), limitsOf(scenes_->resources), scenes_->stop);
  } catch (...) {
    return caughtError(expression.text());
  }
}

Result<Matrix> LessonRunner::cover() {
  const Lesson& lesson = scenes_->lesson;
  const auto at = static_cast<std::size_t>(std::max(lesson.stepAt(lesson.coverStep), 0));
  const auto named = [&](const std::string& message) { return Error{lesson.name + ": cover: " + message}; };
  const auto value = this->value(at, lesson.cover);
  if (!value) return named(value.error().message);
  if (value->rank() != 2)
    return named("this has the shape " + attention::shapeText(value->shape()) + ", expected a map");
  const auto snapshot = scenes_->of(at).snapshot();
  if (!snapshot) return named(snapshot.error().message);
  auto picture = pictureOf(*value, lesson.steps[at].scene, **snapshot);
  return picture ? std::move(picture) : named(picture.error().message);
}

Result<std::string> LessonRunner::shown(std::size_t step, const Expression& expression) {
  const auto value = this->value(step, expression);
  if (!value) return value.error();
  return shownArray(*value);
}

Result<std::shared_ptr<const StepStudy>> studyStep(const Lesson& lesson, std::size_t step,
                                                   Resources& resources, std::stop_token stop) {
  return LessonRunner(lesson, resources, std::move(stop)).study(step);
}

}  // namespace headscope::app
