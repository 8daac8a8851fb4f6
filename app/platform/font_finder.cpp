#include "app/platform/font_finder.h"

#include <utility>

#include "app/platform/assets.h"
#include "attention/core/threads.h"
#include "attention/formats/files/file_io.h"

namespace headscope::app {

FontFinder::~FontFinder() = default;

FoundFont FontFinder::answer(const FontLookup& fonts, const FontRequest& request) {
  const FontPlace place = fonts.find(request);
  FoundFont found{request, place.path, place.index, nullptr};
  if (place.path.empty()) return found;
  FontBytes& bytes = read_[place.path];
  if (!bytes)
    if (auto file = attention::readFile(place.path); file.ok())
      bytes = std::make_shared<const std::vector<std::uint8_t>>(std::move(file).value());
  found.bytes = bytes;
  return found;
}

void FontFinder::ask(const FontRequest& request) {
  if (!attention::kHasThreads) {
    FontLookup fonts;
    fonts.addFolder((assetFolder() / "fonts").string());
    answers_.push_back(answer(fonts, request));
    return wake_();
  }
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(request);
  }
  changed_.notify_all();
  if (!thread_.joinable()) thread_ = std::jthread([this](std::stop_token quit) { serve(quit); });
}

std::vector<FoundFont> FontFinder::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(answers_, {});
}

void FontFinder::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return waiting_.empty() && !busy_; });
}

bool FontFinder::busy() {
  const std::lock_guard lock(mutex_);
  return busy_ || !waiting_.empty() || !answers_.empty();
}

void FontFinder::serve(std::stop_token quit) {
  const FontLookup fonts;  // the first font lookup has already registered the program's own folder
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, quit, [this] { return !waiting_.empty(); })) {
    const FontRequest request = waiting_.front();
    waiting_.pop_front();
    busy_ = true;
    lock.unlock();
    FoundFont found = answer(fonts, request);
    lock.lock();
    answers_.push_back(std::move(found));
    busy_ = false;
    changed_.notify_all();
    lock.unlock();
    wake_();
    lock.lock();
  }
}

}  // namespace headscope::app
