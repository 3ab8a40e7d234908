#include "tools/generate/sampler.h"

#include <algorithm>
#include <cmath>

namespace weft::generate {
namespace {

// A number in [0, 1) of 53 bits: rounds of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
// generators", 2014) over what it is of.
double Uniform(uint64_t seed, uint64_t sequence, uint64_t position) {
  uint64_t state = 0;
  for (uint64_t part : {seed, sequence, position}) {
    state += part + 0x9e3779b97f4a7c15;
    state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
    state = (state ^ (state >> 27)) * 0x94d049bb133111eb;
    state ^= state >> 31;
  }
  return static_cast<double>(state >> 11) * 0x1p-53;
}

}  // namespace

int32_t Sampler::Choose(absl::Span<const float> logits, int64_t sequence, int64_t position) {
  if (sampling_.temperature == 0) {
    return static_cast<int32_t>(std::max_element(logits.begin(), logits.end()) - logits.begin());
  }
  tokens_.clear();
  for (size_t i = 0; i < logits.size(); ++i) tokens_.emplace_back(logits[i], static_cast<int32_t>(i));
  const auto likelier = [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  };
  if (sampling_.top_k > 0 && sampling_.top_k < static_cast<int64_t>(tokens_.size())) {
    std::nth_element(tokens_.begin(), tokens_.begin() + sampling_.top_k, tokens_.end(), likelier);
    tokens_.resize(static_cast<size_t>(sampling_.top_k));
  }
  std::sort(tokens_.begin(), tokens_.end(), likelier);
  weights_.clear();
  double all = 0;
  for (const auto& [logit, token] : tokens_) {
    weights_.push_back(std::exp((static_cast<double>(logit) - tokens_[0].first) / sampling_.temperature));
    all += weights_.back();
  }
  double kept = 0;
  size_t count = 0;
  while (count < weights_.size() && (count == 0 || kept < sampling_.top_p * all)) kept += weights_[count++];
  double left = kept * Uniform(sampling_.seed, static_cast<uint64_t>(sequence), static_cast<uint64_t>(position));
  size_t chosen = 0;
  while (chosen + 1 < count && left >= weights_[chosen]) left -= weights_[chosen++];
  return tokens_[chosen].second;
}

}  // namespace weft::generate
