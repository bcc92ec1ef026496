/** What a template may use; memory is characters and items. Source: docs/reference/webhooks.md#templates. */
export const templateLimits = { characters: 20_000, outputBytes: 65_536, renderMs: 100, memory: 1_000_000 } as const;
