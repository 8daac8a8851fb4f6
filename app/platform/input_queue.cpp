#include "app/platform/input_queue.h"

namespace headscope::app {

FrameInput InputQueue::takeFrame() {
  FrameInput frame;
  while (!events_.empty()) {
    const InputEvent::Kind kind = events_.front().kind;
    frame.events.push_back(std::move(events_.front()));
    events_.pop_front();
    if (kind == InputEvent::Kind::key || kind == InputEvent::Kind::mouseButton) break;
  }
  return frame;
}

}  // namespace headscope::app
