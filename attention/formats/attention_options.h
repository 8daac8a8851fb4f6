#pragma once

#include <optional>
#include <string>

#include "attention/formats/attention_file.h"

namespace headscope::attention {

/// What the options say. The sizes stand apart, because those left out follow from the tensors' shapes.
struct ParsedOptions {
  AttentionConfig config;
  PlainRules rules{.causal = false, .padding = false};  ///< without padding, which is no option
  std::optional<Index> heads, kvHeads, headDim;
};

/// Reads metadata overridden by `options`. Names that are no option are passed over; an empty text and
/// "None" leave an option out.
Result<ParsedOptions> parseOptions(const AttentionOptions& metadata, const AttentionOptions& options,
                                   const std::string& name);

}  // namespace headscope::attention
