#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/commands/commands.h"
#include "app/commands/report.h"
#include "attention/formats/csv_reader.h"
#include "attention/formats/files/file_io.h"
#include "attention/formats/quote.h"
#include "attention/models/tokenizer/aligned_text.h"
#include "attention/models/tokenizer/text_tokenizer.h"

namespace headscope::app {
namespace {

using attention::EncodedText;
using attention::TextTokenizer;

struct TokenizeOptions {
  std::string tokenizer, text, textFile;
  bool textGiven = false, fileGiven = false, json = false;
};

attention::Result<std::string> readText(const TokenizeOptions& options) {
  if (options.textGiven) return options.text;
  const auto bytes = attention::readFile(options.textFile, attention::kMaxTyped);
  if (!bytes) return bytes.error();
  const auto text = attention::utf8Text({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
  if (!text) return attention::Error{attention::quotedText(options.textFile) + " " + text.error().message};
  return std::string(*text);
}

/// A long text has millions of tokens, so the JSON is written piece by piece and never held as a tree.
std::string jsonOf(const TextTokenizer& tokenizer, const EncodedText& encoded) {
  fmt::memory_buffer out;
  const auto list = [&](std::string_view name, std::size_t count, auto item) {
    fmt::format_to(std::back_inserter(out), "\"{}\":[", name);
    for (std::size_t i = 0; i < count; ++i) {
      if (i > 0) out.push_back(',');
      item(i);
    }
    out.push_back(']');
  };
  const std::vector<std::string> spellings = tokenizer.spellings(encoded);
  out.push_back('{');
  list("ids", encoded.ids.size(),
       [&](std::size_t i) { fmt::format_to(std::back_inserter(out), "{}", encoded.ids[i]); });
  out.push_back(',');
  list("tokens", spellings.size(), [&](std::size_t i) {
    fmt::format_to(std::back_inserter(out), "{}", nlohmann::json(spellings[i]).dump());
  });
  out.push_back(',');
  list("spans", encoded.spans.size(), [&](std::size_t i) {
    fmt::format_to(std::back_inserter(out), "[{},{}]", encoded.spans[i].begin, encoded.spans[i].end);
  });
  return fmt::to_string(out) + "}\n";
}

/// One line per token: id, byte range and readable token.
std::string tableOf(const TextTokenizer& tokenizer, const EncodedText& encoded) {
  std::string table = fmt::format("{:>7} {:>17}  {}\n", "id", "bytes", "token");
  for (std::size_t i = 0; i < encoded.ids.size(); ++i) {
    const auto& span = encoded.spans[i];
    table += fmt::format("{:>7} {:>8}-{:<8}  {}\n", encoded.ids[i], span.begin, span.end,
                         tokenizer.readable(encoded.ids[i]).value_or(""));
  }
  return table;
}

bool hasTyped(const EncodedText& encoded) {
  return std::any_of(encoded.sources.begin(), encoded.sources.end(),
                     [](attention::TokenSource source) { return source != attention::TokenSource::around; });
}

int runTokenize(const TokenizeOptions& options) {
  if (options.textGiven == options.fileGiven) return usage({"expected either --text T or --text-file F"});
  const auto tokenizer = TextTokenizer::open(options.tokenizer);
  if (!tokenizer) return fail(tokenizer.error());
  const auto text = readText(options);
  if (!text) return fail(text.error());
  const auto encoded = tokenizer->encode(*text);
  if (!encoded)
    return fail(
        {(options.fileGiven ? options.textFile : std::string("--text")) + ": " + encoded.error().message});
  if (!text->empty() && !hasTyped(*encoded)) warn("the tokenizer drops the whole text and gives no tokens");
  return options.json ? print(jsonOf(*tokenizer, *encoded), Printed::json)
                      : print(tableOf(*tokenizer, *encoded));
}

}  // namespace

void addTokenizeCommand(CLI::App& app, int& exitCode) {
  CLI::App* command =
      app.add_subcommand("tokenize", "Print a text as the tokens of a tokenizer.json: ids, bytes and texts");
  auto options = std::make_shared<TokenizeOptions>();
  command->add_option("TOKENIZER", options->tokenizer, "A tokenizer.json, or a model's folder that holds one")
      ->required();
  const auto* text = command->add_option("--text", options->text, "The text")->type_name("T");
  const auto* file =
      command->add_option("--text-file", options->textFile, "A UTF-8 file with the text")->type_name("F");
  command->add_flag("--json", options->json, "Print ids, tokens as the vocabulary spells them, and spans");
  command->callback([options, text, file, &exitCode] {
    options->textGiven = text->count() > 0;
    options->fileGiven = file->count() > 0;
    exitCode = guarded([&] { return runTokenize(*options); });
  });
}

}  // namespace headscope::app
