#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "attention/masks/expression.h"

namespace headscope::app {

/// A value that copies share until one of them edits it. Scenes are compared in every frame and kept by the
/// hundred in the history, and tables and paintings may be large.
template <typename T>
class SharedValue {
 public:
  SharedValue() : value_(std::make_shared<const T>()) {}
  SharedValue(T value) : value_(std::make_shared<const T>(std::move(value))) {}

  const T& operator*() const { return *value_; }
  const T* operator->() const { return value_.get(); }
  std::shared_ptr<const T> pointer() const { return value_; }
  /// Returns a private copy to change.
  T& edit() {
    auto own = std::make_shared<T>(*value_);
    value_ = own;
    return *own;
  }
  bool operator==(const SharedValue& other) const {
    return value_ == other.value_ || *value_ == *other.value_;
  }

 private:
  std::shared_ptr<const T> value_;
};

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

/// A mask's layers, up to thousands. Copies share them until one is edited, because every frame copies the
/// scene. Reads like a const list.
class SharedLayers : public SharedValue<attention::MaskLayers> {
 public:
  SharedLayers() = default;
  SharedLayers(attention::MaskLayers layers) : SharedValue(std::move(layers)) {}

  operator const attention::MaskLayers&() const { return **this; }
  bool empty() const { return (*this)->empty(); }
  std::size_t size() const { return (*this)->size(); }
  auto begin() const { return (*this)->begin(); }
  auto end() const { return (*this)->end(); }
  const attention::Layer& operator[](std::size_t at) const { return (**this)[at]; }

  bool operator==(const SharedLayers&) const = default;
};

}  // namespace headscope::app
