#include "app/compute/layer/line_tokens.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/compute/layer/model_text.h"

namespace headscope::app {

using attention::Result;
using attention::Token;
using TokenLines = std::vector<std::vector<Token>>;

namespace {

/// Whether the text is a single separator token.
bool isSeparator(const std::string& name) {
  const auto lines = attention::tokenize(name, attention::Tokenization::words);
  return lines && lines->size() == 1 && lines->front().size() == 1 && lines->front().front().separator;
}

/// Returns a table's rows as tokens: their names, or t0, t1, …
std::vector<Token> tableTokens(const attention::Table& table) {
  std::vector<Token> tokens;
  for (Index row = 0; row < table.values.rows(); ++row) {
    const std::string name = row < static_cast<Index>(table.names.size()) ? table.names[row] : "";
    tokens.push_back({name.empty() ? fmt::format("t{}", row) : name, isSeparator(name)});
  }
  return tokens;
}

std::size_t longestLine(const TokenLines& lines) {
  std::size_t longest = 0;
  for (const auto& line : lines) longest = std::max(longest, line.size());
  return longest;
}

std::vector<Token> padded(std::vector<Token> tokens, std::size_t length) {
  tokens.resize(length, Token{"<pad>", false});
  return tokens;
}

/// Rejects overlong tokens, which would be measured and drawn in every frame.
std::optional<PlacedError> checkTokens(const TokenLines& lines, Place place) {
  constexpr std::size_t kMaxTokenBytes = 4096;
  for (std::size_t line = 0; line < lines.size(); ++line)
    for (std::size_t at = 0; at < lines[line].size(); ++at)
      if (const std::size_t bytes = lines[line][at].text.size(); bytes > kMaxTokenBytes)
        return PlacedError{place, fmt::format("Token {} of line {} has {} bytes; it can have at most {}. Put "
                                              "spaces into it, or tokenize by characters.",
                                              at, line + 1, bytes, kMaxTokenBytes)};
  return std::nullopt;
}

std::optional<PlacedError> checkLines(const TokenLines& lines, Place place, Index most) {
  if (auto error = checkTokens(lines, place)) return error;
  const std::size_t longest = longestLine(lines);
  if (longest > static_cast<std::size_t>(most))
    return PlacedError{place,
                       fmt::format("The longest line has {} tokens; {} shown for at most {}. {}", longest,
                                   most < kMaxMapTokens ? "all heads at once are" : "the map is", most,
                                   most < kMaxMapTokens ? "View it on Map, or shorten it."
                                                        : "Shorten it, or tokenize by words.")};
  if (lines.size() > static_cast<std::size_t>(kMaxLines))
    return PlacedError{
        place, fmt::format("The text has {} lines, each a sequence of the batch; at most {} can be shown.",
                           lines.size(), kMaxLines)};
  return std::nullopt;
}

/// The lines of the text and of what they attend to, without padding.
struct TextLines {
  TokenLines queries, keys;
  std::optional<PlacedError> error = {};
  std::vector<Index> ids = {};
};

TextLines refusedLines(Place place, std::string message) {
  return {{}, {}, PlacedError{place, std::move(message)}};
}

/// A model reads the whole text as one sequence, whatever its lines.
TextLines modelLines(const Setup& setup, Index most) {
  if (!setup.subject.opened) return refusedLines(Place::model, setup.subject.problem);
  Result<ModelText> text = readModelText(setup);
  if (!text) return refusedLines(Place::input, text.error().message);
  if (text->ids.empty()) return {};
  TextLines lines;
  lines.queries = {std::move(text->tokens)};
  lines.error = checkLines(lines.queries, Place::input, most);
  lines.keys = isCross(setup) ? TokenLines{std::move(text->source)} : lines.queries;
  lines.ids = std::move(text->ids);
  return lines;
}

TextLines tableLines(const Setup& setup, Index most) {
  const attention::Table& table = *setup.input.table;
  if (table.values.rows() == 0) return {};
  if (setup.input.cross)
    return refusedLines(Place::context,
                        "Cross-attention reads two texts; typed embeddings are one sequence.");
  if (table.values.cols() != setup.model.modelDim)
    return refusedLines(Place::model,
                        fmt::format("The typed embeddings have {} dimensions, but the model dim is {}.",
                                    table.values.cols(), setup.model.modelDim));
  TextLines lines;
  lines.queries = {tableTokens(table)};
  lines.error = checkLines(lines.queries, Place::input, most);
  lines.keys = lines.queries;
  return lines;
}

/// Matches context lines to the lines of the text; a single context line serves all.
std::optional<PlacedError> matchContext(const TokenLines& lines, TokenLines& context, Index most) {
  if (context.empty())
    return PlacedError{Place::context, "Cross-attention needs a context: type the text that is read.", true};
  if (context.size() == 1) context.resize(lines.size(), context.front());
  if (context.size() != lines.size())
    return PlacedError{
        Place::context,
        fmt::format(
            "The context has {} lines and the text {}: give one context line for all, or one for each.",
            context.size(), lines.size())};
  return checkLines(context, Place::context, most);
}

TextLines tokenizeLines(const Setup& setup, Index most) {
  if (!setup.subject.model.empty()) return modelLines(setup, most);
  if (setup.input.source == EmbeddingSource::table) return tableLines(setup, most);
  Result<TokenLines> text = attention::tokenize(*setup.input.text, setup.input.tokenization);
  if (!text) return refusedLines(Place::input, text.error().message);
  if (text->empty()) return {};
  if (auto error = checkLines(*text, Place::input, most)) return refusedLines(error->place, error->message);
  TextLines lines;
  lines.queries = *std::move(text);
  if (!setup.input.cross) {
    lines.keys = lines.queries;
  } else {
    Result<TokenLines> context = attention::tokenize(*setup.input.contextText, setup.input.tokenization);
    if (!context) return refusedLines(Place::context, context.error().message);
    lines.keys = *std::move(context);
    lines.error = matchContext(lines.queries, lines.keys, most);
  }
  return lines;
}

/// Moves line `at` out of `lines`, padded to n queries and m keys.
LineTokens takeLine(TextLines& lines, std::size_t at, std::size_t n, std::size_t m) {
  LineTokens line;
  line.queryLength = static_cast<Index>(lines.queries[at].size());
  line.keyLength = static_cast<Index>(lines.keys[at].size());
  line.queries = padded(std::move(lines.queries[at]), n);
  line.keys = padded(std::move(lines.keys[at]), m);
  line.ids = std::move(lines.ids);
  return line;
}

}  // namespace

TokenBatch tokenizeBatch(const Setup& setup) {
  TextLines lines = tokenizeLines(setup, kMaxTokens);
  if (lines.error) return {{}, lines.error};
  const std::size_t n = longestLine(lines.queries), m = longestLine(lines.keys);
  TokenBatch batch;
  for (std::size_t i = 0; i < lines.queries.size(); ++i) batch.lines.push_back(takeLine(lines, i, n, m));
  return batch;
}

TokenLine tokenizeLine(const Setup& setup, Index sequence, Index most) {
  TextLines lines = tokenizeLines(setup, most);
  if (lines.error) return {std::nullopt, 0, lines.error};
  if (lines.queries.empty()) return {};
  const std::size_t n = longestLine(lines.queries), m = longestLine(lines.keys);
  const Index at = std::clamp<Index>(sequence, 0, static_cast<Index>(lines.queries.size()) - 1);
  return {takeLine(lines, static_cast<std::size_t>(at), n, m), at, std::nullopt};
}

}  // namespace headscope::app
