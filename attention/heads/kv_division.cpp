#include "attention/heads/kv_division.h"

#include <fmt/core.h>

#include <algorithm>

#include "attention/core/noun.h"

namespace headscope::attention {
namespace {

constexpr Index kMinPositions = 2, kMinIdentity = 2;
// With fewer dimensions, a same-token head that also reads positions has too few left to recognise tokens.
constexpr Index kRoomForBoth = 8;

bool readsPositions(const PlantedHead& head) {
  return head.behaviour == Behaviour::offset || head.behaviour == Behaviour::localBand;
}

/// Returns `count` of `total` frequencies, spread from the fastest to the slowest.
std::vector<Index> spreadOut(Index total, Index count) {
  std::vector<Index> chosen;
  for (Index f = 0; f < count; ++f) {
    chosen.push_back(count == 1 ? 0 : (f * (total - 1) + (count - 1) / 2) / (count - 1));
  }
  return chosen;
}

std::string misfit(const AttentionConfig& config, Index kvHead, const Division& flags, bool positions,
                   bool identity, bool previous, Index needed) {
  std::string parts;
  const auto add = [&](Index count, const char* what) {
    parts += fmt::format("{}{} for {}", parts.empty() ? "" : ", ", count, what);
  };
  if (flags.first) add(1, "the first-token flag");
  if (flags.separator) add(1, "the separator flag");
  if (positions) add(2 * kMinPositions, "positions");
  if (identity) add(kMinIdentity, "token identity");
  if (previous) add(kMinIdentity, "the previous token's identity");
  const Index group = config.groupSize(), from = kvHead * group;
  const std::string readers =
      group == 1 ? fmt::format(" serves head {}, which needs ", from)
                 : fmt::format(" is shared by heads {}–{}, which need ", from, from + group - 1);
  return fmt::format(
      "kv head {}{}{} ({}), but head size is {}: choose a larger head size or fewer behaviours", kvHead,
      readers, counted(needed, "dimension"), parts, config.headDim);
}

}  // namespace

Result<Division> divide(const AttentionConfig& config, const EmbeddingLayout& layout,
                        std::span<const PlantedHead> group, Index kvHead) {
  const auto has = [&](Behaviour behaviour) {
    return std::ranges::find(group, behaviour, &PlantedHead::behaviour) != group.end();
  };
  Division division;
  // If no layer writes the previous token, an induction head has nothing to read.
  const bool induction = has(Behaviour::induction) && layout.previous > 0;
  division.first = has(Behaviour::firstToken) || induction;
  division.separator = has(Behaviour::separator);
  const bool positions = std::ranges::any_of(group, readsPositions), identity = has(Behaviour::sameToken);
  const Index needed = division.positionsAt() + (positions ? 2 * kMinPositions : 0) +
                       (identity ? kMinIdentity : 0) + (induction ? kMinIdentity : 0);
  if (needed > config.headDim) {
    return Error{misfit(config, kvHead, division, positions, identity, induction, needed)};
  }
  Index room = config.headDim - division.positionsAt();
  if (induction) {
    const Index readers = 1 + (positions ? 1 : 0) + (identity ? 1 : 0);
    division.previous =
        std::clamp(room / readers / 2 * 2, kMinIdentity, std::max(kMinIdentity, layout.previous));
    room -= division.previous;
  }
  const bool both = (positions && (identity || has(Behaviour::random))) || (identity && room >= kRoomForBoth);
  Index frequencies = 0;
  if (both) {
    // Few frequencies suffice for a sharp peak, but every identity dimension helps to tell words apart.
    const Index most = identity ? (room - kMinIdentity) / 2 : room / 2;
    frequencies = std::clamp(room / 5 + 1, kMinPositions, most);
  } else if (positions) {
    frequencies = room / 2;
  }
  frequencies = std::min(frequencies, layout.positions / 2);
  division.frequencies = spreadOut(layout.positions / 2, frequencies);
  division.identity = std::min(room - 2 * frequencies, layout.identity);
  return division;
}

}  // namespace headscope::attention
