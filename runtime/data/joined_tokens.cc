#include "runtime/data/joined_tokens.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "ops/abi/philox.h"

namespace weft::data {

absl::StatusOr<std::unique_ptr<const JoinedTokens>> JoinedTokens::Create(
    const std::string& path, std::vector<std::unique_ptr<const TokenStream>> streams) {
  for (const auto& stream : streams) {
    if (stream->form() == streams[0]->form()) continue;
    return absl::InvalidArgumentError(absl::StrCat(stream->path(), ": expected ", streams[0]->form(), " tokens, as ",
                                                   streams[0]->path(), " has, got ", stream->form()));
  }
  return std::unique_ptr<const JoinedTokens>(new JoinedTokens(path, std::move(streams)));
}

JoinedTokens::JoinedTokens(std::string path, std::vector<std::unique_ptr<const TokenStream>> streams)
    : path_(std::move(path)), streams_(std::move(streams)), starts_({0}) {
  for (const auto& stream : streams_) starts_.push_back(starts_.back() + stream->size());
}

int64_t JoinedTokens::documents() const {
  int64_t count = 0;
  for (const auto& stream : streams_) {
    if (stream->documents() == 0) return 0;
    count += stream->documents();
  }
  return count;
}

int64_t JoinedTokens::NextDocument(int64_t after, int64_t limit) const {
  const size_t at = std::upper_bound(starts_.begin(), starts_.end(), after) - starts_.begin() - 1;
  if (at >= streams_.size()) return limit;
  const int64_t end = std::min(limit, starts_[at + 1]);
  return streams_[at]->NextDocument(after - starts_[at], end - starts_[at]) + starts_[at];
}

void JoinedTokens::Copy(int64_t begin, int64_t count, int32_t* out) const {
  size_t at = std::upper_bound(starts_.begin(), starts_.end(), begin) - starts_.begin() - 1;
  for (; count > 0; ++at) {
    const int64_t take = std::min(count, starts_[at + 1] - begin);
    streams_[at]->Copy(begin - starts_[at], take, out);
    begin += take;
    count -= take;
    out += take;
  }
}

TokenLook JoinedTokens::Look(int64_t limit) const {
  TokenLook all;
  for (size_t i = 0; i < streams_.size(); ++i) {
    const TokenLook look = streams_[i]->Look(limit / static_cast<int64_t>(streams_.size()));
    if (i == 0 || look.largest > all.largest) {
      all.largest = look.largest;
      all.largest_at = look.largest_at;
      all.largest_in = look.largest_in;
    }
    all.hash += MixSeed(look.hash, i);
    all.whole &= look.whole;
  }
  return all;
}

}  // namespace weft::data
