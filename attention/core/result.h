#pragma once

#include <concepts>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace headscope::attention {

/// A fault in input from outside, in one sentence a person can act on: what was found, what was expected,
/// and where.
struct Error {
  std::string message;
};

/// A value or an Error. For input from outside; misuse by our own code throws instead.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Error error) : state_(std::move(error)) {}

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  T& value() & { return std::get<T>(state_); }
  const T& value() const& { return std::get<T>(state_); }
  T&& value() && { return std::get<T>(std::move(state_)); }
  T* operator->() { return &std::get<T>(state_); }
  const T* operator->() const { return &std::get<T>(state_); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }

  const Error& error() const { return std::get<Error>(state_); }

 private:
  std::variant<T, Error> state_;
};

/// Success or an Error, for functions without a value to return.
using Status = Result<std::monostate>;
inline Status success() {
  return std::monostate{};
}

/// Throws std::invalid_argument with `message` unless `condition` holds. For misuse by our own code.
inline void require(bool condition, const std::string& message) {
  if (!condition) throw std::invalid_argument(message);
}

/// The Error returned by stopped work. It isn't a fault and is not shown.
inline Error stopped() {
  return {"stopped"};
}

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
