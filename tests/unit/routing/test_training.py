"""The weights come from the prompts alone: the same prompts give the same bytes."""

from dataclasses import replace

import pytest

from bench.routing.cues import read_cues
from bench.routing.model import train
from bench.routing.prompts import Prompt, read_prompts
from bench.routing.train import RECIPE, examples, trained
from core.routing.weights import SHIPPED, write_weights


def made_of(prompts: list[Prompt]) -> bytes:
    return write_weights(train(examples(prompts), read_cues(), replace(RECIPE, passes=2), "these"))


def test_the_same_prompts_give_the_same_bytes_and_others_do_not() -> None:
    some = read_prompts("train")[::40]
    once = made_of(some)
    assert made_of(list(some)) == once
    assert made_of(some[1:]) != once


@pytest.mark.slow
def test_the_shipped_weights_are_what_the_recipe_makes_of_the_prompts() -> None:
    assert write_weights(trained(read_prompts("train"))) == SHIPPED.read_bytes()
