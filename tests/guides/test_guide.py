#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.sh and guide.py on small pages: what they must find, they find."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

import guide

HERE = pathlib.Path(__file__).parent


def execute(text, setting=""):
    """(exit status, what run.sh prints) of a page."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in ("run.sh", "session.sh", "lib.sh", "guide.py"):
            (folder / name).symlink_to(HERE.resolve() / name)
        (folder / "page.md").write_text(text, encoding="utf-8")
        (folder / "toy.sh").write_text(setting, encoding="utf-8")
        result = subprocess.run([folder / "run.sh", "/bin/true", "cmake", folder / "page.md", "toy"],
                                capture_output=True, text=True)
        return result.returncode, result.stdout + result.stderr


def sh(*lines):
    return "```sh\n" + "\n".join(lines) + "\n```\n"


def console(*lines):
    return "```console\n" + "\n".join(lines) + "\n```\n"


class Page(unittest.TestCase):
    def passes(self, text, setting="", says=""):
        status, output = execute(text, setting)
        self.assertEqual(status, 0, output)
        self.assertIn(says, output)

    def fails(self, text, setting="", says=""):
        status, output = execute(text, setting)
        self.assertEqual(status, 1, output)
        self.assertIn(says, output)

    def test_one_shell(self):
        self.passes(sh("mkdir a && cd a", "x=1") + "words\n" + sh('test "$x" = 1', 'test -d "$HOME/a"',
                    'test "$(basename "$PWD")" = a'), says="5 commands executed, 0 not run")

    def test_status(self):
        self.fails(sh("true", "false"), says="exit status 1, not 0")
        self.passes(sh("false   # exit status 1"))
        self.passes(sh("false   # exit 0 fine, 1 slower, 77 cannot tell"))
        self.fails(sh("true     # exit status 1"))
        self.passes(console("$ false", "$ echo $?", "1"))
        self.fails(console("$ false", "$ echo $?", "2"))

    def test_commands_of_several_lines(self):
        self.passes(sh("for i in 1 2; do", "  echo $i >$i", "done", "# a remark", "cat <<END >3", "three", "END",
                       "test -e 1 \\", "  -a -e 2"), says="3 commands executed")
        self.passes(console("$ for i in 1 2; do", ">   echo line", "> done", "line", "line"))

    def test_output(self):
        self.passes(console("$ echo a b", "a b", "$ echo c", "c"))
        self.fails(console("$ echo a b", "a c"), says="printed  a b")
        self.fails(console("$ echo a b"), says="printed  a b")
        self.fails(console("$ true", "a b"))
        self.passes(console("$ echo trouble >&2", "trouble"))
        self.passes(console("$ seq 3", "1", "…", "3"))
        self.fails(console("$ seq 3", "1", "…", "x"))

    def test_not_run(self):
        setting = "not_run 'ssh *' 'needs a node'\n"
        self.passes(sh("ssh node ls"), setting, says="not run: needs a node: ssh node ls")
        self.fails(sh("true"), setting, says='no command is like "ssh *" any more')
        self.passes(sh("true"), "not_run 'ssh *' 'maybe: needs a node'\n")

    def test_settings(self):
        self.passes(sh("cat there"), "before() { echo >there; }\nafter() { check it test -e there; }\n",
                    says="yes: it")
        self.fails(sh("true"), "after() { check it false; }\n", says="NO: it")
        self.assertEqual(execute(sh("true"), "before() { skip 'no moon'; }\n")[0], 77)

    def test_no_commands(self):
        self.assertNotEqual(execute("words\n")[0], 0)


class Words(unittest.TestCase):
    def match(self, shown, printed):
        return guide.lines_match(shown.splitlines(), printed.splitlines())

    def test_masks(self):
        self.assertTrue(self.match("took 1.25 ms  +20.0 %", "took  310 µs +3 %"))
        self.assertTrue(self.match("at 9963a65 (1 run)", "at dd22036 (2 run)"))
        self.assertTrue(self.match("12.1 µs* 2026-04-20", "9.0 µs 2027-01-01"))
        self.assertFalse(self.match("1 regressed", "1 improved"))
        self.assertFalse(self.match("one", "1"))
        self.assertFalse(self.match("5 %", "5"))

    def test_ellipsis(self):
        self.assertTrue(self.match("a … d\n…\nz", "a b c d\nx\ny\nz"))
        self.assertTrue(self.match("a …", "a"))
        self.assertTrue(self.match("…/h.db: y", "/tmp/tmp.X1/h.db: y"))
        self.assertFalse(self.match("…/h.db: y", "/tmp/tmp.X1/i.db: y"))
        self.assertFalse(self.match("a … d", "a b c"))
        self.assertFalse(self.match("…\nb", "a"))


if __name__ == "__main__":
    sys.argv = sys.argv[:1]
    unittest.main()
