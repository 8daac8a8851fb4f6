#include <fmt/core.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/commands/study/progress.h"
#include "attention/formats/tensor_source.h"
#include "tests/app/commands/run_headscope.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

using nlohmann::json;
using test::Outcome;
using test::runHeadscope;

constexpr const char* kTexts =
    R"({"text": "When Anna and Ben went to the lake , Ben gave the key to", "other": "When Anna and Ben went to the lake , Anna gave the key to", "answer": "Anna", "other_answer": "Ben"}
milk river Ben cold door Mia hill sad ring milk river Ben
{"text": "Mia lost", "answer": "ring", "other_answer": "ring"}
)";

class StudyCommand : public testing::Test {
 protected:
  StudyCommand() { test::putFile(folder / "texts", kTexts); }
  Outcome run(std::vector<std::string> more) {
    std::vector<std::string> all{"study", "learned", "--texts", (folder / "texts").string()};
    all.insert(all.end(), more.begin(), more.end());
    return runHeadscope(all);
  }
  static json read(const std::string& path) {
    std::ifstream file(path);
    return json::parse(file);
  }
  const test::TemporaryFolder folder;
};

TEST_F(StudyCommand, PrintsOneLinePerTextInOrder) {
  const Outcome outcome = run({"--measure", "attribution,patch", "--jobs", "3"});
  ASSERT_EQ(outcome.exitCode, 0) << outcome.errors;
  std::istringstream lines(outcome.output);
  std::vector<json> texts;
  for (std::string line; std::getline(lines, line);) texts.push_back(json::parse(line));
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(texts[0].at("answer"), "Anna");
  EXPECT_GT(texts[0].at("logit_difference"), 3);
  EXPECT_EQ(texts[0].at("patch").size(), 4u);
  EXPECT_FALSE(texts[0].contains("loss"));
  EXPECT_FALSE(texts[1].contains("patch"));
  EXPECT_THAT(texts[2].at("problem").get<std::string>(), HasSubstr("\"ring\" and \"ring\" are the same"));
  EXPECT_THAT(outcome.errors, HasSubstr("text 3 of 3"));
  EXPECT_THAT(outcome.errors, HasSubstr("line 3: "));
}

TEST_F(StudyCommand, WritesSameNumbersAsJsonCsvAndArrays) {
  for (const char* name : {"out.json", "out.csv", "out.npz"})
    ASSERT_EQ(run({"-o", (folder / name).string()}).exitCode, 0);
  std::ifstream file(folder / "out.json");
  const json study = json::parse(file);
  EXPECT_EQ(study.at("texts").size(), 3u);
  const double first = study["texts"][0]["attribution"][3][3],
               second = study["texts"][1]["attribution"][3][3];
  EXPECT_NEAR(study["summary"]["attribution"]["mean"][3][3], (first + second) / 2, 1e-4);
  EXPECT_EQ(study["summary"]["attribution"]["most_at_line"][3][3], first > second ? 1 : 2);
  EXPECT_EQ(study["summary"]["patch"]["texts"][3][3], 1);
  std::ifstream csv(folder / "out.csv");
  std::string line;
  int rows = 0;
  while (std::getline(csv, line)) ++rows;
  EXPECT_EQ(rows, 1 + 2 * 4 * 6);
  const auto arrays = attention::TensorSource::open(folder / "out.npz");
  ASSERT_TRUE(arrays.ok()) << arrays.error().message;
  EXPECT_EQ(arrays->header().tensors.at("attribution").shape, (std::vector<std::uint64_t>{3, 4, 6}));
  float value = 0;
  std::uint8_t bytes[4];
  ASSERT_TRUE(arrays->read("attribution", 4 * (3 * 6 + 3), bytes).ok());
  std::memcpy(&value, bytes, 4);
  EXPECT_NEAR(value, first, 1e-4);
}

