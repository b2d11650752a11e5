#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What ci/forge.sh asks of GitHub and GitLab, on loopback, for the tests.

    fake_forge.py STATE.json PORT-FILE

STATE.json holds pulls, notes and issues; it is read before and written after each request, so that
a test can change it and look at it. Requests without the test's token are refused, and those of the
paths in its "refused"."""
import json
import os
import re
import socketserver
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from urllib.parse import parse_qs, urlsplit

state_path, port_path = sys.argv[1:3]
BOT = {"github": "github-actions[bot]", "gitlab": "project_1_bot"}
TOKEN = "token-of-the-test"


def load():
    with open(state_path) as file:
        return json.load(file)


def page(items, query):
    size = int(query.get("per_page", ["30"])[0])
    first = (int(query.get("page", ["1"])[0]) - 1) * size
    return items[first:first + size]


def named(forge, author):
    return {"user": {"login": author}} if forge == "github" else {"author": {"username": author}}


def note_out(forge, note):
    return {"id": note["id"], "body": note["body"], **named(forge, note["author"])}


def issue_out(forge, issue):
    github = forge == "github"
    return {"number" if github else "iid": issue["number"],
            "state": "closed" if not issue["open"] else "open" if github else "opened",
            "body" if github else "description": issue["body"], "title": issue["title"],
            "id": 1000 + issue["number"], **named(forge, issue["author"])}


def add_note(state, forge, where, fields):
    note = {"id": 1 + max([n["id"] for n in state["notes"]], default=0), "on": where,
            "author": BOT[forge], "body": fields["body"]}
    state["notes"].append(note)
    return note_out(forge, note)


def change_issue(issue, fields):
    issue["body"] = fields.get("body", fields.get("description", issue["body"]))
    if "state" in fields:
        issue["open"] = fields["state"] == "open"
    if "state_event" in fields:
        issue["open"] = fields["state_event"] == "reopen"


def answer(state, method, forge, path, query, fields):
    """The answer's body, or None where there is no such address."""
    pulls = "pulls" if forge == "github" else "merge_requests"
    if method == "GET" and path == "user" and forge == "gitlab":
        return {"username": BOT[forge]}
    if path == pulls and method == "GET":
        return page(sorted(state["pulls"]), query)
    if match := re.fullmatch(pulls + r"/(\d+)", path):
        pull = state["pulls"].get(match[1])
        if pull is None:
            return None
        return ({"state": "open" if pull["open"] else "closed", "head": {"sha": pull["head"]}}
                if forge == "github" else
                {"state": "opened" if pull["open"] else "merged", "sha": pull["head"]})
    if match := re.fullmatch(r"(issues|merge_requests)/(\d+)/(?:comments|notes)", path):
        kind = "issue" if any(str(i["number"]) == match[2] for i in state["issues"]) else "pull"
        where = f"{kind}:{match[2]}"
        if method == "POST":
            return add_note(state, forge, where, fields)
        return [note_out(forge, n) for n in page([n for n in state["notes"] if n["on"] == where],
                                                 query)]
    if match := re.fullmatch(r"(?:issues/comments|merge_requests/\d+/notes)/(\d+)", path):
        note = next((n for n in state["notes"] if str(n["id"]) == match[1]), None)
        if note:
            note["body"] = fields["body"]
        return note and note_out(forge, note)
    if path == "issues" and method == "POST":
        labels = fields["labels"]
        issue = {"number": 101 + len(state["issues"]), "open": True, "author": BOT[forge],
                 "labels": labels if isinstance(labels, list) else labels.split(","),
                 "title": fields["title"], "body": fields.get("body", fields.get("description"))}
        state["issues"].append(issue)
        return issue_out(forge, issue)
    if path == "issues":
        label = query["labels"][0]
        return [issue_out(forge, i) for i in page([i for i in state["issues"]
                                                   if label in i["labels"]], query)]
    if match := re.fullmatch(r"issues/(\d+)", path):
        issue = next((i for i in state["issues"] if str(i["number"]) == match[1]), None)
        if issue:
            change_issue(issue, fields)
        return issue and issue_out(forge, issue)
    return None


class Server(HTTPServer):
    def server_bind(self):  # without asking a name server who 127.0.0.1 is
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address


class Handler(BaseHTTPRequestHandler):
    def handle_any(self):
        address = urlsplit(self.path)
        forge = "github" if address.path.startswith("/repos/") else "gitlab"
        path = re.sub(r"^/(repos/[^/]+/[^/]+|projects/\d+)?/?", "", address.path)
        length = int(self.headers.get("Content-Length") or 0)
        fields = json.loads(self.rfile.read(length)) if length else {}
        state = load()
        state["log"].append(f"{self.command} {path}")
        if TOKEN not in (self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN")
                         or ""):
            status, body = 401, {"message": "Bad credentials"}
        elif path in state.get("refused", []):
            status, body = 403, {"message": "Forbidden"}
        else:
            body = answer(state, self.command, forge, path, parse_qs(address.query), fields)
            status = 404 if body is None else 201 if self.command == "POST" else 200
            body = {"message": "Not Found"} if body is None else body
        with open(state_path, "w") as file:
            json.dump(state, file)
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_GET = do_POST = do_PATCH = do_PUT = handle_any

    def log_message(self, *_):
        pass


server = Server(("127.0.0.1", 0), Handler)
with open(port_path + ".new", "w") as file:
    file.write(str(server.server_port))
os.rename(port_path + ".new", port_path)
server.serve_forever()
