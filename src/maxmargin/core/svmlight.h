// svmlight text: lines "target [qid:q] index:value index:value ... # comment". Strict: whatever is
// not of this form is an error at a byte.
//
// The text ends in a line end and `text_padding` readable bytes follow it, so that no loop over
// digits or blanks needs to look for the end.
//
// A number is m * 10^k with m the digits and k what the point and the exponent say. Where m < 2^53
// and |k| <= 22 both are exact doubles and one multiplication or division rounds once: that is
// exact, and nearly every number; from_chars, which rounds correctly, does the others. Nothing
// depends on the locale.
#pragma once
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace maxmargin {

enum class TextError : int {
  none,
  target,
  target_end,
  index,
  colon,
  value,
  value_end,
  not_finite,
  too_large,
  order,
  query,
  query_mixed
};

constexpr int64_t text_padding = 8;
constexpr int64_t least_entry = 4;  // bytes of " 1:0"

// What some lines hold: a compressed sparse row for each, indices as they are written.
struct TextRows {
  std::vector<double> targets;
  std::vector<int64_t> ends, queries;  // one past each row's last entry; queries may be empty
  // Room for as many as the text can hold; the system gives memory only when it is written.
  std::unique_ptr<double[]> values;
  std::unique_ptr<int32_t[]> indices;
  int64_t entries = 0, lines = 0;  // lines are counted up to the error, if there is one
  int64_t least = INT64_MAX, greatest = -1;
  TextError error = TextError::none;
  int64_t error_at = -1, error_column = 0;
};

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline bool is_line_end(char c) { return c == '\n' || c == '\r'; }
inline bool is_digit(char c) {
  return unsigned(static_cast<unsigned char>(c)) - unsigned('0') < 10;
}
inline bool ends_number(char c) { return c == ' ' || is_line_end(c) || c == '\t' || c == '#'; }

constexpr double exact_powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Appends digits to m, eight at a time while there are eight: three multiplications instead of
// eight dependent ones.
inline const char* read_digits(const char* p, uint64_t& m) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  for (;;) {
    uint64_t eight;
    std::memcpy(&eight, p, 8);
    const uint64_t offset = eight - 0x3030303030303030u;
    if (((eight + 0x4646464646464646u) | offset) & 0x8080808080808080u) break;  // not digits only
    const uint64_t pairs = offset * 10 + (offset >> 8);
    const uint64_t low = pairs & 0x000000FF000000FFu, high = (pairs >> 16) & 0x000000FF000000FFu;
    m = m * 100000000u + ((low * 0x000F424000000064u + high * 0x0000271000000001u) >> 32);
    p += 8;
  }
#endif
  for (; is_digit(*p); ++p) m = m * 10 + uint64_t(*p - '0');
  return p;
}

// What the short way cannot do exactly: [start, stop) is a number, `size` the power of ten just
// above it.
inline bool read_long_number(const char* start, const char* stop, int64_t size, double& out) {
  const char* from = *start == '+' ? start + 1 : start;  // from_chars knows no plus
  const auto [end, code] = std::from_chars(from, stop, out);
  if (code == std::errc::result_out_of_range) {
    out = size > 0 ? INFINITY : 0.0;
    if (*start == '-') out = -out;
    return true;
  }
  return code == std::errc() && end == stop;
}

// A decimal number at p; returns past its end, or nullptr if there is none. Words (nan, inf) and
// hexadecimal digits are no numbers.
inline const char* read_number(const char* p, double& out) {
  const char* start = p;
  const bool negative = *p == '-';
  p += negative || *p == '+';
  const char* first = p;
  uint64_t m = 0;
  p = read_digits(p, m);
  int64_t digits = p - first, power = 0;
  if (*p == '.') {
    const char* point = ++p;
    p = read_digits(p, m);
    power = point - p;
    digits -= power;
  }
  if (digits == 0) return nullptr;
  if (*p == 'e' || *p == 'E') {
    const char* mark = p++;
    const bool down = *p == '-';
    p += down || *p == '+';
    if (!is_digit(*p)) return mark;  // "1e" is the number 1 before something else
    int64_t written = 0;
    for (; is_digit(*p); ++p) written = written < 1000000000 ? written * 10 + (*p - '0') : written;
    power += down ? -written : written;
  }
  if (digits <= 19 && m < (uint64_t(1) << 53) && power >= -22 && power <= 22) {
    const double whole = double(m);
    const double size = power < 0 ? whole / exact_powers[-power] : whole * exact_powers[power];
    out = negative ? -size : size;
    return p;
  }
  // Leading zeros do not count.
  for (const char* zero = first; *zero == '0' || *zero == '.'; ++zero) digits -= *zero == '0';
  return read_long_number(start, p, digits + power, out) ? p : nullptr;
}

