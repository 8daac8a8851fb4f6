#include <fmt/core.h>

#include "app/commands/attend.h"
#include "app/commands/commands.h"
#include "app/commands/model/output.h"
#include "attention/models/gguf/gguf_source.h"

namespace headscope::app {
namespace {

using attention::Index;
using attention::PassRequest;

struct ModelOptions {
  std::string folder, output, features;
  std::optional<std::string> text, textB, textFile, image, decoderText;
  std::vector<Index> ids, layers, decoderIds;
  std::vector<std::string> only, off;
  std::optional<Index> generate;
  attention::Sampling sampling;
  bool json = false, composition = false, families = false;
};

/// Refuses options whose values are wrong for any model.
void checkOptions(const ModelOptions& options) {
  if (options.text.has_value() + options.textFile.has_value() + !options.ids.empty() +
          options.image.has_value() + !options.features.empty() !=
      1)
    refuse("expected one of --text T, --text-file F, --ids 464,3290,318 and --image F");
  checkRange("--generate", options.generate.value_or(0), 0, Index{1} << 20);
  if (options.output.empty() && (!options.layers.empty() || !options.only.empty()))
    refuse("--layers and --only are for a file: -o FILE is missing");
  if (options.textB && !options.text) refuse("--text-b is the second of two texts: --text is missing");
  if (options.decoderText && !options.decoderIds.empty())
    refuse("expected one of --decoder-text T and --decoder-ids 250,17");
  orRefuse(attention::validate(options.sampling));
}

/// The arrays that -o writes: all, or those that --only names.
std::vector<std::string> arraysOf(const ModelOptions& options) {
  if (!options.only.empty()) return options.only;
  return wordsOf(kModelArrays);
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
std::string notFinite(const ModelOptions& options, const std::shared_ptr<const attention::Model>& model,
                      std::span<const Index> ids) {
  return modelFault({.name = options.folder, .model = model}, ids,
                    {.layers = model->config().layerCount(), .head = true}, {});
}

bool isFinite(const attention::PassResult& pass) {
  return pass.stream.allFinite() && pass.logits.allFinite();
}

/// Generates tokens and measures the speed.
void writeOn(const ModelOptions& options, const PassRequest& asked,
             const std::shared_ptr<const attention::Model>& model, attention::ModelSession& session,
             ModelReport& run) {
  const attention::ModelConfig& config = session.model().config();
  if (!config.causal && !config.isBidirectionalDecoder())
    failWith("this model is a bidirectional encoder and can't generate; expected a decoder");
  const Index before = session.length();
  orFail(session.model().checkTokens({}, before + *options.generate));
  run.generatedIds.emplace();
  session.reserve(before + *options.generate);
  PassRequest request;
  request.layers = std::vector<Index>();
  request.patches = asked.patches;
  bool finite = true;
  const auto begin = std::chrono::steady_clock::now();
  const auto take = [&](Index id, const attention::PassResult& pass) {
    run.generatedIds->push_back(id);
    finite = isFinite(pass);
    return finite;
  };
  orFail(attention::generate(session, run.pass.logits, *options.generate, options.sampling, request, take));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  run.tokensPerSecond = static_cast<double>(run.generatedIds->size()) / std::max(seconds.count(), 1e-9);
  if (!finite) failWith(notFinite(options, model, session.tokens()));
}

/// Opens the folder's tokenizer, if there is one. A text needs it; ids are shown with it.
void openTokenizer(const ModelOptions& options, ModelReport& run) {
  std::error_code ignored;
  const bool needed = (options.ids.empty() && options.features.empty()) || options.decoderText;
  const std::filesystem::path folder = attention::groupedPath(options.folder).path;
  if (!needed && !attention::isGguf(folder) && !std::filesystem::exists(folder / "tokenizer.json", ignored))
    return;
  auto tokenizer = attention::TextTokenizer::open(folder);
  if (tokenizer || needed)
    run.tokenizer = std::make_shared<const attention::TextTokenizer>(orFail(std::move(tokenizer)));
  else
    run.note = "Ids are shown without texts: " + tokenizer.error().message;
}

/// Sets the model up for the picture, whose tokens are the input.
void readPicture(const std::string& image, std::shared_ptr<const attention::Model>& model, ModelReport& run) {
  run.picture = orFail(attention::modelOnPictureFile(model, image));
  model = run.picture->model;
  for (Index i = 0; i < run.picture->tokens(); ++i) run.inputIds.push_back(i);
}

/// Reads two texts that the model reads as a pair.
void readPair(const ModelOptions& options, attention::Model& model, ModelReport& run) {
  if (model.config().causal || model.config().reads())
    failWith("--text-b is for encoders that read pairs of texts, such as BERT; this model isn't one");
  openTokenizer(options, run);
  const auto pair = orFail(run.tokenizer->encodePair(*options.text, *options.textB), "--text-b: ");
  run.inputIds.assign(pair.ids.begin(), pair.ids.end());
  if (pair.second < pair.ids.size() && model.config().tokenTypes > 1)
    model.beginSecondText(static_cast<Index>(pair.second));
}

/// Reads the given ids, or those of the given text.
void readInput(const ModelOptions& options, ModelReport& run) {
  run.inputIds = options.ids;
  openTokenizer(options, run);
  if (!options.ids.empty() || !options.features.empty()) return;
  const std::string name = options.textFile.value_or("--text");
  const std::string text = options.textFile ? readTextFile(name, name) : options.text.value_or("");
  const auto encoded = orFail(run.tokenizer->encode(text), name + ": ");
  run.inputIds.assign(encoded.ids.begin(), encoded.ids.end());
  if (run.inputIds.empty()) failWith(name + " has no token, expected at least one");
}

/// For an encoder–decoder, the input goes to its encoder, and the decoder's text starts with its start token.
void readSource(const attention::Model& model, const ModelOptions& options, PassRequest& request,
                ModelReport& run) {
  if (!model.config().reads()) {
    if (!options.decoderText && options.decoderIds.empty() && options.features.empty()) return;
    failWith("--decoder-text, --decoder-ids and --features are for the decoder heads of an encoder–decoder");
  }
  if (!model.source() == options.features.empty())
    failWith(model.source()
                 ? "--features is for a decoder whose encoder isn't computed here, such as Whisper's"
                 : "this decoder reads an encoder's output for a sound, expected --features FILE");
  request.memory =
      orFail(model.source() ? attention::encoded(model.source(), run.inputIds)
                            : attention::readFeatures(options.features, model.config().modelDim));
  run.sourceIds = std::exchange(run.inputIds, {model.config().startToken});
  if (!options.features.empty()) run.sourceIds.clear();
  run.inputIds.insert(run.inputIds.end(), options.decoderIds.begin(), options.decoderIds.end());
  if (!options.decoderText) return;
  const auto encoded = orFail(run.tokenizer->encode(*options.decoderText, attention::SpecialTokens::leaveOut),
                              "--decoder-text: ");
  run.inputIds.insert(run.inputIds.end(), encoded.ids.begin(), encoded.ids.end());
}

void checkMemory(const attention::Model& model, Index tokens, const PassRequest& request) {
  const std::uint64_t bytes = attention::passBytes(model.config(), tokens, request), budget = attendBudget();
  if (bytes > budget)
    failWith(
        fmt::format("this needs {:.1f} GB, expected at most {:.1f}: fewer tokens, or some layers and arrays "
                    "with --layers and --only",
                    static_cast<double>(bytes) / 1e9, static_cast<double>(budget) / 1e9));
}

int runModel(const ModelOptions& options) {
  if (options.families && !options.folder.empty())
    refuse("--families lists all families and takes no FOLDER");
  if (options.families) return options.json ? print(familiesJson(), Printed::json) : print(familiesTable());
  if (options.folder.empty()) refuse("FOLDER is required");
  checkOptions(options);
  attention::Model opened = orFail(attention::Model::open(options.folder));
  ModelReport run;
  if (options.textB) readPair(options, opened, run);
  auto model = std::make_shared<const attention::Model>(std::move(opened));
  if (model->config().picture && !options.image)
    refuse(options.folder + " reads pictures, expected --image F");
  PassRequest request = requestOf(options, *model);
  const auto off = orRefuse(switchedHeads(options.off, model->config()));
  for (const SwitchedHead& head : off) request.patches.push_back({.layer = head.layer, .head = head.head});
  if (options.image)
    readPicture(*options.image, model, run);
  else if (!options.textB)
    readInput(options, run);
  readSource(*model, options, request, run);
  checkMemory(*model, std::ssize(run.inputIds), request);
  attention::ModelSession session(model);
  run.pass = orFail(session.append(run.inputIds, request));
  if (!isFinite(run.pass)) failWith(notFinite(options, model, run.inputIds));
  if (options.generate) writeOn(options, request, model, session, run);
  if (options.composition) run.compositions = orFail(allCompositions(*model));
  if (!options.output.empty())
    orFail(writeModelRun(options.output, run, !options.layers.empty(), model->config().cross(),
                         arraysOf(options)));
  return options.json ? print(modelJson(*model, run), Printed::json) : print(modelTable(*model, run));
}

}  // namespace

Command modelCommand() {
  const auto o = std::make_shared<ModelOptions>();
  Command command{"model", "Run a model (a folder or a GGUF file) on tokens: predictions, text, every array"};
  command.options = {
      Option("FOLDER", "A Hugging Face folder or a GGUF file, or learned for the bundled model", &o->folder),
      Option("--ids", "Token ids, with commas between them", &o->ids),
      Option("--text T", "A text, read with the folder's tokenizer", &o->text),
      Option("--text-b T", "A second text, for a model that reads pairs, such as BERT", &o->textB),
      Option("--text-file F", "A UTF-8 file with the text", &o->textFile),
      Option("--image F", "A PNG or JPEG, for a model that reads pictures", &o->image),
      Option("--decoder-text T", "The start of an encoder–decoder's answer; --text is the encoder's text",
             &o->decoderText),
      Option("--features F",
             "For Whisper's decoder: its encoder's output, [frames, width], .npy or .safetensors",
             &o->features),
      Option("--decoder-ids", "The same as token ids, with commas between them", &o->decoderIds),
      Option("--generate", "Maximum number of tokens to generate", &o->generate),
      Option("--temperature", "0 takes the most likely token", &o->sampling.temperature, kShown),
      Option("--top-k", "Sample from this many tokens; 0 for all", &o->sampling.topK, kShown),
      Option("--top-p", "Sample from the tokens that reach this probability", &o->sampling.topP, kShown),
      Option("--seed", "Seed of the sampling", &o->sampling.seed, kShown),
      Option("-o,--output OUT.safetensors", "The safetensors file to write", &o->output, kFileName),
      Option("--layers", "Only arrays of these layers", &o->layers),
      Option("--only", "Only these arrays: any of attention, q, k, v, hidden and logits", &o->only,
             {.words = wordsOf(kModelArrays), .commas = true}),
      Option("--off", "Heads to switch off, as 1.2,3.4: layer 1's head 2, layer 3's head 4", &o->off,
             {.commas = true}),
      Option(
          "--composition",
          "Print how much of each head's output later heads read as queries, keys and values, according to "
          "the weights",
          &o->composition),
      Option("--families", "List the families of models and what is computed of each", &o->families),
      Option("--json", "Print JSON instead of lines", &o->json)};
  command.run = [o] {
    // A folder of that name takes precedence.
    std::error_code ignored;
    if (!o->folder.empty() && !std::filesystem::exists(o->folder, ignored))
      o->folder = modelFolder(o->folder).string();
    return runModel(*o);
  };
  return command;
}

}  // namespace headscope::app
