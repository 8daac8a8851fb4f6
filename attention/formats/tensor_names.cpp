#include "attention/formats/tensor_names.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "attention/text/ascii.h"

namespace headscope::attention {
namespace {

constexpr std::pair<std::string_view, TensorRole> kRoles[] = {
    {"attention", TensorRole::attention},
    {"attentions", TensorRole::attention},
    {"attn", TensorRole::attention},
    {"attn_weights", TensorRole::attention},
    {"attention_weights", TensorRole::attention},
    {"attention_probs", TensorRole::attention},
    {"attn_probs", TensorRole::attention},
    {"attention_weight", TensorRole::attention},
    {"attn_weight", TensorRole::attention},
    {"attention_probabilities", TensorRole::attention},
    {"attention_map", TensorRole::attention},
    {"attention_maps", TensorRole::attention},
    {"attn_map", TensorRole::attention},
    {"attn_maps", TensorRole::attention},
    {"attention_pattern", TensorRole::attention},
    {"attn_pattern", TensorRole::attention},
    {"attention_matrix", TensorRole::attention},
    {"attns", TensorRole::attention},
    {"kq_soft_max", TensorRole::attention},
    {"kq_soft_max_ext", TensorRole::attention},
    {"weights", TensorRole::attention},
    {"pattern", TensorRole::attention},
    {"array", TensorRole::attention},
    {"arr", TensorRole::attention},
    {"q", TensorRole::queries},
    {"query", TensorRole::queries},
    {"queries", TensorRole::queries},
    {"k", TensorRole::keys},
    {"key", TensorRole::keys},
    {"keys", TensorRole::keys},
    {"v", TensorRole::values},
    {"value", TensorRole::values},
    {"values", TensorRole::values}};

/// Removes the leading digits from `text` and returns them without leading zeros.
std::string_view cutDigits(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && isDigit(text[length])) ++length;
  auto digits = text.substr(0, length);
  text.remove_prefix(length);
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

}  // namespace

std::optional<TensorRole> tensorRoleOf(std::string_view word) {
  constexpr std::string_view kStates = "_states";
  if (word.ends_with(kStates)) word.remove_suffix(kStates.size());
  for (const auto& [name, role] : kRoles)
    if (name == word) return role;
  return std::nullopt;
}

std::vector<std::string_view> splitName(std::string_view name) {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t end = std::min(name.find_first_of("./", at), name.size());
    words.push_back(name.substr(at, end - at));
    at = end + 1;
  }
  return words;
}

std::optional<Index> numberInName(std::string_view word) {
  Index value = 0;
  const auto [end, code] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || word[0] == '-' || code != std::errc() || end != word.data() + word.size())
    return std::nullopt;
  return value;
}

bool naturalLess(std::string_view a, std::string_view b) {
  const auto wholeA = a, wholeB = b;
  while (!a.empty() && !b.empty()) {
    if (isDigit(a.front()) && isDigit(b.front())) {
      const auto numberA = cutDigits(a), numberB = cutDigits(b);
      if (numberA.size() != numberB.size()) return numberA.size() < numberB.size();
      if (numberA != numberB) return numberA < numberB;
    } else {
      if (a.front() != b.front()) return a.front() < b.front();
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty()) return a.empty();
  // "layer.03" and "layer.3" have the same number but are different names.
  return wholeA < wholeB;
}

}  // namespace headscope::attention
