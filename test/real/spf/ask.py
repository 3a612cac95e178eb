"""Answers lines of "ip TAB sender TAB helo" by python3-spf (RFC 7208), one result a line."""
import sys

import spf

for line in sys.stdin:
    ip, sender, helo = line.rstrip("\n").split("\t")
    query = spf.query(ip, sender, helo, strict=True, timeout=10, querytime=0)
    try:
        print(query.check()[0], flush=True)
    except Exception as fault:  # a fault of the library's own is an answer to be looked at
        print(f"fault {type(fault).__name__}", flush=True)
