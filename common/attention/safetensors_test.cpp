// SPDX-License-Identifier: MIT
/// @file
/// Every refusal of the safetensors reader has a file here that earns it.
#include "common/attention/safetensors.hpp"

#include <cstring>
#include <fstream>

#include <fmt/format.h>

#include "common/attention/problem.hpp"
#include "common/harness/catch.hpp"
#include "common/harness/test_support.hpp"

using namespace workshop;
namespace fs = std::filesystem;

namespace {

std::string length_field(std::uint64_t length) {
  std::string field(8, '\0');
  std::memcpy(field.data(), &length, 8);
  return field;
}

/// A file of that header and `data_bytes` zeros behind it.
std::string file_of(const std::string& header, std::size_t data_bytes) {
  return length_field(header.size()) + header + std::string(data_bytes, '\0');
}

std::string entry(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return fmt::format(R"({{"dtype":"{}","shape":{},"data_offsets":{}}})", dtype, shape, offsets);
}

/// A file with one tensor q and 8 bytes of data.
std::string one_tensor(const std::string& dtype, const std::string& shape,
                       const std::string& offsets) {
  return file_of("{\"q\":" + entry(dtype, shape, offsets) + "}", 8);
}

fs::path write(const TemporaryFolder& folder, const std::string& bytes) {
  const fs::path file = folder.path / "case.safetensors";
  std::ofstream(file, std::ios::binary) << bytes;
  return file;
}

std::string refusal_reading(const fs::path& file) {
  return refusal_of([&] { read_safetensors(file); });
}

StoredTensor zeros(const std::string& dtype, std::vector<std::int64_t> shape, int element_bytes) {
  std::size_t bytes = element_bytes;
  for (std::int64_t extent : shape) bytes *= std::size_t(extent);
  return {dtype, std::move(shape), std::vector<std::byte>(bytes)};
}

StoredTensors head(std::vector<std::int64_t> shape, const std::string& dtype = "F16") {
  const StoredTensor tensor = zeros(dtype, std::move(shape), 2);
  return {{"q", tensor}, {"k", tensor}, {"v", tensor}};
}

StoredTensors with(StoredTensors tensors, const std::string& name, StoredTensor tensor) {
  tensors[name] = std::move(tensor);
  return tensors;
}

struct BadFile {
  std::string bytes;
  std::string sentence;  // what the refusal must say
};

const std::vector<BadFile>& bad_files() {
  static const std::string q = "{\"q\":" + entry("F32", "[2]", "[0,8]");
  static const std::vector<BadFile> files = {
      {"", "the file has 0 bytes"},
      {"1234567", "the file has 7 bytes"},
      {length_field(100'000'001) + "{}", "a header of 100000001 bytes is announced"},
      {length_field(~0ull) + "{}", "a header of 18446744073709551615 bytes is announced"},
      {length_field(3) + "{}", "only 2 follow: the file is cut short"},
      {file_of("", 0), "not a JSON object"},
      {file_of("    ", 0), "not a JSON object"},
      {file_of("[]", 0), "not a JSON object"},
      {file_of(" {}", 0), "not a JSON object"},
      {file_of(std::string("{}\0{}", 5), 0), "not a JSON object"},
      {file_of("{", 0), "not valid JSON"},
      {file_of("{}x", 0), "not valid JSON"},
      {file_of("{\"q\":NaN}", 0), "not valid JSON"},
      {file_of("{\"q\":1e999}", 0), "not valid JSON"},
      {file_of("{\"\xff\":1}", 0), "not valid JSON"},
      {file_of(q + ",\"q\":1}", 8), "the key \"q\" twice"},
      {file_of(q + ",\"k\":{\"shape\":1,\"shape\":2}}", 8), "the key \"shape\" twice"},
      {file_of("{\"__metadata__\":[]}", 0), "__metadata__ must map strings to strings"},
      {file_of("{\"__metadata__\":{\"a\":1}}", 0), "__metadata__ must map strings to strings"},
      {file_of("{\"q\":3}", 0), "tensor \"q\" has no dtype"},
      {file_of("{\"q\":{\"dtype\":\"F16\"}}", 0), "tensor \"q\" has no shape"},
      {file_of("{\"q\":{\"dtype\":\"F16\",\"shape\":[]}}", 0), "tensor \"q\" has no data_offsets"},
      {one_tensor("F31", "[2]", "[0,8]"), "dtype is \"F31\"; it may be F4"},
      {file_of("{\"q\":{\"dtype\":7,\"shape\":[],\"data_offsets\":[]}}", 0), "dtype is 7"},
      {one_tensor("F32", "2", "[0,8]"), "shape is 2; it must be a list"},
      {one_tensor("F32", "[-2]", "[0,8]"), "shape is -2; it must be a whole number"},
      {one_tensor("F32", "[2.0]", "[0,8]"), "shape is 2.0; it must be a whole number"},
      {one_tensor("F32", "[\"2\"]", "[0,8]"), "shape is \"2\"; it must be a whole number"},
      {one_tensor("F32", "[[2]]", "[0,8]"), "shape is array; it must be a whole number"},
      {one_tensor("F32", "[9223372036854775808]", "[0,8]"), "is 9223372036854775808; it must"},
      {one_tensor("F32", "[2]", "[0,8,9]"), "data_offsets must be a list of two"},
      {one_tensor("F32", "[2]", "8"), "data_offsets must be a list of two"},
      {one_tensor("F32", "[2]", "[-1,8]"), "the begin of its bytes is -1"},
      {one_tensor("F32", "[2]", "[0,8.5]"), "the end of its bytes is 8.5"},
      {one_tensor("F32", "[2]", "[8,0]"), "\"q\" begins at byte 8, after its end at 0"},
      {one_tensor("F32", "[3]", "[0,8]"), "\"q\" has 8 bytes; F32 of shape [3] takes 12"},
      {one_tensor("F32", "[]", "[0,8]"), "\"q\" has 8 bytes; F32 of shape [] takes 4"},
      {one_tensor("F4", "[15]", "[0,8]"), "takes a number that is too large or not whole"},
      {one_tensor("F32", "[4611686018427387904,4]", "[0,8]"), "too large or not whole"},
      {one_tensor("F32", "[3]", "[0,12]"), "\"q\" ends at byte 12, but 8 follow the header"},
      {one_tensor("F32", "[1]", "[0,4]"), "8 bytes follow the header; the tensors end at 4"},
      {one_tensor("F32", "[1]", "[4,8]"), "begins at byte 4; the tensors before it leave a hole"},
      {file_of("{}", 1), "1 bytes follow the header; the tensors end at 0"},
      {file_of(q + ",\"k\":" + entry("F32", "[2]", "[4,12]") + "}", 12),
       "\"k\" begins at byte 4; the tensors before it overlap it and end at 8"},
      {file_of(q + ",\"k\":" + entry("F32", "[2]", "[0,8]") + "}", 8), "overlap it and end at 8"},
  };
  return files;
}

}  // namespace

