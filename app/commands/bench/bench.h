#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "attention/core/config.h"
#include "attention/core/decode.h"
#include "attention/core/head_map.h"
#include "attention/core/machine.h"
#include "attention/core/mask.h"
#include "attention/core/result.h"

namespace headscope::app {

constexpr int kBenchWidth = 1920, kBenchHeight = 1080;  ///< of the pictures that are drawn for a figure

/// What `headscope bench` measures.
struct BenchShape {
  attention::AttentionConfig config;
  bool causal = false;
  attention::Index tokens = 512;
  attention::Index cached = 8192;  ///< tokens a decode step attends to
  attention::CacheType cachedAs = attention::CacheType::f32;
  attention::Index mapTokens = 32768;  ///< length of the head whose map is drawn
};

/// Parts of the bench that can be run alone.
struct BenchParts {
  bool forward = true, decode = true, map = true, window = true;
  bool patches = true;  ///< of a whole model
};

/// What one run of something works through, counted by definition and not by what a kernel happens to do.
struct BenchWork {
  enum class Kind { none, flop, bytes } kind = Kind::none;
  double amount = 0;
};

/// One line of the report, before it is measured.
struct BenchLine {
  std::string name;     ///< as JSON has it: "forward_weights"
  std::string meaning;  ///< as the table has it: "forward, all weights stored"
  BenchWork work;
};

/// Something that is run once a round and says how long each of its lines took.
struct BenchCase {
  std::vector<BenchLine> lines;
  std::function<std::vector<double>()> run;  ///< seconds, one for each line
  BenchLine prepared{};                      ///< the line that `prepare` makes ready
  /// Gets the work of that line ready and returns it, to be done once; not of all cases.
  std::function<std::function<void()>()> prepare{};
};

/// One line, measured.
struct BenchRow {
  BenchLine line;
  double seconds = 0;               ///< median over the rounds
  double fastest = 0, slowest = 0;  ///< seconds
  double share = 0;                 ///< of the ceiling of its round, median; 0 where it has none
  double rate() const { return seconds > 0 ? line.work.amount / seconds : 0; }
};

struct BenchReport {
  std::string title;                ///< what was measured, in a line
  std::optional<BenchShape> shape;  ///< none of a whole model
  int rounds = 0;
  attention::MachineCeilings ceilings;  ///< medians
  std::vector<BenchRow> rows;
  std::string omitted;  ///< why the window was not measured, one sentence; "" where it was
  std::uint64_t peakBytes = 0;
};

/// Multiply-adds as two operations each: projections, scores of visible pairs, weighted values, output.
double forwardFlop(const BenchShape& shape);
/// What each of `tokens` queries, the last ones of `keys` tokens, sees.
attention::MaskInput benchMask(const BenchShape& shape, attention::Index tokens, attention::Index keys);
/// A decode step of the bench reads another cache each time: together they are larger than what processors
/// keep, so that its share of the bandwidth means memory.
inline constexpr std::uint64_t kRotatedBytes = std::uint64_t{512} << 20;
attention::Index rotatedCaches(const BenchShape& shape);
/// Bytes of one of them.
std::uint64_t cachedBytes(const BenchShape& shape);
/// As options and JSON name them: "fp32", "fp16", "bf16".
inline constexpr std::array<const char*, 3> kCacheTypeNames{"fp32", "fp16", "bf16"};
/// Pairs of a query and a key that the query sees, of n tokens.
double visiblePairs(bool causal, attention::Index tokens);
/// The shape in a line.
std::string benchTitle(const BenchShape& shape);
/// Memory that measuring holds at once, in bytes.
double benchBytes(const BenchShape& shape, const BenchParts& parts);

/// Forward pass and decode step.
std::vector<BenchCase> layerCases(const BenchShape& shape, const BenchParts& parts);
/// One head of `mapTokens` tokens, of random numbers.
attention::HeadField randomField(const BenchShape& shape);
/// Tile and overview of one head of `mapTokens` tokens.
BenchCase mapCase(const BenchShape& shape);
/// From the start to the first picture, from a slider to pixels, alone and while an overview of `mapTokens`
/// tokens is made, and other frames, 1920×1080 in a
/// framebuffer. Throws std::runtime_error where there is no OpenGL, and where the shape is none the window
/// can have.
BenchCase windowCase(const BenchShape& shape);

/// Runs every case once a round, each round beginning with another one.
BenchReport runBench(const BenchShape& shape, const BenchParts& parts, int rounds);

/// Runs these cases once a round, each round beginning with another one.
BenchReport runCases(const std::vector<BenchCase>& cases, int rounds);

/// A checkpoint: opening it, alone and with the first layer of `tokens` random tokens; of `parts` a pass over
/// them with all attention kept, a decode step behind them beside reading all weights once, and patches.
/// Errors: what can't be opened, and more tokens than the model has positions.
attention::Result<BenchReport> benchModel(const std::filesystem::path& folder, attention::Index tokens,
                                          const BenchParts& parts, int rounds);

/// Every step of the lessons that come with the program, from a key to its complete picture in the window's
/// frames, and a claim over many weights. Throws std::runtime_error where there is no OpenGL, and for lessons
/// that can't be read or computed.
BenchReport benchLessons(int rounds);

/// An aligned table for people.
std::string benchTable(const BenchReport& report);
/// The same as JSON; the manual has its keys, assets/manual/speed.md.
std::string benchJson(const BenchReport& report);

}  // namespace headscope::app
