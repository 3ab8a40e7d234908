"""An editor, as a language server sees it: the protocol over pipes."""

import json
import os
import subprocess


class Editor:
    """Starts the server and speaks to it; what it says unasked is kept."""

    def __init__(self, program, *arguments):
        self.process = subprocess.Popen([program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.number = 0
        self.told = []

    def send(self, method, params, number=None):
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if number is not None:
            message["id"] = number
        body = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def receive(self):
        length = None
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise EOFError("the server is gone")
            if line == b"\r\n":
                return json.loads(self.process.stdout.read(length))
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)

    def ask(self, method, params):
        self.number += 1
        self.send(method, params, self.number)
        while True:
            message = self.receive()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(message["error"])
                return message["result"]
            self.told.append(message)

    def open(self, path, text):
        """Opens a text, which need not be that on disk; its diagnostics."""
        self.send("textDocument/didOpen", {"textDocument": {
            "uri": uri(path), "languageId": "mlir", "version": 1, "text": text}})
        return self.diagnostics()

    def change(self, path, text, version):
        self.send("textDocument/didChange", {
            "textDocument": {"uri": uri(path), "version": version}, "contentChanges": [{"text": text}]})
        return self.diagnostics()

    def ask_at(self, method, path, line, character):
        return self.ask("textDocument/" + method, {
            "textDocument": {"uri": uri(path)}, "position": {"line": line, "character": character}})

    def stop(self):
        self.process.kill()
        self.process.communicate()

    def diagnostics(self):
        """The next ones."""
        while True:
            for i, message in enumerate(self.told):
                if message["method"] == "textDocument/publishDiagnostics":
                    del self.told[i]
                    return message["params"]["diagnostics"]
            self.told.append(self.receive())


def uri(path):
    return "file://" + os.path.realpath(path)
