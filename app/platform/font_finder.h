#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "app/platform/font_lookup.h"

namespace headscope::app {

/// The answer: the bytes are null where no installed font has it.
struct FoundFont {
  FontWish wish;
  std::string path;
  int index = 0;
  FontBytes bytes;
};

/// Finds fonts and reads their files, on a thread of its own that starts with the first wish; where there are
/// no threads, when it is asked.
class FontFinder {
 public:
  FontFinder() = default;
  ~FontFinder();
  FontFinder(const FontFinder&) = delete;
  FontFinder& operator=(const FontFinder&) = delete;

  /// `wake` is called on the finder's thread after each answer. To be set before the first wish.
  void onAnswer(std::function<void()> wake) { wake_ = std::move(wake); }
  void ask(const FontWish& wish);
  /// Whether anything that was asked for hasn't been taken yet.
  bool busy();
  /// The answers that have come since.
  std::vector<FoundFont> take();
  /// Blocks until everything asked for can be taken. For tests and headless rendering, never for the window.
  void finish();

 private:
  void serve(std::stop_token quit);
  FoundFont answer(const FontLookup& fonts, const FontWish& wish);

  std::function<void()> wake_ = [] {};
  std::mutex mutex_;  ///< guards everything below but the thread
  std::condition_variable_any changed_;
  std::deque<FontWish> waiting_;
  std::vector<FoundFont> answers_;
  bool busy_ = false;
  std::map<std::string, FontBytes> read_;  ///< of who answers; one file answers many wishes
  std::jthread thread_;                    // last: it ends before what it touches goes
};

}  // namespace headscope::app