TEST_F(StudyCommand, PatchesThatAreNotPerHeadHavePlacesOfTheirOwn) {
  for (const char* piece : {"stream", "mlps"}) {
    for (const char* name : {"out.json", "out.csv", "out.npz"})
      ASSERT_EQ(run({"--measure", "patch", "--patch", piece, "-o", (folder / name).string()}).exitCode, 0);
    const json study = read((folder / "out.json").string());
    const json& patch = study["texts"][0]["patch"];
    EXPECT_EQ(study["texts"][0]["patch_columns"], "tokens");
    EXPECT_FALSE(study["summary"].contains("patch"));
    std::ifstream csv(folder / "out.csv");
    std::string line;
    std::getline(csv, line);
    EXPECT_THAT(line, testing::EndsWith(",strongest_key,token,patch"));
    std::size_t numbers = 0, finite = 0;
    while (std::getline(csv, line)) numbers += line.back() != ',';
    for (const json& row : patch)
      for (const json& cell : row) finite += cell.is_number();
    EXPECT_EQ(numbers, finite);
    const auto arrays = attention::TensorSource::open(folder / "out.npz");
    ASSERT_TRUE(arrays.ok()) << arrays.error().message;
    EXPECT_EQ(arrays->header().tensors.at("patch").shape,
              (std::vector<std::uint64_t>{3, patch.size(), patch[0].size()}));
  }
}

/// Every number of the JSON is in the others, and says what it is.
TEST_F(StudyCommand, FilesHaveTheSameNumbersWithTheirDefinitions) {
  for (const char* name : {"out.json", "out.csv", "out.npz"})
    ASSERT_EQ(run({"-o", (folder / name).string()}).exitCode, 0);
  const json study = read((folder / "out.json").string());
  const auto arrays = attention::TensorSource::open(folder / "out.npz");
  ASSERT_TRUE(arrays.ok()) << arrays.error().message;
  std::ifstream csv(folder / "out.csv");
  std::string header;
  std::getline(csv, header);
  for (const auto& [name, value] : study["texts"][0].items()) {
    const bool numbers = value.is_number_float() || (value.is_array() && value[0].is_array());
    if (!numbers) continue;
    EXPECT_TRUE(arrays->header().tensors.contains(name)) << name;
    EXPECT_THAT("," + header + ",", HasSubstr("," + name + ","));
    EXPECT_TRUE(study["definitions"].contains(name)) << name;
  }
  for (const char* name : {"copying", "vo_eigenvalues", "same_token_over_all_rows"})
    EXPECT_TRUE(study["texts"][0].contains(name)) << name;
  const json about = read((folder / "out.csv-metadata.json").string());
  EXPECT_EQ(about["tableSchema"]["columns"].size(), study["definitions"].size());
  // ÷ N and ÷ (N − 1) over two texts.
  const json& loss = study["summary"]["loss"];
  const double n = loss["standard_deviation"][0][0], less = loss["sample_standard_deviation"][0][0];
  EXPECT_NEAR(less, n * std::sqrt(2), 1e-6 * less);
  // The same rows over all rows of the text.
  const double eligible = study["texts"][1]["same_token"][1][0],
               all = study["texts"][1]["same_token_over_all_rows"][1][0];
  EXPECT_NEAR(all, eligible * 3 / 12, 1e-6) << "milk river Ben are repeated";
}

TEST_F(StudyCommand, ReadsIdsAndStandardInput) {
  const Outcome typed = run({"--measure", "attribution"});
  std::istringstream lines(typed.output);
  std::string first;
  std::getline(lines, first);
  const json text = json::parse(first);
  ASSERT_EQ(text.at("input_ids").size(), text.at("tokens").size());
  json ids{{"input_ids", text["input_ids"]}, {"answer", "Anna"}, {"other_answer", "Ben"}};
  test::putFile(folder / "ids", ids.dump() + "\n{\"input_ids\": [5, 5]}\n");
  const Outcome given = runHeadscope({"study", "learned", "--texts", "-", "--measure", "attribution"},
                                     "cat " + (folder / "ids").string() + " | ");
  ASSERT_EQ(given.exitCode, 0) << given.errors;
  std::istringstream both(given.output);
  std::string same, other;
  std::getline(both, same);
  std::getline(both, other);
  EXPECT_EQ(json::parse(same)["attribution"], text["attribution"]);
  EXPECT_THAT(given.errors, HasSubstr("text 2 of 2"));
  EXPECT_THAT(runHeadscope({"study", "learned", "--texts", "-"}, "true | ").errors,
              HasSubstr("standard input has no text"));
  test::putFile(folder / "ids", R"({"input_ids": "5"})");
  EXPECT_THAT(runHeadscope({"study", "learned", "--texts", (folder / "ids").string()}).errors,
              HasSubstr("\"input_ids\" is not a list of token ids"));
}

