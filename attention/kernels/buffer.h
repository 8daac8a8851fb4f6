#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace headscope::attention::kernels {

/// Uninitialised floats, aligned to 64 bytes. Large buffers use huge pages if the system has them, and their
/// memory is kept after destruction for the next buffer it fits, because touching fresh pages costs more than
/// the arithmetic on them. With malloc instead, using mallopt's highest thresholds (32 MiB) and huge pages, a
/// forward pass of 8 heads takes 1.5 times the processor time at 2,048 tokens, and 1.8 times with five times
/// the memory at 512. Move-only. Throws std::bad_alloc.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t floats);
  ~Buffer();
  Buffer(Buffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  float* data() const { return data_; }
  std::size_t capacity() const { return bytes_ / sizeof(float); }
  /// Makes sure `floats` fit. If the buffer has to grow, its contents are lost.
  float* atLeast(std::size_t floats) {
    if (capacity() < floats) *this = Buffer(floats);
    return data_;
  }

 private:
  float* data_ = nullptr;
  std::size_t bytes_ = 0;
};

/// The bytes kept for reuse: up to kMaxIdleBufferBytes, or more if more were in use at once.
std::uint64_t idleBufferBytes();
inline constexpr std::uint64_t kMaxIdleBufferBytes = std::uint64_t{1} << 30;
/// Returns the kept memory to the system.
void releaseIdleBuffers();
/// The number of allocations from the system so far; a warmed-up program makes none.
std::uint64_t bufferAllocations();

}  // namespace headscope::attention::kernels
