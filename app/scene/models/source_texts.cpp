#include "app/scene/models/source_texts.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

#include "app/scene/limits.h"
#include "attention/models/features.h"
#include "attention/models/sampling.h"

namespace headscope::app {

using attention::Error;
using attention::Result;

namespace {

constexpr std::size_t kMaxKept = 4;

/// The decoder's own answer to the encoder's output.
Result<std::vector<Index>> answerTo(const std::shared_ptr<const attention::Model>& decoder,
                                    const std::shared_ptr<const attention::Matrix>& memory,
                                    const std::stop_token& stop) {
  std::vector<Index> answer;
  const attention::ModelConfig& config = decoder->config();
  if (!decoder->predictsTokens()) return answer;
  attention::PassRequest request;
  request.layers = std::vector<Index>();
  request.memory = memory;
  attention::ModelSession session(decoder);
  auto pass = session.append({&config.startToken, 1}, request, stop);
  if (!pass) return pass.error();
  const Index most = std::min<Index>(kAnswerTokens, config.positionLimit().value_or(kMaxTokens) - 1);
  const auto done = attention::generate(
      session, std::move(pass->logits), most, {.temperature = 0}, request,
      [&](Index id, const attention::PassResult&) {
        answer.push_back(id);
        return true;
      },
      stop);
  if (!done) return done.error();
  const auto& ends = config.endTokens;
  if (!answer.empty() && std::ranges::find(ends, answer.back()) != ends.end()) answer.pop_back();
  return answer;
}

/// Reads a text with the encoder; an empty text leaves `source` without a memory.
attention::Status readText(const std::shared_ptr<const attention::Model>& encoder,
                           const attention::TextTokenizer& tokenizer, const std::string& text,
                           const std::stop_token& stop, SourceText& source) {
  auto encoded = tokenizer.encode(text, attention::SpecialTokens::keep, stop);
  if (!encoded) return encoded.error();
  source.ids.assign(encoded->ids.begin(), encoded->ids.end());
  if (source.ids.empty()) return attention::success();
  if (std::ssize(source.ids) > kMaxTokens)
    return Error{fmt::format("The encoder's text has {} tokens; at most {} are read. Shorten it.",
                             source.ids.size(), kMaxTokens)};
  auto memory = attention::encoded(encoder, source.ids, stop);
  if (!memory) return memory.error();
  source.memory = *std::move(memory);
  return attention::success();
}

attention::Status readGiven(const attention::ModelConfig& config, const std::string& features,
                            SourceText& source) {
  if (features.empty())
    return Error{fmt::format(
        "This decoder reads an encoder's output for a sound, not a text. Drop a file with it on this page: "
        "[frames, {}], as .npy or .safetensors.",
        config.modelDim)};
  auto memory = attention::readFeatures(features, config.modelDim);
  if (!memory) return memory.error();
  if ((*memory)->rows() > kMaxTokens)
    return Error{fmt::format("The features have {} frames; at most {} are shown. Cut them.",
                             (*memory)->rows(), kMaxTokens)};
  source.memory = *std::move(memory);
  return attention::success();
}

Result<SourceText> readSource(const std::shared_ptr<const attention::Model>& decoder,
                              const attention::TextTokenizer& tokenizer, const std::string& text,
                              const std::string& features, const std::stop_token& stop) {
  SourceText source;
  const attention::Status read = decoder->source()
                                     ? readText(decoder->source(), tokenizer, text, stop, source)
                                     : readGiven(decoder->config(), features, source);
  if (!read) return read.error();
  if (!source.memory) return source;
  auto answer = answerTo(decoder, source.memory, stop);
  if (!answer) return answer.error();
  source.answer = *std::move(answer);
  return source;
}

/// The key of a source: a text, or a file and its last write time.
std::string keyOf(const attention::Model& decoder, const std::string& text, const std::string& features) {
  if (decoder.source()) return text;
  std::error_code unreadable;  // reading the file gives a better message
  const auto written = std::filesystem::last_write_time(features, unreadable);
  return fmt::format("{} {}", features, unreadable ? 0 : written.time_since_epoch().count());
}

}  // namespace

Result<std::shared_ptr<const SourceText>> SourceTexts::of(
    const std::shared_ptr<const attention::Model>& decoder, const attention::TextTokenizer& tokenizer,
    const std::string& text, const std::string& features, const std::stop_token& stop) {
  std::string key = keyOf(*decoder, text, features);
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, source] : kept_)
      if (known == key) return source;
  }
  auto read = readSource(decoder, tokenizer, text, features, stop);
  if (!read) return read.error();
  auto source = std::make_shared<const SourceText>(*std::move(read));
  const std::lock_guard lock(mutex_);
  for (const auto& [known, earlier] : kept_)
    if (known == key) return earlier;  // another thread was faster: share one memory
  kept_.insert(kept_.begin(), {std::move(key), source});
  if (kept_.size() > kMaxKept) kept_.pop_back();
  return source;
}

}  // namespace headscope::app
