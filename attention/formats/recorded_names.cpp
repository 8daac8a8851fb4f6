#include "attention/formats/recorded_names.h"

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
  constexpr std::string_view kBefore = "hook_", kBehind = "_states";
  if (word.starts_with(kBefore)) word.remove_prefix(kBefore.size());
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

}  // namespace

std::optional<RecordedName> recordedNameOf(std::string_view tensor) {
  const std::string lower = lowered(tensor);
  std::vector<std::string_view> words = partsOfName(lower);
  std::optional<Index> layer;
  if (words.size() > 1 && (layer = numberOf(words.back()))) words.pop_back();
  // "attention_3"
  if (const std::size_t at = words.back().rfind('_'); !layer && at != std::string_view::npos)
    if ((layer = numberOf(words.back().substr(at + 1)))) words.back() = words.back().substr(0, at);
  const auto role = recordedRoleOf(words.back());
  if (!role) return std::nullopt;
  for (std::size_t i = words.size() - 1; !layer && i-- > 0;) {
    layer = numberOf(words[i]);
    // "layer_3.attn"
    const std::size_t at = words[i].rfind('_');
    if (!layer && at != std::string_view::npos) layer = numberOf(words[i].substr(at + 1));
  }
  return RecordedName{*role, layer};
}

}  // namespace headscope::attention
