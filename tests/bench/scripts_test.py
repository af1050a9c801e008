"""bench/compare and bench/plot.py on a small result file. Usage: scripts_test.py FOLDER_OF_THE_SCRIPTS"""
import copy
import json
import os
import subprocess
import sys
import tempfile
import unittest
import xml.dom.minidom

SCRIPTS = sys.argv.pop(1)
HEADER = {"what": "engine", "mode": "quick", "commit": "abc123", "cpu": "A & B <cpu>", "cores": 2, "compiler": "g++ 12",
          "build": "RelWithDebInfo", "load": 0.1, "date": "2024-01-01 00:00 UTC"}


def row(name, n, value, base=None, against="floor", threads=1, unit="ns", verdict=""):
    if base is None:
        against = ""
    return {"name": name, "n": n, "threads": threads, "unit": unit, "value": value, "against": against, "base": base,
            "difference": None, "ratio": None, "spread": 0.02, "base_spread": None if base is None else 0.01, "runs": 15,
            "attempts": 1, "target": "", "verdict": verdict, "note": ""}


def sample():
    return {"header": HEADER, "rows": [
        row("pick/random", 10, 12.5, 1.5, verdict="MISSED"),
        row("pick/random", 1000, 14.5, 1.5),
        row("pick/random", 1000, 14.5, 2.9, "floor + record"),
        row("baseline/dubbo_random", 1000, 42000, 14.5, "pick/random"),
        row("lease/random", 10, 20, 10), row("lease/random", 10, 30, 23, threads=2),
        row("rules/cached_1", 1000, 14, 14, "0 rules"),
        row("rules/argument_10/0_attachments", 1000, 190, 14, "0 rules"),
        row("down/random_50%", 1000, 14, 15, "0% down"),
        row("notify/identical", 100, 40, 3, "bare pass", unit="us"),
        row("notify/identical", 1000, 480, 35, "bare pass", unit="us"),
        row("memory/provider", 10000, 2700, unit="B")]}


class ScriptsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def write(self, name, result):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(result, file)
        return path

    def run_script(self, name, *arguments):
        return subprocess.run([sys.executable, os.path.join(SCRIPTS, name), *arguments], capture_output=True, text=True)

    def line_of(self, output, name, n):
        return next(line for line in output.splitlines() if line.startswith(name + " ") and f" {n} " in line)

    def test_compare_marks_what_is_beyond_the_spread(self):
        before = sample()
        after = copy.deepcopy(before)
        after["rows"][0].update(value=3.0, verdict="met")     # 4 times faster
        after["rows"][1].update(value=14.6)                   # within the spread
        after["rows"][3].update(value=50000)                  # slower
        after["rows"].append(row("new/row", 10, 1.0))
        del after["rows"][-2]
        run = self.run_script("compare", self.write("a.json", before), self.write("b.json", after))
        self.assertEqual(run.returncode, 0, run.stderr)
        first = self.line_of(run.stdout, "pick/random", 10)
        self.assertIn("0.24", first)
        self.assertIn("better  MISSED -> met", first)
        self.assertNotIn("worse", self.line_of(run.stdout, "pick/random", 1000))
        self.assertTrue(self.line_of(run.stdout, "baseline/dubbo_random (pick/random)", 1000).endswith("worse"))
        self.assertIn("only in A: memory/provider", run.stdout)
        self.assertIn("only in B: new/row", run.stdout)
        self.assertIn("11 rows in both: 1 better, 1 worse", run.stdout)

    def test_compare_refuses_what_is_no_result(self):
        good, bad = self.write("a.json", sample()), self.write("b.json", {"rows": []})
        run = self.run_script("compare", good, bad)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("b.json: not a result file", run.stderr)
        self.assertIn("usage:", self.run_script("compare", good).stderr)

    def test_plots_are_drawn_of_what_was_measured(self):
        self.write("engine.json", sample())
        run = self.run_script("plot.py", self.folder.name)
        self.assertEqual(run.returncode, 0, run.stderr)
        drawn = sorted(name for name in os.listdir(self.folder.name) if name.endswith(".svg"))
        self.assertEqual(drawn, ["down.svg", "notify.svg", "pick_time.svg", "rules.svg", "threads.svg"])
        for name in drawn:
            svg = xml.dom.minidom.parse(os.path.join(self.folder.name, name)).documentElement
            text = " ".join(node.firstChild.data for node in svg.getElementsByTagName("text") if node.firstChild)
            self.assertIn("A & B <cpu>, 2 cores", text)
            self.assertIn("commit abc123", text)
            self.assertRegex(text, r"CPU time.*(ns|microseconds)")

    def test_shares(self):
        fairness = {"header": HEADER, "rows": [row("share/random", 100, 130, 120, "perfect draw", unit="picks"),
                                               row("share/roundrobin", 100, 1, 120, "perfect draw", unit="picks")]}
        self.write("fairness.json", fairness)
        self.assertEqual(self.run_script("plot.py", self.folder.name).returncode, 0)
        svg = xml.dom.minidom.parse(os.path.join(self.folder.name, "shares.svg"))
        titles = [node.firstChild.data for node in svg.getElementsByTagName("title")]
        self.assertIn("roundrobin\n1 thread, Fairlead: 1", titles)


if __name__ == "__main__":
    unittest.main()
