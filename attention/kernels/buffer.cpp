#include "attention/kernels/buffer.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <new>
#include <vector>

namespace headscope::attention::kernels {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;
/// From here on a buffer has pages of its own and is kept when it goes, and from there on they are huge.
constexpr std::size_t kLarge = std::size_t{64} << 10, kHuge = kHugePage / 2;
constexpr std::size_t kPage = 4096;
/// Blocks that are kept at the most: looking for one that fits must not take long. A pass over a model of 12
/// layers leaves some 150.
constexpr std::size_t kMostBlocks = 1024;

std::atomic<std::uint64_t> allocations{0};

std::size_t roundedUp(std::size_t size, std::size_t unit) {
  return (size + unit - 1) / unit * unit;
}

void* allocate(std::size_t bytes) {
  ++allocations;
  if (bytes < kLarge) return std::aligned_alloc(kAlignment, bytes);
  if (bytes % kHugePage != 0) return std::aligned_alloc(kPage, bytes);
  void* const pages = std::aligned_alloc(kHugePage, bytes);
  // A hint: without huge pages it works all the same.
  if (pages) madvise(pages, bytes, MADV_HUGEPAGE);
  return pages;
}

/// Large blocks that nobody uses.
class IdleBlocks {
 public:
  ~IdleBlocks() { release(); }

  /// The smallest block that holds `bytes` without wasting a quarter of it.
  std::pair<void*, std::size_t> take(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    auto best = blocks_.end();
    for (auto block = blocks_.begin(); block != blocks_.end(); ++block)
      if (block->second >= bytes && block->second - bytes <= bytes / 4 &&
          (best == blocks_.end() || block->second < best->second))
        best = block;
    if (best == blocks_.end()) return {nullptr, 0};
    const auto found = *best;
    blocks_.erase(best);
    held_ -= found.second;
    return found;
  }

  void give(void* data, std::size_t bytes) {
    std::vector<void*> surplus;
    {
      const std::lock_guard lock(mutex_);
      blocks_.emplace_back(data, bytes);
      held_ += bytes;
      // The oldest go first: their sizes are those that are no longer asked for.
      while (held_ > kMaxIdleBufferBytes || blocks_.size() > kMostBlocks) {
        surplus.push_back(blocks_.front().first);
        held_ -= blocks_.front().second;
        blocks_.erase(blocks_.begin());
      }
    }
    std::for_each(surplus.begin(), surplus.end(), [](void* block) { std::free(block); });
  }

  void release() {
    const std::lock_guard lock(mutex_);
    for (const auto& [data, bytes] : blocks_) std::free(data);
    blocks_.clear();
    held_ = 0;
  }

  std::uint64_t held() const {
    const std::lock_guard lock(mutex_);
    return held_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<void*, std::size_t>> blocks_;
  std::uint64_t held_ = 0;
};

/// Never destroyed: buffers of other static objects may go after any destructor of ours.
IdleBlocks& idleBlocks() {
  static auto* const blocks = new IdleBlocks;
  return *blocks;
}

}  // namespace

Buffer::Buffer(std::size_t floats) {
  if (floats == 0) return;
  if (floats > std::numeric_limits<std::size_t>::max() / 2 / sizeof(float)) throw std::bad_alloc();
  const std::size_t bytes = floats * sizeof(float);
  bytes_ = roundedUp(bytes, bytes < kLarge ? kAlignment : bytes < kHuge ? kPage : kHugePage);
  if (bytes_ >= kLarge) {
    const auto [idle, size] = idleBlocks().take(bytes_);
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
}

Buffer::~Buffer() {
  if (data_ == nullptr) return;
  if (bytes_ >= kLarge)
    idleBlocks().give(data_, bytes_);
  else
    std::free(data_);
}

std::uint64_t idleBufferBytes() {
  return idleBlocks().held();
}

void releaseIdleBuffers() {
  idleBlocks().release();
}

std::uint64_t bufferAllocations() {
  return allocations;
}

}  // namespace headscope::attention::kernels
