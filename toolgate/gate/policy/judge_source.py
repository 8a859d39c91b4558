"""What a policy says of its judge: checked, and compiled with every default written out."""

import math
from typing import Any
from urllib.parse import urlsplit

from toolgate.gate.decision import JUDGE_RULE
from toolgate.gate.policy.axes_source import axis_names
from toolgate.gate.policy.judge import (
    ANSWERS,
    BACKENDS,
    CHAT,
    DEADLINE_MS,
    DECISIONS,
    FAIL_MODES,
    LEAST_DEADLINE_MS,
    LEAST_LIMIT,
    LIMITS,
    LOCAL,
    LOGPROBS,
    MOCK,
    MOST_DEADLINE_MS,
    MOST_LIMIT,
    SHAPES,
    URLS,
    is_loopback,
    is_pinned,
    url_fault,
)
from toolgate.gate.readings import AUTHORIZED

_KEYS = (
    "backend",
    "model",
    "url",
    "shape",
    "answers",
    "key",
    "deadline_ms",
    "fail_mode",
    "axes",
    "says",
    "limits",
)
_MOST_MODEL = 200


def compiled_judge(body: dict[str, Any]) -> dict[str, Any]:
    """Return ``{"judge": ...}`` as the compiled policy holds it, nothing where there is none.

    Args:
        body: a policy without faults, as its YAML says it.
    """
    said = body.get("judge")
    if said is None:
        return {}
    backend = said["backend"]
    key = said.get("key") or {}
    made = {
        "backend": backend,
        "model": said["model"],
        "url": said.get("url") or URLS.get(backend, ""),
        "shape": said.get("shape") or (CHAT if backend == CHAT else DECISIONS),
        "answers": said.get("answers", LOGPROBS),
        "key_file": key.get("file", ""),
        "key_variable": key.get("environment", ""),
        "deadline_ms": said.get("deadline_ms", DEADLINE_MS),
        "fail_mode": said.get("fail_mode", "ask"),
        "axes": sorted(set(said.get("axes") or [])),
        "says": said.get("says") or {},
        "limits": {**LIMITS, **(said.get("limits") or {})},
    }
    return {"judge": made}


def judge_faults(body: dict[str, Any]) -> list[str]:
    """Return every fault of ``judge``.

    Args:
        body: the policy as its YAML says it.
    """
    rules = body.get("rules")
    names = [
        rule.get("rule")
        for rule in (rules if isinstance(rules, list) else [])
        if isinstance(rule, dict)
    ]
    faults = [
        f"rule {name}: this name is kept for what a judge says or leaves open"
        for name in names
        if isinstance(name, str) and name.partition(".")[0] == JUDGE_RULE
    ]
    said = body.get("judge")
    if said is None:
        return faults
    if not isinstance(said, dict):
        return [*faults, f"judge is {type(said).__name__}; expected a mapping"]
    faults += [f"judge: unknown key {key}" for key in sorted(set(map(str, said)) - set(_KEYS))]
    backend, model = said.get("backend"), said.get("model")
    if backend not in BACKENDS:
        faults.append(f"judge: backend is {backend!r}; expected one of {', '.join(BACKENDS)}")
    if not isinstance(model, str) or not model.strip() or len(model) > _MOST_MODEL:
        faults.append(f"judge: model is {model!r:.80}; expected a model's name")
    faults += _place_faults(said, backend)
    faults += _key_faults(said.get("key"), backend)
    faults += _word_faults(said, backend)
    faults += _number_faults(said)
    return faults + _axes_faults(said, axis_names(body), backend)


def judge_remarks(body: Any) -> list[str]:
    """Return what is sound in ``judge`` and yet may not be meant."""
    said = body.get("judge") if isinstance(body, dict) else None
    if not isinstance(said, dict) or not isinstance(said.get("model"), str):
        return []
    if said.get("backend") == MOCK:
        return ["judge: a mock; its answers are made up"]
    shape = said.get("shape") or (CHAT if said.get("backend") == CHAT else DECISIONS)
    if shape in SHAPES and not is_pinned(said["model"], shape):
        return [f"judge: model {said['model']:.80} is UNPINNED: its name may mean another tomorrow"]
    return []


