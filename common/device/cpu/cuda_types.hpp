// SPDX-License-Identifier: MIT
/// @file
/// CUDA's own vector types, for a compiler that does not know them.
#pragma once

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};

// may_alias: kernels load and store whole vectors through pointers to them, as nvcc allows.
struct alignas(8) [[gnu::may_alias]] float2 {
  float x, y;
};

struct alignas(16) [[gnu::may_alias]] float4 {
  float x, y, z, w;
};

struct alignas(16) [[gnu::may_alias]] uint4 {
  unsigned x, y, z, w;
};
