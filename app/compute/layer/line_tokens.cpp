#include "app/compute/layer/line_tokens.h"

#include <fmt/core.h>

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

using attention::Error;

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
