#pragma once

#include <string>
#include <vector>

#include "attention/core/tensor.h"
#include "attention/text/tokenizer.h"

namespace headscope::app {

/// Returns comma-separated values (RFC 4180): the keys in the first line, then one line per query with its
/// token and its values [queries, keys], which read back as the same floats.
std::string matrixCsv(const attention::MatrixView& values, const std::vector<attention::Token>& queries,
                      const std::vector<attention::Token>& keys);

}  // namespace headscope::app
