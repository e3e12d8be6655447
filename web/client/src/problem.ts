// A "no" of the server as an exception: RFC 9457's problem with the refusal's stable code.

import type { components } from "./generated/schema.js";

/** What the server says when it does not do what it was asked. */
export type Problem = components["schemas"]["Problem"];

export class OnsaleProblem extends Error {
  override readonly name = "OnsaleProblem";
  readonly status: number;
  /** The refusal's public code, `seat_held`; `undefined` if something between us and the server has answered. */
  readonly code: Problem["code"] | undefined;
  readonly problem: Problem | undefined;
  /** What to name when one asks whoever runs the server. */
  readonly requestId: string | undefined;
  /** When it is worth asking again, if the server has said so. */
  readonly retryAfterSeconds: number | undefined;

  constructor(response: Response, body: unknown) {
    const problem = isProblem(body) ? body : undefined;
    super(problem === undefined ? `status ${response.status} without a problem` : sentence(problem));
    this.status = response.status;
    this.problem = problem;
    this.code = problem?.code;
    this.requestId = response.headers.get("X-Request-Id") ?? undefined;
    const after = Number(response.headers.get("Retry-After") ?? Number.NaN);
    this.retryAfterSeconds = Number.isFinite(after) ? after : undefined;
  }
}

/** The answer if the server said yes; an `OnsaleProblem` is thrown if it said no. */
export async function yes<Data>(
  answer: Promise<{ data?: Data; error?: unknown; response: Response }>,
): Promise<Exclude<Data, undefined>> {
  const { data, error, response } = await answer;
  if (!response.ok) {
    throw new OnsaleProblem(response, error);
  }
  return data as Exclude<Data, undefined>;
}

function isProblem(body: unknown): body is Problem {
  return typeof body === "object" && body !== null && "code" in body && "title" in body && "status" in body;
}

function sentence(problem: Problem): string {
  return `${problem.title} (${problem.code})`;
}
