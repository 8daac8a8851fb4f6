#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace headscope::attention {

/// Returns the singular or plural for `count`: "key" or "keys", "query" or "queries".
inline std::string nounFor(std::integral auto count, std::string_view one) {
  if (count == 1) return std::string(one);
  const auto size = one.size();
  const bool endsInY = size > 1 && one[size - 1] == 'y' &&
                       std::string_view("aeiou").find(one[size - 2]) == std::string_view::npos;
  return endsInY ? std::string(one.substr(0, size - 1)) + "ies" : std::string(one) + "s";
}

/// Returns "1 key", "12288 keys", for files and messages. On screen, countedText() of app groups the digits.
std::string counted(std::integral auto count, std::string_view one) {
  return std::to_string(count) + " " + nounFor(count, one);
}

}  // namespace headscope::attention
