// What a run says of itself: on the first line of its metrics, and in its checkpoints.
#ifndef WEFT_TOOLS_RUN_RECORD_H_
#define WEFT_TOOLS_RUN_RECORD_H_

#include <map>
#include <string>
#include <vector>

#include "runtime/plan/plan.pb.h"

namespace weft::run {

// By key: `weft`, the version; `plan`, its hash; `ranks`, how many and how they lie; `job`, as text on one line; `host`
// and `date`, of this process and now. Of a run with data, from OpenData: `data`, the path, `data_form` ("text",
// "uint16", "images u8[28,28], labels u8"), `data_tokens` or `data_records`, how many, and `data_hash`, of what it
// holds, wherever that lies.
using Record = std::map<std::string, std::string>;
Record RecordOf(const plan::Plan& plan);

// What has changed from one run to the one that goes on with its state, as "optimizer.adamw.lr 0.001 -> 0.003".
struct Changes {
  // What the numbers of the state mean is another: the model (file, graph, settings), the kind of the optimizer, what
  // a token stands for (the form of the data).
  std::vector<std::string> meaning;
  // The rest: batch, precision, values of the optimizer, the order of the data.
  std::vector<std::string> course;
  // Whether the data holds something else.
  bool other_data = false;
};

// Not among the changes is what has no say in the numbers: layout, pipeline, ZeRO, recomputing, fusion and cluster;
// nor the job's seed, of which CheckChanges speaks. Nothing of a key that one of the two lacks.
Changes Compare(const Record& before, const Record& now);

// What a run read, as "corpus.txt (9,000 tokens, text, hash 00000000000000ab)".
std::string DataText(const Record& record);

}  // namespace weft::run

#endif  // WEFT_TOOLS_RUN_RECORD_H_
