"""What the reference says of each op that a model file may hold, as rows for C++.

usage: op_pages.py PAGE.md...

Prints `{name, summary, text, {words}},` of every op of the pages, which docs/reference generates. `words` are what may stand
behind an op's operands: those of its syntax and of its examples.
"""

import re
import sys

OP = re.compile(r"^### `((?:weft|model)\.\w+)`.*?\n(.*?)(?=^##+ (?!#)|\Z)", re.M | re.S)
# Made by passes, and by nobody's hand.
OF_PASSES = re.compile(r"weft\.(box|graph|update|\w+_grad|\w+_grad_\w+)$")
EXAMPLE = re.compile(r"`([^`\n]*(?:weft|model)\.\w+[^`\n]*)`|^```mlir\n(.*?)^```", re.M | re.S)
TOKEN = re.compile(r'"[^"]*"|[%@#!]?[\w.$-]+|[()\[\]]')


def words_of_example(line):
    """Words outside of brackets behind the op's name."""
    words, depth, behind = [], 0, False
    for token in TOKEN.findall(line):
        if token in "([":
            depth += 1
        elif token in ")]":
            depth -= 1
        elif re.fullmatch(r"(weft|model)\.\w+", token):
            behind = True
        elif behind and depth == 0 and re.fullmatch(r"[a-z]\w*", token):
            words.append(token)
    return words


def words_of(op, body):
    words = []
    syntax = re.search(r"```\noperation ::= (.*?)```", body, re.S)
    if syntax:
        words += re.findall(r"`([a-z]\w+)`", syntax[1])
    for inline, block in EXAMPLE.findall(body):
        for line in (inline or block).splitlines():
            if op in line and " : " not in line:
                words += words_of_example(line[line.index(op):])
    return list(dict.fromkeys(words))


def text_of(body):
    """The description: without the syntax, which has types, and without the tables of C++."""
    body = body.split("\n#### ")[0]
    body = re.sub(r"Syntax:\n\n```.*?```\n", "", body, flags=re.S)
    body = re.sub(r"^Interfaces: .*\n", "", body, flags=re.M)
    summary = re.match(r"\s*_(.*?)_\n", body)
    return (summary[1], body[summary.end():].strip()) if summary else ("", body.strip())


def quoted(text):
    return 'R"weft(%s)weft"' % text


def rows(page):
    for op, body in OP.findall(page):
        if OF_PASSES.match(op):
            continue
        summary, text = text_of(body)
        yield "{%s, %s, %s, {%s}}," % (quoted(op), quoted(summary), quoted(text),
                                       ", ".join(quoted(word) for word in words_of(op, body)))


def main():
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as file:
            for row in rows(file.read()):
                print(row)


if __name__ == "__main__":
    main()
