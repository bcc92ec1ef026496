const rowsEach = 200;
const most = 11;

/**
 * How many turns a process leaves out after it has added to so many rows: one for each 200, so that thousands of busy
 * tenants cost the store no more than hundreds; 11 at most. Source: docs/reference/usage.md#exactness.
 */
export const turnsLeftOut = (rows: number): number => Math.min(most, Math.floor(rows / rowsEach));
