"""What httpx is told, and what its exceptions mean: the one place that knows the HTTP library.

A proxy of the environment is not asked for an address of this machine. Redirects are not followed: an API key goes to
the address that was given and nowhere else.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from ipaddress import ip_address
from typing import Any

import httpx

from loom_client.errors import InvalidCall
from loom_client.exchange import Broken, Got, Post

DEFAULT_URL = "http://127.0.0.1:7777"
URL_VARIABLE, KEY_VARIABLE = "LOOM_URL", "LOOM_API_KEY"
CONNECT_S = 5.0

_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.UnsupportedProtocol, httpx.ProxyError)


def options(base_url: str | None, api_key: str | None) -> dict[str, Any]:
    """Arguments of either httpx client; what is None comes from LOOM_URL and LOOM_API_KEY. Raises `InvalidCall`."""
    address = (base_url or os.environ.get(URL_VARIABLE) or DEFAULT_URL).rstrip("/")
    key = os.environ.get(KEY_VARIABLE, "") if api_key is None else api_key
    return {
        "base_url": address,
        "headers": _headers(key),
        "trust_env": not _is_local(_host(address)),
        "follow_redirects": False,
    }


def arguments(post: Post) -> dict[str, Any]:
    """Arguments of httpx's `post`."""
    timeout = httpx.Timeout(post.timeout_s, connect=min(CONNECT_S, post.timeout_s))
    return {"url": post.path, "content": post.body, "headers": dict(post.headers), "timeout": timeout}


def got(response: httpx.Response) -> Got:
    """A whole answer."""
    headers: Mapping[str, str] = {name.lower(): value for name, value in response.headers.items()}
    return Got(response.status_code, headers, response.content)


def broken(error: httpx.HTTPError, address: httpx.URL) -> Broken:
    """Why no answer came, in a sentence."""
    late = isinstance(error, httpx.TimeoutException)
    sent = not isinstance(error, _NOT_SENT)
    what = "did not answer in time" if late and sent else "cannot be reached" if not sent else "broke off"
    detail = str(error).split("\n", maxsplit=1)[0] or type(error).__name__
    return Broken(f"the service at {str(address).rstrip('/')} {what}: {detail}.", sent, late)


def _headers(key: str) -> dict[str, str]:
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise InvalidCall("api_key: may hold printable ASCII characters without spaces only.")
    return {"User-Agent": f"loom-client/{_version()}"} | ({"Authorization": f"Bearer {key}"} if key else {})


def _host(address: str) -> str:
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL as error:
        raise InvalidCall(f"base_url: '{address}' is no address: {error}.") from None
    if url.scheme not in ("http", "https") or not url.host:
        raise InvalidCall(f"base_url: '{address}' is no address; give one such as {DEFAULT_URL}.")
    return url.host


def _is_local(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _version() -> str:
    try:
        return version("loom-recall")
    except PackageNotFoundError:
        return "0"
