// SPDX-License-Identifier: MIT
/// @file
/// The CPU side of common/device/device.hpp.
#include "common/device/device.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "common/device/cpu/sanitizer_stack.hpp"
#include "common/harness/catch.hpp"

TEST_CASE("the CPU device says what it is") {
  CHECK(simt::device_kind() == simt::DeviceKind::cpu);
  const simt::DeviceInfo info = simt::device_info();
  CHECK(info.kind == simt::DeviceKind::cpu);
  CHECK(info.name == "CPU device");
  CHECK_THAT(info.description, ContainsSubstring("fibers: ") && ContainsSubstring("workers: "));
  simt::synchronize();
}

TEST_CASE("a buffer keeps what is put into it, and is aligned") {
  for (const std::size_t bytes : {0u, 1u, 15u, 4096u}) {
    simt::Buffer buffer(bytes);
    CHECK(buffer.bytes() == bytes);
    CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % 16 == 0);
    std::vector<unsigned char> out(bytes);
    buffer.fill(0xff);
    buffer.download(out.data());
    CHECK(out == std::vector<unsigned char>(bytes, 0xff));

    std::vector<unsigned char> in(bytes);
    for (std::size_t i = 0; i < bytes; ++i) in[i] = static_cast<unsigned char>(i * 7);
    buffer.upload(in.data());
    buffer.download(out.data());
    CHECK(out == in);
    CHECK(buffer.guards_intact());
  }
}

TEST_CASE("a write before or behind a buffer is seen") {
  for (const std::ptrdiff_t offset : {-1, -64, 10, 73}) {
    simt::Buffer buffer(10);
    buffer.fill(0);
    CHECK(buffer.guards_intact());
    static_cast<std::byte*>(buffer.data())[offset] = std::byte{0};
    CHECK(!buffer.guards_intact());
  }
}

TEST_CASE("a buffer that no memory is there for is an error of the device") {
  CHECK_THROWS_AS(simt::Buffer(std::numeric_limits<std::size_t>::max() - 5), simt::DeviceError);
#if !WORKSHOP_ADDRESS_SANITIZER  // which stops at such a size itself
  CHECK_THROWS_AS(simt::Buffer(std::numeric_limits<std::size_t>::max() / 2), simt::DeviceError);
#endif
}

TEST_CASE("the CPU device runs what any compute capability has") {
  CHECK_NOTHROW(simt::require_compute_capability(75));
  CHECK_NOTHROW(simt::require_compute_capability(999));
}
