"""Runs the SAM transform in the SAM tools' own environment, as AWS does at deployment.

Takes the template's path as its first argument and a list of parameter sets on stdin; writes what the
template says and, for each set, the stack that it becomes. Further arguments are templates that are only
read. Never reaches the network.
"""

import json
import sys
from pathlib import Path
from typing import Any

from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse


def transform(text: str, parameters: dict[str, str]) -> Any:
    """The stack that a template becomes with these parameters."""
    template = yaml_parse(text)
    for resource in template["Resources"].values():
        if "CodeUri" in resource["Properties"]:
            # The transform wants what `sam package` has put in place of the local folder.
            resource["Properties"]["CodeUri"] = "s3://packages/package.zip"
    return Translator({}, Parser()).translate(template, parameters)


def main() -> None:
    text = Path(sys.argv[1]).read_text("utf-8")
    stacks = [transform(text, parameters) for parameters in json.load(sys.stdin)]
    others = {path: yaml_parse(Path(path).read_text("utf-8")) for path in sys.argv[2:]}
    json.dump({"source": yaml_parse(text), "stacks": stacks, "others": others}, sys.stdout)


if __name__ == "__main__":
    main()
