"""What every command has: `--json`, `--data-dir`, whose memories are meant, and one edge for errors.

    @command
    def search(shell: Shell, query: Query, ...) -> int        the exit code

A command takes a `Shell` and its own options; the options that all share are added here. A parameter that is a
dataclass stands for one option a field, since a command may have more of them than a function should. An error
of the tree leaves as its message on stderr, any other one as a sentence, never as a traceback.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, cast, get_type_hints

import structlog
import typer

from loom_server.cli.screen import Screen
from loom_server.errors import ConfigError, InvalidInput, LoomError
from loom_server.observe import logs
from loom_server.settings import LogLevel, Settings
from loom_server.sources import Read, read

DONE, FAILED, MISUSED, ABSTAINED = 0, 1, 2, 3
INTERRUPTED = 130
_HALF = re.compile("[\ud800-\udfff]")
_log = structlog.get_logger("loom.settings")

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON value on stdout, for programs.")]
DataDir = Annotated[
    Path | None, typer.Option("--data-dir", help="Directory of the store; else LOOM_DATA_DIR, else .loom.")
]
Org = Annotated[str | None, typer.Option("--org", help="The organisation (default: dev).")]
Namespace = Annotated[str | None, typer.Option("--namespace", "-n", help="The namespace (default: local).")]
Agent = Annotated[str | None, typer.Option("--agent", help="The agent; '-' means none.")]
User = Annotated[str | None, typer.Option("--user", help="The user; '-' means none.")]

_EVERYWHERE: Mapping[str, tuple[Any, object]] = {"as_json": (AsJson, False), "data_dir": (DataDir, None)}
_IDENTITY: Mapping[str, tuple[Any, object]] = {
    "org": (Org, None),
    "namespace": (Namespace, None),
    "agent": (Agent, None),
    "user_id": (User, None),
}


@dataclass(frozen=True, slots=True)
class Shell:
    """What a command works with. `identity` holds the identity fields that were given."""

    screen: Screen
    read: Read
    identity: Mapping[str, str]

    @property
    def settings(self) -> Settings:
        """The settings of this run."""
        return self.read.settings


Body = Callable[..., int]


def command(body: Body, level: LogLevel = "warning") -> Callable[..., None]:
    """`body` as a function that typer can register; `level` of its log is what no setting chooses another for."""
    return _command(body, _EVERYWHERE, level)


def identity_command(body: Body) -> Callable[..., None]:
    """`command` with the options that say whose memories are meant."""
    return _command(body, {**_IDENTITY, **_EVERYWHERE}, "warning")


def settings_of(data_dir: Path | None = None, **changes: object) -> Settings:
    """The settings with what the command line says on top. Raises `ConfigError` naming each variable."""
    given = {name: value for name, value in {"data_dir": data_dir, **changes}.items() if value is not None}
    return read(**given).settings


def _command(body: Body, shared: Mapping[str, tuple[Any, object]], level: LogLevel) -> Callable[..., None]:
    @wraps(body)
    def run(**given: Any) -> None:
        screen = Screen.open(given.pop("as_json"))
        data_dir = given.pop("data_dir")
        identity = {name: given.pop(name) for name in _IDENTITY if name in shared}
        told = {name: value for name, value in identity.items() if value is not None}

        def checked() -> int:
            _check_text({**told, **given})
            found = read(**({} if data_dir is None else {"data_dir": data_dir}))
            chosen = found.origins["log_level"] != "default"
            logs.configure(found.settings.log_format, found.settings.log_level if chosen else level)
            for unknown in found.unknown:
                _log.warning("unknown_setting", name=unknown.name, origin=unknown.origin, nearest=unknown.nearest)
            return body(Shell(screen, found, told), **_gathered(given, groups))

        code = _guarded(screen, checked)
        raise typer.Exit(code)

    taken = [one for name, one in inspect.signature(body, eval_str=True).parameters.items() if name != "shell"]
    groups = {one.name: cast("type[Any]", one.annotation) for one in taken if is_dataclass(one.annotation)}
    own = [option for one in taken for option in (_options(groups[one.name]) if one.name in groups else [one])]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in shared.items()
    ]
    parameters = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own] + added
    run.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _options(group: type[Any]) -> list[inspect.Parameter]:
    """The fields of a dataclass as options."""
    kinds = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(one.name, inspect.Parameter.KEYWORD_ONLY, default=one.default, annotation=kinds[one.name])
        for one in fields(group)
    ]


def _gathered(given: Mapping[str, Any], groups: Mapping[str, type[Any]]) -> dict[str, Any]:
    """The arguments of a body: options of a group become one value."""
    inside = {name: {one.name: given[one.name] for one in fields(group)} for name, group in groups.items()}
    flat = {name: value for name, value in given.items() if not any(name in some for some in inside.values())}
    return {**flat, **{name: groups[name](**some) for name, some in inside.items()}}


def _check_text(given: Mapping[str, object]) -> None:
    """Refuse arguments of bytes that are not UTF-8, which Python hands over as half characters."""
    for name, value in given.items():
        texts = cast("list[object]", value) if isinstance(value, list) else [value]
        for text in texts:
            if isinstance(text, str) and _HALF.search(text):
                raise InvalidInput.field(name, "holds bytes that are not UTF-8; give it as UTF-8")


def _guarded(screen: Screen, body: Callable[[], int]) -> int:
    """The body's exit code, or that of its error, told on stderr."""
    try:
        return body()
    except LoomError as error:
        screen.say(f"Error: {error.message}", "red")
        return MISUSED if isinstance(error, InvalidInput | ConfigError) else FAILED
    except typer.Exit as end:
        return end.exit_code
    except (KeyboardInterrupt, typer.Abort):
        screen.say("Stopped.")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of a pipe has gone; without this the interpreter complains once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except Exception as error:
        kind = type(error).__name__
        screen.say(f"Error: {kind}: {error}. This is a fault of Loom; `loom doctor` checks the store.", "red")
        return FAILED
