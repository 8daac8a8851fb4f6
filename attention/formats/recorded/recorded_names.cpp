#include "attention/formats/recorded/recorded_names.h"

#include <algorithm>
#include <charconv>
#include <utility>
#include <vector>

namespace headscope::attention {
namespace {

constexpr std::pair<std::string_view, RecordedRole> kRecordedRoles[] = {
    {"attention", RecordedRole::attention},
    {"attentions", RecordedRole::attention},
    {"attn", RecordedRole::attention},
    {"attn_weights", RecordedRole::attention},
    {"attention_weights", RecordedRole::attention},
    {"attention_probs", RecordedRole::attention},
    {"attn_probs", RecordedRole::attention},
    {"weights", RecordedRole::attention},
    {"pattern", RecordedRole::attention},
    {"array", RecordedRole::attention},
    {"arr", RecordedRole::attention},
    {"q", RecordedRole::queries},
    {"query", RecordedRole::queries},
    {"queries", RecordedRole::queries},
    {"k", RecordedRole::keys},
    {"key", RecordedRole::keys},
    {"keys", RecordedRole::keys},
    {"v", RecordedRole::values},
    {"value", RecordedRole::values},
    {"values", RecordedRole::values}};

std::optional<RecordedRole> recordedRoleOf(std::string_view word) {
  constexpr std::string_view kBefore[] = {"encoder_", "decoder_", "cross_", "self_", "hook_"},
                             kBehind = "_states";
  for (const std::string_view before : kBefore)
    if (word.starts_with(before)) word.remove_prefix(before.size());
  if (word.ends_with(kBehind)) word.remove_suffix(kBehind.size());
  for (const auto& [name, role] : kRecordedRoles)
    if (name == word) return role;
  return std::nullopt;
}

std::optional<Index> numberOf(std::string_view word) {
  Index value = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || word[0] == '-' || code != std::errc() || end != word.data() + word.size())
    return std::nullopt;
  return value;
}

std::string lowered(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

std::vector<std::string_view> partsOfName(std::string_view name) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find_first_of("./", at), name.size());
    words.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

/// "layer_3", "layer3" and "h3" are layer 3; "attn_3" and "attn3" too.
std::optional<Index> numberAfter(std::string_view word, std::string_view& rest) {
  const std::size_t digits = word.find_last_not_of("0123456789") + 1;
  const auto number = numberOf(word.substr(digits));
  if (!number || digits == 0) return std::nullopt;
  rest = word.substr(0, word[digits - 1] == '_' ? digits - 1 : digits);
  return number;
}

/// "layer3_attn": the number, and "attn" as what is left of the word.
std::optional<Index> numberBefore(std::string_view& word) {
  constexpr std::string_view kLayers[] = {"layer", "layers", "block", "blocks", "h", "l"};
  for (std::size_t at = word.find('_'); at != std::string_view::npos; at = word.find('_', at + 1)) {
    std::string_view what;
    const auto number = numberAfter(word.substr(0, at), what);
    if (!number || std::ranges::find(kLayers, what) == std::end(kLayers)) continue;
    word.remove_prefix(at + 1);
    return number;
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
  const std::string lower = lowered(tensor);
  std::vector<std::string_view> words = partsOfName(lower);
  const RecordedGroup group = groupOf(words);
  std::optional<Index> layer;
  if (words.size() > 1 && (layer = numberOf(words.back()))) words.pop_back();
  if (!layer) layer = numberAfter(words.back(), words.back());
  if (!layer) layer = numberBefore(words.back());
  const auto role = recordedRoleOf(words.back());
  if (!role) return std::nullopt;
  for (std::size_t i = words.size() - 1; !layer && i-- > 0;) {
    std::string_view ignored;
    layer = numberOf(words[i]);
    if (!layer) layer = numberAfter(words[i], ignored);
  }
  return RecordedName{*role, layer, group};
}

}  // namespace headscope::attention
