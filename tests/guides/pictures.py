#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pictures.py HARNESS SOURCE-TREE: docs/images/draw.sh draws each picture of the documentation and
no other, each is shown on a page with a word on what it is, and those that need no measuring are
drawn here."""
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

HARNESS, TREE = sys.argv[1], pathlib.Path(sys.argv[2])
IMAGES = TREE / "docs/images"
UNMEASURED = ["plots/trend", "plots/flame", "scale"]


def draw(*arguments):
    return subprocess.run([IMAGES / "draw.sh", *arguments], capture_output=True, text=True)


def shown():
    """{picture: what stands for it where it cannot be seen}, of all pages."""
    found = {}
    for page in [TREE / "README.md", *(TREE / "docs").rglob("*.md")]:
        for words, target in re.findall(r"!\[([^\]]*)\]\(([^)]*\.png)\)", page.read_text(encoding="utf-8")):
            found[(page.parent / target).resolve()] = words
    return found


class Pictures(unittest.TestCase):
    def test_the_script_draws_what_there_is(self):
        listed = sorted(IMAGES / line for line in draw("--list").stdout.split())
        self.assertEqual(listed, sorted(IMAGES.rglob("*.png")))

    def test_each_is_on_a_page(self):
        pages = shown()
        for picture in IMAGES.rglob("*.png"):
            self.assertTrue(pages.get(picture.resolve()), picture)

    def test_each_is_wide_enough_for_a_slide(self):
        for picture in IMAGES.rglob("*.png"):
            self.assertEqual(struct.unpack(">I", picture.read_bytes()[16:20])[0], 1600, picture)

    def test_those_without_measuring_are_drawn(self):
        if not shutil.which("gnuplot"):
            self.skipTest("there is no gnuplot here")
        with tempfile.TemporaryDirectory() as folder:
            names = [pathlib.Path(name).name for name in UNMEASURED]
            result = draw("--harness", HARNESS, "--output", folder, *names)
            self.assertEqual(result.returncode, 0, result.stderr)
            drawn = sorted(p.relative_to(folder).as_posix() for p in pathlib.Path(folder).rglob("*.*"))
            self.assertEqual(drawn, sorted(f"{name}.png" for name in UNMEASURED))
            for name in drawn:
                self.assertEqual((pathlib.Path(folder) / name).read_bytes()[1:4], b"PNG")

    def test_what_it_does_not_know_is_said(self):
        for arguments, words in ((["flam"], "no picture flam"), (["--lits"], "unknown option --lits"),
                                 (["--harness", "/nowhere", "scale"], "/nowhere")):
            result = draw(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn(words, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
