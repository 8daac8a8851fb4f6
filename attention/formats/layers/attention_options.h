#pragma once

#include <optional>
#include <string>

#include "attention/formats/layers/attention_problem.h"

namespace headscope::attention {

/// What the options say. The sizes stand apart, because those left out follow from the tensors' shapes.
struct ParsedOptions {
  AttentionConfig config;
  PlainRules rules{.causal = false, .padding = false};  ///< without padding, which is no option
  std::optional<Index> heads, kvHeads, headDim;
  std::optional<Index> layer;  ///< which of a file's layers
  bool cacheGiven = false;     ///< whether cache_length was given
  /// Names that are no option and do not describe the file either, and what to say about the first of them.
  Status known = success();
};

/// Reads metadata overridden by `options`; an empty text and "None" leave an option out. A name that is no
/// option is told of in `known`: metadata of a file that is more than a layer is no fault.
Result<ParsedOptions> parseOptions(const AttentionOptions& metadata, const AttentionOptions& options,
                                   const std::string& name);

}  // namespace headscope::attention
