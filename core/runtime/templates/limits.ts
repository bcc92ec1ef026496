/** What a template may use up. Source: decisions 10.5; memory is counted in characters and items. */
export const templateLimits = { characters: 20_000, outputBytes: 65_536, renderMs: 100, memory: 1_000_000 } as const;
