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

/// A text that an encoder has read for its decoder, or given output of an encoder not computed here.
struct SourceText {
  std::vector<Index> ids;                           ///< of the text
  std::shared_ptr<const attention::Matrix> memory;  ///< [m, modelDim], read by the decoder; null without text
  /// The decoder's own answer, always the most likely token, without the start and end tokens; at most
  /// kAnswerTokens.
  std::vector<Index> answer;
};
inline constexpr std::size_t kAnswerTokens = 32;

/// The texts that a model's encoder read last; every page requests the same ones. Thread-safe; no lock is
/// held while a text is read.
class SourceTexts {
 public:
  /// `features` is the file to read if the encoder isn't computed here. Returns the Errors of the tokenizer,
  /// the passes and readFeatures(), or one if there is no file or the text is too long to show all heads.
  attention::Result<std::shared_ptr<const SourceText>> of(
      const std::shared_ptr<const attention::Model>& decoder, const attention::TextTokenizer& tokenizer,
      const std::string& text, const std::string& features, const std::stop_token& stop);

 private:
  std::mutex mutex_;
  std::vector<std::pair<std::string, std::shared_ptr<const SourceText>>> kept_;  ///< newest first
};

}  // namespace headscope::app
