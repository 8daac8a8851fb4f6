#pragma once

#include <functional>
#include <stop_token>

#include "attention/core/tensor.h"

namespace headscope::attention {

/// Calls task(i) once for each i below `count` on the threads that the kernels use, in any order, and returns
/// when all are done. `stop` is asked before each; once it is requested the rest are left out and the answer
/// is false. The first exception of a task is thrown on.
bool forEach(Index count, const std::stop_token& stop, const std::function<void(Index)>& task);

/// While one lives, parallel work of the thread that made it waits, between slices of a few milliseconds, as
/// long as others have foreground work. Such a thread must hold no lock meanwhile that the foreground wants.
class BackgroundThread {
 public:
  BackgroundThread();
  ~BackgroundThread();
  BackgroundThread(const BackgroundThread&) = delete;
  BackgroundThread& operator=(const BackgroundThread&) = delete;
};

/// While one lives there is foreground work, also between parallel parts.
class ForegroundWork {
 public:
  ForegroundWork();
  ~ForegroundWork();
  ForegroundWork(const ForegroundWork&) = delete;
  ForegroundWork& operator=(const ForegroundWork&) = delete;
};

}  // namespace headscope::attention
