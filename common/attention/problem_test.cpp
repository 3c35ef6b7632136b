// SPDX-License-Identifier: MIT
/// @file
/// Every refusal of the launcher, and that what is promised is taken.

#include "common/attention/problem.hpp"

#include <string>

#include "common/attention/stages.hpp"
#include "common/harness/catch.hpp"
#include "common/harness/test_support.hpp"

using namespace workshop;

namespace {

alignas(16) unsigned char memory[64];  // never read: the checks look at addresses alone

AttentionProblem problem_of(std::int64_t seq_len = 64, std::int64_t head_dim = 32) {
  AttentionProblem problem;
  problem.q = problem.k = problem.v = {memory, seq_len, head_dim};
  problem.o = {memory, seq_len, head_dim};
  return problem;
}

std::string refusal(const AttentionProblem& problem, const Stage& stage) {
  return refusal_of([&] { require_promised(problem, stage); });
}

std::string refusal(std::int64_t seq_len, std::int64_t head_dim, const Stage& stage,
                    Mask mask = Mask::none, int block_n = 32,
                    ElementType type = ElementType::fp16) {
  return refusal_of([&] { require_promised(type, mask, seq_len, head_dim, block_n, stage); });
}

}  // namespace

TEST_CASE("Each stage takes all that it promises") {
  for (const Stage& stage : kStages) {
    for (const int head_dim : kHeadDims) {
      for (const auto type : {ElementType::fp16, ElementType::bf16}) {
        CHECK(refusal(32, head_dim, stage, Mask::none, 32, type) == "not refused");
        for (const int block_n : stage.promise.block_n) {
          CHECK(refusal(2048, head_dim, stage, Mask::none, block_n, type) == "not refused");
        }
      }
    }
    CHECK(refusal(problem_of(), stage) == "not refused");
  }
  for (int seq_len = 1; seq_len <= kMaxSeqLen; ++seq_len) {
    REQUIRE(refusal(seq_len, 64, stage(3), Mask::none) == "not refused");
    REQUIRE(refusal(seq_len, 64, stage(3), Mask::causal) == "not refused");
  }
}

TEST_CASE("A type that is none is refused") {
  AttentionProblem problem = problem_of();
  problem.type = ElementType(7);
  CHECK(refusal(problem, stage(1)) == "type = 7: the element types are fp16 (0) and bf16 (1)");
}

TEST_CASE("A tile width that a stage lacks is refused, and the first that has it named") {
  AttentionProblem problem = problem_of();
  problem.block_n = 64;
  CHECK(refusal(problem, stage(2)) ==
        "block_n = 64: stage2_online_softmax has tiles of 32 keys; stage4_tuning_step1 has this "
        "width");
  CHECK(refusal(64, 32, stage(3), Mask::none, 48) ==
        "block_n = 48: stage3_masking has tiles of 32 keys");
  CHECK(refusal(64, 32, stage(4, 1), Mask::none, 48) ==
        "block_n = 48: stage4_tuning_step1 has tiles of 32 or 64 keys");
  CHECK(refusal(64, 32, stage(3), Mask::none, 0) != "not refused");
}

TEST_CASE("A null pointer is refused by name") {
  AttentionProblem problem = problem_of();
  problem.v.data = nullptr;
  CHECK(refusal(problem, stage(1)) == "v is a null pointer: q, k, v and o must be device arrays");
  problem = problem_of();
  problem.o.data = nullptr;
  CHECK_THAT(refusal(problem, stage(1)), ContainsSubstring("o is a null pointer"));
}

TEST_CASE("An address that is not a multiple of 16 bytes is refused by name") {
  for (const int offset : {1, 2, 8, 15}) {
    AttentionProblem problem = problem_of();
    problem.k.data = memory + offset;
    CHECK_THAT(refusal(problem, stage(1)), ContainsSubstring("k starts at address 0x") &&
                                               ContainsSubstring("multiple of 16 bytes"));
  }
  AttentionProblem problem = problem_of();
  problem.o.data = memory + 16;
  CHECK(refusal(problem, stage(1)) == "not refused");
}

TEST_CASE("Different lengths are refused with both numbers, since causal would be ambiguous") {
  AttentionProblem problem = problem_of(2, 16);
  problem.k.rows = 5;
  CHECK_THAT(refusal(problem, stage(3)),
             ContainsSubstring("N = 2 in q, but 5 in k") && ContainsSubstring("ambiguous"));
  problem = problem_of(5, 16);
  problem.v.rows = 2;
  CHECK_THAT(refusal(problem, stage(3)), ContainsSubstring("N = 5 in q, but 2 in v"));
  problem = problem_of(5, 16);
  problem.o.rows = 4;
  CHECK_THAT(refusal(problem, stage(3)), ContainsSubstring("N = 5 in q, but 4 in o"));
}

