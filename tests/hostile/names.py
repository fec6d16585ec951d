#!/usr/bin/python3
# Looks for what names and certificates need, and asks for a name that nobody has.
import json, os, socket, ssl, sys
sys.stdin.read()
def there(path):
    try: return len(open(path, "rb").read()) > 0
    except OSError: return False
def resolves():
    try: return bool(socket.getaddrinfo("no-such-host.invalid", 443))
    except OSError: return False
found = ssl.get_default_verify_paths()
bundle = found.cafile or "/etc/ssl/certs/ca-certificates.crt"
print(json.dumps({"resolv": there("/etc/resolv.conf"), "nss": there("/etc/nsswitch.conf"), "certificates": there(bundle),
    "keys": os.path.exists("/etc/ssl/private"), "resolved": resolves()}))
