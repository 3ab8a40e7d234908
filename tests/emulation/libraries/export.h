// Exports the functions of a table under the symbols that a program looks for, so
// that an emulation can be opened as the vendor's library is.
#ifndef WEFT_TESTS_EMULATION_LIBRARIES_EXPORT_H_
#define WEFT_TESTS_EMULATION_LIBRARIES_EXPORT_H_

#include <functional>

namespace weft::tests {

// A plain function that calls a field of the table that kTable() returns.
template <auto kTable, auto kField>
struct Exported;
template <typename Table, const Table& (*kTable)(), typename Result, typename... Arguments,
          std::function<Result(Arguments...)> Table::* kField>
struct Exported<kTable, kField> {
  static Result Call(Arguments... arguments) { return (kTable().*kField)(arguments...); }
};

}  // namespace weft::tests

// `symbol`, a string, jumps to the function, whatever its arguments are; `slot` is a name of its own.
#define WEFT_EXPORT(slot, symbol, function)                                                         \
  extern "C" {                                                                                      \
  __attribute__((used)) void* weft_slot_##slot = reinterpret_cast<void*>(function);                 \
  }                                                                                                 \
  asm(".text\n.globl " symbol "\n.type " symbol ", @function\n" symbol ":\n  movq weft_slot_" #slot \
      "@GOTPCREL(%rip), %r11\n  jmpq *(%r11)\n.size " symbol ", .-" symbol "\n");

#endif  // WEFT_TESTS_EMULATION_LIBRARIES_EXPORT_H_
