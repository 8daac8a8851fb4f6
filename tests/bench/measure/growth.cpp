#include "tests/bench/measure/growth.h"

#include <fmt/core.h>

#include <exception>

#include "app/scene/text/number_text.h"
#include "app/session/headless.h"
#include "app/widgets/paint.h"
#include "app/widgets/panel.h"
#include "app/widgets/plot.h"
#include "attention/kernels/targets.h"
#include "tests/bench/measure/bench.h"

namespace headscope::app {
namespace {

using attention::Index;

constexpr double kMaxSeconds = 15;  // no larger size is tried after a run this long
constexpr Index kMinTokens = 16, kMostHeads = 64;

BenchShape shapeOf(Index tokens, Index heads) {
  BenchShape shape;
  shape.config.modelDim = 512;
  shape.config.heads = shape.config.kvHeads = heads;
  shape.config.headDim = 64;
  shape.causal = true;
  shape.tokens = shape.cached = shape.mapTokens = tokens;
  return shape;
}

/// What is measured: how to run a layer of a given shape once, and what it holds.
struct Work {
  const char* name;
  const char* line;  ///< name of the measured line of the case
  BenchParts parts;
  BenchCase (*make)(const BenchShape&);
  double (*bytes)(const BenchShape&);  ///< null = not counted
  Index maxTokens;
  double most;     ///< theoretical exponent over tokens
  int before = 0;  ///< runs before it that aren't counted: the system clears new pages
};

/// Bytes of a forward pass that doesn't keep its weights, and of one that does.
double outputBytes(const BenchShape& shape) {
  const double scoresAndWeights = 2 * sizeof(float) * static_cast<double>(shape.config.heads) *
                                  static_cast<double>(shape.tokens) * static_cast<double>(shape.tokens);
  return static_cast<double>(attention::attentionResultBytes(shape.config, shape.tokens, shape.tokens)) -
         scoresAndWeights;
}
double weightsBytes(const BenchShape& shape) {
  return outputBytes(shape) + sizeof(float) * static_cast<double>(shape.config.heads) *
                                  static_cast<double>(shape.tokens) * static_cast<double>(shape.tokens);
}
double cacheBytes(const BenchShape& shape) {
  return static_cast<double>(cachedBytes(shape));
}
double mapBytes(const BenchShape& shape) {
  return static_cast<double>(attention::headMapBytes(shape.mapTokens, shape.mapTokens, shape.config.headDim));
}

constexpr Index kAny = Index{1} << 20;
const Work kForward{"forward, all weights",
                    "forward_weights",
                    {true, false, false, false},
                    [](const BenchShape& shape) {
                      return layerCases(shape, {true, false, false, false})[0];
                    },
                    weightsBytes,
                    kAny,
                    2,
                    1};
const Work kForwardOutput{"forward, output alone",
                          "forward",
                          {false, false, false, false},
                          [](const BenchShape& shape) {
                            return layerCases(shape, {true, false, false, false})[1];
                          },
                          outputBytes,
                          kAny,
                          2,
                          1};
const Work kDecode{"decode step",
                   "decode",
                   {false, true, false, false},
                   [](const BenchShape& shape) {
                     return layerCases(shape, {false, true, false, false})[0];
                   },
                   cacheBytes,
                   kAny,
                   1};
const Work kOverview{
    "exact overview of a head", "overview", {false, false, true, false}, mapCase, mapBytes, kAny, 2};
const Work kFrame{
    "slider to pixels", "slider_to_pixels", {true, false, true, true}, windowCase, nullptr, kMaxTokens, 2};

/// Seconds of the line that `work` measures.
double workSeconds(const Work& work, const BenchShape& shape) {
  const BenchCase once = work.make(shape);
  const auto line = std::ranges::find(once.lines, std::string(work.line), &BenchLine::name);
  const auto at = static_cast<std::size_t>(line - once.lines.begin());
  double seconds = once.run()[at];
  for (int i = 0; i < work.before; ++i) seconds = once.run()[at];
  return seconds;
}

/// Measures the work at each of these shapes, in order, until one is too large or too slow.
GrowthLine measure(const Work& work, const std::vector<BenchShape>& shapes, bool byTokens, double maxBytes,
                   const std::function<void(const std::string&)>& announce) {
  GrowthLine line{work.name, {}, {}, byTokens ? work.most : 1};
  for (const BenchShape& shape : shapes) {
    const double held = std::max(benchBytes(shape, work.parts), work.bytes ? 1.5 * work.bytes(shape) : 0);
    if (held > maxBytes || shape.tokens > work.maxTokens) break;
    announce(fmt::format("{}: {} tokens, {} heads", work.name,
                         countText(static_cast<std::uint64_t>(shape.tokens)), shape.config.heads));
    const auto x = static_cast<double>(byTokens ? shape.tokens : shape.config.heads);
    line.seconds.push_back({x, workSeconds(work, shape)});
    if (work.bytes) line.bytes.push_back({x, work.bytes(shape)});
    if (line.seconds.back().y > kMaxSeconds) break;
  }
  return line;
}

std::string countOf(double x) {
  return countText(static_cast<std::uint64_t>(x));
}
std::string durationOf(double seconds) {
  return seconds < 1e-3 ? fmt::format("{:.3g} µs", seconds * 1e6) : timeText(seconds);
}
std::string exponentText(double exponent) {
  return exponent == 0 ? "–" : fmt::format("{:.2f}", exponent);
}

Plot plotOf(const std::vector<GrowthLine>& lines, std::vector<PlotPoint> GrowthLine::*points,
            const std::string& title, bool tokens) {
  Plot plot;
  plot.x.title = title;
  double lowX = 1e300, highX = 0, lowY = 1e300, highY = 0;
  constexpr Dash kDashes[] = {Dash::solid, Dash::dashed, Dash::dotted, Dash::dashDot};
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::vector<PlotPoint>& drawn = lines[i].*points;
    if (drawn.empty()) continue;
    for (const PlotPoint& point : drawn) {
      lowX = std::min(lowX, point.x), highX = std::max(highX, point.x);
      lowY = std::min(lowY, point.y), highY = std::max(highY, point.y);
    }
    plot.lines.push_back({lines[i].name + ", exponent " + exponentText(fittedExponent(drawn)), drawn,
                          kDashes[i % std::size(kDashes)], false});
  }
  if (plot.lines.empty()) return plot;
  // The plot labels lines where they leave it; one that ends earlier is labelled above its end.
  for (const PlotLine& line : plot.lines)
    if (line.points.back().x < highX)
      plot.marks.push_back(
          {line.points.back(), line.label.substr(0, line.label.rfind(',')), "", PlotSide::above});
  plot.x.low = lowX, plot.x.high = std::max(highX, lowX * 2);
  plot.y.low = std::pow(10, std::floor(std::log10(std::max(lowY, 1e-12))));
  plot.y.high = std::max(highY * (plot.marks.empty() ? 1.3 : 20), plot.y.low * 10);  // space for labels above
  plot.x.ticks = tokens ? tokenTicks(plot.x.low, plot.x.high) : std::vector<PlotTick>{};
  for (double x = lowX; !tokens && x <= highX; x *= 2) plot.x.ticks.push_back({x, countOf(x)});
  plot.y.ticks = powerTicks(plot.y.low, plot.y.high);
  return plot;
}

}  // namespace

