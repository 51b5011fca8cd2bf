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


VERSION = "0.1.0"


class HealthEmbedder(TypedDict):
    model: str
    dimensions: int


class HealthFailing(TypedDict):
    part: Literal["settings", "database", "embedder", "vectorIndex", "recall", "languageModel", "webhook"]
    # When it was first seen to fail: by this isolate of the Worker, except for the webhook.
    since: int


class _Health(TypedDict):
    status: Literal["ok", "degraded", "unavailable"]
    embedder: HealthEmbedder
    # `object`: exact search over all vectors in the user's own object. `vectorize`: vectors are also in
    # Cloudflare Vectorize.
    vectorIndex: Literal["object", "vectorize"]
    # The model that extracts memories from conversations; null: none is set.
    languageModel: Optional[str]


class Health(_Health, total=False):
    problems: List[str]
    # The parts that `problems` are about.
    failing: List[HealthFailing]


class JsonWebKeysKey(TypedDict):
    kty: str
    crv: str
    x: str
    kid: str
    alg: str
    use: str


class JsonWebKeys(TypedDict):
    keys: List[JsonWebKeysKey]


# Any JSON value.
EntryValue = Any


class _EntryListItem(TypedDict):
    key: str
    version: str
    # Milliseconds since the epoch.
    updatedAt: int


class EntryListItem(_EntryListItem, total=False):
    value: EntryValue
    # Milliseconds since the epoch.
    expiresAt: int


class _EntryList(TypedDict):
    items: List[EntryListItem]


class EntryList(_EntryList, total=False):
    cursor: str
    count: int


class DeletedEntries(TypedDict):
    deleted: int


class EntryBatchOperationGet(TypedDict):
    op: Literal["get"]
    # Any string of at most 1,024 bytes of UTF-8, percent-encoded: `/` is `%2F`.
    key: str


class _EntryBatchOperationSet(TypedDict):
    op: Literal["set"]
    # Any string of at most 1,024 bytes of UTF-8, percent-encoded: `/` is `%2F`.
    key: str
    # Any JSON value.
    value: Any


class EntryBatchOperationSet(_EntryBatchOperationSet, total=False):
    ttlMs: int
    refreshOnRead: bool
    # Only if the entry has this version; null: only if there is no entry.
    ifVersion: Optional[str]


class _EntryBatchOperationDelete(TypedDict):
    op: Literal["delete"]
    # Any string of at most 1,024 bytes of UTF-8, percent-encoded: `/` is `%2F`.
    key: str


class EntryBatchOperationDelete(_EntryBatchOperationDelete, total=False):
    # Only if the entry has this version; null: only if there is no entry.
    ifVersion: Optional[str]


class _EntryBatchOperationMessages(TypedDict):
    op: Literal["messages"]
    # The id of a thread of the same user.
    threadId: str


class EntryBatchOperationMessages(_EntryBatchOperationMessages, total=False):
    # 50 unless set.
    limit: int


# A message of any SDK: a role, a content (or `parts`), and any other fields.
Message = Dict[str, Any]


class _EntryBatchOperationAppend(TypedDict):
    op: Literal["append"]
    # The id of a thread of the same user.
    threadId: str
    messages: List[Message]


class EntryBatchOperationAppend(_EntryBatchOperationAppend, total=False):
    # Only if this is the highest seq that the thread has given; 0: only if it has given none.
    ifLastSeq: int
    # Time of the messages in milliseconds since the epoch; now unless set.
    createdAt: int


class EntryBatch(TypedDict):
    operations: List[Union[
        EntryBatchOperationGet, EntryBatchOperationSet, EntryBatchOperationDelete,
        EntryBatchOperationMessages, EntryBatchOperationAppend],
    ]


_EntryBatchAnswerResultMessageCompactionRequired = TypedDict(
    "_EntryBatchAnswerResultMessageCompactionRequired",
    {"id": "str", "from": "int", "to": "int"},
)


class EntryBatchAnswerResultMessageCompaction(_EntryBatchAnswerResultMessageCompactionRequired):
    """For a summary: the messages that it replaces."""


class _EntryBatchAnswerResultMessage(TypedDict):
    # Grows within the thread, from 1. No seq is used twice.
    seq: int
    message: Dict[str, Any]
    # Milliseconds since the epoch.
    createdAt: int


class EntryBatchAnswerResultMessage(_EntryBatchAnswerResultMessage, total=False):
    # For a summary: the messages that it replaces.
    compaction: EntryBatchAnswerResultMessageCompaction


class MessageNote(TypedDict):
    # Index in `messages`.
    index: int
    code: Literal["unknown_role"]
    message: str


class EntryBatchAnswerResult(TypedDict, total=False):
    key: str
    threadId: str
    # For a get: true if there is a live entry. For messages: true if there is a thread.
    found: bool
    value: EntryValue
    version: str
    # Milliseconds since the epoch.
    expiresAt: int
    # For a delete: true if there was a live entry.
    deleted: bool
    # The last messages of the thread, in the order of the conversation.
    messages: List[EntryBatchAnswerResultMessage]
    # Number of messages in the thread.
    length: int
    # Seq of the first appended message.
    firstSeq: int
    # The highest seq that the thread has given; 0 if none.
    lastSeq: int
    # Messages whose `role` no rule knows; absent if there is none.
    notes: List[MessageNote]


class EntryBatchAnswer(TypedDict):
    results: List[EntryBatchAnswerResult]


class _WrittenEntry(TypedDict):
    # The version of this write, as in its ETag.
    version: str


class WrittenEntry(_WrittenEntry, total=False):
    # Milliseconds since the epoch.
    expiresAt: int


class CreateThread(TypedDict, total=False):
    # `New conversation` unless set.
    title: str
    agent: str
    resourceSlug: str
    recordId: str
    # Free JSON, at most 10 KiB.
    metadata: Dict[str, Any]
    # `lexical`: messages are found by their words only. `full`: by their meaning too. `full` unless set, or
    # unless `MESSAGE_INDEXING` of the deployment differs. For a fork: the messages appended to it.
    indexing: Literal["lexical", "full"]
    # The thread's messages are deleted at this age, or earlier by a rule of the user or the tenant.
    retention: str


class ThreadForkedFrom(TypedDict):
    threadId: str
    seq: int


class _Thread(TypedDict):
    id: str
    title: str
    # Number of messages in the thread.
    length: int
    # Milliseconds since the epoch.
    createdAt: int
    # Milliseconds since the epoch.
    updatedAt: int


class Thread(_Thread, total=False):
    # Absent for a thread without a user.
    userId: str
    agent: str
    resourceSlug: str
    recordId: str
    metadata: Dict[str, EntryValue]
    # `lexical`: messages are found by their words only. `full`: by their meaning too. `full` unless set, or
    # unless `MESSAGE_INDEXING` of the deployment differs. For a fork: the messages appended to it.
    indexing: Literal["lexical", "full"]
    # The thread's messages are deleted at this age, or earlier by a rule of the user or the tenant.
    retention: str
    # The names that are the owner's, as the last ingest with `owners` gave them.
    owners: List[str]
    forkedFrom: ThreadForkedFrom


class _ThreadList(TypedDict):
    items: List[Thread]


class ThreadList(_ThreadList, total=False):
    cursor: str


class _CataloguedThread(TypedDict):
    id: str
    title: str
    # Milliseconds since the epoch.
    createdAt: int
    # Milliseconds since the epoch.
    updatedAt: int


class CataloguedThread(_CataloguedThread, total=False):
    """`updatedAt` may be an hour behind while messages are appended: `GET /v1/threads/{id}`, and the list of
    one user, have the current one.
    """

    # Absent for a thread without a user.
    userId: str
    agent: str
    resourceSlug: str
    recordId: str
    metadata: Dict[str, EntryValue]
    # The thread's messages are deleted at this age, or earlier by a rule of the user or the tenant.
    retention: str
    # The names that are the owner's, as the last ingest with `owners` gave them.
    owners: List[str]


class _CataloguedThreadList(TypedDict):
    items: List[CataloguedThread]


class CataloguedThreadList(_CataloguedThreadList, total=False):
    cursor: str


class PatchThread(TypedDict, total=False):
    """Changes the given fields. Null clears a field; a title becomes `New conversation`."""

    title: Optional[str]
    agent: Optional[str]
    resourceSlug: Optional[str]
    recordId: Optional[str]
    # Free JSON, at most 10 KiB.
    metadata: Optional[Dict[str, Any]]
    # `lexical`: messages are found by their words only. `full`: by their meaning too. `full` unless set, or
    # unless `MESSAGE_INDEXING` of the deployment differs. For a fork: the messages appended to it.
    indexing: Optional[Literal["lexical", "full"]]
    # The thread's messages are deleted at this age, or earlier by a rule of the user or the tenant.
    retention: Optional[str]


class Fork(TypedDict, total=False):
    """Fields that are not set come from the origin."""

    # `New conversation` unless set.
    title: str
    agent: str
    resourceSlug: str
    recordId: str
    # Free JSON, at most 10 KiB.
    metadata: Dict[str, Any]
    # `lexical`: messages are found by their words only. `full`: by their meaning too. `full` unless set, or
    # unless `MESSAGE_INDEXING` of the deployment differs. For a fork: the messages appended to it.
    indexing: Literal["lexical", "full"]
    # The thread's messages are deleted at this age, or earlier by a rule of the user or the tenant.
    retention: str
    # The seq of the last message that the fork shares; the thread's last unless set.
    at: int


class _Append(TypedDict):
    messages: List[Message]


class Append(_Append, total=False):
    # Appends only if the thread has this many messages; else 409.
    expectedLength: int
    # `messages` is then the whole conversation. If it continues the stored one (see /validate), its new
    # messages are appended; else 409.
    validate: Literal["loose", "strict"]
    approvedToolCallIds: List[str]
    rejectedToolCallIds: List[str]
    # Time of the messages in milliseconds since the epoch, for an import; now unless set. At most a day
    # ahead.
    createdAt: int


class _Appended(TypedDict):
    # Number of messages in the thread now.
    length: int


class Appended(_Appended, total=False):
    # Seq of the first appended message; absent if there is none.
    firstSeq: int
    lastSeq: int
    # Messages whose `role` no rule knows; absent if there is none.
    notes: List[MessageNote]


_MessageListItemCompactionRequired = TypedDict(
    "_MessageListItemCompactionRequired",
    {"id": "str", "from": "int", "to": "int"},
)


class MessageListItemCompaction(_MessageListItemCompactionRequired):
    """For a summary: the messages that it replaces."""


class _MessageListItem(TypedDict):
    # Grows within the thread, from 1. No seq is used twice.
    seq: int
    message: Dict[str, Any]
    # Milliseconds since the epoch.
    createdAt: int


class MessageListItem(_MessageListItem, total=False):
    # For a summary: the messages that it replaces.
    compaction: MessageListItemCompaction


class _MessageList(TypedDict):
    items: List[MessageListItem]


class MessageList(_MessageList, total=False):
    cursor: str


_CompactRequired = TypedDict(
    "_CompactRequired",
    {"summary": "Union[str, Message]", "to": "int"},
)


_CompactOptional = TypedDict(
    "_CompactOptional",
    {"from": "int"}, total=False,
)


class Compact(_CompactRequired, _CompactOptional):
    pass


_CompactionRequired = TypedDict(
    "_CompactionRequired",
    {"id": "str", "from": "int", "to": "int", "summary": "Dict[str, EntryValue]", "createdAt": "int"},
)


class Compaction(_CompactionRequired):
    pass


class _CompactionList(TypedDict):
    items: List[Compaction]


class CompactionList(_CompactionList, total=False):
    cursor: str


class _Validate(TypedDict):
    # The whole conversation.
    messages: List[Message]


class Validate(_Validate, total=False):
    # `strict` unless set.
    mode: Literal["loose", "strict"]
    approvedToolCallIds: List[str]
    rejectedToolCallIds: List[str]


class _Verdict(TypedDict):
    ok: bool


class Verdict(_Verdict, total=False):
    code: str
    reason: str
    # Index of the first wrong message in the request.
    index: int


MemoryKind = Literal["fact", "episode", "procedure", "reflection"]


class MemorySource(TypedDict, total=False):
    thread: str
    # A seq, or an id of yours.
    message: Union[str, int]
    # Who says it in the message, if it is not the owner of the memory.
    speaker: str
    # The model or program that extracted the memory from a conversation.
    extractor: str


class RememberAppraisal(TypedDict, total=False):
    """Of an episode."""

    goal_relevance: float
    goal_congruence: float
    expectedness: float
    controllability: float
    agency: float
    norm_compatibility: float
    internal_standards: float
    adjustment_potential: float
    urgency: float


class Emotion(TypedDict):
    """Valence, arousal and dominance, −1 to 1 each."""

    valence: float
    arousal: float
    dominance: float


class Remember(TypedDict, total=False):
    kind: MemoryKind
    # The text to remember. A fact without it has its subject, predicate and object as its text.
    text: str
    tags: List[str]
    # Free JSON, at most 10 KiB.
    metadata: Dict[str, Any]
    # Name of a procedure: one procedure per title.
    title: str
    # Of a fact. Subject and predicate identify one live fact, or one for each object if the predicate has
    # many.
    subject: str
    predicate: str
    # Of a fact with subject and predicate. A new object supersedes the old one where the predicate has one.
    object: str
    # Of a fact with subject and predicate. `many`: several objects are true at a time, as of `likes`. `one`:
    # a new object supersedes the old one, as of `lives in`. As the predicate's rule says unless set.
    cardinality: Literal["one", "many"]
    # Topic of a fact without subject and predicate. One live fact per key.
    key: str
    # A project or an app that the memory belongs to, besides its user.
    scope: str
    # Your own id of the memory. A memory with the same id replaces this one.
    externalId: str
    # Your own weight or confidence, 0 to 1.
    score: float
    importance: float
    source: MemorySource
    # Of an episode or reflection: the person or agent it came from.
    sourceEntity: str
    # Of an episode.
    context: str
    # Of an episode.
    type: str
    # Of an episode.
    intensity: float
    # Of an episode.
    appraisal: RememberAppraisal
    emotion: Emotion
    # Of a reflection.
    trigger: str
    # The memory stops being true at this time.
    validTo: int
    # The memory lives while now ≤ expiresAt. Then it is deleted with its history.
    expiresAt: int
    # The memory is true from this time on; from its creation unless set.
    validFrom: int
    # For an import; now unless set.
    createdAt: int
    # For an import; now unless set.
    updatedAt: int
    status: Literal["active", "quarantined"]
    # A memory of an extractor (`source.extractor`) with a lower score is quarantined; 0.7 unless set.
    quarantineBelow: float
    # `exact` unless set: a memory with the same text, kind and scope is the same memory. Their tags and
    # metadata add up. `suggest`: the same, and the answer has `similar` memories. `merge`: a memory that says
    # the same in other words is the same memory too, and keeps its text. `none`: it is stored again. Applies
    # to memories without a title, key, externalId, or subject and predicate, and to facts of a predicate with
    # many; `suggest` to all.
    dedupe: Literal["exact", "suggest", "merge", "none"]


# `quarantined`: kept and listed for review, never recalled. `expired`: it has waited too long, and is deleted
# after a day.
MemoryStatus = Literal["active", "quarantined", "expired"]


class MemoryAppraisal(TypedDict, total=False):
    """Of an episode."""

    goal_relevance: float
    goal_congruence: float
    expectedness: float
    controllability: float
    agency: float
    norm_compatibility: float
    internal_standards: float
    adjustment_potential: float
    urgency: float


# `user`, `operator`: a person or a backend wrote the memory. `model`: a model found it. `tool`: a tool's
# result says it. `import`: another system had it.
Trust = Literal["user", "operator", "model", "tool", "import"]


class WrittenBy(TypedDict, total=False):
    """The token, the adapter, the model and its prompt that wrote it."""

    tokenId: str
    adapter: str
    model: str
    prompt: str


class _Memory(TypedDict):
    id: str
    userId: str
    kind: MemoryKind
    status: MemoryStatus
    # Counts this user's versions of all memories.
    version: int
    text: str
    trust: Trust
    # Milliseconds since the epoch.
    createdAt: int
    # Milliseconds since the epoch.
    updatedAt: int
    # Milliseconds since the epoch.
    validFrom: int
    # When this version was recorded.
    recordedAt: int


