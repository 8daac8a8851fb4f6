#include <fmt/core.h>

#include <iterator>
#include <sstream>

#include "attention/formats/json_tree.h"
#include "attention/formats/recorded/recorded_attention.h"
#include "attention/text/ascii.h"
#include "attention/text/tokenizer.h"
#include "attention/text/unicode.h"

namespace headscope::attention {
namespace {

std::optional<TensorRole> recordedRoleOf(std::string_view word) {
  constexpr std::string_view kBefore[] = {"encoder_", "decoder_", "cross_", "self_", "hook_"};
  for (const std::string_view before : kBefore)
    if (word.starts_with(before)) word.remove_prefix(before.size());
  return tensorRoleOf(word);
}

/// Returns 3 for "layer_3", "layer3" and "h3", and also for "attn_3" and "attn3".
std::optional<Index> numberAfter(std::string_view word, std::string_view& rest) {
  const std::size_t digits = word.find_last_not_of("0123456789") + 1;
  const auto number = numberInName(word.substr(digits));
  if (!number || digits == 0) return std::nullopt;
  const bool apart = word[digits - 1] == '_' || word[digits - 1] == '-';  // llama.cpp's "kq_soft_max-0"
  rest = word.substr(0, apart ? digits - 1 : digits);
  return number;
}

/// Whether a word counts layers: "layer", "h", Flax's "encoderblock".
bool countsLayers(std::string_view word) {
  constexpr std::string_view kEndings[] = {"layer", "layers", "block", "blocks"};
  return word == "h" || word == "l" ||
         std::ranges::any_of(kEndings, [&](std::string_view ending) { return word.ends_with(ending); });
}

/// Splits "layer3_attn": returns the number and leaves "attn" in `word`.
std::optional<Index> numberBefore(std::string_view& word) {
  for (std::size_t at = word.find('_'); at != std::string_view::npos; at = word.find('_', at + 1)) {
    std::string_view what;
    const auto number = numberAfter(word.substr(0, at), what);
    if (!number || !countsLayers(what)) continue;
    word.remove_prefix(at + 1);
    return number;
  }
  return std::nullopt;
}

/// Returns the number with the first word that counts layers: 3 for "layers_3" and "layers.3".
std::optional<Index> layerIn(const std::vector<std::string_view>& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view what;
    if (const auto number = numberAfter(words[i], what); number && countsLayers(what)) return number;
    if (i + 1 == words.size() || !countsLayers(words[i])) continue;
    if (const auto number = numberInName(words[i + 1])) return number;
  }
  return std::nullopt;
}

/// Removes words after the one that says attention: a numbered layer ("attentions.layer3"), and modules whose
/// hooks give it ("attention.self", "attn.attn_drop", "attention.self.dropout").
void dropModules(std::vector<std::string_view>& words) {
  constexpr std::string_view kModules[] = {"self",         "dropout",          "drop", "softmax", "attn_drop",
                                           "attn_dropout", "attention_dropout"};
  std::size_t last = words.size();
  for (std::string_view what; last > 1; --last) {
    const std::string_view word = words[last - 1];
    const bool layer = numberAfter(word, what) && countsLayers(what);
    if (!layer && std::ranges::find(kModules, word) == std::end(kModules)) break;
  }
  if (last < words.size() && recordedRoleOf(words[last - 1]) == TensorRole::attention) words.resize(last);
}

/// Cuts "step_2" out of "attn_step_2_layer_1" and returns its number; nullopt leaves the name as it is.
std::optional<Index> cutNumbered(std::string& name, std::string_view what) {
  constexpr std::string_view kApart = "_-./";
  const auto isApart = [&](std::size_t at) { return kApart.find(name[at]) != std::string_view::npos; };
  for (std::size_t at = name.find(what); at != std::string::npos; at = name.find(what, at + 1)) {
    std::size_t from = at + what.size();
    if (at > 0 && !isApart(at - 1)) continue;
    if (from < name.size() && isApart(from)) ++from;
    const std::size_t end = std::min(name.find_first_not_of("0123456789", from), name.size());
    const auto number = numberInName(std::string_view(name).substr(from, end - from));
    if (!number || (end < name.size() && !isApart(end))) continue;
    if (end < name.size())
      name.erase(at, end + 1 - at);
    else
      name.erase(at > 0 ? at - 1 : 0);
    return number;
  }
  return std::nullopt;
}

/// Returns the last number in the words.
std::optional<Index> lastNumber(const std::vector<std::string_view>& words) {
  for (std::size_t i = words.size(); i-- > 0;) {
    std::string_view ignored;
    if (const auto number = numberInName(words[i])) return number;
    if (const auto number = numberAfter(words[i], ignored)) return number;
  }
  return std::nullopt;
}

bool has(const std::vector<std::string_view>& words, std::string_view begin) {
  return std::ranges::any_of(words, [&](std::string_view word) { return word.starts_with(begin); });
}

RecordedGroup groupOf(const std::vector<std::string_view>& words) {
  const bool decoder = has(words, "decoder");
  if (has(words, "cross") || has(words, "encdec") || has(words, "encoder_decoder"))
    return RecordedGroup::cross;
  if (decoder && (has(words, "encoder_attn") || has(words, "multihead_attn"))) return RecordedGroup::cross;
  return decoder                 ? RecordedGroup::decoder
         : has(words, "encoder") ? RecordedGroup::encoder
                                 : RecordedGroup::only;
}

}  // namespace

