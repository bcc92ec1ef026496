/** What compiling one `email_mjml` may use. Source: docs/reference/limits.md#messages. */
export const mjmlLimits = { compileMs: 10_000, outputBytes: 1_000_000, errors: 10 } as const;
