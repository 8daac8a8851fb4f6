#pragma once

#include <stop_token>

#include "attention/models/gguf/gguf_source.h"

namespace headscope::attention {

/// Returns the tokenizer.json that a GGUF file's metadata are equivalent to, to be read like any other.
/// Supports byte-level BPE with a named pre-tokenizer, SentencePiece's BPE, which merges by score, and
/// WordPiece. Returns an Error, naming the file and the metadata, for other kinds of tokenizers (by name),
/// missing metadata, lists of unequal lengths and two tokens with the same text; "stopped" once `stop` is
/// requested.
Result<std::string> ggufTokenizer(const GgufSource& source, const std::stop_token& stop);

}  // namespace headscope::attention
