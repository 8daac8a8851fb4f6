#pragma once

#include <functional>
#include <memory>

namespace headscope::app {

/// While it lives, `ended` is called first when something ends the program with exit(): Xlib does so, in the
/// middle of any call, when the display is lost.
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
