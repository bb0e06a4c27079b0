"""Hostile states of a process when a command begins: streams, limits, rights. For ``before=``."""

import ctypes
import os
import resource
import shutil
import sys
from pathlib import Path

READ_ALL, WRITE_ALL = 2, 1
"""The Linux capabilities by which root passes the permissions of files."""


def close_all():
    """As Python finds the streams where the shell has closed them."""
    for number in (0, 1, 2):
        os.close(number)
    sys.stdin = sys.stdout = sys.stderr = None


def fill_output():
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)


def break_output():
    reading, writing = os.pipe()
    os.dup2(writing, 1)
    os.close(reading)
    os.close(writing)
    # As Python opens it where it is a pipe from the start.
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - it stays open


def ascii_streams():
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="ascii", errors="strict")


def without_rights():
    """Root, too, may read and write only what permissions allow."""
    system = ctypes.CDLL(None, use_errno=True)
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)()
    assert system.capget(header, data) == 0
    for first in (0, 1):
        data[first] &= ~(1 << READ_ALL | 1 << WRITE_ALL)
    assert system.capset(header, data) == 0


def without_rights_here():
    """The working folder may not be entered."""
    Path.cwd().chmod(0)
    without_rights()


def deleted_folder():
    gone = Path("gone")
    gone.mkdir()
    os.chdir(gone)
    shutil.rmtree(Path.cwd())


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


def a_bug(error=KeyError("a bug")):  # noqa: B008
    """An error that no command foresees."""
    from scope.cli import commands

    def application(*_, **__):
        raise error

    commands.run = application
