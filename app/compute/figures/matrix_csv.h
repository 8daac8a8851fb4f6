#pragma once

#include <string>
#include <vector>

#include "attention/core/tensor.h"
#include "attention/text/tokenizer.h"

namespace headscope::app {

/// Comma-separated (RFC 4180): the keys in the first line, then a line for each query with its token and its
/// values [queries, keys], which read back as the same floats.
std::string matrixCsv(const attention::MatrixView& values, const std::vector<attention::Token>& queries,
                      const std::vector<attention::Token>& keys);

}  // namespace headscope::app
