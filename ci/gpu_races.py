# SPDX-License-Identifier: MIT
"""What the plans of our CUDA variants cost beside the fastest tiles, by the races of ci/gpu.sh.

    python3 gpu_races.py FOLDER

reads what `harness tune --json` wrote there (tune-*.json). A line a race: how far the plan's own choice
(value 0) is behind the winner, and the race's interval; BEHIND where that is more than 1 %. The last
line counts them. Where a race was not decided, another tile may be faster still.

Exit status: 0; 1 if a setting was WRONG or FAILED; 2 for a file that cannot be read.
"""
import glob
import json
import os
import sys

WITHIN = 0.01


def is_plan(setting):
    """As "tile=0,split=0" is."""
    return all(pair.split("=")[1] == "0" for pair in setting.split(","))


def percent(fraction):
    return "?" if fraction is None else f"{100 * fraction:+.1f} %"


def costs_of(race):
    """How far the plan's own choice is behind, from and to; None where it is not known."""
    plan = next((s for s in race["settings"] if is_plan(s["setting"]) and s["state"] != "out"), None)
    if plan is None:
        return None, None, None
    if plan["setting"] == race["setting"]:
        return 0, 0, 0
    interval = plan.get("interval") or {}
    return plan.get("behind"), interval.get("low"), interval.get("high")


def line_of(race):
    """(whether the plan is behind, None where that is not known; words)"""
    if "setting" not in race:
        return None, f"{race['key']}: no setting is supported here"
    behind, low, high = costs_of(race)
    late = None if behind is None else behind > WITHIN
    costs = f"{percent(behind)} ({percent(low)} to {percent(high)}) behind {race['setting']}"
    return late, (f"{'BEHIND ' if late else ''}{race['key']}: the plan is "
                  f"{'the fastest' if is_plan(race['setting']) else costs}{'' if race['decided'] else ', not decided'}")


def wrong_of(race):
    """A line for each setting that is not right."""
    return [f"{s['outcome']} {race['key']} {s['setting']}: {s.get('message', '')}"
            for s in race["settings"] if s["outcome"] in ("WRONG", "FAILED")]


def main():
    races = []
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "tune-*.json"))):
        try:
            with open(path, encoding="utf-8") as file:
                races += json.load(file)["races"]
        except (OSError, ValueError, LookupError, TypeError) as error:
            print(f"{path} cannot be read, it is cut or of something else: {error}", file=sys.stderr)
            return 2
    told, wrong = [line_of(race) for race in races], [line for race in races for line in wrong_of(race)]
    known = [late for late, _ in told if late is not None]
    print("\n".join(wrong + [words for _, words in told]))
    print(f"{sum(known)} of {len(known)} plans are more than 1 % behind")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
