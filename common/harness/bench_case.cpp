// SPDX-License-Identifier: MIT
#include "common/harness/bench_case.hpp"

#include "common/attention/error_bound.hpp"

namespace workshop {
namespace {

/// What was counted since `before`.
std::vector<simt::OperationCount> counted_since(const std::vector<simt::OperationCount>& before) {
  std::vector<simt::OperationCount> counts = simt::operation_counts();
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i].count -= before[i].count;
  return counts;
}

}  // namespace

BenchCase::BenchCase(const BenchPoint& point, AttentionFunction attention)
    : BenchCase(point, make_inputs("normal", point.type, point.n, point.d, 1), attention) {}

BenchCase::BenchCase(const BenchPoint& point, const Inputs& inputs, AttentionFunction attention)
    : attention_(attention), device_case_(inputs, point.mask, point.block_n) {
  const auto before = simt::operation_counts();
  judged_ = device_case_.run(attention);
  counts_ = counted_since(before);
  const Comparison comparison = compare(widen(point.type, judged_), expect(inputs, point.mask));
  if (!comparison.passed) throw simt::KernelFault(describe(comparison));
  error_share_ = comparison.worst_share;
}

double BenchCase::time_ms(int launches) {
  const DeviceCase::Outcome outcome = device_case_.timed_run(attention_, launches);
  if (outcome.o != judged_) {
    throw simt::KernelFault("two launches on the same inputs gave different bits");
  }
  return outcome.time_ms;
}

}  // namespace workshop
