// Onsale's client: every route with the types of the OpenAPI document, and what a document cannot say: one place for
// the address, the key and the buyer, a yes without a check at every call, and a refusal as a typed exception.

export { connect, idempotencyKey, type Onsale, type Options } from "./connect.js";
export { OnsaleProblem, yes, type Problem } from "./problem.js";
export type { components, operations, paths } from "./generated/schema.js";
