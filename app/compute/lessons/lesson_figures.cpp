#include <fmt/core.h>

#include "app/compute/cache/cache_studies.h"
#include "app/compute/cost/cost_figures.h"
#include "app/compute/layer/mask_inputs.h"
#include "app/compute/lessons/lesson_values.h"
#include "attention/models/config/model_catalogue.h"

namespace headscope::app {

using attention::Array;
using attention::Error;
using attention::ExpressionArgument;
using attention::Result;

std::optional<Result<Array>> StepValues::ofCache(const std::string& name) {
  const SequenceSnapshot& line = shown();
  const attention::AttentionConfig& config = snapshot_->config;
  const Index tokens = line.keyLength, prefill = std::min(scene_.setup.prefill, tokens);
  const bool decodes = scene_.cursor.decoding && snapshot_->causal;
  const Index step = decodes ? std::clamp(scene_.cursor.step, prefill, tokens) : tokens;
  if (name == "step") return Array(static_cast<double>(step));
  if (name == "flops" || name == "flops_without") {
    const CacheField field = makeCacheField(
        {snapshot_, std::clamp<Index>(scene_.cursor.sequence, 0, std::ssize(snapshot_->sequences) - 1)},
        stop_);
    const std::vector<double>& work = name == "flops" ? field.flops : field.uncachedFlops;
    if (work.empty() || step < 1)
      return Error{
          name + " needs decoding, and decoding needs a causal mask: here an earlier token sees a later one"};
    return Array(work[static_cast<std::size_t>(step) - 1]);
  }
  // The cache page has its own number format and number of layers.
  const bool onCachePage = scene_.cursor.page == "cache";
  const CacheSetup& cache = scene_.cost.cache;
  const auto bytes = [&](Index kvHeads, Index count) {
    if (!onCachePage) return cacheBytes(*snapshot_, kvHeads, count, scene_.look.cacheBytes);
    const double numbers = 2.0 * static_cast<double>(kvHeads * config.headDim) *
                           static_cast<double>(cache.layers) * static_cast<double>(count) *
                           static_cast<double>(snapshot_->sequences.size());
    return numbers * attention::rowOf(cache.stored).bits / 8;
  };
  if (name == "bytes_per_token")
    return Array(bytes(config.kvHeads, 1) / static_cast<double>(snapshot_->sequences.size()));
  if (name == "bytes") return Array(bytes(config.kvHeads, step));
  if (name == "mha_bytes") return Array(bytes(config.heads, step));
  return std::nullopt;
}

Result<Array> StepValues::ofCost(const std::string& name) {
  const CostSetup& setup = scene_.cost;
  const CostCatalogue catalogue{attention::modelShapes(), attention::machines(), {}};
  std::optional<attention::ModelShape> config;
  if (!setup.config.empty()) {
    auto read = attention::readModelShape(setup.config);
    if (!read) return read.error();
    config = *std::move(read);
  }
  const auto shape = costShape(scene_, catalogue, config);
  if (!shape) return shape.error();
  const CostFigures figures = costFigures(setup, *shape, catalogue);
  const auto number = [](auto value) { return static_cast<double>(value); };
  const attention::ModelShape global = attention::withoutSpans(*shape);
  const auto allPairs = attention::prefillWork(*shape, setup.tokens, attention::PairCount::all);
  const std::pair<const char*, double> kFigures[] = {
      {"tokens", number(setup.tokens)},
      {"layers", number(shape->layers)},
      {"kv_heads", number(shape->kvHeads)},
      {"model_dim", number(shape->modelDim)},
      {"bytes", number(figures.cost.total)},
      {"mha_bytes", number(figures.mha)},
      {"global_bytes", number(attention::cacheBytes(global, setup.tokens, setup.batch, setup.format))},
      {"weight_bytes", number(figures.cost.weights)},
      {"parameters", number(figures.parameters.total)},
      {"projection_flops", figures.prefill.projections},
      {"feed_forward_flops", figures.prefill.feedForward},
      {"attention_flops_all", allPairs.attention()}};
  for (const auto& [each, value] : kFigures)
    if (name == each) return Array(value);
  const auto& overtakes = figures.overtakesProjectionsAll;
  if (!overtakes) return Error{"cost." + name + ": attention never costs more in " + shape->name};
  return Array(number(*overtakes));
}

Result<std::shared_ptr<const ModelStudy>> StepValues::model() {
  if (model_) return model_;
  const Setup& setup = scene_.setup;
  if (!isStack(setup) && (!setup.subject.opened || !setup.subject.opened->model))
    return Error{
        "this needs an opened model or several layers, but the step's scene has one synthetic layer"};
  ModelRunner runner;
  auto study = runner.run(
      modelQuestion(setup), resources_, [](Index, const auto&) {}, stop_);
  if (!study) return study.error();
  model_ = std::make_shared<const ModelStudy>(*std::move(study));
  return model_;
}

Result<Array> StepValues::ofModel() {
  const auto study = model();
  if (!study) return study.error();
  const auto& layers = (*study)->layers;
  const attention::Stack& first = layers.front()->weights;
  ArrayBuilder builder({std::ssize(layers), first.count(), first.rows(), first.cols()}, resources_);
  for (const auto& layer : layers) builder.add(layer->weights.data(), layer->weights.size());
  return std::move(builder).take();
}

Result<Array> StepValues::ofMistake(const std::string& name) {
  const HeadLabCursor& lab = scene_.cursor.lab;
  MistakeQuestion question;
  question.mistake = lab.mistake;
  question.headDim = lab.mistakeDim;
  question.sequence = std::clamp<Index>(scene_.cursor.sequence, 0, std::ssize(snapshot_->sequences) - 1);
  // The random layer shows one of its heads only.
  const bool random = lab.subject == MistakeSubject::random;
  if (!random) question.snapshot = snapshot_;
  const bool wrong = name.starts_with("wrong.");
  std::optional<ArrayBuilder> builder;
  const Index heads = random ? 1 : snapshot_->config.heads;
  for (Index head = 0; head < heads; ++head) {
    question.head = head;
    const MistakeStudy study = studyMistake(question);
    const attention::MistakeResult& result = study.result;
    if (name == "wrong.raises") return Array(static_cast<double>(result.clash.has_value()));
    if (result.clash && wrong) return Error{"this mistake has no result: " + result.clash->message};
    const attention::Matrix& values = wrong ? result.wrongWeights : result.rightWeights;
    if (!builder) builder.emplace(attention::ArrayShape{heads, values.rows(), values.cols()}, resources_);
    builder->add(values.data(), values.size());
    if (stop_.stop_requested()) return Error{"stopped"};
  }
  return std::move(*builder).take();
}

Result<Array> StepValues::ofMask(const std::string& name, Index tokens, Index block) {
  const Setup& setup = scene_.setup;
  attention::MaskGeometry geometry;
  geometry.queries = geometry.keys = geometry.keyLength = tokens;
  geometry.heads = setup.model.heads;
  geometry.kvHeads = setup.model.kvHeads;
  const auto sources = maskSources(setup, resources_.inputs);
  if (!sources) return sources.error();
  const auto mask = attention::compileMask(setup.mask.layers, geometry, *sources);
  if (!mask) return mask.error();
  const Index variant = (*mask)->variantOf(std::clamp<Index>(scene_.cursor.cell.head, 0, geometry.heads - 1));
  if (name == "mask_density")
    return Array(attention::measureMask(**mask, variant, 0, std::uint64_t{1} << 26, stop_).density());
  return Array(1 - attention::mapBlocks(**mask, variant, block, stop_).computedShare());
}

Result<Array> StepValues::guessed(bool rank, const Array& at, const std::string& word) {
  const auto study = model();
  if (!study) return study.error();
  if (!scene_.setup.subject.opened) return Error{"synthetic layers predict no tokens"};
  const OpenModel& opened = *scene_.setup.subject.opened;
  const Index tokens = (*study)->tokens();
  const double wanted = at.size() == 1 ? at.at(0) : NAN;
  const double position = wanted < 0 ? wanted + static_cast<double>(tokens) : wanted;
  if (!(position >= 0 && position < static_cast<double>(tokens)) || position != std::floor(position))
    return Error{fmt::format("the position is outside the text, expected 0 to {}", tokens - 1)};
  const auto query = static_cast<Index>(position);
  Index id = -1;
  // Most vocabularies hold words with the space before them.
  for (const std::string& text : {" " + word, word}) {
    const auto encoded = opened.tokenizer->encode(text, attention::SpecialTokens::leaveOut, stop_);
    if (encoded.ok() && encoded->ids.size() == 1 && id < 0) id = encoded->ids.front();
  }
  if (id < 0) return Error{attention::quotedText(word) + " is not a single token of " + opened.name};
  const attention::Matrix logits =
      opened.model->logits((*study)->layers.back()->hidden.middleRows(query, 1), stop_);
  if (stop_.stop_requested()) return Error{"stopped"};
  if (logits.size() == 0) return Error{opened.name + " predicts no tokens"};
  if (rank) return Array(static_cast<double>((logits.row(0).array() > logits(0, id)).count() + 1));
  const Eigen::ArrayXd all = logits.row(0).cast<double>().array();
  const double most = all.maxCoeff();
  return Array(std::exp(static_cast<double>(logits(0, id)) - most) / (all - most).exp().sum());
}

namespace {

/// Returns the arguments as numbers above 0 and below 9·10¹⁵, where doubles still hold all integers.
Result<std::vector<double>> wholeArguments(const LessonName& name,
                                           std::span<const ExpressionArgument> arguments) {
  std::vector<double> numbers;
  for (const ExpressionArgument& argument : arguments) {
    const double value = argument.text || argument.array.size() != 1 ? NAN : argument.array.at(0);
    if (!(value > 0 && value < 9e15))
      return Error{fmt::format("argument {} of {} is not a number above 0", numbers.size() + 1, name.word())};
    numbers.push_back(value);
  }
  const auto wanted = static_cast<std::size_t>(std::count(name.name.begin(), name.name.end(), ',') + 1);
  if (numbers.size() != wanted)
    return Error{fmt::format("{} has {} arguments, expected {}", name.word(), numbers.size(), name.name)};
  return numbers;
}

}  // namespace

Result<Array> StepValues::call(const LessonName& name, std::span<const ExpressionArgument> arguments) {
  const std::string_view word = name.word();
  if (word == "probability" || word == "guess_rank") {
    if (arguments.size() != 2 || arguments[0].text || !arguments[1].text)
      return Error{fmt::format("expected {}", name.name)};
    return guessed(word == "guess_rank", arguments[0].array, *arguments[1].text);
  }
  const auto numbers = wholeArguments(name, arguments);
  if (!numbers) return numbers.error();
  const std::vector<double>& all = *numbers;
  if (word == "cache_bytes") return Array(2 * all[0] * all[1] * all[2] * all[3] * all[4] * all[5]);
  if (word == "matrix_bytes") return Array(all[0] * all[0] * 4 * all[1] * all[2]);
  constexpr double kMostTokens = 131072;
  if (all[0] > kMostTokens || all[0] != std::floor(all[0]))
    return Error{fmt::format("{} takes whole numbers of tokens up to {}", word, kMostTokens)};
  const double block = all.size() > 1 ? all[1] : 128;
  if (block < 16 || block > 1024 || block != std::floor(block))
    return Error{fmt::format("{} takes blocks of 16 to 1024 cells", word)};
  return ofMask(std::string(word), static_cast<Index>(all[0]), static_cast<Index>(block));
}

}  // namespace headscope::app