class Memory(_Memory, total=False):
    tags: List[str]
    metadata: Dict[str, EntryValue]
    # Name of a procedure: one procedure per title.
    title: str
    # Of a fact. Subject and predicate identify one live fact, or one for each object if the predicate has
    # many.
    subject: str
    predicate: str
    # Of a fact with subject and predicate. A new object supersedes the old one where the predicate has one.
    object: str
    # Of a fact with subject and predicate. `many`: several objects are true at a time, as of `likes`. `one`:
    # a new object supersedes the old one, as of `lives in`. As the predicate's rule says unless set.
    cardinality: Literal["one", "many"]
    # Topic of a fact without subject and predicate. One live fact per key.
    key: str
    # A project or an app that the memory belongs to, besides its user.
    scope: str
    # Your own id of the memory. A memory with the same id replaces this one.
    externalId: str
    # Your own weight or confidence, 0 to 1.
    score: float
    importance: float
    source: MemorySource
    # Of an episode or reflection: the person or agent it came from.
    sourceEntity: str
    # Of an episode.
    context: str
    # Of an episode.
    type: str
    # Of an episode.
    intensity: float
    # Of an episode.
    appraisal: MemoryAppraisal
    emotion: Emotion
    # Of a reflection.
    trigger: str
    # The memory stops being true at this time.
    validTo: int
    # The memory lives while now ≤ expiresAt. Then it is deleted with its history.
    expiresAt: int
    writtenBy: WrittenBy
    # All sources, where there are several; the last 32.
    sources: List[MemorySource]
    # Why it is quarantined.
    reasons: List[str]
    # The id of the memory that it would supersede or change, which has a higher trust.
    conflictsWith: str
    # The id under which a memory waited that became this one by its release. Calls with that id reach this
    # memory.
    waitedAs: str
    # `lexical`: found by its words now, by its meaning soon. Only answers about one memory have this field.
    indexing: Literal["lexical", "full"]


class SimilarMemory(TypedDict):
    id: str
    text: str
    # Cosine of the vectors of both texts.
    score: float


class SupersededMemory(TypedDict):
    id: str
    # As it was true until now.
    text: str


class RememberedMemory(Memory, total=False):
    # With `dedupe: suggest`: live memories of the same kind and scope, most similar first.
    similar: List[SimilarMemory]
    # The facts that this one ended: the object before it, which has the same id, and opposites. A memory that
    # waits in quarantine ends none.
    superseded: List[SupersededMemory]


class _MemoryList(TypedDict):
    items: List[Memory]


class MemoryList(_MemoryList, total=False):
    cursor: str


class RememberInBatchAppraisal(TypedDict, total=False):
    """Of an episode."""

    goal_relevance: float
    goal_congruence: float
    expectedness: float
    controllability: float
    agency: float
    norm_compatibility: float
    internal_standards: float
    adjustment_potential: float
    urgency: float


class RememberInBatch(TypedDict, total=False):
    kind: MemoryKind
    # The text to remember. A fact without it has its subject, predicate and object as its text.
    text: str
    tags: List[str]
    # Free JSON, at most 10 KiB.
    metadata: Dict[str, Any]
    # Name of a procedure: one procedure per title.
    title: str
    # Of a fact. Subject and predicate identify one live fact, or one for each object if the predicate has
    # many.
    subject: str
    predicate: str
    # Of a fact with subject and predicate. A new object supersedes the old one where the predicate has one.
    object: str
    # Of a fact with subject and predicate. `many`: several objects are true at a time, as of `likes`. `one`:
    # a new object supersedes the old one, as of `lives in`. As the predicate's rule says unless set.
    cardinality: Literal["one", "many"]
    # Topic of a fact without subject and predicate. One live fact per key.
    key: str
    # A project or an app that the memory belongs to, besides its user.
    scope: str
    # Your own id of the memory. A memory with the same id replaces this one.
    externalId: str
    # Your own weight or confidence, 0 to 1.
    score: float
    importance: float
    source: MemorySource
    # Of an episode or reflection: the person or agent it came from.
    sourceEntity: str
    # Of an episode.
    context: str
    # Of an episode.
    type: str
    # Of an episode.
    intensity: float
    # Of an episode.
    appraisal: RememberInBatchAppraisal
    emotion: Emotion
    # Of a reflection.
    trigger: str
    # The memory stops being true at this time.
    validTo: int
    # The memory lives while now ≤ expiresAt. Then it is deleted with its history.
    expiresAt: int
    # The memory is true from this time on; from its creation unless set.
    validFrom: int
    # For an import; now unless set.
    createdAt: int
    # For an import; now unless set.
    updatedAt: int
    status: Literal["active", "quarantined"]
    # A memory of an extractor (`source.extractor`) with a lower score is quarantined; 0.7 unless set.
    quarantineBelow: float
    # `exact` unless set: a memory with the same text, kind and scope is the same memory. Their tags and
    # metadata add up. `suggest`: the same, and the answer has `similar` memories. `merge`: a memory that says
    # the same in other words is the same memory too, and keeps its text. `none`: it is stored again. Applies
    # to memories without a title, key, externalId, or subject and predicate, and to facts of a predicate with
    # many; `suggest` to all.
    dedupe: Literal["exact", "suggest", "merge", "none"]
    # The version of the memory that this one supersedes, replaces or adds to; `null`: there must be none.
    # Otherwise the whole batch fails with 412.
    ifVersion: Optional[int]


class RememberMany(TypedDict):
    memories: List[RememberInBatch]


class _RememberedManyItem(TypedDict):
    memory: Memory
    created: bool


class RememberedManyItem(_RememberedManyItem, total=False):
    # With `dedupe: suggest`: live memories of the same kind and scope, most similar first.
    similar: List[SimilarMemory]
    # The facts that this one ended: the object before it, which has the same id, and opposites. A memory that
    # waits in quarantine ends none.
    superseded: List[SupersededMemory]


class RememberedMany(TypedDict):
    items: List[RememberedManyItem]


class MemoryFilter(TypedDict, total=False):
    # Any of these kinds.
    kinds: List[MemoryKind]
    # `active` unless set.
    status: List[MemoryStatus]
    # Any of these.
    trust: List[Trust]
    # Every one of these tags.
    tags: List[str]
    # At least one of these tags.
    anyTags: List[str]
    # Any of these scopes.
    scope: List[str]
    externalId: List[str]
    type: List[str]
    # The exact title.
    title: str
    sourceEntity: str
    # Compared without case and extra spaces, as are predicate and key.
    subject: str
    predicate: str
    key: str
    # Memories whose context holds this text. Upper and lower case of A to Z are the same.
    context: str
    sourceThread: str
    # A seq, or an id of yours.
    sourceMessage: str
    extractor: str
    scoreMin: float
    scoreMax: float
    importanceMin: float
    importanceMax: float
    intensityMin: float
    intensityMax: float
    valenceMin: float
    valenceMax: float
    createdAtMin: float
    createdAtMax: float
    updatedAtMin: float
    updatedAtMax: float
    validFromMin: float
    validFromMax: float
    # Each field has this value (in an object, the order of fields counts), or fits these comparisons: `eq`,
    # `ne`, `gt`, `gte`, `lt`, `lte`, `in`, `nin`, `exists`. `and`, `or` (lists of such filters) and `not`
    # combine them.
    metadata: Dict[str, Any]


class _ForgetMemories(TypedDict):
    filter: MemoryFilter


class ForgetMemories(_ForgetMemories, total=False):
    # Deletes nothing; answers the memories that match.
    dryRun: bool
    # Keeps the entries that the memories name in `metadata.cairnEntry`. Otherwise they are deleted too.
    keepEntries: bool


class Forgotten(TypedDict):
    # Number of deleted memories; with `dryRun`, of matching ones.
    count: int
    # The ids of the first 1000 of them.
    ids: List[str]


class _ReviewMemoriesMemory(TypedDict):
    id: str


class ReviewMemoriesMemory(_ReviewMemoriesMemory, total=False):
    # The version that was looked at.
    ifVersion: int


class ReviewMemoriesFilter(TypedDict, total=False):
    """In place of `memories`: all that wait in quarantine and match, those that wait longest first. `{}`: all
    that wait.
    """

    # Any of these kinds.
    kinds: List[MemoryKind]
    # Any of these.
    trust: List[Trust]
    # Every one of these tags.
    tags: List[str]
    # At least one of these tags.
    anyTags: List[str]
    # Any of these scopes.
    scope: List[str]
    externalId: List[str]
    type: List[str]
    # The exact title.
    title: str
    sourceEntity: str
    # Compared without case and extra spaces, as are predicate and key.
    subject: str
    predicate: str
    key: str
    # Memories whose context holds this text. Upper and lower case of A to Z are the same.
    context: str
    sourceThread: str
    # A seq, or an id of yours.
    sourceMessage: str
    extractor: str
    scoreMin: float
    scoreMax: float
    importanceMin: float
    importanceMax: float
    intensityMin: float
    intensityMax: float
    valenceMin: float
    valenceMax: float
    createdAtMin: float
    createdAtMax: float
    updatedAtMin: float
    updatedAtMax: float
    validFromMin: float
    validFromMax: float
    # Each field has this value (in an object, the order of fields counts), or fits these comparisons: `eq`,
    # `ne`, `gt`, `gte`, `lt`, `lte`, `in`, `nin`, `exists`. `and`, `or` (lists of such filters) and `not`
    # combine them.
    metadata: Dict[str, Any]


class _ReviewMemories(TypedDict):
    # `release`: the memories become live, as by a release of each. `reject`: they are deleted.
    decision: Literal["release", "reject"]


class ReviewMemories(_ReviewMemories, total=False):
    memories: List[ReviewMemoriesMemory]
    # In place of `memories`: all that wait in quarantine and match, those that wait longest first. `{}`: all
    # that wait.
    filter: ReviewMemoriesFilter


class ReviewedMemoryError(TypedDict):
    code: str
    message: str


class _ReviewedMemory(TypedDict):
    # The id under which it waited.
    id: str
    # `gone`: nothing waited under this id that could be rejected. `failed`: it is as it was.
    outcome: Literal["released", "rejected", "gone", "failed"]


class ReviewedMemory(_ReviewedMemory, total=False):
    # The memory that a released one is now.
    memoryId: str
    # Counts this user's versions of all memories.
    version: int
    # The facts that this one ended: the object before it, which has the same id, and opposites. A memory that
    # waits in quarantine ends none.
    superseded: List[SupersededMemory]
    error: ReviewedMemoryError


class _ReviewedMemories(TypedDict):
    # In the order of the request, each id once.
    items: List[ReviewedMemory]


class ReviewedMemories(_ReviewedMemories, total=False):
    # More of what waited when the first call came matches. The next call takes it, with the same body.
    cursor: str


class PatchMemoryAppraisal(TypedDict, total=False):
    """Of an episode."""

    goal_relevance: float
    goal_congruence: float
    expectedness: float
    controllability: float
    agency: float
    norm_compatibility: float
    internal_standards: float
    adjustment_potential: float
    urgency: float


class PatchMemory(TypedDict, total=False):
    text: str
    tags: Optional[List[str]]
    # Free JSON, at most 10 KiB.
    metadata: Optional[Dict[str, Any]]
    # Of a fact with subject and predicate. A new object supersedes the old one where the predicate has one.
    object: Optional[str]
    # Your own weight or confidence, 0 to 1.
    score: Optional[float]
    importance: Optional[float]
    source: Optional[MemorySource]
    # Of an episode or reflection: the person or agent it came from.
    sourceEntity: Optional[str]
    # Of an episode.
    context: Optional[str]
    # Of an episode.
    type: Optional[str]
    # Of an episode.
    intensity: Optional[float]
    # Of an episode.
    appraisal: Optional[PatchMemoryAppraisal]
    emotion: Optional[Emotion]
    # Of a reflection.
    trigger: Optional[str]
    # The memory stops being true at this time.
    validTo: Optional[int]
    # The memory lives while now ≤ expiresAt. Then it is deleted with its history.
    expiresAt: Optional[int]


class PastMemory(Memory, total=False):
    # When another version replaced it.
    correctedAt: int
    # The version that is true after this one.
    supersededBy: int


class _MemoryHistory(TypedDict):
    items: List[PastMemory]


class MemoryHistory(_MemoryHistory, total=False):
    cursor: str


class RestoreMemory(TypedDict):
    # A version of the history.
    version: int


RecallKind = Literal["fact", "episode", "procedure", "reflection", "message"]


class RecallFilter(TypedDict, total=False):
    """Only memories that match. Quarantined memories are never recalled."""

    # Any of these.
    trust: List[Trust]
    # Every one of these tags.
    tags: List[str]
    # At least one of these tags.
    anyTags: List[str]
    # Any of these scopes.
    scope: List[str]
    externalId: List[str]
    type: List[str]
    # The exact title.
    title: str
    sourceEntity: str
    # Compared without case and extra spaces, as are predicate and key.
    subject: str
    predicate: str
    key: str
    # Memories whose context holds this text. Upper and lower case of A to Z are the same.
    context: str
    sourceThread: str
    # A seq, or an id of yours.
    sourceMessage: str
    extractor: str
    scoreMin: float
    scoreMax: float
    importanceMin: float
    importanceMax: float
    intensityMin: float
    intensityMax: float
    valenceMin: float
    valenceMax: float
    createdAtMin: float
    createdAtMax: float
    updatedAtMin: float
    updatedAtMax: float
    validFromMin: float
    validFromMax: float
    # Each field has this value (in an object, the order of fields counts), or fits these comparisons: `eq`,
    # `ne`, `gt`, `gte`, `lt`, `lte`, `in`, `nin`, `exists`. `and`, `or` (lists of such filters) and `not`
    # combine them.
    metadata: Dict[str, Any]


class RecallWeights(TypedDict, total=False):
    """Factors on the weights of the parts of a score: 0 drops a part, 2 doubles it. `soft`: words of similar
    meaning. `statements`: what a hit adds to the question, and which of two statements is the later one.
    """

    lexical: float
    soft: float
    vector: float
    speaker: float
    length: float
    time: float
    key: float
    importance: float
    recency: float
    instructions: float
    statements: float


class _Recall(TypedDict):
    # A question, a topic or a text, at most 256 KiB. Of a query over 8 KiB, only the first and the last 4 KiB
    # are used, and the answer has `cut`.
    query: str


class Recall(_Recall, total=False):
    # Maximum number of hits; 10 unless set.
    k: int
    # All kinds unless set.
    kinds: List[RecallKind]
    # Only messages of these roles (`user`, `assistant` …), and memories. `kinds` excludes memories.
    roles: List[str]
    # Only memories with all of these tags. Messages have no tags.
    tags: List[str]
    # Only memories of this scope.
    scope: str
    # Only memories that match. Quarantined memories are never recalled.
    filter: RecallFilter
    # Only messages of this thread.
    threadId: str
    # Answers as if asked at this time.
    asOf: int
    # Answers with the memories that were true at this time, as known now (or at `asOf`).
    validAt: int
    # The time that “yesterday” and “last week” in the query refer to; now unless set.
    referenceDate: int
    # `auto`: for small talk, and if the confidence is below the deployment's threshold, `hits` is empty,
    # `abstained` is true, and `nearest` has the hits. `strict`: the same with a higher threshold, for those
    # who would rather hear nothing than something unrelated. `off` unless set.
    answerable: Literal["auto", "strict", "off"]
    # The days, weeks and months that the query names begin in this IANA time zone; UTC unless set.
    timeZone: str
    # `auto` unless set: documents of a time that the query names score higher, and facts that were true then
    # are found too, though superseded. `off`: the query's words about a time have no such effect. `asOf` and
    # `validAt` come before the query's words.
    timeMode: Literal["auto", "off"]
    # Only hits with at least this score.
    minScore: float
    # Factors on the weights of the parts of a score: 0 drops a part, 2 doubles it. `soft`: words of similar
    # meaning. `statements`: what a hit adds to the question, and which of two statements is the later one.
    weights: RecallWeights
    # Shared owners (`shared:…`) to search together with the user, as far as the token may read them. `userId`
    # of a hit names its owner.
    owners: List[str]
    # Reads the best 30 hits (`k` hits, if `k` is larger) with the deployment's reranker (`RERANKER_MODEL`).
    # Its scores move the hits, and the best one's moves the confidence; `why` still explains the first
    # ranking. The arm `rerank` has the status.
    rerank: bool
    # Number of messages on each side of a hit on a message; 1 unless set.
    window: int
    # Each hit says in `why.sentence` why it is where it is, and has the parts of its score in `why.parts` and
    # its features in `why.features`. The answer has `signals`.
    explain: bool
    # Time limit for Vectorize; 300 unless set. Later results are left out.
    deadlineMs: int


class HitPassage(TypedDict):
    """Of a long text: the passage that matches the query best, as offsets in `text` in UTF-16 code units;
    `end` is not part of it.
    """

    start: int
    end: int


class HitWhyParts(TypedDict, total=False):
    """With `explain`: what each part adds to the sum that orders the hits. The names are those of `weights`."""

    lexical: float
    soft: float
    vector: float
    speaker: float
    length: float
    time: float
    key: float
    importance: float
    recency: float
    instructions: float
    statements: float


