// What the kernels of windows are tested on, and what windows see there, element by element.
#ifndef WEFT_OPS_WINDOW_CASES_H_
#define WEFT_OPS_WINDOW_CASES_H_

#include <string>
#include <vector>

#include "ops/abi/kernel.h"

namespace weft::window {

using Dims = std::vector<int64_t>;

// An element of a window: where it is in the tensors that go with it. `image` counts if it is `inside`.
struct Element {
  bool inside = true;
  int64_t image = 0, pooled = 0, unfolded = 0, weight = 0;
};

// Windows over an image. Lists that are empty are absent from the spec.
struct Case {
  const char* name;
  Dims image;
  int64_t dim;
  Dims size, stride = {}, padding = {}, padding_after = {}, dilation = {};

  int64_t count() const { return static_cast<int64_t>(size.size()); }
  static int64_t elements(const Dims& dims) {
    int64_t n = 1;
    for (int64_t d : dims) n *= d;
    return n;
  }
  int64_t taps() const { return elements(size); }
  int64_t inner() const { return elements(Dims(image.begin() + dim + count(), image.end())); }
  static int64_t At(const Dims& list, int64_t i, int64_t absent) { return list.empty() ? absent : list[i]; }
  int64_t before(int64_t i) const { return At(padding, i, 0); }
  int64_t places(int64_t i) const {
    const int64_t room = image[dim + i] + before(i) + At(padding_after, i, before(i));
    return (room - At(dilation, i, 1) * (size[i] - 1) - 1) / At(stride, i, 1) + 1;
  }
  Dims pooled() const {
    Dims dims = image;
    for (int64_t i = 0; i < count(); ++i) dims[dim + i] = places(i);
    return dims;
  }
  Dims unfolded() const {
    Dims dims = pooled();
    dims.insert(dims.begin() + dim + count(), size.begin(), size.end());
    return dims;
  }

  // Calls body(element) for every element of every window; those of one window in the order of their taps.
  template <typename Body>
  void ForEach(const Body& body) const {
    const Dims all = unfolded();
    const int64_t within = inner();
    Dims at(all.size(), 0);
    for (int64_t i = 0; i < elements(all); ++i) {
      Element element = {.unfolded = i};
      for (int64_t rest = i, d = static_cast<int64_t>(all.size()) - 1; d >= 0; --d) {
        at[d] = rest % all[d];
        rest /= all[d];
      }
      for (int64_t d = 0; d < static_cast<int64_t>(image.size()); ++d) {
        const int64_t axis = d - dim;
        const bool slides = axis >= 0 && axis < count();
        int64_t position = at[axis < count() ? d : d + count()];
        element.pooled = element.pooled * (slides ? places(axis) : image[d]) + position;
        if (slides) {
          position = position * At(stride, axis, 1) - before(axis) + at[d + count()] * At(dilation, axis, 1);
        }
        element.inside = element.inside && position >= 0 && position < image[d];
        element.image = element.image * image[d] + position;
      }
      element.weight = i / within % taps() * within + i % within;
      body(element);
    }
  }

  KernelSpec Unfold(DType type) const { return Sized("unfold", {Of(type, image)}, Of(type, unfolded())); }
  KernelSpec Fold(DType type) const { return Sized("fold", {Of(type, unfolded())}, Of(type, image)); }
  KernelSpec MaxPool(DType type) const { return Sized("max_pool", {Of(type, image)}, Of(type, pooled())); }
  KernelSpec MaxPoolGrad(DType type) const {
    return Sized("max_pool_grad", {Of(type, pooled()), Of(type, image), Of(type, pooled())}, Of(type, image));
  }
  // Of these the last dims of the image are merged into one of channels.
  KernelSpec Depthwise(DType type) const {
    return Spec("depthwise_conv", {Of(type, WithChannels(image)), Weights(type)}, Of(type, WithChannels(pooled())));
  }
  KernelSpec DepthwiseGradInput(DType type) const {
    return Spec("depthwise_conv_grad_input", {Of(type, WithChannels(pooled())), Weights(type)},
                Of(type, WithChannels(image)));
  }
  KernelSpec DepthwiseGradWeight(DType type) const {
    KernelSpec spec = Spec("depthwise_conv_grad_weight",
                           {Of(type, WithChannels(image)), Of(type, WithChannels(pooled()))}, Weights(DType::kF32));
    spec.attributes.Set("size", size);
    return spec;
  }

