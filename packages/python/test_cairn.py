"""The client against a running Cairn, and against servers that fail. `test/packages/python/python.node.test.ts` starts it with

CAIRN_URL and CAIRN_TOKEN: as `npm start` prints them, for the user "alice".
CAIRN_TOKEN_OF_ALL: a token of all users.
"""

import contextlib
import http.server
import json
import os
import sys
import threading
import typing
import unittest
import unittest.mock
import uuid

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cairn  # noqa: E402
from cairn import Cairn, CairnError  # noqa: E402

memory = Cairn(token=os.environ["CAIRN_TOKEN_OF_ALL"])


def new_user():
    return f"python-{uuid.uuid4()}"


class AgainstCairn(unittest.TestCase):
    def test_remembers_and_recalls_with_what_npm_start_prints(self):
        alice = Cairn()
        stored = alice.remember("alice", {"text": "I moved to Lisbon in March"})
        self.assertEqual(stored["text"], "I moved to Lisbon in March")
        hits = alice.recall("alice", {"query": "Where do I live?", "k": 1})["hits"]
        self.assertEqual(hits[0]["text"], "I moved to Lisbon in March")

    def test_makes_the_context_of_a_prompt(self):
        user = new_user()
        memory.remember(user, {"subject": "user", "predicate": "lives in", "object": "Porto"})
        context = memory.context(user, {"query": "Where do I live?"})
        self.assertIn("Porto", context["stable"]["text"] + context["recalled"]["text"])
        self.assertIsNone(memory.context(user, {"query": "Where do I live?"}, if_none_match=context["etag"]))

    def test_ingests_a_conversation_once(self):
        user = new_user()
        fact = {"subject": "user", "predicate": "lives in", "object": "Lisbon", "sources": [0]}
        body = {
            "sessionId": "monday",
            "messages": [{"role": "user", "content": "I live in Lisbon."}],
            "extracted": {"facts": [fact]},
            "mode": "wait",
        }
        first = memory.ingest(user, body)
        self.assertEqual(memory.get_ingest(first["ingestId"])["status"], "done")
        again = memory.ingest(user, body)
        self.assertEqual(again["threadId"], first["threadId"])
        self.assertEqual(memory.get_thread(first["threadId"])["length"], 1)

    def test_keeps_threads(self):
        user = new_user()
        thread = memory.create_thread(user, {"title": "Plans"})
        messages = [{"role": "user", "content": f"message {n}"} for n in range(5)]
        memory.append_messages(thread["id"], {"messages": messages})
        page = memory.list_messages(thread["id"], limit=2)
        self.assertEqual([one["seq"] for one in page["items"]], [4, 5])
        every = [one["message"] for one in memory.stream_messages(thread["id"])]
        self.assertEqual(every, messages)
        forked = memory.fork_thread(thread["id"], {"at": 2})
        self.assertEqual(forked["length"], 2)
        memory.delete_message(thread["id"], 1)
        self.assertEqual(memory.update_thread(thread["id"], {"title": "Trip"})["title"], "Trip")
        self.assertEqual(len(list(memory.iter_threads(user))), 2)
        memory.delete_thread(thread["id"])
        with self.assertRaises(CairnError) as caught:
            memory.get_thread(thread["id"])
        self.assertEqual((caught.exception.code, caught.exception.status), ("not_found", 404))

    def test_keeps_entries_with_any_key_and_any_value(self):
        user = new_user()
        for key in ["settings/theme", "a b?c#d%25", "日本", "."]:
            for value in [{"n": 9007199254740993}, None, False, "", [1, None], "☕"]:
                memory.set_entry(user, key, value)
                self.assertEqual(memory.get_entry(user, key), value)
        self.assertEqual(memory.delete_entries(user, prefix="settings/"), {"deleted": 1})
        memory.delete_entry(user, ".")
        self.assertEqual(len(memory.list_entries(user, values=True)["items"]), 2)

    def test_changes_an_entry_only_if_it_has_a_version(self):
        user = new_user()
        version = memory.set_entry(user, "k", 1, if_none_match="*")["version"]
        memory.set_entry(user, "k", 2, if_match=version)
        with self.assertRaises(CairnError) as caught:
            memory.set_entry(user, "k", 3, if_match=version)
        self.assertEqual(caught.exception.code, "precondition_failed")
        answer = memory.batch_entries(user, {"operations": [{"op": "get", "key": "k"}]})
        self.assertEqual(answer["results"][0]["value"], 2)

    def test_goes_through_all_pages(self):
        user = new_user()
        texts = {f"the number {n} is mine" for n in range(5)}
        memory.remember_many(user, {"memories": [{"text": text} for text in sorted(texts)]})
        self.assertEqual(len(memory.list_memories(user, limit=2)["items"]), 2)
        self.assertEqual({one["text"] for one in memory.iter_memories(user, limit=2)}, texts)
        self.assertEqual(list(memory.iter_memories(user, kind=["episode", "reflection"])), [])

    def test_moves_a_user(self):
        user, other = new_user(), new_user()
        memory.set_entry(user, "colour", "green")
        memory.remember(user, {"text": "Likes tea"})
        exported = b"".join(memory.export_user(user))
        self.assertTrue(memory.import_user(other, exported)["complete"])
        self.assertEqual(memory.get_entry(other, "colour"), "green")

    def test_names_each_wrong_field(self):
        with self.assertRaises(CairnError) as caught:
            memory.recall(new_user(), {"query": "x", "k": "many", "weight": 1})
        error = caught.exception
        self.assertEqual((error.code, error.status), ("invalid_request", 400))
        self.assertIn("body.k", error.fields)
        self.assertIn("body.k", str(error))
        self.assertTrue(error.request_id)
        # A message is shown to models, and the call names the user.
        self.assertNotIn("python-", str(error))
        self.assertIn("python-", error.call)

    def test_another_users_memory_is_not_there(self):
        with self.assertRaises(CairnError) as caught:
            Cairn().remember("bob", {"text": "x"})
        self.assertEqual(caught.exception.code, "not_found")

    def test_takes_a_function_for_the_token_and_headers_for_each_call(self):
        user = new_user()
        model = Cairn(token=lambda: os.environ["CAIRN_TOKEN_OF_ALL"], headers={"Cairn-Trust": "model"})
        self.assertEqual(model.remember(user, {"text": "Likes tea"})["trust"], "model")

    def test_sends_a_call_that_has_no_method(self):
        path = ["v1", "users", new_user(), "summary"]
        self.assertEqual(memory.request("GET", path)["memories"], 0)


