#pragma once

#include <compare>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "app/platform/typeface.h"

namespace headscope::app {

/// A font that is looked for: the one that has most of a script, or one that has a character.
struct FontWish {
  hb_script_t script = HB_SCRIPT_INVALID;
  std::uint32_t code = 0;  ///< 0 = the whole script
  bool colored = false;    ///< one in colour first
  auto operator<=>(const FontWish&) const = default;
};

/// The answer: the bytes are null where no installed font has it.
struct FoundFont {
  FontWish wish;
  std::string path;
  int index = 0;
  FontBytes bytes;
};

/// Finds fonts through fontconfig and reads their files, on a thread of its own that starts with the first
/// wish.
class FontFinder {
 public:
  FontFinder() = default;
  ~FontFinder();
  FontFinder(const FontFinder&) = delete;
  FontFinder& operator=(const FontFinder&) = delete;

  /// `wake` is called on the finder's thread after each answer. To be set before the first wish.
  void onAnswer(std::function<void()> wake) { wake_ = std::move(wake); }
  void ask(const FontWish& wish);
  /// The answers that have come since.
  std::vector<FoundFont> take();
  /// Blocks until everything asked for can be taken. For tests and headless rendering, never for the window.
  void finish();

 private:
  void serve(std::stop_token quit);

  std::function<void()> wake_ = [] {};
  std::mutex mutex_;  ///< guards everything below but the thread
  std::condition_variable_any changed_;
  std::deque<FontWish> waiting_;
  std::vector<FoundFont> answers_;
  bool busy_ = false;
  std::jthread thread_;  // last: it ends before what it touches goes
};

}  // namespace headscope::app