 private:
  static TensorSpec Of(DType type, const Dims& dims) { return TensorSpec::Whole(type, dims); }
  Dims WithChannels(Dims dims) const {
    dims.resize(dim + count());
    dims.push_back(inner());
    return dims;
  }
  TensorSpec Weights(DType type) const {
    Dims dims = size;
    dims.push_back(inner());
    return Of(type, dims);
  }
  KernelSpec Spec(const char* op, std::vector<TensorSpec> inputs, TensorSpec output) const {
    KernelSpec spec;
    spec.name = op;
    spec.inputs = std::move(inputs);
    spec.outputs = {std::move(output)};
    for (const auto& [attribute, list] : {std::pair("stride", stride), std::pair("padding", padding),
                                          std::pair("padding_after", padding_after), std::pair("dilation", dilation)}) {
      if (!list.empty()) spec.attributes.Set(attribute, list);
    }
    return spec;
  }
  KernelSpec Sized(const char* op, std::vector<TensorSpec> inputs, TensorSpec output) const {
    KernelSpec spec = Spec(op, std::move(inputs), std::move(output));
    spec.attributes.Set("dim", dim);
    spec.attributes.Set("size", size);
    return spec;
  }

  friend void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }
};

// One, two and three dims that windows slide along; strides that leave a rest, gaps between windows and within them,
// padding on one side; channels that are a vector, more than one, and none.
inline std::vector<Case> Cases() {
  return {
      {.name = "line", .image = {2, 7}, .dim = 1, .size = {3}},
      {.name = "plain", .image = {2, 5, 6, 8}, .dim = 1, .size = {3, 2}},
      {.name = "same", .image = {2, 5, 6, 33}, .dim = 1, .size = {3, 3}, .padding = {1, 1}},
      {.name = "strided", .image = {2, 8, 7, 5}, .dim = 1, .size = {3, 2}, .stride = {2, 3}, .padding = {1, 0}},
      {.name = "patches", .image = {3, 8, 6, 4}, .dim = 1, .size = {2, 3}, .stride = {2, 3}},
      {.name = "gaps", .image = {2, 9, 10, 3}, .dim = 1, .size = {2, 1}, .stride = {4, 2}},
      {.name = "dilated", .image = {2, 9, 8, 16}, .dim = 1, .size = {3, 2}, .padding = {2, 1}, .dilation = {2, 3}},
      {.name = "past", .image = {3, 9, 40}, .dim = 1, .size = {4}, .padding = {3}, .padding_after = {0}},
      {.name = "first_channels", .image = {2, 3, 6, 5}, .dim = 2, .size = {3, 3}, .padding = {1, 1}},
      {.name = "nothing_before", .image = {6, 5, 4}, .dim = 0, .size = {2, 2}, .stride = {2, 1}},
      {.name = "three",
       .image = {2, 3, 4, 5, 6},
       .dim = 1,
       .size = {2, 3, 2},
       .stride = {1, 2, 1},
       .padding = {1, 1, 0}},
      {.name = "wide", .image = {2, 4, 4, 300}, .dim = 1, .size = {2, 2}, .padding = {1, 0}},
      {.name = "large", .image = {2, 9, 10, 6}, .dim = 1, .size = {7, 9}, .padding = {3, 4}},
      {.name = "two_inner", .image = {2, 5, 3, 4}, .dim = 1, .size = {2}},
  };
}

}  // namespace weft::window

#endif  // WEFT_OPS_WINDOW_CASES_H_
