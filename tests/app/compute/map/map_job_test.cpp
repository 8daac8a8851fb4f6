#include "app/pages/map/map_job.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>

#include "attention/masks/plain_rules.h"
#include "render/heatmap.h"

namespace headscope::app::map_page {
namespace {

using attention::Matrix;

constexpr Index kTokens = 1300;  // beyond 1,024 pixels, so that there is a level finer than the overview
constexpr Index kBrightQuery = 877, kBrightKey = 411;

/// Uniform weights except for one cell, which has nearly all of its row.
attention::HeadField fieldFor(Index head) {
  attention::HeadField field;
  field.config.modelDim = field.config.headDim = 4;
  field.config.scale = 1;
  attention::MaskGeometry geometry;
  geometry.queries = geometry.keys = kTokens;
  field.mask.formula = attention::compileRules({.causal = true, .padding = false}, geometry);
  field.q = Matrix::Zero(kTokens, 4);
  field.k = Matrix::Zero(kTokens, 4);
  field.q(kBrightQuery, 0) = 20;
  field.k(kBrightKey, 0) = 1;
  field.k.col(1).setConstant(static_cast<float>(head));  // distinguishes heads without changing a weight
  return field;
}

/// The first 500 queries see no key.
class BlindRows : public attention::MaskFormula {
 public:
  Index heads() const override { return 1; }
  Index queries() const override { return kTokens; }
  Index keys() const override { return kTokens; }
  Index variants() const override { return 1; }
  Index variantOf(Index) const override { return 0; }
  void visibleRuns(Index, Index row, attention::KeyRuns& runs) const override {
    runs.clear();
    if (row >= 500) runs.push_back({0, kTokens});
  }
};

attention::Result<std::optional<MapHead>> small(const MapQuestion& question, std::stop_token) {
  if (question.head == 9) return attention::Error{"head 9 is refused"};
  if (question.head == 8) return std::optional<MapHead>();
  if (question.head == 7) throw std::bad_alloc();
  MapHead head;
  head.field = fieldFor(question.head);
  head.text = std::make_shared<const MapText>();
  return std::optional(std::move(head));
}

MapQuestion asking(Index head) {
  MapQuestion question;
  question.head = head;
  return question;
}

class MapJobs : public testing::Test {
 protected:
  static constexpr std::uint64_t kRoomy = std::uint64_t{64} << 20;
  std::function<void()> wake = [] {};  ///< to be set before the first look()
  Workers workers{[this] { wake(); }};
  /// Requests tiles of the current head, and waits for them.
  void look(Job& job, Index head, std::vector<TilePlace> places, Pooling pooling = Pooling::max) {
    Request request{asking(head), pooling, 0, {}, {}};
    job.look(request);
    workers.finish();
    request.field = job.state()->field;
    request.visible = std::move(places);
    job.look(request);
    workers.finish();
  }
  /// Expects the kept tile to equal the direct computation.
  void expectExact(TileCache& cache, const TileKey& key, Index head) {
    const auto tile = cache.find(key);
    ASSERT_TRUE(tile) << "level " << key.place.level << ", row " << key.place.row << ", col "
                      << key.place.col;
    EXPECT_FALSE(tile->preview);
    attention::HeadMap map(fieldFor(head));
    const Index side = kTileSide * factorOf(key.place.level);
    const Index row = key.place.row * side, col = key.place.col * side;
    const Matrix expected = map.weights(
        {row, col, std::min(side, kTokens - row), std::min(side, kTokens - col), factorOf(key.place.level)},
        key.pooling);
    ASSERT_EQ(tile->values->rows(), expected.rows());
    ASSERT_EQ(tile->values->cols(), expected.cols());
    for (Index i = 0; i < expected.size(); ++i) {
      const float a = tile->values->data()[i], b = expected.data()[i];
      if (std::isinf(b))
        ASSERT_EQ(a, b);
      else  // a mean of means adds at most 1,300 · 1,300 numbers, pairwise by rows
        ASSERT_NEAR(a, b, 64 * std::numeric_limits<float>::epsilon());
    }
  }
  std::vector<TilePlace> allOf(int level) {
    std::vector<TilePlace> places;
    for (Index row = 0; row < tilesAt(kTokens, level); ++row)
      for (Index col = 0; col < tilesAt(kTokens, level); ++col) places.push_back({level, row, col});
    return places;
  }
};

TEST_F(MapJobs, ComputesAllLevelsExactly) {
  TileCache cache(kRoomy);
  Job job(workers, cache, small);
  for (const Pooling pooling : {Pooling::max, Pooling::mean}) {
    look(job, 0, allOf(0), pooling);
    const auto state = job.state();
    ASSERT_FALSE(state->error);
    EXPECT_EQ(state->levels.finest, 1);
    EXPECT_EQ(state->levels.single, 3);
    for (int level = 0; level <= state->levels.single; ++level)
      for (const TilePlace& place : allOf(level)) expectExact(cache, {state->field, pooling, place}, 0);
  }
  EXPECT_EQ(job.progress().seconds, 0);
}

TEST_F(MapJobs, ShowsSingleBrightCellAtEveryLevel) {
  TileCache cache(kRoomy);
  Job job(workers, cache, small);
  look(job, 0, allOf(0));
  for (int level = 0; level <= job.state()->levels.single; ++level) {
    int bright = 0;
    for (const TilePlace& place : allOf(level)) {
      const Matrix& values = *cache.find({job.state()->field, Pooling::max, place})->values;
      for (Index r = 0; r < values.rows(); ++r)
        for (Index c = 0; c < values.cols(); ++c) {
          // The first rows see so few keys that uniform weights are large too.
          const Index row = place.row * kTileSide + r, col = place.col * kTileSide + c;
          if (row * factorOf(level) < 16 || values(r, c) < 0.5f) continue;
          ++bright;
          EXPECT_EQ(row, kBrightQuery / factorOf(level));
          EXPECT_EQ(col, kBrightKey / factorOf(level));
          EXPECT_GT(values(r, c), 0.99f);
        }
    }
    EXPECT_EQ(bright, 1) << "level " << level;
  }
}

TEST_F(MapJobs, BandsGiveSamePictureAsOnePiece) {
  TileCache cache(kRoomy);
  // A preview, and a band for every row of pixels.
  Job job(workers, cache, small, {.preview = 1e5, .band = 1});
  for (const Pooling pooling : {Pooling::mean, Pooling::max}) look(job, 0, {}, pooling);
  EXPECT_GT(job.state()->previewStep, 1);
  for (const Pooling pooling : {Pooling::max, Pooling::mean})
    for (int level = 1; level <= 3; ++level)
      for (const TilePlace& place : allOf(level)) expectExact(cache, {job.state()->field, pooling, place}, 0);
}

TEST_F(MapJobs, ShowsPreviewFirst) {
  TileCache cache(kRoomy);
  std::atomic<int> previews = 0;
  Job* asked = nullptr;
  wake = [&] {
    const auto state = asked->state();
    const auto tile = cache.find({state->field, Pooling::max, {state->levels.single, 0, 0}});
    if (tile && tile->preview) ++previews;
  };
  Job job(workers, cache, small, {.preview = 1e5, .band = 1});
  asked = &job;
  look(job, 0, {});
  EXPECT_GT(previews, 0);
  EXPECT_FALSE(cache.find({job.state()->field, Pooling::max, {3, 0, 0}})->preview);
}

TEST_F(MapJobs, MarksRowsWithoutVisibleKeys) {
  TileCache cache(kRoomy);
  const auto dead = [](const MapQuestion& question, std::stop_token stop) {
    auto head = small(question, stop);
    (*head)->field.mask.formula = std::make_shared<const BlindRows>();
    return head;
  };
  Job job(workers, cache, dead);
  look(job, 0, allOf(0));
  const auto fine = cache.find({job.state()->field, Pooling::max, {0, 0, 0}});
  const auto coarse = cache.find({job.state()->field, Pooling::max, {3, 0, 0}});
  EXPECT_EQ((*fine->values)(0, 0), render::kDeadCell);
  EXPECT_EQ((*coarse->values)(0, 0), render::kDeadCell);
  EXPECT_GT((*coarse->values)(500 / 8, 0), 0) << "some of its rows see a key";
}

TEST_F(MapJobs, ComputesEachTileOnce) {
  TileCache cache(kRoomy);
  Job job(workers, cache, small);
  look(job, 0, allOf(0));
  const TileKey key{job.state()->field, Pooling::max, {0, 2, 1}};
  const std::uint64_t before = cache.find(key)->revision;
  look(job, 0, {{0, 2, 1}, {0, 2, 2}});
  look(job, 0, allOf(0));
  EXPECT_EQ(cache.find(key)->revision, before);
}

TEST_F(MapJobs, ReportsErrorsAndMapsTheNextHead) {
  TileCache cache(kRoomy);
  Job job(workers, cache, small);
  const auto ask = [&](Index head) {
    job.look({asking(head), Pooling::max, 0, {}, {}});
    workers.finish();
    return job.state();
  };
  EXPECT_EQ(ask(9)->error, "head 9 is refused");
  EXPECT_TRUE(ask(8)->empty);
  EXPECT_FALSE(ask(8)->error);
  ASSERT_TRUE(ask(7)->error);
  EXPECT_NE(ask(7)->error->find("memory"), std::string::npos);
  EXPECT_FALSE(ask(1)->error);
  EXPECT_EQ(ask(1)->queries, kTokens);
}

TEST_F(MapJobs, ResumesAfterPause) {
  TileCache cache(kRoomy);
  Job job(workers, cache, small);
  Request request{asking(2), Pooling::max, 0, {}, {}};
  job.look(request);
  job.pause();
  workers.finish();
  job.look(request);
  workers.finish();
  EXPECT_EQ(job.state()->question.head, 2);
}

TEST_F(MapJobs, RandomViewsStayCorrectWithinBudget) {
  std::mt19937 dice(11);
  const std::uint64_t budget = std::uint64_t{6} << 20;  // too little for everything in view
  TileCache cache(budget);
  std::atomic<int> wakes = 0;
  wake = [&] { ++wakes; };
  Job job(workers, cache, small, {.preview = 1e6, .band = 1e5});
  for (int i = 0; i < 400; ++i) {
    Request request{asking(static_cast<Index>(dice() % 80 == 0 ? dice() % 10 : dice() % 2)),
                    dice() % 9 == 0 ? Pooling::mean : Pooling::max,
                    0,
                    {},
                    {}};
    if (dice() % 20 != 0) request.question.head = i / 100;
    if (const auto state = job.state()) request.field = state->field;
    for (Index k = 0; k < static_cast<Index>(dice() % 6); ++k)
      request.visible.push_back({0, static_cast<Index>(dice() % 6), static_cast<Index>(dice() % 6)});
    request.near = {{0, 3, 3}};
    std::vector<TileKey> view;
    for (const TilePlace& place : request.visible) view.push_back({request.field, request.pooling, place});
    cache.keepInView(view);
    dice() % 50 == 0 ? job.pause() : job.look(request);
    if (dice() % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(dice() % 8));
    ASSERT_LE(cache.bytes(), budget);
  }
  cache.keepInView({});
  look(job, 3, {{0, 0, 0}, {0, 4, 2}});
  ASSERT_EQ(job.state()->question.head, 3);
  for (const TilePlace& place : {TilePlace{0, 0, 0}, TilePlace{0, 4, 2}, TilePlace{3, 0, 0}})
    expectExact(cache, {job.state()->field, Pooling::max, place}, 3);
  EXPECT_LE(cache.peakBytes(), budget);
  EXPECT_GT(wakes, 0);
}

TEST_F(MapJobs, ComputesVisibleTilesInOrderThenNeighbours) {
  TileCache cache(kRoomy);
  Job job(workers, cache, small, {.preview = 1e5, .band = 1e6});
  job.look({asking(0), Pooling::max, 0, {}, {}});
  while (!job.state()) std::this_thread::yield();
  const std::vector<TilePlace> visible{{0, 2, 1}, {0, 0, 0}, {0, 3, 3}, {0, 2, 2}},
      near{{0, 5, 5}, {0, 4, 0}};
  const std::uint64_t field = job.state()->field;
  job.look({asking(0), Pooling::max, field, visible, near});
  workers.finish();
  std::uint64_t before = 0;
  for (const auto* places : {&visible, &near})
    for (const TilePlace& place : *places) {
      const std::uint64_t made = cache.find({field, Pooling::max, place})->revision;
      EXPECT_GT(made, before) << "row " << place.row << ", col " << place.col;
      before = made;
    }
  const std::uint64_t overview = cache.find({field, Pooling::max, {1, 2, 2}})->revision;
  EXPECT_GT(cache.find({field, Pooling::max, near[0]})->revision, overview)
      << "the exact overview goes before";
}

TEST_F(MapJobs, StopsBuildingUnwantedHead) {
  TileCache cache(kRoomy);
  std::atomic<bool> begun = false, stopped = false;
  Job job(workers, cache, [&](const MapQuestion& question, std::stop_token stop) {
    if (question.head == 5) {
      begun = true;
      while (!stop.stop_requested()) std::this_thread::yield();  // never ends unless stopped
      stopped = true;
    }
    return small(question, stop);
  });
  job.look({asking(5), Pooling::max, 0, {}, {}});
  while (!begun) std::this_thread::yield();
  job.look({asking(1), Pooling::max, 0, {}, {}});
  workers.finish();
  EXPECT_TRUE(stopped);
  EXPECT_EQ(job.state()->question.head, 1);
}

TEST_F(MapJobs, OtherBackLaneWorkRunsBetweenPieces) {
  TileCache cache(kRoomy);
  std::atomic<double> seen = -1;
  Job* map = nullptr;
  Workers::Job other(workers, [&](std::stop_token) { seen = map->progress().overview; });
  wake = [&] {
    if (seen < 0) other.start(Lane::back);  // after the preview, which is the first piece
  };
  Job job(workers, cache, small, {.preview = 1e5, .band = 1});
  map = &job;
  job.look({asking(0), Pooling::max, 0, {}, {}});
  workers.finish();
  EXPECT_GE(seen, 0);
  EXPECT_LT(seen, 0.1) << "long before the overview was exact";
  EXPECT_FALSE(cache.find({job.state()->field, Pooling::max, {3, 0, 0}})->preview);
}

}  // namespace
}  // namespace headscope::app::map_page
