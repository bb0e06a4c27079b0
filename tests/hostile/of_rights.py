"""Folders and files without the right to read, write or enter them.

The command runs as root without the right to pass permissions, which is anybody.
"""

from hostile import surroundings
from hostile.cases import REFUSED, WORKS, Case
from hostile.of_stores import CACHE, COMMANDS, RESULT, damaged

AGAIN = {job: (*command, "--run", "again") for job, command in COMMANDS.items()}
MAP = ("fleet", "map", "--fleet", "mine", "--run", "map")


def mode_of(pattern, file_mode, folder_mode):
    """Changes the mode of what matches and of all that lies below it."""

    def damage(folder, _):
        for path in folder.glob(pattern):
            for inner in (*path.rglob("*"), path):
                inner.chmod(folder_mode if inner.is_dir() else file_mode)

    return damage


def read_only(pattern):
    return mode_of(pattern, 0o444, 0o555)


def unreadable(pattern):
    return mode_of(pattern, 0, 0)


def removable(folder):
    """What pytest removes must be removable by whoever runs it."""
    folder.chmod(0o700)
    for path in folder.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o700)


CASES = [
    Case(
        name=name,
        make=damaged(job, damage, *command),
        exits=REFUSED if says else WORKS,
        says=says,
        never=["internal error"],
        before=surroundings.without_rights,
        environment=CACHE,
        after=removable,
    )
    for name, job, damage, command, says in (
        ("a run that may only be read", "audit", read_only("runs/mine"), (), ["ermission"]),
        ("its list", "audit", read_only("runs/mine"), ("list", "runs"), []),
        ("a locked result", "audit", unreadable(RESULT), ("report", "mine"), [RESULT, "ermission"]),
        ("locked data", "audit", unreadable("rows.csv"), AGAIN["audit"], ["rows.csv", "ermission"]),
        ("a locked cache", "fleet", unreadable("cache"), AGAIN["fleet"], ["cache", "ermission"]),
        ("a probe saved again", "probe", read_only("kept"), AGAIN["probe"], ["kept", "ermission"]),
        ("a fleet that may only be read", "fleet", read_only("runs/mine"), MAP, []),
    )
]
