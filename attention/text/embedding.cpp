#include "attention/text/embedding.h"

#include <fmt/core.h>

#include <cmath>
#include <unordered_map>

#include "attention/core/positions.h"
#include "attention/core/random.h"

namespace headscope::attention {
namespace {

constexpr Index kSmallestPlantedDim = 16;

// Sixteen frequencies easily distinguish several thousand positions (heads/planted.h); further
// dimensions are better spent on identity.
constexpr Index kMinFrequencies = 3, kMaxFrequencies = 16;

// The fastest turns by more than a third of a circle per token, which separates neighbours well. The slowest
// takes 314 tokens for a circle; longer distances follow from the combination of frequencies.
constexpr double kFastest = 2.2, kSlowest = 0.02;

/// Fills part [n, dim] of a matrix with one row per distinct token, using `draw(Random&, row)`.
template <typename Part, typename Draw>
void fillIdentities(const std::vector<Token>& tokens, const EmbeddingOptions& options, Part part, Draw draw) {
  std::unordered_map<std::string, Index> firstRow;
  for (Index i = 0; i < part.rows(); ++i) {
    std::string identity = tokenIdentity(tokens[static_cast<std::size_t>(i)], options.ignoreCase);
    Random random(hashText(identity, options.seed));
    const auto [known, isNew] = firstRow.try_emplace(std::move(identity), i);
    if (isNew) {
      draw(random, part.row(i));
    } else {
      part.row(i) = part.row(known->second);
    }
  }
}

/// Draws Gaussian pairs scaled to length √2 (an odd last dimension to length 1).
template <typename Row>
void drawPairs(Random& random, Row row) {
  for (Index d = 0; d < row.size(); d += 2) {
    const Index width = std::min<Index>(2, row.size() - d);
    float norm = 0;
    while (norm == 0) {
      for (Index k = 0; k < width; ++k) row[d + k] = random.gaussian();
      norm = row.segment(d, width).norm();
    }
    row.segment(d, width) *= std::sqrt(static_cast<float>(width)) / norm;
  }
}

}  // namespace

Result<EmbeddingLayout> plantedLayout(Index modelDim, Index carried) {
  if (modelDim < kSmallestPlantedDim) {
    return Error{
        fmt::format("model dim is {}, but planted heads need at least {}: flags, positions and identity each "
                    "take a part of it",
                    modelDim, kSmallestPlantedDim)};
  }
  EmbeddingLayout layout;
  layout.modelDim = modelDim;
  layout.flags = kFlagCount;
  layout.positions = 2 * std::clamp(modelDim / 6, kMinFrequencies, kMaxFrequencies);
  layout.identity = modelDim - layout.flags - layout.positions;
  if (carried > 0) {
    // Whole pairs, because identity is drawn in pairs of equal length.
    layout.previous = std::max<Index>(2, std::min(carried, layout.identity / 3) / 2 * 2);
    layout.written = layout.identity / 4;
    layout.identity -= layout.previous + layout.written;
  }
  return layout;
}

Matrix embedPlain(const std::vector<Token>& tokens, const EmbeddingOptions& options) {
  require(options.modelDim >= 1, fmt::format("an embedding of width {} was requested", options.modelDim));
  const auto n = static_cast<Index>(tokens.size());
  Matrix x(n, options.modelDim);
  if (n == 0) return x;
  fillIdentities(tokens, options, x.leftCols(options.modelDim), [](Random& random, auto row) {
    for (Index d = 0; d < row.size(); ++d) row[d] = random.gaussian();
  });
  if (options.sinusoidal) x += sinusoidalPositions(options.first, n, options.modelDim);
  return x;
}

Matrix embedPlanted(const std::vector<Token>& tokens, const EmbeddingLayout& layout,
                    const EmbeddingOptions& options) {
  require(
      layout.flags == kFlagCount && layout.writtenAt() + layout.written == layout.modelDim,
      fmt::format("planted embedding: the layout's parts do not add up to its width of {}", layout.modelDim));
  require(options.modelDim == layout.modelDim,
          fmt::format("planted embedding of width {} in a layout of width {}", options.modelDim,
                      layout.modelDim));
  const auto n = static_cast<Index>(tokens.size());
  Matrix x = plantedPositions(layout, options.first, n, options.sinusoidal);
  if (n == 0) return x;
  x.col(kFlagOne).setOnes();
  for (Index i = 0; i < n; ++i)
    x(i, kFlagSeparator) = tokens[static_cast<std::size_t>(i)].separator ? 1.0f : 0.0f;
  fillIdentities(tokens, options, x.middleCols(layout.identityAt(), layout.identity),
                 [](Random& random, auto row) { drawPairs(random, row); });
  return x;
}

Matrix plantedPositions(const EmbeddingLayout& layout, Index first, Index count, bool sinusoidal) {
  Matrix x = Matrix::Zero(count, layout.modelDim);
  if (first == 0 && count > 0) x(0, kFlagFirst) = 1;
  if (!sinusoidal) return x;
  const std::vector<double> frequencies = plantedFrequencies(layout);
  for (std::size_t f = 0; f < frequencies.size(); ++f) {
    const Index d = layout.positionsAt() + 2 * static_cast<Index>(f);
    for (Index i = 0; i < count; ++i) {
      const double angle = static_cast<double>(first + i) * frequencies[f];
      x(i, d) = static_cast<float>(std::sin(angle));
      x(i, d + 1) = static_cast<float>(std::cos(angle));
    }
  }
  return x;
}

std::vector<double> plantedFrequencies(const EmbeddingLayout& layout) {
  const Index count = layout.positions / 2;
  std::vector<double> frequencies;
  for (Index f = 0; f < count; ++f) {
    const double share = count == 1 ? 0 : static_cast<double>(f) / static_cast<double>(count - 1);
    frequencies.push_back(kFastest * std::pow(kSlowest / kFastest, share));
  }
  return frequencies;
}

}  // namespace headscope::attention
