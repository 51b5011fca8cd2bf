"""Cairn is memory for AI agents. This is its client for Python 3.9 and newer: one file, no dependency.

    from cairn import Cairn

    memory = Cairn()  # CAIRN_URL and CAIRN_TOKEN of the environment, or Cairn(url, token)
    memory.remember("alice", {"text": "I moved to Lisbon in March"})
    print(memory.recall("alice", {"query": "Where do I live?"})["hits"][0]["text"])

A body and an answer are dictionaries with the names of the API. A call that fails raises `CairnError`.
"""

# mypy: disable-error-code=no-any-return
# `npm run python` writes this file: packages/python/source/transport.py, and all else from the OpenAPI document.

from __future__ import annotations

import email.message
import http.client
import json
import os
import random
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from typing import (
    Any,
    Callable,
    Dict,
    Iterator,
    List,
    Literal,
    Mapping,
    NoReturn,
    Optional,
    Sequence,
    Tuple,
    TypedDict,
    TypeVar,
    Union,
)

_T = TypeVar("_T")

# Seconds: the first wait before a retry, the longest one, and the time within which a retry begins.
_FIRST_WAIT, _LONGEST_WAIT, _RETRY_WITHIN = 0.25, 8.0, 30.0
# Exports, imports and streams may be silent for so long.
_LONG_TIMEOUT = 120.0
# Cairn, or what stands before it, is busy or away.
_PASSING = (429, 502, 503, 504)
_CHUNK = 65_536
# None is a value of JSON.
_ABSENT: Any = object()


class CairnError(Exception):
    """A call that failed: a refusal by Cairn, no answer, or a call that was not sent, as no request can carry it.

    code: of docs/reference/errors.md, or `network`, `timeout`, `no_envelope` (an answer that is not Cairn's).
    status: the HTTP status; 0 without an answer.
    details: one entry per wrong field: `{"path": "body.messages[0].role", "message": "is required"}`.
    fields: the paths of these.
    call: method and path. It names the user, so the message does not.
    request_id: names the call in the logs of the Worker.
    retry_after: seconds to wait before the next try, if the answer says so.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int = 0,
        details: Sequence[Mapping[str, str]] = (),
        call: Optional[str] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        shown = "; ".join(f"{one.get('path')} {one.get('message')}"[:200] for one in details[:3])
        super().__init__(f"{code}: {message}" + (f" ({shown})" if shown else ""))
        self.code = code
        self.status = status
        self.details = list(details)
        self.fields = [one.get("path", "") for one in details]
        self.call = call
        self.request_id = request_id
        self.retry_after = retry_after


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would take the token to another address."""

    def redirect_request(self, *_: Any) -> None:
        return None


