#include "app/compute/layer/layer.h"

namespace headscope::app {

ComputedLayer::ComputedLayer(Workers& workers, Resources& resources)
    : answer_(workers,
              [this, &resources](const Setup& setup, std::stop_token stop) -> attention::Result<Snapshot> {
                attention::Result<Snapshot> computed =
                    compute_ ? compute_(setup, resources, stop) : computeSnapshot(setup, resources, stop);
                if (computed.ok() && prepare_) prepare_(*computed, stop);
                return computed;
              }) {}

void ComputedLayer::forget() {
  answer_.forget();
  taken_.reset();
  snapshot_.reset();
}

bool ComputedLayer::take() {
  const auto answer = answer_.current();
  if (!answer || answer == taken_) return false;
  taken_ = answer;
  if (answer->value.ok()) {
    snapshot_ = std::shared_ptr<const Snapshot>(answer, &*answer->value);
    return true;
  }
  auto failed = std::make_shared<Snapshot>();
  failed->setup = answer->request;
  failed->error = PlacedError{Place::memory, answer->value.error().message};
  snapshot_ = std::move(failed);
  return true;
}

}  // namespace headscope::app
