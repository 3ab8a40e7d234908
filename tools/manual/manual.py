#!/usr/bin/python3
"""Manual pages, and completion for bash and zsh, of what the programs say of themselves.

usage: manual.py OUT NAME=PROGRAM...

Writes OUT/man1/NAME.1 of each, OUT/bash/weft and OUT/zsh/_weft. Flags, commands and their meaning are those of `--help`.
"""

import os
import re
import subprocess
import sys

# "  --seed N     of initial values": a flag at the beginning of a line, its value, its meaning.
NAME = r"(-[-a-z0-9]+)(?:[ =]([A-Z](?:[\w|.:=]|,(?! ))*|[a-z]+=[a-z]+|[a-z0-9]+(?:\|[a-z0-9]+)+))?"
FLAG = re.compile(r"^ {{2,}}(?P<flags>{0}(?:, {0})*)(?: +(?P<text>\S.*))?$".format(NAME))
# "[--json]", "[--lines=N]" in a usage.
IN_USAGE = re.compile(r"\[(?P<name>--?[a-z][-a-z0-9]*)(?:[ =](?P<value>[^\]\s]+))?")
COMMAND = re.compile(r"^  (?:weft-\w+ )?(?P<name>[a-z]+)(?:\|\S+)?(?: (?!   )\S+)*? {2,}(?P<text>\S.*)$")


class Flag:
    """`value` is None for a switch, else what --help calls it; `text` what it is for, its first clause."""

    def __init__(self, name, value, text):
        self.name, self.value, self.text = name, value, text

    def choices(self):
        return self.value.split("|") if self.value and re.fullmatch(r"[a-z0-9]+(\|[a-z0-9]+)+", self.value) else []


def help_of(program):
    return subprocess.run([program, "--help"], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL).stdout


def clause(match, below):
    """The beginning of a meaning that makes sense alone. The line `below` may go on with it, in the same column."""
    text, column = match["text"] or "", match.start("text")
    goes_on = re.fullmatch(r" +(\[.*\] +)?", below[:column]) and re.match(r"\S", below[column:])
    first = re.split(r"(?<=\S)[:;.] ", text)[0]
    if first == text and goes_on:
        first = text.rpartition(", ")[0] or text
    return first.rstrip(",;:.")


def matches(pattern, text):
    """(line, its match or None, the line below it) of each line."""
    lines = text.splitlines()
    return [(line, pattern.match(line), below) for line, below in zip(lines, [*lines[1:], ""])]


def flags_of(text):
    """The flags that a text has, in their order."""
    found = {}
    for line, match, below in matches(FLAG, text):
        if match:
            for name, value in re.findall(NAME, match["flags"]):
                known = found.get(name)
                if known is None or not known.text:
                    found[name] = Flag(name, known.value if known is not None and known.choices() else value or None,
                                       clause(match, below))
            continue
        for match in IN_USAGE.finditer(line):
            found.setdefault(match["name"], Flag(match["name"], match["value"], ""))
    return list(found.values())


def commands_of(text):
    """(name, what it does) of the commands of a dispatcher: those of its list."""
    found = {}
    for _, match, below in matches(COMMAND, text):
        if match:
            found.setdefault(match["name"], clause(match, below))
    return list(found.items())


def plan_flags(text):
    """The flags of each command of weft-plan: those between its name and the next one's."""
    parts = re.split(r"^  weft-plan ([a-z]+)", text, flags=re.M)
    return {name: flags_of(body.split("\n\n")[0]) for name, body in zip(parts[1::2], parts[2::2]) if name != "compile"}


class Programs:
    """What is completed: `commands` of weft, those of `weft plan`, and flags by command."""

    def __init__(self, helps):
        self.commands = commands_of(helps["weft"].split("`weft --version`")[0])
        self.flags = {name[len("weft-"):]: flags_of(text) for name, text in helps.items() if name.startswith("weft-")}
        plan = helps["weft-plan"].split("\nA CLUSTER-KEY")[0]
        self.plan_commands = commands_of(plan)
        by_command = plan_flags(plan)
        self.plan_commands = [(name, text) for name, text in self.plan_commands if name in by_command]
        self.plan_commands.append(("compare", what_of("weft-plan-compare", helps["weft-plan-compare"])))
        for name, flags in by_command.items():
            self.flags["plan-" + name] = flags
        self.flags["plan"] = [Flag("--help", None, "what it can do"), Flag("--version", None, "what it was built from")]

    def all_commands(self):
        return sorted(self.flags)

    def names(self):
        """Of the programs that do the commands."""
        return ["weft-" + name for name in self.all_commands() if not name.startswith("plan-") or name == "plan-compare"]


def what_of(name, text):
    """What a program is for: the first line of its help without the name."""
    first = text.strip().splitlines()[0]
    return re.sub(r"^%s:? " % re.escape(name).replace("\\-", "[- ]"), "", first).rstrip(".")