class _Transport:
    """Sends calls. It has no state that a call changes, so threads may share it.

    url: where Cairn is; `CAIRN_URL` unless given.
    token: a token, or a function that returns one for each call; `CAIRN_TOKEN` unless given.
    timeout: seconds that Cairn may be silent.
    attempts: how often a call is sent that may be sent twice.
    headers: sent with each call, such as `{"Cairn-Trust": "model"}`.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        token: Union[str, Callable[[], str], None] = None,
        *,
        timeout: float = 30.0,
        attempts: int = 4,
        headers: Optional[Mapping[str, str]] = None,
    ) -> None:
        base = os.environ.get("CAIRN_URL", "") if url is None else url
        parts = urllib.parse.urlsplit(base.strip())
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
            wanted = "a url such as http://127.0.0.1:8787"
            raise ValueError(f"Cairn needs {wanted}, not {base!r}: pass it, or set CAIRN_URL")
        self._base = parts.geturl().rstrip("/")
        self._token = os.environ.get("CAIRN_TOKEN", "") if token is None else token
        if not callable(self._token) and self._token.strip() == "":
            raise ValueError("Cairn needs a token: pass it, or set CAIRN_TOKEN")
        self._timeout = timeout
        self._attempts = attempts
        self._headers = dict(headers or {})
        self._opener = urllib.request.build_opener(_NoRedirect)

    def request(
        self,
        method: str,
        path: Sequence[str],
        *,
        query: Optional[Mapping[str, Any]] = None,
        headers: Optional[Mapping[str, Optional[str]]] = None,
        body: Any = _ABSENT,
        repeatable: bool = False,
        long: bool = False,
    ) -> Any:
        """Sends one call, and returns the JSON of its answer; None for an answer without one.

        path: its segments, such as `["v1", "users", "alice", "kv"]`; they are encoded here.
        body: a value with JSON, or bytes: lines of JSON.
        repeatable: true if Cairn may get the call twice, since an answer may be lost.
        """
        call = f"{method} /{'/'.join(map(str, path))}"
        sent = self._request(method, path, query or {}, headers or {}, body)
        timeout = self._timeout_of(query or {}, body, long)
        return self._answered(sent, call, timeout, repeatable, lambda answer: _json_of(answer, call))

    def _stream(
        self,
        path: Sequence[str],
        query: Optional[Mapping[str, Any]] = None,
    ) -> Iterator[bytes]:
        """The lines of an answer, as they come. Raises where it breaks off: it never ends short."""
        call = f"GET /{'/'.join(map(str, path))}"
        sent = self._request("GET", path, query or {}, {"Accept": "application/x-ndjson"}, _ABSENT)
        timeout = max(self._timeout, _LONG_TIMEOUT)
        answer = self._answered(sent, call, timeout, True, lambda it: it, stream=True)
        rest = b""
        try:
            while True:
                # `readline` takes the end of a connection for the end of the answer; `read1` does not.
                chunk = answer.read1(_CHUNK)
                if chunk == b"":
                    break
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    yield line + b"\n"
            if rest != b"":
                yield rest
        except (http.client.HTTPException, OSError) as error:
            raise _network_error(error, call) from error
        finally:
            answer.close()

    def _items(self, page: Callable[[Optional[str]], Any]) -> Iterator[Any]:
        """The items of all pages, each asked for when the one before is used up."""
        cursor: Optional[str] = None
        while True:
            answer = page(cursor)
            yield from answer["items"]
            cursor = answer.get("cursor")
            if cursor is None:
                return

    def _request(
        self,
        method: str,
        path: Sequence[str],
        query: Mapping[str, Any],
        headers: Mapping[str, Optional[str]],
        body: Any,
    ) -> urllib.request.Request:
        address = f"{self._base}/{'/'.join(_segment(path, i) for i in range(len(path)))}"
        parameters = [
            (name, _parameter(name, one))
            for name, given in query.items()
            for one in (given if isinstance(given, (list, tuple)) else [given])
            if one is not None
        ]
        if parameters:
            address += "?" + urllib.parse.urlencode(parameters)
        request = urllib.request.Request(address, method=method, data=_body(body))
        for name, value in {**self._headers, **headers}.items():
            if value is not None:
                request.add_header(name, value)
        if body is not _ABSENT:
            media = "application/x-ndjson" if isinstance(body, bytes) else "application/json"
            request.add_header("Content-Type", media)
        return request

    def _timeout_of(self, query: Mapping[str, Any], body: Any, long: bool) -> float:
        waited = body.get("waitMs") if isinstance(body, dict) else query.get("wait")
        timeout = max(self._timeout, _LONG_TIMEOUT) if long else self._timeout
        return timeout + (waited / 1000 if isinstance(waited, int) else 0)

    def _answered(
        self,
        request: urllib.request.Request,
        call: str,
        timeout: float,
        repeatable: bool,
        read: Callable[[http.client.HTTPResponse], _T],
        stream: bool = False,
    ) -> _T:
        """Sends until there is an answer, or a failure that another try would not mend, or not safely."""
        began = time.monotonic()
        for attempt in range(1, self._attempts + 1):
            try:
                return self._sent(request, call, timeout, read, stream)
            except CairnError as error:
                # An earlier try deleted it, and its answer was lost. Whatever can be missing has no answer.
                if attempt > 1 and request.get_method() == "DELETE" and error.code == "not_found":
                    return None  # type: ignore[return-value]
                if not repeatable or not _is_passing(error) or attempt == self._attempts:
                    raise
                ceiling = min(_LONGEST_WAIT, _FIRST_WAIT * 2 ** (attempt - 1))
                wait = max(error.retry_after or 0.0, random.uniform(0, ceiling))
                if time.monotonic() - began + wait > _RETRY_WITHIN:
                    raise
                time.sleep(wait)
        raise ValueError("attempts must be 1 or more")

    def _sent(
        self,
        request: urllib.request.Request,
        call: str,
        timeout: float,
        read: Callable[[http.client.HTTPResponse], _T],
        stream: bool,
    ) -> _T:
        token = self._token() if callable(self._token) else self._token
        request.add_header("Authorization", f"Bearer {token.strip()}")
        try:
            answer = self._opener.open(request, timeout=timeout)
        except urllib.error.HTTPError as failure:
            with failure:
                if failure.code == 304:
                    return None  # type: ignore[return-value]
                raise _error_of(failure, call) from None
        except (http.client.HTTPException, OSError) as error:
            raise _network_error(error, call) from error
        except ValueError as error:
            _refuse("headers", f"cannot be sent: {error}")
        if stream:
            return read(answer)
        with answer:
            try:
                return read(answer)
            except (http.client.HTTPException, OSError) as error:
                raise _network_error(error, call) from error


def _is_passing(error: CairnError) -> bool:
    return error.code in ("network", "timeout") or error.status in _PASSING


def _refuse(field: str, message: str) -> NoReturn:
    """A call that is not sent."""
    details = [{"path": field, "message": message}]
    raise CairnError("invalid_request", "not sent", status=400, details=details)


def _segment(path: Sequence[str], i: int) -> str:
    """URL parsers take `.` and `..` away, and the rest is another path. Only a key may be `.`."""
    part = path[i]
    is_key = i == len(path) - 1 and path[i - 1] in ("kv", "cache")
    if not isinstance(part, str):
        _refuse("path", f"has a part of type {type(part).__name__}, not a string")
    if part == "" or part == ".." or (part == "." and not is_key):
        _refuse("path", "has an empty part" if part == "" else f"has a part '{part}', which no URL can carry")
    return _encoded("path", part)


def _encoded(field: str, text: str) -> str:
    try:
        return urllib.parse.quote(text, safe="")
    except UnicodeEncodeError:
        _refuse(field, "has half of a surrogate pair")


def _parameter(name: str, value: Any) -> str:
    text = str(value).lower() if isinstance(value, bool) else str(value)
    _encoded(f"query.{name}", text)
    return text


def _body(body: Any) -> Optional[bytes]:
    if body is _ABSENT:
        return None
    if isinstance(body, bytes):
        return body
    try:
        return json.dumps(body, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        _refuse("body", f"has no JSON: {error}")


def _version(version: Optional[str]) -> Optional[str]:
    """The header of a condition: `*`, a version, or a list of quoted ones."""
    return version if version is None or version == "*" or '"' in version else f'"{version}"'


def _json_of(answer: http.client.HTTPResponse, call: str) -> Any:
    text = answer.read()
    try:
        return None if text == b"" else json.loads(text)
    except ValueError:
        message = f"HTTP {answer.status}: the answer is not JSON"
        raise CairnError("no_envelope", message, status=answer.status, call=call) from None


def _line_of(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        raise CairnError("no_envelope", "a line of the answer is not JSON", status=200) from None


def _error_of(failure: urllib.error.HTTPError, call: str) -> CairnError:
    after = _seconds_in(failure.headers)
    try:
        error = json.loads(failure.read())["error"]
        code, message = str(error["code"]), str(error["message"])
        details = [one for one in error.get("details", []) if isinstance(one, dict)]
        request_id = error.get("requestId")
    except (http.client.HTTPException, OSError, ValueError, TypeError, KeyError, AttributeError):
        code, message = "no_envelope", f"HTTP {failure.code}: the answer does not come from Cairn"
        details, request_id = [], None
    about = {"status": failure.code, "call": call, "request_id": request_id, "retry_after": after}
    return CairnError(code, message, details=details, **about)


def _seconds_in(headers: email.message.Message) -> Optional[float]:
    text = headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() else None


def _network_error(error: Exception, call: str) -> CairnError:
    reason = error.reason if isinstance(error, urllib.error.URLError) else error
    is_late = isinstance(reason, (socket.timeout, TimeoutError))
    message = "Cairn was silent for too long" if is_late else f"{reason}" or type(reason).__name__
    return CairnError("timeout" if is_late else "network", message, call=call)
