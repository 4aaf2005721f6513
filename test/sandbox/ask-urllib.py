"""Makes one HTTP request with urllib: reads it as JSON, writes what came of it as JSON."""

import http.client
import json
import sys
import urllib.error
import urllib.request

asked = json.load(sys.stdin)
body = asked.get("body")
request = urllib.request.Request(
    asked["url"],
    data=None if body is None else body.encode(),
    headers=asked.get("headers", {}),
    method=asked["method"],
)
opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def describe(response):
    headers = {name.lower(): value for name, value in response.headers.items()}
    return {
        "kind": "answered",
        "status": response.status,
        "headers": headers,
        "body": response.read().decode(),
    }


try:
    outcome = describe(opener.open(request, timeout=asked["timeoutSeconds"]))
except urllib.error.HTTPError as error:
    outcome = describe(error)
except (http.client.RemoteDisconnected, ConnectionResetError):
    outcome = {"kind": "closed"}
except TimeoutError:
    outcome = {"kind": "timed-out"}
json.dump(outcome, sys.stdout)
