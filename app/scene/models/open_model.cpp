#include "app/scene/models/open_model.h"

#include <fmt/core.h>

#include <cctype>
#include <iterator>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/platform/assets.h"
#include "app/scene/scene.h"
#include "attention/formats/json_tree.h"
#include "attention/models/config/model_catalogue.h"
#include "attention/models/gguf/gguf_source.h"
#include "attention/models/session.h"

namespace headscope::app {

using attention::Error;
using attention::Result;

std::filesystem::path modelFolder(const std::string& model) {
  return model == kLearned ? miniatureFolder() : std::filesystem::path(model);
}

RecordedFile recordedFile(const std::string& model) {
  std::error_code ignored;
  const std::size_t mark = model.rfind('#');
  if (mark == std::string::npos || std::filesystem::exists(model, ignored)) return {model, ""};
  return {model.substr(0, mark), model.substr(mark + 1)};
}

FileVersion versionOf(const std::filesystem::path& file) {
  std::error_code unreadable;
  const auto size = std::filesystem::file_size(file, unreadable);
  if (unreadable) return {};
  const auto writtenAt = std::filesystem::last_write_time(file, unreadable);
  return unreadable ? FileVersion{} : FileVersion{writtenAt, size};
}

namespace {

/// Whether no query of the first head without NaN has weight on a later key, since recordings don't include
/// masks. If there are more keys than queries, the queries are the last tokens.
bool seemsCausal(const attention::RecordedAttention& file) {
  const Index before = file.keys() - file.queries();
  if (before < 0 || file.keys() > kMaxTokens || file.queries() < 2) return false;
  auto first = file.readWeights(0, 0);
  for (attention::Index head = 1; first && first->faults.notFinite > 0; ++head) {
    if (head == file.layers().front().attention.heads) return false;
    first = file.readWeights(0, head);
  }
  if (!first) return false;
  for (Index row = 0; row + 1 < first->weights.rows(); ++row)
    if (!first->weights.row(row).tail(file.queries() - row - 1).isZero(0)) return false;
  return true;
}

/// Whether queries come from another text than keys: the file says so, or they aren't the text's last tokens.
bool isBetweenTexts(const attention::RecordedAttention& file, bool causal) {
  if (file.group() == "cross" || file.queries() > file.keys()) return true;
  const auto& queries = file.queryTokens();
  const bool last = std::equal(queries.begin(), queries.end(), file.keyTokens().end() - file.queries());
  return !last && (file.hasTokens() || !causal);
}

/// The folder of the model that an adapter changes: at the path that it names, beside it, or downloaded.
/// Empty if there is none.
std::filesystem::path baseOf(const std::filesystem::path& adapter) {
  const auto named = attention::adapterBase(adapter);
  if (!named || named->empty()) return {};
  const std::filesystem::path base(*named);
  for (const auto& folder :
       {adapter / base, std::filesystem::absolute(adapter).lexically_normal().parent_path() / base.filename(),
        modelFolder(*named)})
    if (attention::fileExists(folder / "config.json")) return folder;
  return {};
}

/// Names the tokens of a recording that are ids by the tokenizer beside it, if there is one.
void nameIds(attention::RecordedAttention& recorded, const std::filesystem::path& folder) {
  if (!recorded.hasIds() || !attention::fileExists(folder / "tokenizer.json")) return;
  const auto tokenizer = attention::TextTokenizer::open(folder);
  if (!tokenizer) return recorded.note("tokenizer.json: " + tokenizer.error().message);
  recorded.nameIds([&](Index id) { return tokenizer->readable(static_cast<attention::TokenId>(id)); });
}

Result<std::shared_ptr<const OpenModel>> openRecorded(const RecordedFile& named) {
  const FileVersion version = versionOf(named.path);
  auto file = attention::RecordedAttention::open(named.path, named.group);
  if (!file) return file.error();
  OpenModel opened{named.path.filename().string(), nullptr};
  opened.version = version;
  const attention::RecordedLayer& first = file->layers().front();
  attention::ModelConfig& shape = opened.recordedShape;
  shape.heads = first.attention.heads;
  shape.kvHeads = first.k ? first.k->heads : shape.heads;
  shape.headDim = first.q ? first.q->cols : 1;
  shape.modelDim = shape.heads * shape.headDim;
  shape.maxPositions = file->keys();
  shape.layers.resize(file->layers().size());
  const bool causal = seemsCausal(*file);
  opened.isCrossAttention = isBetweenTexts(*file, causal);
  shape.causal = causal && !opened.isCrossAttention;
  nameIds(*file, named.path.parent_path());
  opened.recorded = *std::move(file);
  return std::make_shared<const OpenModel>(std::move(opened));
}

/// Whether the model has all heads that the skills name.
bool fit(const std::vector<LearnedSkill>& skills, const attention::ModelConfig& config) {
  return std::all_of(skills.begin(), skills.end(), [&](const LearnedSkill& skill) {
    return !skill.head || (skill.head->layer < config.layerCount() && skill.head->head < config.heads);
  });
}

}  // namespace

Result<std::shared_ptr<const OpenModel>> openModel(const std::string& model, const std::stop_token& stop) {
  const std::filesystem::path name = modelFolder(model), folder = attention::groupedPath(name).path;
  std::error_code ignored;
  const bool gguf = attention::isGguf(folder);
  if (const RecordedFile file = recordedFile(name.string());
      !gguf && std::filesystem::is_regular_file(file.path, ignored))
    return openRecorded(file);
  const std::filesystem::path base = attention::isAdapter(folder) ? baseOf(folder) : std::filesystem::path();
  auto opened = base.empty() ? attention::Model::open(name) : attention::Model::open(base, folder);
  if (!opened) return opened.error();
  if (opened->config().picture)
    return std::make_shared<const OpenModel>(
        OpenModel{downloadedName(folder), std::make_shared<const attention::Model>(*std::move(opened))});
  const bool ownTokenizer = base.empty() || std::filesystem::exists(folder / "tokenizer.json", ignored);
  auto tokenizer = attention::TextTokenizer::open(ownTokenizer ? folder : base, stop);
  if (!tokenizer) return tokenizer.error();
  auto learned = readLearned(folder);  // only few folders have these
  if (learned && !fit(learned->skills, opened->config())) *learned = {};
  OpenModel open{model == kLearned ? "Miniature" : downloadedName(folder),
                 std::make_shared<const attention::Model>(*std::move(opened)), *std::move(tokenizer),
                 learned ? *std::move(learned) : Learned{}};
  open.isCrossAttention = open.config().cross();
  if (open.config().group != attention::HeadGroup::only)
    if (auto shape = attention::readModelShape(gguf ? folder : folder / "config.json"))
      open.pairShape = *std::move(shape);
  if (open.config().reads()) open.sources = std::make_shared<SourceTexts>();
  return std::make_shared<const OpenModel>(std::move(open));
}

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

using attention::Index;
using SkillJson = nlohmann::json;

namespace {

/// A count or an index. Throws std::out_of_range if it is too large or not a whole number.
Index countIn(const SkillJson& json) {
  constexpr std::uint64_t kMax = 1'000'000;
  if (!json.is_number_unsigned() || json.get<std::uint64_t>() > kMax)
    throw std::out_of_range("expected a whole number");
  return json.get<Index>();
}

LearnedSkill skillOf(const SkillJson& json) {
  LearnedSkill skill{json.at("name"),
                     json.at("title"),
                     json.at("text"),
                     json.value("next", ""),
                     json.contains("right") ? countIn(json["right"]) : 0,
                     json.contains("of") ? countIn(json["of"]) : 0,
                     {},
                     json.value("other", ""),
                     json.value("other_next", "")};
  if (json.contains("score"))
    skill.head = {{countIn(json.at("layer")), countIn(json.at("head")), json.at("score")}};
  return skill;
}

bool inWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || static_cast<unsigned char>(c) >= 0x80;
}

std::vector<std::string> sortedWords(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words{std::istream_iterator<std::string>(stream), {}};
  std::sort(words.begin(), words.end());
  return words;
}

}  // namespace

