#pragma once

#include <stdexcept>
#include <string>
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

}  // namespace headscope::attention
