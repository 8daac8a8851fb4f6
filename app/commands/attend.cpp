#include "app/commands/attend.h"

#include <fmt/core.h>

#include "app/commands/commands.h"
#include "attention/core/machine.h"

namespace headscope::app {
namespace {

using attention::Error;
using attention::Status;

using ValueCheck = std::string (*)(const std::string&);

std::string foundText(const std::string& text, const char* expected) {
  return "found " + attention::quotedText(text) + ", expected " + expected;
}

template <typename Number>
bool reads(const std::string& text, Number& value) {
  const char* end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data(), end, value);
  return code == std::errc() && at == end;
}

// What is wrong with a value, or "". Ranges that depend on other sizes are checked later.

std::string checkSize(const std::string& text) {
  std::uint64_t value = 0;
  return reads(text, value) && value > 0 ? "" : foundText(text, "a whole number of at least 1");
}

std::string checkCount(const std::string& text) {
  std::uint64_t value = 0;
  return reads(text, value) ? "" : foundText(text, "a whole number of at least 0");
}

std::string checkNumber(const std::string& text) {
  double value = 0;
  return reads(text, value) && std::isfinite(value) ? "" : foundText(text, "a finite number");
}

std::string checkSwitch(const std::string& text) {
  return text == "true" || text == "false" ? "" : foundText(text, "true or false");
}

std::string checkPositive(const std::string& text) {
  double value = 0;
  return reads(text, value) && std::isfinite(value) && value > 0 ? "" : foundText(text, "a number above 0");
}

std::string checkNorm(const std::string& text) {
  return text == "rms" || text == "layer" ? "" : foundText(text, "rms or layer");
}

std::string anyText(const std::string&) {
  return "";
}

template <ValueCheck check>
std::string orNone(const std::string& text) {
  if (text == "none" || text == "None") return "";
  const std::string wrong = check(text);
  return wrong.empty() ? "" : wrong + ", or none";
}

struct LayerOption {
  const char* name;   ///< in the file's metadata
  const char* named;  ///< on the command line
  ValueCheck check;
  const char* help;
};

constexpr LayerOption kLayerOptions[] = {
    {"heads", "--heads N", checkSize, "Query heads"},
    {"kv_heads", "--kv-heads N", checkSize, "Key and value heads; divides heads"},
    {"head_dim", "--head-dim N", checkSize, "Size of one head"},
    {"layer", "--layer N", checkCount, "Layer to use from a whole model's file, by the number in its names"},
    {"causal", "--causal", checkSwitch,
     "Each query sees keys up to its own position; --causal=false for all"},
    {"window", "--window N", orNone<checkSize>, "Sliding window: keys a query reaches, including its own"},
    {"sinks", "--sinks N", checkCount, "First keys that stay visible outside the window"},
    {"cache_length", "--cache-length N", checkCount, "Context tokens before x"},
    {"rope_theta", "--rope-theta NUMBER", orNone<checkNumber>, "Base of the rotary position embedding"},
    {"rotary_dim", "--rotary-dim N", orNone<checkSize>,
     "Numbers of each head that are rotated (head_dim times partial_rotary_factor); default all"},
    {"rope_interleaved", "--rope-interleaved", checkSwitch,
     "Rotate neighbouring numbers, as GPT-J; default the numbers of two halves"},
    {"rope_scaling", "--rope-scaling JSON", anyText, "rope_scaling of config.json"},
    {"max_positions", "--max-positions N", orNone<checkSize>,
     "max_position_embeddings of config.json, which some kinds of rope_scaling read"},
    {"qk_norm", "--qk-norm KIND", checkNorm,
     "The kind of the norms q_norm and k_norm: rms, or layer, the default if they have biases"},
    {"norm_epsilon", "--norm-epsilon NUMBER", orNone<checkPositive>,
     "Added to their variance; default 1e-6, of layer norms 1e-5"},
    {"norm_plus_one", "--norm-plus-one", checkSwitch, "They multiply by 1 + weight, as Gemma's"},
    {"t5_max_distance", "--t5-max-distance N", orNone<checkSize>,
     "Distance from which T5's position biases stay the same; default 128"},
    {"t5_bidirectional", "--t5-bidirectional", checkSwitch,
     "Half of T5's buckets are for keys after the query; default without --causal"},
    {"alibi", "--alibi", checkSwitch, "Linear position biases; --alibi=false for none"},
    {"softcap", "--softcap NUMBER", orNone<checkNumber>, "Soft limit of the scores"},
    {"scale", "--scale NUMBER", orNone<checkNumber>, "Factor on q·k; default 1/sqrt(head_dim)"},
    {"dropout", "--dropout NUMBER", checkNumber, "Probability of dropping a weight"},
    {"dropout_seed", "--dropout-seed N", checkCount, "Seed of the dropout"}};

struct AttendOptions {
  std::string input, output;
  std::string values[std::size(kLayerOptions)];  ///< "" if not given
};

/// Returns the first number in a system file, or nothing if there is none.
std::optional<std::uint64_t> systemNumber(const char* path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

}  // namespace

std::uint64_t attendBudget() {
  // A result is held three times: as computed, as named tensors, and as the bytes of the file. The fourth
  // share is left to the inputs and to other programs.
  constexpr std::uint64_t kShare = 4;
  std::uint64_t bytes = attention::machineMemory();
  // A container may be allowed less than the machine has.
  for (const char* limit : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    bytes = std::min(bytes, systemNumber(limit).value_or(bytes));
  }
  return bytes / kShare;
}

Status attendFile(const std::string& input, const std::string& output,
                  const attention::AttentionOptions& options, std::uint64_t budget) {
  const std::string name = attention::shownPath(input);
  const auto in = [&](const Error& error) { return Error{name + ": " + error.message}; };
  const auto file = attention::TensorSource::open(input);
  if (!file) return file.error();
  const auto problem = attention::readProblem(*file, options, name, budget);
  if (!problem) return problem.error();
  for (const auto& note : problem->notes) warn(note);
  if (const auto status = attention::checkBudget(*problem, budget); !status) return in(status.error());
  const auto results = attention::solve(*problem);
  if (const auto status = attention::checkFinite(*problem, results); !status) return in(status.error());
  return attention::writeSafetensors(output, attention::resultFile(results, problem->batched));
}

Command attendCommand() {
  const auto o = std::make_shared<AttendOptions>();
  Command command{"attend",
                  "Run an attention layer from a safetensors file and write every array it computes"};
  command.options = {
      Option("input IN.safetensors",
             "Safetensors or .npz file with x and a layer's weights: q_proj, k_proj, v_proj, o_proj, or "
             "PyTorch's own names",
             &o->input, kRequiredFileName),
      Option("-o,--output OUT.safetensors", "The safetensors file to write", &o->output, kRequiredFileName)};
  for (std::size_t i = 0; i < std::size(kLayerOptions); ++i) {
    const auto& [name, named, check, help] = kLayerOptions[i];
    command.options.emplace_back(named, help, &o->values[i],
                                 OptionRules{.check = check, .isSwitch = check == checkSwitch});
  }
  command.footer =
      "The file's metadata may hold options under the same names (kv_heads for --kv-heads); options given "
      "here override them.";
  command.run = [o] {
    attention::AttentionOptions options;
    for (std::size_t i = 0; i < std::size(kLayerOptions); ++i)
      if (!o->values[i].empty()) options[kLayerOptions[i].name] = o->values[i];
    orFail(attendFile(o->input, o->output, options, attendBudget()));
    return kExitDone;
  };
  return command;
}

namespace {

using attention::Result;

Result<SwitchedHead> switchedHead(const std::string& text, const attention::ModelConfig& config) {
  SwitchedHead head;
  const char* const end = text.data() + text.size();
  const auto layer = std::from_chars(text.data(), end, head.layer);
  const bool dotted = layer.ec == std::errc() && layer.ptr != end && *layer.ptr == '.';
  const auto number = dotted ? std::from_chars(layer.ptr + 1, end, head.head) : layer;
  if (!dotted || number.ec != std::errc() || number.ptr != end)
    return Error{"--off has " + attention::quotedText(text) + ", expected LAYER.HEAD such as 1.2"};
  if (head.layer < 0 || head.layer >= config.layerCount() || head.head < 0 || head.head >= config.heads)
    return Error{fmt::format("--off has {}, this model has layers 0 to {} and heads 0 to {}", text,
                             config.layerCount() - 1, config.heads - 1)};
  return head;
}

}  // namespace

Result<std::vector<SwitchedHead>> switchedHeads(const std::vector<std::string>& names,
                                                const attention::ModelConfig& config) {
  std::vector<SwitchedHead> heads;
  for (const std::string& name : names) {
    const auto head = switchedHead(name, config);
    if (!head) return head.error();
    heads.push_back(*head);
  }
  return heads;
}

}  // namespace headscope::app
