#pragma once

#include <string_view>

namespace headscope::attention {

/// How a byte-level GGUF tokenizer splits text before merging, by tokenizer.ggml.pre. Equals the
/// tokenizer.json of the models it is named after.
struct GgufSplit {
  std::string_view names;         ///< " llama-bpe falcon3 ", with a space on both sides of each
  std::string_view preTokenizer;  ///< JSON
  std::string_view normalizer = "null";
  bool ignoreMerges = false;  ///< a piece in the vocabulary is one token
  bool begins = false;        ///< a text begins with a special token unless the metadata say otherwise
};

/// Returns null if no split has that name.
const GgufSplit* ggufSplit(std::string_view name);

}  // namespace headscope::attention
