#pragma once

#include <functional>
#include <memory>

namespace headscope::app {

/// A scope in which `ended` is called before exit() ends the program. Xlib calls exit() from within any call
/// when the connection to the display is lost.
class ExitWatch {
 public:
  explicit ExitWatch(std::function<void()> ended);
  ~ExitWatch();
  ExitWatch(const ExitWatch&) = delete;
  ExitWatch& operator=(const ExitWatch&) = delete;

 private:
  std::shared_ptr<std::function<void()>> ended_;
};

}  // namespace headscope::app
