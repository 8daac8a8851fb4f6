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

/// The answer to a FontRequest. `bytes` is null if no installed font matches.
struct FoundFont {
  FontRequest request;
  std::string path;
  int index = 0;
  FontBytes bytes;
};

/// Finds fonts and reads their files on a thread that starts with the first wish. Without threads, ask() does
/// the work itself.
class FontFinder {
 public:
  FontFinder() = default;
  ~FontFinder();
  FontFinder(const FontFinder&) = delete;
  FontFinder& operator=(const FontFinder&) = delete;

  /// Calls `wake` on the finder's thread after each answer. Set it before the first wish.
  void onAnswer(std::function<void()> wake) { wake_ = std::move(wake); }
  void ask(const FontRequest& request);
  /// Whether any answer is still being found or waiting to be taken.
  bool busy();
  /// Returns the answers since the last call.
  std::vector<FoundFont> take();
  /// Blocks until all answers can be taken. For tests and headless rendering, never for the window.
  void finish();

 private:
  void serve(std::stop_token quit);
  FoundFont answer(const FontLookup& fonts, const FontRequest& request);

  std::function<void()> wake_ = [] {};
  std::mutex mutex_;  ///< guards waiting_, answers_ and busy_
  std::condition_variable_any changed_;
  std::deque<FontRequest> waiting_;
  std::vector<FoundFont> answers_;
  bool busy_ = false;
  std::map<std::string, FontBytes> read_;  ///< by path; used only by the answering thread
  std::jthread thread_;  // last member: destroyed first, so the thread ends before the data it uses
};

}  // namespace headscope::app
