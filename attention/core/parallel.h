#pragma once

#include <functional>
#include <stop_token>

#include "attention/core/tensor.h"
#include "attention/kernels/pool.h"

namespace headscope::attention {

/// Calls task(i) once for each i below `count` on the kernel threads, in any order, and returns when all are
/// done. Checks `stop` before each task; once it is requested, skips the rest and returns false. Rethrows
/// the first exception of a task.
inline bool forEach(Index count, const std::stop_token& stop, const std::function<void(Index)>& task) {
  return kernels::sharedPool().run(asSize(count), stop, [&](std::size_t i) { task(static_cast<Index>(i)); });
}

/// Marks the creating thread as background for the object's lifetime: between slices of a few milliseconds,
/// its parallel work pauses while other threads have foreground work. The thread must not hold a lock that
/// the foreground needs.
class BackgroundThread {
 public:
  BackgroundThread() { kernels::sharedPool().beginBackground(); }
  ~BackgroundThread() { kernels::sharedPool().endBackground(); }
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;
};

/// Declares foreground work for the object's lifetime, including the time between parallel parts.
class ForegroundWork {
 public:
  ForegroundWork() { kernels::sharedPool().beginForeground(); }
  ~ForegroundWork() { kernels::sharedPool().endForeground(); }
  ForegroundWork(const ForegroundWork&) = delete;
  ForegroundWork& operator=(const ForegroundWork&) = delete;
};

}  // namespace headscope::attention
