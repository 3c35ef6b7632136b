// SPDX-License-Identifier: MIT
/// @file
/// Safetensors files: nothing in a header is believed that the file itself does not bear out.
#include "common/attention/safetensors.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "common/attention/problem.hpp"
#include "common/attention/whole_file.hpp"

namespace workshop {
namespace {

using nlohmann::json;

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

constexpr std::size_t kLengthBytes = 8;                 // of the field before the header
constexpr std::uint64_t kMaxHeaderBytes = 100'000'000;  // the format's own limit
constexpr std::uintmax_t kMaxFileBytes = 1u << 30;      // q, k and v of 2048 rows take 0.8 MB
constexpr const char* kMetadata = "__metadata__";       // strings for people, not a tensor

struct Dtype {
  std::string_view name;
  std::uint64_t bits;
};
constexpr Dtype kDtypes[] = {
    {"F4", 4},          {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"BOOL", 8},    {"U8", 8},
    {"I8", 8},          {"F8_E4M3", 8}, {"F8_E5M2", 8}, {"F8_E8M0", 8}, {"F8_E4M3FNUZ", 8},
    {"F8_E5M2FNUZ", 8}, {"I16", 16},    {"U16", 16},    {"F16", 16},    {"BF16", 16},
    {"I32", 32},        {"U32", 32},    {"F32", 32},    {"I64", 64},    {"U64", 64},
    {"F64", 64},        {"C64", 64},
};

/// A tensor as the header describes it: its bytes are [begin, end) of those behind the header.
struct Entry {
  std::string name;
  StoredTensor tensor;  // without its bytes
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

template <typename... Args>
[[noreturn]] void refuse(const std::string& file, fmt::format_string<Args...> text,
                         Args&&... args) {
  throw Refusal(file + ": " + fmt::format(text, std::forward<Args>(args)...));
}

std::string list(const std::vector<std::int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

/// A text out of a file as one short line, whatever it holds.
std::string in_quotes(std::string_view text) {
  constexpr std::size_t kShown = 40;
  return json(text.substr(0, kShown)).dump(-1, ' ', true, json::error_handler_t::replace) +
         (text.size() > kShown ? "..." : "");
}

/// A JSON value as one short line; lists and objects, which may be deep, by their kind alone.
std::string shown(const json& value) {
  if (value.is_string()) return in_quotes(value.get_ref<const std::string&>());
  return value.is_number() ? value.dump() : value.type_name();
}

std::string read_bytes(const std::filesystem::path& path) {
  const std::string file = path.string();
  std::error_code error;
  if (!std::filesystem::exists(path, error)) refuse(file, "there is no such file");
  if (!std::filesystem::is_regular_file(path, error)) refuse(file, "this is not a regular file");
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error) refuse(file, "the file cannot be read: {}", error.message());
  if (size > kMaxFileBytes) {
    refuse(file, "the file has {} bytes, more than the {} that are read: save q, k and v alone",
           size, kMaxFileBytes);
  }
  std::string bytes(size, '\0');
  std::ifstream stream(path, std::ios::binary);
  if (!stream.read(bytes.data(), std::streamsize(size))) refuse(file, "the file cannot be read");
  return bytes;
}

/// The JSON text between the length field and the data.
std::string_view header_text(const std::string& file, std::string_view bytes) {
  if (bytes.size() < kLengthBytes) {
    refuse(file, "the file has {} bytes; safetensors begin with 8 that give the header's length",
           bytes.size());
  }
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), kLengthBytes);
  if (length > kMaxHeaderBytes) {
    refuse(file, "a header of {} bytes is announced; safetensors may have up to {}", length,
           kMaxHeaderBytes);
  }
  if (length > bytes.size() - kLengthBytes) {
    refuse(file, "a header of {} bytes is announced, but only {} follow: the file is cut short",
           length, bytes.size() - kLengthBytes);
  }
  return bytes.substr(kLengthBytes, length);
}

/// Parses strictly: a repeated key is refused, of which the JSON library would keep the last.
json parse_header(const std::string& file, std::string_view text) {
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  // A NUL would end the library's reading early and hide what follows.
  if (!text.starts_with('{') || text.find('\0') != std::string_view::npos) {
    refuse(file, "the header is not a JSON object");
  }
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  const auto watch_keys = [&](int, json::parse_event_t event, const json& parsed) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key &&
        !keys.back().insert(parsed.get<std::string>()).second) {
      refuse(file, "the header has the key {} twice", shown(parsed));
    }
    return true;
  };
  try {
    return json::parse(text, watch_keys);
  } catch (const json::exception&) {
    refuse(file, "the header is not valid JSON");
  }
}

std::int64_t natural_number(const std::string& file, const std::string& name, const char* what,
                            const json& value) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > INT64_MAX) {
    refuse(file, "tensor {}: {} is {}; it must be a whole number from 0 to 2^63 - 1", name, what,
           shown(value));
  }
  return value.get<std::int64_t>();
}

const Dtype& known_dtype(const std::string& file, const std::string& name, const json& value) {
  for (const Dtype& dtype : kDtypes) {
    if (value == dtype.name) return dtype;
  }
  std::vector<std::string_view> names;
  for (const Dtype& dtype : kDtypes) names.push_back(dtype.name);
  refuse(file, "tensor {}: dtype is {}; it may be {}", name, shown(value), fmt::join(names, ", "));
}