def _place_faults(said: dict[str, Any], backend: Any) -> list[str]:
    """Return what is wrong with where the judge is asked."""
    url = said.get("url")
    if backend == MOCK:
        return ["judge: url is given, but a mock is asked nowhere"] if url is not None else []
    if url is None:
        missing = backend in BACKENDS and backend not in URLS
        return [f"judge: url is missing; backend {backend} has no usual address"] if missing else []
    if not isinstance(url, str):
        return [f"judge: url is {type(url).__name__}; expected text"]
    if wrong := url_fault(url):
        return [f"judge: url {wrong}"]
    if backend == LOCAL and not is_loopback(urlsplit(url).hostname or ""):
        return ["judge: url of a local backend is not on this machine"]
    return []


def _key_faults(key: Any, backend: Any) -> list[str]:
    if key is None:
        needless = backend in (LOCAL, MOCK) or backend not in BACKENDS
        return [] if needless else [f"judge: key is missing; backend {backend} needs one"]
    if backend == MOCK:
        return ["judge: key is given, but a mock needs none"]
    if not isinstance(key, dict) or len(key) != 1 or not set(key) <= {"file", "environment"}:
        return ["judge: key: expected file or environment, and never the key itself"]
    ((where, value),) = key.items()
    if not isinstance(value, str) or not value:
        return [f"judge: key: {where} is not text"]
    if where == "file" and not value.startswith(("/", "~/")):
        return ["judge: key: file is neither absolute nor below ~/"]
    if where == "environment" and not (value.isascii() and value.replace("_", "a").isalnum()):
        return ["judge: key: environment is not a variable's name"]
    return []


def _word_faults(said: dict[str, Any], backend: Any) -> list[str]:
    faults: list[str] = []
    shape, answers, fail_mode = said.get("shape"), said.get("answers"), said.get("fail_mode")
    if backend == LOCAL and shape not in SHAPES:
        faults.append(f"judge: shape is {shape!r}; a local backend speaks {' or '.join(SHAPES)}")
    if backend != LOCAL and shape is not None:
        faults.append("judge: shape belongs to a local backend")
    if answers is not None and answers not in ANSWERS:
        faults.append(f"judge: answers is {answers!r}; expected {' or '.join(ANSWERS)}")
    if answers is not None and CHAT not in (backend, shape):
        faults.append("judge: answers belongs to a chat model")
    if fail_mode is not None and fail_mode not in FAIL_MODES:
        faults.append(f"judge: fail_mode is {fail_mode!r}; expected {', '.join(FAIL_MODES)}")
    return faults


def _number_faults(said: dict[str, Any]) -> list[str]:
    faults: list[str] = []
    deadline = said.get("deadline_ms", DEADLINE_MS)
    if type(deadline) is not int or not LEAST_DEADLINE_MS <= deadline <= MOST_DEADLINE_MS:
        faults.append(
            f"judge: deadline_ms is {deadline!r}; expected {LEAST_DEADLINE_MS} to "
            f"{MOST_DEADLINE_MS}, which leaves the hook time to answer"
        )
    limits = said.get("limits") or {}
    if not isinstance(limits, dict):
        return [*faults, "judge: limits is not a mapping"]
    for name, value in limits.items():
        if name not in LIMITS:
            faults.append(f"judge: limits: unknown key {name}")
        elif type(value) is not int or not LEAST_LIMIT <= value <= MOST_LIMIT:
            faults.append(
                f"judge: limits: {name} is {value!r}; expected {LEAST_LIMIT} to {MOST_LIMIT}"
            )
    return faults


def _axes_faults(said: dict[str, Any], axes: tuple[str, ...], backend: Any) -> list[str]:
    faults: list[str] = []
    known = {*axes, AUTHORIZED}
    asked = said.get("axes")
    if asked is not None:
        if not isinstance(asked, list) or not asked:
            faults.append("judge: axes is not a list of at least one axis")
        else:
            faults += [f"judge: axes: unknown axis {one}" for one in asked if one not in known]
    says = said.get("says")
    if says is None:
        return faults
    if backend != MOCK:
        return [*faults, "judge: says belongs to a mock"]
    if not isinstance(says, dict):
        return [*faults, "judge: says is not a mapping"]
    for name, value in says.items():
        if name not in known:
            faults.append(f"judge: says: unknown axis {name}")
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if not number or not math.isfinite(value):
            faults.append(f"judge: says: {name} is {value!r}; expected a number")
    return faults
