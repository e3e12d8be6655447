// The connection: an openapi-fetch client that knows the server, the key and the buyer.

import createClient, { type Client, type Middleware } from "openapi-fetch";

import type { paths } from "./generated/schema.js";
import type { WithDefaults } from "./defaults.js";

export interface Options {
  /** Where the server is, without a path: `http://127.0.0.1:7070`. */
  baseUrl: string;
  /** The API key. Keep it on a server: whoever has it may do everything. */
  key: string;
  /** Who buys, in every request that does not name another buyer itself. */
  buyer?: string;
  /** What sends the requests; the platform's own `fetch` if absent. */
  fetch?: (request: Request) => Promise<Response>;
}

/** Every route of the document: `onsale.GET("/v1/events/{event}", …)`. */
export type Onsale = Client<WithDefaults<paths, "Onsale-Buyer">>;

export function connect(options: Options): Onsale {
  const { baseUrl, key, buyer, fetch } = options;
  const client = createClient<WithDefaults<paths, "Onsale-Buyer">>({
    baseUrl,
    ...(fetch === undefined ? {} : { fetch }),
  });
  const defaults: Middleware = {
    onRequest({ request }) {
      request.headers.set("Authorization", `Bearer ${key}`);
      if (buyer !== undefined && !request.headers.has("Onsale-Buyer")) {
        request.headers.set("Onsale-Buyer", buyer);
      }
      return request;
    },
  };
  client.use(defaults);
  return client;
}

/**
 * A name for one thing that is to be done once. Make it before the first attempt and send it as `Idempotency-Key` with
 * every attempt: after a time-out the same key gets the answer that was lost, and nothing happens twice.
 */
export function idempotencyKey(): string {
  return crypto.randomUUID();
}