class HitWhy(TypedDict, total=False):
    """The rank of the hit in each arm that found it, from 1. `key`: the query names its key, or its subject
    and predicate. `date`: it is from the time that the query names, or was true then. Empty for a neighbour
    of a hit. Also empty for a query without searchable words: then the newest documents are the hits, with a
    score of 0.
    """

    lexical: int
    vector: int
    key: Literal[True]
    date: Literal[True]
    # With `explain`: one plain sentence that says why the hit is where it is.
    sentence: str
    # With `explain` and `rerank`: the reranker's score of the query and the hit, 0 to 1.
    pair: float
    # With `explain`: what each part adds to the sum that orders the hits. The names are those of `weights`.
    parts: HitWhyParts
    # With `explain`: the features of the hit that are not 0, each up to 1.
    features: Dict[str, float]
    # With `explain`: which weights apply. `people`: a message between people; `assistant`: between a person
    # and an assistant.
    kind: Literal["memory", "people", "assistant"]


class HitAppraisal(TypedDict, total=False):
    """Of an episode."""

    goal_relevance: float
    goal_congruence: float
    expectedness: float
    controllability: float
    agency: float
    norm_compatibility: float
    internal_standards: float
    adjustment_potential: float
    urgency: float


class _HitWindow(TypedDict):
    seq: int
    role: str
    text: str
    # Milliseconds since the epoch.
    createdAt: int


class HitWindow(_HitWindow, total=False):
    name: str
    # The text continues.
    cut: Literal[True]


class _Hit(TypedDict):
    # The id of the memory; for a message `<threadId>:<seq>`.
    id: str
    kind: RecallKind
    text: str
    # Best first. Scores are roughly comparable between queries: a poor hit has a low score.
    score: float
    # The rank of the hit in each arm that found it, from 1. `key`: the query names its key, or its subject
    # and predicate. `date`: it is from the time that the query names, or was true then. Empty for a neighbour
    # of a hit. Also empty for a query without searchable words: then the newest documents are the hits, with
    # a score of 0.
    why: HitWhy
    # Milliseconds since the epoch.
    createdAt: int


class Hit(_Hit, total=False):
    """A memory with its own fields, or a message."""

    # Of a long text: the passage that matches the query best, as offsets in `text` in UTF-16 code units;
    # `end` is not part of it.
    passage: HitPassage
    userId: str
    # Counts this user's versions of all memories.
    version: int
    tags: List[str]
    metadata: Dict[str, EntryValue]
    # Name of a procedure: one procedure per title.
    title: str
    # Of a fact. Subject and predicate identify one live fact, or one for each object if the predicate has
    # many.
    subject: str
    predicate: str
    # Of a fact with subject and predicate. A new object supersedes the old one where the predicate has one.
    object: str
    # Of a fact with subject and predicate. `many`: several objects are true at a time, as of `likes`. `one`:
    # a new object supersedes the old one, as of `lives in`. As the predicate's rule says unless set.
    cardinality: Literal["one", "many"]
    # Topic of a fact without subject and predicate. One live fact per key.
    key: str
    # A project or an app that the memory belongs to, besides its user.
    scope: str
    # Your own id of the memory. A memory with the same id replaces this one.
    externalId: str
    importance: float
    source: MemorySource
    # Of an episode or reflection: the person or agent it came from.
    sourceEntity: str
    # Of an episode.
    context: str
    # Of an episode.
    type: str
    # Of an episode.
    intensity: float
    # Of an episode.
    appraisal: HitAppraisal
    emotion: Emotion
    # Of a reflection.
    trigger: str
    # The memory stops being true at this time.
    validTo: int
    # The memory lives while now ≤ expiresAt. Then it is deleted with its history.
    expiresAt: int
    trust: Trust
    writtenBy: WrittenBy
    # All sources, where there are several; the last 32.
    sources: List[MemorySource]
    # Why it is quarantined.
    reasons: List[str]
    # The id of the memory that it would supersede or change, which has a higher trust.
    conflictsWith: str
    # The id under which a memory waited that became this one by its release. Calls with that id reach this
    # memory.
    waitedAs: str
    # Milliseconds since the epoch.
    updatedAt: int
    # Milliseconds since the epoch.
    validFrom: int
    # When this version was recorded.
    recordedAt: int
    # The version of the same fact that was true before. Left out with `asOf`.
    supersedes: int
    # The version of the same fact that is true after this one. Left out with `asOf`.
    supersededBy: int
    # The time of a later statement on the same matter, which names a change: this one seems to be true no
    # more. An estimate by words, of memories and messages without a validity of their own.
    replacedAt: int
    # The memory's own `score`.
    ownScore: float
    threadId: str
    seq: int
    role: str
    # The name of the speaker, if the message has one.
    name: str
    # The text continues: only the first 32,768 characters of a message are searched and shown.
    cut: Literal[True]
    # The messages around the hit that have a text, in order, at most 2,000 characters each.
    window: List[HitWindow]


class Arm(TypedDict):
    name: Literal["lexical", "vector", "vectorize", "key", "date", "owners", "rerank"]
    # `off`: the query has nothing to search by in this arm. For `vectorize` also: the user's object has all
    # vectors in memory, or there is no Vectorize. For `rerank`: there is no reranker.
    status: Literal["ok", "late", "failed", "off"]
    candidates: int
    # True if the arm reached its limit. Lexical search has a limit of hits. Vector search has 24 MiB of
    # vectors: memories first, then the newest messages.
    capped: bool
    # Duration by the platform's clock, which advances only during I/O.
    ms: int


class RecallAnswerFreshness(TypedDict):
    """Documents of this user. Pending documents are found by words, not yet by meaning."""

    indexed: int
    pending: int


class _RecallAnswer(TypedDict):
    hits: List[Hit]
    arms: List[Arm]
    # The estimated probability that the hits hold an answer to the query.
    confidence: float
    # True if an arm failed: there may be better hits.
    degraded: bool
    # Documents of this user. Pending documents are found by words, not yet by meaning.
    freshness: RecallAnswerFreshness


class RecallAnswer(_RecallAnswer, total=False):
    # Names this answer for its outcome (`POST /v1/recalls/{id}/outcome`); absent without memories of the
    # user.
    recallId: str
    # With `answerable: auto` or `strict`: nothing fits the query.
    abstained: Literal[True]
    # If `abstained`: the hits that do not fit.
    nearest: List[Hit]
    # With `explain`: the values that the confidence is computed from.
    signals: Dict[str, float]
    # With `explain`: with a lower confidence, `answerable: auto`, or `strict` if the query says so, returns
    # no hits.
    threshold: float
    # The query is over 8 KiB: only its first and last 4 KiB were used.
    cut: Literal[True]


class ContextRequestThread(TypedDict):
    """In place of `threadId`: the user's latest thread with this agent. It begins if there is none, so the
    token needs the scope `write`.
    """

    agent: str


class ContextLayerInstructionsTokens2(TypedDict, total=False):
    min: int
    max: int


class _ContextLayerInstructions(TypedDict):
    type: Literal["instructions"]


class ContextLayerInstructions(_ContextLayerInstructions, total=False):
    # Order of the layers, the lowest first; the order of the list unless set.
    slot: int
    # `min` is reserved for the layer, `max` is its limit. `auto` unless set: a share of the budget.
    tokens: Union[Literal["auto"], ContextLayerInstructionsTokens2]
    # `eventual` unless set: part of the stable block; a change comes as a note of the next turn. `atomic`:
    # part of the turn's block, as it is now.
    mode: Literal["eventual", "atomic"]
    # Maximum number of standing instructions and preferences of the user; 20 unless set.
    n: int


class ContextLayerProfileTokens2(TypedDict, total=False):
    min: int
    max: int


class _ContextLayerProfile(TypedDict):
    type: Literal["profile"]


class ContextLayerProfile(_ContextLayerProfile, total=False):
    # Order of the layers, the lowest first; the order of the list unless set.
    slot: int
    # `min` is reserved for the layer, `max` is its limit. `auto` unless set: a share of the budget.
    tokens: Union[Literal["auto"], ContextLayerProfileTokens2]
    # `eventual` unless set: part of the stable block; a change comes as a note of the next turn. `atomic`:
    # part of the turn's block, as it is now.
    mode: Literal["eventual", "atomic"]
    # Only memories with all of these tags.
    tags: List[str]
    # Maximum number of facts; 40 unless set.
    n: int


class ContextLayerFactsTokens2(TypedDict, total=False):
    min: int
    max: int


class _ContextLayerFacts(TypedDict):
    type: Literal["facts"]


class ContextLayerFacts(_ContextLayerFacts, total=False):
    # Order of the layers, the lowest first; the order of the list unless set.
    slot: int
    # `min` is reserved for the layer, `max` is its limit. `auto` unless set: a share of the budget.
    tokens: Union[Literal["auto"], ContextLayerFactsTokens2]
    # `eventual` unless set: part of the stable block; a change comes as a note of the next turn. `atomic`:
    # part of the turn's block, as it is now.
    mode: Literal["eventual", "atomic"]
    # Only memories with all of these tags.
    tags: List[str]
    # Maximum number of facts; 20 unless set.
    n: int


class ContextLayerReflectionsTokens2(TypedDict, total=False):
    min: int
    max: int


class _ContextLayerReflections(TypedDict):
    type: Literal["reflections"]


class ContextLayerReflections(_ContextLayerReflections, total=False):
    # Order of the layers, the lowest first; the order of the list unless set.
    slot: int
    # `min` is reserved for the layer, `max` is its limit. `auto` unless set: a share of the budget.
    tokens: Union[Literal["auto"], ContextLayerReflectionsTokens2]
    # `eventual` unless set: part of the stable block; a change comes as a note of the next turn. `atomic`:
    # part of the turn's block, as it is now.
    mode: Literal["eventual", "atomic"]
    # Only memories with all of these tags.
    tags: List[str]
    # Maximum number of reflections, the newest first; 3 unless set.
    n: int


class ContextLayerProceduresTokens2(TypedDict, total=False):
    min: int
    max: int


class _ContextLayerProcedures(TypedDict):
    type: Literal["procedures"]


class ContextLayerProcedures(_ContextLayerProcedures, total=False):
    # Order of the layers, the lowest first; the order of the list unless set.
    slot: int
    # `min` is reserved for the layer, `max` is its limit. `auto` unless set: a share of the budget.
    tokens: Union[Literal["auto"], ContextLayerProceduresTokens2]
    # Only memories with all of these tags.
    tags: List[str]
    # Maximum number of procedures; 5 unless set.
    n: int
    # Only procedures with at least this score; 0.3 unless set.
    minScore: float
    # `titles` unless set.
    show: Literal["titles", "bodies"]
    # The layer is left out if its search takes longer; 2,000 unless set.
    timeoutMs: int


class ContextLayerEpisodesTokens2(TypedDict, total=False):
    min: int
    max: int


class _ContextLayerEpisodes(TypedDict):
    type: Literal["episodes"]


class ContextLayerEpisodes(_ContextLayerEpisodes, total=False):
    # Order of the layers, the lowest first; the order of the list unless set.
    slot: int
    # `min` is reserved for the layer, `max` is its limit. `auto` unless set: a share of the budget.
    tokens: Union[Literal["auto"], ContextLayerEpisodesTokens2]
    # Only memories with all of these tags.
    tags: List[str]
    # Number of the newest episodes; 5 unless set.
    recent: int
    # Number of episodes that match the query, besides the newest; 3 unless set.
    similar: int
    # The layer is left out if its search takes longer; 2,000 unless set.
    timeoutMs: int


class ContextLayerEntriesTokens2(TypedDict, total=False):
    min: int
    max: int


class _ContextLayerEntries(TypedDict):
    type: Literal["entries"]


class ContextLayerEntries(_ContextLayerEntries, total=False):
    # Order of the layers, the lowest first; the order of the list unless set.
    slot: int
    # `min` is reserved for the layer, `max` is its limit. `auto` unless set: a share of the budget.
    tokens: Union[Literal["auto"], ContextLayerEntriesTokens2]
    # `eventual` unless set: part of the stable block; a change comes as a note of the next turn. `atomic`:
    # part of the turn's block, as it is now.
    mode: Literal["eventual", "atomic"]
    prefix: str
    keys: List[str]
    # Maximum number of entries, in the order of their keys; 20 unless set.
    n: int


class ContextLayerSummaryTokens2(TypedDict, total=False):
    min: int
    max: int


class _ContextLayerSummary(TypedDict):
    type: Literal["summary"]


class ContextLayerSummary(_ContextLayerSummary, total=False):
    # Order of the layers, the lowest first; the order of the list unless set.
    slot: int
    # `min` is reserved for the layer, `max` is its limit. `auto` unless set: a share of the budget.
    tokens: Union[Literal["auto"], ContextLayerSummaryTokens2]
    # `eventual` unless set: part of the stable block; a change comes as a note of the next turn. `atomic`:
    # part of the turn's block, as it is now.
    mode: Literal["eventual", "atomic"]


class ContextLayerRecalledTokens2(TypedDict, total=False):
    min: int
    max: int


class _ContextLayerRecalled(TypedDict):
    type: Literal["recalled"]


class ContextLayerRecalled(_ContextLayerRecalled, total=False):
    # Order of the layers, the lowest first; the order of the list unless set.
    slot: int
    # `min` is reserved for the layer, `max` is its limit. `auto` unless set: a share of the budget.
    tokens: Union[Literal["auto"], ContextLayerRecalledTokens2]
    # Only memories with all of these tags.
    tags: List[str]
    # Maximum number of memories and messages; the budget is the usual end; 50 unless set.
    k: int
    kinds: List[RecallKind]
    roles: List[str]
    # Only hits with at least this score; a share of the best hit's unless set: a tenth, and up to 0.4 in a
    # store of fewer than 300 documents.
    minScore: float
    # The layer is left out if its search takes longer; 2,000 unless set.
    timeoutMs: int


class ContextLayerHistoryTokens2(TypedDict, total=False):
    min: int
    max: int


class _ContextLayerHistory(TypedDict):
    type: Literal["history"]


class ContextLayerHistory(_ContextLayerHistory, total=False):
    # Order of the layers, the lowest first; the order of the list unless set.
    slot: int
    # `min` is reserved for the layer, `max` is its limit. `auto` unless set: a share of the budget.
    tokens: Union[Literal["auto"], ContextLayerHistoryTokens2]
    # Maximum number of messages, the last ones; of a longer thread half as many at least, so that the first
    # one changes seldom; 20 unless set.
    n: int


ContextLayer = Union[
    "ContextLayerInstructions", "ContextLayerProfile", "ContextLayerFacts", "ContextLayerReflections",
    "ContextLayerProcedures", "ContextLayerEpisodes", "ContextLayerEntries", "ContextLayerSummary",
    "ContextLayerRecalled", "ContextLayerHistory",
]


# The provider that caches the prompt: it sets how long a cache lives after its last use. `anthropic` unless
# set.
Provider = Literal["google", "anthropic", "openai"]


class ContextRequest(TypedDict, total=False):
    # The user's message. Without it, layers that search are empty.
    query: str
    # The user's thread. The stable block holds for it, and the turn's block is kept with the message that it
    # was given for.
    threadId: str
    # In place of `threadId`: the user's latest thread with this agent. It begins if there is none, so the
    # token needs the scope `write`.
    thread: ContextRequestThread
    # The answer has so many of the thread's last messages; of a longer thread half as many at least, so that
    # the first one changes seldom. `messages` are then the ones behind them.
    history: int
    # Only memories of this scope.
    scope: str
    # Shared owners (`shared:…`) that the layers which search have too, as far as the token may read them.
    owners: List[str]
    # Maximum number of tokens of both blocks together; 2,000 unless set.
    budget: int
    # The parts of the blocks; the usual ones unless set.
    layers: List[ContextLayer]
    # A stored list of layers, in place of `layers`.
    profile: str
    # `xml` unless set.
    format: Literal["xml", "markdown", "json", "messages"]
    # Each item ends with where it is from: the id of its memory, `<threadId>:<seq>` of its message, or the
    # key of its entry.
    sources: bool
    # The first answer under this name is given again for an hour, whatever is written meanwhile.
    snapshot: str
    snapshotTtl: str
    # SHA-256 (hex) of the text of each of the user's messages in the prompt, in order, the last one that of
    # `query`. `pinned` of the answer has the blocks that the earlier ones were sent with; without `query`,
    # all of them.
    messages: List[str]
    provider: Provider
    # The lifetime that the provider is asked for. The stable block is renewed in a thread that was idle for
    # longer. The provider's default unless set: `5m` for anthropic, `1h` for openai and google.
    cacheTtl: str
    # How tokens are counted. `characters` unless set: four characters each. `o200k_base`: as OpenAI's models
    # do since GPT-4o.
    tokenizer: Literal["characters", "o200k_base"]
    # `auto` unless set: nothing is recalled for a query that nothing answers.
    answerable: Literal["auto", "strict", "off"]
    # Milliseconds since the epoch.
    referenceDate: int
    timeZone: str
    # The answer tells of each candidate why it is in or out.
    explain: bool


