#pragma once

#include <string_view>

namespace headscope::attention {

/// How a byte-level tokenizer of GGUF splits text before it merges, by tokenizer.ggml.pre: as the
/// tokenizer.json of the models it is named after.
struct GgufSplit {
  std::string_view names;         ///< " llama-bpe falcon3 ", each with a space on both sides
  std::string_view preTokenizer;  ///< JSON
  std::string_view normalizer = "null";
  bool ignoreMerges = false;  ///< a piece that is in the vocabulary is one token
  bool begins = false;        ///< a text begins with a token where the metadata don't say
};

/// Null where no split has the name.
const GgufSplit* ggufSplit(std::string_view name);

}  // namespace headscope::attention
