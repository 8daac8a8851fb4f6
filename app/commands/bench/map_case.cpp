#include <memory>
#include <utility>

#include "app/commands/bench/bench.h"
#include "app/commands/bench/stopwatch.h"
#include "app/pages/map/map_job.h"
#include "attention/core/random.h"

namespace headscope::app {
namespace {

using attention::HeadField;
using attention::HeadMap;
using attention::Index;
using attention::MapPart;
using attention::Matrix;
using attention::Pooling;

constexpr Index kOverviewSide = 1024;  // pixels
constexpr int kTiles = 40;

Index overviewFactor(Index tokens) {
  Index factor = 1;
  while ((tokens + factor - 1) / factor > kOverviewSide) factor *= 2;
  return factor;
}

/// Tiles anywhere on the head; if it is causal, only on and below the diagonal.
class TilePlaces {
 public:
  TilePlaces(Index tokens, bool causal)
      : last_(tokens > map_page::kTileSide ? tokens - map_page::kTileSide : 0), causal_(causal) {}
  MapPart next() {
    Index row = draw(), key = draw();
    if (causal_ && key > row) std::swap(row, key);
    const Index side = std::min(map_page::kTileSide, last_ + map_page::kTileSide);
    return {row, key, side, side, 1};
  }

 private:
  Index draw() { return static_cast<Index>(random_.uniform() * static_cast<double>(last_ + 1)); }
  attention::Random random_{5};
  Index last_;
  bool causal_;
};

std::vector<double> runMap(const HeadField& field, TilePlaces& places) {
  HeadMap map(field);
  const Index n = map.queries(), factor = overviewFactor(n);
  const double preview = secondsOf([&] { map.preview(factor, Pooling::max, map_page::Effort().preview); });
  const MapPart first = places.next();
  const double unknown = secondsOf([&] { map.weights(first, Pooling::max); });
  const double exact = secondsOf([&] { map.weights({0, 0, n, n, factor}, Pooling::max); });
  std::vector<double> tiles;
  for (int i = 0; i < kTiles; ++i) {
    const MapPart part = places.next();
    tiles.push_back(secondsOf([&] { map.weights(part, Pooling::max); }));
  }
  return {medianOf(std::move(tiles)), unknown, preview, exact};
}

}  // namespace

HeadField randomField(const BenchShape& shape) {
  HeadField field;
  field.config = shape.config;
  field.mask = benchMask(shape, shape.mapTokens, shape.mapTokens);
  attention::Random random(3);
  for (Matrix* matrix : {&field.q, &field.k}) {
    matrix->resize(shape.mapTokens, shape.config.headDim);
    for (Index i = 0; i < matrix->size(); ++i) matrix->data()[i] = random.gaussian();
  }
  return field;
}

BenchCase mapCase(const BenchShape& shape) {
  const auto side = static_cast<double>(std::min(map_page::kTileSide, shape.mapTokens));
  const auto perPair = 2 * static_cast<double>(shape.config.headDim);  // Q·Kᵀ
  const double pairs = visiblePairs(shape.causal, shape.mapTokens);
  using Kind = BenchWork::Kind;
  BenchCase result;
  result.lines = {{"tile", "tile of 256×256 weights", {Kind::flop, perPair * side * side}},
                  {"tile_first", "the first tile in its rows", {}},
                  {"preview", "overview, preview", {}},
                  {"overview", "overview, exact", {Kind::flop, perPair * pairs}}};
  const auto field = std::make_shared<const HeadField>(randomField(shape));
  result.run = [field, places = std::make_shared<TilePlaces>(shape.mapTokens, shape.causal)] {
    return runMap(*field, *places);
  };
  result.prepared = result.lines.back();
  result.prepare = [field] {
    const auto map = std::make_shared<HeadMap>(*field);
    const Index n = map->queries();
    return [map, n] { map->weights({0, 0, n, n, overviewFactor(n)}, Pooling::max); };
  };
  return result;
}

}  // namespace headscope::app