// Digits only; -1 for what is above the limit.
inline const char* read_index(const char* p, int64_t limit, int64_t& out) {
  const char* start = p;
  int64_t value = 0;
  for (; is_digit(*p); ++p) value = value > limit ? value : value * 10 + (*p - '0');
  out = value > limit ? -1 : value;
  return p > start ? p : nullptr;
}

class TextParser {
 public:
  // queries: 1 if every line must have one, 0 if none may, -1 if the first line decides
  TextParser(const char* text, const char* end, int64_t limit, int queries, TextRows& rows)
      : p(text), begin(text), end(end), limit(limit), queries(queries), rows(rows) {}

  void run() {
    const size_t room = size_t((end - p) / least_entry + 1);
    rows.values.reset(new double[room]);
    rows.indices.reset(new int32_t[room]);
    while (p < end) {
      line_begin = p;
      line();
      if (rows.error != TextError::none) return;
      while (!is_line_end(*p)) ++p;  // a comment
      p += p[0] == '\r' && p + 1 < end && p[1] == '\n' ? 2 : 1;
      ++rows.lines;
    }
  }

 private:
  const char *p, *begin, *line_begin = nullptr, *end;
  const int64_t limit;
  int queries;
  TextRows& rows;

  void fail(TextError what, const char* where) {
    rows.error = what;
    rows.error_at = where - begin;
    rows.error_column = where - line_begin + 1;
  }
  void blanks() {
    while (is_blank(*p)) ++p;
  }
  bool line_is_over() const { return is_line_end(*p) || *p == '#'; }

  void line() {
    blanks();
    if (line_is_over()) return;
    double number = 0;
    const char* after = read_number(p, number);
    if (!after) return fail(TextError::target, p);
    if (!ends_number(*after)) return fail(TextError::target_end, after);
    if (!std::isfinite(number)) return fail(TextError::not_finite, p);
    p = after;
    blanks();
    if (!query()) return;
    if (!entries()) return;
    rows.targets.push_back(number);
    rows.ends.push_back(rows.entries);
  }

  bool entries() {
    double* values = rows.values.get();
    int32_t* indices = rows.indices.get();
    int64_t k = rows.entries, last = -1;
    while (!line_is_over()) {
      int64_t index = 0;
      const char* after = read_index(p, limit, index);
      if (!after) return fail(TextError::index, p), false;
      if (*after != ':') return fail(TextError::colon, after), false;
      if (index <= last) return fail(index < 0 ? TextError::too_large : TextError::order, p), false;
      last = index;
      p = after + 1;
      after = read_number(p, values[k]);
      if (!after) return fail(TextError::value, p), false;
      if (!ends_number(*after)) return fail(TextError::value_end, after), false;
      if (!std::isfinite(values[k])) return fail(TextError::not_finite, p), false;
      indices[k++] = int32_t(index);
      p = after;
      blanks();
    }
    if (k > rows.entries) {
      rows.least = std::min<int64_t>(rows.least, indices[rows.entries]);
      rows.greatest = std::max(rows.greatest, last);
    }
    rows.entries = k;
    return true;
  }

  // "qid:7" right after the target; all lines have one or none has
  bool query() {
    const bool here = p[0] == 'q' && p[1] == 'i' && p[2] == 'd' && p[3] == ':';
    if (queries < 0) queries = here;
    if (here != (queries == 1)) return fail(TextError::query_mixed, p), false;
    if (!here) return true;
    int64_t q = 0;
    const auto [after, code] = std::from_chars(p + 4, end, q);
    if (code != std::errc() || !ends_number(*after)) return fail(TextError::query, p + 4), false;
    rows.queries.push_back(q);
    p = after;
    blanks();
    return true;
  }
};

// Rows as text; numbers in the shortest form that reads back as the same double.
struct TextWriter {
  std::string text;

  void number(double value) {
    char buffer[32];  // holds any double
    text.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  }
  void integer(int64_t value) {
    char buffer[24];
    text.append(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
  }
};

}  // namespace maxmargin
