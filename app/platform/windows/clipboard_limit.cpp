#include "app/platform/clipboard_limit.h"

namespace headscope::app {

// No other program is asked here.
ClipboardLimit::ClipboardLimit(void*) {}
ClipboardLimit::~ClipboardLimit() = default;
void ClipboardLimit::watch(const std::stop_token&, std::uint32_t) {}

}  // namespace headscope::app
