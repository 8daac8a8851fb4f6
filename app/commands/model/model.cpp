#include <fmt/core.h>

#include "app/commands/attend.h"
#include "app/commands/commands.h"
#include "app/commands/model/output.h"
#include "attention/models/gguf/gguf_source.h"

namespace headscope::app {
namespace {

using attention::Error;
using attention::Index;
using attention::PassRequest;
using attention::Result;
using attention::Status;

struct ModelOptions {
  std::string folder, output, features;
  std::optional<std::string> text, textFile, image, decoderText;
  std::vector<Index> ids, layers, decoderIds;
  std::vector<std::string> only, off;
  std::optional<Index> generate;
  attention::Sampling sampling;
  bool json = false, composition = false;
};

/// Returns an Error if an option's value is wrong for any model.
Status checkOptions(const ModelOptions& options) {
  if (options.text.has_value() + options.textFile.has_value() + !options.ids.empty() +
          options.image.has_value() + !options.features.empty() !=
      1)
    return Error{"expected one of --text T, --text-file F, --ids 464,3290,318 and --image F"};
  if (options.generate && (*options.generate < 0 || *options.generate > (Index{1} << 20)))
    return Error{fmt::format("--generate is {}, expected 0 to {}", *options.generate, Index{1} << 20)};
  if (options.output.empty() && (!options.layers.empty() || !options.only.empty()))
    return Error{"--layers and --only are for a file: -o FILE is missing"};
  if (options.decoderText && !options.decoderIds.empty())
    return Error{"expected one of --decoder-text T and --decoder-ids 250,17"};
  return attention::validate(options.sampling);
}

/// The arrays that -o writes: all, or those that --only names.
std::vector<std::string> arraysOf(const ModelOptions& options) {
  if (!options.only.empty()) return options.only;
  return {std::begin(kModelArrays), std::end(kModelArrays)};
}

PassRequest requestOf(const ModelOptions& options, const attention::Model& model) {
  const auto wants = [&, arrays = arraysOf(options)](const char* name) {
    return !options.output.empty() && std::find(arrays.begin(), arrays.end(), name) != arrays.end();
  };
  PassRequest request;
  if (!options.layers.empty()) {
    request.layers = options.layers;
    std::sort(request.layers->begin(), request.layers->end());
    request.layers->erase(std::unique(request.layers->begin(), request.layers->end()), request.layers->end());
  }
  request.weights = wants("attention");
  request.projections = wants("q") || wants("k") || wants("v");
  request.hidden = wants("hidden");
  const bool allRows = wants("logits") || !model.config().causal;
  request.logits = allRows ? attention::LogitRows::all : attention::LogitRows::last;
  return request;
}

/// Names the tensor because of which the numbers of that text aren't finite.
Error notFinite(const ModelOptions& options, const std::shared_ptr<const attention::Model>& model,
                std::span<const Index> ids) {
  return Error{modelFault({.name = options.folder, .model = model}, ids,
                          {.layers = model->config().layerCount(), .head = true}, {})};
}

bool isFinite(const attention::PassResult& pass) {
  return pass.stream.allFinite() && pass.logits.allFinite();
}

/// Generates tokens and measures the speed.
Status writeOn(const ModelOptions& options, const PassRequest& asked,
               const std::shared_ptr<const attention::Model>& model, attention::ModelSession& session,
               ModelReport& run) {
  const attention::ModelConfig& config = session.model().config();
  if (!config.causal && !config.isBidirectionalDecoder())
    return Error{"this model is a bidirectional encoder and can't generate; expected a decoder"};
  const Index before = session.length();
  if (const Status status = session.model().checkTokens({}, before + *options.generate); !status)
    return status;
  run.generatedIds.emplace();
  session.reserve(before + *options.generate);
  PassRequest request;
  request.layers = std::vector<Index>();
  request.patches = asked.patches;
  bool finite = true;
  const auto begin = std::chrono::steady_clock::now();
  const Status status = attention::generate(session, run.pass.logits, *options.generate, options.sampling,
                                            request, [&](Index id, const attention::PassResult& pass) {
                                              run.generatedIds->push_back(id);
                                              finite = isFinite(pass);
                                              return finite;
                                            });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  run.tokensPerSecond = static_cast<double>(run.generatedIds->size()) / std::max(seconds.count(), 1e-9);
  return finite ? status : notFinite(options, model, session.tokens());
}

/// Opens the folder's tokenizer, if there is one. A text needs it; ids are shown with it.
Status openTokenizer(const ModelOptions& options, ModelReport& run) {
  std::error_code ignored;
  const bool needed = (options.ids.empty() && options.features.empty()) || options.decoderText;
  const std::filesystem::path folder = attention::groupedPath(options.folder).path;
  if (!needed && !attention::isGguf(folder) && !std::filesystem::exists(folder / "tokenizer.json", ignored))
    return attention::success();
  auto tokenizer = attention::TextTokenizer::open(folder);
  if (!tokenizer) {
    if (needed) return tokenizer.error();
    run.note = "Ids are shown without texts: " + tokenizer.error().message;
    return attention::success();
  }
  run.tokenizer = std::make_shared<const attention::TextTokenizer>(std::move(*tokenizer));
  return attention::success();
}

/// Sets the model up for the picture, whose tokens are the input.
Status readPicture(const std::string& image, std::shared_ptr<const attention::Model>& model,
                   ModelReport& run) {
  auto picture = attention::modelOnPictureFile(model, image);
  if (!picture) return picture.error();
  run.picture = *std::move(picture);
  model = run.picture->model;
  for (Index i = 0; i < run.picture->tokens(); ++i) run.inputIds.push_back(i);
  return attention::success();
}

/// Reads the given ids, or those of the given text.
Status readInput(const ModelOptions& options, ModelReport& run) {
  run.inputIds = options.ids;
  if (const Status status = openTokenizer(options, run); !status) return status;
  if (!options.ids.empty() || !options.features.empty()) return attention::success();
  std::string text = options.text.value_or("");
  if (options.textFile) {
    const auto bytes = attention::readFile(*options.textFile, attention::kMaxTyped);
    if (!bytes) return bytes.error();
    const auto plain = attention::utf8Text({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
    if (!plain) return Error{*options.textFile + " " + plain.error().message};
    text = *plain;
  }
  const auto encoded = run.tokenizer->encode(text);
  if (!encoded) return Error{options.textFile.value_or("--text") + ": " + encoded.error().message};
  run.inputIds.assign(encoded->ids.begin(), encoded->ids.end());
  if (run.inputIds.empty())
    return Error{options.textFile.value_or("--text") + " has no token, expected at least one"};
  return attention::success();
}

/// For an encoder–decoder, the input goes to its encoder, and the decoder's text starts with its start token.
Status readSource(const attention::Model& model, const ModelOptions& options, PassRequest& request,
                  ModelReport& run) {
  if (!model.config().reads()) {
    if (!options.decoderText && options.decoderIds.empty() && options.features.empty())
      return attention::success();
    return Error{
        "--decoder-text, --decoder-ids and --features are for the decoder heads of an encoder–decoder"};
  }
  if (!model.source() == options.features.empty())
    return Error{model.source()
                     ? "--features is for a decoder whose encoder isn't computed here, such as Whisper's"
                     : "this decoder reads an encoder's output for a sound, expected --features FILE"};
  auto memory = model.source() ? attention::encoded(model.source(), run.inputIds)
                               : attention::readFeatures(options.features, model.config().modelDim);
  if (!memory) return memory.error();
  request.memory = *std::move(memory);
  run.sourceIds = std::exchange(run.inputIds, {model.config().startToken});
  if (!options.features.empty()) run.sourceIds.clear();
  run.inputIds.insert(run.inputIds.end(), options.decoderIds.begin(), options.decoderIds.end());
  if (!options.decoderText) return attention::success();
  const auto encoded = run.tokenizer->encode(*options.decoderText, attention::SpecialTokens::leaveOut);
  if (!encoded) return Error{"--decoder-text: " + encoded.error().message};
  run.inputIds.insert(run.inputIds.end(), encoded->ids.begin(), encoded->ids.end());
  return attention::success();
}

Status checkMemory(const attention::Model& model, Index tokens, const PassRequest& request) {
  const std::uint64_t bytes = attention::passBytes(model.config(), tokens, request), budget = attendBudget();
  if (bytes <= budget) return attention::success();
  return Error{
      fmt::format("this needs {:.1f} GB, expected at most {:.1f}: fewer tokens, or some layers and arrays "
                  "with --layers and --only",
                  static_cast<double>(bytes) / 1e9, static_cast<double>(budget) / 1e9)};
}

int runModel(const ModelOptions& options) {
  if (const Status status = checkOptions(options); !status) return usage(status.error());
  auto opened = attention::Model::open(options.folder);
  if (!opened) return fail(opened.error());
  auto model = std::make_shared<const attention::Model>(std::move(*opened));
  if (model->config().picture && !options.image)
    return usage(Error{options.folder + " reads pictures, expected --image F"});
  PassRequest request = requestOf(options, *model);
  const auto off = switchedHeads(options.off, model->config());
  if (!off) return usage(off.error());
  for (const SwitchedHead& head : *off) request.patches.push_back({.layer = head.layer, .head = head.head});
  ModelReport run;
  if (const Status status = options.image ? readPicture(*options.image, model, run) : readInput(options, run);
      !status)
    return fail(status.error());
  if (const Status status = readSource(*model, options, request, run); !status) return fail(status.error());
  if (const Status status = checkMemory(*model, std::ssize(run.inputIds), request); !status)
    return fail(status.error());
  attention::ModelSession session(model);
  auto pass = session.append(run.inputIds, request);
  if (!pass) return fail(pass.error());
  run.pass = std::move(*pass);
  if (!isFinite(run.pass)) return fail(notFinite(options, model, run.inputIds));
  if (options.generate)
    if (const Status status = writeOn(options, request, model, session, run); !status)
      return fail(status.error());
  if (options.composition) {
    auto pairs = allCompositions(*model);
    if (!pairs) return fail(pairs.error());
    run.compositions = *std::move(pairs);
  }
  if (!options.output.empty())
    if (const Status status = writeModelRun(options.output, run, !options.layers.empty(),
                                            model->config().cross(), arraysOf(options));
        !status)
      return fail(status.error());
  return options.json ? print(modelJson(*model, run), Printed::json) : print(modelTable(*model, run));
}

}  // namespace

void addModelCommand(CLI::App& app, int& exitCode) {
  CLI::App* command = app.add_subcommand(
      "model", "Run a model (a folder or a GGUF file) on tokens: predictions, text, every array");
  auto options = std::make_shared<ModelOptions>();
  command
      ->add_option("FOLDER", options->folder,
                   "A Hugging Face folder or a GGUF file, or learned for the bundled model")
      ->required();
  addNumbers(*command, "--ids", options->ids, "Token ids, with commas between them");
  command->add_option("--text", options->text, "A text, read with the folder's tokenizer.json")
      ->type_name("T");
  command->add_option("--text-file", options->textFile, "A UTF-8 file with the text")->type_name("F");
  command->add_option("--image", options->image, "A PNG or JPEG, for a model that reads pictures")
      ->type_name("F");
  command
      ->add_option("--decoder-text", options->decoderText,
                   "The start of an encoder–decoder's answer; --text is the encoder's text")
      ->type_name("T");
  command
      ->add_option("--features", options->features,
                   "For Whisper's decoder: its encoder's output, [frames, width], .npy or .safetensors")
      ->type_name("F");
  addNumbers(*command, "--decoder-ids", options->decoderIds,
             "The same as token ids, with commas between them");
  command->add_option("--generate", options->generate, "Maximum number of tokens to generate");
  command->add_option("--temperature", options->sampling.temperature, "0 takes the most likely token")
      ->capture_default_str();
  command->add_option("--top-k", options->sampling.topK, "Sample from this many tokens; 0 for all")
      ->capture_default_str();
  command->add_option("--top-p", options->sampling.topP, "Sample from the tokens that reach this probability")
      ->capture_default_str();
  command->add_option("--seed", options->sampling.seed, "Seed of the sampling")->capture_default_str();
  command->add_option("-o,--output", options->output, "The safetensors file to write")
      ->type_name("OUT.safetensors");
  addNumbers(*command, "--layers", options->layers, "Only arrays of these layers");
  command
      ->add_option("--only", options->only,
                   "Only these arrays: any of attention, q, k, v, hidden and "
                   "logits")
      ->delimiter(',')
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(kModelArrays), std::end(kModelArrays))));
  command
      ->add_option("--off", options->off,
                   "Heads to switch off, as 1.2,3.4: layer 1's head 2, layer 3's head 4")
      ->delimiter(',');
  command->add_flag(
      "--composition", options->composition,
      "Print how much of each head's output later heads read as queries, keys and values, according to the "
      "weights");
  command->add_flag("--json", options->json, "Print JSON instead of lines");
  command->callback([options, &exitCode] {
    exitCode = guarded([&] {
      // A folder of that name takes precedence.
      std::error_code ignored;
      if (!std::filesystem::exists(options->folder, ignored))
        options->folder = modelFolder(options->folder).string();
      return runModel(*options);
    });
  });
}

}  // namespace headscope::app
