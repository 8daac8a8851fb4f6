#include "attention/formats/layers/qk_names.h"

#include <algorithm>
#include <utility>

#include "attention/text/ascii.h"

namespace headscope::attention {
namespace {

constexpr std::pair<std::string_view, QkRole> kRoles[] = {
    {"q", QkRole::queries},        {"query", QkRole::queries},
    {"queries", QkRole::queries},  {"query_states", QkRole::queries},
    {"q_states", QkRole::queries}, {"k", QkRole::keys},
    {"key", QkRole::keys},         {"keys", QkRole::keys},
    {"key_states", QkRole::keys},  {"k_states", QkRole::keys},
    {"key_cache", QkRole::keys},   {"k_cache", QkRole::keys}};

bool isNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), isDigit);
}

std::optional<QkRole> roleOf(std::string_view word) {
  std::string lower(word);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  for (const auto& [name, role] : kRoles)
    if (name == lower) return role;
  return std::nullopt;
}

/// Cuts a number off the end of `text`, and the separator before it. Empty if there is none.
std::string_view cutNumber(std::string_view& text, std::string_view separators) {
  const auto at = text.find_last_of(separators);
  if (at == std::string_view::npos || !isNumber(text.substr(at + 1))) return {};
  const auto number = text.substr(at + 1);
  text = text.substr(0, at);
  return number;
}

/// The digits at the front, without leading zeros, cut off `text`.
std::string_view cutDigits(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && isDigit(text[length])) ++length;
  auto digits = text.substr(0, length);
  text.remove_prefix(length);
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

}  // namespace

std::optional<QkName> qkNameOf(std::string_view tensor) {
  std::string_view rest = tensor;
  const auto number = cutNumber(rest, "./_");
  const auto named = [&](QkRole role, std::string_view prefix) {
    std::string layer(prefix);
    if (!number.empty()) layer += (layer.empty() ? "" : ".") + std::string(number);
    return QkName{role, std::move(layer)};
  };
  const auto dot = rest.find_last_of("./");
  const auto begin = dot == std::string_view::npos ? 0 : dot + 1;
  const auto word = rest.substr(begin);
  if (const auto role = roleOf(word)) return named(*role, rest.substr(0, begin == 0 ? 0 : dot));
  // An underscore parts layer and role only behind a number: "layer_3_q" is a layer's, "w_q" is a weight.
  for (std::size_t i = 1; i < word.size(); ++i) {
    if (word[i] != '_' || !isDigit(word[i - 1])) continue;
    if (const auto role = roleOf(word.substr(i + 1))) return named(*role, rest.substr(0, begin + i));
  }
  return std::nullopt;
}

bool naturallyBefore(std::string_view a, std::string_view b) {
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
  // "layer.03" and "layer.3" count as the same number, but are two names.
  return wholeA < wholeB;
}

}  // namespace headscope::attention