double fittedExponent(const std::vector<PlotPoint>& points) {
  if (points.empty()) return 0;
  const double middle = std::sqrt(points.front().x * points.back().x);
  double count = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const PlotPoint& point : points) {
    if (point.x < middle * (1 - 1e-9) || !(point.y > 0)) continue;
    const double a = std::log(point.x), b = std::log(point.y);
    count += 1, x += a, y += b, xx += a * a, xy += a * b;
  }
  return count < 3 ? 0 : (count * xy - x * y) / (count * xx - x * x);
}

Growth measureGrowth(Index maxTokens, const BenchParts& parts, double maxBytes,
                     const std::function<void(const std::string&)>& announce) {
  Growth growth;
  growth.headTokens = std::min(growth.headTokens, maxTokens);
  std::vector<BenchShape> byTokens, byHeads;
  for (Index tokens = kMinTokens; tokens <= maxTokens; tokens *= 2) byTokens.push_back(shapeOf(tokens, 8));
  for (Index heads = 1; heads <= kMostHeads; heads *= 2) byHeads.push_back(shapeOf(growth.headTokens, heads));
  const auto add = [&](const Work& work, bool alsoByHeads) {
    growth.tokens.push_back(measure(work, byTokens, true, maxBytes, announce));
    if (alsoByHeads) growth.heads.push_back(measure(work, byHeads, false, maxBytes, announce));
  };
  if (parts.forward) {
    add(kForward, true);
    add(kForwardOutput, true);
  }
  if (parts.decode) add(kDecode, true);
  if (parts.map) add(kOverview, false);
  if (!parts.window) return growth;
  try {
    add(kFrame, true);
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    growth.omitted = error.what();
  }
  return growth;
}

