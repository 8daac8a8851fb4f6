#include "app/compute/lessons/lesson_values.h"

#include <fmt/core.h>

#include "app/compute/cost/cost_figures.h"
#include "app/compute/layer/line_tokens.h"

namespace headscope::app {

using attention::Array;
using attention::ArrayShape;
using attention::Error;
using attention::Matrix;
using attention::Result;
using attention::Stack;

ArrayBuilder::ArrayBuilder(ArrayShape shape, Resources& resources)
    : shape_(std::move(shape)), values_(std::make_shared<std::vector<float>>()) {
  const auto count = static_cast<std::size_t>(attention::valueCount(shape_));
  memory_ = resources.memory.count(count * sizeof(float));
  values_->reserve(count);
}

void ArrayBuilder::add(const float* values, Index count) {
  values_->insert(values_->end(), values, values + count);
}

Array ArrayBuilder::take() && {
  attention::require(static_cast<Index>(values_->size()) == attention::valueCount(shape_),
                     "an array that isn't full");
  struct Held {
    std::shared_ptr<std::vector<float>> values;
    MemoryShare memory;
  };
  const float* first = values_->data();
  return {std::move(shape_), first,
          std::make_shared<const Held>(Held{std::move(values_), std::move(memory_)})};
}

Result<std::shared_ptr<const Snapshot>> StepValues::snapshot() {
  if (!snapshot_)
    snapshot_ = std::make_shared<const Snapshot>(computeSnapshot(scene_.setup, resources_, stop_));
  if (stop_.stop_requested()) return Error{"stopped"};
  if (snapshot_->error) return Error{snapshot_->error->message};
  if (snapshot_->sequences.empty()) return Error{"the scene has no text"};
  return snapshot_;
}

const SequenceSnapshot& StepValues::shown() const {
  return *shownSequence(scene_, snapshot_.get());
}

Result<Array> StepValues::value(const LessonName& name) {
  const std::string word(name.word());
  if (const auto kept = kept_.find(word); kept != kept_.end()) return kept->second;
  auto made = compute(word);
  if (stop_.stop_requested()) return Error{"stopped"};
  if (made.ok()) kept_.emplace(word, *made);
  return made;
}

Result<Array> StepValues::compute(const std::string& name) {
  if (name.starts_with("cost.")) return ofCost(name.substr(5));
  if (name == "A") return ofModel();
  if (name.starts_with("answer.")) return ofAnswer(name.substr(7));
  const auto snapshot = this->snapshot();
  if (!snapshot) return snapshot.error();
  if (name.starts_with("wrong.") || name.starts_with("right.")) return ofMistake(name);
  for (const auto of : {&StepValues::ofLines, &StepValues::ofParts, &StepValues::ofTokens,
                        &StepValues::ofCache, &StepValues::count})
    if (auto found = (this->*of)(name)) return *std::move(found);
  return Error{attention::quotedText(name) + " is not a name in expressions"};
}

namespace {

/// Returns the part of a line's result that a name refers to; null if it is not one of these.
const Stack* stackOf(const SequenceSnapshot& line, const std::string& name) {
  using Result = attention::AttentionResult;
  constexpr std::pair<const char*, Stack Result::*> kStacks[] = {{"S", &Result::scores},
                                                                 {"O", &Result::headOutput},
                                                                 {"q", &Result::q},
                                                                 {"k", &Result::k},
                                                                 {"v", &Result::v}};
  if (name == "W") return &line.probabilities();
  for (const auto& [each, stack] : kStacks)
    if (name == each) return &(line.attention.*stack);
  return nullptr;
}

constexpr float kHidden = -std::numeric_limits<float>::infinity();

Stack seenIn(const Stack& scores) {
  Stack seen = Stack::uninitialized(scores.count(), scores.rows(), scores.cols());
  std::transform(scores.data(), scores.data() + scores.size(), seen.data(),
                 [](float score) { return score == kHidden ? 0.0f : 1.0f; });
  return seen;
}

/// Joins each line's matrices; a single line gets no axis for lines.
template <typename Values>
Array stacked(const std::vector<Values>& lines, ArrayShape each, Resources& resources) {
  const Index size = attention::valueCount(each);
  if (lines.size() > 1) each.insert(each.begin(), static_cast<Index>(lines.size()));
  ArrayBuilder builder(std::move(each), resources);
  for (const Values& line : lines) builder.add(line.data(), size);
  return std::move(builder).take();
}

}  // namespace

std::optional<Result<Array>> StepValues::ofLines(const std::string& name) {
  const std::vector<SequenceSnapshot>& lines = snapshot_->sequences;
  if (name == "visible") {
    const Stack& scores = shown().attention.scores;
    const Index head = std::clamp<Index>(scene_.cursor.cell.head, 0, scores.count() - 1);
    return Array(static_cast<double>((scores[head].array() != kHidden).count()));
  }
  if (name == "lengths") {
    std::vector<double> lengths;
    for (const SequenceSnapshot& line : lines) lengths.push_back(static_cast<double>(line.queryLength));
    const auto count = static_cast<Index>(lengths.size());
    return Array({count}, std::move(lengths));
  }
  if (name == "seen") {
    std::vector<Stack> seen;
    for (const SequenceSnapshot& line : lines) seen.push_back(seenIn(line.attention.scores));
    return stacked(seen, {seen[0].count(), seen[0].rows(), seen[0].cols()}, resources_);
  }
  if (const Stack* first = stackOf(lines.front(), name)) {
    const ArrayShape shape{first->count(), first->rows(), first->cols()};
    // A single line's numbers are not copied.
    if (lines.size() == 1) return Array(shape, first->data(), snapshot_);
    ArrayShape all = shape;
    all.insert(all.begin(), static_cast<Index>(lines.size()));
    ArrayBuilder builder(std::move(all), resources_);
    for (const SequenceSnapshot& line : lines) builder.add(stackOf(line, name)->data(), first->size());
    return std::move(builder).take();
  }
  if (name != "L" && name != "Y") return std::nullopt;
  std::vector<Matrix> matrices;
  for (const SequenceSnapshot& line : lines)
    matrices.push_back(name == "L" ? line.attention.lse : line.attention.output);
  if (matrices.front().size() == 0)
    return Error{attention::quotedText(name) + " is not available for imported attention"};
  return stacked(matrices, {matrices[0].rows(), matrices[0].cols()}, resources_);
}

namespace {

/// Splits a map's rows by head, each transposed so that q = x·W: [count, modelDim, headDim].
Array byHead(const Matrix& rows, Index count, Resources& resources) {
  const Index dim = rows.rows() / count;
  ArrayBuilder builder({count, rows.cols(), dim}, resources);
  for (Index head = 0; head < count; ++head) {
    const Matrix one = rows.middleRows(head * dim, dim).transpose();
    builder.add(one.data(), one.size());
  }
  return std::move(builder).take();
}

}  // namespace

std::optional<Result<Array>> StepValues::ofParts(const std::string& name) {
  if (name != "X" && !name.starts_with("W_")) return std::nullopt;
  const attention::AttentionConfig& config = snapshot_->config;
  std::vector<Matrix> inputs;
  for (Index line = 0; line < std::ssize(snapshot_->sequences); ++line) {
    const auto parts = layerParts({snapshot_, line}, resources_, stop_);
    if (!parts) return parts.error();
    if (name == "X") {
      inputs.push_back((*parts)->x);
      continue;
    }
    const attention::Projections* maps = (*parts)->projections.get();
    if (!maps)
      return Error{name +
                   " is available for a synthetic layer only; an opened model's weights stay in its file"};
    if (name == "W_Q") return byHead(maps->q.weight, config.heads, resources_);
    if (name == "W_K") return byHead(maps->k.weight, config.kvHeads, resources_);
    if (name == "W_V") return byHead(maps->v.weight, config.kvHeads, resources_);
    // Transposed to [heads · headDim, modelDim]: each head has consecutive rows.
    const Matrix rows = maps->o.weight.transpose();
    ArrayBuilder builder({config.heads, config.headDim, config.modelDim}, resources_);
    builder.add(rows.data(), rows.size());
    return std::move(builder).take();
  }
  return stacked(inputs, {inputs[0].rows(), inputs[0].cols()}, resources_);
}

std::optional<Result<Array>> StepValues::ofTokens(const std::string& name) {
  if (name != "ids" && name != "E") return std::nullopt;
  const auto& opened = scene_.setup.subject.opened;
  if (!opened || !opened->model || !opened->tokenizer)
    return Error{name + " needs an opened model with a tokenizer"};
  const auto text = readModelText(scene_.setup, stop_);
  if (!text) return text.error();
  if (const auto fits = opened->model->checkTokens(text->ids, 0); !fits) return fits.error();
  if (name == "ids")
    return Array({std::ssize(text->ids)}, std::vector<double>(text->ids.begin(), text->ids.end()));
  const Matrix rows = opened->model->embed(text->ids, 0);
  ArrayBuilder builder({rows.rows(), rows.cols()}, resources_);
  builder.add(rows.data(), rows.size());
  return std::move(builder).take();
}

std::optional<Result<Array>> StepValues::count(const std::string& name) {
  const attention::AttentionConfig& config = snapshot_->config;
  const SequenceSnapshot& line = snapshot_->sequences.front();
  const auto n = static_cast<Index>(line.queries.size()), m = static_cast<Index>(line.keys.size());
  const auto positions = [](Index count, ArrayShape shape) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (Index at = 0; at < count; ++at) values[static_cast<std::size_t>(at)] = static_cast<double>(at);
    return Array(std::move(shape), std::move(values));
  };
  if (name == "i") return positions(n, {n, 1});
  if (name == "j") return positions(m, {m});
  const std::pair<const char*, Index> kCounts[] = {{"n", n},
                                                   {"m", m},
                                                   {"lines", std::ssize(snapshot_->sequences)},
                                                   {"heads", config.heads},
                                                   {"kv_heads", config.kvHeads},
                                                   {"head_dim", config.headDim},
                                                   {"model_dim", config.modelDim},
                                                   {"layers", layerCount(scene_.setup)}};
  for (const auto& [each, value] : kCounts)
    if (name == each) return Array(static_cast<double>(value));
  if (name == "parameters")
    return Array(static_cast<double>(attention::parameterCount(config, scene_.setup.model.bias)));
  return std::nullopt;
}

