import json


def test_tasks_are_listed_with_the_role_they_need_pairs_among_them(command):
    rows = json.loads(command("list", "tasks", "--json").stdout)
    roles = {row["task"]: row["role asked for"] for row in rows}
    assert roles == {
        "choice": "choice_scorer",
        "cloze": "mask_filler",
        "extractive_qa": "answerer",
        "similarity": "latent_reader",
    }
    (similarity,) = (row for row in rows if row["task"] == "similarity")
    assert similarity["question"] == "How similar in meaning do people judge two sentences?"
    assert similarity["status"] == "ready"
