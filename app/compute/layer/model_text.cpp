#include "app/compute/layer/model_text.h"

#include <fmt/core.h>

#include <algorithm>

namespace headscope::app {

using attention::Error;
using attention::Result;
using attention::Token;

namespace {

constexpr std::string_view kSpace = "␣";

/// Returns one token's display text, and whether it is punctuation or the end of a line.
Token tokenOf(std::string text) {
  if (text.size() > kSpace.size() && text.starts_with(kSpace)) text.erase(0, kSpace.size());
  const bool mark = text.size() == 1 && std::ispunct(static_cast<unsigned char>(text.front())) != 0;
  const bool line = text == "<0A>" || text == "<0D>";
  return {std::move(text), mark || line};
}

/// Returns the tokens of the model's current picture; none without one.
ModelText pictureText(const OpenModel& opened) {
  ModelText text;
  if (!opened.picture) return text;
  for (const std::string& token : opened.picture->tokens) {
    text.ids.push_back(std::ssize(text.ids));
    text.tokens.push_back({token, false});
  }
  text.spans.resize(text.ids.size());
  text.typed = std::ssize(text.ids);
  return text;
}

std::vector<attention::TokenId> tokenIds(std::span<const Index> ids) {
  return {ids.begin(), ids.end()};
}

}  // namespace

std::vector<Token> modelTokens(const attention::TextTokenizer& tokenizer, std::span<const Index> ids) {
  std::vector<Token> tokens;
  for (const attention::ReadableRun& run : tokenizer.readable(tokenIds(ids))) {
    tokens.push_back(tokenOf(run.text));
    while (tokens.size() < run.end) tokens.push_back({"⋯", false});  // the rest of a split character
  }
  // Ids missing from the vocabulary have no text.
  for (std::size_t i = tokens.size(); i < ids.size(); ++i)
    tokens.push_back({fmt::format("<{}>", ids[i]), false});
  for (std::size_t i = 0; i < tokens.size(); ++i)
    if (tokens[i].text.empty()) tokens[i].text = fmt::format("<{}>", ids[i]);
  return tokens;
}

Result<std::shared_ptr<const SourceText>> readSource(const Setup& setup, const std::stop_token& stop) {
  const SubjectSetup& subject = setup.subject;
  const OpenModel& opened = *subject.opened;
  return opened.sources->of(opened.model, *opened.tokenizer, *setup.input.text, subject.features, stop);
}

std::vector<Token> sourceTokens(const OpenModel& opened, const SourceText& source) {
  if (!source.ids.empty() || !source.memory) return modelTokens(*opened.tokenizer, source.ids);
  std::vector<Token> frames;
  for (Index i = 0; i < source.memory->rows(); ++i) frames.push_back({std::to_string(i), false});
  return frames;
}

namespace {

/// Reads the encoder's text and the start of the decoder's own.
attention::Status readDecoder(const Setup& setup, const std::stop_token& stop, ModelText& text) {
  const OpenModel& opened = *setup.subject.opened;
  const auto source = readSource(setup, stop);
  if (!source) return source.error();
  if (!(*source)->memory) return attention::success();
  text.source = sourceTokens(opened, **source);
  text.sourceIds = (*source)->ids;
  if (text.sourceIds.empty())
    for (Index i = 0; i < std::ssize(text.source); ++i) text.sourceIds.push_back(i);
  if (!setup.subject.decoderIds.empty()) {
    text.ids = setup.subject.decoderIds;
    return attention::success();
  }
  text.ids = {opened.config().startToken};
  if (setup.input.contextText->empty()) {
    text.given = std::ssize(text.ids);
    text.ids.insert(text.ids.end(), (*source)->answer.begin(), (*source)->answer.end());
    return attention::success();
  }
  const auto own =
      opened.tokenizer->encode(*setup.input.contextText, attention::SpecialTokens::leaveOut, stop);
  if (!own) return own.error();
  text.ids.insert(text.ids.end(), own->ids.begin(), own->ids.end());
  return attention::success();
}

}  // namespace

Result<ModelText> readModelText(const Setup& setup, const std::stop_token& stop) {
  const OpenModel& opened = *setup.subject.opened;
  if (!opened.model)
    return Error{opened.name +
                 " is recorded attention without a model to recompute it. Its heads are on the Model page."};
  if (opened.readsPictures()) return pictureText(opened);
  ModelText text;
  if (opened.sources) {
    if (const auto read = readDecoder(setup, stop, text); !read) return read.error();
    if (text.ids.empty()) return text;
  } else {
    auto encoded = opened.tokenizer->encode(*setup.input.text, attention::SpecialTokens::keep, stop);
    if (!encoded) return encoded.error();
    text.ids.assign(encoded->ids.begin(), encoded->ids.end());
    text.spans = std::move(encoded->spans);
  }
  text.typed = static_cast<Index>(text.ids.size());
  if (text.given == 0) text.given = text.typed;
  const auto& written = setup.subject.written;
  text.ids.insert(text.ids.end(), written.begin(), written.end());
  text.spans.resize(text.ids.size());
  if (const auto fits = opened.model->checkTokens(text.ids, 0); !fits) return fits.error();
  text.tokens = modelTokens(*opened.tokenizer, text.ids);
  return text;
}

Result<std::vector<Index>> idsInPlace(const attention::TextTokenizer& tokenizer, std::span<const Index> ids,
                                      Index at, const std::string& typed) {
  const auto kept = ids.first(static_cast<std::size_t>(at));
  const auto textOf = [&](std::vector<attention::TokenId> tokens) { return tokenizer.decode(tokens); };
  const auto before = textOf(tokenIds(kept)), until = textOf(tokenIds(ids.first(kept.size() + 1)));
  if (!before) return before.error();
  if (!until) return until.error();
  const bool space = until->starts_with(*before) && until->substr(before->size()).starts_with(" ");
  const std::string word = (space && !typed.starts_with(" ") ? " " : "") + typed;
  // First choice: the continuation of the whole text, if the tokenizer reproduces its ids. Otherwise the word
  // by itself, without its space if the tokenizer adds one.
  std::vector<Index> first;
  for (const bool whole : {true, false, false}) {
    const bool bare = !whole && !first.empty();
    const auto encoded = whole ? tokenizer.encode(*before + word)
                               : tokenizer.encode(bare ? typed : word, attention::SpecialTokens::leaveOut);
    if (!encoded) return encoded.error();
    std::vector<Index> found(encoded->ids.begin(), encoded->ids.end());
    if (whole) {
      if (found.size() <= kept.size() || !std::equal(kept.begin(), kept.end(), found.begin())) continue;
      found.erase(found.begin(), found.begin() + at);
    }
    if (found.empty()) continue;
    if (first.empty()) first = found;
    std::vector<attention::TokenId> all = tokenIds(kept);
    all.insert(all.end(), found.begin(), found.end());
    if (const auto reads = textOf(std::move(all)); reads && *reads == *before + word) return found;
  }
  if (first.empty()) return Error{"Type a word. An empty text has no tokens."};
  return first;
}

}  // namespace headscope::app