// Values about why a model prefers one answer to another, for lessons.

Result<std::shared_ptr<const PairStudy>> StepValues::pair() {
  if (pair_) return pair_;
  auto study = studyPair(pairQuestion(scene_), resources_, stop_);
  if (!study) return study.error();
  pair_ = std::make_shared<const PairStudy>(*std::move(study));
  return pair_;
}

Result<Array> StepValues::ofAnswer(const std::string& name) {
  const auto pair = this->pair();
  if (!pair) return pair.error();
  if (name == "difference") return Array((*pair)->a.difference);
  const auto matrix = [&](const attention::Matrix& values) {
    ArrayBuilder builder({values.rows(), values.cols()}, resources_);
    builder.add(values.data(), values.size());
    return std::move(builder).take();
  };
  if (name == "attribution" || name == "sum") {
    const auto study = studyAttribution({*pair}, stop_);
    if (!study) return study.error();
    const attention::ModelConfig& config = (*pair)->opened->config();
    attention::Matrix heads = attention::Matrix::Zero(config.layerCount(), config.heads);
    double sum = 0;
    for (const attention::Contribution& part : study->a.parts) {
      sum += part.value;
      if (part.by == attention::Writer::head) heads(part.layer, part.head) = static_cast<float>(part.value);
    }
    return name == "sum" ? Array(sum) : matrix(heads);
  }
  if (!(*pair)->b) return Error{"answer." + name + " needs a second text, compare.text"};
  if (name == "other_difference") return Array((*pair)->b->difference);
  const PatchSides sides{*pair, scene_.compare.intoA};
  if (name == "together") {
    const auto sum = sumPatches({sides, scene_.compare.patches}, stop_);
    if (!sum) return sum.error();
    return Array(sides.recovered(sum->together));
  }
  const auto grid = computePatchGrid(
      {sides, attention::Piece::head}, [] { return Index{0}; }, [](const PatchGrid&) {}, stop_);
  if (!grid) return grid.error();
  return matrix(grid->recovered);
}

}  // namespace headscope::app
