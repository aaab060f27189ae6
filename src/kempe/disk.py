"""Files that are there whole or not at all, and what a disk refuses said in words.

Whatever is written goes to a temporary file beside its target, which takes the target's place when it is complete: a
full disk, an error or a killed process leaves the old file as it was. What a killed process leaves behind has a name
that says whose it was, and goes when the next file is written into the same folder.
"""

from __future__ import annotations

import os
import platform
import re
import secrets
import stat
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from kempe.errors import FileError

#: A leftover must be at least so old to be taken away, in seconds.
LEFT = 60.0


def as_path(path: Any) -> Path:
    """What a user gave as the name of a file."""
    try:
        found = Path(path)
        os.fsencode(found)
    except (TypeError, ValueError):
        raise FileError(f"a file needs a name, not {path!r}") from None
    if "\x00" in str(found):
        raise FileError(f"a file's name must not contain the character NUL: {path!r}")
    return found


def reason(error: OSError) -> str:
    """What an operating system had against a file, in few words."""
    return error.strerror or str(error).strip().partition("\n")[0] or type(error).__name__


def read_whole(path: Any, most: int) -> bytes:
    """The content of a file of at most so many bytes; devices, pipes and folders are no files."""
    target = as_path(path)
    try:
        with open(target, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            about = os.fstat(file.fileno())
            if not stat.S_ISREG(about.st_mode):
                raise FileError(f"{path}: this is not a file")
            if about.st_size > most:
                raise FileError(f"{path}: the file is too large (at most {most} bytes are read)")
            return file.read(about.st_size)
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{path}: {reason(error)}") from None


@contextmanager
def told(path: Any) -> Iterator[None]:
    """What a disk refuses while ``path`` is written, in words."""
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"'{path}' cannot be written: {reason(error)}") from error


@contextmanager
def replacing(path: Any) -> Iterator[Path]:
    """A new file beside ``path`` to write to, which takes its place only when all went well."""
    target = as_path(path)
    fresh = Path(target.parent, f"{_mine()}{secrets.token_hex(4)}.part{target.suffix[:16]}")
    with told(path):
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = _mode_of(target)
        _take_leftovers_away(target.parent)
        os.close(os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        try:
            yield fresh
            with open(fresh, "rb+") as file:
                os.fsync(file.fileno())
            if mode is not None:
                fresh.chmod(mode)
            os.replace(fresh, target)
        finally:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)


def write_whole(path: Any, content: bytes | memoryview) -> Path:
    """Write a file: whole or not at all."""
    with replacing(path) as fresh, open(fresh, "wb") as file:
        file.write(content)
    return as_path(path)


def check_writable(path: Any) -> Path:
    """Say now that a file could not be written later."""
    target = as_path(path)
    with told(path):
        target.parent.mkdir(parents=True, exist_ok=True)
        _mode_of(target)
        if not os.access(target.parent, os.W_OK | os.X_OK):
            raise FileError(f"'{path}' cannot be written: the folder cannot be written to")
    return target


def _mode_of(target: Path) -> int | None:
    """The permissions of the file that is replaced; what is there must be a file."""
    try:
        found = os.stat(target).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(found):
        raise FileError(f"'{target}' cannot be written: it is a folder")
    if not stat.S_ISREG(found):
        raise FileError(f"'{target}' cannot be written: it is not a file")
    return stat.S_IMODE(found)


def _mine(process: Any = None) -> str:
    """How the temporary files of a process of this machine begin."""
    host = zlib.crc32(platform.node().encode(errors="replace"))
    return f".kempe-{host:08x}-{os.getpid() if process is None else process}-"


def _take_leftovers_away(folder: Path) -> None:
    """Delete temporary files of processes of this machine that are no more."""
    pattern = re.compile(re.escape(_mine("PID")).replace("PID", r"(\d+)") + r"[0-9a-f]{8}\.part")
    with suppress(OSError):
        for entry in os.scandir(folder):
            match = pattern.match(entry.name)
            if match is None or _lives(int(match.group(1))):
                continue
            with suppress(OSError):
                if time.time() - entry.stat(follow_symlinks=False).st_mtime > LEFT:
                    os.unlink(entry.path)


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True
