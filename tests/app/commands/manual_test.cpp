// Checks the tables, commands and links of the manual and the README.

#include "app/scene/text/manual.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "test_paths.h"
#include "tests/app/commands/run_headscope.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

namespace fs = std::filesystem;
using test::Outcome;
using test::runHeadscope;

const fs::path kRoot = HEADSCOPE_SOURCE_DIR;

/// Every Markdown file for readers, by its path from the root.
std::map<std::string, std::string> documents() {
  std::map<std::string, std::string> all{{"README.md", test::fileText(kRoot / "README.md")}};
  for (const auto& entry : fs::directory_iterator(kRoot / "assets/manual"))
    all["assets/manual/" + entry.path().filename().string()] = test::fileText(entry.path());
  return all;
}

TEST(Manual, TablesMatchTheProgram) {
  const Outcome outcome = runHeadscope({"help", "--check"});
  EXPECT_EQ(outcome.exitCode, 0) << outcome.errors;
}

TEST(Manual, HasAChapterForEveryFile) {
  const auto manual = readManual();
  ASSERT_TRUE(manual.ok()) << manual.error().message;
  EXPECT_EQ(manual->size() + 1, documents().size());
  for (const Chapter& chapter : *manual) {
    EXPECT_THAT(chapter.text, StartsWith("# " + chapter.title + "\n")) << chapter.key;
    EXPECT_EQ(findChapter(*manual, chapter.title), &chapter);
  }
}

/// The lines that call the program, from the blocks marked `sh`.
std::vector<std::string> commandsIn(const std::string& text) {
  std::vector<std::string> commands;
  const std::string fence = "```sh\n";
  for (std::size_t at = text.find(fence); at != std::string::npos; at = text.find(fence, at)) {
    at += fence.size();
    std::istringstream block(text.substr(at, text.find("```", at) - at));
    for (std::string line; std::getline(block, line);)
      if (line.starts_with("headscope ")) commands.push_back(line);
  }
  return commands;
}

TEST(Manual, ExampleCommandsRun) {
  std::size_t ran = 0;
  for (const auto& [path, text] : documents()) {
    const test::TemporaryFolder folder;
    for (const std::string& line : commandsIn(text)) {
      ++ran;
      const std::string shell = "cd " + folder.path().string() +
                                "; headscope() { " HEADSCOPE_BINARY " \"$@\"; }; { " + line +
                                "; } >/dev/null || exit 9; ";
      const Outcome outcome = runHeadscope({"--version"}, shell);
      EXPECT_EQ(outcome.exitCode, 0) << path << ": " << line << "\n" << outcome.errors;
    }
  }
  EXPECT_GE(ran, 12u);
}

/// Checks every link of a document: the file has to exist, and the anchor has to be one of its headings.
TEST(Manual, LinksResolve) {
  const auto all = documents();
  std::size_t links = 0;
  for (const auto& [path, text] : all) {
    std::vector<std::vector<RichSpan>> lines;
    for (const MarkdownBlock& block : parseMarkdown(text)) {
      lines.push_back(block.spans);
      lines.insert(lines.end(), block.cells.begin(), block.cells.end());
    }
    for (const auto& line : lines)
      for (const RichSpan& span : line) {
        if (span.kind != RichSpan::Kind::link) continue;
        ++links;
        const std::size_t hash = std::min(span.target.find('#'), span.target.size());
        const fs::path file =
            hash == 0
                ? kRoot / path
                : (kRoot / fs::path(path).parent_path() / span.target.substr(0, hash)).lexically_normal();
        EXPECT_TRUE(fs::exists(file)) << path << " links to " << span.target;
        if (hash == span.target.size() || !fs::is_regular_file(file)) continue;
        std::set<std::string> anchors;
        for (const MarkdownBlock& block : parseMarkdown(test::fileText(file)))
          if (block.kind == MarkdownBlock::Kind::heading) anchors.insert(anchorOf(block.text));
        EXPECT_TRUE(anchors.count(span.target.substr(hash + 1))) << path << " links to " << span.target;
      }
  }
  EXPECT_GE(links, 20u);
}

TEST(Manual, ReadmeIsShort) {
  EXPECT_LE(test::fileText(kRoot / "README.md").size(), 8192u);
}

TEST(HelpCommand, PrintsChaptersCommandsOrTheList) {
  EXPECT_THAT(runHeadscope({"help", "cache"}).output, StartsWith("# Cache\n"));
  EXPECT_THAT(runHeadscope({"help", "render"}).output, HasSubstr("--what"));
  EXPECT_THAT(runHeadscope({"help"}).output, HasSubstr("\n  glossary\n"));
}

TEST(HelpCommand, SuggestsNearestTopic) {
  const Outcome outcome = runHeadscope({"help", "cahce"});
  EXPECT_EQ(outcome.exitCode, 2);
  EXPECT_THAT(outcome.errors, HasSubstr("no chapter is named \"cahce\""));
  EXPECT_THAT(outcome.errors, HasSubstr("did you mean cache?"));
}

TEST(Tables, ReplacesTextBetweenMarkers) {
  const auto name = [](std::string_view wanted) { return "[" + std::string(wanted) + "]\n"; };
  const auto text = withTables("a\n<!-- table: x -->\nold\n<!-- end -->\nb\n", name);
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "a\n<!-- table: x -->\n[x]\n<!-- end -->\nb\n");
  const auto open = withTables("<!-- table: x -->\nold\n", name);
  ASSERT_FALSE(open.ok());
  EXPECT_THAT(open.error().message, HasSubstr("<!-- table: x -->"));
}

TEST(Markdown, ParsesBlocks) {
  using Kind = MarkdownBlock::Kind;
  const auto blocks = parseMarkdown(
      "# Title\n\nOne **bold** `code`\n[link](a.md#b).\n\n- item\n  - deeper\n\n```sh\nx y\n```\n\n"
      "| a | b |\n|---|---|\n| 1 | `2` |\n");
  std::vector<Kind> kinds;
  for (const MarkdownBlock& block : blocks) kinds.push_back(block.kind);
  EXPECT_EQ(kinds, (std::vector<Kind>{Kind::heading, Kind::paragraph, Kind::item, Kind::item, Kind::code,
                                      Kind::row, Kind::row}));
  const auto& spans = blocks[1].spans;
  ASSERT_EQ(spans.size(), 7u);
  EXPECT_EQ(spans[1].kind, RichSpan::Kind::bold);
  EXPECT_EQ(spans[3].text, "code");
  EXPECT_EQ(spans[5].kind, RichSpan::Kind::link);
  EXPECT_EQ(spans[5].target, "a.md#b");
  EXPECT_EQ(blocks[3].level, 2);
  EXPECT_EQ(blocks[4].text, "x y\n");
  EXPECT_EQ(blocks[6].cells.at(1).at(0).text, "2");
  EXPECT_EQ(blocks[6].table, 0);
}

}  // namespace
}  // namespace headscope::app