TEST_F(StudyCommand, AnswersOfSeveralTokensAreComparedWhereTheyDiffer) {
  // "zzx" and "zzy" are spelled out; "Anna" and "Ben" are one token each.
  test::putFile(folder / "texts", R"({"text": "Mia lost", "answer": "zzx", "other_answer": "zzy"}
{"text": "Mia lost zz", "answer": "x", "other_answer": "y"}
{"text": "Mia lost", "answer": "Anna", "other_answer": "Ben"}
)");
  const Outcome outcome = run({"--measure", "attribution"});
  ASSERT_EQ(outcome.exitCode, 0) << outcome.errors;
  std::istringstream lines(outcome.output);
  std::vector<json> texts;
  for (std::string line; std::getline(lines, line);) texts.push_back(json::parse(line));
  ASSERT_EQ(texts.size(), 3u);
  EXPECT_EQ(texts[0]["answers_begin_with"], " zz");
  EXPECT_GT(texts[0]["answer_ids"].size(), 1u);
  EXPECT_FALSE(texts[2].contains("answers_begin_with"));
  // The difference of two answers of one token each is that of their log probabilities.
  for (const std::size_t i : {std::size_t{0}, std::size_t{2}})
    EXPECT_NEAR(texts[i]["answer_log_probability"].get<double>() -
                    texts[i]["other_answer_log_probability"].get<double>(),
                texts[i]["logit_difference"].get<double>(), 1e-4);
}

/// TransformerLens's numbers of a small GPT-2 would need its file; here the definition is written out: with
/// the biases, a head that is switched off still writes them.
TEST_F(StudyCommand, ValueBiasesCountAsAskedFor) {
  const std::string model = HEADSCOPE_TEST_DIR "/golden_models/gpt2";
  const auto loss = [&](const char* biases) {
    const Outcome outcome = runHeadscope({"study", model, "--texts", (folder / "line").string(), "--measure",
                                          "loss,attribution", "--value-biases", biases});
    EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
    return json::parse(outcome.output);
  };
  test::putFile(folder / "line", "the cat sat on\n");
  const json folded = loss("folded"), with = loss("heads");
  EXPECT_NE(folded["loss"], with["loss"]);
  EXPECT_NE(folded["attribution"], with["attribution"]);
  EXPECT_EQ(folded["logit_difference"], with["logit_difference"]);
}

TEST_F(StudyCommand, GoesOnAfterWhatIsDone) {
  const std::string whole = (folder / "whole.json").string(), cut = (folder / "cut.json").string();
  const auto study = [&](const std::string& output, const std::string& before = "") {
    return runHeadscope({"study", "learned", "--texts", (folder / "texts").string(), "--measure",
                         "attribution,detectors", "-o", output},
                        before);
  };
  ASSERT_EQ(study(whole).exitCode, 0);
  // A full disk: the second text doesn't fit any more.
  const Outcome full = study(cut, "ulimit -f 20; ");
  EXPECT_EQ(full.exitCode, 1);
  EXPECT_THAT(full.errors, AllOf(HasSubstr("cut.json.part: cannot be written: "),
                                 HasSubstr("1 of 3 texts are done and kept in")));
  EXPECT_TRUE(std::filesystem::exists(cut + ".part")) << "the output itself has no room either";
  // An end in the middle of a line.
  std::ofstream(cut + ".part", std::ios::app) << "{\"line\":2,\"text\":\"milk";
  const Outcome rest = study(cut);
  EXPECT_EQ(rest.exitCode, 0) << rest.errors;
  EXPECT_THAT(rest.errors, AllOf(HasSubstr("1 of 3 texts are already done"), Not(HasSubstr("text 1 of 3"))));
  EXPECT_EQ(read(cut), read(whole));
  EXPECT_FALSE(std::filesystem::exists(cut + ".part"));
}