TEST_CASE("each damaged file is refused in one sentence that says what is wrong") {
  const TemporaryFolder folder;
  for (const BadFile& bad : bad_files()) {
    const fs::path file = write(folder, bad.bytes);
    const std::string sentence = refusal_reading(file);
    CHECK_THAT(sentence, ContainsSubstring(bad.sentence));
    CHECK_THAT(sentence, ContainsSubstring(file.string()));
    CHECK(sentence.find('\n') == std::string::npos);
  }
}

TEST_CASE("a file cut anywhere is refused") {
  const TemporaryFolder folder;
  const std::string whole = one_tensor("F32", "[2]", "[0,8]");
  REQUIRE_NOTHROW(read_safetensors(write(folder, whole)));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK(refusal_reading(write(folder, whole.substr(0, size))) != "not refused");
  }
}

TEST_CASE("what is no file is refused") {
  const TemporaryFolder folder;
  CHECK_THAT(refusal_reading(folder.path / "none"), ContainsSubstring("there is no such file"));
  CHECK_THAT(refusal_reading(folder.path), ContainsSubstring("not a regular file"));
  CHECK_THAT(refusal_reading("/dev/null"), ContainsSubstring("not a regular file"));

  const fs::path large = write(folder, "");
  fs::resize_file(large, (1ull << 30) + 1);  // takes no space: nothing is written
  CHECK_THAT(refusal_reading(large), ContainsSubstring("1073741825 bytes"));
}

