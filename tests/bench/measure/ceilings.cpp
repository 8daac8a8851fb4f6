#include "tests/bench/measure/ceilings.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <numeric>
#include <vector>

#include "attention/kernels/buffer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "tests/bench/measure/ceilings.cpp"
#include "hwy/foreach_target.h"
// Must follow foreach_target.h, which sets the target to compile for.
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace headscope::app::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lane = hn::ScalableTag<float>;
using Lanes = hn::Vec<Lane>;
using std::size_t;

/// Runs `turns` multiply-adds on each of twelve vectors. Stores their sum, so nothing is optimised away;
/// returns the number of lanes.
size_t multiplyAdds(size_t turns, float* sum) {
  const Lane d;
  constexpr size_t kChains = 12;  // more than the units' latency times their number
  const Lanes factor = hn::Set(d, 0.999f), added = hn::Set(d, 0.001f);
  Lanes chains[kChains];
  HWY_UNROLL(12)
  for (size_t c = 0; c < kChains; ++c) chains[c] = hn::Set(d, 0.1f * static_cast<float>(c));
  for (size_t turn = 0; turn < turns; ++turn) {
    HWY_UNROLL(12)
    for (size_t c = 0; c < kChains; ++c) chains[c] = hn::MulAdd(chains[c], factor, added);
  }
  Lanes total = hn::Zero(d);
  HWY_UNROLL(12)
  for (size_t c = 0; c < kChains; ++c) total = hn::Add(total, chains[c]);
  *sum = hn::GetLane(hn::SumOfLanes(d, total));
  return kChains * hn::Lanes(d);
}

/// Returns the sum of `count` floats, which may be unaligned, read once. Leaves out the last ones that don't
/// fill four vectors.
float readThrough(const void* from, size_t count) {
  const Lane d;
  const size_t n = hn::Lanes(d);
  const auto* const values = static_cast<const float*>(from);
  Lanes a = hn::Zero(d), b = a, c = a, e = a;
  for (size_t i = 0; i + 4 * n <= count; i += 4 * n) {
    a = hn::Add(a, hn::LoadU(d, values + i));
    b = hn::Add(b, hn::LoadU(d, values + i + n));
    c = hn::Add(c, hn::LoadU(d, values + i + 2 * n));
    e = hn::Add(e, hn::LoadU(d, values + i + 3 * n));
  }
  return hn::GetLane(hn::SumOfLanes(d, hn::Add(hn::Add(a, b), hn::Add(c, e))));
}

}  // namespace headscope::app::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headscope::app {
namespace {

using attention::kernels::Buffer;
using attention::kernels::Pool;

HWY_EXPORT(multiplyAdds);
HWY_EXPORT(readThrough);

template <typename Work>
double bestSeconds(int rounds, Work work) {
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    work();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

}  // namespace

float readOnce(Pool& pool, std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kPart = std::size_t{1} << 20;
  std::vector<float> sums((bytes.size() + kPart - 1) / kPart);
  pool.run(sums.size(), {}, [&](std::size_t i) {
    const std::span<const std::uint8_t> part =
        bytes.subspan(i * kPart, std::min(kPart, bytes.size() - i * kPart));
    sums[i] = HWY_DYNAMIC_DISPATCH(readThrough)(part.data(), part.size() / sizeof(float));
  });
  return std::accumulate(sums.begin(), sums.end(), 0.0f);
}

namespace {

double fmaCeiling(Pool& pool) {
  constexpr std::size_t kTurns = 400'000;
  const auto tasks = static_cast<std::size_t>(pool.threads());
  std::vector<float> sums(tasks);
  std::size_t lanes = 0;
  const double seconds = bestSeconds(9, [&] {
    pool.run(tasks, {}, [&](std::size_t i) {
      const std::size_t each = HWY_DYNAMIC_DISPATCH(multiplyAdds)(kTurns, &sums[i]);
      if (i == 0) lanes = each;
    });
  });
  return 2.0 * static_cast<double>(kTurns * lanes * tasks) / seconds;
}

double readCeiling(Pool& pool) {
  constexpr std::size_t kFloats = std::size_t{64} << 20;
  const Buffer buffer(kFloats);
  std::fill_n(buffer.data(), kFloats, 1.0f);
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(buffer.data()), kFloats * sizeof(float));
  volatile float sum = 0;
  const double seconds = bestSeconds(7, [&] { sum = readOnce(pool, bytes); });
  return static_cast<double>(bytes.size()) / seconds;
}

}  // namespace

MachineCeilings measureCeilings() {
  Pool& pool = attention::kernels::sharedPool();
  return {fmaCeiling(pool), readCeiling(pool)};
}

}  // namespace headscope::app
#endif