class ContextStable(TypedDict):
    """What does not depend on the query. Put it first: its bytes stay the same from turn to turn."""

    # For the prompt; empty if there is nothing.
    text: str
    tokens: int
    # Changes with the text of the block.
    etag: str


class ContextRecalled(TypedDict):
    """What belongs to this turn. Put it before the user's message."""

    # For the prompt; empty if there is nothing.
    text: str
    tokens: int


class ContextPinned(TypedDict):
    index: int
    text: str


_ContextHistoryCompactionRequired = TypedDict(
    "_ContextHistoryCompactionRequired",
    {"id": "str", "from": "int", "to": "int"},
)


class ContextHistoryCompaction(_ContextHistoryCompactionRequired):
    """For a summary: the messages that it replaces."""


class _ContextHistory(TypedDict):
    # Grows within the thread, from 1. No seq is used twice.
    seq: int
    message: Dict[str, Any]
    # Milliseconds since the epoch.
    createdAt: int


class ContextHistory(_ContextHistory, total=False):
    # For a summary: the messages that it replaces.
    compaction: ContextHistoryCompaction
    # The block that the message was sent with. Put it before the message's text.
    block: str


class ContextSection(TypedDict):
    layer: Literal[
        "instructions", "profile", "facts", "reflections", "procedures", "episodes", "entries", "summary",
        "recalled", "history", "changes",
    ]
    slot: int
    block: Literal["stable", "recalled", "messages"]
    tokens: int
    items: int
    # Items that were left out for the budget.
    dropped: int
    # Duration by the platform's clock, which advances only during I/O.
    ms: int
    status: Literal["ok", "late", "failed"]


class _ContextCandidate(TypedDict):
    layer: Literal[
        "instructions", "profile", "facts", "reflections", "procedures", "episodes", "entries", "summary",
        "recalled", "history", "changes",
    ]
    # Of the memory or the message; the key of an entry.
    id: str
    text: str
    # `known`: another layer, the prompt or an earlier turn has it.
    why: Literal["fits", "budget", "known"]


class ContextCandidate(_ContextCandidate, total=False):
    score: float


class _Context(TypedDict):
    # What does not depend on the query. Put it first: its bytes stay the same from turn to turn.
    stable: ContextStable
    # What belongs to this turn. Put it before the user's message.
    recalled: ContextRecalled
    sections: List[ContextSection]
    tokens: int
    etag: str


class Context(_Context, total=False):
    # With the format `messages`: the prompt, from the stable block to the user's message.
    messages: List[Dict[str, Any]]
    # With `messages`: the blocks of earlier messages, by their index in the list.
    pinned: List[ContextPinned]
    # With `thread`: the thread's id.
    threadId: str
    # With `history`: the thread's last messages, with summaries in place of what they cover.
    history: List[ContextHistory]
    # Names the block that is kept with the user's message.
    pin: str
    # Something that the provider has cached is different now: the stable block, or an earlier turn's.
    prefixChanged: Literal[True]
    # Names this answer for its outcome (`POST /v1/recalls/{id}/outcome`); absent without memories of the
    # user.
    recallId: str
    # Of the recall.
    confidence: float
    # Nothing that is stored answers the query.
    abstained: Literal[True]
    # With `explain`, unless the turn's block was kept before.
    candidates: List[ContextCandidate]


class ContextProfile(TypedDict):
    name: str
    layers: List[ContextLayer]


class ContextProfileList(TypedDict):
    items: List[ContextProfile]


class PutContextProfile(TypedDict):
    layers: List[ContextLayer]


ExtractKind = Literal["facts", "episodes", "procedures"]


class _ExtractedFact(TypedDict):
    subject: str
    predicate: str
    object: str
    # The messages that say it: their indexes in `messages` from 0, or with `threadId` their seqs.
    sources: List[int]


class ExtractedFact(_ExtractedFact, total=False):
    text: str
    # Milliseconds since the epoch.
    validFrom: int


class ExtractedEpisode(TypedDict):
    text: str
    # The messages that say it: their indexes in `messages` from 0, or with `threadId` their seqs.
    sources: List[int]


class ExtractedProcedure(TypedDict):
    title: str
    text: str
    # The messages that say it: their indexes in `messages` from 0, or with `threadId` their seqs.
    sources: List[int]


class Extracted(TypedDict, total=False):
    """Memories that your own model found. They pass the same checks as those of the deployment's, and its
    second look if it has a model. At most 1 MiB as JSON.
    """

    facts: List[ExtractedFact]
    episodes: List[ExtractedEpisode]
    procedures: List[ExtractedProcedure]


class Ingest(TypedDict, total=False):
    # A thread whose messages are stored already.
    threadId: str
    # A conversation, or the part of it that follows what was sent before. Messages that are stored already
    # are not stored again. The `role` says who speaks, in small letters: `user`, `assistant`, `system` or
    # `developer`; any other role counts as a tool. Only what a `user` says becomes a live fact.
    messages: List[Message]
    # Your own id of the conversation that `messages` belong to. Without it, a conversation continues the
    # stored one that it begins with.
    sessionId: str
    # The time of the messages, or a list with the time of each; now unless set. At most a day ahead.
    createdAt: Union[int, List[int]]
    # The scope of the extracted memories.
    scope: str
    # The names of the memory's owner, as the messages of users have them in `name` or `speaker`; compared
    # without case and width. The thread keeps the list until another one comes. Without a list, the only name
    # in a thread is the owner's if each message of a user has it. A message of a user without a name is the
    # owner's.
    owners: List[str]
    # `facts` and `episodes` unless set; nothing if `extracted` is set.
    extract: List[ExtractKind]
    extracted: Extracted
    # `background` unless set: answers once the messages are stored. `wait`: answers after the extraction, or
    # after 25 seconds.
    mode: Literal["background", "wait"]


class _IngestStarted(TypedDict):
    ingestId: str
    threadId: str
    # Number of messages that this call stored.
    stored: int
    # Number of messages that were stored before.
    known: int
    # `queued`: waits for its turn, another attempt or the quota. `running`: the extraction is under way.
    # `partial`: all messages are stored, and the extraction of some failed.
    status: Literal["queued", "running", "done", "partial"]


class IngestStarted(_IngestStarted, total=False):
    # As of the ingest, after the mode `wait`.
    why: str
    # Messages whose `role` no rule knows; absent if there is none.
    notes: List[MessageNote]


_IngestedFailedRequired = TypedDict(
    "_IngestedFailedRequired",
    {"kinds": "List[ExtractKind]", "from": "int", "to": "int", "why": "str"},
)


class IngestedFailed(_IngestedFailedRequired):
    pass


class IngestedMessages(TypedDict):
    # Number of messages that this call stored.
    stored: int
    # Number of messages that were stored before.
    known: int
    # The extraction has come up to this seq, with the messages of `failed`. The episode of a session that
    # goes on is made by itself later.
    extracted: int
    # The last seq to extract.
    last: int


class _IngestResult(TypedDict):
    kind: MemoryKind
    # `updated`: a stored memory says it now in place of something else, which its history has. `known`: a
    # stored memory says it already. `quarantined`: kept for review. `failed`: not stored.
    outcome: Literal["created", "updated", "known", "quarantined", "failed"]
    # The seqs of the messages that say it.
    sources: List[int]


class IngestResult(_IngestResult, total=False):
    memoryId: str
    # Why it is quarantined, or failed.
    reasons: List[str]
    # Ids of the facts that it ended. Its own id: the object before it.
    superseded: List[str]


class IngestedUsage(TypedDict):
    calls: int
    inputTokens: int
    outputTokens: int


class _Ingested(TypedDict):
    # `<userHash>.<uuid v7>`
    id: str
    # `queued`: waits for its turn, another attempt or the quota. `running`: the extraction is under way.
    # `partial`: all messages are stored, and the extraction of some failed.
    status: Literal["queued", "running", "done", "partial"]
    threadId: str
    extract: List[ExtractKind]
    # The model that extracts; null: none is bound.
    model: Optional[str]
    messages: IngestedMessages
    # The first 1000 memories.
    results: List[IngestResult]
    # Number of results by outcome.
    counts: Dict[str, int]
    usage: IngestedUsage
    # Milliseconds since the epoch.
    createdAt: int


class Ingested(_Ingested, total=False):
    # The ingest that makes the episode of the session that goes on. It is gone once a later ingest of the
    # thread has taken it over.
    followUp: str
    # The reason of `partial`, or of waiting: `model_failed`, `model_late`, `model_misconfigured`,
    # `model_refused` (it does not take some of the messages), `invalid_answer` (twice), `changed` (a message,
    # each time that the model had looked at it), `quota`, `tenant_quota`, `model_daily_limit`, `storage`,
    # `thread_deleted`, `internal_error`, `session` (it goes on).
    why: str
    # Messages of which these kinds could not be extracted, from a seq to another. A retry tries them again.
    failed: List[IngestedFailed]
    # Milliseconds since the epoch.
    finishedAt: int


class _NamedPredicateRule(TypedDict):
    # Without regard to case, width and extra spaces.
    predicate: str
    # `one`: a subject has one such fact at a time, as of `lives in`. `many`: several, as of `likes` and of
    # every predicate that no table knows.
    cardinality: Literal["one", "many"]
    # What happens to a fact that contradicts a stored one. `highestTrust`: it supersedes it, or waits in
    # quarantine if the stored one has a higher trust. `lastWriter`: it supersedes it. `keepAll`: both are
    # true. `reject`: it is refused with 409.
    policy: Literal["highestTrust", "lastWriter", "keepAll", "reject"]


class NamedPredicateRule(_NamedPredicateRule, total=False):
    # Predicates that say the opposite of an object, as `hates` does of `likes`. A fact of one ends the fact
    # of the other with the same subject and object. The rule of either names the pair.
    opposites: List[str]


class PredicateRuleList(TypedDict):
    items: List[NamedPredicateRule]


class PredicateRuleBody(TypedDict, total=False):
    """The default of the predicate holds for what is not set. A policy does not change the cardinality: facts
    of many contradict only their opposites.
    """

    # `one`: a subject has one such fact at a time, as of `lives in`. `many`: several, as of `likes` and of
    # every predicate that no table knows.
    cardinality: Literal["one", "many"]
    # What happens to a fact that contradicts a stored one. `highestTrust`: it supersedes it, or waits in
    # quarantine if the stored one has a higher trust. `lastWriter`: it supersedes it. `keepAll`: both are
    # true. `reject`: it is refused with 409.
    policy: Literal["highestTrust", "lastWriter", "keepAll", "reject"]
    # Predicates that say the opposite of an object, as `hates` does of `likes`. A fact of one ends the fact
    # of the other with the same subject and object. The rule of either names the pair.
    opposites: List[str]


class ExtractionRule(TypedDict, total=False):
    # Of ingests with this scope; of all unless set.
    scope: str
    # Of threads of this agent; of all unless set.
    agent: str
    # Topics: the model is told to extract what is about one of these only.
    keep: List[str]
    # Topics: the model is told to leave out all that is about one of these.
    leaveOut: List[str]
    # Appended to the prompt of the extraction.
    prompt: str


_RedactionRuleRequired = TypedDict(
    "_RedactionRuleRequired",
    {"pattern": "str"},
)


_RedactionRuleOptional = TypedDict(
    "_RedactionRuleOptional",
    {"as": "str"}, total=False,
)


class RedactionRule(_RedactionRuleRequired, _RedactionRuleOptional):
    pass


class Extraction(TypedDict, total=False):
    # The rule with the scope and the agent of an ingest holds, else that with the scope, else that with the
    # agent, else that without either.
    rules: List[ExtractionRule]
    # Applied, one after another, to each text that a call sends, before anything is stored.
    redact: List[RedactionRule]


class ExtractionBody(TypedDict, total=False):
    # The rule with the scope and the agent of an ingest holds, else that with the scope, else that with the
    # agent, else that without either.
    rules: List[ExtractionRule]
    # Applied, one after another, to each text that a call sends, before anything is stored.
    redact: List[RedactionRule]


class _RetentionRule(TypedDict):
    # Memories that did not change for so long are deleted.
    keep: str


class RetentionRule(_RetentionRule, total=False):
    kind: MemoryKind
    # All memories, with a scope or without, unless set.
    scope: str
    trust: Trust
    # Only memories with the tag `pinned`, which a rule leaves out unless this is set.
    pinned: Literal[True]


class Retention(TypedDict, total=False):
    # Messages that are older are deleted, and a thread that nobody changed for so long.
    messages: str
    # A memory goes by each rule that covers it, so the shortest one wins.
    memories: List[RetentionRule]


class RetentionCounts(TypedDict):
    """Of a dry run: what these rules would delete of `users` users."""

    # Threads that go as a whole.
    threads: int
    # Messages, those of such threads included.
    messages: int
    memories: int


class _TenantRetention(TypedDict):
    rules: Retention
    # `running`: the cron still tells the users of the rules, 500 at a time.
    status: Literal["none", "running", "done"]
    # How many users know the rules; or are counted in `due`.
    users: int


class TenantRetention(_TenantRetention, total=False):
    due: RetentionCounts
    # Of a dry run: send it with the same rules to count the next users.
    cursor: str


class RetentionBody(TypedDict, total=False):
    # Messages that are older are deleted, and a thread that nobody changed for so long.
    messages: str
    # A memory goes by each rule that covers it, so the shortest one wins.
    memories: List[RetentionRule]


class UserRetentionLast(TypedDict):
    """The last deletion."""

    # Milliseconds since the epoch.
    at: int
    # Threads that go as a whole.
    threads: int
    # Messages, those of such threads included.
    messages: int
    memories: int


class _UserRetention(TypedDict):
    own: Retention
    tenant: Retention
    due: RetentionCounts


class UserRetention(_UserRetention, total=False):
    # When it is deleted, or looked for again.
    nextAt: int
    # The last deletion.
    last: UserRetentionLast


class _RestoreBody(TypedDict):
    # The time to set the user back to: one of the last 30 days, in milliseconds.
    at: int


class RestoreBody(_RestoreBody, total=False):
    # Only lists what is lost and what comes back; `true` unless set.
    dryRun: bool


class RestoreLost(TypedDict):
    """What goes."""

    # Threads that began since.
    threads: int
    # Messages with a text since.
    messages: int
    # Memories that were stored, and corrections, since.
    memoryVersions: int
    # Entries that were set since, and are there.
    entries: int


class RestoreBack(TypedDict):
    """What was deleted since, and comes back."""

    threads: int
    memories: int


class Restore(TypedDict):
    # Milliseconds since the epoch.
    at: int
    # `running`: the user is set back, and the database follows. The cron goes on; the same call, too.
    status: Literal["dryRun", "running", "done"]
    # What goes.
    lost: RestoreLost
    # What was deleted since, and comes back.
    back: RestoreBack


class RecallOutcome(TypedDict, total=False):
    # The ids of the memories that the answer used.
    used: List[str]
    # The model's answer. Without `used`, it tells which memories were likely used. It is not stored.
    answer: str


class CountedOutcome(TypedDict):
    used: List[str]
    # Memories whose words the answer has.
    usedLikely: List[str]


class _MemoryUsage(TypedDict):
    memoryId: str
    # Number of recalls that returned it.
    recalled: int
    # Number of contexts that showed it.
    injected: int
    used: int
    usedLikely: int


class MemoryUsage(_MemoryUsage, total=False):
    # The last recall or context.
    lastRecalledAt: int
    # The last time that it was, or was likely, used.
    lastUsedAt: int


class _MemoryUsageList(TypedDict):
    items: List[MemoryUsage]


class MemoryUsageList(_MemoryUsageList, total=False):
    cursor: str


class TenantStatisticsMemory(TypedDict):
    # Start of the day (UTC).
    day: int
    count: int
    # Of so many users.
    users: int


class TenantStatisticsThread(TypedDict):
    # Start of the day (UTC).
    day: int
    count: int
    # Of so many users.
    users: int


class TenantStatisticsRecall(TypedDict):
    # Start of the hour.
    hour: int
    calls: int
    # Answers that said: nothing fits.
    abstained: int
    # Answers of which an arm failed or was late.
    degraded: int
    # Half of the calls took at most so many milliseconds.
    p50: int
    p95: int


class TenantStatistics(TypedDict):
    # Users with data.
    users: int
    # When users, memories and threads were counted: now, or, of more than 5,000 memories and threads, up to
    # six hours ago: the cron counts. Where it does not run, a call renews a count that is a day old, for the
    # next one.
    countedAt: int
    # Memories that there are, in quarantine too, by the day of their creation.
    memories: List[TenantStatisticsMemory]
    # Threads that there are, by the day of their creation.
    threads: List[TenantStatisticsThread]
    # By the hour, for 90 days. Times are rounded up by a fifth at most. The last calls before an isolate ends
    # may be missing.
    recalls: List[TenantStatisticsRecall]


