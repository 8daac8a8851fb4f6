#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "attention/core/random.h"
#include "test_paths.h"
#include "tests/support/temporary_folder.h"

/// Replays a fuzz target without libFuzzer, as part of the normal tests.
namespace headscope::fuzz {

using OwnBytes = std::vector<std::uint8_t>;
using Target = std::function<void(std::span<const std::uint8_t>)>;

/// Pieces with a meaning for parsers: extreme numbers, and the formats' own symbols.
inline const std::vector<std::string> kPieces = {"0",
                                                 "-1",
                                                 "18446744073709551615",
                                                 "9223372036854775807",
                                                 "4294967296",
                                                 "1e999",
                                                 "nan",
                                                 "null",
                                                 "[",
                                                 "]",
                                                 "{",
                                                 "}",
                                                 "\"",
                                                 "'",
                                                 ",",
                                                 ";",
                                                 "\t",
                                                 "\r\n",
                                                 ":",
                                                 "(",
                                                 ")",
                                                 "F64",
                                                 "BOOL",
                                                 "\"data_offsets\":",
                                                 "<f8",
                                                 "True",
                                                 "\xEF\xBB\xBF",
                                                 "\xFF",
                                                 std::string(1, '\0'),
                                                 std::string(8, '\xFF'),
                                                 std::string(4, '\x7F'),
                                                 "\\u0061",
                                                 "None",
                                                 "&",
                                                 "|",
                                                 "!",
                                                 "then",
                                                 "heads(kv 0-3): ",
                                                 "documents(",
                                                 "|b1",
                                                 "-inf",
                                                 "\"type\":",
                                                 "\"BPE\"",
                                                 "\\p{L}+",
                                                 "(?!",
                                                 "▁",
                                                 "W[1][11][8:]",
                                                 "&&",
                                                 "\"patch\": ",
                                                 "$",
                                                 "[:, None]"};

/// Applies one to four kinds of damage: a changed bit or byte, a cut, a doubled or swapped range, an inserted
/// piece.
inline OwnBytes damaged(OwnBytes bytes, attention::Random& random) {
  const auto below = [&](std::size_t limit) {
    return static_cast<std::size_t>(random.next() % std::max<std::size_t>(limit, 1));
  };
  const auto at = [&](std::size_t i) { return bytes.begin() + static_cast<std::ptrdiff_t>(i); };
  for (std::size_t rounds = 1 + below(4); rounds > 0 && !bytes.empty(); --rounds) {
    const std::size_t place = below(bytes.size()),
                      length = 1 + below(std::min<std::size_t>(bytes.size() - place, 16));
    switch (below(7)) {
      case 0:
        bytes[place] ^= static_cast<std::uint8_t>(1 << below(8));
        break;
      case 1:
        bytes[place] = static_cast<std::uint8_t>(below(256));
        break;
      case 2:
        bytes.resize(place);
        break;
      case 3:
        bytes.erase(at(place), at(place + length));
        break;
      case 4: {
        const OwnBytes stretch(at(place), at(place + length));
        bytes.insert(at(below(bytes.size())), stretch.begin(), stretch.end());
        break;
      }
      case 5: {
        const auto& piece = kPieces[below(kPieces.size())];
        bytes.insert(at(place), piece.begin(), piece.end());
        break;
      }
      default: {
        const auto& piece = kPieces[below(kPieces.size())];
        bytes.erase(at(place), at(place + length));
        bytes.insert(at(place), piece.begin(), piece.end());
      }
    }
  }
  return bytes;
}

inline std::vector<OwnBytes> corpus(const std::string& name) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(HEADSCOPE_TEST_DIR) + "/fuzz/corpus/" + name)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<OwnBytes> files;
  for (const auto& path : paths) files.push_back(test::fileBytes(path));
  return files;
}

/// Runs the target on the corpus, and on thousands of damaged copies of it and of `valid`.
inline void replay(const std::string& name, std::vector<OwnBytes> valid, const Target& target) {
  constexpr std::size_t kDamages = 6000;
  auto seeds = corpus(name);
  ASSERT_FALSE(seeds.empty());
  std::move(valid.begin(), valid.end(), std::back_inserter(seeds));
  for (const auto& seed : seeds) target(seed);
  attention::Random random(attention::hashText(name, 1));
  for (std::size_t i = 0; i < kDamages; ++i) target(damaged(seeds[i % seeds.size()], random));
}

}  // namespace headscope::fuzz
