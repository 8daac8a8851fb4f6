#include "attention/formats/layers/qk_names.h"

#include <algorithm>
#include <utility>

#include "attention/text/ascii.h"

namespace headscope::attention {
namespace {

bool isNumber(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), isDigit);
}

/// Returns the role if it is queries or keys.
std::optional<TensorRole> roleOf(std::string_view word) {
  constexpr std::string_view kCache = "_cache";
  std::string lower = lowerCase(word);
  const bool cached = lower.ends_with(kCache);
  if (cached) lower.resize(lower.size() - kCache.size());
  const auto role = tensorRoleOf(lower);
  return role == TensorRole::keys || (role == TensorRole::queries && !cached) ? role : std::nullopt;
}

/// Removes a number and the separator before it from the end of `text`. Returns an empty text if there is
/// none.
std::string_view cutNumber(std::string_view& text, std::string_view separators) {
  const auto at = text.find_last_of(separators);
  if (at == std::string_view::npos || !isNumber(text.substr(at + 1))) return {};
  const auto number = text.substr(at + 1);
  text = text.substr(0, at);
  return number;
}

}  // namespace

std::optional<QkName> qkNameOf(std::string_view tensor) {
  std::string_view rest = tensor;
  const auto number = cutNumber(rest, "./_");
  const auto named = [&](TensorRole role, std::string_view prefix) {
    std::string layer(prefix);
    if (!number.empty()) layer += (layer.empty() ? "" : ".") + std::string(number);
    return QkName{role, std::move(layer)};
  };
  const auto dot = rest.find_last_of("./");
  const auto begin = dot == std::string_view::npos ? 0 : dot + 1;
  const auto word = rest.substr(begin);
  if (const auto role = roleOf(word)) return named(*role, rest.substr(0, begin == 0 ? 0 : dot));
  // An underscore separates layer and role only after a digit: "layer_3_q" names a layer's queries, "w_q" a
  // weight.
  for (std::size_t i = 1; i < word.size(); ++i) {
    if (word[i] != '_' || !isDigit(word[i - 1])) continue;
    if (const auto role = roleOf(word.substr(i + 1))) return named(*role, rest.substr(0, begin + i));
  }
  return std::nullopt;
}

}  // namespace headscope::attention
