#include <fmt/core.h>

#include <cmath>
#include <numeric>

#include "attention/core/random.h"
#include "attention/models/session.h"

namespace headscope::attention {
namespace {

/// Ids by descending logit, then ascending id, without those that are −inf or NaN; at most `most`, 0 = all.
std::vector<Index> ranked(const Eigen::Ref<const Eigen::RowVectorXf>& logits, Index most) {
  std::vector<Index> ids;
  for (Index id = 0; id < logits.size(); ++id)
    if (!std::isnan(logits[id]) && logits[id] > -std::numeric_limits<float>::infinity()) ids.push_back(id);
  const auto count = std::min<std::ptrdiff_t>(most > 0 ? most : std::ssize(ids), std::ssize(ids));
  std::partial_sort(ids.begin(), ids.begin() + count, ids.end(),
                    [&](Index a, Index b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; });
  ids.resize(static_cast<std::size_t>(count));
  return ids;
}

}  // namespace

Status validate(const Sampling& sampling) {
  if (!(sampling.temperature >= 0) || !std::isfinite(sampling.temperature))
    return Error{fmt::format("temperature is {}, expected a number of at least 0", sampling.temperature)};
  if (sampling.topK < 0) return Error{fmt::format("top-k is {}, expected at least 0", sampling.topK)};
  if (!(sampling.topP > 0 && sampling.topP <= 1))
    return Error{fmt::format("top-p is {}, expected above 0 and at most 1", sampling.topP)};
  return success();
}

Result<Index> chooseToken(const Eigen::Ref<const Eigen::RowVectorXf>& logits, const Sampling& sampling,
                          Index position) {
  const bool greedy = sampling.temperature == 0;
  const std::vector<Index> ids = ranked(logits, greedy ? 1 : sampling.topK);
  if (ids.empty()) return Error{"the model's logits are not numbers, so no token can be chosen"};
  // An infinite logit wins at any temperature.
  if (greedy || std::isinf(logits[ids[0]])) return ids[0];
  std::vector<double> weights;
  for (const Index id : ids)
    weights.push_back(std::exp((double{logits[id]} - double{logits[ids[0]]}) / sampling.temperature));
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  double kept = 0;
  std::size_t count = 0;
  while (count < weights.size() && kept < sampling.topP * all) kept += weights[count++];
  Random random(mixSeed(sampling.seed, static_cast<std::uint64_t>(position)));
  double left = random.uniform() * kept;
  for (std::size_t i = 0; i < count; ++i)
    if ((left -= weights[i]) < 0) return ids[i];
  return ids[std::max<std::size_t>(count, 1) - 1];
}

Status generate(ModelSession& session, Matrix logits, Index count, const Sampling& sampling,
                const PassRequest& request,
                const std::function<bool(Index id, const PassResult& pass)>& onToken,
                const std::stop_token& stop) {
  if (const Status status = validate(sampling); !status) return status;
  if (!session.model().predictsTokens()) return Error{session.model().whyNoPredictions()};
  const ModelConfig& config = session.model().config();
  const auto& ends = config.endTokens;
  const Index given = session.length();
  PassRequest next = request;
  next.logits = LogitRows::last;
  for (Index i = 0; i < count; ++i) {
    require(logits.rows() >= 1, "generation needs the last row's logits");
    Eigen::RowVectorXf last = logits.row(logits.rows() - 1);
    applyRules(config.generation, {session.tokens(), given, ends}, last);
    const auto id = chooseToken(last, sampling, session.length());
    if (!id) return id.error();
    auto pass = session.append({&*id, 1}, next, stop);
    if (!pass) return pass.error();
    if (!onToken(*id, *pass) || std::find(ends.begin(), ends.end(), *id) != ends.end()) return success();
    logits = std::move(pass->logits);
  }
  return success();
}

}  // namespace headscope::attention