class UserSummaryDocuments(TypedDict):
    """Messages with text and versions of memories; `pending` ones have no vector yet."""

    indexed: int
    pending: int


class _UserSummaryIngest(TypedDict):
    # `<userHash>.<uuid v7>`
    id: str
    threadId: str
    # `queued`: waits for its turn, another attempt or the quota. `running`: the extraction is under way.
    # `partial`: all messages are stored, and the extraction of some failed.
    status: Literal["queued", "running", "done", "partial"]
    # Milliseconds since the epoch.
    createdAt: int


class UserSummaryIngest(_UserSummaryIngest, total=False):
    # The reason of `partial`, or of waiting: `model_failed`, `model_late`, `model_misconfigured`,
    # `model_refused` (it does not take some of the messages), `invalid_answer` (twice), `changed` (a message,
    # each time that the model had looked at it), `quota`, `tenant_quota`, `model_daily_limit`, `storage`,
    # `thread_deleted`, `internal_error`, `session` (it goes on).
    why: str


class _UserSummaryQuarantine(TypedDict):
    # Memories that wait for somebody to release or reject them.
    waiting: int
    # Memories that have waited too long. Each is listed for a day, and then deleted.
    expired: int


class UserSummaryQuarantine(_UserSummaryQuarantine, total=False):
    """Reads a row of an index for each of these memories."""

    # When the next one that waits expires.
    nextExpiry: int


class _UserSummaryWebhook(TypedDict):
    behind: bool
    failures: int


class UserSummaryWebhook(_UserSummaryWebhook, total=False):
    """If the tenant has a webhook. `behind`: its receiver lacks changes of this user. `failures`: since the
    last success. `nextAt`: the next attempt; absent while the user waits for a receiver that is away.
    """

    # Milliseconds since the epoch.
    nextAt: int


class _UserSummary(TypedDict):
    # Bytes of the user's object.
    bytes: int
    memories: int
    threads: int
    entries: int
    # Messages with text and versions of memories; `pending` ones have no vector yet.
    documents: UserSummaryDocuments
    # Those under way, and those of a week that ended as `partial`; 50 at most.
    ingests: List[UserSummaryIngest]
    # Reads a row of an index for each of these memories.
    quarantine: UserSummaryQuarantine


class UserSummary(_UserSummary, total=False):
    # If the tenant has a webhook. `behind`: its receiver lacks changes of this user. `failures`: since the
    # last success. `nextAt`: the next attempt; absent while the user waits for a receiver that is away.
    webhook: UserSummaryWebhook


class ChangeMemory(TypedDict):
    type: Literal["memory"]
    id: str
    version: int
    kind: MemoryKind
    status: MemoryStatus
    # Milliseconds since the epoch.
    at: int


class ChangeMemoriesForgotten(TypedDict):
    type: Literal["memoriesForgotten"]
    # Null: all memories.
    ids: Optional[List[str]]
    # Milliseconds since the epoch.
    at: int


class ChangeThread(TypedDict):
    type: Literal["thread"]
    id: str
    length: int
    # Milliseconds since the epoch.
    at: int


class ChangeThreadsDeleted(TypedDict):
    type: Literal["threadsDeleted"]
    ids: Optional[List[str]]
    # Milliseconds since the epoch.
    at: int


class ChangeErasure(TypedDict):
    type: Literal["erasure"]
    id: str
    # Milliseconds since the epoch.
    at: int


Change = Union[
    "ChangeMemory", "ChangeMemoriesForgotten", "ChangeThread", "ChangeThreadsDeleted", "ChangeErasure",
]


class _Changes(TypedDict):
    items: List[Change]
    # The `after` of the next call.
    version: str
    # True if more changes are stored already.
    more: bool


class Changes(_Changes, total=False):
    # `after` is of no use any more: the user was erased or set back, or 30 days have passed. Drop what you
    # hold; the items are from the beginning.
    reset: Literal[True]


class WebhookResumed(TypedDict):
    # Users with changes that wait for the receiver.
    waiting: int


class _ErasureOf(TypedDict):
    what: Literal["user", "thread", "scope"]


class ErasureOf(_ErasureOf, total=False):
    threadId: str
    scopeHash: str


class _ErasureStep(TypedDict):
    # `object`: the user's Durable Object. `memories`, `threads`, `users`, `signIns`: tables of D1. `vectors`:
    # Vectorize, if the deployment has it.
    store: Literal["object", "memories", "threads", "users", "signIns", "vectors"]
    # `done`: read back and found empty.
    state: Literal["open", "done"]
    # Number of rows by type.
    erased: Dict[str, int]
    # Number of failures since the last progress.
    attempts: int


class ErasureStep(_ErasureStep, total=False):
    # Messages of the thread that stay: in its forks, and in the thread it was forked from.
    kept: Dict[str, int]
    lastError: str


class _Erasure(TypedDict):
    # `<userHash>.<uuid v7>`; also the `jti` of the receipt.
    id: str
    status: Literal["running", "done"]
    of: ErasureOf
    # Milliseconds since the epoch.
    requestedAt: int
    steps: List[ErasureStep]


class Erasure(_Erasure, total=False):
    # Milliseconds since the epoch.
    finishedAt: int
    # A compact JWS (EdDSA), once the erasure is done. The keys of /.well-known/jwks.json verify it.
    receipt: str


class Erase(TypedDict, total=False):
    threadId: str
    scope: str


class ImportedImported(TypedDict, total=False):
    """Number of lines by type."""

    threads: int
    messages: int
    compactions: int
    entries: int
    memoryVersions: int


class ImportedThere(TypedDict, total=False):
    """Lines that were stored already, and stay unchanged."""

    threads: int
    messages: int
    compactions: int
    entries: int
    memoryVersions: int


class ImportedExpired(TypedDict, total=False):
    """Number of lines by type."""

    threads: int
    messages: int
    compactions: int
    entries: int
    memoryVersions: int


class ImportedLeftOut(TypedDict, total=False):
    """Lines that were not imported: of threads that existed before, or were deleted since. If there are any,
    the user does not have everything in the export.
    """

    threads: int
    messages: int
    compactions: int
    entries: int
    memoryVersions: int


_ImportedThreadIdsRequired = TypedDict(
    "_ImportedThreadIdsRequired",
    {"from": "str", "to": "str"},
)


class ImportedThreadIds(_ImportedThreadIdsRequired):
    """For an import to another user: the part before the `.` in each thread id changes."""


class _Imported(TypedDict):
    # Number of lines read.
    lines: int
    # True if the last line of an export was among them: always, except for a part.
    complete: bool
    # Number of lines by type.
    imported: ImportedImported
    # Lines that were stored already, and stay unchanged.
    there: ImportedThere
    # Number of lines by type.
    expired: ImportedExpired
    # Lines that were not imported: of threads that existed before, or were deleted since. If there are any,
    # the user does not have everything in the export.
    leftOut: ImportedLeftOut


class Imported(_Imported, total=False):
    # For an import to another user: the part before the `.` in each thread id changes.
    threadIds: ImportedThreadIds


class UserListItem(TypedDict):
    userId: str
    userHash: str


class _UserList(TypedDict):
    items: List[UserListItem]


class UserList(_UserList, total=False):
    cursor: str


class ReindexVectorize(TypedDict):
    """Vectors that Vectorize, if bound, does not show yet, or still shows."""

    put: int
    remove: int


class _Reindex(TypedDict):
    status: Literal["none", "running", "done"]
    # Versions of memories read from the record so far.
    versions: int
    # Documents that wait for a vector of the current model.
    pending: int


class Reindex(_Reindex, total=False):
    # Vectors that Vectorize, if bound, does not show yet, or still shows.
    vectorize: ReindexVectorize
    # Milliseconds since the epoch.
    startedAt: int
    # Milliseconds since the epoch.
    finishedAt: int


class _TenantReindex(TypedDict):
    status: Literal["none", "running", "done"]
    # Users whose reindex has begun so far.
    owners: int


class TenantReindex(_TenantReindex, total=False):
    # Milliseconds since the epoch.
    startedAt: int
    # Milliseconds since the epoch.
    finishedAt: int


class _RegistryKeysItem(TypedDict):
    key: str


class RegistryKeysItem(_RegistryKeysItem, total=False):
    # Of the value; absent if there is none yet.
    version: str
    # Milliseconds since the epoch.
    updatedAt: int
    # Milliseconds since the epoch.
    expiresAt: int
    # Somebody creates the value, and has until then.
    leaseUntil: int


class _RegistryKeys(TypedDict):
    items: List[RegistryKeysItem]


class RegistryKeys(_RegistryKeys, total=False):
    cursor: str


class _LeaseRequest(TypedDict):
    # Time to create the value, in milliseconds.
    leaseMs: int


class LeaseRequest(_LeaseRequest, total=False):
    # Time to wait while another caller creates it, in milliseconds; 0 unless set.
    waitMs: int


class _LeaseAnswerHit(TypedDict):
    status: Literal["hit"]
    value: EntryValue
    version: str


class LeaseAnswerHit(_LeaseAnswerHit, total=False):
    # Milliseconds since the epoch.
    expiresAt: int


class Lease(TypedDict):
    id: str
    # Milliseconds since the epoch.
    expiresAt: int


class LeaseAnswerLease(TypedDict):
    status: Literal["lease"]
    lease: Lease


class LeaseAnswerWait(TypedDict):
    status: Literal["wait"]
    # When the other caller's lease ends. The value may come earlier.
    retryAfterMs: int


LeaseAnswer = Union["LeaseAnswerHit", "LeaseAnswerLease", "LeaseAnswerWait"]


class _ResolvePromptCache(TypedDict):
    provider: Provider
    model: str


class ResolvePromptCache(_ResolvePromptCache, total=False):
    # The regions to cache, in the order of the prompt. Cairn hashes them.
    regions: List[Any]
    # Your own hash of the regions, instead of `regions`.
    hash: str
    # Time that the provider keeps the resource.
    ttl: str
    # Minimum size that the provider caches.
    minTokens: int
    # An estimate of the regions' size.
    tokens: int
    # Time to create the resource, in milliseconds; 60,000 unless set.
    leaseMs: int
    # Time to wait while another caller creates it, in milliseconds; 0 unless set.
    waitMs: int


class ResolvedPromptCacheHit(TypedDict):
    """Use this resource. It lives for at least 30 s."""

    status: Literal["hit"]
    # Key for `/v1/cache/{key}`, where the resource is stored.
    key: str
    # The provider's resource.
    name: str
    # Milliseconds since the epoch.
    expiresAt: int
    version: str


class _ResolvedPromptCacheCreate(TypedDict):
    status: Literal["create"]
    # Key for `/v1/cache/{key}`, where the resource is stored.
    key: str
    lease: Lease


class ResolvedPromptCacheCreate(_ResolvedPromptCacheCreate, total=False):
    """Create the resource, then call `PUT /v1/cache/{key}?lease={id}&ttlSeconds=…` with `{ name, expiresAt
    }`.
    """

    # `ttl` in seconds, for the PUT.
    ttlSeconds: int


class ResolvedPromptCacheWait(TypedDict):
    status: Literal["wait"]
    # Key for `/v1/cache/{key}`, where the resource is stored.
    key: str
    # When the other caller's lease ends. The value may come earlier.
    retryAfterMs: int


class _ResolvedPromptCacheTooSmall(TypedDict):
    status: Literal["too-small"]


class ResolvedPromptCacheTooSmall(_ResolvedPromptCacheTooSmall, total=False):
    """The provider does not cache a prompt this short. Valid until `expiresAt`."""

    # Milliseconds since the epoch.
    expiresAt: int


class _ResolvedPromptCacheStateless5Breakpoint(TypedDict):
    # Index of the last region of the prefix.
    index: int
    prefixHash: str
    # Sent within the provider's cache lifetime.
    likelyWarm: bool


class ResolvedPromptCacheStateless5Breakpoint(_ResolvedPromptCacheStateless5Breakpoint, total=False):
    # Milliseconds since the epoch.
    lastUsedAt: int
    # Milliseconds since the epoch.
    expiresAt: int


class ResolvedPromptCacheStateless5(TypedDict):
    """anthropic: nothing to create. One breakpoint per prefix, warm or cold."""

    status: Literal["stateless"]
    breakpoints: List[ResolvedPromptCacheStateless5Breakpoint]


class ResolvedPromptCacheStateless6(TypedDict):
    """openai: nothing to create. The `prompt_cache_key` for the request."""

    status: Literal["stateless"]
    promptCacheKey: str


ResolvedPromptCache = Union[
    "ResolvedPromptCacheHit", "ResolvedPromptCacheCreate", "ResolvedPromptCacheWait",
    "ResolvedPromptCacheTooSmall", "ResolvedPromptCacheStateless5", "ResolvedPromptCacheStateless6",
]


class _ReportUsage(TypedDict):
    provider: Provider
    model: str
    cachedInputTokens: int
    uncachedInputTokens: int


class ReportUsage(_ReportUsage, total=False):
    # Time of the call; now unless set.
    at: int


class PromptCacheStatsItem(TypedDict):
    provider: Provider
    model: str
    # Start of the hour.
    hour: int
    calls: int
    cachedInputTokens: int
    uncachedInputTokens: int
    # Share of the input that came from a cache.
    hitRate: float


class PromptCacheStatsTotal(TypedDict):
    """For the whole range, not for the page."""

    calls: int
    cachedInputTokens: int
    uncachedInputTokens: int
    # Share of the input that came from a cache.
    hitRate: float
    # Input tokens that were not processed again.
    tokensSaved: int


class _PromptCacheStats(TypedDict):
    items: List[PromptCacheStatsItem]
    # For the whole range, not for the page.
    total: PromptCacheStatsTotal


class PromptCacheStats(_PromptCacheStats, total=False):
    cursor: str


class RevokedToken(TypedDict):
    # The token's `jti`.
    tokenId: str
    # Milliseconds since the epoch.
    expiresAt: int
    # Milliseconds since the epoch.
    revokedAt: int


class _Revocations(TypedDict):
    items: List[RevokedToken]


class Revocations(_Revocations, total=False):
    # Milliseconds since the epoch.
    minIssuedAt: int
    cursor: str


class MinIssuedAtBody(TypedDict):
    # Tokens issued (`iat`) before this time are refused. The time is not in the future.
    minIssuedAt: int


class MinIssuedAt(TypedDict):
    # Milliseconds since the epoch.
    minIssuedAt: int


class RevokeTokenBody(TypedDict, total=False):
    # End of the revocation: the token's own expiry (`exp`, in milliseconds) or later; 10 years from now
    # unless set.
    expiresAt: int


class _SignInApp(TypedDict):
    id: str
    name: str
    redirectHost: str


class SignInApp(_SignInApp, total=False):
    """The app that the person allowed."""

    # The domain that describes the app. Without one, it gave its name itself.
    domain: str


class SignIn(TypedDict):
    # The id of a sign-in. `PUT /v1/revocations/tokens/{tokenId}` takes it too.
    id: str
    # The app that the person allowed.
    app: SignInApp
    scopes: List[str]
    # Milliseconds since the epoch.
    createdAt: int
    # Milliseconds since the epoch.
    expiresAt: int


class SignIns(TypedDict):
    items: List[SignIn]


class SignInCode(TypedDict):
    # The person enters it where the app asks for it.
    code: str
    # Milliseconds since the epoch.
    expiresAt: int


class _AuditedEvent(TypedDict):
    id: str
    # Milliseconds since the epoch.
    at: int
    action: str
    # `ok`, or the code of the error.
    outcome: str
    # 1; or the number of equal refusals in one minute in one isolate, at least half of the true count; or of
    # memories whose wait in quarantine ended.
    count: int


class AuditedEvent(_AuditedEvent, total=False):
    # Hash of the token's user, or `*`. Absent without a valid token.
    actor: str
    # The token's `jti`.
    tokenId: str
    # Hash of the memory's owner, the first part of a thread id. Absent for a call about no user.
    userHash: str
    # The last request, where `count` is more than 1.
    requestId: str
    # The revoked token, or the time that was set; `dryRun` for a call that changes nothing; the decision of a
    # review.
    about: str


class _AuditEvents(TypedDict):
    items: List[AuditedEvent]


class AuditEvents(_AuditEvents, total=False):
    cursor: str