std::string growthTable(const Growth& growth) {
  std::string text =
      "512 wide, causal heads of 64. Exponents are fitted over the upper half of the sizes.\n\n"
      "| work | sizes | time | exponent | in theory | memory | exponent |\n"
      "|---|---|---|---:|---:|---|---:|\n";
  const auto add = [&](const GrowthLine& line, const std::string& by) {
    if (line.seconds.empty()) return;
    text +=
        fmt::format("| {} | {} to {} {} | {} to {} | {} | {:g} |", line.name, countOf(line.seconds.front().x),
                    countOf(line.seconds.back().x), by, durationOf(line.seconds.front().y),
                    durationOf(line.seconds.back().y), exponentText(fittedExponent(line.seconds)), line.most);
    text += line.bytes.empty()
                ? std::string(" – | – |\n")
                : fmt::format(" {} to {} | {} |\n", bytesText(line.bytes.front().y),
                              bytesText(line.bytes.back().y), exponentText(fittedExponent(line.bytes)));
  };
  for (const GrowthLine& line : growth.tokens) add(line, "tokens, 8 heads");
  for (const GrowthLine& line : growth.heads) add(line, fmt::format("heads, {} tokens", growth.headTokens));
  if (!growth.omitted.empty()) text += "\nFrames were not measured: " + growth.omitted + "\n";
  return text;
}

Drawing growthFigure(const Growth& growth) {
  constexpr float kWidth = 820, kHeight = 290, kTitle = 26, kAround = 16, kLabels = 400;
  std::pair<std::string, Plot> plots[] = {
      {"Seconds by tokens, 8 heads",
       plotOf(growth.tokens, &GrowthLine::seconds, "tokens, 1 k = 1,024", true)},
      {"Bytes by tokens, 8 heads", plotOf(growth.tokens, &GrowthLine::bytes, "tokens, 1 k = 1,024", true)},
      {fmt::format("Seconds by heads, {} tokens", growth.headTokens),
       plotOf(growth.heads, &GrowthLine::seconds, "heads", false)}};
  const auto drawn =
      std::ranges::count_if(plots, [](const auto& each) { return !each.second.lines.empty(); });
  const float width = kWidth + 2 * kAround,
              height = kAround + static_cast<float>(drawn) * (kTitle + kHeight + kAround);
  HeadlessApp headless(64, 64);
  headless.session().view().preferences.light = true;
  Drawing drawing = headless.session().sheet(
      static_cast<int>(width), static_cast<int>(height), 1, [&](const View& view, Canvas) {
        if (beginPanel(view, "growth", ImRect(0, 0, width, height), 0, 0, 0)) {
          float y = kAround;
          for (auto& [title, plot] : plots) {
            if (plot.lines.empty()) continue;
            paintText(*ImGui::GetWindowDrawList(), view.fonts->bold, ImVec2(kAround, y + kTitle / 2),
                      view.theme->text, title);
            plot.labelRoom = kLabels;
            drawPlot(view, title, ImRect(kAround, y + kTitle, kAround + kWidth, y + kTitle + kHeight), plot);
            y += kTitle + kHeight + kAround;
          }
        }
        endPanel();
      });
  drawing.title = "How time and memory grow with tokens and heads";
  return drawing;
}

