#include "tests/support/function.h"

#include <unistd.h>

#include <cstring>
#include <fstream>
#include <mutex>

#include "absl/strings/str_cat.h"
#include "compiler/job/cluster.h"
#include "compiler/job/job.h"
#include "compiler/pipeline/compile.h"
#include "gtest/gtest.h"
#include "ops/cpu_kernels.h"
#include "runtime/executor/local_cluster.h"
#include "tests/support/elements.h"

namespace weft::tests {
namespace {

class ArraySource : public executor::BatchSource {
 public:
  explicit ArraySource(const Arrays& arrays) : arrays_(arrays) {}
  absl::StatusOr<std::unique_ptr<executor::BatchField>> Bind(const executor::Port& port) override {
    auto it = arrays_.find(port.name);
    if (it == arrays_.end()) return absl::InvalidArgumentError(absl::StrCat("no input ", port.name));
    return std::make_unique<Field>(it->second, port.spec);
  }

 private:
  class Field : public executor::BatchField {
   public:
    Field(const std::vector<float>& array, const TensorSpec& spec) : array_(array), spec_(spec) {}
    absl::Status Fill(int64_t, int64_t, void* tile) override {
      ForEachElement(spec_, [&](int64_t global, int64_t local) { static_cast<float*>(tile)[local] = array_[global]; });
      return absl::OkStatus();
    }

   private:
    const std::vector<float>& array_;
    const TensorSpec spec_;
  };
  const Arrays& arrays_;
};

class ArraySink : public executor::ResultSink {
 public:
  explicit ArraySink(Arrays* arrays) : arrays_(arrays) {}
  absl::StatusOr<std::unique_ptr<executor::ResultField>> Bind(const executor::Port& port) override {
    return std::make_unique<Field>(this, port);
  }

 private:
  class Field : public executor::ResultField {
   public:
    Field(ArraySink* sink, const executor::Port& port) : sink_(sink), name_(port.name), spec_(port.spec) {}
    absl::Status Take(int64_t, int64_t, const void* tile) override { return sink_->Put(name_, spec_, tile); }

   private:
    ArraySink* const sink_;
    const std::string name_;
    const TensorSpec spec_;
  };

  // Every replica gives its tile: they must agree bit by bit.
  absl::Status Put(const std::string& name, const TensorSpec& spec, const void* tile) {
    std::lock_guard<std::mutex> lock(mutex_);
    std::vector<float>& array = (*arrays_)[name];
    std::vector<bool>& known = known_[name];
    int64_t elements = 1;
    for (int64_t d : spec.global_dims) elements *= d;
    array.resize(elements);
    known.resize(elements);
    absl::Status status;
    ForEachElement(spec, [&](int64_t global, int64_t local) {
      const float value = static_cast<const float*>(tile)[local];
      if (known[global] && std::memcmp(&array[global], &value, sizeof value) != 0) {
        status = absl::InternalError(absl::StrCat(name, ": ranks disagree at element ", global));
      }
      array[global] = value;
      known[global] = true;
    });
    return status;
  }

  Arrays* const arrays_;
  std::mutex mutex_;
  std::map<std::string, std::vector<bool>> known_;
};

}  // namespace

absl::StatusOr<plan::Plan> CompileModel(const std::string& text, const std::vector<std::string>& overrides) {
  const std::string stem = absl::StrCat(testing::TempDir(), "/model-", getpid());
  std::ofstream(stem + ".mlir") << text;
  absl::StatusOr<Job> job = ParseJob(absl::StrCat("model { file: \"", stem, ".mlir\" }"), stem + ".job", overrides);
  if (!job.ok()) return job.status();
  compiler::CompileOptions options;
  options.job = *job;
  options.cluster = *LoadCluster("");
  absl::StatusOr<compiler::Compiled> compiled = compiler::compile(options);
  if (!compiled.ok()) return compiled.status();
  return compiled->plan;
}

absl::StatusOr<Arrays> Evaluate(const plan::Plan& plan, const Arrays& inputs) {
  ArraySource source(inputs);
  Arrays outputs;
  ArraySink sink(&outputs);
  KernelRegistry kernels;
  RegisterCpuKernels(kernels);
  executor::ClusterOptions options;
  options.kernels = &kernels;
  options.source = &source;
  options.sink = &sink;
  options.threads = 1;
  auto cluster = executor::LocalCluster::Create(plan, options);
  if (!cluster.ok()) return cluster.status();
  if (absl::Status status = (*cluster)->Initialize(); !status.ok()) return status;
  if (absl::Status status = (*cluster)->Step(0); !status.ok()) return status;
  return outputs;
}

}  // namespace weft::tests
