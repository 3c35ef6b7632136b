// SPDX-License-Identifier: MIT
#include "common/harness/results.hpp"

#include <chrono>
#include <cmath>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/attention/whole_file.hpp"
#include "common/device/device.hpp"
#include "common/harness/build_info.hpp"

namespace workshop {
namespace {

using nlohmann::json;

constexpr const char* kFormat = "tiled-attention-workshop/1";

json to_json(const std::optional<double>& number) {
  return number && std::isfinite(*number) ? json(*number) : json(nullptr);  // JSON has no infinity
}

std::optional<double> optional_number(const json& value) {
  return value.is_null() ? std::nullopt : std::optional(value.get<double>());
}

ResultRow row_from(const json& value) {
  return {.stage = value.at("stage"),
          .device = value.at("device"),
          .input = value.at("input"),
          .n = value.at("n"),
          .d = value.at("d"),
          .type = value.at("type"),
          .mask = value.at("mask"),
          .block_n = value.at("block_n"),
          .error_share = optional_number(value.at("error_share_of_bound")),
          .time_ms = optional_number(value.at("time_ms_median")),
          .repeats = value.at("repeats"),
          .passed = value.at("passed"),
          .detail = value.at("detail")};
}

std::string error_text(const ResultRow& row) {
  if (!row.error_share || !std::isfinite(*row.error_share)) return "no number";
  return *row.error_share < 1e5 ? fmt::format("{:.2f}", *row.error_share)
                                : fmt::format("{:.1e}", *row.error_share);
}

/// Short enough for its column: a GPU's name without its maker.
std::string device_text(const ResultRow& row) {
  constexpr std::string_view kMaker = "NVIDIA ";
  constexpr std::size_t kWidth = 15;
  const std::string& name = row.device;
  return name.substr(name.rfind(kMaker, 0) == 0 ? kMaker.size() : 0, kWidth);
}

std::string time_text(const ResultRow& row) {
  if (!row.time_ms) return "-";
  return fmt::format("{:.3g} ms (of {})", *row.time_ms, row.repeats);
}

}  // namespace

std::string wrapped(std::string text) {
  constexpr std::size_t kColumns = 100;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find('\n', begin)) != text.npos;) {
    if (end - begin > kColumns) {
      const std::size_t blank = text.rfind(' ', begin + kColumns);
      end = blank != text.npos && blank > begin ? blank : end;
      text[end] = '\n';
    }
    begin = end + 1;
  }
  return text;
}

json row_json(const ResultRow& row) {
  return {{"stage", row.stage},
          {"device", row.device},
          {"input", row.input},
          {"n", row.n},
          {"d", row.d},
          {"type", row.type},
          {"mask", row.mask},
          {"block_n", row.block_n},
          {"error_share_of_bound", to_json(row.error_share)},
          {"time_ms_median", to_json(row.time_ms)},
          {"repeats", row.repeats},
          {"passed", row.passed},
          {"detail", row.detail}};
}

std::string table(const std::vector<ResultRow>& rows) {
  constexpr const char* kLine = "{:<21}  {:<15}  {:>4}  {:>2}  {:<4}  {:<6}  {:>9}  {:>14}  {}\n";
  std::string text = fmt::format(kLine, "stage", "device", "N", "D", "type", "mask", "err/bound",
                                 "median time", "verdict");
  for (const ResultRow& row : rows) {
    text += fmt::format(kLine, row.stage, device_text(row), row.n, row.d, row.type, row.mask,
                        error_text(row), time_text(row), row.passed ? "pass" : "WRONG");
  }
  for (const ResultRow& row : rows) {
    if (!row.detail.empty()) {
      text += wrapped(fmt::format("\n{} on {}, {}, mask {}:\n{}\n", row.stage, row.device,
                                  row.input, row.mask, row.detail));
    }
  }
  return text;
}

json device_json() {
  const simt::DeviceInfo info = simt::device_info();
  return json::array({{{"kind", info.kind == simt::DeviceKind::gpu ? "gpu" : "cpu"},
                       {"name", info.name},
                       {"description", info.description}}});
}

json envelope(const std::string& kind, const std::vector<ResultRow>& rows, const json& devices) {
  json row_list = json::array();
  for (const ResultRow& row : rows) row_list.push_back(row_json(row));
  return envelope_around(kind, row_list, devices);
}

json envelope_around(const std::string& kind, const json& row_list, const json& devices) {
  const BuildInfo& build = build_info();
  const auto now = std::chrono::system_clock::now();
  return {{"format", kFormat},
          {"kind", kind},
          {"created", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                                  fmt::gmtime(std::chrono::system_clock::to_time_t(now)))},
          {"build",
           {{"version", build.version},
            {"commit", build.commit},
            {"compiler", build.compiler},
            {"flags", build.flags},
            {"build_type", build.build_type},
            {"cuda", build.cuda},
            {"cmake", build.cmake}}},
          {"devices", devices},
          {"rows", row_list}};
}

void write_envelope(const std::string& file, const json& envelope) {
  write_whole_file(file, envelope.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
}

void write_results(const std::string& file, const std::string& kind,
                   const std::vector<ResultRow>& rows, const json& devices) {
  write_envelope(file, envelope(kind, rows, devices));
}

std::vector<ResultRow> rows_of(const json& envelope) {
  std::vector<ResultRow> rows;
  for (const json& row : envelope.at("rows")) rows.push_back(row_from(row));
  return rows;
}

}  // namespace workshop
