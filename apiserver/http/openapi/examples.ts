import { exampleAppId, exampleTime } from "#core/schema/events/refs.ts";

/** Ids of the case that all examples are about, besides those of events. */
export const exampleIds = { app: exampleAppId, request: "01JDKQ4WSMP6GZ2W9D8T5YKXQR" };

export const exampleCursor = "eyJ2IjoxfQ.Zm9yZ2VkIHNpZ25hdHVyZQ";

/** A list of one item that ends with it, and one that goes on. */
export const lastPage = <T>(item: T) => ({ data: [item], next_cursor: null, has_more: false });
export const nextPage = <T>(item: T) => ({ data: [item], next_cursor: exampleCursor, has_more: true });

/** Values of the schemas that belong to no feature. */
export const commonExamples = {
  Error: [
    {
      error: {
        code: "HS_VALIDATION_ERROR",
        message: "ttl: must be at least 60",
        details: {
          field: "ttl",
          message: "must be at least 60",
          errors: [{ field: "ttl", message: "must be at least 60" }],
        },
        request_id: exampleIds.request,
      },
    },
    {
      error: {
        code: "HS_RATE_LIMITED",
        message: "this key's request rate is exhausted",
        details: { retry_after_seconds: 1 },
        request_id: exampleIds.request,
      },
    },
  ],
  Ok: [{ ok: true }],
};

/** Examples of query members that several features have. */
export const commonQueries = {
  app_id: exampleIds.app,
  limit: 50,
  cursor: exampleCursor,
  from: "2026-11-01T00:00:00.000Z",
  to: exampleTime,
};
