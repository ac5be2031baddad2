"""The health check of the image: exit code 0 where `/health/ready` answers 200 on this machine, else 1 and why."""

from __future__ import annotations

import os
import sys
from urllib.error import URLError
from urllib.request import ProxyHandler, build_opener

SECONDS = 5.0


def main() -> int:
    """Ask once. No proxy of the environment is used, since the address is this machine's own."""
    address = f"http://127.0.0.1:{os.environ.get('LOOM_PORT') or '7777'}/health/ready"
    try:
        with build_opener(ProxyHandler({})).open(address, timeout=SECONDS):
            return 0
    except (URLError, OSError, ValueError) as error:
        sys.stderr.write(f"{address}: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
