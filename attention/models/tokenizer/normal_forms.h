#pragma once

#include <stop_token>

#include "attention/models/tokenizer/aligned_text.h"

namespace headscope::attention {

enum class NormalForm { nfc, nfd, nfkc, nfkd };

/// `text` in a normalization form of Unicode Standard Annex 15. A character that several became, or that
/// became several, keeps the range of typed bytes of all of them.
Result<AlignedText> normalForm(const AlignedText& text, NormalForm form, const std::stop_token& stop);

}  // namespace headscope::attention
