/** What a template may use; memory is characters and items. Source: docs/reference/webhooks.md#templates. */
export const templateLimits = { characters: 20_000, outputBytes: 65_536, renderMs: 100, memory: 1_000_000 } as const;

/** The same of the content of messages. `steps` are the outputs and tags of all its texts. Source: docs/reference/templates.md#bounds. */
export const contentLimits = {
  characters: 1_000_000, // of compiled MJML; what is given has at most 500,000
  outputBytes: 1_000_000,
  memory: 4_000_000,
  renderMs: 50,
  steps: 5_000, // a parsed one takes some 1.5 KB and some µs
  stepCharacters: 4_000,
} as const;
