import type { Migration } from "./migration.ts";

/**
 * Every migration, the oldest first; none is ever taken away. How one is added:
 * docs/contributing/adding.md#a-migration.
 */
export const migrations: readonly Migration[] = [];
