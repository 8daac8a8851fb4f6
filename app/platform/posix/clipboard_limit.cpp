#include "app/platform/clipboard_limit.h"

#include <dlfcn.h>
#include <xcb/xcb.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

namespace headscope::app {

namespace {

struct Freed {
  void operator()(void* reply) const { std::free(reply); }
};
template <typename Reply>
using Received = std::unique_ptr<Reply, Freed>;

/// The window's id on its X server; 0 if GLFW uses another window system.
std::uint32_t idOf(void* window) {
  // The variant of GLFW for Wayland has no such function.
  const auto get = reinterpret_cast<unsigned long (*)(void*)>(::dlsym(RTLD_DEFAULT, "glfwGetX11Window"));
  return get != nullptr ? static_cast<std::uint32_t>(get(window)) : 0;
}

/// A separate connection to the X server, which isn't stopped by what GLFW waits for.
class ClipboardRefusal {
 public:
  explicit ClipboardRefusal(std::uint32_t window)
      : server_(::xcb_connect(nullptr, nullptr)), window_(window) {}
  ~ClipboardRefusal() { ::xcb_disconnect(server_); }
  ClipboardRefusal(const ClipboardRefusal&) = delete;
  ClipboardRefusal& operator=(const ClipboardRefusal&) = delete;

  /// Tells this program's windows that the clipboard can't be converted, and that no more of it comes.
  void send() {
    if (::xcb_connection_has_error(server_) != 0) return;
    xcb_selection_notify_event_t refused{};
    refused.response_type = XCB_SELECTION_NOTIFY;
    refused.selection = atom("CLIPBOARD");
    refused.target = atom("SAVE_TARGETS");
    xcb_property_notify_event_t last{};
    last.response_type = XCB_PROPERTY_NOTIFY;
    last.atom = atom("GLFW_SELECTION");
    last.state = XCB_PROPERTY_NEW_VALUE;
    for (const xcb_window_t own : ownWindows()) {
      refused.requestor = last.window = own;
      ::xcb_send_event(server_, 0, own, 0, reinterpret_cast<const char*>(&refused));
      ::xcb_send_event(server_, 0, own, XCB_EVENT_MASK_PROPERTY_CHANGE, reinterpret_cast<const char*>(&last));
    }
    ::xcb_flush(server_);
  }

 private:
  xcb_atom_t atom(std::string_view name) {
    const auto asked = ::xcb_intern_atom(server_, 0, static_cast<std::uint16_t>(name.size()), name.data());
    const Received<xcb_intern_atom_reply_t> reply(::xcb_intern_atom_reply(server_, asked, nullptr));
    return reply ? reply->atom : xcb_atom_t{XCB_ATOM_NONE};
  }

  /// GLFW asks with a window that it keeps to itself. It is one of the root's that the same connection made.
  std::vector<xcb_window_t> ownWindows() {
    std::vector<xcb_window_t> own;
    const xcb_setup_t* const setup = ::xcb_get_setup(server_);
    for (auto screen = ::xcb_setup_roots_iterator(setup); screen.rem > 0; ::xcb_screen_next(&screen)) {
      const auto asked = ::xcb_query_tree(server_, screen.data->root);
      const Received<xcb_query_tree_reply_t> tree(::xcb_query_tree_reply(server_, asked, nullptr));
      if (!tree) continue;
      const xcb_window_t* const children = ::xcb_query_tree_children(tree.get());
      for (int i = 0; i < ::xcb_query_tree_children_length(tree.get()); ++i)
        if ((children[i] & ~setup->resource_id_mask) == (window_ & ~setup->resource_id_mask))
          own.push_back(children[i]);
    }
    return own;
  }

  xcb_connection_t* const server_;
  const std::uint32_t window_;
};

}  // namespace

ClipboardLimit::ClipboardLimit(void* window) {
  const std::uint32_t id = idOf(window);
  if (id == 0) return;
  try {
    thread_ = std::jthread([this, id](const std::stop_token& stop) { watch(stop, id); });
  } catch (const std::system_error&) {  // out of threads: GLFW may wait longer
  }
}

ClipboardLimit::~ClipboardLimit() {
  thread_.request_stop();
}

void ClipboardLimit::watch(const std::stop_token& stop, std::uint32_t window) {
  constexpr std::chrono::seconds kLimit(1);
  constexpr std::chrono::milliseconds kPause(20);
  std::unique_lock lock(mutex_);
  const auto over = [&stop] { return stop.stop_requested(); };
  if (ended_.wait_for(lock, stop, kLimit, over)) return;
  reached_ = true;
  ClipboardRefusal refusal(window);
  // GLFW may ask several times, for other forms of the text.
  do refusal.send();
  while (!ended_.wait_for(lock, stop, kPause, over));
}

}  // namespace headscope::app
