import base64, hashlib, hmac, json, os, time
from http.server import BaseHTTPRequestHandler, HTTPServer

TOLERANCE = 300  # seconds: an old message may be a copy that somebody else sends


def is_genuine(secret, headers, body, now=None):
    """Whether a message comes from the service and is recent. secret: "whsec_…"; body: the octets as received."""
    message_id, sent = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not sent.isdigit() or abs((now or time.time()) - int(sent)) > TOLERANCE:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{message_id}.{sent}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    # While a secret is replaced there are two signatures.
    given = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(one.encode(), expected.encode()) for one in given)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        if not is_genuine(os.environ["WEBHOOK_SECRET"], self.headers, body):
            self.send_response(400)
            return self.end_headers()
        self.send_response(204)  # answer within 15 seconds, and do the work afterwards
        self.end_headers()
        message = json.loads(body)
        print(message["type"], message["data"].get("title"))


if __name__ == "__main__":
    HTTPServer(("127.0.0.1", 8090), Receiver).serve_forever()
