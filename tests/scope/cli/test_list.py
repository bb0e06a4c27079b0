import json


def test_tasks_are_listed_with_the_role_they_need_pairs_among_them(command):
    rows = json.loads(command("list", "tasks", "--json").stdout)
    roles = {row["task"]: row["role asked for"] for row in rows}
    assert roles == {
        "choice": "choice_scorer",
        "cloze": "mask_filler",
        "extractive_qa": "answerer",
        "generation": "answerer",
        "similarity": "latent_reader",
    }
    assert {row["status"] for row in rows} == {"ready"}


def test_capabilities_and_tasks_are_listed_with_their_settings_and_defaults(command):
    rows = json.loads(command("list", "capabilities", "--json").stdout)
    settings = {row["capability"]: row["settings"] for row in rows}
    assert "preset=valid" in settings["synonym"]
    # What all have stands last.
    assert settings["typo"] == (
        "preset=valid, share=0.5, candidates=15, min_letters=4, max_letters=100, "
        "max_characters=100000"
    )
    groups = {row["capability"]: row["groups"] for row in rows}
    assert (groups["typo"], groups["unicode"]) == ("robustness", "robustness, format")


def test_long_says_all_that_a_capability_says_of_itself(command):
    found = {
        one["name"]: one
        for one in json.loads(command("list", "capabilities", "--long", "--json").stdout)
    }
    typo = found["typo"]
    assert typo["question"].startswith("Does the prediction stay the same")
    assert "not that it answers correctly" in " ".join(typo["about"].split())
    assert typo["queries"] > 10
    assert {one["name"]: one["default"] for one in typo["settings"]}["candidates"] == "15"
    assert all(
        one["settings"] and all(each["meaning"] for each in one["settings"])
        for one in found.values()
    )
    assert all(one["example"] for one in found.values())
    text = command("list", "capabilities", "--long").stdout
    assert "  before: a wonderful film\n  after:  a WONDERFUL film\n" in text
    assert max(map(len, text.splitlines())) <= 80
    assert "role" not in command("list", "tasks", "--long").stdout.splitlines()[0]
