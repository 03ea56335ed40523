"""``shoal collect new``: the signed document of a campaign, and the key that signs it."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from shoal._files import atomic_write
from shoal.cli._options import BoundsText, Columns, SchemaFile, Settings, complete_local
from shoal.cli.collect._asked import Question, RelayOptions
from shoal.exceptions import CampaignError, ParameterError

if TYPE_CHECKING:
    from shoal.campaigns import Campaign, SignedCampaign, SigningKey

__all__ = ["new_command"]

ENDING = ".campaign.json"
KEY_FILE = Path("signing.pem")
SEALING_FILE = Path("sealing.pem")


def new_command(
    name: Annotated[
        str, typer.Argument(help="Id of the campaign: lowercase letters, digits and hyphens.")
    ],
    *,
    title: Annotated[
        str | None, typer.Option(help="Title: the question that people are asked.")
    ] = None,
    purpose: Annotated[
        str | None, typer.Option(help="What the answers are for, in plain words.")
    ] = None,
    url: Annotated[
        str | None,
        typer.Option(help="Address of the collector, such as https://collect.example.org."),
    ] = None,
    closes: Annotated[
        str | None,
        typer.Option(help="Day or time (UTC) from which reports are refused, such as 2030-01-31."),
    ] = None,
    mechanism: Annotated[
        str | None,
        typer.Option(
            help="PartitionResponse (default), Laplace, Piecewise, ...; the first letters are "
            "enough.",
            autocompletion=complete_local,
        ),
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="Epsilon of each report. Default: 1.")
    ] = None,
    bounds: BoundsText = None,
    columns: Columns = None,
    schema: SchemaFile = None,
    clusters: Annotated[
        int | None,
        typer.Option(min=1, help="Number of clusters to look for, for PartitionResponse."),
    ] = None,
    setting: Settings = None,
    unit: Annotated[
        str | None,
        typer.Option(help="Whom the budget belongs to: device (default) or person."),
    ] = None,
    reports_per_device: Annotated[
        int | None, typer.Option(min=1, help="Different reports from each. Default: 1.")
    ] = None,
    device_ids: Annotated[
        bool | None,
        typer.Option(
            "--device-ids/--no-device-ids",
            help="Ask devices for a random number of their own, so that the server can count "
            "their reports.",
        ),
    ] = None,
    open_intake: Annotated[
        bool | None,
        typer.Option("--open-intake/--ingest-keys", help="Accept reports without an ingest key."),
    ] = None,
    origin: Annotated[
        list[str] | None,
        typer.Option(
            help="Web page that may send reports, such as https://example.org; can be repeated."
        ),
    ] = None,
    relay: Annotated[
        str | None,
        typer.Option(
            help="Address of a shuffler that someone else runs (shoal collect shuffle); reports "
            "go there, sealed."
        ),
    ] = None,
    operator: Annotated[
        str | None, typer.Option(help="Who runs the shuffler, in plain words; with --relay.")
    ] = None,
    batch: Annotated[
        int | None,
        typer.Option(min=2, help="Reports that are shuffled together; with --relay."),
    ] = None,
    sealing_key: Annotated[
        Path,
        typer.Option(
            help="Key that opens sealed reports; created if missing. For the collector, never for "
            "the shuffler."
        ),
    ] = SEALING_FILE,
    revise: Annotated[
        Path | None,
        typer.Option(
            help="Document to change: options that are left out stay as they are, and the revision "
            "goes up by one."
        ),
    ] = None,
    key: Annotated[
        Path, typer.Option(help="Signing key; created if missing. Keep it off the server.")
    ] = KEY_FILE,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File for the document. Default: NAME.campaign.json, or the file of --revise."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Describe a collection of reports and sign the document that devices and server follow.

    Example: shoal collect new homes --title "Where people live" --purpose "Plan bus lines."
    --columns x,y --bounds 0:20,0:20 --epsilon 2 --clusters 15 --closes 2099-01-01
    --url https://collect.example.org
    """
    from shoal.campaigns import Campaign, closing_time, collector_addresses, sign_campaign

    target = _target(name, out, revise)
    earlier = None if revise is None else _earlier(revise, key)
    asked = Question(mechanism, epsilon, bounds, columns, schema, clusters, tuple(setting or ()))
    given: dict[str, Any] = {
        "title": title,
        "purpose": purpose,
        "closes": None
        if closes is None
        else closing_time(closes, past=earlier is not None, name="--closes"),
        "unit": unit,
        "reports_per_device": reports_per_device,
        "device_ids": device_ids,
        "open_intake": open_intake,
        "origins": None if origin is None else tuple(origin),
        **({} if url is None else collector_addresses(url, name)),
    }
    if relay is not None and sealing_key.absolute() == key.absolute():
        raise ParameterError(f"--sealing-key must be another file than --key, got {str(key)!r}")
    asked_relay = RelayOptions(relay, operator, batch, sealing_key)
    fields = {field: value for field, value in given.items() if value is not None}
    if earlier is None:
        _check_given(fields)
        fields |= asked_relay.fields(name)
        campaign = Campaign(id=name, mechanism=asked.mechanism(), **fields)
        asked_relay.save_key()
    else:
        fields |= asked_relay.moved(earlier.campaign)
        campaign = _revised(earlier.campaign, asked, fields, name)
    signer = _signer(key)
    envelope = sign_campaign(campaign, signer)
    try:
        with atomic_write(target) as part:
            part.write_bytes(envelope)
    except OSError as failure:
        raise ParameterError(
            f"--out must be a writable file, got {str(target)!r}: {failure.strerror}"
        ) from None
    if as_json:
        typer.echo(json.dumps(_plain(campaign, target, key, str(signer.public))))
    else:
        _print(campaign, target, key, sealing_key, str(signer.public))


