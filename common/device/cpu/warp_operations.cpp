// SPDX-License-Identifier: MIT
/// @file
/// What the last lane to arrive computes for its warp.
#include "common/device/cpu/warp_operations.hpp"

#include <bit>
#include <cmath>
#include <cstring>

#include <fmt/format.h>

namespace simt::cpu {
namespace {

struct ShuffleArguments {
  std::uint64_t value;
  int source_lane;
  std::uint64_t result;
};

struct VoteArguments {
  bool predicate;
  unsigned result;
};

/// Blames `lane` if the lane it reads is not there.
void require_present(const WarpCall& call, int lane, int source_lane) {
  if (call.has(source_lane)) return;
  call.fault(lane, "absent lane",
             fmt::format("it reads lane {}, which takes no part (exited, or not in the mask); on a "
                         "GPU the value is undefined",
                         source_lane));
}

void compute_shuffle(const WarpCall& call) {
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (!call.has(lane)) continue;
    auto& arguments = call.of<ShuffleArguments>(lane);
    require_present(call, lane, arguments.source_lane);
    arguments.result = call.of<ShuffleArguments>(arguments.source_lane).value;
  }
}

unsigned ballot_of(const WarpCall& call) {
  unsigned ballot = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (call.has(lane) && call.of<VoteArguments>(lane).predicate) ballot |= 1u << lane;
  }
  return ballot;
}

template <VoteMode mode>
void compute_vote(const WarpCall& call) {
  unsigned result = ballot_of(call);
  if (mode == VoteMode::any) result = result != 0;
  if (mode == VoteMode::all) result = result == call.present;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (call.has(lane)) call.of<VoteArguments>(lane).result = result;
  }
}

float combine(ReduceMode mode, float x, float y) {
  return mode == ReduceMode::max ? std::fmax(x, y) : x + y;
}

template <ReduceMode mode, int lanes>
void compute_reduce(const WarpCall& call) {
  float x[kWarpSize] = {};
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (call.has(lane)) x[lane] = call.of<float>(lane);
  }
  for (int offset = lanes / 2; offset > 0; offset /= 2) {
    float next[kWarpSize];
    for (int lane = 0; lane < kWarpSize; ++lane) {
      if (call.has(lane)) require_present(call, lane, lane ^ offset);
      next[lane] = combine(mode, x[lane], x[lane ^ offset]);
    }
    std::memcpy(x, next, sizeof(x));
  }
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (call.has(lane)) call.of<float>(lane) = x[lane];
  }
}

constexpr WarpOperation kWarpBarrier = {"__syncwarp", &Counts::warp_barriers, 1,
                                        [](const WarpCall&) {}};

constexpr WarpOperation kShuffles[] = {
    {"__shfl_sync", &Counts::shuffles, 1, compute_shuffle},
    {"__shfl_up_sync", &Counts::shuffles, 1, compute_shuffle},
    {"__shfl_down_sync", &Counts::shuffles, 1, compute_shuffle},
    {"__shfl_xor_sync", &Counts::shuffles, 1, compute_shuffle},
};

constexpr WarpOperation kVotes[] = {
    {"__ballot_sync", &Counts::votes, 1, compute_vote<VoteMode::ballot>},
    {"__any_sync", &Counts::votes, 1, compute_vote<VoteMode::any>},
    {"__all_sync", &Counts::votes, 1, compute_vote<VoteMode::all>},
};

constexpr const char* kReduceNames[] = {"simt::reduce_max", "simt::reduce_sum"};

/// For 2, 4, ..., 32 lanes.
template <ReduceMode mode>
constexpr WarpOperation kReduces[] = {
    {kReduceNames[int(mode)], &Counts::shuffles, 1, compute_reduce<mode, 2>},
    {kReduceNames[int(mode)], &Counts::shuffles, 2, compute_reduce<mode, 4>},
    {kReduceNames[int(mode)], &Counts::shuffles, 3, compute_reduce<mode, 8>},
    {kReduceNames[int(mode)], &Counts::shuffles, 4, compute_reduce<mode, 16>},
    {kReduceNames[int(mode)], &Counts::shuffles, 5, compute_reduce<mode, 32>},
};

/// The lane that CUDA reads: in the segment of `width` lanes around the calling one, else its own.
/// Like the instruction (PTX ISA, shfl.sync) it takes the low five bits of the operand.
int source_lane(ShuffleMode mode, int lane, int operand, int width) {
  operand &= kWarpSize - 1;
  const int first = lane & ~(width - 1);
  const int last = first + width - 1;
  switch (mode) {
    case ShuffleMode::from_lane:
      return first + (operand & (width - 1));
    case ShuffleMode::up:
      return lane - operand >= first ? lane - operand : lane;
    case ShuffleMode::down:
      return lane + operand <= last ? lane + operand : lane;
    case ShuffleMode::exchange:
      return (lane ^ operand) <= last ? lane ^ operand : lane;
  }
  return lane;
}

}  // namespace

void warp_barrier(unsigned mask, Site site) { warp_collective(kWarpBarrier, mask, nullptr, site); }

std::uint64_t shuffle_bits(ShuffleMode mode, unsigned mask, std::uint64_t bits, int operand,
                           int width, Site site) {
  if (width < 1 || width > kWarpSize || !std::has_single_bit(unsigned(width))) {
    fault("wrong width",
          fmt::format("a shuffle over {} lanes; CUDA has the powers of two up to 32", width), site);
  }
  ShuffleArguments arguments = {bits, source_lane(mode, lane_id(), operand, width), 0};
  warp_collective(kShuffles[int(mode)], mask, &arguments, site);
  return arguments.result;
}

unsigned vote(VoteMode mode, unsigned mask, bool predicate, Site site) {
  VoteArguments arguments = {predicate, 0};
  warp_collective(kVotes[int(mode)], mask, &arguments, site);
  return arguments.result;
}

float reduce(ReduceMode mode, int lanes, float value, Site site) {
  if (lanes == 1) return value;
  const int steps = std::countr_zero(unsigned(lanes));
  const WarpOperation* operations =
      mode == ReduceMode::max ? kReduces<ReduceMode::max> : kReduces<ReduceMode::sum>;
  warp_collective(operations[steps - 1], 0xffffffffu, &value, site);
  return value;
}

}  // namespace simt::cpu