TEST_F(StudyCommand, KeepsResultsOfOtherStudies) {
  const std::string output = (folder / "out.json").string();
  const Outcome full = runHeadscope({"study", "learned", "--texts", (folder / "texts").string(), "--measure",
                                     "attribution,detectors", "-o", output},
                                    "ulimit -f 20; ");
  ASSERT_TRUE(std::filesystem::exists(output + ".part")) << full.errors;
  EXPECT_THAT(run({"-o", output}).errors, HasSubstr("holds the results of another study"));
  test::putFile(folder / "texts", "Another text\n" + std::string(kTexts));
  EXPECT_THAT(run({"--measure", "attribution,detectors", "-o", output}).errors,
              HasSubstr("holds the results of other texts (line 1 differs)"));
}

TEST_F(StudyCommand, TriesOutputFirstAndTakesAnyName) {
  EXPECT_THAT(run({"-o", (folder / "missing" / "out.json").string()}).errors, Not(HasSubstr("text 1")));
  std::filesystem::create_directory(folder / "out.csv");
  const Outcome directory = run({"-o", (folder / "out.csv").string()});
  EXPECT_EQ(directory.exitCode, 1);
  EXPECT_THAT(directory.errors,
              AllOf(HasSubstr("expected the name of a file to write"), Not(HasSubstr("text 1"))));
  // A byte-order mark is not a token.
  test::putFile(folder / "texts", "\xEF\xBB\xBFMia lost\n");
  const Outcome marked = run({"--measure", "attribution"});
  ASSERT_EQ(marked.exitCode, 0) << marked.errors;
  EXPECT_EQ(json::parse(marked.output)["text"], "Mia lost");
  // Copying doesn't depend on the text.
  const Outcome detectors = run({"--measure", "detectors"});
  EXPECT_TRUE(json::parse(detectors.output)["copying"][0][0].is_number());
}

/// A text is read when its turn comes, so that a file may be larger than memory.
TEST_F(StudyCommand, ReadsOneTextAfterAnother) {
  constexpr Index kMany = 200'000;
  std::string lines;
  for (Index i = 0; i < kMany; ++i) lines += "Mia lost\n";
  test::putFile(folder / "many", lines + "{\"text\": 1}\n");
  auto reader = TextReader::open((folder / "many").string());
  ASSERT_TRUE(reader.ok()) << reader.error().message;
  for (Index line = 1; line <= kMany; ++line) {
    const auto text = reader->next();
    ASSERT_TRUE(text.ok() && *text) << "the bad line comes later than line " << line;
    ASSERT_EQ((*text)->line, line);
  }
  EXPECT_THAT(reader->next().error().message, HasSubstr(std::to_string(kMany + 1)));

  // A terabyte, most of it a hole.
  test::putFile(folder / "huge", "Mia lost\nBen lost\n");
  std::filesystem::resize_file(folder / "huge", std::uintmax_t{1} << 40);
  auto huge = TextReader::open((folder / "huge").string());
  ASSERT_TRUE(huge.ok()) << huge.error().message;
  EXPECT_EQ((*huge->next())->text, "Mia lost");
  EXPECT_EQ((*huge->next())->text, "Ben lost");
  EXPECT_THAT(huge->next().error().message, HasSubstr("line 3: is longer than 16777216 bytes"));
}