class WhatIsNotSent(unittest.TestCase):
    def refused(self, call):
        with self.assertRaises(CairnError) as caught:
            call()
        self.assertEqual((caught.exception.code, caught.exception.status), ("invalid_request", 400))
        self.assertIn("not sent", str(caught.exception))
        return caught.exception.fields

    def test_a_path_that_would_be_another_one(self):
        for user in ["", ".", "..", None, 7, "\ud800"]:
            self.assertEqual(self.refused(lambda user=user: memory.erase_user(user)), ["path"])
        self.assertEqual(self.refused(lambda: memory.delete_entry("alice", "..")), ["path"])

    def test_a_parameter_that_no_url_carries(self):
        call = lambda: memory.delete_entries("alice", prefix="\udc00")  # noqa: E731
        self.assertEqual(self.refused(call), ["query.prefix"])

    def test_a_body_without_json(self):
        ring = {}
        ring["ring"] = ring
        for text in [float("nan"), object(), b"bytes", ring]:
            self.assertEqual(self.refused(lambda text=text: memory.remember("alice", {"text": text})), ["body"])

    def test_a_header_with_another_one_in_it(self):
        call = lambda: memory.remember("alice", {"text": "x"}, idempotency_key="a\r\nX: y")  # noqa: E731
        self.assertEqual(self.refused(call), ["headers"])

    def test_a_client_without_a_url_or_a_token(self):
        with unittest.mock.patch.dict(os.environ, {"CAIRN_URL": "", "CAIRN_TOKEN": ""}):
            for url in [None, "", "127.0.0.1:8787", "file:///etc/passwd", "ftp://x", "http://", "http://x?y"]:
                with self.assertRaisesRegex(ValueError, "CAIRN_URL"):
                    Cairn(url, "token")
            with self.assertRaisesRegex(ValueError, "CAIRN_TOKEN"):
                Cairn("http://127.0.0.1:8787", " ")


@contextlib.contextmanager
def server_of(*answers):
    """A server with these answers, each a function of the handler; the last one answers all further calls."""
    seen = []

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            seen.append((self.command, self.headers, body))
            answers[min(len(seen), len(answers)) - 1](self)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        try:
            yield Cairn(f"http://127.0.0.1:{server.server_port}", "secret", timeout=60), seen
        finally:
            server.shutdown()