def _target(name: str, out: Path | None, revise: Path | None) -> Path:
    """Return where the document goes; nothing but the document that is revised is replaced."""
    target = out or revise or Path(f"{name}{ENDING}")
    if not target.parent.is_dir() or target.is_dir():
        raise ParameterError(f"--out must be a file in a folder that exists, got {str(target)!r}")
    if target.exists() and target != revise:
        raise ParameterError(
            f"--out must be a new file, got {str(target)!r}: change a campaign with --revise FILE"
        )
    return target


def _earlier(path: Path, key: Path) -> "SignedCampaign":
    """Read the document that is revised; the same key must have signed it."""
    from shoal.campaigns import SigningKey, open_campaign

    signer = SigningKey.load(key)
    try:
        envelope = path.read_bytes()
    except OSError as failure:
        raise ParameterError(
            f"--revise must be a readable document, got {str(path)!r}: {failure.strerror}"
        ) from None
    try:
        return open_campaign(envelope, signer.public)
    except CampaignError as failure:
        raise CampaignError(f"{path} cannot be revised with {key}: {failure}") from None


def _check_given(fields: dict[str, Any]) -> None:
    for field, option in {"title": "title", "purpose": "purpose", "closes": "closes"}.items():
        if field not in fields:
            raise ParameterError(f"--{option} must be given for a new campaign")
    if "reports_url" not in fields:
        raise ParameterError("--url must be given for a new campaign: where reports are sent")


def _revised(earlier: "Campaign", asked: Question, fields: dict[str, Any], name: str) -> "Campaign":
    """Return the next revision; what is not given stays, and nothing may be promised less."""
    from shoal.campaigns import revise_campaign

    if name != earlier.id:
        raise ParameterError(f"NAME must be the id in --revise, {earlier.id!r}, got {name!r}")
    if asked.is_given:
        raise ParameterError(
            "--revise must keep the mechanism, its epsilon and its columns, got options that "
            "change them: reports of two mechanisms cannot be read together; make another campaign"
        )
    return revise_campaign(earlier, **fields)


def _signer(path: Path) -> "SigningKey":
    """Open the signing key, or make one that only its owner may read."""
    from shoal.campaigns import SigningKey

    if path.exists():
        return SigningKey.load(path)
    signer = SigningKey.new()
    signer.save(path)
    return signer


def _print(campaign: "Campaign", target: Path, key: Path, sealing: Path, public: str) -> None:
    from shoal.campaigns import campaign_words

    # Titles and names are the user's: square brackets in them are no markup.
    screen = Console(markup=False, highlight=False)
    for title, text in campaign_words(campaign).items():
        screen.print(f"{title + ':':10} {text}", soft_wrap=True)
    screen.print(f"\nwritten: {target.resolve()} (public)", soft_wrap=True)
    screen.print(
        f"signing key: {key.resolve()} (secret; without it no revision can be made)",
        soft_wrap=True,
    )
    if campaign.shuffler is not None and sealing.exists():
        screen.print(
            f"sealing key: {sealing.resolve()} (secret; the collector opens reports with it, the "
            "shuffler must never have it)",
            soft_wrap=True,
        )
    screen.print(f"ship this key with the app: {public}", soft_wrap=True)
    screen.print(f"next: shoal collect add {target} --public-key {public}", soft_wrap=True)


def _plain(campaign: "Campaign", target: Path, key: Path, public: str) -> dict[str, Any]:
    return {
        "file": str(target),
        "signing_key": str(key),
        "public_key": public,
        "bytes_per_report": campaign.body_bytes,
        "guarantee_text": str(campaign.guarantee),
        "campaign": campaign.to_dict(),
    }
