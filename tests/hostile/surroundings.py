"""What stands around a command when it begins: streams, limits, rights. Each for ``before=``."""

import ctypes
import os
import resource
import shutil
import sys
import tempfile
from pathlib import Path

READ_ALL, WRITE_ALL = 2, 1
"""The capabilities by which root passes the permissions of files."""


def close_output():
    os.close(1)


def close_log():
    os.close(2)


def close_input():
    os.close(0)


def close_all():
    for number in (0, 1, 2):
        os.close(number)


def fill_output():
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)


def fill_log():
    os.dup2(os.open("/dev/full", os.O_WRONLY), 2)


def fill_both():
    fill_output()
    fill_log()


def _broken_pipe(number):
    reading, writing = os.pipe()
    os.dup2(writing, number)
    os.close(reading)
    os.close(writing)


def break_output():
    _broken_pipe(1)


def break_log():
    _broken_pipe(2)


def output_to_a_file_for_reading():
    os.dup2(os.open(os.devnull, os.O_RDONLY), 1)


def ascii_streams():
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="ascii", errors="strict")


def latin_streams():
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="latin-1", errors="strict")


def without_rights():
    """Root, too, may read and write only what permissions allow it."""
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


def without_temporary_folder():
    tempfile.tempdir = "/nonexistent"
    without_rights()


def deleted_folder():
    gone = Path("gone")
    gone.mkdir()
    os.chdir(gone)
    shutil.rmtree(Path.cwd())


def few_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (12, 12))


def small_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


def a_bug():
    """Something that no command foresees."""
    from scope.cli import commands

    def application(*_, **__):
        raise KeyError("a bug")

    commands.run = application


def a_bug_that_exits():
    from scope.cli import commands

    def application(*_, **__):
        raise SystemExit(0)

    commands.run = application


def a_bug_and_no_temporary_folder():
    tempfile.tempdir = "/nonexistent"
    a_bug()


def a_bug_and_a_full_log():
    fill_log()
    a_bug()