/// The bytes a tensor takes; none if they are more than can be counted or not whole.
std::optional<std::uint64_t> bytes_of(const Dtype& dtype, const std::vector<std::int64_t>& shape) {
  std::uint64_t bits = dtype.bits;
  for (std::int64_t extent : shape) {
    if (__builtin_mul_overflow(bits, std::uint64_t(extent), &bits)) return std::nullopt;
  }
  return bits % 8 == 0 ? std::optional(bits / 8) : std::nullopt;
}

/// One entry of the header, each part checked against the others.
Entry parse_entry(const std::string& file, const std::string& key, const json& fields) {
  const std::string name = in_quotes(key);
  for (const char* field : {"dtype", "shape", "data_offsets"}) {
    if (!fields.is_object() || !fields.contains(field)) {
      refuse(file, "tensor {} has no {} in the header", name, field);
    }
  }
  const Dtype& dtype = known_dtype(file, name, fields["dtype"]);
  Entry entry{.name = key, .tensor = {.dtype = std::string(dtype.name), .shape = {}, .bytes = {}}};
  if (!fields["shape"].is_array()) {
    refuse(file, "tensor {}: shape is {}; it must be a list", name, shown(fields["shape"]));
  }
  for (const json& extent : fields["shape"]) {
    entry.tensor.shape.push_back(natural_number(file, name, "an extent of its shape", extent));
  }
  const json& offsets = fields["data_offsets"];
  if (!offsets.is_array() || offsets.size() != 2) {
    refuse(file, "tensor {}: data_offsets must be a list of two numbers, begin and end", name);
  }
  entry.begin = std::uint64_t(natural_number(file, name, "the begin of its bytes", offsets[0]));
  entry.end = std::uint64_t(natural_number(file, name, "the end of its bytes", offsets[1]));
  if (entry.begin > entry.end) {
    refuse(file, "tensor {} begins at byte {}, after its end at {}", name, entry.begin, entry.end);
  }
  const auto expected = bytes_of(dtype, entry.tensor.shape);
  if (expected != entry.end - entry.begin) {
    refuse(file, "tensor {} has {} bytes; {} of shape {} takes {}", name, entry.end - entry.begin,
           dtype.name, list(entry.tensor.shape),
           expected ? std::to_string(*expected) : "a number that is too large or not whole");
  }
  return entry;
}

/// Every byte behind the header belongs to one tensor; `entries` in the order of their bytes.
void require_full_cover(const std::string& file, const std::vector<Entry>& entries,
                        std::uint64_t data_bytes) {
  std::uint64_t covered = 0;
  for (const Entry& entry : entries) {
    if (entry.end > data_bytes) {
      refuse(file, "tensor {} ends at byte {}, but {} follow the header: the file is cut short",
             in_quotes(entry.name), entry.end, data_bytes);
    }
    if (entry.begin != covered) {
      refuse(file, "tensor {} begins at byte {}; the tensors before it {} at {}",
             in_quotes(entry.name), entry.begin,
             entry.begin < covered ? "overlap it and end" : "leave a hole and end", covered);
    }
    covered = entry.end;
  }
  if (covered != data_bytes) {
    refuse(file, "{} bytes follow the header; the tensors end at {}", data_bytes, covered);
  }
}

void require_strings(const std::string& file, const json& metadata) {
  const auto is_string = [](const json& value) { return value.is_string(); };
  if (!metadata.is_object() || !std::all_of(metadata.begin(), metadata.end(), is_string)) {
    refuse(file, "{} must map strings to strings", kMetadata);
  }
}

std::vector<Entry> parse_entries(const std::string& file, const json& header) {
  std::vector<Entry> entries;
  for (const auto& [key, value] : header.items()) {
    if (key == kMetadata) {
      require_strings(file, value);
    } else {
      entries.push_back(parse_entry(file, key, value));
    }
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.begin, a.end) < std::pair(b.begin, b.end);
  });
  return entries;
}

/// The whole file: length of the header, header, data.
std::string file_bytes(const StoredTensors& tensors) {
  json header = json::object();
  std::uint64_t end = 0;
  for (const auto& [name, tensor] : tensors) {
    const std::uint64_t begin = end;
    end += tensor.bytes.size();
    header[name] = {
        {"dtype", tensor.dtype}, {"shape", tensor.shape}, {"data_offsets", {begin, end}}};
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the data begin at a multiple of 8
  const std::uint64_t length = text.size();

  std::string bytes(reinterpret_cast<const char*>(&length), kLengthBytes);
  bytes += text;
  for (const auto& [name, tensor] : tensors) {
    bytes.append(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  }
  return bytes;
}

}  // namespace

StoredTensors read_safetensors(const std::filesystem::path& path) {
  const std::string file = path.string();
  const std::string bytes = read_bytes(path);
  const std::string_view header = header_text(file, bytes);
  const std::string_view data = std::string_view(bytes).substr(kLengthBytes + header.size());

  std::vector<Entry> entries = parse_entries(file, parse_header(file, header));
  require_full_cover(file, entries, data.size());
  StoredTensors tensors;
  for (Entry& entry : entries) {
    const auto stored = std::as_bytes(std::span(data.substr(entry.begin, entry.end - entry.begin)));
    entry.tensor.bytes.assign(stored.begin(), stored.end());
    tensors.emplace(std::move(entry.name), std::move(entry.tensor));
  }
  return tensors;
}

void write_safetensors(const std::filesystem::path& file, const StoredTensors& tensors) {
  write_whole_file(file, file_bytes(tensors));
}

}  // namespace workshop
