#include "app/platform/exit_watch.h"

#include <cstdlib>
#include <utility>

namespace headscope::app {

namespace {

using Ended = std::weak_ptr<std::function<void()>>;

void callEnded(int, void* argument) {
  const std::unique_ptr<Ended> ended(static_cast<Ended*>(argument));
  if (const auto call = ended->lock()) (*call)();
}

}  // namespace

ExitWatch::ExitWatch(std::function<void()> ended)
    : ended_(std::make_shared<std::function<void()>>(std::move(ended))) {
  auto weak = std::make_unique<Ended>(ended_);
  if (::on_exit(callEnded, weak.get()) == 0) (void)weak.release();
}

ExitWatch::~ExitWatch() = default;

}  // namespace headscope::app
