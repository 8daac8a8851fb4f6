#pragma once

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/compute/heads/lab_studies.h"
#include "app/compute/layer/layer_inputs.h"
#include "app/compute/layer/layer_parts.h"
#include "app/compute/layer/snapshot.h"
#include "app/compute/model/model_study.h"
#include "app/compute/model/pair_study.h"
#include "app/scene/lessons/lesson.h"
#include "attention/expressions/expression.h"

namespace headscope::app {

/// The values of the names in a lesson's expressions for one step, computed on first use and kept. Not
/// thread-safe.
class StepValues {
 public:
  /// `scene` must outlive it.
  StepValues(const Scene& scene, Resources& resources, std::stop_token stop)
      : scene_(scene), resources_(resources), stop_(std::move(stop)) {}

  /// Returns the scene's own error if it can't be computed.
  attention::Result<std::shared_ptr<const Snapshot>> snapshot();
  attention::Result<attention::Array> value(const LessonName& name);
  attention::Result<attention::Array> call(const LessonName& name,
                                           std::span<const attention::ExpressionArgument> arguments);

 private:
  // Defined in lesson_values.cpp:
  attention::Result<attention::Array> compute(const std::string& name);
  // These return null for names that aren't theirs.
  std::optional<attention::Result<attention::Array>> ofLines(const std::string& name);
  std::optional<attention::Result<attention::Array>> ofParts(const std::string& name);
  std::optional<attention::Result<attention::Array>> ofTokens(const std::string& name);
  std::optional<attention::Result<attention::Array>> count(const std::string& name);
  const SequenceSnapshot& shown() const;

  // Defined in lesson_figures.cpp (guessed() below as well): counts, models and mistakes.
  std::optional<attention::Result<attention::Array>> ofCache(const std::string& name);
  attention::Result<attention::Array> ofCost(const std::string& name);
  attention::Result<attention::Array> ofModel();
  attention::Result<attention::Array> ofMistake(const std::string& name);
  attention::Result<attention::Array> ofMask(const std::string& name, Index tokens, Index block);
  attention::Result<std::shared_ptr<const ModelStudy>> model();
  // Defined in lesson_values.cpp: comparisons of answers and texts.
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

/// Joins the floats of equally shaped matrices or stacks into one array with a leading axis for them. The
/// budget counts it for as long as the array lives.
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
