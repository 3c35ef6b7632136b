// SPDX-License-Identifier: MIT
/// @file
/// What the tensor core and its loads compute.
#include "common/device/cpu/tensor_core.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

#include "common/device/cpu/fragment_layout.hpp"

namespace simt::cpu {
namespace {

constexpr int kM = 16, kN = 8, kK = 16;

struct MmaArguments {
  float (&d)[4];
  const unsigned (&a)[4];
  unsigned b[2];
};

struct LdmatrixArguments {
  unsigned (&r)[4];
  const void* address;
  std::uint16_t row[8];
};

template <typename Arguments>
Arguments& arguments_of(const WarpCall& call, int lane) {
  return *static_cast<Arguments*>(call.arguments[lane]);
}

void require_whole_warp(const WarpCall& call) {
  if (call.present == 0xffffffffu) return;
  call.fault(std::countr_zero(call.present), "partial warp",
             fmt::format("lane {} takes no part (exited, or the block has no such thread), and all "
                         "32 must; on a GPU the result is undefined",
                         std::countr_one(call.present)));
}

std::uint16_t half_of(unsigned reg, int half) { return std::uint16_t(reg >> 16 * half); }

/// The operands of a warp, as matrices.
struct Operands {
  std::uint16_t a[kM * kK];
  std::uint16_t b[kK * kN];
  float d[kM * kN];
};

int index_in_a(Position at) { return at.row * kK + at.column; }
int index_in_b_or_d(Position at) { return at.row * kN + at.column; }

void gather(const WarpCall& call, Operands& operands) {
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const auto& arguments = arguments_of<MmaArguments>(call, lane);
    for (int half = 0; half < 2; ++half) {
      for (int reg = 0; reg < 4; ++reg) {
        operands.a[index_in_a(position_in_a(lane, reg, half))] = half_of(arguments.a[reg], half);
      }
      for (int reg = 0; reg < 2; ++reg) {
        operands.b[index_in_b_or_d(position_in_b(lane, reg, half))] =
            half_of(arguments.b[reg], half);
      }
    }
    for (int i = 0; i < 4; ++i) {
      operands.d[index_in_b_or_d(position_in_d(lane, i))] = arguments.d[i];
    }
  }
}

template <typename Element, std::size_t kCount>
void widen(const std::uint16_t (&bits)[kCount], double (&values)[kCount]) {
  for (std::size_t i = 0; i < kCount; ++i) values[i] = double(workshop::to_float(Element{bits[i]}));
}

/// One NaN for all: which operand's NaN a processor hands on depends on the compiler.
float round_to_float(double sum) {
  return sum == sum ? float(sum) : std::bit_cast<float>(0x7fffffffu);
}

/// One row of d. The compiler makes vectors of the columns.
void multiply_row(const double* a, const double (&b)[kK * kN], float* d) {
  double sum[kN];
  for (int n = 0; n < kN; ++n) sum[n] = double(d[n]);
  for (int k = 0; k < kK; ++k) {
    for (int n = 0; n < kN; ++n) sum[n] += a[k] * b[k * kN + n];
  }
  for (int n = 0; n < kN; ++n) d[n] = round_to_float(sum[n]);
}

template <typename Element>
void compute_mma(const WarpCall& call) {
  require_whole_warp(call);
  Operands operands;
  gather(call, operands);
  double a[kM * kK];
  double b[kK * kN];
  widen<Element>(operands.a, a);
  widen<Element>(operands.b, b);
  for (int m = 0; m < kM; ++m) multiply_row(a + m * kK, b, operands.d + m * kN);
  for (int lane = 0; lane < kWarpSize; ++lane) {
    for (int i = 0; i < 4; ++i) {
      arguments_of<MmaArguments>(call, lane).d[i] =
          operands.d[index_in_b_or_d(position_in_d(lane, i))];
    }
  }
}

/// The wavefronts beyond the first that the 8 rows of a matrix take: one wavefront of shared memory
/// reads 16 bytes from each of 8 groups of 4 banks.
std::uint64_t bank_conflicts(const WarpCall& call, int matrix) {
  int rows_in_group[8] = {};
  for (int i = 0; i < 8; ++i) {
    const void* row = arguments_of<LdmatrixArguments>(call, matrix * 8 + i).address;
    bool is_first = true;  // the same row twice is read once
    for (int j = 0; j < i; ++j) {
      is_first &= row != arguments_of<LdmatrixArguments>(call, matrix * 8 + j).address;
    }
    rows_in_group[reinterpret_cast<std::uintptr_t>(row) / 16 % 8] += is_first;
  }
  return std::uint64_t(*std::max_element(rows_in_group, rows_in_group + 8) - 1);
}

template <bool transposed>
void compute_ldmatrix(const WarpCall& call) {
  require_whole_warp(call);
  for (int matrix = 0; matrix < 4; ++matrix) {
    for (int lane = 0; lane < kWarpSize; ++lane) {
      unsigned reg = 0;
      for (int half = 0; half < 2; ++half) {
        Position at = position_in_8x8(lane, half);
        if (transposed) std::swap(at.row, at.column);
        const auto& holder = arguments_of<LdmatrixArguments>(call, matrix * 8 + at.row);
        reg |= unsigned(holder.row[at.column]) << 16 * half;
      }
      arguments_of<LdmatrixArguments>(call, lane).r[matrix] = reg;
    }
    count(&Counts::ldmatrix_conflicts, bank_conflicts(call, matrix));
  }
}

constexpr WarpOperation kMmaFp16 = {"simt::mma_m16n8k16<Half>", &Counts::mma, 1,
                                    compute_mma<workshop::Half>};
constexpr WarpOperation kMmaBf16 = {"simt::mma_m16n8k16<BFloat16>", &Counts::mma, 1,
                                    compute_mma<workshop::BFloat16>};
constexpr WarpOperation kLdmatrix = {"simt::ldmatrix_x4", &Counts::ldmatrix, 1,
                                     compute_ldmatrix<false>};
constexpr WarpOperation kLdmatrixTrans = {"simt::ldmatrix_x4_trans", &Counts::ldmatrix, 1,
                                          compute_ldmatrix<true>};

}  // namespace

void mma_m16n8k16(workshop::ElementType type, float (&d)[4], const unsigned (&a)[4], unsigned b0,
                  unsigned b1, Site site) {
  MmaArguments arguments = {d, a, {b0, b1}};
  const bool is_fp16 = type == workshop::ElementType::fp16;
  warp_collective(is_fp16 ? kMmaFp16 : kMmaBf16, 0xffffffffu, &arguments, site);
}

void ldmatrix_x4(bool transposed, unsigned (&r)[4], const void* row, Site site) {
  const WarpOperation& operation = transposed ? kLdmatrixTrans : kLdmatrix;
  require_shared_vector(row, operation.name, site);
  LdmatrixArguments arguments = {r, row, {}};
  std::memcpy(arguments.row, row, sizeof(arguments.row));
  warp_collective(operation, 0xffffffffu, &arguments, site);
}

}  // namespace simt::cpu
