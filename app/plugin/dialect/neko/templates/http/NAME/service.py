"""Registers the tool NAME_hello with Conclave, and answers when it is called."""
import json
import os
import urllib.request
from http.server import BaseHTTPRequestHandler, HTTPServer

TOOL = {"name": "NAME_hello", "description": "Says hello to a person.", "source": "plugin:NAME",
        "parameters": {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]},
        "callback_url": "http://127.0.0.1:9117/call"}

class Service(BaseHTTPRequestHandler):
    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = json.dumps({"output": f"Hello, {call['arguments'].get('who', 'stranger')}!"}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

service = HTTPServer(("127.0.0.1", 9117), Service)  # listens before it says so
headers = {"Content-Type": "application/json"}
if token := os.environ.get("CONCLAVE_HTTP_TOKEN"):
    headers["Authorization"] = "Bearer " + token
conclave = os.environ.get("CONCLAVE_HTTP", "http://127.0.0.1:48911")
register = urllib.request.Request(conclave + "/api/tools/register", json.dumps(TOOL).encode(), headers)
print(urllib.request.urlopen(register).read().decode(), flush=True)
service.serve_forever()
