#include "attention/formats/recorded/recorded_names.h"

#include <algorithm>
#include <vector>

#include "attention/text/ascii.h"

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
  rest = word.substr(0, word[digits - 1] == '_' ? digits - 1 : digits);
  return number;
}

/// Splits "layer3_attn": returns the number and leaves "attn" in `word`.
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
  const std::string lower = lowerCase(tensor);
  std::vector<std::string_view> words = splitName(lower);
  const RecordedGroup group = groupOf(words);
  std::optional<Index> layer;
  if (words.size() > 1 && (layer = numberInName(words.back()))) words.pop_back();
  if (!layer) layer = numberAfter(words.back(), words.back());
  if (!layer) layer = numberBefore(words.back());
  const auto role = recordedRoleOf(words.back());
  if (!role) return std::nullopt;
  for (std::size_t i = words.size() - 1; !layer && i-- > 0;) {
    std::string_view ignored;
    layer = numberInName(words[i]);
    if (!layer) layer = numberAfter(words[i], ignored);
  }
  return RecordedName{*role, layer, group};
}

}  // namespace headscope::attention