class Cairn(_Transport):
    __doc__ = _Transport.__doc__

    def get_health(self) -> Health:
        """Get the state of the deployment.

        GET /health
        """
        return self.request("GET", ["health"], repeatable=True)

    def get_receipt_keys(self) -> JsonWebKeys:
        """The public keys that verify receipts.

        GET /.well-known/jwks.json
        """
        return self.request("GET", [".well-known", "jwks.json"], repeatable=True)

    def list_entries(
        self, user: str, *, prefix: Optional[str] = None, values: Optional[bool] = None,
        count: Optional[bool] = None, limit: Optional[int] = None, cursor: Optional[str] = None,
    ) -> EntryList:
        """List entries by prefix, in byte order of their keys.

        GET /v1/users/{user}/kv

        prefix: Literal prefix, without wildcards.
        values: `true` includes the values.
        count: `true` counts all live entries under the prefix. The count reads each key.
        limit: Items per page; 100 unless set.
        cursor: From the previous answer. The last page has none.
        """
        query = {"prefix": prefix, "values": values, "count": count, "limit": limit, "cursor": cursor}
        return self.request("GET", ["v1", "users", user, "kv"], query=query, repeatable=True)

    def iter_entries(
        self, user: str, *, prefix: Optional[str] = None, values: Optional[bool] = None,
        count: Optional[bool] = None, limit: Optional[int] = None,
    ) -> Iterator[EntryListItem]:
        """Go through the items of all pages of `list_entries`.

        GET /v1/users/{user}/kv
        """
        return self._items(lambda cursor: self.list_entries(
            user, prefix=prefix, values=values, count=count, limit=limit, cursor=cursor,
        ))

    def delete_entries(self, user: str, *, prefix: str) -> DeletedEntries:
        """Delete all entries under a prefix.

        DELETE /v1/users/{user}/kv

        prefix: Literal prefix, without wildcards.
        """
        query = {"prefix": prefix}
        return self.request("DELETE", ["v1", "users", user, "kv"], query=query, repeatable=True)

    def batch_entries(
        self, user: str, body: EntryBatch, *, idempotency_key: Optional[str] = None,
    ) -> EntryBatchAnswer:
        """Get, set and delete many entries in one atomic step, beside messages of threads.

        POST /v1/users/{user}/kv/batch

        idempotency_key: A repeated request with the same key returns the first answer, for 24 hours.
        """
        headers = {"idempotency-key": idempotency_key}
        return self.request(
            "POST", ["v1", "users", user, "kv", "batch"], headers=headers, body=body,
            repeatable=idempotency_key is not None,
        )

    def get_entry(
        self, user: str, key: str, *, if_match: Optional[str] = None, if_none_match: Optional[str] = None,
    ) -> Optional[EntryValue]:
        """Get an entry's value.

        GET /v1/users/{user}/kv/{key}

        if_match: `*` or a list of versions, as `"v1"`: else 412.
        if_none_match: `*` to create only, or a list of versions: else 412 (304 for a GET).
        """
        headers = {"if-match": _version(if_match), "if-none-match": _version(if_none_match)}
        return self.request("GET", ["v1", "users", user, "kv", key], headers=headers, repeatable=True)

    def set_entry(
        self, user: str, key: str, value: Any, *, ttl_ms: Optional[int] = None,
        refresh_on_read: Optional[bool] = None, if_match: Optional[str] = None,
        if_none_match: Optional[str] = None,
    ) -> WrittenEntry:
        """Set an entry: its value and its expiry.

        PUT /v1/users/{user}/kv/{key}

        ttl_ms: Time to live in milliseconds; no end unless set.
        refresh_on_read: `true`: every read restarts the time to live.
        if_match: `*` or a list of versions, as `"v1"`: else 412.
        if_none_match: `*` to create only, or a list of versions: else 412 (304 for a GET).
        """
        query = {"ttlMs": ttl_ms, "refreshOnRead": refresh_on_read}
        headers = {"if-match": _version(if_match), "if-none-match": _version(if_none_match)}
        return self.request(
            "PUT", ["v1", "users", user, "kv", key], query=query, headers=headers, body=value,
            repeatable=if_match is None and if_none_match is None,
        )

    def delete_entry(
        self, user: str, key: str, *, if_match: Optional[str] = None, if_none_match: Optional[str] = None,
    ) -> None:
        """Delete an entry.

        DELETE /v1/users/{user}/kv/{key}

        if_match: `*` or a list of versions, as `"v1"`: else 412.
        if_none_match: `*` to create only, or a list of versions: else 412 (304 for a GET).
        """
        headers = {"if-match": _version(if_match), "if-none-match": _version(if_none_match)}
        self.request(
            "DELETE", ["v1", "users", user, "kv", key], headers=headers,
            repeatable=if_match is None and if_none_match is None,
        )

    def create_thread(
        self, user: str, body: Optional[CreateThread] = None, *, idempotency_key: Optional[str] = None,
    ) -> Thread:
        """Create a thread.

        POST /v1/users/{user}/threads

        idempotency_key: A repeated request with the same key returns the first answer, for 24 hours.
        """
        headers = {"idempotency-key": idempotency_key or uuid.uuid4().hex}
        return self.request(
            "POST", ["v1", "users", user, "threads"], headers=headers, body=_ABSENT if body is None else body,
            repeatable=True,
        )

    def list_threads(
        self, user: str, *, agent: Optional[str] = None,
        order: Optional[Literal["updated", "created"]] = None, limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> ThreadList:
        """List a user's threads, the latest update first.

        GET /v1/users/{user}/threads

        order: `updated` (unless set): last updated first. `created`: last created first. No update disturbs
            the second order, so its pages are complete.
        limit: Items per page; 50 unless set.
        cursor: From the previous answer. The last page has none.
        """
        query = {"agent": agent, "order": order, "limit": limit, "cursor": cursor}
        return self.request("GET", ["v1", "users", user, "threads"], query=query, repeatable=True)

    def iter_threads(
        self, user: str, *, agent: Optional[str] = None,
        order: Optional[Literal["updated", "created"]] = None, limit: Optional[int] = None,
    ) -> Iterator[Thread]:
        """Go through the items of all pages of `list_threads`.

        GET /v1/users/{user}/threads
        """
        return self._items(lambda cursor: self.list_threads(
            user, agent=agent, order=order, limit=limit, cursor=cursor,
        ))

    def create_thread_for_nobody(
        self, body: Optional[CreateThread] = None, *, idempotency_key: Optional[str] = None,
    ) -> Thread:
        """Create a thread without a user.

        POST /v1/threads

        idempotency_key: A repeated request with the same key returns the first answer, for 24 hours.
        """
        headers = {"idempotency-key": idempotency_key or uuid.uuid4().hex}
        return self.request(
            "POST", ["v1", "threads"], headers=headers, body=_ABSENT if body is None else body,
            repeatable=True,
        )

    def list_all_threads(
        self, *, agent: Optional[str] = None, limit: Optional[int] = None, cursor: Optional[str] = None,
    ) -> CataloguedThreadList:
        """List the threads of all users, the newest first.

        GET /v1/threads

        limit: Items per page; 50 unless set.
        cursor: From the previous answer. The last page has none.
        """
        query = {"agent": agent, "limit": limit, "cursor": cursor}
        return self.request("GET", ["v1", "threads"], query=query, repeatable=True)

    def iter_all_threads(
        self, *, agent: Optional[str] = None, limit: Optional[int] = None,
    ) -> Iterator[CataloguedThread]:
        """Go through the items of all pages of `list_all_threads`.

        GET /v1/threads
        """
        return self._items(lambda cursor: self.list_all_threads(agent=agent, limit=limit, cursor=cursor))

    def resume_thread(self, user: str, body: Optional[CreateThread] = None) -> Thread:
        """Get the latest thread of an agent, or create one, in one step.

        POST /v1/users/{user}/threads/resume
        """
        return self.request(
            "POST", ["v1", "users", user, "threads", "resume"], body=_ABSENT if body is None else body,
            repeatable=True,
        )

    def get_thread(self, id: str) -> Thread:
        """Get a thread.

        GET /v1/threads/{id}
        """
        return self.request("GET", ["v1", "threads", id], repeatable=True)

    def update_thread(self, id: str, body: PatchThread) -> Thread:
        """Change the title and metadata of a thread.

        PATCH /v1/threads/{id}
        """
        return self.request("PATCH", ["v1", "threads", id], body=body, repeatable=False)

    def delete_thread(self, id: str) -> None:
        """Delete a thread with its messages.

        DELETE /v1/threads/{id}
        """
        self.request("DELETE", ["v1", "threads", id], repeatable=True)

    def fork_thread(
        self, id: str, body: Optional[Fork] = None, *, idempotency_key: Optional[str] = None,
    ) -> Thread:
        """Fork a thread at a message.

        POST /v1/threads/{id}/fork

        idempotency_key: A repeated request with the same key returns the first answer, for 24 hours.
        """
        headers = {"idempotency-key": idempotency_key or uuid.uuid4().hex}
        return self.request(
            "POST", ["v1", "threads", id, "fork"], headers=headers, body=_ABSENT if body is None else body,
            repeatable=True,
        )

    def append_messages(self, id: str, body: Append, *, idempotency_key: Optional[str] = None) -> Appended:
        """Append messages, all or none.

        POST /v1/threads/{id}/messages

        idempotency_key: A repeated request with the same key returns the first answer, for 24 hours.
        """
        headers = {"idempotency-key": idempotency_key or uuid.uuid4().hex}
        return self.request(
            "POST", ["v1", "threads", id, "messages"], headers=headers, body=body, repeatable=True,
        )

    def list_messages(
        self, id: str, *, order: Optional[Literal["newest", "oldest"]] = None, before: Optional[int] = None,
        after: Optional[int] = None,
        view: Optional[Literal["raw", "sanitized", "compacted", "prompted"]] = None,
        limit: Optional[int] = None, cursor: Optional[str] = None,
    ) -> MessageList:
        """List messages.

        GET /v1/threads/{id}/messages

        order: `newest` (unless set): the last `limit` messages; the cursor leads to earlier ones. `oldest`:
            from the first message on. A page always has the order of the conversation.
        before: Only messages before this seq; goes with `newest`.
        after: Only messages after this seq; goes with `oldest`.
        view: `raw` unless set. `sanitized`: without what model providers refuse, such as incomplete tool
            turns and empty messages. `compacted`: summaries replace the messages they cover. `prompted`:
            compacted and sanitized, each message of the user with the block of memory that it was sent with.
        limit: Items per page; 50 unless set.
        cursor: From the previous answer. The last page has none.
        """
        query = {
            "order": order, "before": before, "after": after, "view": view, "limit": limit, "cursor": cursor,
        }
        return self.request("GET", ["v1", "threads", id, "messages"], query=query, repeatable=True)

    def iter_messages(
        self, id: str, *, order: Optional[Literal["newest", "oldest"]] = None, before: Optional[int] = None,
        after: Optional[int] = None,
        view: Optional[Literal["raw", "sanitized", "compacted", "prompted"]] = None,
        limit: Optional[int] = None,
    ) -> Iterator[MessageListItem]:
        """Go through the items of all pages of `list_messages`.

        GET /v1/threads/{id}/messages
        """
        return self._items(lambda cursor: self.list_messages(
            id, order=order, before=before, after=after, view=view, limit=limit, cursor=cursor,
        ))

    def stream_messages(
        self, id: str, *, order: Optional[Literal["newest", "oldest"]] = None, before: Optional[int] = None,
        after: Optional[int] = None,
        view: Optional[Literal["raw", "sanitized", "compacted", "prompted"]] = None,
    ) -> Iterator[MessageListItem]:
        """List messages, in one call.

        GET /v1/threads/{id}/messages

        order: `newest` (unless set): the last `limit` messages; the cursor leads to earlier ones. `oldest`:
            from the first message on. A page always has the order of the conversation.
        before: Only messages before this seq; goes with `newest`.
        after: Only messages after this seq; goes with `oldest`.
        view: `raw` unless set. `sanitized`: without what model providers refuse, such as incomplete tool
            turns and empty messages. `compacted`: summaries replace the messages they cover. `prompted`:
            compacted and sanitized, each message of the user with the block of memory that it was sent with.
        """
        query = {"order": order, "before": before, "after": after, "view": view}
        lines = self._stream(["v1", "threads", id, "messages"], query)
        return map(_line_of, lines)

    def delete_message(self, id: str, seq: int) -> None:
        """Delete one message.

        DELETE /v1/threads/{id}/messages/{seq}
        """
        self.request("DELETE", ["v1", "threads", id, "messages", str(seq)], repeatable=True)

    def create_compaction(
        self, id: str, body: Compact, *, idempotency_key: Optional[str] = None,
    ) -> Compaction:
        """Summarize a range of messages.

        POST /v1/threads/{id}/compactions

        idempotency_key: A repeated request with the same key returns the first answer, for 24 hours.
        """
        headers = {"idempotency-key": idempotency_key or uuid.uuid4().hex}
        return self.request(
            "POST", ["v1", "threads", id, "compactions"], headers=headers, body=body, repeatable=True,
        )

    def list_compactions(
        self, id: str, *, limit: Optional[int] = None, cursor: Optional[str] = None,
    ) -> CompactionList:
        """List the compactions of a thread.

        GET /v1/threads/{id}/compactions

        limit: Items per page; 50 unless set.
        cursor: From the previous answer. The last page has none.
        """
        query = {"limit": limit, "cursor": cursor}
        return self.request("GET", ["v1", "threads", id, "compactions"], query=query, repeatable=True)

    def iter_compactions(self, id: str, *, limit: Optional[int] = None) -> Iterator[Compaction]:
        """Go through the items of all pages of `list_compactions`.

        GET /v1/threads/{id}/compactions
        """
        return self._items(lambda cursor: self.list_compactions(id, limit=limit, cursor=cursor))

    def delete_compaction(self, id: str, compaction: str) -> None:
        """Delete a compaction.

        DELETE /v1/threads/{id}/compactions/{compaction}
        """
        self.request("DELETE", ["v1", "threads", id, "compactions", compaction], repeatable=True)

    def validate_conversation(self, id: str, body: Validate) -> Verdict:
        """Check that a conversation continues the stored one.

        POST /v1/threads/{id}/validate
        """
        return self.request("POST", ["v1", "threads", id, "validate"], body=body, repeatable=True)

    def remember(
        self, user: str, body: Remember, *, idempotency_key: Optional[str] = None,
        if_match: Optional[str] = None, if_none_match: Optional[str] = None,
    ) -> RememberedMemory:
        """Remember one memory.

        POST /v1/users/{user}/memories

        idempotency_key: A repeated request with the same key returns the first answer, for 24 hours.
        if_match: `*` or a list of versions, as `"v1"`: else 412.
        if_none_match: `*` to create only, or a list of versions: else 412 (304 for a GET).
        """
        headers = {
            "idempotency-key": idempotency_key or uuid.uuid4().hex, "if-match": _version(if_match),
            "if-none-match": _version(if_none_match),
        }
        return self.request(
            "POST", ["v1", "users", user, "memories"], headers=headers, body=body, repeatable=True,
        )

    def list_memories(
        self, user: str, *, kind: Optional[List[str]] = None, status: Optional[List[str]] = None,
        trust: Optional[List[str]] = None, tag: Optional[List[str]] = None,
        any_tag: Optional[List[str]] = None, scope: Optional[List[str]] = None,
        external_id: Optional[List[str]] = None, type: Optional[List[str]] = None,
        title: Optional[str] = None, source_entity: Optional[str] = None, subject: Optional[str] = None,
        predicate: Optional[str] = None, key: Optional[str] = None, context: Optional[str] = None,
        source_thread: Optional[str] = None, source_message: Optional[str] = None,
        extractor: Optional[str] = None, score_min: Optional[float] = None, score_max: Optional[float] = None,
        importance_min: Optional[float] = None, importance_max: Optional[float] = None,
        intensity_min: Optional[float] = None, intensity_max: Optional[float] = None,
        valence_min: Optional[float] = None, valence_max: Optional[float] = None,
        created_at_min: Optional[float] = None, created_at_max: Optional[float] = None,
        updated_at_min: Optional[float] = None, updated_at_max: Optional[float] = None,
        valid_from_min: Optional[float] = None, valid_from_max: Optional[float] = None,
        metadata: Optional[str] = None, as_of: Optional[int] = None, valid_at: Optional[int] = None,
        sort: Optional[Literal["createdAt", "updatedAt", "validFrom", "score", "importance"]] = None,
        order: Optional[Literal["asc", "desc"]] = None, limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> MemoryList:
        """List memories.

        GET /v1/users/{user}/memories

        kind: Any of these kinds.
        status: `active` unless set.
        trust: Any of these.
        tag: Every one of these tags.
        any_tag: At least one of these tags.
        scope: Any of these scopes.
        title: The exact title.
        subject: Compared without case and extra spaces, as are predicate and key.
        context: Memories whose context holds this text. Upper and lower case of A to Z are the same.
        source_message: A seq, or an id of yours.
        metadata: Each field has this value (in an object, the order of fields counts), or fits these
            comparisons: `eq`, `ne`, `gt`, `gte`, `lt`, `lte`, `in`, `nin`, `exists`. `and`, `or` (lists of
            such filters) and `not` combine them. As JSON.
        as_of: Answers as if asked at this time.
        valid_at: Answers with the memories that were true at this time, as known now (or at `asOf`).
        sort: `createdAt` unless set.
        order: `desc` (newest or greatest first) unless set.
        limit: Items per page; 50 unless set.
        cursor: From the previous answer. The last page has none.
        """
        query = {
            "kind": kind, "status": status, "trust": trust, "tag": tag, "anyTag": any_tag, "scope": scope,
            "externalId": external_id, "type": type, "title": title, "sourceEntity": source_entity,
            "subject": subject, "predicate": predicate, "key": key, "context": context,
            "sourceThread": source_thread, "sourceMessage": source_message, "extractor": extractor,
            "scoreMin": score_min, "scoreMax": score_max, "importanceMin": importance_min,
            "importanceMax": importance_max, "intensityMin": intensity_min, "intensityMax": intensity_max,
            "valenceMin": valence_min, "valenceMax": valence_max, "createdAtMin": created_at_min,
            "createdAtMax": created_at_max, "updatedAtMin": updated_at_min, "updatedAtMax": updated_at_max,
            "validFromMin": valid_from_min, "validFromMax": valid_from_max, "metadata": metadata,
            "asOf": as_of, "validAt": valid_at, "sort": sort, "order": order, "limit": limit,
            "cursor": cursor,
        }
        return self.request("GET", ["v1", "users", user, "memories"], query=query, repeatable=True)

    def iter_memories(
        self, user: str, *, kind: Optional[List[str]] = None, status: Optional[List[str]] = None,
        trust: Optional[List[str]] = None, tag: Optional[List[str]] = None,
        any_tag: Optional[List[str]] = None, scope: Optional[List[str]] = None,
        external_id: Optional[List[str]] = None, type: Optional[List[str]] = None,
        title: Optional[str] = None, source_entity: Optional[str] = None, subject: Optional[str] = None,
        predicate: Optional[str] = None, key: Optional[str] = None, context: Optional[str] = None,
        source_thread: Optional[str] = None, source_message: Optional[str] = None,
        extractor: Optional[str] = None, score_min: Optional[float] = None, score_max: Optional[float] = None,
        importance_min: Optional[float] = None, importance_max: Optional[float] = None,
        intensity_min: Optional[float] = None, intensity_max: Optional[float] = None,
        valence_min: Optional[float] = None, valence_max: Optional[float] = None,
        created_at_min: Optional[float] = None, created_at_max: Optional[float] = None,
        updated_at_min: Optional[float] = None, updated_at_max: Optional[float] = None,
        valid_from_min: Optional[float] = None, valid_from_max: Optional[float] = None,
        metadata: Optional[str] = None, as_of: Optional[int] = None, valid_at: Optional[int] = None,
        sort: Optional[Literal["createdAt", "updatedAt", "validFrom", "score", "importance"]] = None,
        order: Optional[Literal["asc", "desc"]] = None, limit: Optional[int] = None,
    ) -> Iterator[Memory]:
        """Go through the items of all pages of `list_memories`.

        GET /v1/users/{user}/memories
        """
        return self._items(lambda cursor: self.list_memories(
            user, kind=kind, status=status, trust=trust, tag=tag, any_tag=any_tag, scope=scope,
            external_id=external_id, type=type, title=title, source_entity=source_entity, subject=subject,
            predicate=predicate, key=key, context=context, source_thread=source_thread,
            source_message=source_message, extractor=extractor, score_min=score_min, score_max=score_max,
            importance_min=importance_min, importance_max=importance_max, intensity_min=intensity_min,
            intensity_max=intensity_max, valence_min=valence_min, valence_max=valence_max,
            created_at_min=created_at_min, created_at_max=created_at_max, updated_at_min=updated_at_min,
            updated_at_max=updated_at_max, valid_from_min=valid_from_min, valid_from_max=valid_from_max,
            metadata=metadata, as_of=as_of, valid_at=valid_at, sort=sort, order=order, limit=limit,
            cursor=cursor,
        ))

    def forget_all_memories(self, user: str) -> None:
        """Delete all memories of a user.

        DELETE /v1/users/{user}/memories
        """
        self.request("DELETE", ["v1", "users", user, "memories"], repeatable=True)

    def remember_many(
        self, user: str, body: RememberMany, *, idempotency_key: Optional[str] = None,
    ) -> RememberedMany:
        """Remember many in one atomic step.

        POST /v1/users/{user}/memories/batch

        idempotency_key: A repeated request with the same key returns the first answer, for 24 hours.
        """
        headers = {"idempotency-key": idempotency_key or uuid.uuid4().hex}
        return self.request(
            "POST", ["v1", "users", user, "memories", "batch"], headers=headers, body=body, repeatable=True,
        )

    def forget_memories(self, user: str, body: ForgetMemories) -> Forgotten:
        """Delete memories by filter.

        POST /v1/users/{user}/memories/forget
        """
        return self.request("POST", ["v1", "users", user, "memories", "forget"], body=body, repeatable=False)

    def review_memories(
        self, user: str, body: ReviewMemories, *, cursor: Optional[str] = None,
    ) -> ReviewedMemories:
        """Release or reject many memories in quarantine.

        POST /v1/users/{user}/memories/review

        cursor: From the previous answer. The last page has none.
        """
        query = {"cursor": cursor}
        return self.request(
            "POST", ["v1", "users", user, "memories", "review"], query=query, body=body, repeatable=False,
        )

    def get_memory(
        self, user: str, id: str, *, as_of: Optional[int] = None, valid_at: Optional[int] = None,
        if_match: Optional[str] = None, if_none_match: Optional[str] = None,
    ) -> Optional[Memory]:
        """Get a memory.

        GET /v1/users/{user}/memories/{id}

        as_of: Answers as if asked at this time.
        valid_at: Answers with the memories that were true at this time, as known now (or at `asOf`).
        if_match: `*` or a list of versions, as `"v1"`: else 412.
        if_none_match: `*` to create only, or a list of versions: else 412 (304 for a GET).
        """
        query = {"asOf": as_of, "validAt": valid_at}
        headers = {"if-match": _version(if_match), "if-none-match": _version(if_none_match)}
        return self.request(
            "GET", ["v1", "users", user, "memories", id], query=query, headers=headers, repeatable=True,
        )

    def update_memory(
        self, user: str, id: str, body: PatchMemory, *, idempotency_key: Optional[str] = None,
        if_match: Optional[str] = None,
    ) -> RememberedMemory:
        """Correct a memory.

        PATCH /v1/users/{user}/memories/{id}

        idempotency_key: A repeated request with the same key returns the first answer, for 24 hours.
        if_match: `*` or a list of versions, as `"v1"`: else 412.
        """
        headers = {"idempotency-key": idempotency_key or uuid.uuid4().hex, "if-match": _version(if_match)}
        return self.request(
            "PATCH", ["v1", "users", user, "memories", id], headers=headers, body=body, repeatable=True,
        )

    def forget_memory(self, user: str, id: str, *, if_match: Optional[str] = None) -> None:
        """Delete a memory with its history.

        DELETE /v1/users/{user}/memories/{id}

        if_match: `*` or a list of versions, as `"v1"`: else 412.
        """
        headers = {"if-match": _version(if_match)}
        self.request(
            "DELETE", ["v1", "users", user, "memories", id], headers=headers, repeatable=if_match is None,
        )

    def get_memory_history(
        self, user: str, id: str, *, limit: Optional[int] = None, cursor: Optional[str] = None,
    ) -> MemoryHistory:
        """List the versions of a memory, the newest first.

        GET /v1/users/{user}/memories/{id}/history

        limit: Items per page; 50 unless set.
        cursor: From the previous answer. The last page has none.
        """
        query = {"limit": limit, "cursor": cursor}
        return self.request(
            "GET", ["v1", "users", user, "memories", id, "history"], query=query, repeatable=True,
        )

    def iter_memory_history(self, user: str, id: str, *, limit: Optional[int] = None) -> Iterator[PastMemory]:
        """Go through the items of all pages of `get_memory_history`.

        GET /v1/users/{user}/memories/{id}/history
        """
        return self._items(lambda cursor: self.get_memory_history(user, id, limit=limit, cursor=cursor))

    def restore_memory(
        self, user: str, id: str, body: RestoreMemory, *, idempotency_key: Optional[str] = None,
        if_match: Optional[str] = None,
    ) -> RememberedMemory:
        """Restore a version of a memory.

        POST /v1/users/{user}/memories/{id}/restore

        idempotency_key: A repeated request with the same key returns the first answer, for 24 hours.
        if_match: `*` or a list of versions, as `"v1"`: else 412.
        """
        headers = {"idempotency-key": idempotency_key or uuid.uuid4().hex, "if-match": _version(if_match)}
        return self.request(
            "POST", ["v1", "users", user, "memories", id, "restore"], headers=headers, body=body,
            repeatable=True,
        )

    def release_memory(
        self, user: str, id: str, *, idempotency_key: Optional[str] = None, if_match: Optional[str] = None,
    ) -> RememberedMemory:
        """Release a memory from quarantine.

        POST /v1/users/{user}/memories/{id}/release

        idempotency_key: A repeated request with the same key returns the first answer, for 24 hours.
        if_match: `*` or a list of versions, as `"v1"`: else 412.
        """
        headers = {"idempotency-key": idempotency_key or uuid.uuid4().hex, "if-match": _version(if_match)}
        return self.request(
            "POST", ["v1", "users", user, "memories", id, "release"], headers=headers, repeatable=True,
        )

    def recall(self, user: str, body: Recall) -> RecallAnswer:
        """Find memories and messages by meaning and by words.

        POST /v1/users/{user}/recall
        """
        return self.request("POST", ["v1", "users", user, "recall"], body=body, repeatable=True)

    def context(
        self, user: str, body: Optional[ContextRequest] = None, *, if_match: Optional[str] = None,
        if_none_match: Optional[str] = None,
    ) -> Optional[Context]:
        """Get the memory of a prompt.

        POST /v1/users/{user}/context

        if_match: `*` or a list of versions, as `"v1"`: else 412.
        if_none_match: `*` to create only, or a list of versions: else 412 (304 for a GET).
        """
        headers = {"if-match": _version(if_match), "if-none-match": _version(if_none_match)}
        return self.request(
            "POST", ["v1", "users", user, "context"], headers=headers, body=_ABSENT if body is None else body,
            repeatable=True,
        )

    def list_context_profiles(self, user: str) -> ContextProfileList:
        """List the stored lists of layers.

        GET /v1/users/{user}/context-profiles
        """
        return self.request("GET", ["v1", "users", user, "context-profiles"], repeatable=True)

    def put_context_profile(self, user: str, profile: str, body: PutContextProfile) -> ContextProfile:
        """Store a list of layers under a name.

        PUT /v1/users/{user}/context-profiles/{profile}
        """
        return self.request(
            "PUT", ["v1", "users", user, "context-profiles", profile], body=body, repeatable=True,
        )

    def delete_context_profile(self, user: str, profile: str) -> None:
        """Delete a stored list of layers.

        DELETE /v1/users/{user}/context-profiles/{profile}
        """
        self.request("DELETE", ["v1", "users", user, "context-profiles", profile], repeatable=True)

    def list_tenant_context_profiles(self) -> ContextProfileList:
        """List the lists of layers that all users can name.

        GET /v1/context-profiles
        """
        return self.request("GET", ["v1", "context-profiles"], repeatable=True)

    def put_tenant_context_profile(self, profile: str, body: PutContextProfile) -> ContextProfile:
        """Store a list of layers that all users can name.

        PUT /v1/context-profiles/{profile}
        """
        return self.request("PUT", ["v1", "context-profiles", profile], body=body, repeatable=True)

    def delete_tenant_context_profile(self, profile: str) -> None:
        """Delete a list of layers that all users can name.

        DELETE /v1/context-profiles/{profile}
        """
        self.request("DELETE", ["v1", "context-profiles", profile], repeatable=True)

    def ingest(self, user: str, body: Ingest, *, idempotency_key: Optional[str] = None) -> IngestStarted:
        """Store a conversation, and extract memories from it.

        POST /v1/users/{user}/ingest

        idempotency_key: A repeated request with the same key returns the first answer, for 24 hours.
        """
        headers = {"idempotency-key": idempotency_key or uuid.uuid4().hex}
        return self.request(
            "POST", ["v1", "users", user, "ingest"], headers=headers, body=body, repeatable=True,
        )

    def get_ingest(self, id: str) -> Ingested:
        """Get the progress of an ingest, and its results.

        GET /v1/ingests/{id}
        """
        return self.request("GET", ["v1", "ingests", id], repeatable=True)

    def retry_ingest(self, id: str) -> Ingested:
        """Extract again what failed.

        POST /v1/ingests/{id}/retry
        """
        return self.request("POST", ["v1", "ingests", id, "retry"], repeatable=True)

    def list_predicate_rules(self) -> PredicateRuleList:
        """List the tenant's rules of predicates.

        GET /v1/predicates
        """
        return self.request("GET", ["v1", "predicates"], repeatable=True)

    def put_predicate_rule(self, predicate: str, body: PredicateRuleBody) -> NamedPredicateRule:
        """Set the rule of a predicate.

        PUT /v1/predicates/{predicate}
        """
        return self.request("PUT", ["v1", "predicates", predicate], body=body, repeatable=True)

    def delete_predicate_rule(self, predicate: str) -> None:
        """Delete the rule of a predicate.

        DELETE /v1/predicates/{predicate}
        """
        self.request("DELETE", ["v1", "predicates", predicate], repeatable=True)

    def get_extraction(self) -> Extraction:
        """Get the tenant's rules of extraction.

        GET /v1/extraction
        """
        return self.request("GET", ["v1", "extraction"], repeatable=True)

    def put_extraction(self, body: ExtractionBody) -> Extraction:
        """Set the tenant's rules of extraction, and its patterns of redaction.

        PUT /v1/extraction
        """
        return self.request("PUT", ["v1", "extraction"], body=body, repeatable=True)

    def delete_extraction(self) -> None:
        """Delete the tenant's rules of extraction, and its patterns of redaction.

        DELETE /v1/extraction
        """
        self.request("DELETE", ["v1", "extraction"], repeatable=True)

    def get_retention(self) -> TenantRetention:
        """Get the tenant's rules of retention.

        GET /v1/retention
        """
        return self.request("GET", ["v1", "retention"], repeatable=True)

    def put_retention(
        self, body: RetentionBody, *, dry_run: Optional[bool] = None, cursor: Optional[str] = None,
    ) -> TenantRetention:
        """Set how long the data of all users are kept.

        PUT /v1/retention

        dry_run: `true`: stores and deletes nothing, and counts what these rules would delete.
        cursor: From the previous answer. The last page has none.
        """
        query = {"dryRun": dry_run, "cursor": cursor}
        return self.request("PUT", ["v1", "retention"], query=query, body=body, repeatable=True)

    def delete_retention(self) -> None:
        """Delete the tenant's rules of retention.

        DELETE /v1/retention
        """
        self.request("DELETE", ["v1", "retention"], repeatable=True)

    def get_user_retention(self, user: str) -> UserRetention:
        """Get a user's rules of retention, and what they will delete.

        GET /v1/users/{user}/retention
        """
        return self.request("GET", ["v1", "users", user, "retention"], repeatable=True)

    def put_user_retention(
        self, user: str, body: RetentionBody, *, dry_run: Optional[bool] = None,
    ) -> UserRetention:
        """Set how long a user's data are kept, besides the tenant's rules.

        PUT /v1/users/{user}/retention

        dry_run: `true`: stores and deletes nothing, and counts what these rules would delete.
        """
        query = {"dryRun": dry_run}
        return self.request(
            "PUT", ["v1", "users", user, "retention"], query=query, body=body, repeatable=True,
        )

    def delete_user_retention(self, user: str) -> None:
        """Delete a user's own rules of retention.

        DELETE /v1/users/{user}/retention
        """
        self.request("DELETE", ["v1", "users", user, "retention"], repeatable=True)

    def restore_user(self, user: str, body: RestoreBody) -> Restore:
        """Set a user back to an earlier time, or list what that would do.

        POST /v1/users/{user}/restore
        """
        return self.request("POST", ["v1", "users", user, "restore"], body=body, repeatable=False)

    def recall_outcome(self, id: str, body: RecallOutcome) -> CountedOutcome:
        """Tell which memories of a recall were used.

        POST /v1/recalls/{id}/outcome
        """
        return self.request("POST", ["v1", "recalls", id, "outcome"], body=body, repeatable=True)

    def list_memory_usage(
        self, user: str, *, unused_days: Optional[int] = None, limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> MemoryUsageList:
        """List how often memories were recalled and used.

        GET /v1/users/{user}/usage

        unused_days: Only memories that are at least this many days old, and were not used since. Without it,
            those that were ever recalled.
        limit: Items per page; 50 unless set.
        cursor: From the previous answer. The last page has none.
        """
        query = {"unusedDays": unused_days, "limit": limit, "cursor": cursor}
        return self.request("GET", ["v1", "users", user, "usage"], query=query, repeatable=True)

    def iter_memory_usage(
        self, user: str, *, unused_days: Optional[int] = None, limit: Optional[int] = None,
    ) -> Iterator[MemoryUsage]:
        """Go through the items of all pages of `list_memory_usage`.

        GET /v1/users/{user}/usage
        """
        return self._items(lambda cursor: self.list_memory_usage(
            user, unused_days=unused_days, limit=limit, cursor=cursor,
        ))

    def get_statistics(self, *, days: Optional[int] = None) -> TenantStatistics:
        """Count users, memories, threads and recalls over time.

        GET /v1/statistics

        days: How many days back, today included; 30 unless set.
        """
        query = {"days": days}
        return self.request("GET", ["v1", "statistics"], query=query, repeatable=True)

    def get_user_summary(self, user: str) -> UserSummary:
        """Tell what a user holds, and what is under way.

        GET /v1/users/{user}/summary
        """
        return self.request("GET", ["v1", "users", user, "summary"], repeatable=True)

    def list_changes(self, user: str, *, after: Optional[str] = None, limit: Optional[int] = None) -> Changes:
        """List what changed since a version.

        GET /v1/users/{user}/changes

        after: The `version` of the last answer; everything that is stored, unless set.
        limit: Items per page; 100 unless set.
        """
        query = {"after": after, "limit": limit}
        return self.request("GET", ["v1", "users", user, "changes"], query=query, repeatable=True)

    def resume_webhook(self) -> WebhookResumed:
        """Send changes to the webhook again.

        POST /v1/webhook/resume
        """
        return self.request("POST", ["v1", "webhook", "resume"], repeatable=False)

    def erase_user(self, user: str) -> Erasure:
        """Erase all data of a user, with a receipt.

        DELETE /v1/users/{user}
        """
        return self.request("DELETE", ["v1", "users", user], repeatable=True)

    def create_erasure(self, user: str, body: Erase) -> Erasure:
        """Erase one thread, or all memories of one scope, with a receipt.

        POST /v1/users/{user}/erasures
        """
        return self.request("POST", ["v1", "users", user, "erasures"], body=body, repeatable=True)

    def get_erasure(self, id: str) -> Erasure:
        """Get the progress of an erasure, and its receipt.

        GET /v1/erasures/{id}
        """
        return self.request("GET", ["v1", "erasures", id], repeatable=True)

    def export_user(self, user: str) -> Iterator[bytes]:
        """Export all data of a user, as lines of JSON, in one call.

        GET /v1/users/{user}/export
        """
        lines = self._stream(["v1", "users", user, "export"])
        return lines

    def import_user(self, user: str, lines: bytes, *, part: Optional[bool] = None) -> Imported:
        """Import an export, for this user or another.

        POST /v1/users/{user}/import

        part: The body is a part of an export, whose last line is missing or counts other lines. Cairn cannot
            detect a missing line: make sure that all parts are complete before you send them.
        """
        query = {"part": part}
        return self.request(
            "POST", ["v1", "users", user, "import"], query=query, body=lines, repeatable=True, long=True,
        )

    def list_users(self, *, limit: Optional[int] = None, cursor: Optional[str] = None) -> UserList:
        """List all users that have data, in the order of their hashes.

        GET /v1/users

        limit: Items per page; 100 unless set.
        cursor: From the previous answer. The last page has none.
        """
        query = {"limit": limit, "cursor": cursor}
        return self.request("GET", ["v1", "users"], query=query, repeatable=True)

    def iter_users(self, *, limit: Optional[int] = None) -> Iterator[UserListItem]:
        """Go through the items of all pages of `list_users`.

        GET /v1/users
        """
        return self._items(lambda cursor: self.list_users(limit=limit, cursor=cursor))

    def reindex_user(self, user: str) -> Reindex:
        """Rebuild a user's search index from the record.

        POST /v1/users/{user}/reindex
        """
        return self.request("POST", ["v1", "users", user, "reindex"], repeatable=False)

    def get_user_reindex(self, user: str) -> Reindex:
        """Get the progress of a user's last reindex.

        GET /v1/users/{user}/reindex
        """
        return self.request("GET", ["v1", "users", user, "reindex"], repeatable=True)

    def reindex_tenant(self) -> TenantReindex:
        """Rebuild the search index of every user.

        POST /v1/reindex
        """
        return self.request("POST", ["v1", "reindex"], repeatable=False)

    def get_tenant_reindex(self) -> TenantReindex:
        """Get the progress of the last reindex of all users.

        GET /v1/reindex
        """
        return self.request("GET", ["v1", "reindex"], repeatable=True)

    def list_cache_keys(
        self, *, prefix: Optional[str] = None, limit: Optional[int] = None, cursor: Optional[str] = None,
        namespace: Optional[str] = None,
    ) -> RegistryKeys:
        """List the keys of the registry, with their leases.

        GET /v1/cache

        prefix: Literal prefix, without wildcards.
        limit: Items per page; 100 unless set.
        cursor: From the previous answer. The last page has none.
        namespace: Separates apps that share a token: any name of yours, at most 256 bytes of printable ASCII.
        """
        query = {"prefix": prefix, "limit": limit, "cursor": cursor}
        headers = {"Cairn-Namespace": namespace}
        return self.request("GET", ["v1", "cache"], query=query, headers=headers, repeatable=True)

    def iter_cache_keys(
        self, *, prefix: Optional[str] = None, limit: Optional[int] = None, namespace: Optional[str] = None,
    ) -> Iterator[RegistryKeysItem]:
        """Go through the items of all pages of `list_cache_keys`.

        GET /v1/cache
        """
        return self._items(lambda cursor: self.list_cache_keys(
            prefix=prefix, limit=limit, namespace=namespace, cursor=cursor,
        ))

    def get_cache_entry(
        self, key: str, *, lease: Optional[int] = None, wait: Optional[int] = None,
        namespace: Optional[str] = None, if_match: Optional[str] = None, if_none_match: Optional[str] = None,
    ) -> Optional[EntryValue]:
        """Get a registry entry's value, or the lease to create it.

        GET /v1/cache/{key}

        lease: On a miss, takes a lease to create the value, for this many milliseconds. The answer is 404
            with `Cairn-Lease` and `Cairn-Lease-Expires`.
        wait: With `lease`: waits up to this many milliseconds while another caller creates the value; then
            409 `lease_held`.
        namespace: Separates apps that share a token: any name of yours, at most 256 bytes of printable ASCII.
        if_match: `*` or a list of versions, as `"v1"`: else 412.
        if_none_match: `*` to create only, or a list of versions: else 412 (304 for a GET).
        """
        query = {"lease": lease, "wait": wait}
        headers = {
            "Cairn-Namespace": namespace, "if-match": _version(if_match),
            "if-none-match": _version(if_none_match),
        }
        return self.request(
            "GET", ["v1", "cache", key], query=query, headers=headers, repeatable=lease is None,
        )

    def set_cache_entry(
        self, key: str, value: Any, *, ttl_seconds: Optional[int] = None, lease: Optional[str] = None,
        namespace: Optional[str] = None, if_match: Optional[str] = None, if_none_match: Optional[str] = None,
    ) -> WrittenEntry:
        """Set a registry entry: its value and its expiry.

        PUT /v1/cache/{key}

        ttl_seconds: Time to live in seconds; no end unless set.
        lease: The id of a lease: the value is stored only while that lease is current.
        namespace: Separates apps that share a token: any name of yours, at most 256 bytes of printable ASCII.
        if_match: `*` or a list of versions, as `"v1"`: else 412.
        if_none_match: `*` to create only, or a list of versions: else 412 (304 for a GET).
        """
        query = {"ttlSeconds": ttl_seconds, "lease": lease}
        headers = {
            "Cairn-Namespace": namespace, "if-match": _version(if_match),
            "if-none-match": _version(if_none_match),
        }
        return self.request(
            "PUT", ["v1", "cache", key], query=query, headers=headers, body=value,
            repeatable=lease is None and if_match is None and if_none_match is None,
        )

    def delete_cache_entry(
        self, key: str, *, version: Optional[str] = None, namespace: Optional[str] = None,
        if_match: Optional[str] = None, if_none_match: Optional[str] = None,
    ) -> None:
        """Delete a registry entry and its lease, or one version of it.

        DELETE /v1/cache/{key}

        version: Deletes only this version, so that a late delete keeps a newer value.
        namespace: Separates apps that share a token: any name of yours, at most 256 bytes of printable ASCII.
        if_match: `*` or a list of versions, as `"v1"`: else 412.
        if_none_match: `*` to create only, or a list of versions: else 412 (304 for a GET).
        """
        query = {"version": version}
        headers = {
            "Cairn-Namespace": namespace, "if-match": _version(if_match),
            "if-none-match": _version(if_none_match),
        }
        self.request(
            "DELETE", ["v1", "cache", key], query=query, headers=headers,
            repeatable=if_match is None and if_none_match is None,
        )

    def take_cache_entry(self, key: str, *, namespace: Optional[str] = None) -> EntryValue:
        """Get a registry entry's value and delete it, in one step.

        POST /v1/cache/{key}/take

        namespace: Separates apps that share a token: any name of yours, at most 256 bytes of printable ASCII.
        """
        headers = {"Cairn-Namespace": namespace}
        return self.request("POST", ["v1", "cache", key, "take"], headers=headers, repeatable=False)

    def lease_cache_entry(
        self, key: str, body: LeaseRequest, *, namespace: Optional[str] = None,
    ) -> LeaseAnswer:
        """Get a registry entry or the lease to create it, or wait for its creator.

        POST /v1/cache/{key}/lease

        namespace: Separates apps that share a token: any name of yours, at most 256 bytes of printable ASCII.
        """
        headers = {"Cairn-Namespace": namespace}
        return self.request(
            "POST", ["v1", "cache", key, "lease"], headers=headers, body=body, repeatable=False,
        )

    def release_cache_lease(self, key: str, *, id: str, namespace: Optional[str] = None) -> None:
        """Release a lease; the next waiter gets it.

        DELETE /v1/cache/{key}/lease

        id: The id of the lease.
        namespace: Separates apps that share a token: any name of yours, at most 256 bytes of printable ASCII.
        """
        query = {"id": id}
        headers = {"Cairn-Namespace": namespace}
        self.request("DELETE", ["v1", "cache", key, "lease"], query=query, headers=headers, repeatable=True)

    def resolve_prompt_cache(
        self, body: ResolvePromptCache, *, namespace: Optional[str] = None,
    ) -> ResolvedPromptCache:
        """Resolve how to have a prompt cached by its provider.

        POST /v1/prompt-cache/resolve

        namespace: Separates apps that share a token: any name of yours, at most 256 bytes of printable ASCII.
        """
        headers = {"Cairn-Namespace": namespace}
        return self.request(
            "POST", ["v1", "prompt-cache", "resolve"], headers=headers, body=body, repeatable=False,
        )

    def report_prompt_cache_usage(
        self, body: ReportUsage, *, namespace: Optional[str] = None, idempotency_key: Optional[str] = None,
    ) -> None:
        """Report the token counts of one call.

        POST /v1/prompt-cache/report

        namespace: Separates apps that share a token: any name of yours, at most 256 bytes of printable ASCII.
        idempotency_key: A repeated request with the same key returns the first answer, for 24 hours.
        """
        headers = {"Cairn-Namespace": namespace, "idempotency-key": idempotency_key or uuid.uuid4().hex}
        self.request("POST", ["v1", "prompt-cache", "report"], headers=headers, body=body, repeatable=True)

    def get_prompt_cache_stats(
        self, *, from_: Optional[int] = None, to: Optional[int] = None, model: Optional[str] = None,
        limit: Optional[int] = None, cursor: Optional[str] = None, namespace: Optional[str] = None,
    ) -> PromptCacheStats:
        """Get the savings of the caches, by the hour.

        GET /v1/prompt-cache/stats

        from_: From the hour of this time.
        to: Up to the hour of this time.
        limit: Items per page; 1000 unless set.
        cursor: From the previous answer. The last page has none.
        namespace: Separates apps that share a token: any name of yours, at most 256 bytes of printable ASCII.
        """
        query = {"from": from_, "to": to, "model": model, "limit": limit, "cursor": cursor}
        headers = {"Cairn-Namespace": namespace}
        return self.request(
            "GET", ["v1", "prompt-cache", "stats"], query=query, headers=headers, repeatable=True,
        )

    def iter_prompt_cache_stats(
        self, *, from_: Optional[int] = None, to: Optional[int] = None, model: Optional[str] = None,
        limit: Optional[int] = None, namespace: Optional[str] = None,
    ) -> Iterator[PromptCacheStatsItem]:
        """Go through the items of all pages of `get_prompt_cache_stats`.

        GET /v1/prompt-cache/stats
        """
        return self._items(lambda cursor: self.get_prompt_cache_stats(
            from_=from_, to=to, model=model, limit=limit, namespace=namespace, cursor=cursor,
        ))

    def list_revocations(self, *, limit: Optional[int] = None, cursor: Optional[str] = None) -> Revocations:
        """List revoked tokens, and the time before which all tokens are refused.

        GET /v1/revocations

        limit: Items per page; 100 unless set.
        cursor: From the previous answer. The last page has none.
        """
        query = {"limit": limit, "cursor": cursor}
        return self.request("GET", ["v1", "revocations"], query=query, repeatable=True)

    def iter_revocations(self, *, limit: Optional[int] = None) -> Iterator[RevokedToken]:
        """Go through the items of all pages of `list_revocations`.

        GET /v1/revocations
        """
        return self._items(lambda cursor: self.list_revocations(limit=limit, cursor=cursor))

    def set_min_issued_at(self, body: MinIssuedAtBody) -> MinIssuedAt:
        """Refuse all tokens issued before a time.

        PUT /v1/revocations/min-issued-at
        """
        return self.request("PUT", ["v1", "revocations", "min-issued-at"], body=body, repeatable=True)

    def clear_min_issued_at(self) -> None:
        """Clear the time before which all tokens are refused.

        DELETE /v1/revocations/min-issued-at
        """
        self.request("DELETE", ["v1", "revocations", "min-issued-at"], repeatable=True)

    def revoke_token(self, token_id: str, body: Optional[RevokeTokenBody] = None) -> RevokedToken:
        """Refuse one token, by its jti.

        PUT /v1/revocations/tokens/{tokenId}
        """
        return self.request(
            "PUT", ["v1", "revocations", "tokens", token_id], body=_ABSENT if body is None else body,
            repeatable=True,
        )

    def restore_token(self, token_id: str) -> None:
        """End the revocation of one token.

        DELETE /v1/revocations/tokens/{tokenId}
        """
        self.request("DELETE", ["v1", "revocations", "tokens", token_id], repeatable=True)

    def list_sign_ins(self, user: str) -> SignIns:
        """List the apps that a user signed in with for MCP.

        GET /v1/users/{user}/sign-ins
        """
        return self.request("GET", ["v1", "users", user, "sign-ins"], repeatable=True)

    def revoke_sign_in(self, user: str, id: str) -> None:
        """End a sign-in, with all of its tokens.

        DELETE /v1/users/{user}/sign-ins/{id}
        """
        self.request("DELETE", ["v1", "users", user, "sign-ins", id], repeatable=True)

    def create_sign_in_code(self, user: str) -> SignInCode:
        """Create a one-time code by which a user signs in for MCP.

        POST /v1/users/{user}/sign-in-codes
        """
        return self.request("POST", ["v1", "users", user, "sign-in-codes"], repeatable=False)

    def list_audit_events(
        self, *, user: Optional[str] = None, action: Optional[str] = None, from_: Optional[int] = None,
        to: Optional[int] = None, limit: Optional[int] = None, cursor: Optional[str] = None,
    ) -> AuditEvents:
        """List deletions and administration, the newest first.

        GET /v1/audit

        user: Only events about this user's memory.
        action: Only this operation, as events name it, or `token.refused`, `access.refused` or
            `quarantine.expired`. An unknown operation of the API is 400.
        from_: Only from this time on, in milliseconds since the epoch.
        to: Only before this time.
        limit: Items per page; 100 unless set.
        cursor: From the previous answer. The last page has none.
        """
        query = {"user": user, "action": action, "from": from_, "to": to, "limit": limit, "cursor": cursor}
        return self.request("GET", ["v1", "audit"], query=query, repeatable=True)

    def iter_audit_events(
        self, *, user: Optional[str] = None, action: Optional[str] = None, from_: Optional[int] = None,
        to: Optional[int] = None, limit: Optional[int] = None,
    ) -> Iterator[AuditedEvent]:
        """Go through the items of all pages of `list_audit_events`.

        GET /v1/audit
        """
        return self._items(lambda cursor: self.list_audit_events(
            user=user, action=action, from_=from_, to=to, limit=limit, cursor=cursor,
        ))
