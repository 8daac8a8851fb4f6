#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/compute/heads/mistake_study.h"
#include "app/compute/layer/layer_parts.h"
#include "app/compute/layer/resources.h"
#include "app/compute/layer/snapshot.h"
#include "app/compute/model/model_study.h"
#include "app/compute/model/pair_study.h"
#include "app/scene/lessons/lesson.h"
#include "app/scene/lessons/lesson_names.h"
#include "attention/expressions/expression.h"

namespace headscope::app {

/// What the names in a lesson's expressions stand for in one step, computed when it is first asked for and
/// kept. One thread at a time.
class StepValues {
 public:
  /// `scene` outlives it.
  StepValues(const Scene& scene, Resources& resources, std::stop_token stop)
      : scene_(scene), resources_(resources), stop_(std::move(stop)) {}

  /// Errors: a scene that can't be computed, in the words of its error.
  attention::Result<std::shared_ptr<const Snapshot>> snapshot();
  attention::Result<attention::Array> value(const LessonName& name);
  attention::Result<attention::Array> call(const LessonName& name,
                                           std::span<const attention::ExpressionArgument> arguments);

 private:
  // lesson_values.cpp
  attention::Result<attention::Array> compute(const std::string& name);
  // Nothing: another's name.
  std::optional<attention::Result<attention::Array>> ofLines(const std::string& name);
  std::optional<attention::Result<attention::Array>> ofParts(const std::string& name);
  std::optional<attention::Result<attention::Array>> count(const std::string& name);
  const SequenceSnapshot& shown() const;

  // lesson_figures.cpp: what is counted, of models and mistakes
  std::optional<attention::Result<attention::Array>> ofCache(const std::string& name);
  attention::Result<attention::Array> ofCost(const std::string& name);
  attention::Result<attention::Array> ofModel();
  attention::Result<attention::Array> ofMistake(const std::string& name);
  attention::Result<attention::Array> ofMask(const std::string& name, Index tokens, Index block);
  attention::Result<std::shared_ptr<const ModelStudy>> model();
  // lesson_answers.cpp: of two texts
  attention::Result<attention::Array> ofAnswer(const std::string& name);
  attention::Result<std::shared_ptr<const PairStudy>> pair();
  attention::Result<attention::Array> guessed(bool rank, const attention::Array& at, const std::string& word);

  const Scene& scene_;
  Resources& resources_;
  const std::stop_token stop_;
  std::shared_ptr<const Snapshot> snapshot_;
  std::shared_ptr<const ModelStudy> model_;
  std::shared_ptr<const PairStudy> pair_;
  std::map<std::string, attention::Array> kept_;
};

/// Floats of equally shaped matrices and stacks, one after the other, as one array with an axis for them in
/// front. Counted by the budget for as long as the array lives.
class ArrayBuilder {
 public:
  ArrayBuilder(attention::ArrayShape shape, Resources& resources);
  void add(const float* values, Index count);
  attention::Array take() &&;

 private:
  attention::ArrayShape shape_;
  std::shared_ptr<std::vector<float>> values_;
  MemoryShare memory_;
};

}  // namespace headscope::app
