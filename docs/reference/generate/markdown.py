"""What the generators of docs/reference share."""

NOTICE = "<!-- Generated from %s; run tools/docs after a change there. -->"


def page(title, sources, body):
    """A page of the reference: notice, title, body (lines); no two blank lines together, one line end at the end."""
    lines = [NOTICE % ", ".join(sources), "", "# " + title, ""]
    for line in body:
        line = line.rstrip()
        if line or lines[-1]:
            lines.append(line)
    while not lines[-1]:
        lines.pop()
    return "\n".join(lines) + "\n"


def table(head, rows):
    """Lines of a table; nothing for no rows."""
    if not rows:
        return []
    return (["| %s |" % " | ".join(head), "| %s |" % " | ".join("---" for _ in head)] +
            ["| %s |" % " | ".join(cell.replace("|", "\\|") for cell in row) for row in rows])


def leading_comment(text):
    """The // comment at the top of a file, as lines of prose."""
    lines = []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        lines.append(line[2:].strip())
    return lines
