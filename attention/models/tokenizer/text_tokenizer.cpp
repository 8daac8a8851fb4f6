#include "attention/models/tokenizer/text_tokenizer.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "attention/formats/files/file_io.h"
#include "attention/formats/quote.h"
#include "attention/models/gguf/gguf_source.h"
#include "attention/models/tokenizer/characters.h"
#include "attention/models/tokenizer/tokenizer_parts.h"
#include "attention/text/tokenizer.h"

namespace headscope::attention {
namespace {

/// The texts of the members that define how text becomes tokens and back, by name; without those that are
/// null.
using PartMembers = std::map<std::string, std::string_view, std::less<>>;

Result<PartMembers> findMembers(std::string_view json) {
  constexpr std::string_view kNames[] = {"added_tokens", "normalizer",     "pre_tokenizer",
                                         "model",        "post_processor", "decoder"};
  PartMembers members;
  const auto take = [&](std::string_view name, std::string_view value) -> Status {
    if (value == "null" || std::ranges::find(kNames, name) == std::end(kNames)) return success();
    if (members.emplace(name, value).second) return success();
    return Error{fmt::format("{} appears twice", quotedText(name))};
  };
  if (const Status read = eachMember(json, "no tokenizer.json", take); !read) return read.error();
  if (!members.contains("model")) return Error{"no tokenizer.json: \"model\" is missing, expected an object"};
  return members;
}

/// Returns an Error if a token to put around texts doesn't exist.
Status checkAround(const TokenizerParts& parts) {
  const SurroundingTokens& around = parts.around;
  for (const auto* ids : {&around.before, &around.after, &around.between, &around.afterBoth})
    for (const TokenId id : *ids)
      if (!parts.model->vocabulary().has(id) && !parts.added.find(id))
        return Error{fmt::format("post_processor: the id {} has no token in the vocabulary", id)};
  return success();
}

/// Reads the bytes of a tokenizer.json. Returns an Error that names the member; "stopped" once `stop` is
/// requested.
Result<std::unique_ptr<const TokenizerParts>> readTokenizerParts(std::string_view json,
                                                                 const std::stop_token& stop) {
  auto members = findMembers(json);
  if (!members) return members.error();
  auto parts = std::make_unique<TokenizerParts>();
  Status status = success();
  const auto read = [&](const char* name, const auto& reader, auto& part) {
    if (status) status = readText((*members)[name], name, reader, part);
  };
  // Small members first, so that unsupported kinds are reported at once.
  read("normalizer", readNormalizers, parts->normalizers);
  read("pre_tokenizer", readPreTokenizers, parts->preTokenizers);
  read("post_processor", readPostProcessor, parts->around);
  read("decoder", readDecoders, parts->decoders);
  if (!status) return status.error();
  auto model = readTokenModel((*members)["model"], "model", stop);
  if (!model) return model.error();
  parts->model = std::move(*model);
  const auto readAdded = [&](const JsonValue& list, const std::string& where, AddedTokens& added) -> Status {
    if (list.kind != JsonValue::Kind::list)
      return Error{where + " is " + list.described() + ", expected a list"};
    auto found = AddedTokens::read(list.items, where, parts->model->vocabulary(), parts->normalizers, stop);
    if (!found) return found.error();
    added = std::move(*found);
    return success();
  };
  read("added_tokens", readAdded, parts->added);
  if (!status) return status.error();
  status = checkAround(*parts);
  if (!status) return status.error();
  return std::unique_ptr<const TokenizerParts>(std::move(parts));
}

constexpr std::uint64_t kLargestFile = std::uint64_t{256} << 20;

/// The encoding of one text.
class Encoding {
 public:
  Encoding(const TokenizerParts& parts, std::string_view typed, const std::stop_token& stop)
      : parts_(parts),
        typed_(typed),
        stop_(stop),
        encoder_(parts.model->encoder()),
        allowance_(AddedTokens::allowance(typed.size())) {}

  Result<EncodedText> run(SpecialTokens around) {
    if (around == SpecialTokens::keep) addAround(parts_.around.before, 0);
    auto cut = parts_.added.cut(typed_, AddedTokens::Stage::typed, allowance_, stop_);
    if (!cut) return cut.error();
    for (const AddedTokens::Part& part : *cut) {
      if (part.token)
        addAdded(*part.token, part.range,
                 std::string(typed_.substr(part.range.begin, part.range.end - part.range.begin)));
      else if (const auto status = encodeSection(part.range); !status)
        return status.error();
    }
    if (around == SpecialTokens::keep) addAround(parts_.around.after, typed_.size());
    closeGaps();
    return std::move(text_);
  }

