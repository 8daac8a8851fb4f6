#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include "app/scene/shared_value.h"

namespace headscope::app {

/// A text that copies share until one of them is assigned another. Reads as a const std::string, and is
/// assigned like one.
class SharedText : public SharedValue<std::string> {
 public:
  SharedText() = default;
  SharedText(std::string text) : SharedValue(std::move(text)) {}
  SharedText(const char* text) : SharedValue(std::string(text)) {}

  operator const std::string&() const { return **this; }
  bool empty() const { return (*this)->empty(); }
  std::size_t size() const { return (*this)->size(); }

  bool operator==(const SharedText&) const = default;
  template <typename Text>
  requires std::convertible_to<const Text&, std::string_view>
  bool operator==(const Text& text) const { return **this == std::string_view(text); }
  friend std::string operator+(const SharedText& text, std::string_view more) {
    return std::string(*text).append(more);
  }
};

}  // namespace headscope::app
