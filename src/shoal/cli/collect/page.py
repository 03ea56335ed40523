"""``shoal collect page``: a web page on which people take part, ready to be hosted as it is."""

import html
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer
from rich.console import Console

from shoal.cli._output import output_folder
from shoal.cli.collect._database import PublicKeyText, read_campaign
from shoal.exceptions import DeliveryError, ParameterError

if TYPE_CHECKING:
    from shoal.campaigns import Campaign, SignedCampaign

__all__ = ["page_command"]

MODULES = "shoal"  # folder of the modules, beside the page
MAX_DOCUMENT = 8 << 20  # bytes, as open_campaign takes them
STYLE = """\
:root { color-scheme: light dark; }
body { margin: 0 auto; padding: 1rem; max-width: 44rem; font-family: system-ui, sans-serif; }
"""
# Nothing but the modules of this folder runs, and nobody but the addresses of the document is
# asked: a page that was tampered with on the way to the host is another matter.
PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<link rel="stylesheet" href="page.css">
<script type="module" src="{modules}/shoal-report.js"></script>
</head>
<body>
<main>
<shoal-report {attributes}></shoal-report>
<noscript>This page draws the noise on your device, which needs JavaScript.</noscript>
</main>
</body>
</html>
"""


def page_command(
    source: Annotated[
        str, typer.Argument(help="Document that `shoal collect new` wrote, or its web address.")
    ],
    *,
    public_key: PublicKeyText = None,
    out: Annotated[Path, typer.Option(help="New or empty folder for the page.")] = Path("page"),
    url: Annotated[
        str | None,
        typer.Option(
            help="Where the page finds the document. Default: the campaign's own address."
        ),
    ] = None,
    ingest_key: Annotated[
        str | None,
        typer.Option(help="Ingest key of the page; anyone who opens the page can read it."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Write a web page that asks for a record and sends one noisy report of it to a campaign.

    Example: shoal collect page homes.campaign.json --public-key ed25519:KEY --out page
    """
    from shoal._browser_client import browser_modules

    signed = _signed(source, public_key)
    campaign = signed.campaign
    address = _document_address(campaign, url or (source if _is_address(source) else None))
    attributes = {"campaign": address, "key": str(public_key), "heading-level": "1"}
    if ingest_key is not None:
        if not (ingest_key.isascii() and ingest_key.isprintable()) or " " in ingest_key:
            raise ParameterError("--ingest-key must be visible letters without spaces")
        attributes["ingest-key"] = ingest_key
    modules = browser_modules()
    _check_empty(out)
    folder = output_folder(out)
    try:
        (folder / MODULES).mkdir()
        for module in modules:
            shutil.copyfile(module, folder / MODULES / module.name)
        (folder / "page.css").write_text(STYLE, encoding="utf-8")
        page = _page(campaign, address, attributes)
        (folder / "index.html").write_text(page, encoding="utf-8")
    except OSError as failure:
        raise ParameterError(
            f"--out must be a writable folder, got {str(out)!r}: {failure.strerror}"
        ) from None
    steps = _next_steps(campaign, source, folder, has_key=ingest_key is not None)
    if as_json:
        plain = {"folder": str(folder), "document": address, "modules": len(modules), "next": steps}
        typer.echo(json.dumps(plain))
        return
    screen = Console(markup=False, highlight=False)
    screen.print(
        f"written: {(folder / 'index.html').resolve()}, with {len(modules)} modules", soft_wrap=True
    )
    for step in steps:
        screen.print(f"next: {step}", soft_wrap=True)


def _is_address(source: str) -> bool:
    return source.startswith(("https://", "http://"))


def _signed(source: str, public_key: str | None) -> "SignedCampaign":
    """Read or fetch the document, checked with the key that the page will check it with."""
    if not _is_address(source) or public_key is None:
        return read_campaign(Path(source), public_key)
    from shoal.campaigns import open_campaign
    from shoal.client import Request, UrlTransport

    try:
        answer = UrlTransport()(
            Request("GET", source, {"Accept": "application/json"}, None, MAX_DOCUMENT)
        )
    except OSError as failure:
        raise DeliveryError(
            f"{source} gave no answer ({type(failure).__name__}): is the collector running?"
        ) from None
    if answer.status != 200:
        raise DeliveryError(f"{source} gave status {answer.status}: check the address")
    return open_campaign(answer.body, public_key)


def _document_address(campaign: "Campaign", chosen: str | None) -> str:
    """Return where the page fetches the document: chosen, or beside where reports are sent."""
    from shoal import _numbers

    if chosen is not None:
        return _numbers.web_address("url", chosen)
    base = campaign.reports_url.removesuffix("/reports")
    if base == campaign.reports_url:
        raise ParameterError(
            f"--url must be given where reports go to {campaign.reports_url!r}: the address of "
            "the document cannot be derived from it"
        )
    return base


def _check_empty(out: Path) -> None:
    """Refuse a folder that holds something: an old module must not be left among new ones."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ParameterError(
            f"--out must be a new or an empty folder, got {str(out)!r}: choose another"
        )


def _origin(address: str) -> str:
    parts = urlsplit(address)
    return f"{parts.scheme}://{parts.netloc}"


def _page(campaign: "Campaign", address: str, attributes: dict[str, str]) -> str:
    asked = {_origin(one) for one in (address, campaign.reports_url, campaign.results_url)}
    policy = (
        "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; "
        f"form-action 'none'; connect-src {' '.join(sorted(asked))}"
    )
    pairs = (f'{name}="{html.escape(value)}"' for name, value in attributes.items())
    return PAGE.format(
        policy=html.escape(policy, quote=False),
        title=html.escape(campaign.title),
        modules=MODULES,
        attributes=" ".join(pairs),
    )


def _next_steps(campaign: "Campaign", source: str, folder: Path, *, has_key: bool) -> list[str]:
    """Say what is left to do before people can use the page."""
    steps = [f"upload {folder} to your site as it is, over https"]
    document = "FILE" if _is_address(source) else source
    if campaign.origins:
        steps[0] = f"upload {folder} as it is to {' or '.join(campaign.origins)}"
    else:
        steps.append(
            "a collector answers the pages that its document names: shoal collect new "
            f"{campaign.id} --revise {document} --origin https://YOUR-SITE, then collect add"
        )
    if not campaign.open_intake and not has_key:
        source = f"shoal collect key new {campaign.id}"
        if campaign.shuffler is not None:
            source = (
                f"ask {campaign.shuffler.operator} for one of relay.keys, never the relay's own"
            )
        steps.append(
            f"the campaign needs an ingest key: {source}; then run this command again with "
            "--ingest-key; everyone can read the key in the page"
        )
    return steps
