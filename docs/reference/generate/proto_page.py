"""A page of the reference from a .proto file: its messages and enumerations with their comments.

usage: proto_page.py --title TITLE FILE.proto

Reads the house's own layout: one field, value or brace a line, comments above what they describe. What it cannot read
is an error.
"""

import argparse
import re
import sys

from markdown import leading_comment, page, table

OPEN = re.compile(r"(message|enum|oneof|extend)\s+([\w.]+)\s*\{(\s*\})?$")
FIELD = re.compile(r"((?:repeated|optional)\s+)?(map<[^>]+>|[\w.]+)\s+(\w+)\s*=\s*(\d+)\s*(?:\[([^]]*)\])?;")
# Of the house's own options: "(at_least) = 0".
OPTION = re.compile(r"\((\w+)\)\s*=\s*([^,]+)")
VALUE = re.compile(r"(\w+)\s*=\s*(-?\d+);")
IGNORED = re.compile(r"(syntax|package|import|option|reserved)\b.*;|$")


class Block:
    """A message, enumeration or oneof. entries: (name, type or number, comment, name of its oneof or None)."""

    def __init__(self, kind, name, comment):
        self.kind, self.name, self.comment = kind, name, comment
        self.entries = []


def parse(text, path):
    """The file's messages and enumerations in order, nested ones behind their owner under `Owner.Name`."""
    blocks, stack, comment = [], [], []
    body = text[text.index("syntax"):]
    first_line = text[:text.index("syntax")].count("\n") + 1
    for number, line in enumerate((line.strip() for line in body.splitlines()), first_line):
        if line.startswith("//"):
            comment.append(line[2:].strip())
            continue
        code, _, trailing = (part.strip() for part in line.partition("//"))
        said = " ".join(comment + [trailing] if trailing else comment)
        if line:
            comment = []
        opened = OPEN.match(code)
        if opened:
            block = _open(opened, said, stack, blocks)
            if not opened.group(3):
                stack.append(block)
        elif code == "}":
            stack.pop()
        elif not _entry(code, said, stack):
            raise SystemExit("%s:%d: expected a field, a value, a block or its end, got %r" % (path, number, code))
    return blocks


def _open(opened, said, stack, blocks):
    kind, name = opened.group(1), opened.group(2)
    if kind == "oneof":
        return Block(kind, name, said)
    owners = [block.name for block in stack if block.kind != "oneof"]
    block = Block(kind, ".".join(owners[-1:] + [name]), said)
    if kind != "extend":
        blocks.append(block)
    return block


def _entry(code, said, stack):
    """Adds a field or value to the innermost block; false if the line is neither nor to be ignored."""
    if IGNORED.fullmatch(code):
        return True
    field, value = FIELD.fullmatch(code), VALUE.fullmatch(code)
    if not stack or not (field or value):
        return False
    owner = next(block for block in reversed(stack) if block.kind != "oneof")
    if value and owner.kind == "enum":
        owner.entries.append((value.group(1), value.group(2), said, None))
    elif field:
        group = stack[-1].name if stack[-1].kind == "oneof" else None
        options = ["%s %s" % (name.replace("_", " "), value) for name, value in OPTION.findall(field.group(5) or "")]
        said += " (%s)" % ", ".join(options) if options else ""
        owner.entries.append((field.group(3), ((field.group(1) or "") + field.group(2)).strip(), said, group))
    else:
        return False
    return True


def _linked(type_, names, owner):
    """A field's type, with a link if it is one of this page's."""
    word = re.search(r"[\w.]+$|(?<=, )[\w.]+(?=>)", type_)
    for name in ([owner + "." + word.group(), word.group()] if word else []):
        if name in names:
            return "[%s](#%s)" % (type_, name.lower().replace(".", ""))
    return "`%s`" % type_


def render(blocks):
    names = {block.name for block in blocks}
    lines = []
    for block in blocks:
        lines += ["", "## " + block.name, "", block.comment, ""]
        if block.kind == "enum":
            lines += table(["Value", "Number", "Meaning"],
                           [["`%s`" % name, number, said] for name, number, said, _ in block.entries])
        else:
            lines += table(["Key", "Type", "Meaning"],
                           [["`%s`" % name, _linked(type_, names, block.name),
                             (said + (" (one of `%s`)" % group if group else "")).strip()]
                            for name, type_, said, group in block.entries])
    return lines


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--title", required=True)
    parser.add_argument("proto")
    arguments = parser.parse_args()
    with open(arguments.proto, encoding="utf-8") as file:
        text = file.read()
    body = leading_comment(text) + render(parse(text, arguments.proto))
    sys.stdout.write(page(arguments.title, [arguments.proto], body))


if __name__ == "__main__":
    main()
