#pragma once

#include <optional>
#include <string>

#include "attention/formats/layers/attention_problem.h"

namespace headscope::attention {

/// The parsed options. Sizes are separate because missing ones are inferred from the tensors' shapes.
struct ParsedOptions {
  AttentionConfig config;
  PlainRules rules{.causal = false, .padding = false};  ///< padding is false; it isn't an option
  std::optional<Index> heads, kvHeads, headDim;
  std::optional<Index> layer;  ///< which layer of the file
  bool cacheGiven = false;
  /// Success, or an Error for the first name that is neither an option nor a description of the file.
  Status known = success();
};

/// Parses metadata overridden by `options`; an empty text or "None" leaves an option out. Unknown names are
/// only reported in `known`: a file that holds more than a layer may have other metadata.
Result<ParsedOptions> parseOptions(const AttentionOptions& metadata, const AttentionOptions& options,
                                   const std::string& name);

}  // namespace headscope::attention
