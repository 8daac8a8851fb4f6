#include "attention/kernels/buffer.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <mutex>
#include <new>
#include <vector>

#include "attention/kernels/system.h"

namespace headscope::attention::kernels {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
/// From kLarge on, buffers have whole pages and are kept for reuse; from kHuge on, the pages are huge.
constexpr std::size_t kLarge = std::size_t{64} << 10, kHuge = kHugePage / 2;
constexpr std::size_t kPage = 4096;
/// The most blocks kept, so that searching them stays fast. A pass over a model of 12 layers leaves about
/// 150.
constexpr std::size_t kMaxBlocks = 1024;

std::atomic<std::uint64_t> allocations{0};

std::size_t roundedUp(std::size_t size, std::size_t unit) {
  return (size + unit - 1) / unit * unit;
}

void* allocate(std::size_t bytes) {
  ++allocations;
  return alignedMemory(bytes < kLarge ? kAlignment : bytes % kHugePage != 0 ? kPage : kHugePage, bytes);
}

/// Idle large blocks, and the amount in use. Idle blocks are kept up to kMaxIdleBufferBytes, or up to the
/// most that was in use at once since the last release: this takes no more memory than the computation did.
class LargeBlocks {
 public:
  ~LargeBlocks() { release(); }

  /// Takes the smallest idle block that holds `bytes` without wasting a quarter of it. If there is none,
  /// returns null and frees as many idle blocks as a new one of `bytes` requires.
  std::pair<void*, std::size_t> take(std::size_t bytes) {
    std::vector<void*> surplus;
    std::pair<void*, std::size_t> found{nullptr, 0};
    {
      const std::lock_guard lock(mutex_);
      auto best = blocks_.end();
      for (auto block = blocks_.begin(); block != blocks_.end(); ++block)
        if (block->second >= bytes && block->second - bytes <= bytes / 4 &&
            (best == blocks_.end() || block->second < best->second))
          best = block;
      if (best == blocks_.end()) {
        surplus = beyond(used_ + bytes);
      } else {
        found = *best;
        blocks_.erase(best);
        held_ -= found.second;
        count(found.second);
      }
    }
    std::for_each(surplus.begin(), surplus.end(), freeAligned);
    return found;
  }

  /// Records a new block in use.
  void made(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    count(bytes);
  }

  void give(void* data, std::size_t bytes) {
    std::vector<void*> surplus;
    {
      const std::lock_guard lock(mutex_);
      used_ -= bytes;
      blocks_.emplace_back(data, bytes);
      held_ += bytes;
      surplus = beyond(used_);
    }
    std::for_each(surplus.begin(), surplus.end(), freeAligned);
  }

  void release() {
    const std::lock_guard lock(mutex_);
    for (const auto& [data, bytes] : blocks_) freeAligned(data);
    blocks_.clear();
    held_ = 0;
    mostUsed_ = used_;
  }

  std::uint64_t held() const {
    const std::lock_guard lock(mutex_);
    return held_;
  }

 private:
  void count(std::size_t bytes) {
    used_ += bytes;
    mostUsed_ = std::max(mostUsed_, used_);
  }

  /// Removes and returns the idle blocks that exceed the limit next to `used` bytes, oldest first, since
  /// their sizes are the least likely to be needed again.
  std::vector<void*> beyond(std::uint64_t used) {
    const std::uint64_t most = std::max(kMaxIdleBufferBytes, mostUsed_ - std::min(mostUsed_, used));
    std::vector<void*> surplus;
    auto block = blocks_.begin();
    for (std::size_t left = blocks_.size(); held_ > most || left > kMaxBlocks; ++block, --left) {
      surplus.push_back(block->first);
      held_ -= block->second;
    }
    blocks_.erase(blocks_.begin(), block);
    return surplus;
  }

  mutable std::mutex mutex_;
  std::vector<std::pair<void*, std::size_t>> blocks_;
  std::uint64_t held_ = 0, used_ = 0;
  std::uint64_t mostUsed_ = 0;  ///< largest used_ since the last release
};

/// Never destroyed, because buffers in other static objects may be destroyed later.
LargeBlocks& largeBlocks() {
  static auto* const blocks = new LargeBlocks;
  return *blocks;
}

}  // namespace

Buffer::Buffer(std::size_t floats) {
  if (floats == 0) return;
  if (floats > std::numeric_limits<std::size_t>::max() / 2 / sizeof(float)) throw std::bad_alloc();
  const std::size_t bytes = floats * sizeof(float);
  bytes_ = roundedUp(bytes, bytes < kLarge ? kAlignment : bytes < kHuge ? kPage : kHugePage);
  if (bytes_ >= kLarge) {
    const auto [idle, size] = largeBlocks().take(bytes_);
    if (idle) {
      data_ = static_cast<float*>(idle);
      bytes_ = size;
      return;
    }
  }
  data_ = static_cast<float*>(allocate(bytes_));
  if (data_ == nullptr && idleBufferBytes() > 0) {
    releaseIdleBuffers();
    data_ = static_cast<float*>(allocate(bytes_));
  }
  if (data_ == nullptr) throw std::bad_alloc();
  if (bytes_ >= kLarge) largeBlocks().made(bytes_);
}

Buffer::~Buffer() {
  if (data_ == nullptr) return;
  if (bytes_ >= kLarge)
    largeBlocks().give(data_, bytes_);
  else
    freeAligned(data_);
}

std::uint64_t idleBufferBytes() {
  return largeBlocks().held();
}

void releaseIdleBuffers() {
  largeBlocks().release();
}

std::uint64_t bufferAllocations() {
  return allocations;
}

}  // namespace headscope::attention::kernels
