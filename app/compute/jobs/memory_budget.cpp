#include "app/compute/jobs/memory_budget.h"

#include "attention/core/machine.h"

namespace headscope::app {

Limits defaultLimits() {
  return {std::min<std::uint64_t>(attention::machineMemory() / 2, std::uint64_t{6} << 30)};
}

struct MemoryBudget::State {
  explicit State(std::uint64_t bytes) : total(bytes) {}

  const std::uint64_t total;
  std::mutex mutex;
  std::condition_variable_any returned;
  std::uint64_t used = 0;
  int waiting = 0;  ///< number of waiting reservations
  std::function<void()> tell;

  bool fits(std::uint64_t bytes) const { return bytes <= total && used <= total - bytes; }

  /// The owner of a MemoryShare's bytes. Made before anything is counted, because its allocation may fail.
  struct Share {
    explicit Share(std::shared_ptr<State> owner) : state(std::move(owner)) {}
    ~Share() {
      const std::lock_guard lock(state->mutex);
      state->used -= bytes;
      state->returned.notify_all();
    }
    const std::shared_ptr<State> state;
    std::uint64_t bytes = 0;
  };
  static MemoryShare handle(const std::shared_ptr<Share>& share) { return {share, &share->bytes}; }
};

MemoryBudget::MemoryBudget(std::uint64_t bytes) : state_(std::make_shared<State>(bytes)) {}

std::uint64_t MemoryBudget::total() const {
  return state_->total;
}

std::uint64_t MemoryBudget::used() const {
  const std::lock_guard lock(state_->mutex);
  return state_->used;
}

MemoryShare MemoryBudget::count(std::uint64_t bytes) const {
  const auto share = std::make_shared<State::Share>(state_);
  const std::lock_guard lock(state_->mutex);
  state_->used += share->bytes = bytes;
  return State::handle(share);
}

MemoryShare MemoryBudget::reserve(std::uint64_t bytes, std::stop_token stop,
                                  std::chrono::milliseconds patience) const {
  if (bytes > state_->total) return nullptr;
  const auto share = std::make_shared<State::Share>(state_);
  std::unique_lock lock(state_->mutex);
  if (!state_->fits(bytes)) {
    ++state_->waiting;
    lock.unlock();  // the callback may query the budget
    if (state_->tell) state_->tell();
    lock.lock();
    const bool fits = state_->returned.wait_for(lock, stop, patience, [&] { return state_->fits(bytes); });
    --state_->waiting;
    if (!fits) {
      lock.unlock();  // the destructor of the empty share takes the lock
      return nullptr;
    }
  }
  state_->used += share->bytes = bytes;
  return State::handle(share);
}

bool MemoryBudget::hasWaiters() const {
  const std::lock_guard lock(state_->mutex);
  return state_->waiting > 0;
}

void MemoryBudget::onShortage(std::function<void()> tell) {
  state_->tell = std::move(tell);
}

namespace {

std::uint64_t bytesOf(const attention::MappedLinear& map) {
  std::uint64_t bytes = 0;
  for (const auto& piece : map.pieces) {
    const std::size_t numbers =
        static_cast<std::size_t>(map.out) / map.pieces.size() * static_cast<std::size_t>(map.in);
    bytes += attention::kernels::weightBytes(piece.type, numbers);
    if (piece.scales) bytes += numbers / attention::kernels::weightBlock(piece.type).numbers;
  }
  return bytes;
}

std::uint64_t rowBytes(const attention::MappedRows& table, attention::Index rows) {
  return attention::kernels::weightBytes(table.type, static_cast<std::size_t>(std::min(rows, table.rows)) *
                                                         static_cast<std::size_t>(table.cols));
}

}  // namespace

std::uint64_t bytesRead(const attention::Model& model, attention::Index layers, bool head,
                        attention::Index tokens) {
  const attention::ModelWeights& weights = model.weights();
  // Upper bound on the experts that the tokens can reach.
  const attention::Mixture& mixture = model.config().mixture;
  const attention::Index experts =
      tokens >= mixture.experts ? mixture.experts : std::min(tokens * mixture.used, mixture.experts);
  std::uint64_t bytes = rowBytes(weights.positions, tokens);
  for (attention::Index i = 0; i < layers; ++i) {
    const auto& layer = weights.layers[static_cast<std::size_t>(i)];
    for (const auto* map : attention::mapsOfToken(layer, experts)) bytes += bytesOf(*map);
  }
  // If the head shares the embedding matrix, the embedding rows are already counted.
  const bool tied = weights.head && !weights.head->pieces.empty() &&
                    weights.head->pieces.front().data == weights.embedding.data;
  if (head && weights.head) bytes += bytesOf(*weights.head);
  if (!(head && tied)) bytes += rowBytes(weights.embedding, tokens);
  return bytes;
}

}  // namespace headscope::app
