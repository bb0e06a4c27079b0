"""Results of the goal for changed texts."""

import pytest

from perturbations.search import KeepsPrediction


@pytest.fixture
def judged():
    """Judges changed texts by a table of answers to them and to the original."""

    def judge(answers, *changed, original="fine", **options):
        from textattack.shared import AttackedText

        goal = KeepsPrediction(lambda texts: [answers[text] for text in texts], **options)
        goal.init_attack_example(AttackedText(original), 0)
        return goal.get_results([AttackedText(text) for text in changed])[0]

    return judge


@pytest.fixture
def succeeded(judged):
    """Says which of the changed texts reach the goal."""
    from textattack.goal_function_results import GoalFunctionResultStatus

    def of(*given, **options):
        results = judged(*given, **options)
        return [one.goal_status == GoalFunctionResultStatus.SUCCEEDED for one in results]

    return of
