#pragma once

#include <stop_token>

#include "attention/models/tokenizer/aligned_text.h"

namespace headscope::attention {

enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// Returns `text` in a normalization form of Unicode Standard Annex 15. A character made from several, or
/// split into several, maps to the typed bytes of all of them.
Result<AlignedText> normalForm(const AlignedText& text, NormalForm form, const std::stop_token& stop);

}  // namespace headscope::attention
