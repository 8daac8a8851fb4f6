#include "app/commands/attend.h"

#include <fmt/core.h>
#include <unistd.h>

#include "app/commands/commands.h"

namespace headscope::app {
namespace {

using attention::Error;
using attention::Status;

enum class Kind { size, count, number, flag };

struct Flag {
  const char* option;  ///< name in the file's metadata
  const char* flag;
  Kind kind;
  bool optional;  ///< accepts "none"
  const char* help;
};

constexpr Flag kFlags[] = {
    {"heads", "--heads", Kind::size, false, "Query heads"},
    {"kv_heads", "--kv-heads", Kind::size, false, "Key and value heads; divides heads"},
    {"head_dim", "--head-dim", Kind::size, false, "Size of one head"},
    {"layer", "--layer", Kind::count, false,
     "Layer to use from a whole model's file, by the number in its names"},
    {"causal", "--causal", Kind::flag, false,
     "Each query sees keys up to its own position; --causal=false for all"},
    {"window", "--window", Kind::size, true, "Sliding window: keys a query reaches, including its own"},
    {"sinks", "--sinks", Kind::count, false, "First keys that stay visible outside the window"},
    {"cache_length", "--cache-length", Kind::count, false, "Context tokens before x"},
    {"rope_theta", "--rope-theta", Kind::number, true, "Base of the rotary position embedding"},
    {"alibi", "--alibi", Kind::flag, false, "Linear position biases; --alibi=false for none"},
    {"softcap", "--softcap", Kind::number, true, "Soft limit of the scores"},
    {"scale", "--scale", Kind::number, true, "Factor on q·k; default 1/sqrt(head_dim)"},
    {"dropout", "--dropout", Kind::number, false, "Probability with which a weight is dropped"},
    {"dropout_seed", "--dropout-seed", Kind::count, false, "Seed of the dropout"}};

template <typename Number>
bool reads(const std::string& text, Number& value) {
  const char* end = text.data() + text.size();
  const auto [at, code] = std::from_chars(text.data(), end, value);
  return code == std::errc() && at == end;
}

/// Returns what is wrong with a flag's value, or "". Ranges that depend on other sizes are checked later.
std::string checkValue(const Flag& flag, const std::string& text) {
  const std::string none = flag.optional ? ", or none" : "";
  if (flag.optional && (text == "none" || text == "None")) return {};
  std::uint64_t whole = 0;
  double number = 0;
  switch (flag.kind) {
    case Kind::size:
      if (reads(text, whole) && whole > 0) return {};
      return "found " + attention::quotedText(text) + ", expected a whole number of at least 1" + none;
    case Kind::count:
      if (reads(text, whole)) return {};
      return "found " + attention::quotedText(text) + ", expected a whole number of at least 0" + none;
    case Kind::number:
      if (reads(text, number) && std::isfinite(number)) return {};
      return "found " + attention::quotedText(text) + ", expected a finite number" + none;
    case Kind::flag:
      if (text == "true" || text == "false") return {};
      return "found " + attention::quotedText(text) + ", expected true or false";
  }
  return {};
}

/// The parsed command line. Shared with CLI11, which outlives the call of addAttendCommand().
struct Arguments {
  std::string input, output;
  std::string values[std::size(kFlags)];
};

void addFlag(CLI::App& command, const Flag& flag, std::string& value) {
  CLI::Option* option = flag.kind == Kind::flag ? command.add_flag(flag.flag, value, flag.help)
                                                : command.add_option(flag.flag, value, flag.help);
  const char* kinds[] = {"N", "N", "NUMBER", ""};
  option->type_name(kinds[static_cast<int>(flag.kind)]);
  option->check([&flag](const std::string& text) { return checkValue(flag, text); });
}

/// Returns the first number in a system file, or nothing if there is none.
std::optional<std::uint64_t> systemNumber(const char* path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

int runAttend(const Arguments& arguments) {
  attention::AttentionOptions options;
  for (std::size_t i = 0; i < std::size(kFlags); ++i) {
    if (!arguments.values[i].empty()) options[kFlags[i].option] = arguments.values[i];
  }
  return guarded([&] {
    const auto status = attendFile(arguments.input, arguments.output, options, attendBudget());
    return status ? kExitDone : fail(status.error());
  });
}

}  // namespace

std::uint64_t attendBudget() {
  // A result is held three times: as computed, as named tensors, and as the bytes of the file. The fourth
  // share is left to the inputs and to other programs.
  constexpr std::uint64_t kShare = 4;
  auto bytes = std::uint64_t{4} << 30;
  const long pages = ::sysconf(_SC_PHYS_PAGES), pageSize = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && pageSize > 0)
    bytes = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(pageSize);
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

void addAttendCommand(CLI::App& app, int& exitCode) {
  auto* command = app.add_subcommand(
      "attend", "Run an attention layer from a safetensors file and write every array it computes");
  const auto arguments = std::make_shared<Arguments>();
  command
      ->add_option("input", arguments->input,
                   "Safetensors or .npz file with x and a layer's weights: q_proj, k_proj, v_proj, o_proj, "
                   "or PyTorch's own names")
      ->type_name("IN.safetensors")
      ->required()
      ->check(checkFileName);
  command->add_option("-o,--output", arguments->output, "The safetensors file to write")
      ->type_name("OUT.safetensors")
      ->required()
      ->check(checkFileName);
  for (std::size_t i = 0; i < std::size(kFlags); ++i) addFlag(*command, kFlags[i], arguments->values[i]);
  command->footer(
      "The file's metadata may hold options under the same names (kv_heads for --kv-heads); options given "
      "here override them.");
  command->callback([arguments, &exitCode] { exitCode = runAttend(*arguments); });
}

using attention::Result;

namespace {

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
