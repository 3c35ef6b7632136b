// SPDX-License-Identifier: MIT
/// @file
/// Settings, counts and the trace sink.
#include "common/device/cpu/cpu_device.hpp"

#include <atomic>
#include <charconv>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "common/attention/problem.hpp"
#include "common/device/cpu/counts.hpp"
#include "common/device/cpu/runtime.hpp"

namespace simt::cpu {
namespace {

constexpr int kMaxWorkers = 1024;

Schedule schedule_from_environment() {
  const char* value = std::getenv("SIMT_SCHEDULE");
  if (!value || std::string_view(value) == "forward") return Schedule::forward;
  if (std::string_view(value) == "reverse") return Schedule::reverse;
  throw workshop::Refusal(
      fmt::format("SIMT_SCHEDULE is \"{}\"; allowed are forward and reverse", value));
}

int workers_from_environment() {
  const char* value = std::getenv("SIMT_WORKERS");
  if (!value) return 0;
  const std::string_view text = value;
  int workers = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), workers);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  if (whole && workers >= 1 && workers <= kMaxWorkers) return workers;
  throw workshop::Refusal(
      fmt::format("SIMT_WORKERS is \"{}\"; allowed are 1 to {}", text, kMaxWorkers));
}

std::mutex counts_mutex;
Counts total;

std::mutex sink_mutex;
std::function<void(const TraceRecord&)> sink;
std::atomic<bool> has_sink = false;

}  // namespace

Settings settings_from_environment() {
  return {schedule_from_environment(), workers_from_environment(), 0};
}

Settings& settings() {
  static Settings settings = settings_from_environment();
  return settings;
}

Counts& Counts::operator+=(const Counts& other) {
  for (const auto& [name, member] : kCounts) this->*member += other.*member;
  return *this;
}

Counts counts() {
  const std::lock_guard lock(counts_mutex);
  return total;
}

void reset_counts() {
  const std::lock_guard lock(counts_mutex);
  total = {};
}

void add_counts(const Counts& counts) {
  const std::lock_guard lock(counts_mutex);
  total += counts;
}

void set_trace_sink(std::function<void(const TraceRecord&)> new_sink) {
  const std::lock_guard lock(sink_mutex);
  sink = std::move(new_sink);
  has_sink = bool(sink);
}

bool tracing() { return has_sink.load(std::memory_order_relaxed); }

void record(const TraceRecord& record) {
  const std::lock_guard lock(sink_mutex);
  if (sink) sink(record);
}

}  // namespace simt::cpu
