// The computations of updates, element by element.
#include <cmath>

#include "ops/cell_families.h"

namespace weft::cell {
namespace {

// What an update is given: p, g, state..., lr, grad_scale and maybe the number of the step.
class Update {
public:
  Update(Cells &c, unsigned state) : c_(c), state_(state) {}

  // Before any of them is asked for.
  bool isWhole() const { return c_.numInputs() >= 4 + state_ && c_.numOutputs() == 1 + state_; }

  Cell parameter() { return c_.in(0); }
  Cell state(unsigned index) { return c_.in(2 + index); }
  Cell gradient() { return c_.in(1) * c_.in(3 + state_); }
  Cell lr() { return c_.in(2 + state_); }
  bool hasStep() const { return c_.numInputs() > 4 + state_; }
  Cell step() { return c_.in(4 + state_); }

  // Where there is a step, and it is skipped, all stays as it is.
  void out(unsigned index, Cell old, Cell next) { c_.out(index, hasStep() ? select(isSkipped(), old, next) : next); }

private:
  // Steps count from 1.
  Cell isSkipped() { return step() < c_.number(1); }

  Cells &c_;
  unsigned state_;
};

void sgd(Cells &c) {
  Update u(c, 0);
  if (!u.isWhole()) {
    return c.refuse();
  }
  Cell p = u.parameter();
  u.out(0, p, p - u.lr() * (u.gradient() + c.constant("weight_decay") * p));
}

void sgdMomentum(Cells &c) {
  Update u(c, 1);
  if (!u.isWhole()) {
    return c.refuse();
  }
  Cell p = u.parameter(), old = u.state(0);
  Cell v = c.constant("momentum") * old + (u.gradient() + c.constant("weight_decay") * p);
  u.out(0, p, p - u.lr() * v);
  u.out(1, old, v);
}

// 1 / (1 - beta^t), what an average that began with 0 is short of. 1 - e^-y is 2 h / (1 + h), h = tanh(y / 2): nothing
// cancels where beta is near 1.
Cell correction(Cell t, double beta) {
  if (beta == 0) {
    return t.number(1);
  }
  Cell h = tanh(t * (-0.5 * std::log(beta)));
  return (1.0 + h) / (2.0 * h);
}

// Kingma and Ba, algorithm 1; Loshchilov and Hutter, algorithm 2.
void adam(Cells &c) {
  Update u(c, 2);
  if (!u.isWhole() || !u.hasStep()) {
    return c.refuse();
  }
  double beta1 = c.constant("beta1"), beta2 = c.constant("beta2"), decay = c.constant("weight_decay");
  bool decoupled = c.constant("decoupled") != 0;
  Cell p = u.parameter(), oldM = u.state(0), oldV = u.state(1);
  Cell g = u.gradient();
  if (!decoupled && decay != 0) {
    g = g + decay * p;
  }
  Cell m = beta1 * oldM + (1 - beta1) * g;
  Cell v = beta2 * oldV + (1 - beta2) * (g * g);
  Cell rate = u.lr() * correction(u.step(), beta1);
  Cell change = rate * m / (sqrt(v * correction(u.step(), beta2)) + c.constant("eps"));
  Cell shrunk = decoupled && decay != 0 ? p - u.lr() * decay * p : p;
  u.out(0, p, shrunk - change);
  u.out(1, oldM, m);
  u.out(2, oldV, v);
}

} // namespace

void describeOptimizer(Descriptions &descriptions) {
  descriptions.add("sgd", sgd);
  descriptions.add("sgd_momentum", sgdMomentum);
  descriptions.add("adam", adam);
}

} // namespace weft::cell
