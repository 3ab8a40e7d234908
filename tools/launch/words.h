// What mpirun, or srun, and its ranks say, sorted.
#ifndef WEFT_TOOLS_LAUNCH_WORDS_H_
#define WEFT_TOOLS_LAUNCH_WORDS_H_

#include <string>

namespace weft::launch {

// What is said of a lost rank when no other has said what it waited for.
inline constexpr char kUnheard[] =
    "; the others were ended before they could say what they waited for, as while they start";

// Reads their stderr piece by piece. Paragraphs of mpirun's that only repeat how
// its processes ended are held back; the rest goes on, line by line.
class Words {
 public:
  // What of the bytes so far, and of those before, can be passed on.
  std::string Take(const std::string& bytes);
  // The rest, at the end.
  std::string End();

  // Whether a rank has told why it ends.
  bool told() const { return told_; }
  // What a rank has told of another one that is lost, or with which nothing moves; "" if none has.
  const std::string& TooFew() const { return too_few_; }
  // The host that is lost, as a rank, mpirun or srun has told; "" if none is, or only a rank.
  const std::string& LostHost() const { return lost_host_; }
  // The line for a rank of which mpirun or srun has said that a signal ended it, and no rank has said that it is lost,
  // as all were starting or mpirun ended them first; "" if there is none.
  std::string Lost() const;

 private:
  std::string TakeLine(const std::string& line);
  std::string TakeParagraph();
  void TakeSrun(const std::string& line);

  std::string line_;       // that has no end yet
  std::string paragraph_;  // with its rules
  bool told_ = false, told_lost_ = false;
  std::string too_few_, lost_host_;
  bool srun_told_ = false;  // how a rank has ended
  std::string rank_, how_;  // the one that mpirun or srun has noticed, and how it has ended
};

}  // namespace weft::launch

#endif  // WEFT_TOOLS_LAUNCH_WORDS_H_