 private:
  void add(TokenId id, ByteRange span, TokenSource source) {
    text_.ids.push_back(id);
    text_.spans.push_back(span);
    text_.sources.push_back(source);
  }

  void addAround(const std::vector<TokenId>& ids, std::size_t place) {
    for (const TokenId id : ids) add(id, {place, place}, TokenSource::around);
  }

  void addAdded(const AddedToken& token, ByteRange span, std::string spelling) {
    text_.addedSpellings.emplace_back(text_.ids.size(), std::move(spelling));
    add(token.id, span, TokenSource::added);
  }

  /// Encodes the text between two added tokens.
  Status encodeSection(ByteRange range) {
    auto rewritten = normalize(parts_.normalizers, AlignedText(typed_, range), stop_);
    if (!rewritten) return rewritten.error();
    auto cut = parts_.added.cut(rewritten->text(), AddedTokens::Stage::normalized, allowance_, stop_);
    if (!cut) return cut.error();
    for (const AddedTokens::Part& part : *cut) {
      if (part.token) {
        addAdded(*part.token, rewritten->typedRange(part.range), std::string(rewritten->part(part.range)));
        continue;
      }
      AlignedText piece = cut->size() == 1 ? std::move(*rewritten) : AlignedText(*rewritten, part.range);
      if (const auto status = encodePieces(std::move(piece)); !status) return status;
    }
    return success();
  }

  Status encodePieces(AlignedText text) {
    const auto pieces = preTokenize(parts_.preTokenizers, std::move(text), stop_);
    if (!pieces) return pieces.error();
    std::size_t count = 0;
    for (const ByteRange& range : pieces->ranges) {
      if (++count % 1024 == 0 && stop_.stop_requested()) return stopped();
      tokens_.clear();
      const auto status = encoder_->encode(pieces->text.part(range), range.begin, tokens_, stop_);
      if (!status) return status;
      for (const PlacedToken& token : tokens_)
        add(token.id, pieces->text.typedRange(token.range), TokenSource::text);
    }
    return success();
  }

  /// Assigns typed bytes without a token to the token before them, and those at the front to the first typed
  /// token. If every character was dropped, the first token of all gets them.
  void closeGaps() {
    const auto isTyped = [](TokenSource source) { return source != TokenSource::around; };
    const auto typed = std::find_if(text_.sources.begin(), text_.sources.end(), isTyped);
    std::size_t next = typed_.size();
    if (typed == text_.sources.end()) {
      for (ByteRange& span : text_.spans) span = {next, next};
      if (!text_.spans.empty()) text_.spans.front().begin = 0;
      return;
    }
    const auto first = typed - text_.sources.begin();
    for (auto i = std::ssize(text_.spans); i-- > first;) {
      ByteRange& span = text_.spans[static_cast<std::size_t>(i)];
      span = {i == first ? 0 : std::min(span.begin, next), next};
      next = span.begin;
    }
  }

