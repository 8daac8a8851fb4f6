#pragma once

#include <stop_token>

#include "attention/models/gguf/gguf_source.h"

namespace headscope::attention {

/// The tokenizer.json that a GGUF file's metadata stand for, to be read as any other. Byte-level BPE with one
/// of the named pre-tokenizers, SentencePiece's BPE, which merges by score, and WordPiece. Errors name the
/// file and the metadata: other kinds of tokenizers, by name; what is missing; lists of unequal lengths; a
/// text that two tokens have. "stopped" once `stop` is requested.
Result<std::string> ggufTokenizer(const GgufSource& source, const std::stop_token& stop);

}  // namespace headscope::attention
