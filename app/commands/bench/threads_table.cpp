#include "app/commands/bench/threads_table.h"

#include <fmt/core.h>

#include <algorithm>

#include "app/commands/bench/stopwatch.h"
#include "app/scene/text/number_text.h"
#include "attention/core/machine.h"

namespace headscope::app {
namespace {

constexpr double kSampleSeconds = 0.1;  // short work is repeated this long per round, for a reliable median

/// One round's figures of one row.
ThreadsRow sampleOf(const BenchCase& work, int threads, double ceiling) {
  ThreadsRow sample;
  std::vector<double> seconds;
  for (double spent = 0; seconds.empty() || spent < kSampleSeconds; spent += seconds.back()) {
    const std::function<void()> once = work.prepare();
    attention::takeKernelTally();
    seconds.push_back(secondsOf(once));
    const attention::kernels::PoolTally tally = attention::takeKernelTally();
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
  const int most = attention::kernelThreads();
  std::vector<std::vector<ThreadsRow>> samples;  // [row][round]; the rows of one thread first
  attention::MachineCeilings one;
  for (int round = 0; round < rounds; ++round) {
    announce(fmt::format("Round {} of {}", round + 1, rounds));
    std::size_t row = 0;
    const auto add = [&](const ThreadsRow& sample) {
      if (row == samples.size()) samples.emplace_back();
      samples[row++].push_back(sample);
    };
    for (int threads = 1; threads <= most; threads *= 2) {
      attention::setKernelThreads(threads);
      const attention::MachineCeilings ceilings = attention::measureCeilings();
      if (threads == 1) one = ceilings;
      for (const BenchCase& work : cases)
        add(sampleOf(work, threads,
                     work.prepared.work.kind == BenchWork::Kind::flop ? ceilings.flops : ceilings.readBytes));
      add(ceilingSample(threads, ceilings.flops, one.flops));
      add(ceilingSample(threads, ceilings.readBytes, one.readBytes));
    }
  }
  attention::setKernelThreads(most);
  std::vector<std::string> names;
  for (const BenchCase& work : cases) names.push_back(work.prepared.meaning);
  names.insert(names.end(), {"ceiling of multiply-adds", "ceiling of reading"});
  ThreadsTable table{benchTitle(shape) + "; " + attention::instructionSet(), {}};
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