std::string_view groupName(RecordedGroup group) {
  constexpr std::string_view kNames[] = {"", "encoder", "decoder", "cross"};
  return kNames[static_cast<std::size_t>(group)];
}

std::optional<RecordedName> recordedNameOf(std::string_view tensor) {
  std::string lower = lowerCase(tensor);
  auto step = cutNumbered(lower, "step");
  if (!step) step = cutNumbered(lower, "token");
  auto layer = step ? cutNumbered(lower, "layer") : std::nullopt;
  std::vector<std::string_view> words = splitName(lower);
  const RecordedGroup group = groupOf(words);
  if (!layer) layer = layerIn(words);
  // What was sown or stored as a tuple ends in an index: of the layer, unless a word before it counts layers,
  // and before that of the step.
  std::vector<Index> indices;
  for (; words.size() > 1 && numberInName(words.back()); words.pop_back())
    indices.push_back(*numberInName(words.back()));
  if (!layer && !indices.empty()) {
    layer = indices[0];
    if (!step && indices.size() > 1) step = indices[1];
  }
  dropModules(words);
  std::string_view& word = words.back();
  std::optional<Index> own = numberAfter(word, word);
  for (const std::string_view counted : {"_layer", "_block"})  // "attn_weights_layer_3"
    if (own && word.ends_with(counted)) word.remove_suffix(counted.size());
  if (!own) own = numberBefore(word);
  const auto role = recordedRoleOf(word);
  if (!role) return std::nullopt;
  const bool tokensFirst = word.starts_with("hook_") && *role != TensorRole::attention;
  if (!layer) layer = own;
  words.pop_back();
  if (!layer && !step) layer = lastNumber(words);
  return RecordedName{*role, layer, group, step, tokensFirst};
}

namespace {

std::vector<std::string> linesOf(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    if (line.ends_with('\r')) line.pop_back();
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> wordsOf(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

/// Removes the mark that tokenizers write for a space before a word: "Ġdog" and "▁dog" become "dog".
std::string withoutSpaceMark(std::string token) {
  for (const std::string_view mark : {"Ġ", "▁"})
    if (token.starts_with(mark) && token.size() > mark.size()) return token.substr(mark.size());
  return token;
}

/// Returns a token as the program writes its own: control characters as numbers, "<09>", also those that
/// tokenizers spell "Ċ" or "<0x0A>", and a lone space as "␣".
std::string readableToken(const std::string& stored) {
  constexpr std::pair<std::string_view, std::string_view> kSpelled[] = {
      {"Ġ", "␣"}, {"▁", "␣"}, {" ", "␣"}, {"Ċ", "<0A>"}, {"č", "<0D>"}, {"ĉ", "<09>"}};
  for (const auto& [spelled, shown] : kSpelled)
    if (stored == spelled) return std::string(shown);
  if (stored.size() == 6 && stored.starts_with("<0x") && stored.back() == '>') return "<" + stored.substr(3);
  const std::string token = withoutSpaceMark(stored);
  std::string text;
  for (std::size_t at = 0; at < token.size();) {
    const DecodedCodePoint c = decodeUtf8(token, at);
    text += isControl(c.value) ? fmt::format("<{:02X}>", static_cast<std::uint32_t>(c.value))
                               : token.substr(at, c.length);
    at += c.length;
  }
  return text;
}

/// Returns nullopt if the text isn't a JSON list of texts or ids.
std::optional<std::vector<std::string>> jsonTokens(const std::string& text) {
  const auto parsed = parseJsonTree(text, "tokens");
  if (!parsed) return std::nullopt;
  const nlohmann::json* json = &*parsed;
  for (const char* name : {"input_ids", "tokens"})
    if (parsed->is_object() && parsed->contains(name)) json = &(*parsed)[name];
  // A batch of one text.
  if (json->is_array() && json->size() == 1 && json->front().is_array()) json = &json->front();
  if (!json->is_array()) return std::nullopt;
  std::vector<std::string> tokens;
  for (const auto& token : *json) {
    if (!token.is_string() && !token.is_number_integer()) return std::nullopt;
    tokens.push_back(token.is_string() ? token.get<std::string>() : token.dump());
  }
  return tokens;
}

}  // namespace

Result<std::vector<std::string>> parseTokens(const std::string& text, Index expected, const std::string& what,
                                             const std::string& name) {
  if (!validateUtf8(text)) return Error{name + ": " + what + " are not UTF-8"};
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  const bool json = begin != std::string::npos && (text[begin] == '[' || text[begin] == '{');
  std::vector<std::string> tokens;
  if (auto list = json ? jsonTokens(text) : std::nullopt) {
    tokens = *std::move(list);
  } else if (json && (text.find('"') != std::string::npos)) {
    return Error{name + ": " + what + " are not a list of texts or ids in JSON"};
  } else {
    tokens = linesOf(text);
    if (std::ssize(tokens) != expected) tokens = wordsOf(text);
  }
  for (std::string& token : tokens) token = readableToken(token);
  if (std::ssize(tokens) == expected) return tokens;
  return Error{fmt::format("{}: holds {} {}, expected {}", name, tokens.size(), what, expected)};
}

}  // namespace headscope::attention
