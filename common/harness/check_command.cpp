// SPDX-License-Identifier: MIT
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/attention/error_bound.hpp"
#include "common/attention/safetensors.hpp"
#include "common/attention/stages.hpp"
#include "common/attention/whole_file.hpp"
#include "common/harness/command_line.hpp"
#include "common/harness/exit_status.hpp"
#include "common/harness/results.hpp"
#include "common/harness/run_command.hpp"
#include "common/harness/run_request.hpp"
#include "common/harness/stage_choice.hpp"

namespace workshop {
namespace {

/// A number or the name of a stage is kept for the exercises; "./2" is a file of that name.
std::string checked_file(const CommandLine& line) {
  const auto file = line.value("FILE");
  if (!file)
    throw Refusal("check is given no file; allowed: a safetensors file with q, k, v and o");
  if (could_name_a_stage(*file)) {
    throw Refusal(
        fmt::format("check '{}': that names a stage, and there are no exercises yet; "
                    "allowed: a file (./{} if it is called so)",
                    *file, *file));
  }
  return *file;
}

ResultRow judge(const std::string& file, Mask mask) {
  const StoredTensors tensors = read_safetensors(file);
  const Inputs inputs = inputs_from(tensors, file);
  require_finite(inputs);
  const Matrix<double> o = numbers_from(tensors, "o", file);
  if (o.rows != inputs.seq_len() || o.cols != inputs.head_dim()) {
    throw Refusal(fmt::format("{}: o is [{},{}]; allowed: the shape of q, [{},{}]", file, o.rows,
                              o.cols, inputs.seq_len(), inputs.head_dim()));
  }
  const Comparison comparison = compare(o, expect(inputs, mask));
  return {.stage = "check",
          .device = "from a file",
          .input = std::filesystem::path(file).filename().string(),
          .n = inputs.seq_len(),
          .d = inputs.head_dim(),
          .type = std::string(name_of(inputs.type)),
          .mask = std::string(name_of(mask)),
          .error_share = comparison.worst_share,
          .passed = comparison.passed,
          .detail = describe(comparison)};
}

}  // namespace

int check_command(const std::vector<std::string>& arguments) {
  CommandLine line("./workshop check",
                   "Judges attention that any program computed: a file with q, k, v and o.");
  line.add_positional("FILE", "what to judge", "a safetensors file with q, k, v and o [N,D]");
  line.add_flag("--causal", "o was computed with a causal mask");
  line.add_option("--json", "write the verdict as JSON", "a file name");
  if (!line.parse(arguments)) return kAllRight;
  const std::string file = checked_file(line);
  const auto json_file = line.value("--json");
  if (json_file) require_result_file("--json", *json_file, file);

  const ResultRow row = judge(file, line.has("--causal") ? Mask::causal : Mask::none);
  fmt::print("{}: N = {}, D = {}, {}, {}\n{}: {}\n", row.input, row.n, row.d, row.type,
             row.mask == "none" ? "no mask" : "causal mask", row.passed ? "pass" : "WRONG",
             row.detail);
  if (json_file) write_results(*json_file, "check", {row}, nlohmann::json::array());
  return row.passed ? kAllRight : kWrongResult;
}

}  // namespace workshop
