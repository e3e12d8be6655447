// The client against a real server: `ONSALE_URL` and `ONSALE_API_KEY` say which.

import assert from "node:assert/strict";
import test from "node:test";

import { connect, idempotencyKey, OnsaleProblem, yes, type Onsale } from "../src/index.js";

const baseUrl = setting("ONSALE_URL");
const key = setting("ONSALE_API_KEY");
const ann = connect({ baseUrl, key, buyer: "ann" });
const bob = connect({ baseUrl, key, buyer: "bob" });

function setting(name: string): string {
  const value = process.env[name];
  assert.ok(value, `${name} says where the server is`);
  return value;
}

/** An event with one row of four seats. */
async function night(staff: Onsale): Promise<string> {
  const seat = (place: number) => ({ id: `A-${place}`, label: `${place}`, tier: 0, x: place, y: 0 });
  const event = await yes(
    staff.POST("/v1/events", {
      body: {
        name: "Opening Night",
        currency: "EUR",
        starts_at: "2096-10-02T19:00:00Z",
        ends_at: "2096-10-02T22:00:00Z",
        status: "on_sale",
        tiers: [{ name: "Stalls", price_minor: 4500 }],
        layout: { sections: [{ name: "A", rows: [{ label: "1", seats: [1, 2, 3, 4].map(seat) }] }] },
      },
    }),
  );
  return event.id;
}

/** The problem that a promise is rejected with. */
async function problem(answer: Promise<unknown>): Promise<OnsaleProblem> {
  const error = await answer.then(
    () => assert.fail("the server said yes"),
    (error: unknown) => error,
  );
  assert.ok(error instanceof OnsaleProblem, String(error));
  return error;
}

/** Only who asks with `or_queue` may be given a place in line instead. */
function asHold<T extends object>(answer: T): Extract<T, { fence: number }> {
  assert.ok("fence" in answer, "this is a place in line");
  return answer as Extract<T, { fence: number }>;
}

test("a hold is placed once, extended and released", async () => {
  const event = await night(ann);
  const place = async () =>
    asHold(
      await yes(
        ann.POST("/v1/events/{event}/holds", {
          params: { path: { event }, header: { "Idempotency-Key": once } },
          body: { seats: ["A-1", "A-2"] },
        }),
      ),
    );
  const once = idempotencyKey();
  const hold = await place();
  assert.deepEqual(
    hold.seats.map((held) => held.seat),
    ["A-1", "A-2"],
  );
  assert.equal(hold.total_minor, 9000);
  assert.deepEqual(await place(), hold, "the same key, the same answer");

  const { token } = hold;
  assert.ok(token, "a hold's buyer is told its token");
  const mine = { path: { hold: hold.id }, header: { "Hold-Token": token } };
  const extended = await yes(
    ann.PATCH("/v1/holds/{hold}", { params: mine, body: { extend_seconds: 60 } }),
  );
  const more = Date.parse(extended.expires_at) - Date.parse(hold.expires_at);
  assert.equal(more, 60_000);

  const released = await yes(ann.DELETE("/v1/holds/{hold}", { params: mine }));
  assert.ok(Date.parse(released.released_at) <= Date.parse(extended.expires_at));
  const gone = await yes(ann.GET("/v1/holds/{hold}", { params: mine }));
  assert.equal(gone.status, "released", "what became of it is told for an hour");
  const late = await problem(yes(ann.PATCH("/v1/holds/{hold}", { params: mine, body: { extend: true } })));
  assert.deepEqual([late.status, late.code], [410, "released"]);
});

test("a refusal is a problem with its code, its seats and its request", async () => {
  const event = await night(ann);
  const asked = { params: { path: { event } }, body: { seats: ["A-3"] } };
  await yes(ann.POST("/v1/events/{event}/holds", asked));
  const held = await problem(yes(bob.POST("/v1/events/{event}/holds", asked)));
  assert.deepEqual([held.status, held.code], [409, "seat_held"]);
  assert.deepEqual(held.problem?.seats, [{ seat: "A-3", code: "seat_held" }]);
  assert.ok(held.requestId, "a problem names its request");
  assert.match(held.message, /seat_held/);
});

test("a list is read page by page", async () => {
  await night(ann);
  await night(ann);
  const wanted = { limit: 1, status: "on_sale" } as const;
  const page = (after?: string) =>
    yes(ann.GET("/v1/events", { params: { query: after ? { ...wanted, after } : wanted } }));
  const first = await page();
  assert.equal(first.data.length, 1);
  assert.ok(first.next, "there is another");
  const second = await page(first.next);
  assert.equal(second.data.length, 1);
  assert.notEqual(second.data[0]?.id, first.data[0]?.id);
});

test("a wrong key is refused", async () => {
  const stranger = connect({ baseUrl, key: "another key", buyer: "eve" });
  const refused = await problem(yes(stranger.GET("/v1/events")));
  assert.deepEqual([refused.status, refused.code], [401, "unauthenticated"]);
});

test("a buyer that a request names comes before the connection's", async () => {
  const event = await night(ann);
  const params = { path: { event }, header: { "Onsale-Buyer": "cleo" } };
  const hold = await yes(ann.POST("/v1/events/{event}/holds", { params, body: { seats: ["A-4"] } }));
  assert.equal(asHold(hold).buyer, "cleo");
});

test("an answer of something between us and the server is no problem of Onsale's", async () => {
  const gateway = async () =>
    new Response("<h1>Bad gateway</h1>", { status: 502, headers: { "Retry-After": "7" } });
  const broken = connect({ baseUrl, key, fetch: gateway });
  const refused = await problem(yes(broken.GET("/v1/events")));
  assert.deepEqual([refused.status, refused.code, refused.retryAfterSeconds], [502, undefined, 7]);
});

/** Never called: these lines must not compile, which the type check proves. */
export async function mistakes(event: string, hold: string): Promise<void> {
  const path = { hold };
  // @ts-expect-error: seats are a list
  await ann.POST("/v1/events/{event}/holds", { params: { path: { event } }, body: { seats: "A-1" } });
  // @ts-expect-error: a hold is released with its token
  await ann.DELETE("/v1/holds/{hold}", { params: { path } });
  // @ts-expect-error: there is no such route
  await ann.GET("/v1/event/{event}", { params: { path: { event } } });
}