  const TokenizerParts& parts_;
  std::string_view typed_;
  const std::stop_token& stop_;
  std::unique_ptr<PieceEncoder> encoder_;
  std::size_t allowance_;  // for the search for added tokens
  std::vector<PlacedToken> tokens_;
  EncodedText text_;
};

Error inFile(const std::string& name, const Error& error) {
  return error.message == stopped().message ? error : Error{name + ": " + error.message};
}

}  // namespace

TextTokenizer::TextTokenizer(std::unique_ptr<const TokenizerParts> parts) : parts_(std::move(parts)) {}
TextTokenizer::TextTokenizer(TextTokenizer&&) noexcept = default;
TextTokenizer& TextTokenizer::operator=(TextTokenizer&&) noexcept = default;
TextTokenizer::~TextTokenizer() = default;

Result<TextTokenizer> TextTokenizer::open(const std::filesystem::path& path, const std::stop_token& stop) {
  if (isGguf(path)) {
    const auto source = GgufSource::open(path);
    if (!source) return source.error();
    auto parts = ggufTokenizer(*source, stop);
    if (const Status status = source->intact(); !status) return status.error();
    return parts ? Result(TextTokenizer(*std::move(parts))) : parts.error();
  }
  std::error_code ignored;
  const bool folder = std::filesystem::is_directory(path, ignored);
  const auto file = folder ? path / "tokenizer.json" : path;
  if (!folder || !fileExists(file)) {
    const auto older = olderTokenizer(path);
    if (!older) return older.error();
    if (!older->empty()) return parse(*older, shownPath(path), stop);
  }
  const auto bytes = readFile(file, kLargestFile);
  if (!bytes) return bytes.error();
  return parse({reinterpret_cast<const char*>(bytes->data()), bytes->size()}, shownPath(file), stop);
}

Result<TextTokenizer> TextTokenizer::parse(std::string_view json, const std::string& name,
                                           const std::stop_token& stop) {
  auto parts = readTokenizerParts(json, stop);
  if (!parts) return inFile(name, parts.error());
  return TextTokenizer(std::move(*parts));
}

Result<EncodedText> TextTokenizer::encode(std::string_view text, SpecialTokens around,
                                          const std::stop_token& stop) const {
  if (text.size() > kMaxTyped)
    return Error{fmt::format("the text has {} bytes, expected at most {}", text.size(), kMaxTyped)};
  if (const auto status = validateUtf8(text); !status) return status.error();
  return Encoding(*parts_, text, stop).run(around);
}

Result<TokenPair> TextTokenizer::encodePair(std::string_view first, std::string_view other,
                                            const std::stop_token& stop) const {
  TokenPair pair{parts_->around.before, 0};
  const auto add = [&](std::string_view text, const std::vector<TokenId>& after) -> Status {
    const auto encoded = encode(text, SpecialTokens::leaveOut, stop);
    if (!encoded) return encoded.error();
    pair.ids.insert(pair.ids.end(), encoded->ids.begin(), encoded->ids.end());
    pair.ids.insert(pair.ids.end(), after.begin(), after.end());
    return success();
  };
  if (const Status status = add(first, parts_->around.between); !status) return status.error();
  const std::size_t second = pair.ids.size();
  if (const Status status = add(other, parts_->around.afterBoth); !status) return status.error();
  pair.second = parts_->around.secondType ? second : pair.ids.size();
  return pair;
}

Result<std::string> TextTokenizer::decode(std::span<const TokenId> ids, SpecialTokens special) const {
  std::vector<std::string> tokens;
  for (const TokenId id : ids) {
    auto token = spelling(id);
    if (token && (special == SpecialTokens::keep || !isSpecial(id))) tokens.push_back(std::move(*token));
  }
  if (tokens.empty()) return std::string();
  std::size_t bytes = 0;
  for (const std::string& token : tokens) bytes += token.size();
  for (const Decoder& rule : parts_->decoders)
    if (const auto status = rule.decode(tokens, mostRewritten(bytes)); !status) return status.error();
  // Without a decoder, the reference separates tokens by spaces.
  const std::string_view between = parts_->decoders.empty() ? " " : "";
  std::string text;
  for (std::size_t i = 0; i < tokens.size(); ++i) text.append(i > 0 ? between : "").append(tokens[i]);
  return text;
}

std::vector<std::string> TextTokenizer::spellings(const EncodedText& text) const {
  std::vector<std::string> spellings;
  spellings.reserve(text.ids.size());
  for (const TokenId id : text.ids) spellings.push_back(spelling(id).value_or(""));
  for (const auto& [place, spelling] : text.addedSpellings) spellings[place] = spelling;
  return spellings;
}

std::optional<std::string> TextTokenizer::spelling(TokenId id) const {
  if (const AddedToken* token = parts_->added.find(id)) return token->wanted;
  const Vocabulary& vocabulary = parts_->model->vocabulary();
  if (!vocabulary.has(id)) return std::nullopt;
  return std::string(vocabulary.text(id));
}

std::optional<TokenId> TextTokenizer::find(std::string_view spelling) const {
  if (const AddedToken* token = parts_->added.find(spelling)) return token->id;
  return parts_->model->vocabulary().find(spelling);
}

bool TextTokenizer::isSpecial(TokenId id) const {
  const AddedToken* token = parts_->added.find(id);
  return token && token->special;
}

std::string TextTokenizer::bytesOf(TokenId id) const {
  std::string token = spelling(id).value_or("");
  const std::size_t most = mostRewritten(token.size());
  if (!parts_->added.find(id))
    for (const Decoder& rule : parts_->decoders) rule.toBytes(token, most);
  return token;
}

std::optional<std::string> TextTokenizer::readable(TokenId id) const {
  if (!spelling(id)) return std::nullopt;
  return readableBytes(bytesOf(id));
}

std::vector<ReadableRun> TextTokenizer::readable(std::span<const TokenId> ids) const {
  std::vector<ReadableRun> runs;
  std::string bytes;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    bytes += bytesOf(ids[i]);
    const bool complete = unfinishedLength(bytes) == 0;
    if (!complete && i + 1 < ids.size()) continue;
    runs.push_back({begin, i + 1, readableBytes(bytes), complete});
    begin = i + 1;
    bytes.clear();
  }
  return runs;
}

}  // namespace headscope::attention