TEST_CASE("odd files that the format allows are read") {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& header, std::size_t data_bytes) {
    return read_safetensors(write(folder, file_of(header, data_bytes)));
  };
  CHECK(read("{}", 0).empty());
  CHECK(read("{}      ", 0).empty());
  CHECK(read("{\"__metadata__\":{\"made by\":\"hand\"}}", 0).empty());

  // Listed in another order than stored, of any type, some without elements, a scalar.
  const StoredTensors tensors = read(
      "{\"b\":" + entry("F64", "[1]", "[4,12]") + ",\"empty\":" + entry("I64", "[3,0]", "[4,4]") +
          ",\"a\":" + entry("BF16", "[2,1]", "[0,4]") + ",\"none\":" + entry("U8", "[0]", "[0,0]") +
          ",\"packed\":" + entry("F4", "[4]", "[12,14]") +
          ",\"scalar\":" + entry("F8_E5M2", "[]", "[14,15]") + "}",
      15);
  REQUIRE(tensors.size() == 6);
  CHECK(tensors.at("a").shape == std::vector<std::int64_t>{2, 1});
  CHECK(tensors.at("b").bytes.size() == 8);
  CHECK(tensors.at("empty").bytes.empty());
  CHECK(tensors.at("scalar").shape.empty());
}

TEST_CASE("bytes go to the tensor whose offsets cover them") {
  const TemporaryFolder folder;
  const std::string header = "{\"late\":" + entry("U8", "[2]", "[1,3]") +
                             ",\"early\":" + entry("U8", "[1]", "[0,1]") + "}";
  const StoredTensors tensors =
      read_safetensors(write(folder, length_field(header.size()) + header + "\x07\x08\x09"));
  CHECK(tensors.at("early").bytes == std::vector{std::byte{7}});
  CHECK(tensors.at("late").bytes == std::vector{std::byte{8}, std::byte{9}});
}

TEST_CASE("what is written reads back the same, in both types") {
  const TemporaryFolder folder;
  const auto type = GENERATE(ElementType::fp16, ElementType::bf16);
  Matrix<std::uint16_t> q(3, 16), k(3, 16), v(3, 16);
  for (std::size_t i = 0; i < q.values.size(); ++i) {
    q.values[i] = std::uint16_t(i * 1365);  // all kinds of patterns, NaN too
    k.values[i] = std::uint16_t(i);
    v.values[i] = std::uint16_t(0xffff - i);
  }
  const fs::path file = folder.path / "written.safetensors";
  std::ofstream(file) << "an older file, to be replaced";
  write_safetensors(file, {{"q", stored_tensor(type, q)},
                           {"k", stored_tensor(type, k)},
                           {"v", stored_tensor(type, v)},
                           {"a \"name\"", zeros("F64", {0, 5}, 8)}});

  const StoredTensors tensors = read_safetensors(file);
  const Inputs inputs = inputs_from(tensors, "file");
  CHECK(tensors.size() == 4);
  CHECK(inputs.type == type);
  CHECK(inputs.q == q);
  CHECK(inputs.k == k);
  CHECK(inputs.v == v);
  CHECK(fs::file_size(file) % 2 == 0);
  CHECK(folder.count() == 1);  // no temporary is left
}

TEST_CASE("data begin at a multiple of 8 bytes whatever the names are") {
  const TemporaryFolder folder;
  const fs::path file = folder.path / "padded.safetensors";
  for (std::size_t length = 1; length <= 9; ++length) {
    write_safetensors(file, {{std::string(length, 'x'), zeros("U8", {1}, 1)}});
    CHECK(fs::file_size(file) % 8 == 1);
    CHECK(read_safetensors(file).size() == 1);
  }
}

TEST_CASE("a file that cannot be written is refused and leaves nothing behind") {
  const TemporaryFolder folder;
  const auto refusal_writing = [](const fs::path& file) {
    return refusal_of([&] { write_safetensors(file, head({1, 16})); });
  };
  CHECK_THAT(refusal_writing(folder.path / "no" / "folder"),
             ContainsSubstring("its folder does not exist"));
  CHECK_THAT(refusal_writing(folder.path), ContainsSubstring("that is a folder"));
  CHECK_THAT(refusal_writing("/dev/null"), ContainsSubstring("no plain file"));
  CHECK(folder.count() == 0);
}

