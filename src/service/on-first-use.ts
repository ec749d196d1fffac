// What the client loads with its first operation: the server answers tools/list without it.

export { answerSchemas, findGeneration, hasResults } from "./answers.ts";
export { pagingLoopError } from "./errors.ts";
export { DISCOVERED_NOTHING, readOpenApi } from "./openapi.ts";
export { DEADLINE_MS, RequestSender } from "./request-sender.ts";