namespace {

constexpr double kSampleSeconds = 0.1;  // short work is repeated this long per round, for a reliable median

/// One round's figures of one row.
ThreadsRow sampleOf(const BenchCase& work, int threads, double ceiling) {
  ThreadsRow sample;
  std::vector<double> seconds;
  for (double spent = 0; seconds.empty() || spent < kSampleSeconds; spent += seconds.back()) {
    const std::function<void()> once = work.prepare();
    attention::kernels::takePoolTally();
    seconds.push_back(secondsOf(once));
    const attention::kernels::PoolTally tally = attention::kernels::takePoolTally();
    sample.barriers = static_cast<double>(tally.shared);
    const auto [least, most] = std::ranges::minmax(tally.busySeconds);
    sample.idlest = least / seconds.back();
    sample.busiest = most / seconds.back();
  }
  sample.threads = threads;
  sample.seconds = medianOf(std::move(seconds));
  sample.share = work.prepared.work.amount / sample.seconds / ceiling;
  return sample;
}

/// A row for the ceiling of memory or registers: the time for as many bytes or operations as one thread does
/// in a second.
ThreadsRow ceilingSample(int threads, double perSecond, double ofOne) {
  ThreadsRow sample;
  sample.threads = threads;
  sample.seconds = ofOne / perSecond;
  return sample;
}

/// Combines the rounds of a row by their medians; `first` has those with one thread.
ThreadsRow medianRow(const std::string& name, const std::vector<ThreadsRow>& rounds,
                     const std::vector<ThreadsRow>& first) {
  ThreadsRow row = rounds[0];
  const auto median = [&](double ThreadsRow::*member) {
    std::vector<double> values;
    for (const ThreadsRow& round : rounds) values.push_back(round.*member);
    return medianOf(std::move(values));
  };
  for (const auto member : {&ThreadsRow::seconds, &ThreadsRow::share, &ThreadsRow::idlest,
                            &ThreadsRow::busiest, &ThreadsRow::barriers})
    row.*member = median(member);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rounds.size(); ++i) ratios.push_back(first[i].seconds / rounds[i].seconds);
  row.name = name;
  row.speedUp = medianOf(std::move(ratios));
  return row;
}

}  // namespace

ThreadsTable measureThreads(const BenchShape& shape, const BenchParts& parts, int rounds,
                            const std::function<void(const std::string&)>& announce) {
  std::vector<BenchCase> cases = layerCases(shape, parts);
  if (parts.map) cases.push_back(mapCase(shape));
  const int most = attention::kernels::sharedPool().threads();
  std::vector<std::vector<ThreadsRow>> samples;  // [row][round]; the rows of one thread first
  MachineCeilings one;
  for (int round = 0; round < rounds; ++round) {
    announce(fmt::format("Round {} of {}", round + 1, rounds));
    std::size_t row = 0;
    const auto add = [&](const ThreadsRow& sample) {
      if (row == samples.size()) samples.emplace_back();
      samples[row++].push_back(sample);
    };
    for (int threads = 1; threads <= most; threads *= 2) {
      attention::kernels::renewSharedPool(threads);
      const MachineCeilings ceilings = measureCeilings();
      if (threads == 1) one = ceilings;
      for (const BenchCase& work : cases)
        add(sampleOf(work, threads,
                     work.prepared.work.kind == BenchWork::Kind::flop ? ceilings.flops : ceilings.readBytes));
      add(ceilingSample(threads, ceilings.flops, one.flops));
      add(ceilingSample(threads, ceilings.readBytes, one.readBytes));
    }
  }
  attention::kernels::renewSharedPool(most);
  std::vector<std::string> names;
  for (const BenchCase& work : cases) names.push_back(work.prepared.meaning);
  names.insert(names.end(), {"ceiling of multiply-adds", "ceiling of reading"});
  ThreadsTable table{benchTitle(shape) + "; " + attention::kernels::targetName(), {}};
  for (std::size_t name = 0; name < names.size(); ++name)
    for (std::size_t row = name; row < samples.size(); row += names.size())
      table.rows.push_back(medianRow(names[name], samples[row], samples[name]));
  return table;
}

std::string threadsText(const ThreadsTable& table) {
  std::string text =
      table.title +
      "\n\n| work | threads | time | speed-up | efficiency | of the ceiling | threads busy | barriers |\n"
      "|---|---:|---:|---:|---:|---:|---:|---:|\n";
  for (const ThreadsRow& row : table.rows) {
    const bool isCeiling = row.share == 0;
    const std::string busy =
        row.busiest == 0 ? "–" : fmt::format("{:.0f}–{:.0f} %", row.idlest * 100, row.busiest * 100);
    text += fmt::format("| {} | {} | {} | {:.2f}× | {:.0f} % | {} | {} | {} |\n", row.name, row.threads,
                        isCeiling ? "–" : timeText(row.seconds), row.speedUp, row.efficiency() * 100,
                        isCeiling ? "–" : fmt::format("{:.0f} %", row.share * 100), busy,
                        isCeiling ? "–" : fmt::format("{:.0f}", row.barriers));
  }
  return text;
}

}  // namespace headscope::app
