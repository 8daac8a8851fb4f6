#pragma once

#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "attention/models/model.h"
#include "attention/models/tokenizer/text_tokenizer.h"

namespace headscope::app {

using attention::Index;

/// A text that an encoder has read for its decoder, or what was given of one that isn't computed here.
struct SourceText {
  std::vector<Index> ids;  ///< of a text
  std::shared_ptr<const attention::Matrix>
      memory;  ///< [m, modelDim], what the decoder reads; null of no text
  /// What the decoder says to it by itself, always the likeliest token, without the first and without the one
  /// that ends it: at most kAnswerTokens.
  std::vector<Index> answer;
};
inline constexpr std::size_t kAnswerTokens = 32;

/// The texts that a model's encoder read last: every page asks for the same. Safe from several threads;
/// nothing is locked while a text is read.
class SourceTexts {
 public:
  /// `features`: the file that is read where the encoder isn't computed here. Errors: what the tokenizer, the
  /// passes and readFeatures() refuse, no such file, and a text longer than all heads are shown for.
  attention::Result<std::shared_ptr<const SourceText>> of(
      const std::shared_ptr<const attention::Model>& decoder, const attention::TextTokenizer& tokenizer,
      const std::string& text, const std::string& features, const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::string, std::shared_ptr<const SourceText>>> kept_;  ///< newest first
};

}  // namespace headscope::app
