#include "tests/emulation/ptx/compute.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <type_traits>

#include "ops/abi/dtype.h"

namespace weft::ptx {
namespace {

// ---- numbers in registers -----------------------------------------------------
template <typename T>
T As(uint64_t bits) {
  T number;
  std::memcpy(&number, &bits, sizeof(T));
  return number;
}

template <typename T>
uint64_t Bits(T number) {
  uint64_t bits = 0;
  std::memcpy(&bits, &number, sizeof(T));
  return bits;
}

template <typename Body>
void Each(uint32_t mask, const Body& body) {
  for (int lane = 0; lane < kWarp; ++lane) {
    if (mask >> lane & 1) body(lane);
  }
}

template <typename T, auto kDo, typename From = T>
void One(Register& to, const Register& a, const Register&, const Register&, uint32_t mask) {
  Each(mask, [&](int lane) { to[lane] = Bits<T>(kDo(As<From>(a[lane]))); });
}

template <typename T, auto kDo, typename Right = T>
void Two(Register& to, const Register& a, const Register& b, const Register&, uint32_t mask) {
  Each(mask, [&](int lane) { to[lane] = Bits<T>(kDo(As<T>(a[lane]), As<Right>(b[lane]))); });
}

template <typename T, auto kDo>
void Three(Register& to, const Register& a, const Register& b, const Register& c, uint32_t mask) {
  Each(mask, [&](int lane) { to[lane] = Bits<T>(kDo(As<T>(a[lane]), As<T>(b[lane]), As<T>(c[lane]))); });
}

template <typename T, auto kIs>
void Compare(Register& to, const Register& a, const Register& b, const Register&, uint32_t mask) {
  Each(mask, [&](int lane) { to[lane] = kIs(As<T>(a[lane]), As<T>(b[lane])) ? 1 : 0; });
}

template <typename Wide, typename T>
void Widely(Register& to, const Register& a, const Register& b, const Register&, uint32_t mask) {
  Each(mask, [&](int lane) { to[lane] = Bits<Wide>(Wide{As<T>(a[lane])} * Wide{As<T>(b[lane])}); });
}

template <typename Wide, typename T>
void Upper(Register& to, const Register& a, const Register& b, const Register&, uint32_t mask) {
  Each(mask, [&](int lane) {
    to[lane] = Bits<T>(static_cast<T>((Wide{As<T>(a[lane])} * Wide{As<T>(b[lane])}) >> (8 * sizeof(T))));
  });
}

template <typename T>
void Select(Register& to, const Register& a, const Register& b, const Register& c, uint32_t mask) {
  Each(mask, [&](int lane) { to[lane] = Bits<T>(As<T>(c[lane] != 0 ? a[lane] : b[lane])); });
}

// ---- what C++ has no operator for -----------------------------------------------
// To the nearest in the range; no number is 0.
template <typename To>
To Saturated(float x) {
  using Limits = std::numeric_limits<To>;
  if (std::isnan(x)) return 0;
  if (x >= std::ldexp(1.0f, Limits::digits)) return Limits::max();
  return x <= static_cast<float>(Limits::min()) ? Limits::min() : static_cast<To>(x);
}
template <typename To>
constexpr auto kSaturatedHalf = [](Float16 x) { return Saturated<To>(ToFloat(x)); };

constexpr auto kPlus = [](auto a, auto b) { return static_cast<decltype(a)>(a + b); };
constexpr auto kMinus = [](auto a, auto b) { return static_cast<decltype(a)>(a - b); };
constexpr auto kTimes = [](auto a, auto b) { return static_cast<decltype(a)>(a * b); };
constexpr auto kOver = [](auto a, auto b) { return static_cast<decltype(a)>(a / b); };
constexpr auto kAnd = [](auto a, auto b) { return static_cast<decltype(a)>(a & b); };
constexpr auto kOr = [](auto a, auto b) { return static_cast<decltype(a)>(a | b); };
constexpr auto kXor = [](auto a, auto b) { return static_cast<decltype(a)>(a ^ b); };
constexpr auto kNot = [](auto a) { return static_cast<decltype(a)>(~a); };
constexpr auto kRest = [](auto a, auto b) { return static_cast<decltype(a)>(b == 0 ? a : a % b); };
constexpr auto kLeft = [](auto a, uint32_t by) { return static_cast<decltype(a)>(by < 8 * sizeof(a) ? a << by : 0); };
// Of signed numbers the sign goes in.
constexpr auto kRight = [](auto a, uint32_t by) {
  return static_cast<decltype(a)>(a >> std::min<uint32_t>(by, 8 * sizeof(a) - 1));
};
constexpr auto kRightOrNone = [](auto a, uint32_t by) {
  return static_cast<decltype(a)>(by < 8 * sizeof(a) ? a >> by : 0);
};
constexpr auto kLeast = [](auto a, auto b) { return std::min(a, b); };
constexpr auto kMost = [](auto a, auto b) { return std::max(a, b); };
constexpr auto kLess = [](auto a, auto b) { return a < b; };
constexpr auto kLessOrSame = [](auto a, auto b) { return a <= b; };
constexpr auto kMore = [](auto a, auto b) { return a > b; };
constexpr auto kMoreOrSame = [](auto a, auto b) { return a >= b; };
constexpr auto kSame = [](auto a, auto b) { return a == b; };
constexpr auto kOther = [](auto a, auto b) { return a != b; };
// The same, or one is no number.
template <auto kIs>
constexpr auto kUnordered = [](float a, float b) { return std::isnan(a) || std::isnan(b) || kIs(a, b); };
constexpr auto kOrdered = [](float a, float b) { return !std::isnan(a) && !std::isnan(b); };
constexpr auto kIsNone = [](float a, float b) { return std::isnan(a) || std::isnan(b); };
constexpr auto kOtherNumbers = [](float a, float b) { return kOrdered(a, b) && a != b; };
template <typename T>
constexpr auto kConvert = [](auto a) { return static_cast<T>(a); };
constexpr auto kIt = [](auto a) { return a; };
constexpr auto kHalfPlus = [](Float16 a, Float16 b) { return ToFloat16(ToFloat(a) + ToFloat(b)); };
constexpr auto kHalfMinus = [](Float16 a, Float16 b) { return ToFloat16(ToFloat(a) - ToFloat(b)); };
constexpr auto kHalfTimes = [](Float16 a, Float16 b) { return ToFloat16(ToFloat(a) * ToFloat(b)); };

struct Halves {
  Float16 low, high;
};
template <auto kDo>
constexpr auto kBoth = [](Halves a, Halves b) { return Halves{kDo(a.low, b.low), kDo(a.high, b.high)}; };

BFloat16 BrainOf(float x) { return ToBFloat16(x); }
float OfHalf(Float16 x) { return ToFloat(x); }
Float16 HalfOf(float x) { return ToFloat16(x); }

// The first operand is the upper half.
void PackBrain(Register& to, const Register& a, const Register& b, const Register&, uint32_t mask) {
  Each(mask, [&](int lane) { to[lane] = Bits(BrainOf(As<float>(a[lane]))) << 16 | Bits(BrainOf(As<float>(b[lane]))); });
}
void PackHalf(Register& to, const Register& a, const Register& b, const Register&, uint32_t mask) {
  Each(mask, [&](int lane) { to[lane] = Bits(HalfOf(As<float>(a[lane]))) << 16 | Bits(HalfOf(As<float>(b[lane]))); });
}
// c bits from the b-th on.
constexpr auto kField = [](uint32_t a, uint32_t b, uint32_t c) {
  return b > 31 ? 0u : static_cast<uint32_t>(a >> b & ((uint64_t{1} << std::min(c, 32u)) - 1));
};
// a in the place of the bits of b that `field` says: from which one on, and above the lowest 8 bits how many.
constexpr auto kInserted = [](uint32_t a, uint32_t b, uint32_t field) {
  const uint32_t mask = static_cast<uint32_t>(((uint64_t{1} << (field >> 8)) - 1) << (field & 0xff));
  return (b & ~mask) | (a << (field & 0xff) & mask);
};
// Bytes of the pair (b, a) that the digits of c name.
void Permute(Register& to, const Register& a, const Register& b, const Register& c, uint32_t mask) {
  Each(mask, [&](int lane) {
    const uint64_t pair = b[lane] << 32 | (a[lane] & 0xffffffffu);
    uint64_t made = 0;
    for (int i = 0; i < 4; ++i) {
      const uint64_t digit = c[lane] >> (4 * i) & 0xf;
      uint64_t byte = pair >> (8 * (digit & 7)) & 0xff;
      if (digit & 8) byte = byte & 0x80 ? 0xff : 0;
      made |= byte << (8 * i);
    }
    to[lane] = made;
  });
}

// Of float32, of float16, and of each half of two float16.
template <auto kIs>
void AddCompare(const std::string& how, std::map<std::string, Compute>& all) {
  constexpr auto kOfHalves = [](Float16 a, Float16 b) { return kIs(ToFloat(a), ToFloat(b)); };
  constexpr auto kOfLow = [](Halves a, Halves b) { return kIs(ToFloat(a.low), ToFloat(b.low)); };
  constexpr auto kOfHigh = [](Halves a, Halves b) { return kIs(ToFloat(a.high), ToFloat(b.high)); };
  all["setp." + how + ".f16x2.low"] = &Compare<Halves, kOfLow>;
  all["setp." + how + ".f16x2.high"] = &Compare<Halves, kOfHigh>;
  all["setp." + how + ".f32"] = &Compare<float, kIs>;
  all["setp." + how + ".f16"] = &Compare<Float16, kOfHalves>;
}

std::map<std::string, Compute> AllComputes() {
  std::map<std::string, Compute> all = {
      // float32, rounded to the nearest.
      {"add.rn.f32", &Two<float, kPlus>},
      {"sub.rn.f32", &Two<float, kMinus>},
      {"mul.rn.f32", &Two<float, kTimes>},
      {"div.rn.f32", &Two<float, kOver>},
      {"fma.rn.f32", &Three<float, [](float a, float b, float c) { return std::fma(a, b, c); }>},
      {"rcp.rn.f32", &One<float, [](float a) { return 1.0f / a; }>},
      {"sqrt.rn.f32", &One<float, [](float a) { return std::sqrt(a); }>},
      {"neg.f32", &One<float, [](float a) { return -a; }>},
      {"abs.f32", &One<float, [](float a) { return std::fabs(a); }>},
      {"min.f32", &Two<float, [](float a, float b) { return std::fmin(a, b); }>},
      {"max.f32", &Two<float, [](float a, float b) { return std::fmax(a, b); }>},
      {"min.NaN.f32", &Two<float, [](float a, float b) { return kIsNone(a, b) ? NAN : std::fmin(a, b); }>},
      {"max.NaN.f32", &Two<float, [](float a, float b) { return kIsNone(a, b) ? NAN : std::fmax(a, b); }>},
      {"copysign.f32", &Two<float, [](float a, float b) { return std::copysign(b, a); }>},
      // Conversions.
      {"cvt.rzi.s16.f32", &One<int16_t, &Saturated<int16_t>, float>},
      {"cvt.rzi.s32.f32", &One<int32_t, &Saturated<int32_t>, float>},
      {"cvt.rzi.s64.f32", &One<int64_t, &Saturated<int64_t>, float>},
      {"cvt.rzi.u16.f32", &One<uint16_t, &Saturated<uint16_t>, float>},
      {"cvt.rzi.s16.f16", &One<int16_t, kSaturatedHalf<int16_t>, Float16>},
      {"cvt.rzi.u16.f16", &One<uint16_t, kSaturatedHalf<uint16_t>, Float16>},
      {"cvt.rmi.f32.f32", &One<float, [](float a) { return std::floor(a); }>},
      {"cvt.rpi.f32.f32", &One<float, [](float a) { return std::ceil(a); }>},
      {"cvt.rni.f32.f32", &One<float, [](float a) { return std::nearbyint(a); }>},
      {"cvt.rzi.u64.f64", &One<uint64_t, [](double a) { return a > 0 ? static_cast<uint64_t>(a) : 0; }, double>},
      {"cvt.rn.f32.s32", &One<float, kConvert<float>, int32_t>},
      {"cvt.rn.f32.u32", &One<float, kConvert<float>, uint32_t>},
      {"cvt.rn.f32.s64", &One<float, kConvert<float>, int64_t>},
      {"cvt.rn.f32.u16", &One<float, kConvert<float>, uint16_t>},
      {"cvt.rn.f16.u16", &One<Float16, [](uint16_t a) { return ToFloat16(a); }, uint16_t>},
      {"cvt.rn.f16.u32", &One<Float16, [](uint32_t a) { return ToFloat16(static_cast<float>(a)); }, uint32_t>},
      {"cvt.rn.f16.f32", &One<Float16, &HalfOf, float>},
      {"cvt.f32.f16", &One<float, &OfHalf, Float16>},
      {"cvt.rn.bf16.f32", &One<BFloat16, &BrainOf, float>},
      {"cvt.rn.bf16x2.f32", &PackBrain},
      {"cvt.rn.f16x2.f32", &PackHalf},
      {"cvt.u64.u32", &One<uint64_t, kConvert<uint64_t>, uint32_t>},
      {"cvt.s64.s32", &One<int64_t, kConvert<int64_t>, int32_t>},
      {"cvt.u32.u64", &One<uint32_t, kConvert<uint32_t>, uint64_t>},
      {"cvt.u32.u16", &One<uint32_t, kConvert<uint32_t>, uint16_t>},
      {"cvt.u16.u32", &One<uint16_t, kConvert<uint16_t>, uint32_t>},
      {"cvt.u16.u64", &One<uint16_t, kConvert<uint16_t>, uint64_t>},
      {"cvt.u64.u16", &One<uint64_t, kConvert<uint64_t>, uint16_t>},
      // float16.
      {"add.rn.f16", &Two<Float16, kHalfPlus>},
      {"sub.rn.f16", &Two<Float16, kHalfMinus>},
      {"mul.rn.f16", &Two<Float16, kHalfTimes>},
      {"add.rn.f16x2", &Two<Halves, kBoth<kHalfPlus>>},
      {"sub.rn.f16x2", &Two<Halves, kBoth<kHalfMinus>>},
      {"mul.rn.f16x2", &Two<Halves, kBoth<kHalfTimes>>},
      {"neg.f16", &One<uint16_t, [](uint16_t a) { return static_cast<uint16_t>(a ^ 0x8000u); }>},
      {"neg.f16x2", &One<uint32_t, [](uint32_t a) { return a ^ 0x80008000u; }>},
      // Bits.
      {"prmt.b32", &Permute},
      {"bfe.u32", &Three<uint32_t, kField>},
      {"bfi.b32", &Three<uint32_t, kInserted>},
      {"and.pred", &Two<uint64_t, kAnd>},
      {"or.pred", &Two<uint64_t, kOr>},
      {"xor.pred", &Two<uint64_t, kXor>},
      {"not.pred", &One<uint64_t, [](uint64_t a) { return a ^ 1; }>},
      {"mov.pred", &One<uint64_t, kIt>},
      {"mov.f32", &One<uint32_t, kIt>},
      {"selp.f32", &Select<uint32_t>},
      {"selp.f16", &Select<uint16_t>},
      {"mov.f16", &One<uint16_t, kIt>},
      // Products of integers.
      {"mul.wide.u32", &Widely<uint64_t, uint32_t>},
      {"mul.wide.s32", &Widely<int64_t, int32_t>},
      {"mul.wide.u16", &Widely<uint32_t, uint16_t>},
      {"mul.hi.u32", &Upper<uint64_t, uint32_t>},
      {"mul.hi.u16", &Upper<uint32_t, uint16_t>},
      {"mul.hi.u64", &Upper<unsigned __int128, uint64_t>},
  };
  AddCompare<kLess>("lt", all);
  AddCompare<kLessOrSame>("le", all);
  AddCompare<kMore>("gt", all);
  AddCompare<kMoreOrSame>("ge", all);
  AddCompare<kSame>("eq", all);
  AddCompare<kOtherNumbers>("ne", all);
  AddCompare<kUnordered<kLess>>("ltu", all);
  AddCompare<kUnordered<kLessOrSame>>("leu", all);
  AddCompare<kUnordered<kMore>>("gtu", all);
  AddCompare<kUnordered<kMoreOrSame>>("geu", all);
  AddCompare<kUnordered<kSame>>("equ", all);
  AddCompare<kOther>("neu", all);
  AddCompare<kOrdered>("num", all);
  AddCompare<kIsNone>("nan", all);
  auto add = [&]<typename Unsigned>(const std::string& bits, Unsigned) {
    using Signed = std::make_signed_t<Unsigned>;
    for (const char* type : {"s", "u"}) {
      all["add." + (type + bits)] = &Two<Unsigned, kPlus>;
      all["sub." + (type + bits)] = &Two<Unsigned, kMinus>;
      all["mul.lo." + (type + bits)] =
          &Two<Unsigned, [](Unsigned a, Unsigned b) { return static_cast<Unsigned>(uint64_t{a} * b); }>;
      all["mad.lo." + (type + bits)] = &Three<Unsigned, [](Unsigned a, Unsigned b, Unsigned c) {
        return static_cast<Unsigned>(uint64_t{a} * b + c);
      }>;
      all["setp.eq." + (type + bits)] = &Compare<Unsigned, kSame>;
      all["setp.ne." + (type + bits)] = &Compare<Unsigned, kOther>;
    }
    all["setp.eq.b" + bits] = &Compare<Unsigned, kSame>;
    all["setp.ne.b" + bits] = &Compare<Unsigned, kOther>;
    all["div.u" + bits] =
        &Two<Unsigned, [](Unsigned a, Unsigned b) { return static_cast<Unsigned>(b == 0 ? 0 : a / b); }>;
    all["rem.u" + bits] = &Two<Unsigned, kRest>;
    all["min.u" + bits] = &Two<Unsigned, kLeast>;
    all["max.u" + bits] = &Two<Unsigned, kMost>;
    all["min.s" + bits] = &Two<Signed, kLeast>;
    all["max.s" + bits] = &Two<Signed, kMost>;
    all["and.b" + bits] = &Two<Unsigned, kAnd>;
    all["or.b" + bits] = &Two<Unsigned, kOr>;
    all["xor.b" + bits] = &Two<Unsigned, kXor>;
    all["not.b" + bits] = &One<Unsigned, kNot>;
    all["shl.b" + bits] = &Two<Unsigned, kLeft, uint32_t>;
    all["shr.u" + bits] = &Two<Unsigned, kRightOrNone, uint32_t>;
    all["shr.s" + bits] = &Two<Signed, kRight, uint32_t>;
    all["setp.lt.u" + bits] = &Compare<Unsigned, kLess>;
    all["setp.le.u" + bits] = &Compare<Unsigned, kLessOrSame>;
    all["setp.gt.u" + bits] = &Compare<Unsigned, kMore>;
    all["setp.ge.u" + bits] = &Compare<Unsigned, kMoreOrSame>;
    all["setp.lt.s" + bits] = &Compare<Signed, kLess>;
    all["setp.le.s" + bits] = &Compare<Signed, kLessOrSame>;
    all["setp.gt.s" + bits] = &Compare<Signed, kMore>;
    all["setp.ge.s" + bits] = &Compare<Signed, kMoreOrSame>;
    for (const char* type : {"b", "u", "s"}) {
      all["mov." + (type + bits)] = &One<Unsigned, kIt>;
      all["selp." + (type + bits)] = &Select<Unsigned>;
    }
  };
  add("16", uint16_t{});
  add("32", uint32_t{});
  add("64", uint64_t{});
  return all;
}

}  // namespace

Compute ComputeOf(const std::string& name) {
  static const auto* const all = new std::map<std::string, Compute>(AllComputes());
  const auto found = all->find(name);
  return found == all->end() ? nullptr : found->second;
}

}  // namespace weft::ptx