TEST_CASE("Different head dimensions are refused with both numbers") {
  AttentionProblem problem = problem_of(64, 32);
  problem.v.cols = 64;
  CHECK_THAT(refusal(problem, stage(3)), ContainsSubstring("D = 32 in q, but 64 in v"));
}

TEST_CASE("Head dimensions other than 16, 32 and 64 are refused") {
  for (const std::int64_t head_dim : {0, 1, 8, 48, 63, 65, 128, -16}) {
    CHECK(refusal(64, head_dim, stage(3)) ==
          "D = " + std::to_string(head_dim) + ": the head dimensions are 16, 32, 64");
  }
  CHECK(refusal(problem_of(64, 48), stage(3)) == refusal(64, 48, stage(3)));
}

TEST_CASE("Lengths outside 1 to 2048 are refused, however large") {
  for (const std::int64_t seq_len : {std::int64_t(0), std::int64_t(-1), std::int64_t(2049),
                                     (std::int64_t(1) << 32) + 64}) {  // 64 in 32 bits
    CHECK(refusal(seq_len, 32, stage(3)) ==
          "N = " + std::to_string(seq_len) + ": the lengths are 1 to 2048");
    CHECK(refusal(problem_of(seq_len, 32), stage(3)) == refusal(seq_len, 32, stage(3)));
  }
  const std::int64_t head_dim = (std::int64_t(1) << 32) + 32;
  CHECK_THAT(refusal(64, head_dim, stage(3)), ContainsSubstring("D = 4294967328"));
}

TEST_CASE("A ragged length is refused by stages 1 and 2, which name stage 3") {
  CHECK(refusal(300, 64, stage(2)) ==
        "N = 300: stage2_online_softmax takes multiples of 32; "
        "stage3_masking takes every N from 1 to 2048");
  CHECK(refusal(problem_of(31, 64), stage(1)) ==
        "N = 31: stage1_single_tile takes multiples of 32; "
        "stage3_masking takes every N from 1 to 2048");
}

TEST_CASE("A causal mask is refused by stages 1 and 2, which name stage 3") {
  CHECK(refusal(64, 64, stage(2), Mask::causal) ==
        "mask = causal: stage2_online_softmax takes no mask; stage3_masking takes none or causal");
  AttentionProblem problem = problem_of();
  problem.mask = Mask::causal;
  CHECK(refusal(problem, stage(1)) ==
        "mask = causal: stage1_single_tile takes no mask; stage3_masking takes none or causal");
}

TEST_CASE("A stage that no later one surpasses names none") {
  constexpr Stage kLast = {9, 0, "last", "last", "", {false, false, kNarrowTile}};
  CHECK(refusal(33, 64, kLast) == "N = 33: last takes multiples of 32");
  CHECK(refusal(32, 64, kLast, Mask::causal) == "mask = causal: last takes no mask");
}

TEST_CASE("Of several faults the first in the order of the contract is named") {
  AttentionProblem problem = problem_of(300, 48);
  problem.mask = Mask::causal;
  problem.block_n = 64;
  problem.q.data = nullptr;
  problem.k.data = memory + 1;
  problem.v.rows = 7;
  problem.type = ElementType(2);
  CHECK_THAT(refusal(problem, stage(1)), ContainsSubstring("type = 2"));
  problem.type = ElementType::bf16;
  CHECK_THAT(refusal(problem, stage(1)), ContainsSubstring("block_n = 64"));
  problem.block_n = 32;
  CHECK_THAT(refusal(problem, stage(1)), ContainsSubstring("q is a null pointer"));
  problem.q.data = memory;
  CHECK_THAT(refusal(problem, stage(1)), ContainsSubstring("k starts at"));
  problem.k.data = memory;
  CHECK_THAT(refusal(problem, stage(1)), ContainsSubstring("N = 300 in q, but 7 in v"));
  problem.v.rows = 300;
  CHECK_THAT(refusal(problem, stage(1)), ContainsSubstring("D = 48"));
  problem.q.cols = problem.k.cols = problem.v.cols = problem.o.cols = 64;
  CHECK_THAT(refusal(problem, stage(1)), ContainsSubstring("N = 300"));
  problem.q.rows = problem.k.rows = problem.v.rows = problem.o.rows = 320;
  CHECK_THAT(refusal(problem, stage(1)), ContainsSubstring("mask = causal"));
  problem.mask = Mask::none;
  CHECK(refusal(problem, stage(1)) == "not refused");
}

TEST_CASE("The scale of the softmax is 1 / sqrt(D), rounded once") {
  CHECK(problem_of(32, 16).softmax_scale() == 0.25f);
  CHECK(problem_of(32, 64).softmax_scale() == 0.125f);
  CHECK(problem_of(32, 32).softmax_scale() == 0.17677669529663687f);
}
