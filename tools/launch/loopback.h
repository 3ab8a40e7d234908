// Keeps what mpirun listens on to this machine.
#ifndef WEFT_TOOLS_LAUNCH_LOOPBACK_H_
#define WEFT_TOOLS_LAUNCH_LOOPBACK_H_

namespace weft::launch {

// Open MPI's mpirun opens ports for the daemons of other machines, on all interfaces, and no option of it says
// otherwise. So the kernel asks this process about each bind() of the processes that it starts from now on (seccomp's
// user notification): an address that means all interfaces becomes the loopback one's, before bind() goes on.
//
//   mpirun: bind(0.0.0.0:0) -> stops -> weft-launch: Answer() writes 127.0.0.1 -> bind(127.0.0.1:0)
//
// One a process, before its children, and by a process that calls bind() itself no more. The processes that are
// started keep asking as long as they live; if nobody is left to answer, their bind() fails.
class Loopback {
 public:
  // Looks at nothing if the kernel does not allow it: fd() is -1 then, and errno says why.
  Loopback();
  ~Loopback();
  Loopback(const Loopback&) = delete;
  Loopback& operator=(const Loopback&) = delete;

  // Readable while a process waits for an answer.
  int fd() const { return fd_; }
  // Answers one process. Does not block while fd() is readable.
  void Answer() const;

 private:
  int fd_ = -1;
};

}  // namespace weft::launch

#endif  // WEFT_TOOLS_LAUNCH_LOOPBACK_H_
