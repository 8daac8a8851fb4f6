#pragma once

#include <memory>
#include <utility>

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

}  // namespace headscope::app