def answer_of(status, body=b"", **headers):
    def answer(handler):
        handler.send_response(status)
        for name, value in {"Content_Length": str(len(body)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def hang_up(handler):
    handler.close_connection = True
    handler.connection.close()


def broken_off(handler):
    """A chunk, and no end."""
    handler.send_response(200)
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    handler.wfile.write(b'8\r\n{"a":1}\n\r\n')
    handler.close_connection = True


BUSY = answer_of(503, b'{"error":{"code":"storage_unavailable","message":"m","requestId":"r"}}', Retry_After="2")
OK = answer_of(200, b'{"hits":[]}')


@unittest.mock.patch("cairn.time.sleep")
class AgainstFaults(unittest.TestCase):
    def test_sends_a_write_again_with_the_same_key(self, sleep):
        with server_of(BUSY, hang_up, OK) as (client, seen):
            client.remember("alice", {"text": "x"})
        keys = {headers["Idempotency-Key"] for _, headers, _ in seen}
        self.assertEqual((len(seen), len(keys), None in keys), (3, 1, False))
        # As long as the answer asks for.
        self.assertEqual(sleep.call_args_list[0].args, (2.0,))

    def test_gives_up_after_four_tries(self, _):
        with server_of(BUSY) as (client, seen):
            with self.assertRaises(CairnError) as caught:
                client.recall("alice", {"query": "x"})
        self.assertEqual((len(seen), caught.exception.code), (4, "storage_unavailable"))
        self.assertEqual(caught.exception.retry_after, 2.0)

    def test_sends_once_what_may_not_be_done_twice(self, _):
        calls = [
            lambda client: client.set_entry("alice", "k", 1, if_match="v"),
            lambda client: client.take_cache_entry("k"),
            lambda client: client.lease_cache_entry("k", {"leaseMs": 1}),
            lambda client: client.set_cache_entry("k", 1, lease="id"),
            lambda client: client.update_thread("t", {"title": "x"}),
            lambda client: client.batch_entries("alice", {"operations": []}),
        ]
        for call in calls:
            with server_of(BUSY, OK) as (client, seen):
                self.assertRaises(CairnError, call, client)
            self.assertEqual(len(seen), 1)

    def test_a_delete_whose_answer_was_lost_has_deleted(self, _):
        gone = answer_of(404, b'{"error":{"code":"not_found","message":"m","requestId":"r"}}')
        with server_of(hang_up, gone) as (client, _seen):
            self.assertIsNone(client.delete_thread("t"))

    def test_a_stream_that_breaks_off_does_not_end(self, _):
        with server_of(broken_off) as (client, _seen):
            lines = client.stream_messages("t")
            self.assertEqual(next(lines), {"a": 1})
            with self.assertRaises(CairnError) as caught:
                next(lines)
            self.assertEqual(caught.exception.code, "network")

    def test_an_answer_that_breaks_off_is_asked_for_again(self, _):
        with server_of(broken_off, OK) as (client, seen):
            self.assertEqual(client.recall("alice", {"query": "x"}), {"hits": []})
        self.assertEqual(len(seen), 2)

    def test_takes_the_token_nowhere_else(self, _):
        with server_of(OK) as (other, elsewhere):
            moved = answer_of(302, Location=other._base)
            with server_of(moved) as (client, _seen):
                with self.assertRaises(CairnError) as caught:
                    client.get_thread("t")
        self.assertEqual((caught.exception.code, caught.exception.status), ("no_envelope", 302))
        self.assertEqual(elsewhere, [])

    def test_an_answer_of_something_else_is_named_so(self, _):
        for status in [200, 403, 500]:
            for body in [b"<html>", b"[1]", b'{"error":"x"}', b'{"error":{}}', b'{"error":[]}', b"\xff"]:
                if status == 200 and body[:1] in b"[{":
                    continue
                with server_of(answer_of(status, body)) as (client, _seen):
                    with self.assertRaises(CairnError) as caught:
                        client.get_thread("t")
                self.assertEqual((caught.exception.code, caught.exception.status), ("no_envelope", status))

    def test_no_server_is_an_error_of_the_network(self, _):
        with server_of(OK) as (client, _seen):
            pass
        with self.assertRaises(CairnError) as caught:
            client.get_thread("t")
        self.assertEqual((caught.exception.code, caught.exception.status), ("network", 0))

    def test_silence_is_a_timeout(self, _):
        done = threading.Event()
        with server_of(lambda _handler: done.wait()) as (client, _seen):
            silent = Cairn(client._base, "secret", timeout=0.05, attempts=1)
            with self.assertRaises(CairnError) as caught:
                silent.get_thread("t")
            done.set()
        self.assertEqual(caught.exception.code, "timeout")


class Types(unittest.TestCase):
    def test_each_type_names_types_that_there_are(self):
        classes = [one for one in vars(cairn).values() if isinstance(one, type) and hasattr(one, "__total__")]
        self.assertGreater(len(classes), 100)
        for one in classes:
            typing.get_type_hints(one)
        for method in [one for one in vars(Cairn).values() if callable(one)]:
            typing.get_type_hints(method)

    def test_knows_which_fields_are_required(self):
        self.assertEqual(cairn.Recall.__required_keys__, {"query"})
        self.assertEqual(json.loads(json.dumps(cairn.Compact(summary="x", to=1))), {"summary": "x", "to": 1})
        self.assertEqual(cairn.Compact.__optional_keys__, {"from"})


if __name__ == "__main__":
    unittest.main()
