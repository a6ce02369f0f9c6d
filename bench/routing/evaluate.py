"""The evaluation of routing: `python -m bench.routing.evaluate`, or `make eval-routing`."""

from bench.routing import near_duplicates, picks, speed, tasks, tokens, tradeoff, yardsticks
from core.routing.weights import shipped_weights


def main() -> None:
    weights = shipped_weights()
    crossed = len(near_duplicates.crossing())
    reports = (tasks.report(weights), picks.report(), tokens.report(), speed.report(weights), tradeoff.report())
    for lines in (*reports, yardsticks.report()):
        for line in lines:
            print(line)
        print()
    print(f"Near duplicates across training and held-out: {crossed}")


if __name__ == "__main__":
    main()