def bash(programs):
    lines = ["# bash completion for weft. Generated from --help.", "_weft() {",
             "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} program=${COMP_WORDS[0]##*/}",
             "  local command=${program#weft} at=1 flags= values=",
             "  command=${command#-}",
             "  # `--flag=value` comes as three words.",
             '  if [[ $word == "=" ]]; then word=; elif [[ $before == "=" ]]; then before=${COMP_WORDS[COMP_CWORD-2]}; fi',
             "  COMPREPLY=()",
             "  if [[ -z $command ]]; then",
             "    if ((COMP_CWORD == 1)); then",
             "      COMPREPLY=($(compgen -W '%s --help --version' -- \"$word\"))" % " ".join(n for n, _ in programs.commands),
             "      return", "    fi", "    command=${COMP_WORDS[1]} at=2", "  fi",
             "  if [[ $command == plan ]]; then", "    if ((COMP_CWORD == at)); then",
             "      COMPREPLY=($(compgen -W '%s --help --version' -- \"$word\"))" % " ".join(
                 n for n, _ in programs.plan_commands),
             "      return", "    fi", "    command=plan-${COMP_WORDS[at]}", "  fi", "  case $command in"]
    for command in programs.all_commands():
        flags = programs.flags[command]
        lines.append("    %s)" % command)
        lines.append("      flags='%s'" % " ".join(flag.name for flag in flags))
        choices = [flag for flag in flags if flag.choices()]
        if choices:
            lines.append("      case $before in")
            lines += ["        %s) values='%s' ;;" % (flag.name, " ".join(flag.choices())) for flag in choices]
            lines.append("      esac")
        lines.append("      ;;")
    lines += ["  esac",
              "  if [[ -n $values ]]; then COMPREPLY=($(compgen -W \"$values\" -- \"$word\"))",
              "  elif [[ $word == -* ]]; then COMPREPLY=($(compgen -W \"$flags\" -- \"$word\"))",
              "  else compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$word\")); fi", "}",
              "complete -F _weft weft %s" % " ".join(programs.names())]
    return "\n".join(lines) + "\n"


def quoted(text):
    """As zsh takes it in single quotes."""
    return "'%s'" % text.replace("'", "'\\''")


def described(name, text):
    return quoted("%s:%s" % (name.replace(":", "\\:"), text.replace(":", "\\:")) if text else name)


def zsh(programs):
    about = [(flag.name, flag.text) for flag in programs.flags["plan"]]
    lines = ["#compdef weft %s" % " ".join(programs.names()), "# zsh completion for weft. Generated from --help.", "_weft() {",
             "  local command=${${words[1]:t}#weft} at=2 before=${words[CURRENT-1]}", "  command=${command#-}",
             "  local -a known flags values",
             "  # `--flag=value` is one word.",
             "  if [[ $PREFIX == --*=* ]]; then before=${PREFIX%%=*}; compset -P '*='; fi",
             "  if [[ -z $command ]]; then", "    if ((CURRENT == 2)); then", "      known=("]
    lines += ["        " + described(name, text) for name, text in programs.commands + about]
    lines += ["      )", "      _describe command known", "      return", "    fi", "    command=${words[2]} at=3", "  fi",
              "  if [[ $command == plan ]]; then", "    if ((CURRENT == at)); then", "      known=("]
    lines += ["        " + described(name, text) for name, text in programs.plan_commands + about]
    lines += ["      )", "      _describe command known", "      return", "    fi", "    command=plan-${words[at]}", "  fi",
              "  case $command in"]
    for command in programs.all_commands():
        lines.append("    %s)" % command)
        lines.append("      flags=(%s)" % " ".join(described(flag.name, flag.text) for flag in programs.flags[command]))
        choices = [flag for flag in programs.flags[command] if flag.choices()]
        if choices:
            lines.append("      case $before in")
            lines += ["        %s) values=(%s) ;;" % (flag.name, " ".join(flag.choices())) for flag in choices]
            lines.append("      esac")
        lines.append("      ;;")
    lines += ["  esac", "  if ((${#values})); then _describe value values",
              "  elif [[ $PREFIX == -* ]]; then _describe flag flags", "  else _files; fi", "}", '_weft "$@"']
    return "\n".join(lines) + "\n"


def roff(text):
    """Text as it is: troff takes backslashes, and dots and quotes at the beginning of a line, for its own."""
    lines = text.replace("\\", "\\e").replace("-", "\\-").splitlines()
    return "\n".join("\\&" + line if line[:1] in (".", "'") else line for line in lines)


def man(name, text, version):
    body = text.strip().partition("\n")[2].strip("\n")
    usage = re.search(r"^usage:(.*(?:\n +\S.*)*)", body, re.M)
    synopsis = "\n".join(line.strip() for line in usage[1].strip("\n").splitlines()) if usage else name
    if name == "weft-plan":  # whose usage says all
        synopsis = "weft plan COMMAND PLAN..."
    elif usage:
        body = (body[:usage.start()] + body[usage.end():]).strip("\n")
    return "\n".join([
        '.TH "%s" 1 "" "Weft %s" "Weft"' % (name.upper(), version), ".SH NAME", "%s \\- %s" % (roff(name), roff(what_of(name, text))),
        ".SH SYNOPSIS", ".nf", roff(synopsis), ".fi", ".SH DESCRIPTION", ".nf", roff(body), ".fi", ".SH SEE ALSO",
        "\\fBweft\\fR(1)" if name != "weft" else "\\fBweft\\-compile\\fR(1), \\fBweft\\-run\\fR(1), \\fBweft\\-plan\\fR(1)",
        ""])


def main():
    out, *pairs = sys.argv[1:]
    paths = dict(pair.partition("=")[::2] for pair in pairs)
    helps = {name: help_of(path) for name, path in paths.items()}
    version = subprocess.run([paths["weft"], "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    programs = Programs(helps)
    files = {"bash/weft": bash(programs), "zsh/_weft": zsh(programs)}
    files.update(("man1/%s.1" % name, man(name, text, version)) for name, text in helps.items())
    for name, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(out, name)), exist_ok=True)
        with open(os.path.join(out, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