Result<Learned> readLearned(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "scores.json";
  constexpr std::uint64_t kMaxBytes = 1 << 20;
  const auto bytes = attention::readFile(path, kMaxBytes);
  if (!bytes) return bytes.error();
  return parseLearned({reinterpret_cast<const char*>(bytes->data()), bytes->size()},
                      attention::shownPath(path));
}

Result<Learned> parseLearned(std::string_view text, const std::string& name) {
  const auto scores = attention::parseJsonTree(text, name);
  if (!scores) return scores.error();
  try {
    Learned learned;
    for (const SkillJson& skill : scores->at("skills")) learned.skills.push_back(skillOf(skill));
    learned.words = sortedWords(scores->value("words", ""));
    return learned;
  } catch (const SkillJson::exception&) {
  } catch (const std::out_of_range&) {
  }
  return Error{name + ": is not a list of skills as assets/models/train.py writes it"};
}

std::vector<std::string> wordsOutside(const std::vector<std::string>& words, std::string_view typed) {
  // As the tokenizer does.
  std::string text(typed);
  constexpr std::string_view kCurled = "’";
  for (std::size_t at = 0; (at = text.find(kCurled, at)) != std::string::npos;)
    text.replace(at, kCurled.size(), "'");
  std::vector<std::string> outside;
  for (std::size_t at = 0; at < text.size() && !words.empty();) {
    std::size_t end = at;
    while (end < text.size() && (inWord(text[end]) || (text[end] == '\'' && end > at &&
                                                       end + 1 < text.size() && inWord(text[end + 1]))))
      ++end;
    const std::string word = text.substr(at, end - at);
    at = std::max(end, at + 1);
    if (!word.empty() && !std::binary_search(words.begin(), words.end(), word) &&
        std::find(outside.begin(), outside.end(), word) == outside.end())
      outside.push_back(word);
  }
  return outside;
}

}  // namespace headscope::app
