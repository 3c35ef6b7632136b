// SPDX-License-Identifier: MIT
/// @file
/// The part of contract_tests.hpp about what a launcher must refuse.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/harness/catch.hpp"
#include "common/harness/contract_tests.hpp"
#include "common/harness/require_device.hpp"

namespace workshop {
namespace {

/// A change to a good problem, and what the refusal must say.
struct BadProblem {
  const char* says;
  void (*spoil)(AttentionProblem&);
};

void set_length(AttentionProblem& problem, std::int64_t n) {
  problem.q.rows = problem.k.rows = problem.v.rows = problem.o.rows = n;
}

void set_head_dim(AttentionProblem& problem, std::int64_t d) {
  problem.q.cols = problem.k.cols = problem.v.cols = problem.o.cols = d;
}

const void* moved_by(const void* data, std::ptrdiff_t bytes) {
  return static_cast<const std::byte*>(data) + bytes;
}

constexpr BadProblem kBadProblems[] = {
    {"N = 0: the lengths are 1 to 2048", [](AttentionProblem& p) { set_length(p, 0); }},
    {"N = 2049: the lengths are 1 to 2048", [](AttentionProblem& p) { set_length(p, 2049); }},
    {"N = 4294967328: the lengths", [](AttentionProblem& p) { set_length(p, (1LL << 32) + 32); }},
    {"D = 8: the head dimensions are 16, 32, 64", [](AttentionProblem& p) { set_head_dim(p, 8); }},
    {"D = 48: the head dimensions", [](AttentionProblem& p) { set_head_dim(p, 48); }},
    {"D = 128: the head dimensions", [](AttentionProblem& p) { set_head_dim(p, 128); }},
    {"N = 64 in q, but 32 in k", [](AttentionProblem& p) { p.k.rows = 32; }},
    {"N = 64 in q, but 32 in v", [](AttentionProblem& p) { p.v.rows = 32; }},
    {"N = 64 in q, but 32 in o", [](AttentionProblem& p) { p.o.rows = 32; }},
    {"D = 32 in q, but 16 in k", [](AttentionProblem& p) { p.k.cols = 16; }},
    {"D = 32 in q, but 16 in v", [](AttentionProblem& p) { p.v.cols = 16; }},
    {"D = 32 in q, but 16 in o", [](AttentionProblem& p) { p.o.cols = 16; }},
    {"q is a null pointer", [](AttentionProblem& p) { p.q.data = nullptr; }},
    {"k is a null pointer", [](AttentionProblem& p) { p.k.data = nullptr; }},
    {"v is a null pointer", [](AttentionProblem& p) { p.v.data = nullptr; }},
    {"o is a null pointer", [](AttentionProblem& p) { p.o.data = nullptr; }},
    {"q starts at address", [](AttentionProblem& p) { p.q.data = moved_by(p.q.data, 4); }},
    {"k starts at address", [](AttentionProblem& p) { p.k.data = moved_by(p.k.data, 2); }},
    {"v starts at address", [](AttentionProblem& p) { p.v.data = moved_by(p.v.data, 1); }},
    {"o starts at address",
     [](AttentionProblem& p) { p.o.data = static_cast<std::byte*>(p.o.data) + 8; }},
    {"type = 7: the element types are fp16 (0) and bf16 (1)",
     [](AttentionProblem& p) { p.type = static_cast<ElementType>(7); }},
    {"block_n = 48:", [](AttentionProblem& p) { p.block_n = 48; }},
};

/// The launcher must say no, in words that hold `says`, and leave o alone.
void check_refused(const Contract& contract, const AttentionProblem& good, const BadProblem& bad) {
  constexpr std::size_t kBytes = 64 * 32 * sizeof(std::uint16_t);
  simt::Buffer o(kBytes);
  o.fill(0xff);
  AttentionProblem problem = good;
  problem.o.data = o.data();
  bad.spoil(problem);
  INFO("a refusal that says " << bad.says);
  CHECK_THROWS_AS(contract.attention(problem, nullptr), Refusal);
  CHECK_THROWS_WITH(contract.attention(problem, nullptr), ContainsSubstring(bad.says));
  simt::synchronize();
  std::vector<unsigned char> bytes(kBytes);
  o.download(bytes.data());
  CHECK(std::all_of(bytes.begin(), bytes.end(), [](unsigned char byte) { return byte == 0xff; }));
}

}  // namespace

void check_refusals(const Contract& contract) {
  require_device(contract.stage.compute_capability);
  DeviceCase good(make_inputs("normal", ElementType::fp16, 64, 32, 1), Mask::none);
  for (const BadProblem& bad : kBadProblems) check_refused(contract, good.problem(), bad);

  const Promise& promise = contract.stage.promise;
  if (!promise.causal) {
    check_refused(contract, good.problem(),
                  {"stage3_masking takes none or causal",
                   [](AttentionProblem& p) { p.mask = Mask::causal; }});
  }
  if (!promise.any_length) {
    check_refused(contract, good.problem(),
                  {"stage3_masking takes every N from 1 to 2048",
                   [](AttentionProblem& p) { set_length(p, 33); }});
  }
  if (std::ranges::find(promise.block_n, 64) == promise.block_n.end()) {
    check_refused(
        contract, good.problem(),
        {"stage4_tuning_step1 has this width", [](AttentionProblem& p) { p.block_n = 64; }});
  }
}

}  // namespace workshop
