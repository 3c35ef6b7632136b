// SPDX-License-Identifier: MIT
/// @file
/// What the tensor core and its loads compute.
#include "common/device/cpu/tensor_core.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

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

void require_whole_warp(const WarpCall& call) {
  if (call.present == 0xffffffffu) return;
  call.fault(std::countr_zero(call.present), "partial warp",
             fmt::format("lane {} takes no part (exited, or the block has no such thread), and all "
                         "32 must; on a GPU the result is undefined",
                         std::countr_one(call.present)));
}

/// Where in a matrix, row by row, the elements lie that the lanes hold, lane by lane. A table: the
/// arithmetic of fragment_layout.hpp for each of 512 elements would take as long as the products.
template <std::size_t kCount, typename Layout>
constexpr std::array<std::uint8_t, kCount> places(int columns, const Layout& position_of) {
  std::array<std::uint8_t, kCount> places{};
  for (int i = 0; i < int(kCount); ++i) {
    const Position at = position_of(i);
    places[std::size_t(i)] = std::uint8_t(at.row * columns + at.column);
  }
  return places;
}

constexpr auto kPlacesInA =
    places<kM * kK>(kK, [](int i) { return position_in_a(i / 8, i / 2 % 4, i % 2); });
constexpr auto kPlacesInB =
    places<kK * kN>(kN, [](int i) { return position_in_b(i / 4, i / 2 % 2, i % 2); });
constexpr auto kPlacesInD = places<kM * kN>(kN, [](int i) { return position_in_d(i / 4, i % 4); });

/// What the lanes hold, lane by lane.
struct Held {
  std::uint16_t a[kM * kK];
  std::uint16_t b[kK * kN];
  float d[kM * kN];
};

static_assert(std::endian::native == std::endian::little, "a register's lower half comes first");

void collect(const WarpCall& call, Held& held) {
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const auto& arguments = call.of<MmaArguments>(lane);
    std::memcpy(&held.a[8 * lane], arguments.a, sizeof(arguments.a));
    std::memcpy(&held.b[4 * lane], arguments.b, sizeof(arguments.b));
    std::memcpy(&held.d[4 * lane], arguments.d, sizeof(arguments.d));
  }
}

/// As matrices, by rows, of doubles: each element is exact in one.
struct Matrices {
  double a[kM * kK];
  double b[kK * kN];
  double d[kM * kN];
};

template <typename Element, std::size_t kCount>
void arrange(const std::uint16_t (&held)[kCount], const std::array<std::uint8_t, kCount>& places,
             double (&matrix)[kCount]) {
  std::uint16_t bits[kCount];
  for (std::size_t i = 0; i < kCount; ++i) bits[places[i]] = held[i];
  for (std::size_t i = 0; i < kCount; ++i) matrix[i] = double(workshop::to_float(Element{bits[i]}));
}

using Pair [[gnu::vector_size(2 * sizeof(double))]] = double;  // two columns in a register

/// One row of d. Unrolled, the sums stay in registers; g++ leaves them in memory otherwise, which
/// takes four times as long.
void multiply_row(const double* a, const double* b, double* d) {
  Pair sum[kN / 2];
  std::memcpy(sum, d, sizeof(sum));
#pragma GCC unroll 16
  for (int k = 0; k < kK; ++k) {
#pragma GCC unroll 4
    for (int pair = 0; pair < kN / 2; ++pair) {
      Pair columns;
      std::memcpy(&columns, b + k * kN + 2 * pair, sizeof(columns));
      sum[pair] += a[k] * columns;
    }
  }
  std::memcpy(d, sum, sizeof(sum));
}

/// One NaN for all: which operand's NaN a processor hands on depends on the compiler.
float round_to_float(double sum) {
  return std::isnan(sum) ? std::bit_cast<float>(0x7fffffffu) : float(sum);
}

template <typename Element>
void compute_mma(const WarpCall& call) {
  require_whole_warp(call);
  Held held;
  collect(call, held);
  Matrices matrices;
  arrange<Element>(held.a, kPlacesInA, matrices.a);
  arrange<Element>(held.b, kPlacesInB, matrices.b);
  for (std::size_t i = 0; i < kM * kN; ++i) matrices.d[kPlacesInD[i]] = double(held.d[i]);
  for (int m = 0; m < kM; ++m) {
    multiply_row(matrices.a + m * kK, matrices.b, matrices.d + m * kN);
  }
  for (std::size_t i = 0; i < kM * kN; ++i) {
    call.of<MmaArguments>(int(i / 4)).d[i % 4] = round_to_float(matrices.d[kPlacesInD[i]]);
  }
}

/// The wavefronts beyond the first that the 8 rows of a matrix take: one wavefront of shared memory
/// reads 16 bytes from each of 8 groups of 4 banks.
std::uint64_t bank_conflicts(const WarpCall& call, int matrix) {
  int rows_in_group[8] = {};
  for (int i = 0; i < 8; ++i) {
    const void* row = call.of<LdmatrixArguments>(matrix * 8 + i).address;
    bool is_first = true;  // the same row twice is read once
    for (int j = 0; j < i; ++j) {
      is_first &= row != call.of<LdmatrixArguments>(matrix * 8 + j).address;
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
        const auto& holder = call.of<LdmatrixArguments>(matrix * 8 + at.row);
        reg |= unsigned(holder.row[at.column]) << 16 * half;
      }
      call.of<LdmatrixArguments>(lane).r[matrix] = reg;
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