/// So are the results of the finished texts, from their file.
TEST_F(StudyCommand, ReadsOneResultAfterAnother) {
  constexpr Index kMany = 2000;
  const std::string output = (folder / "out.json").string();
  auto progress = StudyProgress::open(output, "{}");
  ASSERT_TRUE(progress.ok()) << progress.error().message;
  StudiedHeads text;
  text.problem = "has no answer";
  for (text.asked.line = 1; text.asked.line <= kMany; ++text.asked.line)
    ASSERT_TRUE(progress->add(text, "heads").ok());
  Index seen = 0;
  const auto stopped = progress->each([&](const StudiedHeads& one) -> attention::Status {
    EXPECT_EQ(one.asked.line, ++seen);
    return seen == 3 ? attention::Status(attention::Error{"enough"}) : attention::success();
  });
  EXPECT_EQ(stopped.error().message, "enough");
  EXPECT_EQ(seen, 3);
  StudiedText next;
  const auto until = [&](Index last) {
    next.line = 0;
    return progress->check([&, last]() -> attention::Result<std::optional<StudiedText>> {
      return ++next.line <= last ? std::optional(next) : std::nullopt;
    });
  };
  EXPECT_TRUE(until(kMany).ok());
  EXPECT_EQ(next.line, kMany);
  EXPECT_THAT(until(5).error().message, HasSubstr("more texts than the file has"));
  EXPECT_EQ(next.line, 6);
}

/// The finished texts are in the output, and the same command goes on after them. The folder's name isn't
/// UTF-8.
TEST_F(StudyCommand, SignalsKeepWhatIsDone) {
  constexpr std::size_t kLines = 300;
  std::string lines;
  for (std::size_t i = 0; i < kLines; ++i) lines += fmt::format("Mia lost milk river Ben {}\n", i);
  test::putFile(folder / "texts", lines);
  const std::filesystem::path named = folder / "bytes\xff";
  std::filesystem::create_directory(named);
  // A shell makes what it starts with & ignore Ctrl+C.
  constexpr const char* kHeeded = "env() { exec /usr/bin/env --default-signal=INT \"$@\"; }; ";
  for (const int signal : {SIGTERM, SIGINT}) {
    SCOPED_TRACE(signal);
    const std::string output = (named / fmt::format("{}.json", signal)).string(), part = output + ".part";
    const std::vector<std::string> study{"study",     "learned",   "--texts", (folder / "texts").string(),
                                         "--measure", "detectors", "-o",      output};
    const std::string stop = fmt::format(
        " & p=$!; while kill -0 $p && ! [ $(wc -l < '{}') -gt 3 ]; do sleep 0.01; done 2>/dev/null; "
        "kill -{} $p; wait $p",
        part, signal);
    EXPECT_EQ(runHeadscope(study, kHeeded, stop).exitCode, 128 + signal);
    const std::size_t done = read(output)["texts"].size();
    EXPECT_GT(done, 2u);
    EXPECT_LT(done, kLines);
    const Outcome rest = runHeadscope(study);
    EXPECT_EQ(rest.exitCode, 0) << rest.errors;
    EXPECT_THAT(rest.errors, HasSubstr(fmt::format("{} of {} texts are already done", done, kLines)));
    EXPECT_EQ(read(output)["texts"].size(), kLines);
    EXPECT_FALSE(std::filesystem::exists(part));
  }
}

TEST_F(StudyCommand, ReportsErrors) {
  EXPECT_THAT(run({"-o", "out.txt"}).errors, HasSubstr("doesn't end in .json, .csv or .npz"));
  EXPECT_THAT(run({"--off", "1"}).errors, HasSubstr("expected LAYER.HEAD such as 1.2"));
  EXPECT_THAT(run({"--off", "9.1"}).errors, HasSubstr("this model has layers 0 to 3 and heads 0 to 5"));
  EXPECT_EQ(run({"--jobs", "0"}).exitCode, 2);
  EXPECT_EQ(runHeadscope({"study", "learned", "--texts", (folder / "none").string()}).exitCode, 1);
  test::putFile(folder / "texts", R"({"text": "Mia", "answer": "ring", "other_answer": "ring"})");
  const Outcome none = run({});
  EXPECT_EQ(none.exitCode, 1);
  EXPECT_THAT(none.errors, HasSubstr("none of the texts could be studied"));
}

}  // namespace
}  // namespace headscope::app
