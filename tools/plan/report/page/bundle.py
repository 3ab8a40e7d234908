"""Makes one HTML page of its parts: bundle.py TEMPLATE STYLE LICENSES LIBRARY... -- SCRIPT... > page.html

In the template `@STYLE@`, `@LICENSES@`, `@LIBRARIES@` and `@SCRIPTS@` stand for the files; `@DATA@` and `@RUN@` stay:
page.cc puts plans and a run there.
"""

import html
import sys


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def scripts(paths):
    """Each file as a script of its own, so that an error names where it is."""
    for path in paths:
        text = read(path)
        if "</script" in text:
            sys.exit("%s: expected no </script in it: it would end the script" % path)
        yield "<script>\n%s\n</script>" % text


def main():
    template, style, licenses = sys.argv[1:4]
    mark = sys.argv.index("--")
    page = read(template)
    parts = {
        "@STYLE@": read(style),
        "@LICENSES@": html.escape(read(licenses)),
        "@LIBRARIES@": "\n".join(scripts(sys.argv[4:mark])),
        "@SCRIPTS@": "\n".join(scripts(sys.argv[mark + 1:])),
    }
    for name, text in parts.items():
        if page.count(name) != 1:
            sys.exit("%s: expected %s once, found it %d times" % (template, name, page.count(name)))
        before, after = page.split(name)
        page = before + text + after
    for name in ("@DATA@", "@RUN@"):
        if page.count(name) != 1:
            sys.exit("%s: expected %s once, found it %d times" % (template, name, page.count(name)))
    sys.stdout.write(page)


if __name__ == "__main__":
    main()
