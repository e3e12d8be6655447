"""The generated Python client against a real server: `ONSALE_URL` and `ONSALE_API_KEY` say which.

Places a hold under an idempotency key, extends it, releases it, and reads what a refusal says.
"""

import os
import uuid
from datetime import datetime
from typing import Any, TypeVar

from onsale_client import AuthenticatedClient
from onsale_client.api.events import events_create
from onsale_client.api.holds import holds_change, holds_create, holds_release, holds_show
from onsale_client.models import (
    Ended,
    EndedStatus,
    Event,
    EventStatus,
    Hold,
    HoldChange,
    HoldReleased,
    Layout,
    LayoutRow,
    LayoutSeat,
    LayoutSection,
    NewEvent,
    NewHold,
    Problem,
    Tier,
)
from onsale_client.types import Response

Expected = TypeVar("Expected")


def told(kind: type[Expected], status: int, answer: Response[Any]) -> Expected:
    """The answer as what the document says it is."""
    assert answer.status_code == status, (answer.status_code, answer.content)
    assert isinstance(answer.parsed, kind), (kind, answer.parsed)
    return answer.parsed


def night(client: AuthenticatedClient) -> str:
    """An event with one row of four seats."""
    seats = [LayoutSeat(id=f"A-{place}", label=str(place), tier=0, x=place, y=0) for place in range(1, 5)]
    section = LayoutSection(name="A", rows=[LayoutRow(label="1", seats=seats)])
    body = NewEvent(
        name="Opening Night",
        currency="EUR",
        starts_at=datetime.fromisoformat("2096-10-02T19:00:00+00:00"),
        ends_at=datetime.fromisoformat("2096-10-02T22:00:00+00:00"),
        status=EventStatus.ON_SALE,
        tiers=[Tier(name="Stalls", price_minor=4500)],
        layout=Layout(sections=[section]),
    )
    return told(Event, 201, events_create.sync_detailed(client=client, body=body)).id


def main() -> None:
    client = AuthenticatedClient(base_url=os.environ["ONSALE_URL"], token=os.environ["ONSALE_API_KEY"])
    event = night(client)
    once = str(uuid.uuid4())

    def place(buyer: str, key: str) -> Response[Any]:
        return holds_create.sync_detailed(
            event, client=client, onsale_buyer=buyer, idempotency_key=key, body=NewHold(seats=["A-1", "A-2"])
        )

    hold = told(Hold, 201, place("ann", once))
    assert [held.seat for held in hold.seats] == ["A-1", "A-2"], hold
    assert hold.total_minor == 9000, hold
    assert told(Hold, 201, place("ann", once)) == hold, "the same key, the same answer"

    refused = told(Problem, 409, place("bob", str(uuid.uuid4())))
    assert refused.code == "seat_held", refused

    token = hold.token
    assert isinstance(token, str), "a hold's buyer is told its token"
    longer = HoldChange(extend_seconds=60)
    extended = holds_change.sync_detailed(hold.id, client=client, body=longer, hold_token=token)
    assert told(Hold, 200, extended).seats == hold.seats, extended

    released = holds_release.sync_detailed(hold.id, client=client, hold_token=token)
    assert told(HoldReleased, 200, released).id == hold.id
    gone = told(Ended, 200, holds_show.sync_detailed(hold.id, client=client, hold_token=token))
    assert gone.status == EndedStatus.RELEASED, gone
    late = holds_change.sync_detailed(hold.id, client=client, body=longer, hold_token=token)
    assert told(Problem, 410, late).code == "released", late
    print("a hold was placed, extended and released, and two refusals were read")


if __name__ == "__main__":
    main()
