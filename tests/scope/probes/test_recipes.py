from scope.probes.recipes import PRETRAINED, RANDOM_STEPS, RECIPES, STEPS, Recipe


def test_the_recipes_are_those_that_were_chosen_on_development_pairs():
    """A table of what each step adds; a change here is a change of every result."""
    found = {
        step: (
            one.outputs,
            one.hidden,
            one.dropout,
            one.layer_dropout,
            one.rate,
            one.loss,
            one.whitened,
            one.nonlinear,
        )
        for step, one in RECIPES.items()
    }
    assert found == {
        "siamese": (192, 32, 0.1, 0.1, 1e-3, "squared", False, False),
        "autoencoder": (192, 32, 0.1, 0.1, 1e-3, "squared", False, True),
        "final": (128, 16, 0.05, 0.2, 2e-3, "log_variance", True, False),
    }


def test_steps_with_a_recipe_are_drawn_and_those_that_bend_or_whiten_learn_beforehand():
    assert STEPS == ("raw", "mlp", "siamese", "autoencoder", "final")
    assert tuple(RECIPES) == RANDOM_STEPS
    learning = [step for step, one in RECIPES.items() if one.nonlinear or one.whitened]
    assert tuple(learning) == PRETRAINED


def test_only_what_is_given_is_changed():
    recipe = RECIPES["final"]
    assert recipe.changed(loss=None, hidden=None, outputs=None) == recipe
    changed = recipe.changed(loss="squared", hidden=3, outputs=5)
    assert (changed.loss, changed.hidden, changed.outputs) == ("squared", 3, 5)
    assert isinstance(changed, Recipe)
    assert (changed.dropout, changed.rate) == (recipe.dropout, recipe.rate)
