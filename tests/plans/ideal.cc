#include "tests/plans/ideal.h"

#include <algorithm>
#include <cstring>
#include <map>

#include "absl/strings/str_cat.h"
#include "runtime/collective/reduce.h"
#include "runtime/collective/tile_copy.h"
#include "runtime/plan/layout.h"
#include "runtime/plan/names.h"
#include "runtime/plan/tiles.h"

namespace weft::plan {
namespace {

using Bytes = std::vector<char>;

// A rectangle from one dense tile into another.
void CopyBlock(const std::vector<int64_t>& dims, const Bytes& from, const std::vector<int64_t>& from_dims,
               const std::vector<int64_t>& from_origin, Bytes& to, const std::vector<int64_t>& to_dims,
               const std::vector<int64_t>& to_origin, int64_t element) {
  collective::TileCopy(dims, from_dims, from_origin, to_dims, to_origin, element).Run(from.data(), to.data());
}

// The sum, or the maximum, of the members' tensors, in their order.
Bytes Reduced(const Collective& it, DType dtype, const std::vector<const Bytes*>& members, int64_t elements) {
  const auto reduction = it.reduction() == Collective::MAX ? collective::Reduction::kMax : collective::Reduction::kSum;
  const auto reduce = collective::ReducerFor(static_cast<weft::DType>(dtype), reduction);
  Bytes result(members[0]->size());
  if (!reduce.ok()) return result;  // no run comes this far
  std::vector<const void*> inputs;
  for (const Bytes* member : members) inputs.push_back(member->data());
  void* output = result.data();
  (*reduce)(inputs.data(), static_cast<int>(inputs.size()), 0, &output, 1, 0, elements);
  return result;
}

// What member `m` gets of the members' inputs.
Bytes ResultOf(const Collective& it, const Placement& placement, const Buffer& input, const Buffer& output,
               const std::vector<const Bytes*>& members, int64_t m) {
  const std::vector<int64_t> in = LocalDims(placement, input), out = LocalDims(placement, output);
  const std::vector<int64_t> zero(in.size(), 0);
  const int64_t element = ElementBytes(input.dtype());
  Bytes result(LocalBytes(placement, output));
  if (it.kind() == Collective::ALL_REDUCE) {
    return Reduced(it, input.dtype(), members, LocalElements(placement, input));
  }
  if (it.kind() == Collective::REDUCE_SCATTER) {
    const Bytes all = Reduced(it, input.dtype(), members, LocalElements(placement, input));
    std::vector<int64_t> from = zero;
    from[it.dim()] = m * out[it.dim()];
    CopyBlock(out, all, in, from, result, out, zero, element);
    return result;
  }
  if (it.kind() == Collective::SHIFT) {
    const auto count = static_cast<int64_t>(members.size());
    return *members[static_cast<size_t>((m + count - it.by()) % count)];
  }
  if (it.kind() == Collective::ZIGZAG) {
    // Where piece `p` is, as one of two neighbours and as one of two from either end.
    struct Place {
      int64_t member, half;
    };
    const auto count = static_cast<int64_t>(members.size());
    const auto neighbour = [](int64_t p) { return Place{p / 2, p % 2}; };
    const auto from_ends = [count](int64_t p) {
      const int64_t first = std::min(p, 2 * count - 1 - p);
      return Place{first % 2 == 0 ? first / 2 : count - 1 - first / 2, p < count ? 0 : 1};
    };
    for (int64_t p = 0; p < 2 * count; ++p) {
      const Place source = it.back() ? from_ends(p) : neighbour(p), target = it.back() ? neighbour(p) : from_ends(p);
      if (target.member != m) continue;
      std::vector<int64_t> dims = in, from = zero, to = zero;
      dims[it.dim()] = in[it.dim()] / 2;
      from[it.dim()] = source.half * dims[it.dim()];
      to[it.dim()] = target.half * dims[it.dim()];
      CopyBlock(dims, *members[static_cast<size_t>(source.member)], in, from, result, out, to, element);
    }
    return result;
  }
  for (size_t source = 0; source < members.size(); ++source) {
    std::vector<int64_t> dims = in, from = zero, to = zero;
    to[it.dim()] = static_cast<int64_t>(source) * in[it.dim()];
    if (it.kind() == Collective::ALL_TO_ALL) {
      dims[it.split_dim()] = out[it.split_dim()];
      from[it.split_dim()] = m * out[it.split_dim()];
    }
    CopyBlock(dims, *members[source], in, from, result, out, to, element);
  }
  return result;
}

// The buffers with an initial value: copies behind what they are copies of.
std::vector<int32_t> InOrderOfInit(const Program& program) {
  std::vector<int32_t> order;
  for (bool copies : {false, true}) {
    for (int32_t b = 0; b < program.stage->buffers_size(); ++b) {
      const Buffer& buffer = program.buffer(b);
      if (buffer.has_init() && buffer.alias_of() == 0 && (buffer.init().inputs_size() > 0) == copies) {
        order.push_back(b);
      }
    }
  }
  return order;
}

}  // namespace

IdealCluster::IdealCluster(const Plan& plan, const Log& log) : plan_(plan), log_(log), programs_(ProgramsOf(plan)) {
  (void)Execute(programs_, [&](const Act& act) {
    acts_.push_back(act);
    acts_.back().before = {};
    return absl::OkStatus();
  });
  for (const Program& program : programs_) {
    std::vector<Rank>& ranks = ranks_.emplace_back();
    for (int r = 0; r < program.placement->ranks_size(); ++r) {
      Rank& rank = ranks.emplace_back();
      rank.index = r;
      rank.rank = program.placement->ranks(r);
      std::map<int32_t, uint64_t> hashes;  // of what is made of nothing
      for (int32_t b : InOrderOfInit(program)) {
        const Buffer& buffer = program.buffer(b);
        Bytes bytes(LocalBytes(*program.placement, buffer));
        uint64_t stamp = StampOf(log.InitOf(program.index, b), r, 0, 0);
        for (int32_t parameter : buffer.init().inputs()) stamp = Mix(stamp, hashes.at(parameter));
        FillTile(Mix(stamp, 0), buffer.dtype(), LocalElements(*program.placement, buffer), bytes.data());
        hashes[b] = HashTile(bytes.data(), static_cast<int64_t>(bytes.size()));
        Cell& cell = CellOf(program.index, rank, b, kState);
        for (size_t i = 0; i < bytes.size(); ++i) cell[i] = {bytes[i], kInitial, 0};
      }
    }
  }
}

absl::Status IdealCluster::Step(int64_t step) {
  read_.assign(log_.size(), 0);
  for (size_t s = 0; s < ranks_.size(); ++s) {
    for (Rank& rank : ranks_[s]) {
      for (auto& [key, cell] : rank.cells) {
        if (key.second != kState) cell.assign(cell.size(), Byte());
      }
    }
  }
  for (const Act& act : acts_) {
    if (absl::Status status = Perform(act, step); !status.ok()) return status;
    for (Rank& rank : ranks_[act.stage]) Publish(act, rank);
  }
  return absl::OkStatus();
}

absl::Status IdealCluster::Perform(const Act& act, int64_t step) {
  const Actor& actor = programs_[act.stage].actor(act.actor);
  if (actor.collectives_size() > 0) return RunBundle(act);
  if (actor.end_case() == Actor::kSend) return Send(act);
  if (actor.end_case() == Actor::kReceive) {
    Receive(act);
    return absl::OkStatus();
  }
  for (Rank& rank : ranks_[act.stage]) {
    for (int k = 0; k < actor.kernels_size(); ++k) {
      if (absl::Status status = RunKernel(act, k, step, rank); !status.ok()) return status;
    }
  }
  return absl::OkStatus();
}

absl::Status IdealCluster::RunKernel(const Act& act, int work, int64_t step, Rank& rank) {
  const Program& program = programs_[act.stage];
  const Kernel& kernel = program.actor(act.actor).kernels(work);
  if (MovesTier(kernel)) {
    Bytes bytes;
    absl::Status status = Read(act, work, kernel.inputs(0), rank, bytes);
    if (status.ok()) Write(act, kernel.outputs(0), rank, bytes);
    return status;
  }
  const int site = log_.SiteOf(act.stage, act.actor, work);
  uint64_t stamp = StampOf(site, rank.index, step, act.micro_batch);
  for (int i = 0; i < kernel.inputs_size(); ++i) {
    if (i == log_.site(site).accumulator && act.micro_batch == 0) continue;
    Bytes bytes;
    if (absl::Status status = Read(act, work, kernel.inputs(i), rank, bytes); !status.ok()) return status;
    const uint64_t hash = HashTile(bytes.data(), static_cast<int64_t>(bytes.size()));
    read_[log_.PlaceOf(site, rank.index, act.micro_batch, i)] = hash;
    stamp = Mix(stamp, hash);
  }
  if (kernel.name() == "output") return absl::OkStatus();
  for (int o = 0; o < kernel.outputs_size(); ++o) {
    const Buffer& buffer = program.buffer(kernel.outputs(o));
    Bytes bytes(LocalBytes(*program.placement, buffer));
    const uint64_t key =
        kernel.name() == "input" ? StampOfInput(absl::StrCat(site), rank.rank, step, act.micro_batch) : Mix(stamp, o);
    FillTile(key, buffer.dtype(), LocalElements(*program.placement, buffer), bytes.data());
    Write(act, kernel.outputs(o), rank, bytes);
  }
  return absl::OkStatus();
}

absl::Status IdealCluster::RunBundle(const Act& act) {
  const Program& program = programs_[act.stage];
  const Actor& actor = program.actor(act.actor);
  std::vector<Rank>& ranks = ranks_[act.stage];
  std::vector<std::vector<Bytes>> inputs(actor.collectives_size(), std::vector<Bytes>(ranks.size()));
  for (int i = 0; i < actor.collectives_size(); ++i) {
    for (size_t r = 0; r < ranks.size(); ++r) {
      absl::Status status = Read(act, 0, actor.collectives(i).input(), ranks[r], inputs[i][r]);
      if (!status.ok()) return status;
    }
  }
  for (int i = 0; i < actor.collectives_size(); ++i) {
    const Collective& it = actor.collectives(i);
    const std::vector<int32_t> axes(it.axes().begin(), it.axes().end());
    for (size_t r = 0; r < ranks.size(); ++r) {
      const std::vector<int64_t> group = GroupOf(*program.placement, axes, static_cast<int64_t>(r));
      std::vector<const Bytes*> members;
      for (int64_t member : group) members.push_back(&inputs[i][member]);
      const int64_t m = std::find(group.begin(), group.end(), static_cast<int64_t>(r)) - group.begin();
      Write(act, it.output(), ranks[r],
            ResultOf(it, *program.placement, program.buffer(it.input()), program.buffer(it.output()), members, m));
    }
  }
  return absl::OkStatus();
}

absl::Status IdealCluster::Send(const Act& act) {
  const int32_t transfer = programs_[act.stage].actor(act.actor).send();
  std::vector<Bytes>& sent = sent_[transfer];
  sent.resize(ranks_[act.stage].size());
  for (Rank& rank : ranks_[act.stage]) {
    absl::Status status = Read(act, 0, plan_.transfers(transfer).source_buffer(), rank, sent[rank.index]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

void IdealCluster::Receive(const Act& act) {
  const Transfer& transfer = plan_.transfers(programs_[act.stage].actor(act.actor).receive());
  const std::vector<Bytes>& sent = sent_[programs_[act.stage].actor(act.actor).receive()];
  const Program &from = programs_[transfer.source_stage()], &to = programs_[act.stage];
  const Buffer &source = from.buffer(transfer.source_buffer()), &target = to.buffer(transfer.target_buffer());
  std::vector<Bytes> tiles(ranks_[act.stage].size(), Bytes(LocalBytes(*to.placement, target)));
  for (const Piece& piece : PiecesOf(plan_, transfer)) {
    const Tile there = TileOf(*from.placement, source, Coordinates(*from.placement, piece.source));
    const Tile here = TileOf(*to.placement, target, Coordinates(*to.placement, piece.target));
    std::vector<int64_t> from_origin, to_origin;
    for (size_t d = 0; d < piece.tile.dims.size(); ++d) {
      from_origin.push_back(piece.tile.origin[d] - there.origin[d]);
      to_origin.push_back(piece.tile.origin[d] - here.origin[d]);
    }
    CopyBlock(piece.tile.dims, sent[piece.source], there.dims, from_origin, tiles[piece.target], here.dims, to_origin,
              ElementBytes(source.dtype()));
  }
  for (Rank& rank : ranks_[act.stage]) Write(act, transfer.target_buffer(), rank, tiles[rank.index]);
}

std::vector<int32_t> IdealCluster::SourcesOf(const Act& act, int32_t buffer) const {
  const Program& program = programs_[act.stage];
  std::vector<int32_t> sources;
  for (int32_t b : program.actor(act.actor).reads()) {
    if (b == buffer) return {b};
    if (program.root[b] == program.root[buffer]) sources.push_back(b);
  }
  return sources;
}

absl::Status IdealCluster::Read(const Act& act, int work, int32_t buffer, Rank& rank, Bytes& bytes) {
  const Program& program = programs_[act.stage];
  const int32_t root = program.root[buffer];
  const View view = ViewOf(act.stage, buffer);
  const bool state = program.persistent[buffer];
  const auto fresh = rank.fresh.find(root);
  const std::vector<int32_t> sources = SourcesOf(act, buffer);
  bytes.resize(view.bytes);
  const auto wrong = [&](int64_t at, const Byte& found) {
    return absl::InternalError(absl::StrCat("rank ", rank.rank, ": ", program.Where(act.actor, work), " (micro-batch ",
                                            act.micro_batch, ") reads byte ", at, " of `",
                                            program.buffer(buffer).name(), "`, which ",
                                            found.actor == kNobody ? "nobody" : program.actor(found.actor).name(),
                                            " wrote for micro-batch ", found.micro_batch));
  };
  for (int64_t i = 0; i < view.bytes; ++i) {
    const int64_t at = view.begin + i;
    if (fresh != rank.fresh.end() && fresh->second[at].actor != kNobody) {
      bytes[i] = fresh->second[at].value;
      continue;
    }
    if (state) {
      bytes[i] = CellOf(act.stage, rank, root, kState)[at].value;
      continue;
    }
    Byte found;
    bool good = false;
    for (int32_t b : sources) {
      const int32_t writer = program.writer[b];
      const int64_t made = !program.micro(writer)     ? 0
                           : program.micro(act.actor) ? act.micro_batch
                                                      : program.micro_batches - 1;
      found = CellOf(act.stage, rank, root, SpaceOf(act.stage, writer, made))[at];
      good = found.actor == writer && found.micro_batch == made;
      if (good) break;
    }
    // What the actor keeps for itself, from one micro-batch to the next.
    if (!good && program.micro(act.actor) && act.micro_batch > 0) {
      found = CellOf(act.stage, rank, root, act.micro_batch - 1)[at];
      good = found.actor == act.actor;
    }
    if (!good) return wrong(i, found);
    bytes[i] = found.value;
  }
  return absl::OkStatus();
}

void IdealCluster::Write(const Act& act, int32_t buffer, Rank& rank, const Bytes& bytes) {
  const Program& program = programs_[act.stage];
  const int32_t root = program.root[buffer];
  Cell& fresh = rank.fresh[root];
  fresh.resize(LocalBytes(*program.placement, program.buffer(root)));
  const View view = ViewOf(act.stage, buffer);
  for (size_t i = 0; i < bytes.size(); ++i) fresh[view.begin + i] = {bytes[i], act.actor, act.micro_batch};
}

void IdealCluster::Publish(const Act& act, Rank& rank) {
  const Program& program = programs_[act.stage];
  for (auto& [root, fresh] : rank.fresh) {
    const int64_t space = program.persistent[root] ? kState : SpaceOf(act.stage, act.actor, act.micro_batch);
    Cell& cell = CellOf(act.stage, rank, root, space);
    for (size_t i = 0; i < fresh.size(); ++i) {
      if (fresh[i].actor != kNobody) cell[i] = fresh[i];
    }
  }
  rank.fresh.clear();
}

IdealCluster::Cell& IdealCluster::CellOf(int stage, Rank& rank, int32_t root, int64_t space) {
  Cell& cell = rank.cells[{root, space}];
  const Program& program = programs_[stage];
  if (cell.empty()) cell.resize(LocalBytes(*program.placement, program.buffer(root)));
  return cell;
}

IdealCluster::View IdealCluster::ViewOf(int stage, int32_t buffer) const {
  const Program& program = programs_[stage];
  return {program.offset[buffer] - program.offset[program.root[buffer]],
          LocalBytes(*program.placement, program.buffer(buffer))};
}

int64_t IdealCluster::SpaceOf(int stage, int32_t actor, int64_t micro_batch) const {
  return programs_[stage].micro(actor) ? micro_batch : kStep;
}

std::vector<char> IdealCluster::BytesOf(int stage, int64_t rank, int32_t buffer) {
  const Program& program = programs_[stage];
  const int32_t root = program.root[buffer];
  const View view = ViewOf(stage, buffer);
  int64_t space = kState;
  if (!program.persistent[root]) {
    int32_t writer = program.writer[buffer];
    for (size_t a = 0; a < program.work.size() && writer < 0; ++a) {
      for (const Work& work : program.work[a]) {
        for (int32_t b : work.writes) writer = program.root[b] == root ? static_cast<int32_t>(a) : writer;
      }
    }
    space = SpaceOf(stage, writer, program.micro_batches - 1);
  }
  const Cell& cell = CellOf(stage, ranks_[stage][rank], root, space);
  Bytes bytes;
  for (int64_t i = 0; i < view.bytes; ++i) bytes.push_back(cell[view.begin + i].value);
  return bytes;
}

}  // namespace weft::plan