TEST_CASE("inputs outside the contract are refused with the tensor, what it is and may be") {
  struct BadInputs {
    StoredTensors tensors;
    std::string sentence;
  };
  const StoredTensors good = head({5, 32});
  StoredTensors without_v = good;
  without_v.erase("v");
  const std::vector<BadInputs> cases = {
      {{}, "there is no tensor q; those there are: none"},
      {without_v, "there is no tensor v; those there are: k, q"},
      {head({5, 32}, "I16"), "tensor q has the type I16; allowed: F16, BF16"},
      {with(good, "v", zeros("F32", {5, 32}, 4)), "tensor v has the type F32; allowed: F16, BF16"},
      {with(good, "k", zeros("BF16", {5, 32}, 2)), "tensor k has the type BF16, but q has F16"},
      {with(good, "v", zeros("F16", {7, 32}, 2)), "tensor v has N = 7, but q has 5"},
      {with(good, "k", zeros("F16", {5, 64}, 2)), "tensor k has D = 64, but q has 32"},
      {head({32}), "tensor q has the shape [32]; allowed: [N, D]"},
      {head({}), "tensor q has the shape []; allowed: [N, D]"},
      {head({4, 5, 32}), "[4, 5, 32]; allowed: [N, D]; one head at a time: save q[head]"},
      {head({1, 4, 5, 32}), "one head at a time: save q[batch, head]"},
      {head({0, 32}), "tensor q has N = 0 rows; allowed: 1 to 2048"},
      {head({2049, 32}), "tensor q has N = 2049 rows; allowed: 1 to 2048"},
      {head({5, 48}), "tensor q has D = 48 columns; allowed: 16, 32, 64"},
      {head({5, 0}), "tensor q has D = 0 columns; allowed: 16, 32, 64"},
  };
  for (const BadInputs& bad : cases) {
    const std::string sentence = refusal_of([&] { inputs_from(bad.tensors, "heads.file"); });
    CHECK_THAT(sentence, ContainsSubstring(bad.sentence));
    CHECK_THAT(sentence, ContainsSubstring("heads.file"));
  }
}

TEST_CASE("every head the contract allows is taken") {
  for (int seq_len : {1, 31, 2048}) {
    for (int head_dim : kHeadDims) {
      const Inputs inputs = inputs_from(head({seq_len, head_dim}, "BF16"), "file");
      CHECK(inputs.type == ElementType::bf16);
      CHECK(inputs.seq_len() == seq_len);
      CHECK(inputs.head_dim() == head_dim);
    }
  }
}

TEST_CASE("numbers of each type come out as they were stored") {
  const auto tensor = [](const std::string& dtype, const auto& values) {
    StoredTensor stored{dtype, {1, 16}, std::vector<std::byte>(sizeof(values))};
    std::memcpy(stored.bytes.data(), &values, sizeof(values));
    return stored;
  };
  const std::uint16_t half[16] = {0x3c00, 0xc000};   // 1, -2
  const std::uint16_t brain[16] = {0x3f80, 0xc000};  // 1, -2
  const float single[16] = {0.1f, -2};
  const double twice[16] = {0.1, -2};
  const StoredTensors tensors = {{"f16", tensor("F16", half)},
                                 {"bf16", tensor("BF16", brain)},
                                 {"f32", tensor("F32", single)},
                                 {"f64", tensor("F64", twice)},
                                 {"i64", zeros("I64", {1, 16}, 8)}};
  CHECK(numbers_from(tensors, "f16", "file")(0, 0) == 1);
  CHECK(numbers_from(tensors, "bf16", "file")(0, 1) == -2);
  CHECK(numbers_from(tensors, "f32", "file")(0, 0) == double(0.1f));
  CHECK(numbers_from(tensors, "f64", "file")(0, 0) == 0.1);
  CHECK(numbers_from(tensors, "f64", "file")(0, 15) == 0);
  CHECK_THAT(refusal_of([&] { numbers_from(tensors, "i64", "file"); }),
             ContainsSubstring("has the type I64; allowed: F16, BF16, F32, F64"));
  CHECK_THAT(refusal_of([&] { numbers_from(tensors, "o", "file"); }),
             ContainsSubstring("there is no tensor o"));
}
