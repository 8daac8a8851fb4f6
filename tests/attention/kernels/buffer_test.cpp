#include "attention/kernels/buffer.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "attention/core/attention.h"
#include "tests/attention/core/attention_reference.h"
#include "tests/attention/core/heads_problem.h"

namespace headscope::attention::kernels::test {
namespace {

constexpr std::size_t kMebibyte = (std::size_t{1} << 20) / sizeof(float);

TEST(Buffer, IsAlignedAndFitsRequestedSize) {
  for (const std::size_t floats :
       {std::size_t{1}, std::size_t{17}, std::size_t{1000}, kMebibyte - 1, kMebibyte, 3 * kMebibyte + 5}) {
    const Buffer buffer(floats);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0u) << floats;
    ASSERT_GE(buffer.capacity(), floats);
    buffer.data()[0] = buffer.data()[floats - 1] = 1;
  }
  EXPECT_EQ(Buffer(0).data(), nullptr);
  EXPECT_EQ(Buffer().capacity(), 0u);
}

TEST(Buffer, MovesItsMemory) {
  Buffer a(100);
  float* const data = a.data();
  Buffer b(std::move(a));
  EXPECT_EQ(b.data(), data);
  Buffer c(5);
  c = std::move(b);
  EXPECT_EQ(c.data(), data);
  EXPECT_EQ(c.atLeast(100), data);
  EXPECT_GE((c.atLeast(5000), c.capacity()), 5000u);
}

TEST(Buffer, ReusesMemoryOfLargeBuffers) {
  releaseIdleBuffers();
  EXPECT_EQ(idleBufferBytes(), 0u);
  float* data = nullptr;
  {
    const Buffer buffer(8 * kMebibyte);
    data = buffer.data();
  }
  EXPECT_GE(idleBufferBytes(), 8 * kMebibyte * sizeof(float));
  const std::uint64_t before = bufferAllocations();
  {
    const Buffer again(7 * kMebibyte);
    EXPECT_EQ(again.data(), data);
    EXPECT_EQ(idleBufferBytes(), 0u);
  }
  EXPECT_EQ(bufferAllocations(), before);
  {
    // Much smaller buffers don't reuse it, because they would waste it.
    const Buffer small(2 * kMebibyte);
    EXPECT_NE(small.data(), data);
    EXPECT_EQ(bufferAllocations(), before + 1);
  }
  releaseIdleBuffers();
  EXPECT_EQ(idleBufferBytes(), 0u);
}

TEST(Buffer, KeepsNoMoreThanPeakUse) {
  releaseIdleBuffers();
  const std::uint64_t limit = kMaxIdleBufferBytes;
  { const Buffer larger(limit / sizeof(float) * 3 / 2); }
  EXPECT_EQ(idleBufferBytes(), limit * 3 / 2) << "all of it was in use";
  std::uint64_t made = bufferAllocations();
  {
    const Buffer again(limit / sizeof(float) * 3 / 2);
    EXPECT_EQ(bufferAllocations(), made);
    EXPECT_EQ(idleBufferBytes(), 0u);
  }
  // A buffer that no kept memory fits: keeping both would hold more than was ever in use.
  {
    const Buffer other(limit / sizeof(float) * 3 / 4);
    EXPECT_LE(idleBufferBytes(), limit);
  }
  releaseIdleBuffers();
  EXPECT_EQ(idleBufferBytes(), 0u);
}

TEST(Buffer, KeepsNoMoreThanLimit) {
  releaseIdleBuffers();
  for (std::size_t mebibytes = 100; mebibytes < 1000; mebibytes += mebibytes / 3)
    const Buffer one(mebibytes * kMebibyte);  // too small for the next
  EXPECT_LE(idleBufferBytes(), kMaxIdleBufferBytes);
  EXPECT_GE(idleBufferBytes(), kMaxIdleBufferBytes / 2);
  releaseIdleBuffers();
}

TEST(Buffer, ImpossibleSizesThrow) {
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  for (const std::size_t bytes : {kAll / 4, kAll}) EXPECT_THROW(Buffer{bytes}, std::bad_alloc);
}

TEST(Buffer, AllocatesNothingOnceWarm) {
  using namespace headscope::attention;
  using attention::test::gaussianMatrix;
  AttentionConfig config = attention::test::plainConfig(4, 4, 128);
  config.modelDim = 64;
  const Projections projections = xavierProjections(config, true, 1);
  const Matrix x = gaussianMatrix(512, 64, 2);
  // Each thread of the pool has its own memory, allocated when it first takes part. So the calls continue
  // until five in a row allocate nothing.
  int warm = 0;
  for (int call = 0; call < 200 && warm < 5; ++call) {
    const std::uint64_t before = bufferAllocations();
    const AttentionResult result = attend(config, projections, x, x, {});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(result.weights.data()) % 64, 0u);
    warm = bufferAllocations() == before ? warm + 1 : 0;
  }
  EXPECT_EQ(warm, 5);
  EXPECT_LE(idleBufferBytes(), kMaxIdleBufferBytes);
}

}  // namespace
}  // namespace headscope::attention::kernels::test
