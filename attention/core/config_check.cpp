#include <fmt/core.h>

#include <cmath>

#include "attention/core/config.h"
#include "attention/core/score_terms.h"
#include "attention/core/tensor.h"

namespace headscope::attention {

float AttentionConfig::effectiveScale() const {
  return scale.value_or(static_cast<float>(1.0 / std::sqrt(static_cast<double>(headDim))));
}

// Not in config.h because it uses the score terms, which depend on the configuration.

namespace {

Error wrong(const std::string& field, const std::string& found, const std::string& expected) {
  return {field + " is " + found + ", expected " + expected};
}

Status validateSizes(const AttentionConfig& config) {
  const std::pair<const char*, Index> sizes[] = {{"modelDim", config.modelDim},
                                                 {"heads", config.heads},
                                                 {"kvHeads", config.kvHeads},
                                                 {"headDim", config.headDim}};
  for (const auto& [name, size] : sizes)
    if (size < 1) return wrong(name, std::to_string(size), "at least 1");
  if (config.heads % config.kvHeads != 0)
    return wrong("kvHeads", std::to_string(config.kvHeads),
                 fmt::format("a divisor of heads ({})", config.heads));
  if (config.valueDim < 0 || config.valueDim > config.headDim)
    return wrong("valueDim", std::to_string(config.valueDim),
                 fmt::format("0 to headDim ({})", config.headDim));
  // The largest projection in bytes; every other product of these sizes is smaller.
  const std::uint64_t bytes = saturatingProduct({config.modelDim, config.heads, config.headDim, 4});
  if (bytes > static_cast<std::uint64_t>(std::numeric_limits<Index>::max()))
    return Error{fmt::format("modelDim {} · heads {} · headDim {} overflows", config.modelDim, config.heads,
                             config.headDim)};
  return success();
}

Status validatePositions(const AttentionConfig& config) {
  // Half the range, so that the positions of the following rows can't overflow.
  if (config.cacheLength < 0 || config.cacheLength > std::numeric_limits<Index>::max() / 2)
    return wrong("cacheLength", std::to_string(config.cacheLength),
                 "at least 0 and within half the index range");
  return success();
}

Status validateScores(const AttentionConfig& config) {
  if (config.scale && !std::isfinite(*config.scale))
    return wrong("scale", std::to_string(*config.scale), "a finite number");
  for (const ScoreTerm& term : scoreTerms())
    if (const TermNumber& number = term.number; number.isSet(config))
      if (Status status = number.check(config.*number.member); !status) return status;
  if (config.ropeTheta) {
    if (config.headDim % 2 != 0)
      return wrong("headDim", std::to_string(config.headDim), "an even number, because RoPE rotates pairs");
    if (!std::isfinite(*config.ropeTheta) || *config.ropeTheta <= 0)
      return wrong("ropeTheta", std::to_string(*config.ropeTheta), "a finite number above 0");
  }
  if (config.t5) {
    if (config.t5->buckets < 4 || config.t5->buckets > 4096 || config.t5->buckets % 2 != 0)
      return wrong("t5.buckets", std::to_string(config.t5->buckets), "an even number from 4 to 4096");
    if (config.t5->maxDistance <= config.t5->buckets / 2 || config.t5->maxDistance > (Index{1} << 30))
      return wrong("t5.maxDistance", std::to_string(config.t5->maxDistance),
                   "above half the buckets and at most 1073741824");
    if (!std::isfinite(config.t5->strength))
      return wrong("t5.strength", std::to_string(config.t5->strength), "a finite number");
    if (const Matrix* table = config.t5->table.get();
        table && (table->rows() != config.t5->buckets || table->cols() != config.heads))
      return wrong("t5.table", shapeText(table->rows(), table->cols()),
                   shapeText(config.t5->buckets, config.heads) + ", buckets and heads");
  }
  for (const auto& [name, list] : {std::pair("sinks", &config.sinks), std::pair("slopes", &config.slopes)})
    if (!list->empty() && std::ssize(*list) != config.heads)
      return wrong(name, fmt::format("a list of {}", list->size()),
                   fmt::format("one for each of the {} heads", config.heads));
  const float probability = config.dropout.probability;
  if (!(probability >= 0 && probability < 1))
    return wrong("dropout", std::to_string(probability), "a probability from 0 to below 1");
  return success();
}

}  // namespace

Status validate(const AttentionConfig& config) {
  for (const auto& check : {validateSizes, validatePositions, validateScores})
    if (Status status = check(config); !status) return status;
  return success();
}

void requireValid(const AttentionConfig& config) {
  if (const Status status = validate(config); !status) throw std::invalid_argument(status.error().message);
}

}  // namespace headscope::attention
