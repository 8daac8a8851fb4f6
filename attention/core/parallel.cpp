#include "attention/core/parallel.h"

#include "attention/kernels/pool.h"

namespace headscope::attention {

bool forEach(Index count, const std::stop_token& stop, const std::function<void(Index)>& task) {
  return kernels::sharedPool().run(static_cast<std::size_t>(count), stop,
                                   [&](std::size_t i) { task(static_cast<Index>(i)); });
}

BackgroundThread::BackgroundThread() {
  kernels::sharedPool().beginBackground();
}
BackgroundThread::~BackgroundThread() {
  kernels::sharedPool().endBackground();
}

ForegroundWork::ForegroundWork() {
  kernels::sharedPool().beginForeground();
}
ForegroundWork::~ForegroundWork() {
  kernels::sharedPool().endForeground();
}

}  // namespace headscope::attention
